//! Threads that the system refuses cost time and nothing else.

use crate::common::{Workplace, ended};

#[test]
fn the_command_goes_on_with_the_threads_that_can_be_had() {
    let place = Workplace::new();
    let numbers = || (0..100_000_u64).map(|i| i * 0x1_0000_0001);
    let text: String = numbers().map(|i| format!("{i}\n")).collect();
    let squares: String = numbers()
        .map(|i| format!("{}\n", u128::from(i).pow(2)))
        .collect();
    place.file("a", text);
    for most in [1, 2, 3, 6] {
        let calc = |arguments: &str| {
            let script = format!(r#"ulimit -u {most} && exec "$bigint" calc {arguments}"#);
            let ended = ended(place.script_of_a_user(&script).output().unwrap());
            assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{most}");
            ended.stdout
        };
        assert_eq!(calc("2*3"), "6\n", "{most}");
        assert!(calc("a*a --let a=a") == squares, "{most}");
        assert!(calc("a*a --let a=- <a") == squares, "{most}");
        assert!(calc("a*a --let a=a -o result").is_empty(), "{most}");
        let result = std::fs::read_to_string(place.path().join("result")).unwrap();
        assert!(result == squares, "{most}");
    }
}
