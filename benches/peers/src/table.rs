//! Rows as a table for people.

use std::io::{self, Write};

use crate::record::{Record, Row};

/// The libraries in the order of the table's columns; the others are named
/// where they have been measured.
const COLUMNS: [&str; 5] = ["gmp", "num_bigint", "dashu", "malachite", "ibig"];

/// Says what the machine and the columns are.
pub fn print_head(record: &Record) {
    println!(
        "{} ({}), {} threads",
        record.cpu, record.cpu_id, record.threads
    );
    println!(
        "engine {}, GMP {}, medians of {} rounds, times for one number",
        record.engine, record.gmp, record.rounds
    );
    println!("ours/gmp below 1: we are faster; xN: N times our time\n");
    print!(
        "{:>3} {:>9} {:>6} {:>3} {:>11} {:>10} {:>5} {:>10} {:>8}",
        "op", "bits", "batch", "thr", "path", "ours", "+-%", "gmp", "ours/gmp"
    );
    for name in &COLUMNS[1..] {
        print!(" {name:>10}");
    }
    println!(" {:>16} of copy / flint", "host, host/gmp");
}

/// One line.
pub fn print_row(out: &mut impl Write, row: &Row) -> io::Result<()> {
    let peer = |name: &str| row.peers.get(&format!("{name}_ns")).copied().flatten();
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_string());
    write!(
        out,
        "{:>3} {:>9} {:>6} {:>3} {:>11} {:>10} {:>5.1} {:>10} {:>8}",
        row.op,
        row.bits,
        row.batch,
        row.threads,
        row.path,
        time(row.ours_ns),
        50.0 * row.spread.get("ours").copied().unwrap_or(0.0),
        or_dash(peer("gmp").map(time)),
        or_dash(row.ratio_gmp.map(|ratio| format!("{ratio:.3}"))),
    )?;
    for name in &COLUMNS[1..] {
        let times = peer(name).map(|ns| format!("x{:.2}", ns / row.ours_ns));
        write!(out, " {:>10}", or_dash(times))?;
    }
    let door = peer("host").zip(peer("gmp"));
    let door = door.map(|(host, gmp)| format!("{} {:.3}", time(host), host / gmp));
    write!(out, " {:>16}", or_dash(door))?;
    if let Some(share) = row.of_copy {
        write!(out, " {:.0} %", 100.0 * share)?;
    }
    if let Some(ns) = peer("flint") {
        write!(out, " {} x{:.2}", time(ns), ns / row.ours_ns)?;
    }
    writeln!(out)
}

/// A time with its unit.
pub fn time(ns: f64) -> String {
    match ns {
        ..1e4 => format!("{ns:.1} ns"),
        ..1e7 => format!("{:.1} us", ns / 1e3),
        _ => format!("{:.1} ms", ns / 1e6),
    }
}
