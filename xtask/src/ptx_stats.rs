//! `cargo xtask ptx-stats`: what ptxas makes of every kernel, without a GPU.
//!
//! What ptxas said of a module is kept beside what it made, with the hash of the PTX and of
//! what ptxas is: a module that is what it was is not assembled again.

mod spills;

use crate::build_ptx;
use crate::cuda_tools::CudaTools;
use crate::workspace;
use anyhow::{Context, Result, ensure};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

/// Turing, Ampere, Hopper, Blackwell.
const ARCHITECTURES: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_100"];

/// Assemble the PTX and report registers, spills and instructions of every kernel
#[derive(Args)]
pub struct Options {
    /// Print JSON rows instead of a table
    #[arg(long)]
    json: bool,
    /// Only say whether everything assembles, and fail where a kernel spills that is not
    /// known to
    #[arg(long, conflicts_with = "json")]
    check: bool,
    /// Only these architectures (sm_75, sm_80, sm_90, sm_100 unless given)
    #[arg(long = "arch", value_name = "SM")]
    architectures: Vec<String>,
}

/// One kernel on one architecture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Row {
    module: String,
    kernel: String,
    arch: String,
    registers: u32,
    spill_bytes: u32,
    stack_bytes: u32,
    shared_bytes: u32,
    /// What ptxas took; the driver's compiler takes about as long, at the first launch.
    compile_ms: f64,
    instructions: Instructions,
}

/// Machine instructions of a kernel, as they stand in its code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Instructions {
    /// All of them, but for the padding at the end.
    total: u32,
    /// 32 x 32 -> 64 multiply-adds: the scarce unit.
    imad_wide: u32,
    /// Multiply-adds that give one half of the product.
    imad: u32,
    /// Moves and adds on the multiplier's unit.
    imad_move: u32,
    /// Additions of up to three terms, with and without carry.
    iadd: u32,
    /// Lane to lane.
    shuffle: u32,
    /// Votes of a warp.
    vote: u32,
    /// Barriers of a block or a warp.
    barrier: u32,
    load_global: u32,
    store_global: u32,
    shared: u32,
    /// Spills and arrays that did not fit into registers.
    local: u32,
    branch: u32,
    /// Ways out for lanes that come to a shuffle, vote or barrier one by one,
    /// where ptxas does not see that they come together.
    diverged: u32,
    other: u32,
}

/// Runs the task.
pub fn run(options: &Options) -> Result<()> {
    let tools = CudaTools::find()?;
    let folder = workspace::target("ptx-stats");
    fs::create_dir_all(&folder)?;
    let mut architectures: Vec<&str> = options.architectures.iter().map(String::as_str).collect();
    if architectures.is_empty() {
        architectures = ARCHITECTURES.to_vec();
    }
    let version = tools.command("ptxas").arg("--version").output();
    let version = version.context("cannot run ptxas")?.stdout;
    let modules = build_ptx::committed()?;
    let tasks: Vec<_> = modules
        .iter()
        .flat_map(|module| architectures.iter().map(move |arch| (module, *arch)))
        .filter(|((_, ptx), arch)| match target(ptx) {
            // What is for one architecture no later one takes.
            own if own.ends_with('a') => capability(arch) == capability(own),
            oldest => capability(arch) >= capability(oldest),
        })
        .collect();
    let assembled = tasks.into_par_iter().map(|((module, ptx), arch)| {
        let assembly = Assembly {
            module,
            arch,
            // Of what nothing is held to, only whether it assembles is asked.
            flags: match options.check && !spills::ARCHITECTURES.contains(&arch) {
                true => &["-v", "-O0"],
                false => &["-v"],
            },
            cubin: folder.join(format!("{module}.{arch}.cubin")),
        };
        let said = assembly.said(&tools, &version, ptx)?;
        match options.check {
            true => Ok(assembly.rows(&said)),
            false => assembly.rows_with_instructions(&tools, &said),
        }
    });
    let rows: Vec<Row> = assembled.collect::<Result<Vec<_>>>()?.concat();
    let text = match (options.check, options.json) {
        (true, _) => spills::check(&rows)?,
        (_, true) => serde_json::to_string_pretty(&rows)?,
        _ => table(&rows).to_string(),
    };
    // Who reads only the first lines closes the pipe: no reason to panic.
    Ok(writeln!(io::stdout(), "{text}")?)
}

/// The capability of an architecture: 80 of `sm_80`.
fn capability(arch: &str) -> u32 {
    let digits = arch.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let end = digits.find(|letter: char| !letter.is_ascii_digit());
    digits[..end.unwrap_or(digits.len())].parse().unwrap_or(0)
}

/// The oldest architecture that a module is for, as it says: none less assembles it.
fn target(ptx: &str) -> &str {
    let line = ptx.lines().find_map(|line| line.strip_prefix(".target "));
    line.unwrap_or_default()
}

