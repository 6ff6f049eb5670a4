//! Notes of what starting the driver and loading kernels took, for later processes: the engine `auto`
//! chooses by them between devices and the CPU ([`crate::plan::readiness`]). No result depends on
//! them.
//!
//! They are a file in the folder where the driver keeps compiled kernels, and go with it. Where there
//! is no such folder the driver keeps nothing, and nothing is noted. A line of the file is a key,
//! numbers and a checksum, all in hexadecimal. The last line of a key counts; lines that are not as
//! they were written do not. Each is appended by one call of the system, so that processes do not mix
//! theirs.

// Without devices nothing is noted.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))]

use super::device::{Abilities, Kind};
use super::facts::Facts;
use std::collections::HashMap;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The environment variable that, where it is `off`, has nothing noted and no note read.
const VARIABLE: &str = "BIGINT_NOTES";

/// The file's name.
const FILE: &str = "bigint-notes";

/// The most bytes of the file. A longer one begins anew.
const LONGEST: u64 = 1 << 16;

/// What the driver tells of its version, on Linux.
const VERSION: &str = "/proc/driver/nvidia/version";

/// What decides, beside its text, whether the driver has a kernel compiled, and for which devices.
const SETTINGS: [&str; 6] = [
    "BIGINT_CUDA_DRIVER",
    "CUDA_CACHE_DISABLE",
    "CUDA_CACHE_MAXSIZE",
    "CUDA_DEVICE_ORDER",
    "CUDA_FORCE_PTX_JIT",
    "CUDA_VISIBLE_DEVICES",
];

/// What is known of the devices before the driver is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The milliseconds that the driver and a device took.
    pub ms: u64,
    /// The number of devices.
    pub devices: usize,
    /// What kernels are chosen by on the first of them.
    pub kind: Kind,
}

/// The notes of this machine, with its driver and settings as they are.
pub(crate) struct Notes {
    file: PathBuf,
    /// The settings' part of each key.
    settings: u64,
    /// The numbers of each key: the milliseconds of the last time, one more than those of the time
    /// before that, or 0, and more.
    lines: HashMap<u64, Vec<u64>>,
}

impl Notes {
    /// Reads them; none where they are off or have no place.
    pub fn read() -> Option<Self> {
        if env::var_os(VARIABLE).is_some_and(|value| value == "off") {
            return None;
        }
        let folder = match env::var_os("CUDA_CACHE_PATH").filter(|path| !path.is_empty()) {
            Some(path) => PathBuf::from(path),
            None => Path::new(&env::var_os("HOME")?).join(".nv/ComputeCache"),
        };
        let mut hasher = DefaultHasher::new();
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        include_str!("../../ptx/MANIFEST").hash(&mut hasher);
        fs::read(VERSION).unwrap_or_default().hash(&mut hasher);
        SETTINGS.map(env::var_os).hash(&mut hasher);
        Notes::of(&folder, hasher.finish())
    }

    /// Those in a folder.
    fn of(folder: &Path, settings: u64) -> Option<Self> {
        let file = folder.join(FILE);
        let bytes = match fs::metadata(&file) {
            Ok(found) if !found.is_file() => return None,
            Ok(_) => bytes(&file),
            // Where there is no folder there is nothing to note.
            Err(_) if folder.is_dir() => Vec::new(),
            Err(_) => return None,
        };
        let lines = bytes
            .split(|&byte| byte == b'\n')
            .filter_map(line)
            .collect();
        Some(Notes {
            file,
            settings,
            lines,
        })
    }

    /// What starting the driver took, and what there was.
    pub fn start(&self) -> Option<Start> {
        let numbers = self.lines.get(&self.key("start"))?;
        let ms = expected(numbers, u64::MAX)?;
        let &[
            _,
            _,
            devices,
            shared_bytes,
            has_tensor_cores,
            ref facts @ ..,
        ] = &numbers[..]
        else {
            return None;
        };
        let facts = match facts {
            [] => None,
            facts => Some(of_numbers(facts)?),
        };
        Some(Start {
            ms,
            devices: usize::try_from(devices).ok().filter(|&count| count > 0)?,
            kind: Kind {
                abilities: Abilities {
                    shared_bytes: shared_bytes.try_into().ok()?,
                    has_tensor_cores: has_tensor_cores == 1,
                    has_warpgroups: facts.is_some_and(|facts| facts.has_warpgroups()),
                    multiprocessors: facts.map(|facts| facts.multiprocessors),
                },
                facts,
            },
        })
    }

