//! Thresholds of the CPU back end: measured on the user's machine, kept in a file.

use crate::tuning::{parse, read_file, refused};
use crate::{Error, Provenance};
use bigint_cpu::Cpu;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The thresholds of the CPU back end, with the machine on which they were found.
///
/// ```no_run
/// use bigint_host::CpuTuning;
/// # use std::path::Path;
/// let file = Path::new("cpu.toml");
/// CpuTuning::measure("this machine", "2026-11-20")?.write(file)?;
/// CpuTuning::read(file)?.install()?; // before the first batch is computed
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CpuTuning {
    /// The origin of the thresholds.
    pub provenance: Provenance,
    /// The thresholds.
    pub thresholds: bigint_cpu::Tuning,
}

impl CpuTuning {
    /// Measures this machine's thresholds on the path that it would use. This takes seconds, on a
    /// machine that should do nothing else.
    ///
    /// # Errors
    /// [`Error::Cpu`] where the path cannot run.
    pub fn measure(machine: &str, date: &str) -> Result<Self, Error> {
        let path = Cpu::detect().path();
        Ok(CpuTuning {
            provenance: Provenance {
                machine: machine.to_owned(),
                date: date.to_owned(),
                how: format!("measured on the path {}", path.name()),
            },
            thresholds: bigint_cpu::tune(path)?,
        })
    }

    /// Reads a file that [`CpuTuning::write`] wrote.
    ///
    /// A file without thresholds for one number (`[thresholds.number]`), as they were
    /// written before those were measured, or with those of some paths only, has the
    /// defaults in their place: `bigint tune` writes all of them. Nothing else may be
    /// missing.
    ///
    /// # Errors
    /// [`Error::Tuning`] with the file, where it is no ordinary one or far too long; and
    /// with the line and column where it is wrong: a threshold that is no number, is negative or is below what can be split, a name
    /// that is not one.
    pub fn read(path: &Path) -> Result<Self, Error> {
        parse(&read_file(path)?, &path.display().to_string())
    }

    /// The text of a file with these thresholds.
    ///
    /// # Errors
    /// [`Error::Tuning`] where they cannot be written down.
    pub fn text(&self) -> Result<String, Error> {
        toml::to_string_pretty(self).map_err(|error| refused("thresholds", error))
    }