/// A module, assembled for an architecture.
struct Assembly<'a> {
    module: &'a str,
    arch: &'a str,
    flags: &'a [&'a str],
    cubin: PathBuf,
}

impl Assembly<'_> {
    /// What ptxas says of it, now or when it was assembled last.
    fn said(&self, tools: &CudaTools, version: &[u8], ptx: &str) -> Result<String> {
        let mut hash = Sha256::new();
        for part in [version, self.flags.concat().as_bytes(), ptx.as_bytes()] {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        let hash: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        let kept = self.cubin.with_extension("said");
        let before = fs::read_to_string(&kept).unwrap_or_default();
        if let Some(said) = before.strip_prefix(&hash)
            && self.cubin.is_file()
        {
            return Ok(said.to_owned());
        }
        let of_own = Some(target(ptx)).filter(|target| target.ends_with('a'));
        let ptxas = tools
            .command("ptxas")
            .args(self.flags)
            .args(["-arch", of_own.unwrap_or(self.arch), "-o"])
            .arg(&self.cubin)
            .arg(build_ptx::path_of(self.module))
            .output()
            .context("cannot run ptxas")?;
        let said = String::from_utf8_lossy(&ptxas.stderr);
        ensure!(
            ptxas.status.success(),
            "{}.ptx does not assemble for {}:\n{said}",
            self.module,
            self.arch
        );
        fs::write(&kept, format!("{hash}{said}"))?;
        Ok(said.into_owned())
    }

    /// Registers and memory of its kernels, by their names.
    fn rows(&self, said: &str) -> Vec<Row> {
        let mut rows = resources(said);
        for row in &mut rows {
            row.module = self.module.into();
            row.arch = self.arch.into();
        }
        rows.sort_by(|x, y| x.kernel.cmp(&y.kernel));
        rows
    }

    /// The same with the instructions of each.
    fn rows_with_instructions(&self, tools: &CudaTools, said: &str) -> Result<Vec<Row>> {
        let cuobjdump = tools
            .command("cuobjdump")
            .arg("--dump-sass")
            .arg(&self.cubin)
            .output()
            .context("cannot run cuobjdump")?;
        ensure!(
            cuobjdump.status.success(),
            "cuobjdump fails on {}:\n{}",
            self.cubin.display(),
            String::from_utf8_lossy(&cuobjdump.stderr)
        );
        let mut instructions = count(&String::from_utf8_lossy(&cuobjdump.stdout));
        let mut rows = self.rows(said);
        for row in &mut rows {
            row.instructions = instructions
                .remove(&row.kernel)
                .with_context(|| format!("cuobjdump shows no code of {}", row.kernel))?;
        }
        Ok(rows)
    }
}

/// Registers and memory of each kernel, from what `ptxas -v` says.
fn resources(said: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            rows.push(Row {
                kernel: rest.split('\'').next().unwrap_or_default().into(),
                ..Row::default()
            });
        }
        let Some(row) = rows.last_mut() else {
            continue;
        };
        if line.contains("bytes stack frame") {
            row.stack_bytes = number_before(line, " bytes stack frame");
            row.spill_bytes = number_before(line, " bytes spill stores")
                + number_before(line, " bytes spill loads");
        }
        if line.contains("Used ") {
            row.registers = number_before(line, " registers");
            row.shared_bytes = number_before(line, " bytes smem");
        }
        if let Some((_, time)) = line.split_once("Compile time = ") {
            let milliseconds = time.trim_end_matches(" ms").parse();
            row.compile_ms = milliseconds.unwrap_or_default();
        }
    }
    rows
}

/// The number that stands before `unit`; zero where it does not occur.
fn number_before(line: &str, unit: &str) -> u32 {
    line.split_once(unit)
        .and_then(|(before, _)| before.rsplit([' ', ',']).next())
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}

/// The instructions of each function in `cuobjdump --dump-sass`.
fn count(sass: &str) -> BTreeMap<String, Instructions> {
    let mut functions = BTreeMap::new();
    let mut name = String::new();
    for line in sass.lines() {
        if let Some((_, function)) = line.split_once("Function : ") {
            name = function.trim().into();
            functions.insert(name.clone(), Instructions::default());
        } else if let (Some(opcode), Some(counts)) = (opcode(line), functions.get_mut(&name)) {
            classify(counts, opcode);
        }
    }
    functions
}

/// `IMAD.WIDE.U32` of a line `/*0120*/  @!P0 IMAD.WIDE.U32 R4, R2, R3, R4 ;`.
fn opcode(line: &str) -> Option<&str> {
    let (address, instruction) = line.trim().strip_prefix("/*")?.split_once("*/")?;
    let instruction = instruction.trim();
    // The second line of an instruction has nothing but its encoding.
    if address.starts_with("0x") || instruction.is_empty() {
        return None;
    }
    instruction
        .split(|c: char| c.is_whitespace() || c == ';')
        .find(|word| !word.is_empty() && !word.starts_with('@'))
}

