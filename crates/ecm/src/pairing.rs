//! Pairs of giant and baby steps that show every prime of stage 2, most of them two primes.
//!
//! A prime `p = m D + j` or `m D - j` shows as the difference of the giant `m D` and the baby `j`: a pair. The pair
//! shows two primes `p < q` where `p + q = 2 m D` and `q - p = 2 j`. Babies go up to `W`, the *reach*, which
//! may be greater than `D / 2`: then a prime has several giants, and more primes to share a pair with.
//!
//! `p + q` is a multiple of `2 D` where `p` is `a D + c` and `q` is `b D - c`, or the other way round, and `a + b` is
//! even. So primes fall into classes, by `c` and the parity of `a`, in which those with `+ c` share pairs with those
//! with `- c` less than `2 W` away. A prime takes the farthest one that still waits. That makes as many pairs of two as can be:
//! of two shared pairs that cross or lie one within the other, those of the first with the first and the
//! second with the second are no longer than the longer one.
//!
//! By hand, with `D = 6` and `W = 12`: 29 = 5 * 6 - 1 waits, and 31 = 5 * 6 + 1 takes it, the pair of 30 and 1. 37 = 6 * 6 + 1 waits until 47 =
//! 8 * 6 - 1 comes: the pair of 42 and 5.
//!
//! Cost on the host: a sieve, and a queue for each class.

use std::collections::VecDeque;

use crate::primes::primes;

/// Strides `D`.
const STRIDES: [u64; 14] = [
    6, 12, 30, 60, 90, 210, 420, 630, 1260, 2310, 4620, 6930, 9240, 30_030,
];

/// The primes that divide them.
const PRIMES: [u64; 6] = [2, 3, 5, 7, 11, 13];

/// What babies go up to, in halves of the stride.
const REACHES: [u64; 8] = [1, 2, 4, 6, 8, 10, 12, 16];

/// Giants of a block, at most.
const BLOCKS: [u64; 6] = [32, 64, 128, 256, 512, 1024];

/// Numbers of which each is a multiple of the one before, and a stride is a multiple of those up to one: multiples of a point
/// are made from others by steps of these.
const PRIMORIALS: [u64; 6] = [2, 6, 30, 210, 2310, 30_030];

/// Registers of tables, at most: on all cores, and on a device.
const MOST: u64 = 3000;
const MOST_ON_DEVICE: u64 = 5000;

/// The time of a point, its denominator included, and of a baby in a further block, in that of a pair on a device: their ten
/// products, and one, fetch two numbers from memory and store one where that of a pair fetches one, as sums do.
const OF_POINT: f64 = 20.0;
const OF_BABY: f64 = 1.5;

/// The steps of a stage 2.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    b1: u64,
    b2: u64,
    /// `D`.
    pub stride: u64,
    /// `W`.
    pub reach: u64,
    /// Babies: the numbers below the reach that have no divisor in common with the stride.
    pub count: u16,
    /// The first and the last giant.
    pub first: u64,
    pub last: u64,
    /// Giants of a block, at most.
    pub block: u64,
    /// The time, in that of a pair.
    pub cost: f64,
}

impl Plan {
    /// The plan that takes the least time for all primes `p` with `b1 < p <= b2`; `b1` is 11 or more.
    pub fn new(is_on_device: bool, b1: u64, b2: u64) -> Self {
        let most = if is_on_device { MOST_ON_DEVICE } else { MOST };
        let ways = STRIDES.into_iter().flat_map(|stride| {
            let ways = REACHES.map(|halves| BLOCKS.map(|block| (stride, halves, block)));
            ways.into_iter().flatten()
        });
        let plans = ways.filter_map(|way| Plan::of(b1, b2.max(b1), way));
        let plans = plans.filter(|plan| 2 * (plan.block + u64::from(plan.count)) <= most);
        let least = plans.min_by(|a, b| a.cost.total_cmp(&b.cost));
        least.expect("a stride of 6 is always a way")
    }

