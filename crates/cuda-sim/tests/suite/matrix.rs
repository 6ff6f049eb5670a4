//! `mma.sync` against products of whole matrices, laid out over the lanes by the
//! formulas of the PTX ISA's "Matrix Fragments".

use crate::common::{bytes_of, fault, kernel, run, words_of};
use cuda_sim::FaultKind;
use num_bigint::BigInt;

/// Pseudo-random numbers; every third is extreme.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        match self.0 >> 60 {
            0 => 0,
            1 => u64::MAX,
            2 => 0x8080_8080_8080_8080,
            3 => 0x7f7f_7f7f_7f7f_7f7f,
            _ => self.0 >> 8 ^ self.0 << 31,
        }
    }
}

/// Row and column of element `i` of a lane's fragment.
type Place = fn(usize, usize) -> (usize, usize);

/// A shape with bytes: rows, columns of A, words of A and B and sums per lane.
struct Bytes {
    name: &'static str,
    rows: usize,
    depth: usize,
    words: (usize, usize, usize),
    a: Place,
    b: Place,
    c: Place,
}

const BYTES: [Bytes; 3] = [
    Bytes {
        name: "m8n8k16",
        rows: 8,
        depth: 16,
        words: (1, 1, 2),
        a: |lane, i| (lane >> 2, lane % 4 * 4 + i),
        b: |lane, i| (lane % 4 * 4 + i, lane >> 2),
        c: |lane, i| (lane >> 2, lane % 4 * 2 + i),
    },
    Bytes {
        name: "m16n8k16",
        rows: 16,
        depth: 16,
        words: (2, 1, 4),
        a: |lane, i| {
            let row = if i < 4 { lane >> 2 } else { (lane >> 2) + 8 };
            (row, lane % 4 * 4 + (i & 3))
        },
        b: |lane, i| (lane % 4 * 4 + i, lane >> 2),
        c: |lane, i| {
            let row = if i < 2 { lane >> 2 } else { (lane >> 2) + 8 };
            (row, lane % 4 * 2 + (i & 1))
        },
    },
    Bytes {
        name: "m16n8k32",
        rows: 16,
        depth: 32,
        words: (4, 2, 4),
        a: |lane, i| {
            let upper = i < 4 || (8..12).contains(&i);
            let row = if upper { lane >> 2 } else { (lane >> 2) + 8 };
            let column = lane % 4 * 4 + (i & 3);
            (row, if i < 8 { column } else { column + 16 })
        },
        b: |lane, i| {
            let row = lane % 4 * 4 + (i & 3);
            (if i < 4 { row } else { row + 16 }, lane >> 2)
        },
        c: |lane, i| {
            let row = if i < 2 { lane >> 2 } else { (lane >> 2) + 8 };
            (row, lane % 4 * 2 + (i & 1))
        },
    },
];

/// Loads fragments of `a`, `b` and `c` registers per lane, multiplies, and stores
/// over C. `load` is the type with its width in bytes.
fn program(op: &str, (a, b, c): (usize, usize, usize), ty: (&str, usize), file: &str) -> String {
    let (ty, width) = ty;
    let mut body = "mov.u32 %r0, %laneid; mul.wide.u32 %d0, %r0, WIDTH;\n".to_owned();
    let mut first = 10;
    let mut lists = Vec::new();
    for (i, count) in [a, b, c].into_iter().enumerate() {
        let stride = count * width;
        body += &format!(
            "mul.wide.u32 %d0, %r0, {stride}; add.u64 %d{}, %a{i}, %d0;\n",
            i + 1
        );
        let names: Vec<String> = (first..first + count)
            .map(|n| format!("{file}{n}"))
            .collect();
        for (n, name) in names.iter().enumerate() {
            body += &format!("ld.global.{ty} {name}, [%d{}+{}];\n", i + 1, n * width);
        }
        lists.push(names);
        first += count;
    }
    let list = |names: &[String]| format!("{{{}}}", names.join(", "));
    let [a, b, c] = [list(&lists[0]), list(&lists[1]), list(&lists[2])];
    body += &format!("{op} {c}, {a}, {b}, {c};\n");
    for (n, name) in lists[2].iter().enumerate() {
        body += &format!("st.global.{ty} [%d3+{}], {name};\n", n * width);
    }
    kernel(3, &body.replace("WIDTH", "1"))
}

