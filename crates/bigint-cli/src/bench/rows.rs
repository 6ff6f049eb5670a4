//! Rows on their way out: into a document of JSON as each is measured, or kept for a table.

use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;

/// The rows of a benchmark.
pub struct Rows<R> {
    measured: Vec<R>,
    document: Option<Output>,
}

impl<R: Serialize> Rows<R> {
    /// Begins without rows. With `head`, a JSON document is begun on standard output, with the
    /// members of `head`, and `rows`.
    ///
    /// # Errors
    /// As writing.
    pub fn new(head: Option<impl Serialize>) -> Result<Self, Failure> {
        let measured = Vec::new();
        let Some(head) = head else {
            return Ok(Rows {
                measured,
                document: None,
            });
        };
        let head = pretty(&head)?;
        let members = head.trim_end_matches('}').trim_end();
        let mut document = Output::open(None, false)?;
        document.write(format!("{members},\n  \"rows\": [").as_bytes())?;
        Ok(Rows {
            measured,
            document: Some(document),
        })
    }

    /// Adds a row. A document contains it when this returns.
    ///
    /// # Errors
    /// As writing.
    pub fn push(&mut self, row: R) -> Result<(), Failure> {
        if let Some(document) = &mut self.document {
            let comma = if self.measured.is_empty() { "" } else { "," };
            let row = pretty(&row)?.replace('\n', "\n    ");
            document.write(format!("{comma}\n    {row}").as_bytes())?;
        }
        self.measured.push(row);
        Ok(())
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.measured.len()
    }

    /// Ends the document, and answers all rows.
    ///
    /// # Errors
    /// As writing.
    pub fn end(self) -> Result<Vec<R>, Failure> {
        if let Some(mut document) = self.document {
            document.write(b"\n  ]\n}\n")?;
            document.finish()?;
        }
        Ok(self.measured)
    }
}

fn pretty(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(|error| Failure::Running(error.to_string()))
}