    /// The plan with such a stride, a reach of so many halves of it, and such a block; `None` where that is no way, or
    /// takes too many registers.
    pub fn of(b1: u64, b2: u64, (stride, halves, block): (u64, u64, u64)) -> Option<Self> {
        let reach = halves * stride / 2;
        let primes = PRIMES.into_iter().filter(|p| stride.is_multiple_of(*p));
        let totient = primes.fold(stride, |totient, p| totient / p * (p - 1));
        let count = halves * totient / 2;
        // The primes of the stride are below stage 1's bound, and there is no giant 0.
        let is_way = (stride < 30_030 || b1 >= 13) && (halves > 1 || b1 >= reach);
        if !is_way || 2 * (block + count) > MOST_ON_DEVICE {
            return None;
        }
        let (first, last) = (nearest(b1 + 1, stride).max(1), nearest(b2, stride).max(1));
        let giants = (last + 1).saturating_sub(first);
        // Numbers are prime with this chance where they are coprime to the stride.
        let about = |b: u64| b as f64 / ((b as f64).ln() - 1.0);
        let primes = about(b2) - about(b1);
        let chance = primes * stride as f64 / ((b2 - b1).max(1) * totient) as f64;
        // The share of primes that have a pair alone, as counted of B2 from 10^5 to 10^8.
        let alone = (1.0 + halves as f64 * chance).powf(-4.0 / 3.0);
        let again = count * giants.div_ceil(block).saturating_sub(1);
        let cost = primes * (0.5 + alone / 2.0)
            + OF_POINT * (count + giants) as f64
            + OF_BABY * again as f64;
        Some(Plan {
            b1,
            b2,
            stride,
            reach,
            count: count as u16,
            first,
            last,
            block,
            cost,
        })
    }

    /// Whether this is a baby's number, where it is below the reach.
    pub fn is_baby(&self, j: u64) -> bool {
        is_coprime(j, self.stride)
    }

    /// The multiples of a point that babies are made from, babies among them, each with the step `s` from which it is
    /// made: from `j - s` and `|j - 2 s|`, which come before. 1 has none.
    pub fn multiples(&self) -> impl Iterator<Item = (u64, u64)> {
        let (stride, reach) = (self.stride, self.reach);
        let steps = PRIMORIALS.into_iter();
        let steps = steps.filter(move |step| stride.is_multiple_of(*step));
        let next = steps.clone().skip(1).chain([reach]);
        let of_steps = steps.zip(next).flat_map(move |(step, next)| {
            let these = (step + 1..next.min(reach)).filter(move |&j| is_coprime(j, step));
            these.map(move |j| (j, step))
        });
        std::iter::once((1, 0)).chain(of_steps)
    }
}

/// Whether a number has none of the primes of a stride.
fn is_coprime(j: u64, stride: u64) -> bool {
    let mut shared = PRIMES.into_iter().filter(|p| stride.is_multiple_of(*p));
    shared.all(|p| !j.is_multiple_of(p))
}

/// The giant nearest to a number.
fn nearest(p: u64, stride: u64) -> u64 {
    (p + stride / 2) / stride
}

/// The pairs of a plan, giant after giant.
#[derive(Debug)]
pub struct Pairing {
    plan: Plan,
    /// The number of each `j` among the babies.
    numbers: Vec<u16>,
    /// Primes up to it are taken.
    done: u64,
    /// The primes of each class that have no pair yet, in order.
    waiting: Vec<VecDeque<u64>>,
    /// The babies of giants from `next` on, as far as they are known.
    next: u64,
    found: VecDeque<Vec<u16>>,
}

impl Pairing {
    pub fn new(plan: &Plan) -> Self {
        let mut numbers = vec![0; plan.reach as usize];
        let babies = (1..plan.reach).filter(|&j| plan.is_baby(j));
        for (number, j) in (0..).zip(babies) {
            numbers[j as usize] = number;
        }
        Pairing {
            numbers,
            done: plan.b1,
            waiting: vec![VecDeque::new(); plan.stride as usize + 2],
            next: plan.first,
            found: VecDeque::new(),
            plan: plan.clone(),
        }
    }

