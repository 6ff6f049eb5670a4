//! A simulated GPU with the kernels of one module, launches of them, and numbers to try them with.

use bigint_core::kernel::{EntryPoint, TILE};
use bigint_core::specialization::Specialization;
use bigint_core::transform::{ROOTS, fill_roots};
use bigint_core::{Algorithm, Arguments, Kernel, Layout, Limb, MatrixArgument, Operation, Shape};
use cuda_sim::{Arch, Counts, Device, DeviceConfig, Grid, LoadedModule, ptx::Module};
use num_bigint::BigUint;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, OnceLock};

/// A device of an architecture whose blocks may have much shared memory.
pub const LARGE: Arch = Arch::SM_90;

/// What no kernel writes: words around results, and flags that nobody tells.
pub const PADDING: Limb = 0xa5a5_a5a5;

/// Numbers of so many limbs each: one for each of a batch, or one for all.
pub type Operand = (usize, Vec<BigUint>);

/// The PTX of a module, as it is committed.
pub fn committed(module: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../bigint-host/ptx");
    let path = format!("{folder}/{module}.ptx");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The module of this PTX, which is parsed once for all tests.
fn parsed(ptx: &str) -> Module {
    static ALL: Mutex<BTreeMap<String, Arc<OnceLock<Module>>>> = Mutex::new(BTreeMap::new());
    let mut all = ALL.lock().unwrap();
    let module = Arc::clone(all.entry(ptx.to_owned()).or_default());
    drop(all);
    let module = module.get_or_init(|| Module::parse(ptx).unwrap());
    module.clone()
}

/// The kernels of an operation that stand in its own module: those on tensor cores have one apart.
pub fn kernels(operation: Operation) -> impl Iterator<Item = &'static Kernel> {
    let kernels = Kernel::ALL.iter();
    kernels.filter(move |kernel| kernel.operation == operation && !kernel.takes_tensor_cores())
}

/// The next number of a batch in the place of each.
pub fn turned((width, numbers): &Operand) -> Operand {
    let next = numbers.iter().cycle().skip(1).take(numbers.len());
    (*width, next.cloned().collect())
}

/// A number without what stands above so many limbs.
pub fn cut(x: BigUint, width: usize) -> BigUint {
    x % (BigUint::from(1u8) << (32 * width))
}

/// A simulated device with kernels.
pub struct Bench {
    pub device: Device,
    ptx: String,
    module: LoadedModule,
    pub random: Random,
}

/// A launch of a kernel of the table.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    pub kernel: &'a Kernel,
    pub operands: &'a [Operand],
    /// Limbs of each result.
    pub widths: &'a [usize],
    /// Those of the first operand, of the others, and of results.
    pub layouts: [Layout; 3],
    /// Whether all operands are the very memory of the first.
    pub alias: bool,
    /// Blocks, if fewer than the batch takes.
    pub grid: Option<u32>,
    /// Whether each number's flag is asked for.
    pub flags: bool,
    /// Whether the first number whose flag is 1 is asked for.
    pub first: bool,
    /// Shared memory that the device leaves a block, if that is to matter.
    pub most_shared: u32,
    /// The table of roots, for kernels that take it.
    pub roots: u64,
    /// Whether the kernel is specialised to such a launch of many numbers.
    pub is_specialized: bool,
}

impl<'a> Launch<'a> {
    /// With results of these widths, all in the kernel's own layout, and flags.
    pub fn new(kernel: &'a Kernel, operands: &'a [Operand], widths: &'a [usize]) -> Self {
        Launch {
            kernel,
            operands,
            widths,
            layouts: [kernel.layout; 3],
            alias: false,
            grid: None,
            flags: true,
            first: false,
            most_shared: u32::MAX,
            roots: 0,
            is_specialized: false,
        }
    }

    /// With all numbers in one layout.
    pub fn of(self, layout: Layout) -> Self {
        Launch {
            layouts: [layout; 3],
            ..self
        }
    }
}

/// What a launch made.
pub struct Made {
    /// The numbers of each result.
    pub results: Vec<Vec<BigUint>>,
    /// What each number's flag is; [`PADDING`] where nobody told it.
    pub flags: Vec<Limb>,
    /// The first number whose flag is 1, if that was asked for and there is one.
    pub first: Option<u64>,
    pub counts: Counts,
}

impl Bench {
    /// With a committed module, on the oldest architecture.
    pub fn new(module: &str) -> Self {
        Bench::of(committed(module), DeviceConfig::default())
    }

