//! What every kernel does, counted by the simulator: `cargo xtask count` runs this.
//!
//! A row is an operation, a level and an algorithm at one width, with the number of lanes
//! that `auto` would take there. The counts are exact and the same on every machine; how
//! fast a GPU is with them, only a GPU says.

#[path = "count/launch.rs"]
mod launch;

use bigint_core::{Algorithm, Kernel, Layout, Operation, Shape};
use bigint_host::{Options, Tuning};
use clap::Parser;
use comfy_table::{CellAlignment, Table, presets};
use launch::{MANY, Modules, Row, count, widths};

/// Count what kernels do, on the simulator
#[derive(Parser)]
#[command(name = "cargo xtask count")]
struct Cli {
    /// Only these operations
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    operations: Vec<String>,
    /// Widths of all operands, in bits
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "BITS",
        default_value = "32,64,96,128,256,512,1024,2048,4096"
    )]
    widths: Vec<usize>,
    /// Kernels of the interleaved layout
    #[arg(long)]
    interleaved: bool,
    /// Only what `auto` takes
    #[arg(long)]
    best: bool,
    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,
    /// `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let cli = Cli::parse();
    let tuning = Tuning::default();
    let mut modules = Modules::new();
    let mut rows = Vec::new();
    let is_asked = |operation: &Operation| {
        let names = &cli.operations;
        names.is_empty() || names.iter().any(|name| name == operation.name())
    };
    for operation in Operation::ALL.into_iter().filter(is_asked) {
        for &bits in &cli.widths {
            for kernel in kernels(&tuning, operation, bits, &cli) {
                rows.push(count(&tuning, kernel, &mut modules, bits, layout(&cli)));
            }
        }
    }
    if cli.json {
        println!(
            "{}",
            serde_json::to_string_pretty(&rows).expect("plain rows")
        );
    } else {
        println!("{}", table(&rows));
    }
}

fn layout(cli: &Cli) -> Layout {
    match cli.interleaved {
        true => Layout::Interleaved,
        false => Layout::Contiguous,
    }
}

/// One kernel for each algorithm and level.
fn kernels(tuning: &Tuning, operation: Operation, bits: usize, cli: &Cli) -> Vec<&'static Kernel> {
    let (widths, result) = widths(operation, bits);
    let shape = Shape::new(MANY, result, layout(cli));
    let choice = |algorithm, level| {
        let options = Options {
            algorithm,
            level,
            ..Options::default()
        };
        tuning.kernel(operation, &widths, shape, options)
    };
    if cli.best {
        return choice(Algorithm::Auto, None).into_iter().collect();
    }
    // Where there is no kernel for contiguous batches, or none for so wide numbers, another
    // serves.
    let mut kernels = Vec::new();
    for row in operation.declaration().rows {
        if let Ok(kernel) = choice(row.algorithm, Some(row.level))
            && !kernels.contains(&kernel)
        {
            kernels.push(kernel);
        }
    }
    kernels
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header([
        "operation",
        "level",
        "algorithm",
        "lanes",
        "bits",
        "best",
        "madds/n2",
        "inst/madd",
        "inst/limb",
        "sectors",
        "requests",
        "conflicts",
        "divergence",
    ]);
    for row in rows {
        table.add_row([
            row.op.to_owned(),
            row.level.to_owned(),
            row.algorithm.to_owned(),
            row.lanes.to_string(),
            row.bits.to_string(),
            if row.best { "*" } else { "" }.to_owned(),
            format!("{:.3}", row.madds_per_n2),
            row.instructions_per_madd
                .map_or("-".to_owned(), |x| format!("{x:.2}")),
            format!("{:.2}", row.instructions_per_limb),
            format!("{:.3}", row.sector_ratio),
            format!("{:.3}", row.request_ratio),
            format!("{:.3}", row.bank_conflict_ratio),
            format!("{:.3}", row.divergence),
        ]);
    }
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