    /// Notes what starting the driver took, and what there is.
    pub fn note_start(&self, start: &Start) {
        let Kind { abilities, facts } = start.kind;
        let mut more = vec![
            start.devices as u64,
            abilities.shared_bytes.into(),
            abilities.has_tensor_cores.into(),
        ];
        more.extend(facts.iter().flat_map(numbers));
        self.note(self.key("start"), start.ms, &more);
    }

    /// The milliseconds that the driver is expected to take for a kernel on devices of this kind, if it
    /// was ever loaded there: as long as the faster of the last two times, and at most `kept_ms` if
    /// there was one, after which the driver has kept it.
    pub fn load_ms(&self, kernel: impl Hash, facts: Option<Facts>, kept_ms: u64) -> Option<u64> {
        expected(self.lines.get(&self.key((kernel, facts)))?, kept_ms)
    }

    /// Notes what loading a kernel took.
    pub fn note_load(&self, kernel: impl Hash, facts: Option<Facts>, took: Duration) {
        let ms = took.as_millis().try_into().unwrap_or(u64::MAX);
        self.note(self.key((kernel, facts)), ms, &[]);
    }

    fn key(&self, of: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.settings, of).hash(&mut hasher);
        hasher.finish()
    }

    /// Appends a line if it says something new. What cannot be written is not noted.
    fn note(&self, key: u64, ms: u64, more: &[u64]) {
        let ms = ms.min(u64::MAX >> 1);
        let before = match self.lines.get(&key).map(Vec::as_slice) {
            Some(&[last, before, ref old @ ..]) => {
                let is_alike = |other: u64| ms.abs_diff(other) < 50 + ms.min(other);
                if old == more && before > 0 && is_alike(last) && is_alike(before - 1) {
                    return;
                }
                last + 1
            }
            _ => 0,
        };
        let mut numbers: Vec<u64> = [key, ms, before].iter().chain(more).copied().collect();
        numbers.push(checksum(&numbers));
        let words: Vec<String> = numbers.iter().map(|n| format!("{n:x}")).collect();
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.file);
        if let Ok(mut file) = file {
            if file.metadata().is_ok_and(|found| found.len() > LONGEST) {
                let _ = file.set_len(0);
            }
            // The first line feed ends what another process may have left.
            let _ = file.write_all(format!("\n{}\n", words.join(" ")).as_bytes());
        }
    }
}

/// The bytes of the file, as far as they count.
fn bytes(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(file) {
        let _ = file.take(LONGEST + 1024).read_to_end(&mut bytes);
    }
    bytes
}

/// The key and the numbers of a line that is as it was written.
fn line(bytes: &[u8]) -> Option<(u64, Vec<u64>)> {
    let words = str::from_utf8(bytes).ok()?.split(' ');
    let numbers: Result<Vec<u64>, _> = words.map(|word| u64::from_str_radix(word, 16)).collect();
    let numbers = numbers.ok()?;
    let (&check, written) = numbers.split_last()?;
    match *written {
        [key, _, _, ..] if check == checksum(written) => Some((key, written[1..].to_vec())),
        _ => None,
    }
}

fn checksum(numbers: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    numbers.hash(&mut hasher);
    hasher.finish()
}

/// The milliseconds that are expected: the less of the last two times, or of one and `once`.
fn expected(numbers: &[u64], once: u64) -> Option<u64> {
    match *numbers {
        [last, 0, ..] => Some(last.min(once)),
        [last, before, ..] => Some(last.min(before - 1)),
        _ => None,
    }
}

fn numbers(facts: &Facts) -> [u64; 8] {
    let Facts {
        capability: (major, minor),
        multiprocessors,
        clock_khz,
        memory_clock_khz,
        memory_bus_bits,
        cache_bytes,
        floats_for_a_double,
    } = *facts;
    [
        major,
        minor,
        multiprocessors,
        clock_khz,
        memory_clock_khz,
        memory_bus_bits,
        cache_bytes,
        floats_for_a_double,
    ]
    .map(u64::from)
}