#[test]
fn products_of_bytes_are_exact() {
    let mut numbers = Numbers(7);
    for shape in &BYTES {
        for (at, bt, clamps) in [
            ("s8", "s8", false),
            ("u8", "u8", false),
            ("s8", "u8", true),
            ("u8", "s8", true),
        ] {
            let (a_words, b_words, sums) = shape.words;
            let mut words =
                |n: usize| -> Vec<u32> { (0..32 * n).map(|_| numbers.next() as u32).collect() };
            let (a, b) = (words(a_words), words(b_words));
            let mut c = words(sums);
            // Sums that go over on both sides.
            (c[0], c[1], c[5]) = (i32::MAX as u32, i32::MIN as u32, i32::MAX as u32 - 70000);
            let op = format!(
                "mma.sync.aligned.{}.row.col{}.s32.{at}.{bt}.s32",
                shape.name,
                if clamps { ".satfinite" } else { "" }
            );
            let source = program(&op, shape.words, ("u32", 4), "%r");
            let mut buffers = [bytes_of(&a), bytes_of(&b), bytes_of(&c)];
            let counts = run(&source, (1, 32), &mut buffers).counts;
            let multiply_adds = shape.rows * shape.depth * 8;
            assert_eq!(counts.matrix_multiply_adds, multiply_adds as u64);
            let got = words_of(&buffers[2]);

            let value = |word: u32, i: usize, ty: &str| -> BigInt {
                let byte = (word >> (8 * i)) as u8;
                if ty == "s8" {
                    (byte as i8).into()
                } else {
                    byte.into()
                }
            };
            let mut left = vec![vec![BigInt::ZERO; shape.depth]; shape.rows];
            let mut right = vec![vec![BigInt::ZERO; 8]; shape.depth];
            for lane in 0..32 {
                for i in 0..4 * a_words {
                    let (row, column) = (shape.a)(lane, i);
                    left[row][column] = value(a[lane * a_words + i / 4], i % 4, at);
                }
                for i in 0..4 * b_words {
                    let (row, column) = (shape.b)(lane, i);
                    right[row][column] = value(b[lane * b_words + i / 4], i % 4, bt);
                }
            }
            for lane in 0..32 {
                for i in 0..sums {
                    let (row, column) = (shape.c)(lane, i);
                    let mut sum = BigInt::from(c[lane * sums + i] as i32);
                    for k in 0..shape.depth {
                        sum += &left[row][k] * &right[k][column];
                    }
                    let want = if clamps {
                        sum.clamp(i32::MIN.into(), i32::MAX.into())
                    } else {
                        ((sum % (1i64 << 32)) + (1i64 << 32)) % (1i64 << 32)
                    };
                    let got = got[lane * sums + i];
                    let got = if clamps {
                        BigInt::from(got as i32)
                    } else {
                        BigInt::from(got)
                    };
                    assert_eq!(got, want, "{op}, row {row}, column {column}");
                }
            }
        }
    }
}

