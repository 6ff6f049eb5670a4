//! What a GPU architecture allows: the limits that a launch must respect and the
//! figures that device attributes report.

/// The limits and sizes of one GPU, after the CUDA programming guide's table of
/// technical specifications per compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    /// Marketing name of the chip that the figures are of.
    pub name: &'static str,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Multiprocessors of the chip.
    pub multiprocessors: u32,
    /// Threads of a block, at most.
    pub max_threads_per_block: u32,
    /// Threads of a block along x, y and z, at most.
    pub max_block_dim: [u32; 3],
    /// Blocks of a grid along x, y and z, at most.
    pub max_grid_dim: [u32; 3],
    /// Shared memory of a block in bytes, without asking for more.
    pub shared_per_block: u32,
    /// Shared memory of a block in bytes, once the function has opted in.
    pub shared_per_block_optin: u32,
    /// Shared memory of a multiprocessor in bytes.
    pub shared_per_multiprocessor: u32,
    /// Shared memory and first-level cache of a multiprocessor in bytes, which are one memory.
    pub first_level_bytes: u32,
    /// Shared memory in bytes that the system keeps in each block.
    pub reserved_shared_per_block: u32,
    /// 32-bit registers that one thread can have.
    pub registers_per_thread: u32,
    /// 32-bit registers that one block can have.
    pub registers_per_block: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Threads resident on a multiprocessor, at most.
    pub max_threads_per_multiprocessor: u32,
    /// Blocks resident on a multiprocessor, at most.
    pub max_blocks_per_multiprocessor: u32,
    /// Constant memory in bytes.
    pub constant_bytes: u32,
    /// Bytes of kernel parameters, at most, for the newest PTX version.
    pub max_param_bytes: u32,
    /// Core clock in kHz, as the device attribute reports it.
    pub clock_khz: u32,
    /// Memory clock in kHz.
    pub memory_clock_khz: u32,
    /// Width of the memory bus in bits.
    pub memory_bus_bits: u32,
    /// Level-2 cache in bytes.
    pub l2_bytes: u32,
    /// Operations on floats of 32 bits in the time of one on doubles.
    pub floats_for_a_double: u32,
}

const BASE: Arch = Arch {
    name: "",
    compute_capability: (0, 0),
    multiprocessors: 0,
    max_threads_per_block: 1024,
    max_block_dim: [1024, 1024, 64],
    max_grid_dim: [0x7fff_ffff, 65535, 65535],
    shared_per_block: 48 << 10,
    shared_per_block_optin: 0,
    shared_per_multiprocessor: 0,
    first_level_bytes: 0,
    reserved_shared_per_block: 1 << 10,
    registers_per_thread: 255,
    registers_per_block: 1 << 16,
    registers_per_multiprocessor: 1 << 16,
    max_threads_per_multiprocessor: 2048,
    max_blocks_per_multiprocessor: 32,
    constant_bytes: 64 << 10,
    max_param_bytes: 32764,
    clock_khz: 0,
    memory_clock_khz: 0,
    memory_bus_bits: 0,
    l2_bytes: 0,
    floats_for_a_double: 2,
};

impl Arch {
    /// Threads of a warp on every architecture.
    pub const WARP: u32 = 32;

    /// Turing, compute capability 7.5.
    pub const SM_75: Arch = Arch {
        name: "Tesla T4",
        compute_capability: (7, 5),
        multiprocessors: 40,
        shared_per_block_optin: 64 << 10,
        shared_per_multiprocessor: 64 << 10,
        first_level_bytes: 96 << 10,
        reserved_shared_per_block: 0,
        max_threads_per_multiprocessor: 1024,
        max_blocks_per_multiprocessor: 16,
        clock_khz: 1_590_000,
        memory_clock_khz: 5_001_000,
        memory_bus_bits: 256,
        l2_bytes: 4 << 20,
        floats_for_a_double: 32,
        ..BASE
    };
    /// Ampere, compute capability 8.0.
    pub const SM_80: Arch = Arch {
        name: "A100-SXM4-80GB",
        compute_capability: (8, 0),
        multiprocessors: 108,
        shared_per_block_optin: 163 << 10,
        shared_per_multiprocessor: 164 << 10,
        first_level_bytes: 192 << 10,
        clock_khz: 1_410_000,
        memory_clock_khz: 1_593_000,
        memory_bus_bits: 5120,
        l2_bytes: 40 << 20,
        ..BASE
    };
    /// Ampere, compute capability 8.6.
    pub const SM_86: Arch = Arch {
        name: "GeForce RTX 3090",
        compute_capability: (8, 6),
        multiprocessors: 82,
        shared_per_block_optin: 99 << 10,
        shared_per_multiprocessor: 100 << 10,
        first_level_bytes: 128 << 10,
        max_threads_per_multiprocessor: 1536,
        max_blocks_per_multiprocessor: 16,
        clock_khz: 1_695_000,
        memory_clock_khz: 9_751_000,
        memory_bus_bits: 384,
        l2_bytes: 6 << 20,
        floats_for_a_double: 64,
        ..BASE
    };
    /// Ada, compute capability 8.9.
    pub const SM_89: Arch = Arch {
        name: "GeForce RTX 4090",
        compute_capability: (8, 9),
        multiprocessors: 128,
        max_blocks_per_multiprocessor: 24,
        clock_khz: 2_520_000,
        memory_clock_khz: 10_501_000,
        l2_bytes: 72 << 20,
        ..Arch::SM_86
    };
    /// Hopper, compute capability 9.0.
    pub const SM_90: Arch = Arch {
        name: "H200",
        compute_capability: (9, 0),
        multiprocessors: 132,
        shared_per_block_optin: 227 << 10,
        shared_per_multiprocessor: 228 << 10,
        first_level_bytes: 256 << 10,
        clock_khz: 1_980_000,
        memory_clock_khz: 3_201_000,
        memory_bus_bits: 6144,
        l2_bytes: 60 << 20,
        ..BASE
    };
    /// Blackwell, compute capability 10.0.
    pub const SM_100: Arch = Arch {
        name: "B200",
        compute_capability: (10, 0),
        multiprocessors: 148,
        clock_khz: 1_965_000,
        memory_clock_khz: 3_996_000,
        memory_bus_bits: 8192,
        l2_bytes: 126 << 20,
        ..Arch::SM_90
    };
    /// Blackwell, compute capability 12.0.
    pub const SM_120: Arch = Arch {
        name: "GeForce RTX 5090",
        compute_capability: (12, 0),
        multiprocessors: 170,
        clock_khz: 2_407_000,
        memory_clock_khz: 14_001_000,
        memory_bus_bits: 512,
        l2_bytes: 96 << 20,
        ..Arch::SM_89
    };

    /// Every architecture that the simulator knows, oldest first.
    pub const ALL: [Arch; 7] = [
        Arch::SM_75,
        Arch::SM_80,
        Arch::SM_86,
        Arch::SM_89,
        Arch::SM_90,
        Arch::SM_100,
        Arch::SM_120,
    ];

    /// The architecture's number as in `sm_75`: ten times major plus minor.
    pub const fn sm(&self) -> u32 {
        self.compute_capability.0 * 10 + self.compute_capability.1
    }

    /// The architecture with that number, as in `sm_75`, if the simulator knows it.
    pub fn by_sm(sm: u32) -> Option<Arch> {
        Arch::ALL.into_iter().find(|arch| arch.sm() == sm)
    }
}

impl Default for Arch {
    /// The oldest architecture, so that what runs here runs everywhere.
    fn default() -> Self {
        Arch::SM_75
    }
}
