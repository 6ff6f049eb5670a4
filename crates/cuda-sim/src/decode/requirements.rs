//! What an instruction asks of `.version` and `.target`, as the PTX ISA manual's
//! "Target ISA notes" say, so that a module which no assembler takes is not run here.

use super::decoder::{Decoder, Result};
use super::opcode::Opcode;

/// The PTX version and the architecture that an opcode with all of these modifiers needs. The first
/// line that fits counts.
type Need = (&'static str, &'static [&'static str], (u32, u32), u32);

const NEEDS: &[Need] = &[
    ("abs", &["bf16"], (7, 0), 80),
    ("abs", &["bf16x2"], (7, 0), 80),
    ("activemask", &[], (6, 2), 30),
    ("add", &["bf16"], (7, 8), 90),
    ("add", &["bf16x2"], (7, 8), 90),
    ("applypriority", &[], (7, 4), 80),
    ("atom", &["b128"], (8, 3), 90),
    ("barrier", &["cluster"], (7, 8), 90),
    ("bmsk", &[], (7, 6), 70),
    ("cp", &["async", "bulk"], (8, 0), 90),
    ("cp", &["async"], (7, 0), 80),
    ("createpolicy", &[], (7, 4), 80),
    ("cvt", &["rm", "bf16"], (7, 8), 90),
    ("cvt", &["rp", "bf16"], (7, 8), 90),
    ("cvt", &["f32", "bf16"], (7, 1), 80),
    ("cvt", &["bf16"], (7, 8), 90),
    ("cvt", &["bf16x2"], (7, 0), 80),
    ("cvt", &["f16x2"], (7, 0), 80),
    ("cvt", &["relu"], (7, 0), 80),
    ("discard", &[], (7, 4), 80),
    ("elect", &[], (8, 0), 90),
    ("fence", &["mbarrier_init"], (8, 0), 90),
    ("fence", &["proxy"], (7, 5), 70),
    ("fma", &["bf16"], (7, 0), 80),
    ("fma", &["bf16x2"], (7, 0), 80),
    ("fma", &["relu"], (7, 0), 80),
    ("fns", &[], (6, 0), 30),
    ("getctarank", &[], (7, 8), 90),
    ("griddepcontrol", &[], (7, 8), 90),
    ("ld", &["b128"], (8, 3), 70),
    ("ld", &["v8"], (8, 8), 100),
    ("ldmatrix", &[], (6, 5), 75),
    ("mapa", &[], (7, 8), 90),
    ("match", &[], (6, 0), 70),
    ("max", &["NaN"], (7, 0), 80),
    ("max", &["f16"], (7, 0), 80),
    ("max", &["f16x2"], (7, 0), 80),
    ("max", &["bf16"], (7, 0), 80),
    ("max", &["bf16x2"], (7, 0), 80),
    ("mbarrier", &["try_wait"], (7, 8), 90),
    ("mbarrier", &["expect_tx"], (8, 0), 90),
    ("mbarrier", &["complete_tx"], (8, 0), 90),
    ("mbarrier", &[], (7, 0), 80),
    ("min", &["NaN"], (7, 0), 80),
    ("min", &["f16"], (7, 0), 80),
    ("min", &["f16x2"], (7, 0), 80),
    ("min", &["bf16"], (7, 0), 80),
    ("min", &["bf16x2"], (7, 0), 80),
    ("mma", &["f64", "m8n8k4"], (7, 0), 80),
    ("mma", &["f64"], (7, 8), 90),
    ("mma", &["m8n8k16"], (6, 5), 75),
    ("mma", &[], (7, 0), 80),
    ("mov", &["b128"], (8, 3), 70),
    ("mul", &["bf16"], (7, 8), 90),
    ("mul", &["bf16x2"], (7, 8), 90),
    ("nanosleep", &[], (6, 3), 70),
    ("neg", &["bf16"], (7, 0), 80),
    ("neg", &["bf16x2"], (7, 0), 80),
    ("red", &["async"], (8, 1), 90),
    ("redux", &[], (7, 0), 80),
    ("set", &["bf16"], (7, 8), 90),
    ("set", &["bf16x2"], (7, 8), 90),
    ("setmaxnreg", &[], (8, 0), 90),
    ("setp", &["bf16"], (7, 8), 90),
    ("setp", &["bf16x2"], (7, 8), 90),
    ("st", &["async"], (8, 1), 90),
    ("st", &["b128"], (8, 3), 70),
    ("st", &["v8"], (8, 8), 100),
    ("stmatrix", &[], (7, 8), 90),
    ("sub", &["bf16"], (7, 8), 90),
    ("sub", &["bf16x2"], (7, 8), 90),
    ("szext", &[], (7, 6), 70),
    ("tanh", &[], (7, 0), 75),
    ("wgmma", &["u8", "s8"], (8, 4), 90),
    ("wgmma", &[], (8, 0), 90),
];

impl<'s> Decoder<'_, 's> {
    /// Holds an instruction to the module's version and target.
    pub(super) fn check_requirements(&self, opcode: &Opcode<'s>) -> Result<()> {
        let need = NEEDS.iter().find(|(base, modifiers, ..)| {
            *base == opcode.base && modifiers.iter().all(|modifier| opcode.has(modifier))
        });
        let Some(&(_, _, version, sm)) = need else {
            return Ok(());
        };
        let text = opcode.text();
        if self.common.version < version {
            let (major, minor) = version;
            return self.fail(format!("`{text}` needs .version {major}.{minor} or later"));
        }
        if self.common.sm < sm {
            return self.fail(format!("`{text}` needs .target sm_{sm} or later"));
        }
        Ok(())
    }
}
