//! Counts as text.

use cuda_sim::{Class, Counts};
use std::fmt::Write;

/// A table to read.
pub fn table(counts: &Counts) -> String {
    let mut text = format!(
        "{:24} {:>14} {:>16}\n",
        "instructions", "by warps", "by lanes"
    );
    for class in Class::ALL {
        let issued = counts.class(class);
        if issued.warps > 0 {
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "  {:22} {:>14} {:>16}",
                class.name(),
                issued.warps,
                issued.lanes
            );
        }
    }
    for (name, value) in counts.totals() {
        let _ = writeln!(text, "{name:24} {value:>14}");
    }
    let _ = writeln!(
        text,
        "{:24} {:>14.4}",
        "active_lanes",
        counts.active_lanes()
    );
    text
}

/// One JSON object.
pub fn json(counts: &Counts) -> String {
    let mut text = String::from("{\"classes\":{");
    for (i, class) in Class::ALL.into_iter().enumerate() {
        let issued = counts.class(class);
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}\"{}\":{{\"warps\":{},\"lanes\":{}}}",
            class.name(),
            issued.warps,
            issued.lanes
        );
    }
    text.push('}');
    for (name, value) in counts.totals() {
        let _ = write!(text, ",\"{name}\":{value}");
    }
    text.push('}');
    text
}