    /// The pairs of the next giants, each counted from the first of them, and the numbers of babies; each once, in order.
    pub fn next(&mut self, giants: u64) -> Vec<(u16, u16)> {
        let Plan {
            stride, reach, b2, ..
        } = self.plan;
        let end = self.next + giants;
        // Those up to end D are alone where none less than 2 W above them takes them.
        let up_to = b2.min(end * stride + 2 * reach);
        let from = self.done + 1;
        self.done = up_to.max(self.done);
        primes(from, up_to, |q| self.take(q));
        for class in 0..self.waiting.len() {
            while let Some(&p) = self.waiting[class].front()
                && (p + 2 * reach <= up_to || up_to == b2)
            {
                self.waiting[class].pop_front();
                self.alone(p);
            }
        }
        let mut pairs = Vec::new();
        for giant in 0..giants as u16 {
            let mut babies = self.found.pop_front().unwrap_or_default();
            babies.sort_unstable();
            pairs.extend(babies.into_iter().map(|baby| (giant, baby)));
        }
        self.next = end;
        pairs
    }

    /// Takes the next prime.
    fn take(&mut self, q: u64) {
        let Plan { stride, reach, .. } = self.plan;
        let giant = nearest(q, stride);
        let class = (2 * q.abs_diff(giant * stride) + giant % 2) as usize;
        while let Some(&p) = self.waiting[class].front() {
            if q - p >= 2 * reach {
                self.waiting[class].pop_front();
                self.alone(p);
            } else if (q - p).is_multiple_of(2 * stride) {
                // The same side of its giant.
                break;
            } else {
                self.waiting[class].pop_front();
                self.pair((p + q) / (2 * stride), (q - p) / 2);
                return;
            }
        }
        self.waiting[class].push_back(q);
    }

    /// A prime has a pair alone.
    fn alone(&mut self, p: u64) {
        let Plan { stride, first, .. } = self.plan;
        let giant = nearest(p, stride).max(first);
        self.pair(giant, p.abs_diff(giant * stride));
    }

