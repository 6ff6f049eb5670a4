//! A quarter of a million operands, and running an opcode on all of them.

use crate::common::{device_with, kernel};
use cuda_sim::ptx::Module;
use cuda_sim::{Checks, Device, Grid};
use std::sync::OnceLock;

/// So many that every three of the kinds below meet some sixty times.
pub const COUNT: usize = 1 << 18;

/// Operands: random ones, and among them those where arithmetic goes wrong.
pub fn operands() -> &'static [Vec<u64>; 3] {
    static OPERANDS: OnceLock<[Vec<u64>; 3]> = OnceLock::new();
    OPERANDS.get_or_init(|| {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        std::array::from_fn(|_| {
            (0..COUNT)
                .map(|_| {
                    let value = random();
                    match random() % 16 {
                        0 => 0,
                        1 => 1,
                        2 => u64::MAX,
                        3 => 1 << (value % 64),
                        4 => (1 << (value % 64)) - 1,
                        5 => !(1 << (value % 64)),
                        6 => value % 70,
                        7 => 0x7fff_ffff_7fff_ffff,
                        8 => 0x8000_0000_8000_0000,
                        9 => value & 0xffff_ffff_0000_0000,
                        10 => value % 0x1_0000,
                        _ => value,
                    }
                })
                .collect()
        })
    })
}

pub struct Bench {
    device: Device,
    addresses: [u64; 4],
}

impl Bench {
    pub fn new(operands: &[Vec<u64>; 3]) -> Self {
        let device = device_with(Checks::NONE);
        let mut addresses = [0; 4];
        for (address, values) in addresses.iter_mut().zip(operands) {
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            *address = device.alloc(bytes.len() as u64).unwrap();
            device.write(*address, &bytes).unwrap();
        }
        addresses[3] = device.alloc(8 * operands[0].len() as u64).unwrap();
        Bench { device, addresses }
    }

    /// Runs instructions on every triple of operands. They find them in `%d0`,
    /// `%d1`, `%d2`, the low words in `%r0`, `%r1`, `%r2` and the low halves in
    /// `%h0`, `%h1`, `%h2`, and leave the result in `out`.
    pub fn results(&self, text: &str, out: &str, count: usize) -> Vec<u64> {
        let widen = match &out[..2] {
            "%d" => format!("mov.b64 %d9, {out};"),
            "%g" => format!("mov.b64 %d9, {out};"),
            "%f" => format!("mov.b32 %r9, {out}; cvt.u64.u32 %d9, %r9;"),
            "%r" => format!("cvt.u64.u32 %d9, {out};"),
            "%h" => format!("cvt.u64.u16 %d9, {out};"),
            _ => format!("selp.u64 %d9, 1, 0, {out};"),
        };
        let source = kernel(
            4,
            &format!(
                "mov.u32 %r50, %ctaid.x; mov.u32 %r51, %ntid.x; mov.u32 %r52, %tid.x;
                 mad.lo.u32 %r53, %r50, %r51, %r52; mul.wide.u32 %d50, %r53, 8;
                 add.u64 %a5, %a0, %d50; add.u64 %a6, %a1, %d50; add.u64 %a7, %a2, %d50;
                 add.u64 %a8, %a3, %d50;
                 ld.global.u64 %d0, [%a5]; ld.global.u64 %d1, [%a6]; ld.global.u64 %d2, [%a7];
                 cvt.u32.u64 %r0, %d0; cvt.u32.u64 %r1, %d1; cvt.u32.u64 %r2, %d2;
                 cvt.u16.u64 %h0, %d0; cvt.u16.u64 %h1, %d1; cvt.u16.u64 %h2, %d2;
                 mov.b32 %f0, %r0; mov.b32 %f1, %r1; mov.b32 %f2, %r2;
                 mov.b64 %g0, %d0; mov.b64 %g1, %d1; mov.b64 %g2, %d2;
                 {text}
                 {widen}
                 st.global.u64 [%a8], %d9;"
            ),
        );
        let module = Module::parse(&source).unwrap_or_else(|error| panic!("{text}: {error}"));
        let loaded = self.device.load(&module).unwrap();
        let params: Vec<u8> = self
            .addresses
            .iter()
            .flat_map(|a| a.to_le_bytes())
            .collect();
        let grid = Grid {
            grid: [count as u32 / 256, 1, 1],
            block: [256, 1, 1],
            shared_bytes: 0,
        };
        self.device
            .launch(&loaded, "k", grid, &params)
            .unwrap_or_else(|fault| panic!("{text}: {fault}"));
        self.device.unload(loaded);
        let mut bytes = vec![0; 8 * count];
        self.device.read(self.addresses[3], &mut bytes).unwrap();
        bytes
            .chunks_exact(8)
            .map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap()))
            .collect()
    }
}

pub type Model = fn(u64, u64, u64) -> u64;

/// Cases: instructions, each with what the destination of the last one gets of operands `a`, `b` and `c`.
macro_rules! cases {
    (|$a:ident, $b:ident, $c:ident| $($text:literal => $value:expr,)*) => {
        &[$(($text, {
            #[allow(unused_variables, reason = "few depend on all three")]
            fn model($a: u64, $b: u64, $c: u64) -> u64 {
                $value
            }
            model
        })),*]
    };
}
pub(crate) use cases;

/// The register that the last of several instructions writes.
pub fn destination(text: &str) -> &str {
    let last = text.trim_end_matches(';').rsplit(';').next().expect("text");
    let is_guarded = last.trim_start().starts_with('@');
    let mut registers = last.match_indices('%').skip(usize::from(is_guarded));
    let (start, _) = registers.next().expect("a destination");
    let name = last[start + 1..]
        .split(|c: char| !c.is_alphanumeric())
        .next();
    &last[start..=start + name.map_or(0, str::len)]
}

pub fn check(cases: &[(&str, Model)]) {
    let operands = operands();
    let bench = Bench::new(operands);
    for (text, model) in cases {
        let results = bench.results(text, destination(text), COUNT);
        for (i, &got) in results.iter().enumerate() {
            let [a, b, c] = [operands[0][i], operands[1][i], operands[2][i]];
            let want = model(a, b, c);
            assert_eq!(got, want, "{text} on {a:#x}, {b:#x}, {c:#x}");
        }
    }
}

pub const M16: u64 = 0xffff;
pub const M32: u64 = 0xffff_ffff;

// Values of the low bits, as integers that nothing overflows.
pub fn u16(x: u64) -> i128 {
    i128::from(x as u16)
}
pub fn s16(x: u64) -> i128 {
    i128::from(x as i16)
}
pub fn u32(x: u64) -> i128 {
    i128::from(x as u32)
}
pub fn s32(x: u64) -> i128 {
    i128::from(x as i32)
}
pub fn u64(x: u64) -> i128 {
    i128::from(x)
}
pub fn s64(x: u64) -> i128 {
    i128::from(x as i64)
}
pub fn low16(x: i128) -> u64 {
    x as u64 & M16
}
pub fn low32(x: i128) -> u64 {
    x as u64 & M32
}
pub fn low64(x: i128) -> u64 {
    x as u64
}