    /// Writes a file, in place of one that is there; makes the folders on its path.
    ///
    /// # Errors
    /// [`Error::Tuning`] where that is not possible.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = self.text()?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| refused(path.display(), error))?;
        }
        std::fs::write(path, text).map_err(|error| refused(path.display(), error))
    }

    /// Makes every engine of this process compute by these thresholds.
    ///
    /// # Errors
    /// [`Error::TuningInUse`] once something has been computed: thresholds are
    /// chosen once, at the start.
    pub fn install(self) -> Result<(), Error> {
        let cpu = Cpu::detect().with_tuning(self.thresholds);
        cpu.install().map_err(|_| Error::TuningInUse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of this text in a folder of its own.
    fn read(name: &str, text: &str) -> Result<CpuTuning, Error> {
        let folder = std::env::temp_dir().join(format!("bigint-cpu-tuning-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        let file = folder.join(name);
        std::fs::write(&file, text).expect("a temporary file");
        let read = CpuTuning::read(&file);
        std::fs::remove_file(&file).expect("the file is there");
        read
    }

    fn of(thresholds: bigint_cpu::Tuning) -> CpuTuning {
        CpuTuning {
            provenance: Provenance {
                machine: "this".to_owned(),
                date: "2026-11-20".to_owned(),
                how: "by hand".to_owned(),
            },
            thresholds,
        }
    }

    /// Thresholds that differ from every default.
    fn unusual() -> bigint_cpu::Tuning {
        let mut thresholds = bigint_cpu::Tuning::default();
        for (i, path) in bigint_cpu::Path::ALL.into_iter().enumerate() {
            let of_path = thresholds.number.of_mut(path);
            for (j, of) in [&mut of_path.product, &mut of_path.square]
                .into_iter()
                .enumerate()
            {
                let base = 10 * i + 5 * j;
                (of.karatsuba, of.toom3, of.transform) = (2 + base, 30 + base, 70 + base);
                of.toom4 = 50 + base;
            }
        }
        thresholds
    }

    #[test]
    fn thresholds_for_one_number_are_read_as_they_were_written() {
        let text = toml::to_string_pretty(&of(unusual())).unwrap();
        assert!(text.contains("[thresholds.number.avx2.square]"), "{text}");
        let read = read("unusual.toml", &text).unwrap();
        assert_eq!(read.thresholds, unusual());
        let defaults = toml::to_string_pretty(&of(bigint_cpu::Tuning::default())).unwrap();
        let read = super::tests::read("defaults.toml", &defaults).unwrap();
        assert_eq!(read.thresholds, bigint_cpu::Tuning::default());
    }

    #[test]
    fn products_by_thresholds_of_a_file_are_right() {
        let text = toml::to_string_pretty(&of(unusual())).unwrap();
        let thresholds = read("products.toml", &text).unwrap().thresholds;
        for path in bigint_cpu::Path::ALL {
            let Ok(cpu) = Cpu::new(path) else { continue };
            let cpu = cpu.with_tuning(thresholds);
            assert_eq!(cpu.tuning(), &unusual());
            for n in (2..=300).step_by(2) {
                let ones = vec![u32::MAX; n];
                let other = ones.clone();
                let shape =
                    |width| bigint_core::Shape::new(1, width, bigint_core::Layout::Contiguous);
                let expected = num_bigint::BigUint::from_slice(&ones);
                let expected = (&expected * &expected).to_u32_digits();
                for b in [&ones, &other] {
                    let mut r = vec![0; 2 * n];
                    cpu.mul(
                        bigint_cpu::NumbersMut::new(&mut r, shape(2 * n)).unwrap(),
                        bigint_cpu::Numbers::new(&ones, shape(n)).unwrap(),
                        bigint_cpu::Numbers::new(b, shape(n)).unwrap(),
                        bigint_core::Algorithm::Auto,
                    )
                    .unwrap();
                    assert_eq!(r, expected, "{n} limbs on {path:?}");
                }
            }
        }
    }

    #[test]
    fn a_file_from_before_thresholds_for_one_number_has_the_defaults() {
        let mut thresholds = unusual();
        thresholds.stream_bytes = 12345;
        let text = toml::to_string_pretty(&of(thresholds)).unwrap();
        let mut kept = true;
        let is_kept = |line: &&str| {
            if line.starts_with('[') {
                kept = !line.starts_with("[thresholds.number");
            }
            kept
        };
        let text: Vec<&str> = text.lines().filter(is_kept).collect();
        let read = read("old.toml", &text.join("\n")).unwrap();
        assert_eq!(read.thresholds.stream_bytes, 12345);
        assert_eq!(read.thresholds.number, bigint_cpu::Tuning::default().number);
    }

    #[test]
    fn a_bad_threshold_is_refused_with_its_place() {
        let text = toml::to_string_pretty(&of(unusual())).unwrap();
        let square = text.find("[thresholds.number.avx2.square]").unwrap();
        let line = text[..square].lines().count() + 2;
        for (bad, why) in [
            ("1", "2 limbs or more"),
            ("-3", "-3"),
            ("\"many\"", "many"),
            ("1.5", "1.5"),
        ] {
            let (before, after) = text.split_at(square);
            let after = after.replacen("karatsuba = 17", &format!("karatsuba = {bad}"), 1);
            let error = read("bad.toml", &format!("{before}{after}"))
                .unwrap_err()
                .to_string();
            for part in ["bad.toml", why, &format!("line {line}"), "karatsuba"] {
                assert!(error.contains(part), "{part:?} is not in {error}");
            }
        }
        let error = read("name.toml", &text.replacen("toom3 =", "tomm3 =", 1)).unwrap_err();
        assert!(error.to_string().contains("tomm3"), "{error}");
    }
}
