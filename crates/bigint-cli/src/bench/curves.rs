//! Times over widths as a figure.

use super::Row;
use super::ceilings::Ceilings;
use super::plot::{Curve, Panel};

/// The times of these rows, a curve for each operation and choice; beside them, thin, what the bytes of a row take at a
/// copy's rate, and its multiply-adds at the greatest.
pub fn panel(rows: &[Row], ceilings: Option<Ceilings>) -> Panel {
    let mut curves = Curves(Vec::new());
    for row in rows {
        let name = match (row.choice().as_str(), row.threads) {
            (choice, None) => format!("{} {choice}", row.operation),
            (choice, Some(threads)) => format!("{} {choice}, threads: {threads}", row.operation),
        };
        curves.add(&name, &name, row, row.median_ns);
        let Some(ceilings) = ceilings else { continue };
        let part = row.gigabytes_per_second / ceilings.copy_gigabytes_per_second;
        let copy = format!("{}: a copy of as many bytes", row.operation);
        curves.add(&copy, &name, row, part * row.median_ns);
        if let Some(rate) = row.giga_multiply_adds_per_second {
            let part = rate / ceilings.giga_multiply_adds_per_second;
            let all = format!("{}: all n^2 multiply-adds", row.operation);
            curves.add(&all, &name, row, part * row.median_ns);
        }
    }
    Panel {
        title: "nanoseconds each".to_owned(),
        curves: curves.0,
    }
}

struct Curves(Vec<Curve>);

impl Curves {
    /// Adds a point to the curve with this name, which is as thick as it is one of `ours`, and has that one's hue.
    fn add(&mut self, name: &str, ours: &str, row: &Row, nanoseconds: f64) {
        let hue = self.0.iter().find(|curve| curve.name == ours);
        let hue = hue.map_or_else(
            || self.0.iter().filter(|curve| curve.is_ours).count(),
            |curve| curve.hue,
        );
        let at = self.0.iter().position(|curve| curve.name == name);
        let at = at.unwrap_or_else(|| {
            self.0.push(Curve {
                name: name.to_owned(),
                hue,
                is_ours: name == ours,
                points: Vec::new(),
            });
            self.0.len() - 1
        });
        let point = (row.bits as f64, nanoseconds);
        // Every choice of an operation has the same floors.
        if !self.0[at].points.contains(&point) {
            self.0[at].points.push(point);
        }
    }
}