fn classify(counts: &mut Instructions, opcode: &str) {
    if opcode == "NOP" {
        return;
    }
    let mut parts = opcode.split('.');
    let (name, form) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let class = match (name, form) {
        ("IMAD" | "UIMAD", "WIDE") => &mut counts.imad_wide,
        ("IMAD" | "UIMAD", "MOV" | "IADD" | "SHL") => &mut counts.imad_move,
        ("IMAD" | "UIMAD", _) => &mut counts.imad,
        ("IADD3" | "UIADD3" | "IADD" | "VIADD", _) => &mut counts.iadd,
        ("SHFL", _) => &mut counts.shuffle,
        ("VOTE" | "VOTEU", _) => &mut counts.vote,
        ("BAR" | "WARPSYNC" | "NANOSLEEP", _) => &mut counts.barrier,
        ("LDG" | "LD", _) => &mut counts.load_global,
        ("STG" | "ST", _) => &mut counts.store_global,
        ("LDS" | "STS", _) => &mut counts.shared,
        ("LDL" | "STL", _) => &mut counts.local,
        ("BRA", "DIV") => &mut counts.diverged,
        ("BRA" | "BRX" | "JMP" | "CALL" | "RET" | "EXIT" | "BSSY" | "BSYNC", _) => {
            &mut counts.branch
        }
        _ => &mut counts.other,
    };
    *class += 1;
    counts.total += 1;
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header([
        "kernel",
        "arch",
        "registers",
        "spill",
        "stack",
        "shared",
        "ms",
        "instructions",
        "imad.wide",
        "imad",
        "iadd",
        "shuffle",
        "vote",
        "barrier",
        "load",
        "store",
        "local",
        "branch",
        "diverged",
    ]);
    for row in rows {
        let counts = &row.instructions;
        let numbers = [
            row.registers,
            row.spill_bytes,
            row.stack_bytes,
            row.shared_bytes,
            row.compile_ms.ceil() as u32,
            counts.total,
            counts.imad_wide,
            counts.imad,
            counts.iadd,
            counts.shuffle,
            counts.vote,
            counts.barrier,
            counts.load_global,
            counts.store_global,
            counts.local,
            counts.branch,
            counts.diverged,
        ];
        let names = [row.kernel.clone(), row.arch.clone()];
        table.add_row(names.into_iter().chain(numbers.iter().map(u32::to_string)));
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_for_their_target_and_later() {
        assert_eq!(
            target(".version 7.0\n.target sm_80\n.address_size 64"),
            "sm_80"
        );
        assert_eq!(target(""), "");
        assert!(
            capability("sm_75") < 80 && capability("sm_90a") == 90 && capability("sm_100") == 100
        );
    }

    #[test]
    fn what_ptxas_says_becomes_rows() {
        let said = "\
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
    24 bytes stack frame, 20 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 24 bytes cumulative stack size, 512 bytes smem
ptxas info    : Compile time = 12.500 ms
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers";
        let rows = resources(said);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].kernel.as_str(), rows[0].registers), ("first", 255));
        assert_eq!(
            (
                rows[0].spill_bytes,
                rows[0].stack_bytes,
                rows[0].shared_bytes
            ),
            (36, 24, 512)
        );
        assert_eq!((rows[0].compile_ms, rows[1].compile_ms), (12.5, 0.0));
        assert_eq!((rows[1].kernel.as_str(), rows[1].registers), ("second", 32));
        assert_eq!(
            rows[1].spill_bytes + rows[1].stack_bytes + rows[1].shared_bytes,
            0
        );
    }

    #[test]
    fn instructions_are_counted_by_class_and_padding_is_not() {
        let sass = "
		Function : kernel
	.headerflags	@\"EF_CUDA_SM90\"
        /*0000*/                   LDC R1, c[0x0][0x28] ;   /* 0x00000a00ff017b82 */
                                                            /* 0x000fe20000000800 */
        /*0010*/              @!P0 IMAD.WIDE.U32 R4, R2, R3, R4 ;   /* 0x0 */
        /*0020*/                   IMAD.WIDE.U32.X R4, P0, R2, R3, R4, P0 ;   /* 0x0 */
        /*0030*/                   IMAD.MOV.U32 R5, RZ, RZ, R4 ;   /* 0x0 */
        /*0040*/                   IADD3.X R5, R6, RZ, RZ, P0, !PT ;   /* 0x0 */
        /*0050*/                   SHFL.IDX PT, R5, R6, R7, 0x1f ;   /* 0x0 */
        /*0060*/                   EXIT ;   /* 0x0 */
        /*0070*/                   NOP;   /* 0x0 */";
        let expected = Instructions {
            total: 7,
            imad_wide: 2,
            imad_move: 1,
            iadd: 1,
            shuffle: 1,
            branch: 1,
            other: 1,
            ..Instructions::default()
        };
        assert_eq!(count(sass)["kernel"], expected);
    }
}