    /// With a committed module whose blocks have much shared memory.
    pub fn large(module: &str) -> Self {
        let config = DeviceConfig {
            arch: LARGE,
            ..DeviceConfig::default()
        };
        Bench::of(committed(module), config)
    }

    /// With the kernels of this PTX.
    pub fn of(ptx: String, config: DeviceConfig) -> Self {
        let device = Device::new(config);
        let module = device.load(&parsed(&ptx)).unwrap();
        Bench {
            device,
            ptx,
            module,
            random: Random(1),
        }
    }

    /// The address of these bytes on the device.
    pub fn upload(&self, bytes: impl Iterator<Item = u8>) -> u64 {
        let bytes: Vec<u8> = bytes.collect();
        let address = self.device.alloc(bytes.len().max(1) as u64).unwrap();
        self.device.write(address, &bytes).unwrap();
        address
    }

    /// The address of the table of roots.
    pub fn roots(&self) -> u64 {
        let mut table = vec![[0.0; 2]; ROOTS];
        fill_roots(&mut table);
        let words = table.iter().flatten();
        self.upload(words.flat_map(|x: &f64| x.to_le_bytes()))
    }

    /// The address of these limbs.
    pub fn upload_limbs(&self, limbs: &[Limb]) -> u64 {
        self.upload(limbs.iter().flat_map(|limb| limb.to_le_bytes()))
    }

    /// Limbs from an address on, all of which something has written.
    pub fn read(&self, address: u64, limbs: usize) -> Vec<Limb> {
        let mut bytes = vec![0; 4 * limbs];
        let unwritten = self.device.first_unwritten(address, bytes.len() as u64);
        assert_eq!(unwritten.unwrap(), None, "of {limbs} limbs at {address:#x}");
        self.device.read(address, &mut bytes).unwrap();
        let fours = bytes.as_chunks::<4>().0.iter();
        fours.map(|four| Limb::from_le_bytes(*four)).collect()
    }

    /// Numbers of one width on the device.
    pub fn matrix(&self, (width, numbers): &Operand, layout: Layout) -> MatrixArgument {
        if numbers.is_empty() {
            return MatrixArgument::default();
        }
        let shape = Shape::new(numbers.len(), *width, layout);
        let mut limbs = vec![0; shape.limbs()];
        for (i, number) in numbers.iter().enumerate() {
            for (j, limb) in number.iter_u32_digits().enumerate() {
                limbs[shape.index(i, j)] = limb;
            }
        }
        MatrixArgument::new(self.upload_limbs(&limbs), *width, shape.strides())
    }

    /// Room for a result: what is no number's is [`PADDING`], and nothing wrote the rest.
    pub fn room(&self, shape: Shape) -> MatrixArgument {
        let address = self.device.alloc(4 * shape.limbs().max(1) as u64).unwrap();
        for at in padding(shape) {
            let at = address + 4 * at as u64;
            self.device.write(at, &PADDING.to_le_bytes()).unwrap();
        }
        MatrixArgument::new(address, shape.width, shape.strides())
    }

    /// The numbers of a result; its padding is what it was.
    pub fn numbers(&self, matrix: MatrixArgument, shape: Shape) -> Vec<BigUint> {
        let limbs = self.read(matrix.limbs, shape.limbs());
        assert!(padding(shape).all(|at| limbs[at] == PADDING), "{shape:?}");
        let number = |i| (0..shape.width).map(|j| limbs[shape.index(i, j)]).collect();
        let numbers = (0..shape.count).map(|i| BigUint::new(number(i)));
        numbers.collect()
    }

    /// Launches the kernel of this name; `what` is told where it fails.
    pub fn launch(
        &self,
        name: &str,
        grid: [u32; 3],
        words: impl Iterator<Item = u64>,
        what: impl Debug,
    ) -> Counts {
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        self.launch_in(&self.module, name, grid, &bytes, what)
    }

    /// The same in a module, of arguments as the launch copies them; a grid is blocks, threads and
    /// bytes of shared memory.
    pub fn launch_in(
        &self,
        module: &LoadedModule,
        name: &str,
        [blocks, threads, shared_bytes]: [u32; 3],
        bytes: &[u8],
        what: impl Debug,
    ) -> Counts {
        let grid = Grid {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared_bytes,
        };
        let report = self.device.launch(module, name, grid, bytes);
        let report = report.unwrap_or_else(|fault| panic!("{name} {what:?}: {fault}"));
        report.counts
    }