#[test]
fn products_of_doubles_are_fused_by_ascending_column() {
    let fragment_rows = |lane: usize, i: usize| (lane >> 2) + 8 * (i % 2);
    type Shape = (&'static str, usize, usize, (usize, usize, usize));
    let shapes: [Shape; 4] = [
        ("m8n8k4", 8, 4, (1, 1, 2)),
        ("m16n8k4", 16, 4, (2, 1, 4)),
        ("m16n8k8", 16, 8, (4, 2, 4)),
        ("m16n8k16", 16, 16, (8, 4, 4)),
    ];
    let mut numbers = Numbers(11);
    // Integers below 2^20 times powers of two: products and their sums round.
    let mut double = || {
        let n = numbers.next();
        (n as i64 >> 12) as f64 * 2f64.powi((n % 40) as i32 - 20)
    };
    for (name, rows, depth, counts) in shapes {
        let (na, nb, nc) = counts;
        let mut doubles = |n: usize| -> Vec<f64> { (0..32 * n).map(|_| double()).collect() };
        let (a, b, c) = (doubles(na), doubles(nb), doubles(nc));
        let bytes = |x: &[f64]| -> Vec<u8> { x.iter().flat_map(|x| x.to_le_bytes()).collect() };
        let op = format!("mma.sync.aligned.{name}.row.col.f64.f64.f64.f64");
        let source = program(&op, counts, ("f64", 8), "%g").replace("%g<20>", "%g<40>");
        let mut buffers = [bytes(&a), bytes(&b), bytes(&c)];
        let counts = run(&source, (1, 32), &mut buffers).counts;
        assert_eq!(counts.matrix_multiply_adds, (rows * depth * 8) as u64);
        let mut left = vec![vec![0.0; depth]; rows];
        let mut right = vec![[0.0; 8]; depth];
        for lane in 0..32 {
            for i in 0..na {
                let row = if rows == 8 {
                    lane >> 2
                } else {
                    fragment_rows(lane, i)
                };
                let column = match (name, i) {
                    ("m16n8k8", 2 | 3) => lane % 4 + 4,
                    ("m16n8k16", _) if i % 2 == 0 => i * 2 + lane % 4,
                    ("m16n8k16", _) => i * 2 - 2 + lane % 4,
                    _ => lane % 4,
                };
                left[row][column] = a[lane * na + i];
            }
            for i in 0..nb {
                right[lane % 4 + 4 * i][lane >> 2] = b[lane * nb + i];
            }
        }
        let got: Vec<f64> = buffers[2]
            .chunks_exact(8)
            .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        for lane in 0..32 {
            for i in 0..nc {
                let row = if i < 2 { lane >> 2 } else { (lane >> 2) + 8 };
                let column = lane % 4 * 2 + (i & 1);
                let mut want = c[lane * nc + i];
                for k in 0..depth {
                    want = left[row][k].mul_add(right[k][column], want);
                }
                assert_eq!(
                    got[lane * nc + i],
                    want,
                    "{name}, row {row}, column {column}"
                );
            }
        }
    }
}

#[test]
fn small_integers_in_doubles_multiply_exactly_in_any_order() {
    // What number-theoretic kernels rely on: no sum reaches 2^53.
    let op = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64";
    let source = program(op, (1, 1, 2), ("f64", 8), "%g");
    let value = |n: usize| ((n * 0x9e37_79b9) % (1 << 25)) as f64;
    let bytes = |n: usize, f: &dyn Fn(usize) -> f64| -> Vec<u8> {
        (0..n).flat_map(|i| f(i).to_le_bytes()).collect()
    };
    let mut buffers = [
        bytes(32, &value),
        bytes(32, &|i| value(i + 100)),
        bytes(64, &|_| 0.0),
    ];
    run(&source, (1, 32), &mut buffers);
    for lane in 0..32 {
        for i in 0..2 {
            let (row, column) = (lane / 4, 2 * (lane % 4) + i);
            let want: u128 = (0..4)
                .map(|k| value(4 * row + k) as u128 * value(4 * column + k + 100) as u128)
                .sum();
            let at = 8 * (2 * lane + i);
            let got = f64::from_le_bytes(buffers[2][at..at + 8].try_into().unwrap());
            assert_eq!(got as u128, want);
        }
    }
}

#[test]
fn a_product_of_part_of_a_warp_is_a_fault() {
    let op = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32";
    let source = program(op, (1, 1, 2), ("u32", 4), "%r");
    let mut buffers = [vec![0; 256], vec![0; 256], vec![0; 256]];
    assert_eq!(
        fault(&source, (1, 16), &mut buffers).kind,
        FaultKind::InactiveLane
    );
}

/// Four warps have sixteen rows of 64 each, and sixteen columns stand in shared memory: eights of them `32 * 8` bytes
/// apart or further, and in an eight the upper halves of columns behind the lower ones.
#[test]
fn a_warpgroup_multiplies_by_columns_in_shared_memory() {
    let mut numbers = Numbers(3);
    for (at, bt, adds, eight) in [
        ("u8", "s8", 1, 256),
        ("s8", "u8", 0, 256),
        ("u8", "u8", 1, 512),
    ] {
        let mut bytes = |count: usize| -> Vec<u8> {
            let words = (0..count / 8).flat_map(|_| numbers.next().to_le_bytes());
            words.collect()
        };
        let (a, b, c) = (bytes(64 * 32), bytes(2 * eight), bytes(64 * 16 * 4));
        // Registers as of `mma.sync`, of eight columns at a time, each warp's behind the last one's.
        let fragment = &BYTES[2];
        let a_at = |row: usize, k: usize| {
            let place = (0..32 * 16).find(|n| (fragment.a)(n / 16, n % 16) == (row % 16, k));
            512 * (row / 16) + place.unwrap()
        };
        let sum_at = |row: usize, column: usize| {
            let place = (0..32 * 4).find(|n| (fragment.c)(n / 4, n % 4) == (row % 16, column % 8));
            let n = place.unwrap();
            128 * 2 * (row / 16) + 8 * (n / 4) + 4 * (column / 8) + n % 4
        };
        let signed = |byte: u8, ty: &str| match ty {
            "s8" => i64::from(byte as i8),
            _ => i64::from(byte),
        };
        let mut wanted = words_of(&c);
        for (row, column) in (0..64).flat_map(|row| (0..16).map(move |column| (row, column))) {
            let products = (0..32).map(|k| {
                let at_b = eight * (column / 8) + 128 * (k / 16) + 16 * (column % 8) + k % 16;
                signed(a[a_at(row, k)], at) * signed(b[at_b], bt)
            });
            let before = i64::from(wanted[sum_at(row, column)]);
            let sum = adds * before + products.sum::<i64>();
            wanted[sum_at(row, column)] = sum as u32;
        }
        let registers = |first: usize, count: usize| -> Vec<String> {
            (first..first + count).map(|n| format!("%r{n}")).collect()
        };
        let (left, sums) = (registers(10, 4).join(", "), registers(20, 8));
        let (loads, stores): (String, String) = sums
            .iter()
            .enumerate()
            .map(|(n, sum)| {
                let at = format!("[%d2+{}]", 4 * n);
                (
                    format!("ld.global.u32 {sum}, {at};\n"),
                    format!("st.global.u32 {at}, {sum};\n"),
                )
            })
            .unzip();
        let body = format!(
            ".shared .align 16 .b8 columns[1024];
             mov.u32 %r0, %tid.x; mov.u32 %r1, columns;
             mul.wide.u32 %d1, %r0, 16; add.u64 %d1, %a0, %d1;
             mul.wide.u32 %d2, %r0, 32; add.u64 %d2, %a2, %d2;
             ld.global.v4.u32 {{{left}}}, [%d1]; {loads}
             setp.ge.u32 %p1, %r0, {}; @%p1 bra there;
             mad.lo.u32 %r2, %r0, 8, %r1; mul.wide.u32 %d3, %r0, 8; add.u64 %d3, %a1, %d3;
             ld.global.u64 %d4, [%d3]; st.shared.u64 [%r2], %d4;
             there: bar.sync 0;
             shr.u32 %r3, %r1, 4; cvt.u64.u32 %d5, %r3; or.b64 %d5, %d5, {};
             setp.eq.u32 %p2, 1, {adds};
             setmaxnreg.inc.sync.aligned.u32 240;
             wgmma.fence.sync.aligned;
             wgmma.mma_async.sync.aligned.m64n16k32.s32.{at}.{bt} {{{}}}, {{{left}}}, %d5, %p2;
             wgmma.commit_group.sync.aligned;
             wgmma.wait_group.sync.aligned 0;
             {stores}",
            2 * eight / 8,
            (eight as u64 / 16) << 32 | (128 / 16) << 16,
            sums.join(", "),
        );
        let mut buffers = [a.clone(), b.clone(), c];
        let report = run(&kernel(3, &body), (1, 128), &mut buffers);
        assert_eq!(words_of(&buffers[2]), wanted, "{at} {bt} {adds}");
        assert_eq!(report.counts.matrix_multiply_adds, 64 * 16 * 32);
    }
}

#[test]
fn matrices_come_from_shared_memory_and_go_there() {
    // Four 8x8 matrices of half words, their rows in any order in memory.
    let halves: Vec<u16> = (0..256u32)
        .map(|i| (i.wrapping_mul(40_503) / 8) as u16)
        .collect();
    let bytes: Vec<u8> = halves.iter().flat_map(|h| h.to_le_bytes()).collect();
    // Lane `l` has row `l % 8` of matrix `l / 8`, which lies in place `5 l % 32`.
    let row_at = |l: usize| 5 * l % 32;
    for (count, transposed) in [(1, false), (2, true), (4, false), (4, true)] {
        let trans = if transposed { ".trans" } else { "" };
        let registers: Vec<String> = (10..10 + count).map(|n| format!("%r{n}")).collect();
        let list = registers.join(", ");
        let stores: String = registers
            .iter()
            .enumerate()
            .map(|(m, r)| format!("st.global.u32 [%d2+{}], {r};\n", 128 * m))
            .collect();
        let body = format!(
            ".shared .align 16 .b8 rows[512]; .shared .align 16 .b8 back[512];
             mov.u32 %r0, %laneid; mul.wide.u32 %d0, %r0, 16; add.u64 %d1, %a0, %d0;
             ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%d1];
             mov.u32 %r5, rows; mad.lo.u32 %r6, %r0, 16, %r5;
             st.shared.v4.u32 [%r6], {{%r1, %r2, %r3, %r4}};
             bar.warp.sync 0xffffffff;
             mul.lo.u32 %r7, %r0, 5; and.b32 %r7, %r7, 31; mad.lo.u32 %r7, %r7, 16, %r5;
             ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{list}}}, [%r7];
             mul.wide.u32 %d0, %r0, 4; add.u64 %d2, %a1, %d0;
             {stores}
             mov.u32 %r5, back; mul.lo.u32 %r7, %r0, 5; and.b32 %r7, %r7, 31;
             mad.lo.u32 %r7, %r7, 16, %r5;
             mov.u32 %r8, 0; mad.lo.u32 %r6, %r0, 16, %r5;
             st.shared.v4.u32 [%r6], {{%r8, %r8, %r8, %r8}};
             bar.warp.sync 0xffffffff;
             cvt.u64.u32 %d3, %r7; cvta.shared.u64 %d3, %d3;
             stmatrix.sync.aligned.m8n8.x{count}{trans}.b16 [%d3], {{{list}}};
             bar.warp.sync 0xffffffff;
             ld.shared.v4.u32 {{%r1, %r2, %r3, %r4}}, [%r6];
             mul.wide.u32 %d0, %r0, 16; add.u64 %d1, %a2, %d0;
             st.global.v4.u32 [%d1], {{%r1, %r2, %r3, %r4}};"
        );
        let mut buffers = [bytes.clone(), vec![0; 512], vec![0; 512]];
        run(&kernel(3, &body), (1, 32), &mut buffers);
        let got = words_of(&buffers[1]);
        for m in 0..count {
            for l in 0..32 {
                let half = |i: usize| {
                    let (mut row, mut column) = (l / 4, l % 4 * 2 + i);
                    if transposed {
                        (row, column) = (column, row);
                    }
                    u32::from(halves[8 * row_at(8 * m + row) + column])
                };
                assert_eq!(
                    got[32 * m + l],
                    half(1) << 16 | half(0),
                    "x{count}{trans} {m} {l}"
                );
            }
        }
        // Back at the same places, and nothing elsewhere.
        for l in 0..32 {
            let at = 16 * row_at(l)..16 * row_at(l) + 16;
            let want = if l < 8 * count {
                bytes[at.clone()].to_vec()
            } else {
                vec![0; 16]
            };
            assert_eq!(buffers[2][at], want, "x{count}{trans} row {l}");
        }
    }
    let part = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];";
    let body = format!(".shared .align 16 .b8 rows[128]; mov.u32 %r0, rows; {part}");
    let found = fault(&kernel(0, &body), (1, 24), &mut []);
    assert_eq!(found.kind, FaultKind::InactiveLane);
}
