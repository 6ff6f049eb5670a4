//! How a grid falls into clusters: their shape, and which block is which of them.

use crate::ir::Special;

/// How a grid falls into clusters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clusters {
    /// Blocks along x, y and z of a cluster, each a divisor of the grid's.
    pub shape: [u32; 3],
    /// Whether the launch or the kernel asked for them.
    pub explicit: bool,
}

impl Clusters {
    /// Blocks of a cluster.
    pub fn size(&self) -> u64 {
        self.shape.iter().map(|&n| u64::from(n)).product()
    }

    /// The rank of a block within its cluster.
    pub fn rank(&self, block: [u32; 3]) -> u32 {
        let [x, y, _] = self.shape;
        let [i, j, k] = self.within(block);
        (k * y + j) * x + i
    }

    /// Where a block lies in its cluster.
    fn within(&self, block: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| block[axis] % self.shape[axis])
    }

    /// The number of the block that is the `n`th if one cluster comes after another.
    pub fn number(&self, grid: [u32; 3], n: u64) -> u64 {
        let place = |n: u64, shape: [u64; 3]| {
            let [x, y, _] = shape;
            [n % x, n / x % y, n / (x * y)]
        };
        let shape = self.shape.map(u64::from);
        let grid = grid.map(u64::from);
        let clusters = std::array::from_fn(|axis| grid[axis] / shape[axis]);
        let cluster = place(n / self.size(), clusters);
        let within = place(n % self.size(), shape);
        let at: [u64; 3] = std::array::from_fn(|axis| cluster[axis] * shape[axis] + within[axis]);
        (at[2] * grid[1] + at[1]) * grid[0] + at[0]
    }

    /// A special register of a block; nothing for those that know no clusters.
    pub fn special(&self, special: Special, grid: [u32; 3], block: [u32; 3]) -> Option<u64> {
        let of = |axis: u8| axis as usize;
        let shape = self.shape;
        Some(match special {
            Special::ClusterBlock(axis) => self.within(block)[of(axis)].into(),
            Special::Cluster(axis) => (block[of(axis)] / shape[of(axis)]).into(),
            Special::ClusterBlockCount(axis) => shape[of(axis)].into(),
            Special::ClusterCount(axis) => (grid[of(axis)] / shape[of(axis)]).into(),
            Special::ClusterRank => self.rank(block).into(),
            Special::ClusterSize => self.size(),
            Special::IsCluster if self.explicit => u64::MAX,
            Special::IsCluster => 0,
            _ => return None,
        })
    }

    /// Whether two blocks are of one cluster.
    pub fn together(&self, a: [u32; 3], b: [u32; 3]) -> bool {
        (0..3).all(|axis| a[axis] / self.shape[axis] == b[axis] / self.shape[axis])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cluster_comes_after_another() {
        let clusters = Clusters {
            shape: [2, 2, 1],
            explicit: true,
        };
        let grid = [4, 4, 2];
        let numbers: Vec<u64> = (0..32).map(|n| clusters.number(grid, n)).collect();
        assert_eq!(numbers[..8], [0, 1, 4, 5, 2, 3, 6, 7]);
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..32).collect::<Vec<_>>());
        for (n, number) in numbers.into_iter().enumerate() {
            let number = number as u32;
            let at = [number % 4, number / 4 % 4, number / 16];
            assert_eq!(clusters.rank(at), n as u32 % 4);
        }
    }
}