    pub fn module(&self) -> &LoadedModule {
        &self.module
    }

    /// Another committed module on the same device.
    pub fn load(&self, module: &str) -> LoadedModule {
        self.device.load(&parsed(&committed(module))).unwrap()
    }

    /// The kernel, specialised to all that is known of such a launch.
    fn specialized(&self, kernel: &Kernel, arguments: &Arguments) -> LoadedModule {
        self.specialized_to(kernel.entry_point(), &kernel.specialization(arguments))
    }

    /// A kernel of the module, specialised to what is known.
    pub fn specialized_to(&self, entry: EntryPoint, known: &Specialization) -> LoadedModule {
        let text = bigint_host::specialize(&self.ptx, entry, known);
        self.device.load(&Module::parse(&text).unwrap()).unwrap()
    }

    /// Launches a kernel of the table.
    pub fn run(&self, launch: &Launch<'_>) -> Made {
        let Launch {
            kernel, operands, ..
        } = *launch;
        let count = operands.iter().map(|(_, numbers)| numbers.len()).max();
        let count = count.unwrap();
        let widths: Vec<usize> = operands.iter().map(|(width, _)| *width).collect();
        let mut plan = match launch.most_shared {
            u32::MAX => kernel.launch(count, &widths, launch.widths[0]),
            most => kernel.launch_within(count, &widths, launch.widths[0], most),
        };
        if let Some(grid) = launch.grid {
            plan.grid = grid;
            plan.workers = grid as usize * (plan.block / kernel.lanes) as usize;
        }
        let [of_first, of_others, of_results] = launch.layouts;
        let mut matrices: Vec<MatrixArgument> = Vec::new();
        for (i, operand) in operands.iter().enumerate() {
            let layout = if i == 0 { of_first } else { of_others };
            matrices.push(match matrices.first() {
                Some(&first) if launch.alias => first,
                _ => self.matrix(operand, layout),
            });
            if operand.1.len() < count {
                matrices[i].number_stride = 0;
            }
        }
        let shapes = launch.widths.iter();
        let shapes: Vec<_> = shapes
            .map(|&width| Shape::new(count, width, of_results))
            .collect();
        let results: Vec<_> = shapes.iter().map(|&shape| self.room(shape)).collect();
        let flags = self.upload_limbs(&vec![PADDING; count + 1]);
        let first = self.upload_limbs(&[Limb::MAX; 2]);
        let scratch = 4 * (plan.scratch_width * plan.workers).max(1);
        let scratch = self.device.alloc(scratch as u64).unwrap();
        let strides = plan.scratch_strides(kernel.level);
        let arguments = Arguments {
            scratch: match plan.scratch_width {
                0 => MatrixArgument::default(),
                width => MatrixArgument::new(scratch, width, strides),
            },
            carry: if launch.flags { flags } else { 0 },
            first_carry: if launch.first { first } else { 0 },
            roots: launch.roots,
            count: count as u64,
            workers: plan.workers as u64,
            ..kernel.arguments(&results, &matrices)
        };
        let own = launch
            .is_specialized
            .then(|| self.specialized(kernel, &arguments));
        let run = |grid: u32, arguments: &Arguments| {
            self.launch_in(
                own.as_ref().unwrap_or(&self.module),
                kernel.name,
                [grid, plan.block, plan.shared_bytes],
                &arguments
                    .words()
                    .flat_map(u64::to_le_bytes)
                    .collect::<Vec<_>>(),
                (&widths, launch.widths, count),
            )
        };
        let words = self.device.alloc(4 * plan.workers as u64).unwrap();
        let is_wide = launch.widths[0] > TILE as usize;
        let counts = match kernel.algorithm {
            Algorithm::CarryLookahead if is_wide => {
                let each = if launch.grid.is_some() { 32 } else { 1 };
                in_two(run, plan.grid, each, words, &arguments)
            }
            _ => run(plan.grid, &arguments),
        };
        let mut told_flags = self.read(flags, count + 1);
        assert_eq!(told_flags.pop(), Some(PADDING), "behind the last flag");
        let [low, high] = self.read(first, 2)[..] else {
            unreachable!("two limbs were read");
        };
        let least = u64::from(high) << 32 | u64::from(low);
        let numbers = results.iter().zip(&shapes);
        let numbers = numbers.map(|(&matrix, &shape)| self.numbers(matrix, shape));
        let made = Made {
            results: numbers.collect(),
            flags: told_flags,
            first: (least != u64::MAX).then_some(least),
            counts,
        };
        let operands = if launch.alias {
            &matrices[..1]
        } else {
            &matrices
        };
        let all = operands.iter().chain(&results).map(|matrix| matrix.limbs);
        for address in all.chain([flags, first, scratch, words]) {
            self.device.free(address).unwrap();
        }
        made
    }