    fn pair(&mut self, giant: u64, j: u64) {
        let place = (giant - self.next) as usize;
        if self.found.len() <= place {
            self.found.resize(place + 1, Vec::new());
        }
        self.found[place].push(self.numbers[j as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs of all blocks, as giants and numbers of babies.
    fn all(plan: &Plan) -> Vec<(u64, u64)> {
        let babies: Vec<_> = (1..plan.reach).filter(|&j| plan.is_baby(j)).collect();
        assert_eq!(babies.len(), usize::from(plan.count));
        let mut pairing = Pairing::new(plan);
        let (mut pairs, mut first) = (Vec::new(), plan.first);
        while first <= plan.last {
            let giants = plan.block.min(plan.last + 1 - first);
            let these = pairing.next(giants);
            assert!(these.is_sorted_by(|a, b| a < b), "each once, in order");
            assert!(these.iter().all(|&(giant, _)| u64::from(giant) < giants));
            let numbers = these.into_iter();
            pairs.extend(
                numbers.map(|(giant, baby)| (first + u64::from(giant), babies[usize::from(baby)])),
            );
            first += giants;
        }
        pairs
    }

    /// The least number of pairs that show all of these: as many as there are, less the most pairs of two that share none,
    /// by paths from one that is alone to another (Kuhn's algorithm).
    fn least(plan: &Plan, primes: &[u64]) -> usize {
        let others = |p: u64| {
            let shares = move |&q: &u64| {
                (p + q).is_multiple_of(2 * plan.stride) && p.abs_diff(q) < 2 * plan.reach
            };
            primes.iter().copied().filter(shares)
        };
        // Those with + c, whose partners all have - c.
        let is_first = |p: u64| p % plan.stride < plan.stride / 2;
        let mut partner = std::collections::HashMap::new();
        fn path(
            p: u64,
            others: &impl Fn(u64) -> Vec<u64>,
            seen: &mut std::collections::HashSet<u64>,
            partner: &mut std::collections::HashMap<u64, u64>,
        ) -> bool {
            others(p).into_iter().any(|q| {
                let is_free = seen.insert(q)
                    && partner
                        .get(&q)
                        .copied()
                        .is_none_or(|p| path(p, others, seen, partner));
                if is_free {
                    partner.insert(q, p);
                }
                is_free
            })
        }
        let found = primes.iter().filter(|&&p| {
            let others = |p| others(p).collect::<Vec<_>>();
            is_first(p) && path(p, &others, &mut Default::default(), &mut partner)
        });
        primes.len() - found.count()
    }

    #[test]
    fn every_prime_is_in_a_pair_and_pairs_are_as_few_as_can_be() {
        for (b1, b2) in [
            (11, 12),
            (11, 40),
            (11, 3000),
            (40, 41),
            (31, 9000),
            (211, 20_000),
        ] {
            for stride in STRIDES {
                for halves in REACHES {
                    let Some(plan) = Plan::of(b1, b2, (stride, halves, 32)) else {
                        continue;
                    };
                    let mut expected = Vec::new();
                    primes(b1 + 1, b2, |p| expected.push(p));
                    let pairs = all(&plan);
                    let shown = |p: &u64| {
                        pairs
                            .iter()
                            .any(|&(m, j)| m * stride + j == *p || m * stride - j == *p)
                    };
                    if b2 <= 3000 {
                        assert!(expected.iter().all(shown), "{b1} {b2} {stride} {halves}");
                        assert_eq!(
                            pairs.len(),
                            least(&plan, &expected),
                            "{b1} {b2} {stride} {halves}"
                        );
                    }
                    let mut shown: Vec<_> = pairs
                        .iter()
                        .flat_map(|&(m, j)| [m * stride + j, (m * stride).abs_diff(j)])
                        .collect();
                    shown.sort_unstable();
                    let is_shown = |p: &u64| shown.binary_search(p).is_ok();
                    assert!(expected.iter().all(is_shown), "{b1} {b2} {stride} {halves}");
                }
            }
        }
    }

    #[test]
    fn every_prime_is_in_a_pair_of_the_plan_that_is_taken() {
        for (b1, b2) in [
            (11, 11),
            (11, 13),
            (12, 100_000),
            (13, 300_000),
            (2000, 147_396),
            (2311, 500_000),
            (11_000, 1_900_000),
            (50_000, 5_000_000),
            (999_983, 1_000_003),
            (1_000_003, 1_000_003),
            (3_000_000, 9_000_000),
        ] {
            let plan = Plan::new(true, b1, b2);
            let pairs = all(&plan);
            let mut shown: Vec<_> = pairs
                .iter()
                .flat_map(|&(m, j)| [m * plan.stride + j, (m * plan.stride).abs_diff(j)])
                .collect();
            shown.sort_unstable();
            let mut count = 0;
            primes(b1 + 1, b2, |p| {
                count += 1;
                assert!(shown.binary_search(&p).is_ok(), "{b1} {b2}: {p}");
            });
            // The README tells of it.
            if b2 == 5_000_000 {
                assert_eq!((count, pairs.len()), (343_380, 211_861));
            }
            let giants = plan.last + 1 - plan.first;
            let again = u64::from(plan.count) * (giants.div_ceil(plan.block) - 1);
            let counted = pairs.len() as f64
                + OF_POINT * (u64::from(plan.count) + giants) as f64
                + OF_BABY * again as f64;
            let is_right = (plan.cost / counted - 1.0).abs() < 0.03;
            assert!(is_right, "{b1} {b2}: {counted}, not {}", plan.cost);
        }
    }

    #[test]
    fn multiples_are_made_from_those_that_come_before() {
        for stride in STRIDES {
            for halves in REACHES {
                let Some(plan) = Plan::of(1 << 20, 1 << 30, (stride, halves, 32)) else {
                    continue;
                };
                let mut made = std::collections::HashSet::new();
                for (j, step) in plan.multiples() {
                    if step > 0 {
                        assert!(stride.is_multiple_of(step));
                        assert!(made.contains(&(j - step)) && made.contains(&j.abs_diff(2 * step)));
                    }
                    assert!(made.insert(j), "{j} twice");
                }
                let babies = (1..plan.reach).filter(|&j| plan.is_baby(j));
                assert!(babies.into_iter().all(|j| made.contains(&j)));
            }
        }
    }
}