fn of_numbers(numbers: &[u64]) -> Option<Facts> {
    let numbers: Result<Vec<u32>, _> = numbers.iter().map(|&number| number.try_into()).collect();
    let numbers: [u32; 8] = numbers.ok()?.try_into().ok()?;
    let [
        major,
        minor,
        multiprocessors,
        clock_khz,
        memory_clock_khz,
        memory_bus_bits,
        cache_bytes,
        floats_for_a_double,
    ] = numbers;
    Some(Facts {
        capability: (major, minor),
        multiprocessors,
        clock_khz,
        memory_clock_khz,
        memory_bus_bits,
        cache_bytes,
        floats_for_a_double,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// An empty folder for notes, removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = env::temp_dir().join(format!("bigint-{name}-{}", std::process::id()));
            fs::create_dir(&folder).expect("a folder");
            Folder(folder)
        }

        fn notes(&self) -> Notes {
            Notes::of(&self.0, 7).expect("there is the folder")
        }

        fn load(&self, ms: u64) {
            self.notes()
                .note_load("kernel", None, Duration::from_millis(ms));
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn kind(facts: Option<Facts>) -> Kind {
        let abilities = Abilities {
            multiprocessors: facts.map(|facts| facts.multiprocessors),
            has_warpgroups: false,
            ..Kind::UNKNOWN.abilities
        };
        Kind { abilities, facts }
    }

    fn start() -> Start {
        let facts = (1..9).collect::<Vec<u64>>();
        Start {
            ms: 400,
            devices: 2,
            kind: kind(of_numbers(&facts)),
        }
    }

    #[test]
    fn a_kernel_is_expected_to_take_as_long_as_the_faster_of_two_times() {
        let folder = Folder::new("two-times");
        let expected = || folder.notes().load_ms("kernel", None, 50);
        assert_eq!(expected(), None);
        folder.load(2000);
        // The driver has kept it.
        assert_eq!(expected(), Some(50));
        assert_eq!(folder.notes().load_ms("another", None, 50), None);
        folder.load(2100);
        assert_eq!(expected(), Some(2000));
        folder.load(20);
        assert_eq!(expected(), Some(20));
        folder.load(2000);
        assert_eq!(expected(), Some(20));
        // Of what is known already no line is written.
        folder.load(30);
        folder.load(20);
        let bytes = fs::metadata(folder.0.join(FILE)).unwrap().len();
        (0..100).for_each(|ms| folder.load(20 + ms % 10));
        assert_eq!(fs::metadata(folder.0.join(FILE)).unwrap().len(), bytes);
    }

    #[test]
    fn what_there_was_is_read_again_and_nothing_of_other_settings() {
        let folder = Folder::new("start");
        folder.notes().note_start(&start());
        assert_eq!(folder.notes().start(), Some(start()));
        let few = Start {
            kind: kind(None),
            ms: 300,
            ..start()
        };
        folder.notes().note_start(&few);
        assert_eq!(folder.notes().start(), Some(few));
        assert_eq!(Notes::of(&folder.0, 8).unwrap().start(), None);
    }

    #[test]
    fn damaged_lines_do_not_count_and_others_do() {
        let folder = Folder::new("damage");
        folder.load(10);
        folder.notes().note_start(&start());
        let file = folder.0.join(FILE);
        let whole = fs::read(&file).unwrap();
        for at in 0..whole.len() {
            for flip in [1, 0x10, 0x80] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                fs::write(&file, &bytes).unwrap();
                let notes = folder.notes();
                let found = (notes.load_ms("kernel", None, 50), notes.start());
                let (load, first) = (Some(10), Some(start()));
                assert!(
                    [(load, first), (None, first), (load, None)].contains(&found)
                        || whole[at] == b'\n',
                    "{at} {flip}: {found:?}"
                );
            }
            fs::write(&file, &whole[..at]).unwrap();
            folder.load(10);
            assert!(
                folder.notes().load_ms("kernel", None, 50) == Some(10),
                "{at}"
            );
        }
        fs::write(&file, vec![0xff; 1 << 20]).unwrap();
        folder.load(10);
        assert_eq!(folder.notes().load_ms("kernel", None, 50), Some(10));
        assert!(fs::metadata(&file).unwrap().len() < 200);
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        assert!(Notes::of(&folder.0, 7).is_none());
        assert!(Notes::of(&folder.0.join("none"), 7).is_none());
    }

    #[test]
    fn lines_of_several_writers_stay_whole() {
        let folder = Folder::new("writers");
        thread::scope(|scope| {
            for writer in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    for kernel in 0..50 {
                        let took = Duration::from_millis(writer);
                        folder.notes().note_load((writer, kernel), None, took);
                    }
                });
            }
        });
        let notes = folder.notes();
        for (writer, kernel) in
            (0..4).flat_map(|writer| (0..50).map(move |kernel| (writer, kernel)))
        {
            assert_eq!(notes.load_ms((writer, kernel), None, 50), Some(writer));
        }
    }
}
