//! How large a launch is, and how its blocks belong together.

/// The extent of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
}

impl Grid {
    /// Blocks of the whole grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&size| u64::from(size)).product()
    }

    /// Threads of one block.
    pub fn threads(&self) -> u64 {
        self.block.iter().map(|&size| u64::from(size)).product()
    }
}

/// How blocks of a launch belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchOptions {
    /// All blocks are resident together, and may wait for each other.
    pub cooperative: bool,
    /// Blocks along x, y and z of a cluster, whose blocks are resident together and
    /// reach each other's shared memory. Without one it is what the kernel asks for
    /// ([`Kernel::required_cluster`](crate::ptx::Kernel::required_cluster)), or one block.
    pub cluster: Option<[u32; 3]>,
}
