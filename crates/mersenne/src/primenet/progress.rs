//! How far a test is, where AutoPrimeNet looks for it when it takes this program for PRPLL.
//!
//! It reads the first line of a save of PRPLL, `P-K.prp` or `P-K.ll` in a folder whose name ends with
//! the exponent `P`. A file `progress-P/P-0.prp` here has such a line and no more. PRPLL itself looks
//! into other folders.

use std::fs;

use crate::{Folder, Save, Saved};

/// The name of the folder for the tests of `2^p - 1`.
pub fn progress_folder(p: u32) -> String {
    format!("progress-{p}")
}

/// Writes how far a test is, if that can be done; `each` is the seconds of an iteration.
pub fn show_progress(folder: &Folder, test: &Saved, each: f64) {
    let p = test.number().n();
    if let Some((end, line)) = line(test, each) {
        let path = folder.file(&progress_folder(p));
        // The next line of progress writes it again.
        let _ = fs::create_dir_all(&path)
            .and_then(|()| fs::write(path.join(format!("{p}-0.{end}")), line));
    }
}

/// The end of the file's name, and its line. There is none for other work than tests, and none before
/// the first iteration: the reader divides by it.
fn line(test: &Saved, each: f64) -> Option<(&'static str, String)> {
    let (p, (k, _)) = (test.number().exponent()?, test.progress());
    let time = each * f64::from(k);
    match test {
        _ if k == 0 => None,
        Saved::LucasLehmer(_) => Some((
            "ll",
            format!("OWL LL 13 N=1*2^{p}-1 k={k} time={time:.6}\n"),
        )),
        Saved::Prp(prp) => {
            let (block, errors) = (prp.block, test.errors());
            let residue = test.res64().unwrap_or_default();
            let line = format!(
                "OWL PRP 13 N=1*2^{p}-1 k={k} block={block} res64={residue:016x} err={errors} \
                 time={time:.6}\n"
            );
            Some(("prp", line))
        }
        Saved::PMinus1(_) | Saved::NPlus1(_) => None,
    }
}