    /// Compares the first results of a launch with `value`, number by number.
    pub fn check(&self, launch: &Launch<'_>, value: impl Fn(&[&BigUint]) -> BigUint) -> Made {
        let made = self.run(launch);
        for (i, found) in made.results[0].iter().enumerate() {
            let numbers = launch.operands.iter();
            let numbers: Vec<_> = numbers.map(|(_, x)| x.get(i).unwrap_or(&x[0])).collect();
            assert_eq!(
                *found,
                cut(value(&numbers), launch.widths[0]),
                "{} {:?}: number {i}, {numbers:x?}",
                launch.kernel.name,
                launch.widths
            );
        }
        made
    }

    /// The next limb of a sequence that looks random.
    pub fn next(&mut self) -> Limb {
        self.random.next()
    }

    /// A number of so many limbs: [`Random::number`].
    pub fn number(&mut self, width: usize) -> BigUint {
        self.random.number(width)
    }

    /// So many numbers of so many limbs.
    pub fn batch(&mut self, count: usize, width: usize) -> Operand {
        let numbers = (0..count).map(|_| self.number(width));
        (width, numbers.collect())
    }
}

/// Two launches of so many blocks, with words between them at an address; of the second each warp has
/// so many.
fn in_two(
    run: impl Fn(u32, &Arguments) -> Counts,
    grid: u32,
    each: u32,
    words: u64,
    arguments: &Arguments,
) -> Counts {
    let words = |width| MatrixArgument {
        limbs: words,
        width,
        ..MatrixArgument::default()
    };
    let (s, scratch) = (words(1), words(u64::from(each)));
    let mut counts = run(grid, &Arguments { s, ..*arguments });
    let second = Arguments {
        scratch,
        ..*arguments
    };
    counts += &run(grid.div_ceil(each), &second);
    counts
}

/// The places of a batch that are no number's.
fn padding(shape: Shape) -> impl Iterator<Item = usize> {
    let row = match shape.layout {
        Layout::Contiguous => 0,
        Layout::Interleaved => shape.strides().limb,
    };
    (shape.count..row).flat_map(move |i| (0..shape.width).map(move |j| i + j * row))
}

/// A sequence that looks random, the same one in every run.
pub struct Random(u64);

impl Random {
    /// The next limb.
    pub fn next(&mut self) -> Limb {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as Limb
    }

    /// The next number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound
    }

    /// A number of `width` limbs: all ones, zero, 1, a power of two and its neighbours, of limbs at
    /// the ends of their range, or any.
    pub fn number(&mut self, width: usize) -> BigUint {
        let one = BigUint::from(1u8);
        let power = &one << self.below(32 * width);
        match self.below(11) {
            0 => (one << (32 * width)) - 1u8,
            1 => BigUint::ZERO,
            2 => one,
            3 => power,
            4 => power - 1u8,
            5 => (power + 1u8) % (one << (32 * width)),
            6 => self.limbs(width, |any| {
                [0, 1, 1 << 31, Limb::MAX - 1, Limb::MAX][any as usize % 5]
            }),
            _ => self.limbs(width, |any| any),
        }
    }

    /// A number of `width` limbs, one that is like `x` to its sum and difference: the complement, so
    /// that every limb of the sum propagates a carry, the same number or one just beside it; or any.
    pub fn like(&mut self, width: usize, x: &BigUint) -> BigUint {
        let all = (BigUint::from(1u8) << (32 * width)) - 1u8;
        match self.below(5) {
            0 => &all - x % (&all + 1u8),
            1 => x & &all,
            2 => (x & &all) ^ BigUint::from(1u8),
            _ => self.number(width),
        }
    }

    /// A number of limbs that are made of any.
    pub fn limbs(&mut self, width: usize, limb: impl Fn(Limb) -> Limb) -> BigUint {
        BigUint::new((0..width).map(|_| limb(self.next())).collect())
    }
}
