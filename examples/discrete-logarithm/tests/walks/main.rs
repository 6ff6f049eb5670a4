//! Walks, searches and the program.

mod device;
mod problems;
mod program;
mod search;

use discrete_logarithm::field::{Field, limbs};
use discrete_logarithm::{
    Affine, Method, Named, Plan, Point, Problem, Shape, Starts, Table, Told, Walkers, jumps, named,
};
use num_bigint::BigUint;

/// The multiple `k` of a named curve's point.
fn multiple(name: &str, k: &BigUint) -> Problem {
    let Named {
        curve, order, base, ..
    } = named(name).unwrap();
    let target = curve.mul(k, &Some(base.clone())).unwrap();
    Problem::new(curve, order, base, target).unwrap()
}

/// A round of walks.
fn round<const LIMBS: usize>(walks: &mut impl Walkers<LIMBS>, steps: u32) -> Vec<Told<LIMBS>> {
    walks.begin(steps).unwrap();
    walks.end().unwrap()
}

/// Walks of a search: where they begin, and the jumps.
struct Begun<F, const LIMBS: usize> {
    problem: Problem,
    field: F,
    table: Table<LIMBS>,
    points: Vec<[[u32; LIMBS]; 2]>,
}

impl<F: Field<LIMBS>, const LIMBS: usize> Begun<F, LIMBS> {
    /// The first walks of a named curve's search by rho.
    fn new(name: &str, field: impl Fn(&BigUint) -> F, shape: Shape) -> Self {
        let problem = multiple(name, &BigUint::from(0x1234_5678u32));
        let field = field(&problem.curve().p);
        let plan = Plan::new(&problem, &Method::Rho, shape.count(), 5);
        let starts = Starts::new(&problem, &plan, &field, shape.count());
        let points = starts.first(0, shape.count()).0;
        let points = points.into_iter().map(|(_, point)| point).collect();
        let table = Table(jumps(&problem, &plan, &field));
        Begun {
            field,
            table,
            points,
            problem,
        }
    }

    /// So many points, and jumps, whose coordinates are around all that carries. Steps are taken from them as from points of
    /// the curve.
    fn extremes(&self, count: usize) -> Self {
        let p = self.field.prime();
        let mut numbers: Vec<BigUint> = (0u8..4).map(BigUint::from).collect();
        numbers.extend((1u8..5).map(|k| p - k));
        numbers.extend([p >> 1, (p >> 1) + 1u8, p >> 2]);
        for limbs in 1..p.bits().div_ceil(32) {
            let power = BigUint::from(1u8) << (32 * limbs);
            numbers.extend([&power - 1u8, power.clone(), &power + 1u8, p - &power]);
        }
        let form = |at: usize| limbs::<LIMBS>(&numbers[at % numbers.len()]);
        let point = |at: usize| [form(at), form(at / numbers.len() + at)];
        let jump = |at: usize| [form(3 * at + 1), form(5 * at)];
        Begun {
            problem: self.problem.clone(),
            field: self.field.clone(),
            // Jumps that follow each other have different x.
            table: Table((0..64).map(jump).collect()),
            points: (0..count).map(point).collect(),
        }
    }

    /// A point's coordinates.
    fn point(&self, forms: [[u32; LIMBS]; 2]) -> Affine {
        discrete_logarithm::point(&self.field, forms)
    }

    /// Where a walk is after so many steps, by plain arithmetic.
    fn after(&self, forms: [[u32; LIMBS]; 2], steps: u32) -> Affine {
        let mut at: Point = Some(self.point(forms));
        for _ in 0..steps {
            let [x, _] = at.as_ref().unwrap();
            let low = |x: &BigUint| self.field.form(x)[0] as usize % 64;
            let mut jump = low(x);
            if self.point(self.table.0[jump])[0] == *x {
                jump = (jump + 1) % 64;
            }
            let to = Some(self.point(self.table.0[jump]));
            at = self.problem.curve().add(&at, &to);
        }
        at.unwrap()
    }
}
