//! Memory that cannot be had is an error, and leaves nothing behind.

use crate::common::{Workplace, ended};

#[test]
fn however_little_memory_there_is_the_result_is_whole_or_there_is_none() {
    let place = Workplace::new();
    for format in ["dec", "hex"] {
        let number = match format {
            "dec" => "7".repeat(3_000_000),
            _ => format!("0x{}", "9".repeat(2_500_000)),
        };
        place.file("a", format!("{number}\n"));
        place.file("b", format!("{number}\n"));
        let whole = place.calc(&["a*b", "--let", "a=a", "--let", "b=b", "--format", format]);
        let mut codes = Vec::new();
        for kibibytes in [
            60_000, 80_000, 100_000, 150_000, 200_000, 300_000, 4_000_000,
        ] {
            let limited = "ulimit -v $1; shift; exec \"$@\"";
            let mut command = std::process::Command::new("sh");
            command
                .current_dir(place.path())
                .env("RAYON_NUM_THREADS", "2");
            command.args(["-c", limited, "sh", &kibibytes.to_string()]);
            command.arg(place.command().get_program());
            command.args(["calc", "a*b", "--let", "a=a", "--let", "b=b", "-o", "r"]);
            command.args(["--backend", "cpu", "--format", format]);
            let ended = ended(command.output().unwrap());
            let result = std::fs::read_to_string(place.path().join("r"));
            match ended.code {
                0 => assert!(result.unwrap() == whole),
                1 => assert!(ended.stderr.contains("error: "), "{}", ended.stderr),
                code => panic!("{kibibytes}: exit code {code}: {}", ended.stderr),
            }
            let files = 2 + usize::from(ended.code == 0);
            assert_eq!(place.files().len(), files, "{:?}", place.files());
            let _ = std::fs::remove_file(place.path().join("r"));
            codes.push(ended.code);
        }
        assert!(codes.contains(&1) && codes.last() == Some(&0), "{codes:?}");
    }
}
