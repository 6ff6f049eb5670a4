//! Save files of tests, sealed with a checksum that is right: refused, or the test goes on.
#![no_main]

use std::fs;

use bigint_fuzz::damage::{Damage, damaged};
use mersenne::{Cpu, Folder, Saved, Step};

const P: u32 = 127;

/// The file of a test after some iterations.
fn save(folder: &Folder, worktype: &str, cpu: &Cpu) -> (Saved, std::path::PathBuf) {
    let start = Saved::new(P, worktype);
    let mut test = start.clone();
    let mut runner = test.runner(cpu).expect("127 is an exponent");
    test.advance(&mut runner, 20)
        .expect("the arithmetic is right");
    test.rest(&mut runner).expect("the arithmetic is right");
    folder.save(&test).expect("the folder takes files");
    let name = if worktype == "LL" {
        "m127.ll"
    } else {
        "m127.prp"
    };
    (start, folder.file(name))
}

libfuzzer_sys::fuzz_target!(|input: (bool, bool, Vec<Damage<'_>>)| {
    let (is_prp, is_sealed, damages) = input;
    let temporary = tempfile::tempdir().expect("there is a folder for temporary files");
    let (folder, cpu) = (Folder::new(temporary.path()), Cpu::default());
    let (start, path) = save(&folder, if is_prp { "PRP-3" } else { "LL" }, &cpu);
    let whole = fs::read(&path).expect("it was saved");
    let mut bytes = damaged(&whole[..whole.len() - 4], &damages);
    let sum = crc32fast::hash(&bytes).to_le_bytes();
    bytes.extend(if is_sealed { sum } else { [0; 4] });
    fs::write(&path, &bytes).expect("the folder takes files");
    let Ok((Some(mut test), _)) = folder.load(&start) else {
        return;
    };
    let (done, all) = test.progress();
    assert!(done <= all, "{done} of {all} iterations");
    let Ok(mut runner) = test.runner(&cpu) else {
        return;
    };
    // Each step goes forward or, where a check fails, back; errors are counted.
    for _ in 0..64 {
        match test.advance(&mut runner, 64) {
            Ok(Step::Going) => {}
            Ok(Step::Done(_)) | Err(_) => return,
        }
    }
});
