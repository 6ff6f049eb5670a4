//! No kernel spills, but those that are known to.

use super::Row;
use anyhow::{Result, bail};
use std::collections::BTreeSet;

/// What is held to it: Ampere, Hopper.
pub(super) const ARCHITECTURES: [&str; 2] = ["sm_80", "sm_90"];

/// Kernels that spill.
struct Known {
    /// How their names begin.
    kernels: &'static str,
    /// Bytes stored and loaded, as they stand in the code of one of them, at most.
    most_bytes: u32,
    why: &'static str,
}

const KNOWN: [Known; 20] = [
    Known {
        kernels: "mul_fft_block",
        most_bytes: 2900,
        why: "a thread has 16 complex numbers in FP64 at a time, which alone are 64 registers, \
              and two blocks of 256 threads leave each 128",
    },
    Known {
        kernels: "mul_toeplitz_warp32",
        most_bytes: 3800,
        why: "four blocks of 128 threads leave each 128 registers, and it has code for any widths and \
              layouts; told the widths it spills nothing",
    },
    Known {
        kernels: "rings_powers_",
        most_bytes: 1000,
        why: "as mul_fft, with the 16 limbs of a number that waits for the second ring, and 168 registers",
    },
    Known {
        kernels: "weighted_long_columns_far",
        most_bytes: 1250,
        why: "as weighted_long, with four carries in doubles and the weights of two words beside 16 points",
    },
    Known {
        kernels: "weighted_long_",
        most_bytes: 550,
        why: "as mul_fft, with a carry for each of the 16; told the length it is a third of that",
    },
    Known {
        kernels: "div_rem_school_thread",
        most_bytes: 2100,
        why: "a thread keeps the divisor, the window and what they multiply in registers; a slot \
              that is not told has room for its widest",
    },
    Known {
        kernels: "inv_mod_lehmer_thread",
        most_bytes: 1200,
        why: "it has code for columns in shared memory and in scratch, and limbs in any layout; told \
              which, as the host tells it, it spills nothing where columns are shared",
    },
    Known {
        kernels: "inv_odd_mod_divsteps_warp",
        most_bytes: 600,
        why: "three blocks of 128 threads leave each 168 registers, of which the digits of five numbers take 90; \
              told lanes and layout, for sm_90, a round of 890 instructions loads 17 words again and stores 2",
    },
    Known {
        kernels: "gcd_lehmer_thread",
        most_bytes: 720,
        why: "as inv_mod",
    },
    Known {
        kernels: "lcm_lehmer_thread",
        most_bytes: 670,
        why: "as inv_mod",
    },
    Known {
        kernels: "inv_mod_lehmer_words_thread",
        most_bytes: 1440,
        why: "as inv_mod by doubles",
    },
    Known {
        kernels: "gcd_lehmer_words_thread",
        most_bytes: 900,
        why: "as inv_mod by doubles",
    },
    Known {
        kernels: "lcm_lehmer_words_thread",
        most_bytes: 900,
        why: "as inv_mod by doubles",
    },
    Known {
        kernels: "mont_mul_cios_",
        most_bytes: 2500,
        why: "16 limbs of each operand, of the modulus and of the window are 64 registers of the \
              128 that a thread has; those of any layout have 255 and spill ten times as much",
    },
    Known {
        kernels: "square_school_warp",
        most_bytes: 800,
        why: "it has code for all numbers of lanes; told lanes and layout, for sm_90, four spill 24 bytes, \
              of interleaved numbers 80, and others none",
    },
    Known {
        kernels: "mul_fft_grid_",
        most_bytes: 520,
        why: "512 threads of rows leave each 128 registers, of which 16 points and 8 roots take 96, and four blocks of columns 64: \
              columns spill 16 bytes; those that loop over marked numbers keep more",
    },
    Known {
        kernels: "mul_ntt_grid_rows_",
        most_bytes: 48,
        why: "1024 threads of a multiprocessor leave each 64 registers, of which eight residues of two pairs and of their \
              sum take 40; for sm_90 it spills nothing",
    },
    Known {
        kernels: "rns_powers_",
        most_bytes: 490,
        why: "the residues of a warp's 16 numbers are 8 registers of each lane for each pair of groups of primes, \
              up to 144, and blocks of 512, 384 or 256 threads leave each 128, 168 or 255; it has code for one \
              base, for two, for a table and for chains; told which, chains spill 48",
    },
    Known {
        kernels: "rns_warpgroups_",
        most_bytes: 2800,
        why: "as rns_powers, with 48 sums more that the tensor cores are at work on; so much at 3072 bits, where a bound of 384 threads, \
              of which 128 may read tables for four windows at once, leaves each 168 registers. Told that exponents are known, \
              they spill 76 there, and told that tables are read whole, 368",
    },
    Known {
        kernels: "pow_mod_window_warp",
        most_bytes: 6800,
        why: "32 limbs of each operand, of the modulus and, twice, of the window are 160 registers \
              of the 255 that a thread has, with shuffles and carries between; a square has both \
              halves and the middle besides. Told lanes and that its time may vary, for sm_90, two spill \
              360 bytes, four 704, eight 1648; with 24 limbs none, 72 and 76",
    },
];

/// What there is to say of kernels that spill; an error where one is not known to.
pub(super) fn check(rows: &[Row]) -> Result<String> {
    let held = |row: &&Row| ARCHITECTURES.contains(&row.arch.as_str());
    let known_of = |row: &Row| {
        KNOWN
            .iter()
            .find(|known| row.kernel.starts_with(known.kernels))
    };
    let mut new = Vec::new();
    let mut met = BTreeSet::new();
    for row in rows.iter().filter(held).filter(|row| row.spill_bytes > 0) {
        match known_of(row) {
            Some(known) if row.spill_bytes <= known.most_bytes => {
                met.insert(known.kernels);
            }
            _ => new.push(format!(
                "{} spills {} bytes for {}",
                row.kernel, row.spill_bytes, row.arch
            )),
        }
    }
    if !new.is_empty() {
        bail!(
            "{}\nmend them, or say why in xtask/src/ptx_stats/spills.rs",
            new.join("\n")
        );
    }
    let mut text = format!(
        "{} kernels assemble, counted for each architecture",
        rows.len()
    );
    for known in &KNOWN {
        text += &match met.contains(known.kernels) {
            true => format!("\n{}* spill: {}", known.kernels, known.why),
            false => format!("\n{}* spill no more: take them off the list", known.kernels),
        };
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_is_not_known_to_spill_must_not() {
        let row = |kernel: &str, arch: &str, spill_bytes| Row {
            kernel: kernel.to_owned(),
            arch: arch.to_owned(),
            spill_bytes,
            ..Row::default()
        };
        let fft = "mul_fft_block512_contiguous";
        let good = [
            row("add_carry_lookahead_warp32_contiguous", "sm_90", 0),
            row("add_carry_lookahead_warp32_contiguous", "sm_75", 8),
            row(fft, "sm_90", 2900),
        ];
        let said = check(&good).unwrap();
        assert!(
            said.contains("mul_fft_block* spill: ")
                && said.contains("mont_mul_cios_* spill no more")
        );
        for bad in [
            row("add_carry_lookahead_warp32_contiguous", "sm_90", 8),
            row(fft, "sm_80", 2901),
        ] {
            let error = check(&[good[0].clone(), bad]).unwrap_err().to_string();
            assert!(error.contains("bytes for sm_"), "{error}");
        }
    }
}
