//! The papers' benchmarks, on the CPU: what they print, draw and refuse.

use crate::common::Workplace;

/// Runs one with a few numbers; answers its JSON.
fn json(place: &Workplace, paper: &str, width: &str) -> String {
    let arguments = format!(
        "bench {paper} --backend cpu --widths {width} --count 5 --samples 1 --json --svg drawn.svg"
    );
    let ended = place.run(&arguments.split_whitespace().collect::<Vec<_>>());
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (0, ""),
        "{}",
        ended.stdout
    );
    ended.stdout
}

#[test]
fn each_paper_is_measured_beside_what_it_published_and_drawn() {
    // Of each: what the paper has at that width, and what is measured.
    for (paper, width, published, measured) in [
        (
            "honda",
            "2048",
            ["\"GTX 980, best\": 7.5", "GMP 4.1.4\": 315.65"],
            5,
        ),
        (
            "bringgaard",
            "1024",
            ["\"u64 C-V3\": 124.0", "\"u32 CGBN\": 152.0"],
            3,
        ),
        (
            "carlessi",
            "131",
            ["\"published\": {}", "Fermi and Kepler"],
            16,
        ),
    ] {
        let place = Workplace::new();
        let json = json(&place, paper, width);
        for part in published {
            assert!(json.contains(part), "{part} is not in {json}");
        }
        let times = json.matches("\"median_ns\": ").count();
        let none = json.matches("\"median_ns\": null").count();
        assert_eq!(times - none, measured, "{json}");
        let drawn = std::fs::read_to_string(place.path().join("drawn.svg")).unwrap();
        assert!(drawn.starts_with("<svg") && drawn.contains("polyline"));
    }
}

#[test]
fn an_earlier_run_is_printed_and_drawn_again() {
    let place = Workplace::new();
    let document = json(&place, "honda", "1024,2048");
    let drawn = std::fs::read_to_string(place.path().join("drawn.svg")).unwrap();
    place.file("record.json", &document);
    let arguments = "bench honda --from record.json --svg again.svg";
    let ended = place.run(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert!(
        ended.stdout.contains("GTX 980, best 1.52"),
        "{}",
        ended.stdout
    );
    let again = std::fs::read_to_string(place.path().join("again.svg")).unwrap();
    assert_eq!(drawn, again);
    for (arguments, what) in [
        (
            "bench langer --from record.json",
            "a record of `bench honda`",
        ),
        ("bench honda --from drawn.svg", "no record of `bench honda`"),
        ("bench honda --from record.json --count 3", "--count"),
    ] {
        let ended = place.run(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, 2, "{arguments}");
        assert!(ended.stderr.contains(what), "{}", ended.stderr);
    }
}

#[test]
fn what_a_paper_measured_is_a_table_for_people_too() {
    let place = Workplace::new();
    let arguments = "bench honda --backend cpu --widths 1024 --count 4 --samples 1";
    let ended = place.run(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for part in [
        "Honda, Ito and Nakano",
        "GTX 980, best 1.52",
        "CPU, one thread",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
}

#[test]
fn options_that_a_paper_leaves_no_room_for_are_refused() {
    for arguments in [
        "bench honda --widths 0",
        "bench bringgaard --count 0",
        "bench --json honda",
        "bench knuth",
    ] {
        let ended = Workplace::new().run(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, 2, "{arguments}: {}", ended.stderr);
    }
    let place = Workplace::new();
    let ended = place.run(&["bench", "honda", "--svg", "no/such/folder.svg"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(place.files().is_empty());
}

#[test]
fn times_over_widths_are_drawn() {
    let place = Workplace::new();
    let arguments = "bench --backend cpu --operations add,mul --widths 128,64 --count 5 --samples 1 --svg drawn.svg";
    let ended = place.run(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let drawn = std::fs::read_to_string(place.path().join("drawn.svg")).unwrap();
    assert!(
        drawn.contains("add auto") && drawn.contains("mul auto"),
        "{drawn}"
    );
    // Two curves of two points; this machine has no GPU, and so no floors.
    assert_eq!(drawn.matches("<circle").count(), 4, "{drawn}");
    let lines = drawn
        .split("<polyline")
        .filter(|line| line.contains("stroke-width=\"3\""));
    let mut drawn = 0;
    for line in lines {
        let points = line.split("points=\"").nth(1).expect("a line has points");
        let points = points
            .split('"')
            .next()
            .expect("they end")
            .split_whitespace();
        let widths = points.map(|point| {
            point
                .split(',')
                .next()
                .expect("a width")
                .parse::<u32>()
                .unwrap()
        });
        assert!(widths.is_sorted(), "{line}");
        drawn += 1;
    }
    assert!(drawn >= 2);
}

#[test]
fn other_libraries_times_are_drawn_beside_ours() {
    let place = Workplace::new();
    let time = |operation: &str, bits: u32, ns: f64| {
        format!(
            r#"{{"library": "cgbn", "operation": "{operation}", "bits": {bits}, "threads_per_number": 4, "median_ns": {ns}}}"#
        )
    };
    let times = [
        time("mul", 256, 0.0478),
        time("mul", 512, 0.1),
        time("gcd", 256, 3.0),
    ];
    place.file("times.jsonl", times.join("\n"));
    let measured = "bench --backend cpu --operations mul --widths 256 --count 2 --samples 1 --svg drawn.svg --beside";
    let run = |file| {
        let arguments: Vec<_> = measured.split(' ').chain([file]).collect();
        place.run(&arguments)
    };
    let ended = run("times.jsonl");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let drawn = std::fs::read_to_string(place.path().join("drawn.svg")).unwrap();
    assert!(drawn.contains("mul by cgbn") && !drawn.contains("gcd by cgbn"));
    place.file("wrong.jsonl", format!("{}\n{{}}\n", times[0]));
    place.file("zero.jsonl", format!("\n{}\n", time("mul", 256, 0.0)));
    place.file("no_width.jsonl", time("mul", 0, 1.0));
    place.file("others.jsonl", &times[2]);
    for (file, what) in [
        ("wrong.jsonl", "wrong.jsonl:2:2: "),
        ("zero.jsonl", "zero.jsonl:2:"),
        ("no_width.jsonl", "no_width.jsonl:1:"),
        ("others.jsonl", "others.jsonl: no line has a time of mul"),
        ("none.jsonl", "none.jsonl: "),
    ] {
        let ended = run(file);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(what), "{}", ended.stderr);
    }
}
