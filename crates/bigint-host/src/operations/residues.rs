//! Residues modulo odd numbers, in Montgomery's form.

use crate::operations::forms::Form;
use crate::operations::waiting::Value;
use crate::{Batch, Engine, Error, Options};
use bigint_core::{Algorithm, LIMB_BITS, Layout, Limb, Operation};
use num_bigint::BigUint;
use std::fmt;
use std::sync::Arc;

/// Odd moduli, one for all residues or one for each, and what arithmetic modulo them needs:
/// with `R` = 2^(32 n) for moduli of `n` limbs, `R^2 mod m`.
///
/// Cloning is free.
#[derive(Clone, Debug)]
pub struct MontgomeryParams(Arc<Params>);

#[derive(Debug)]
struct Params {
    engine: Engine,
    moduli: Batch,
    /// `R^2 mod m`.
    square_of_radix: Batch,
}

impl MontgomeryParams {
    /// The moduli of a batch, for residues that `engine` computes with. Looks at the moduli
    /// on the host, and makes one power for each.
    ///
    /// # Errors
    /// [`Error::ZeroDivisor`] and [`Error::EvenModulus`] name the first modulus that is zero
    /// or even; [`Error::ModulusWidth`] of an engine for secrets on a GPU that has no kernel for so wide ones.
    pub fn new(engine: &Engine, moduli: &Batch) -> Result<Self, Error> {
        let width = moduli.width();
        for (index, modulus) in moduli.rows()?.chunks(width).enumerate() {
            // Of an odd modulus nothing else is looked at.
            if modulus[0] % 2 == 0 {
                return Err(match modulus.iter().all(|&limb| limb == 0) {
                    true => Error::ZeroDivisor { index },
                    false => Error::EvenModulus { index },
                });
            }
        }
        let one_number = |number: usize| engine.batch_from_biguints(&[number.into()]);
        let (two, exponent) = (one_number(2)?, one_number(2 * LIMB_BITS * width)?);
        let square_of_radix = vartime(engine).pow_mod(&two, &exponent, moduli)?;
        Ok(MontgomeryParams(Arc::new(Params {
            engine: engine.clone(),
            moduli: moduli.clone(),
            square_of_radix,
        })))
    }

    /// The moduli.
    pub fn moduli(&self) -> &Batch {
        &self.0.moduli
    }
}

/// The engine for exponents that anybody may know.
pub(crate) fn vartime(engine: &Engine) -> Engine {
    engine.using(Options {
        algorithm: Algorithm::AutoVartime,
        ..engine.options
    })
}

/// A batch of residues modulo odd numbers, in Montgomery's form: `x R mod m` stands for `x`.
///
/// A batch of one residue stands for as many as the other has.
///
/// # What is constant
/// No branch and no address depends on the numbers, or on exponents but for their widths, nor
/// on moduli that are as long as they are wide, as RSA's primes are; shorter ones are for
/// anybody to know. The simulator proves it of the kernels' PTX and of all that each method
/// launches on a GPU. Methods that end with `_vartime` do not say it of exponents, or of the
/// numbers that they invert. Errors tell what they name. On a GPU, products modulo more than 16384 bits
/// are made of several, and how far carries run in them shows in the time: an engine for secrets
/// leaves them to the CPU.
///
/// Memory is not overwritten, but by an engine for secrets: [`Engine::for_secrets`].
///
/// # When they are computed
/// On a GPU where a chain of so many numbers takes less time in another form, products, sums and differences wait, up to 512 in a
/// row, until somebody asks for limbs or a power; errors of the device come then. With an engine for secrets none waits.
///
/// # Beside crypto-bigint
/// Methods have the names of `MontyForm`'s, and mean the same of each number of the batch, but:
///
/// | crypto-bigint 0.7 | here |
/// |---|---|
/// | `new` of a number as wide as the modulus | of any width |
/// | `params` | [`params_of`](Residues::params_of) |
/// | `div_by_2` | [`halve`](Residues::halve) |
/// | `ct_eq`, a `Choice` | [`equal`](Residues::equal), a batch of 1 and 0 |
/// | `invert`, a `CtOption` | [`masked_invert`](Residues::masked_invert), in constant time; [`try_invert`](Residues::try_invert) is an error where a number has no inverse, and tells which |
/// | `invert_vartime`, a `CtOption` | [`try_invert_vartime`](Residues::try_invert_vartime), an error |
/// | `Zeroize` | [`Engine::for_secrets`] |
///
/// ```
/// use bigint_host::{BigUint, Engine, MontgomeryParams, Residues};
/// let engine = Engine::auto();
/// let moduli = engine.batch_from_biguints(&[7u32.into(), 101u32.into()])?;
/// let params = MontgomeryParams::new(&engine, &moduli)?;
/// let a = Residues::new(&engine.batch_from_biguints(&[3u32.into(), 40u32.into()])?, &params)?;
/// let b = Residues::new(&engine.batch_from_biguints(&[5u32.into()])?, &params)?;
/// assert_eq!(a.mul(&b)?.retrieve()?.to_biguints()?, [1u32, 99].map(BigUint::from));
/// let e = engine.batch_from_biguints(&[65537u32.into()])?;
/// assert_eq!(a.pow(&e)?.retrieve()?.to_biguints()?, [5u32, 51].map(BigUint::from));
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone)]
pub struct Residues {
    params: MontgomeryParams,
    value: Arc<Value>,
}

/// What is computed of two residues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Product,
    Sum,
    Difference,
}

/// How many there are and their moduli: numbers that are computed with in constant time may be
/// secrets, and are not shown.
impl fmt::Debug for Residues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Residues({} modulo {})",
            self.value.count(),
            self.params.moduli()
        )
    }
}

impl Residues {
    /// The residues of the numbers of a batch, of any width. The time depends on it: numbers
    /// `k` times as wide as the moduli take `k` Montgomery products, or twice as many where
    /// each has a modulus of its own. [`Engine::rem`] is faster for much wider ones that
    /// anybody may know.
    ///
    /// # Errors
    /// As for [`Engine::mont_mul`].
    pub fn new(numbers: &Batch, params: &MontgomeryParams) -> Result<Self, Error> {
        let Params {
            engine,
            moduli,
            square_of_radix,
        } = &*params.0;
        let width = moduli.width();
        // With digits in base R, x = x_0 + x_1 R + ..., x R is the sum of the Montgomery
        // products of x_i and R^(i + 2). A product takes any number of as many limbs as the
        // modulus.
        let mut form = params.in_form(&params.digits(numbers, 0)?)?;
        let mut power = square_of_radix.clone();
        for i in 1..numbers.width().div_ceil(width) {
            let product =
                |a: &Batch, b: &Batch| engine.of_residues(Operation::MontMul, &[a, b, moduli]);
            power = product(&power, square_of_radix)?;
            let product = product(&params.digits(numbers, i)?, &power)?;
            form = engine.of_residues(Operation::ModAdd, &[&form, &product, moduli])?;
        }
        Ok(params.residues(form))
    }

    /// 1.
    ///
    /// # Errors
    /// As for [`Engine::mont_mul`].
    pub fn one(params: &MontgomeryParams) -> Result<Self, Error> {
        Ok(params.residues(params.in_form(&params.small(1)?)?))
    }

    /// The numbers, each below its modulus.
    ///
    /// # Errors
    /// As for [`Engine::mont_mul`].
    pub fn retrieve(&self) -> Result<Batch, Error> {
        self.params.out_of_form(self.as_montgomery()?)
    }

    /// The moduli.
    pub fn params_of(&self) -> &MontgomeryParams {
        &self.params
    }

    /// In Montgomery's form: products that have waited for it are computed now.
    ///
    /// # Errors
    /// As for [`Engine::mont_mul`].
    pub fn as_montgomery(&self) -> Result<&Batch, Error> {
        self.value.form(&self.params)
    }

    /// `a + b`.
    ///
    /// # Errors
    /// [`Error::OtherModuli`] where `other` is modulo other numbers; as
    /// [`Engine::mod_add`].
    pub fn add(&self, other: &Self) -> Result<Self, Error> {
        self.with(other, Kind::Sum)
    }

    /// `a - b`.
    ///
    /// # Errors
    /// As for [`Residues::add`].
    pub fn sub(&self, other: &Self) -> Result<Self, Error> {
        self.with(other, Kind::Difference)
    }

    /// `-a`.
    ///
    /// # Errors
    /// As for [`Engine::mod_sub`].
    pub fn neg(&self) -> Result<Self, Error> {
        self.params.residues(self.params.small(0)?).sub(self)
    }

    /// `2 a`.
    ///
    /// # Errors
    /// As for [`Engine::mod_add`].
    pub fn double(&self) -> Result<Self, Error> {
        self.add(self)
    }

    /// `a / 2`.
    ///
    /// # Errors
    /// As for [`Engine::mont_mul`].
    pub fn halve(&self) -> Result<Self, Error> {
        let Params { engine, moduli, .. } = self.params();
        // 1/2 is (m + 1) / 2.
        let above = engine.add(moduli, &self.params.small(1)?)?;
        let half = engine.shr_in(moduli.width(), &above, &self.params.small(1)?)?;
        self.mul(&Residues::new(&half, &self.params)?)
    }

    /// `a b`.
    ///
    /// # Errors
    /// As for [`Residues::add`], of [`Engine::mont_mul`].
    pub fn mul(&self, other: &Self) -> Result<Self, Error> {
        self.with(other, Kind::Product)
    }

    /// `a a`.
    ///
    /// # Errors
    /// As for [`Engine::mont_mul`].
    pub fn square(&self) -> Result<Self, Error> {
        self.mul(self)
    }

    /// `a^e`, of exponents of any width, one for all or one for each. The time depends on
    /// the exponents' width.
    ///
    /// # Errors
    /// As for [`Engine::pow_mod`].
    pub fn pow(&self, exponents: &Batch) -> Result<Self, Error> {
        self.power(&self.params().engine, exponents)
    }

    /// [`Residues::pow`] in time that depends on the exponents.
    ///
    /// # Errors
    /// As for [`Engine::pow_mod`].
    pub fn pow_vartime(&self, exponents: &Batch) -> Result<Self, Error> {
        self.power(&vartime(&self.params().engine), exponents)
    }

    /// `a^e`, of the lowest `bits` bits of the exponents: the time depends on `bits`, or on the
    /// exponents' width where that is less.
    ///
    /// # Errors
    /// As for [`Engine::pow_mod`].
    pub fn pow_bounded_exp(&self, exponents: &Batch, bits: usize) -> Result<Self, Error> {
        self.pow(&lowest(&self.params().engine, exponents, bits)?)
    }

    /// `a^x b^y ...`, of bases modulo the same numbers, each with its exponents. The time depends
    /// on the exponents' widths. Two powers share their squares: they take little longer than one.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine, MontgomeryParams, Residues};
    /// let engine = Engine::auto();
    /// let batch = |n: u32| engine.batch_from_biguints(&[n.into()]);
    /// let params = MontgomeryParams::new(&engine, &batch(101)?)?;
    /// let (a, b) = (Residues::new(&batch(2)?, &params)?, Residues::new(&batch(3)?, &params)?);
    /// let power = Residues::multi_exponentiate(&[(&a, &batch(10)?), (&b, &batch(4)?)])?;
    /// assert_eq!(power.retrieve()?.to_biguints()?, [BigUint::from(1024u32 * 81 % 101)]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where there is no base; [`Error::OtherModuli`]; otherwise as
    /// [`Engine::pow_pair`].
    pub fn multi_exponentiate(bases_and_exponents: &[(&Self, &Batch)]) -> Result<Self, Error> {
        Residues::powers(bases_and_exponents, Engine::clone)
    }

    /// [`Residues::multi_exponentiate`] in time that depends on the exponents.
    ///
    /// # Errors
    /// As for [`Residues::multi_exponentiate`].
    pub fn multi_exponentiate_vartime(
        bases_and_exponents: &[(&Self, &Batch)],
    ) -> Result<Self, Error> {
        Residues::powers(bases_and_exponents, vartime)
    }

    /// [`Residues::multi_exponentiate`], of the lowest `bits` bits of the exponents: the time
    /// depends on `bits`.
    ///
    /// # Errors
    /// As for [`Residues::multi_exponentiate`].
    pub fn multi_exponentiate_bounded_exp(
        bases_and_exponents: &[(&Self, &Batch)],
        bits: usize,
    ) -> Result<Self, Error> {
        let exponents = bases_and_exponents
            .iter()
            .map(|(base, exponents)| lowest(base.engine(), exponents, bits))
            .collect::<Result<Vec<_>, _>>()?;
        let bases = bases_and_exponents.iter().map(|(base, _)| *base);
        let bounded: Vec<_> = bases.zip(&exponents).collect();
        Residues::multi_exponentiate(&bounded)
    }

    /// `1 / a`. The time depends on the moduli's width.
    ///
    /// # Errors
    /// [`Error::NotInvertible`] names the first number that has a divisor in common with its
    /// modulus; otherwise as [`Engine::inv_odd_mod`].
    pub fn try_invert(&self) -> Result<Self, Error> {
        let Params { engine, moduli, .. } = self.params();
        let inverse = engine.inv_odd_mod(&self.retrieve()?, moduli)?;
        Ok(self.params.residues(self.params.in_form(&inverse)?))
    }

    /// [`Residues::try_invert`], and for each number whether it has no inverse: it is 0 then.
    /// Waits for the device.
    ///
    /// # Errors
    /// As for [`Engine::masked_inv_odd_mod`].
    pub fn masked_invert(&self) -> Result<(Self, Vec<bool>), Error> {
        let Params { engine, moduli, .. } = self.params();
        let (inverse, flags) = engine.masked_inv_odd_mod(&self.retrieve()?, moduli)?;
        Ok((self.params.residues(self.params.in_form(&inverse)?), flags))
    }

    /// [`Residues::try_invert`] in time that depends on the numbers.
    ///
    /// # Errors
    /// As for [`Residues::try_invert`], of [`Engine::inv_mod`].
    pub fn try_invert_vartime(&self) -> Result<Self, Error> {
        let Params { engine, moduli, .. } = self.params();
        let inverse = engine.inv_mod(&self.retrieve()?, moduli)?;
        Ok(self.params.residues(self.params.in_form(&inverse)?))
    }

    /// Whether `a` equals `b`: 1 or 0, one limb for each. [`Engine::equal`] stops where numbers
    /// differ; this does not.
    ///
    /// # Errors
    /// As for [`Residues::add`], of [`Engine::xor`].
    pub fn equal(&self, other: &Self) -> Result<Batch, Error> {
        self.check(other)?;
        let engine = self.engine();
        let differing =
            engine.count_ones(&engine.xor(self.as_montgomery()?, other.as_montgomery()?)?)?;
        // One less is negative where no bit differs, and nowhere else.
        let [one, sign] = [1, LIMB_BITS as Limb - 1].map(|number| self.params.small(number));
        let less = engine.wrapping_sub(&differing, &one?)?;
        engine.shr_in(1, &less, &sign?)
    }

    fn params(&self) -> &Params {
        &self.params.0
    }

    /// The engine that computes with them.
    pub(crate) fn engine(&self) -> &Engine {
        self.params.engine()
    }

    /// The product of the powers, two at a time.
    fn powers(all: &[(&Self, &Batch)], engine: fn(&Engine) -> Engine) -> Result<Self, Error> {
        let mut product: Option<Self> = None;
        for some in all.chunks(2) {
            let engine = engine(some[0].0.engine());
            let power = match *some {
                [(a, x), (b, y)] => a.power_of_two(&engine, x, b, y)?,
                _ => some[0].0.power(&engine, some[0].1)?,
            };
            product = Some(match product {
                Some(product) => product.mul(&power)?,
                None => power,
            });
        }
        product.ok_or(Error::CountMismatch { a: 0, b: 1 })
    }

    /// `a^x b^y`.
    fn power_of_two(
        &self,
        engine: &Engine,
        x: &Batch,
        other: &Self,
        y: &Batch,
    ) -> Result<Self, Error> {
        self.check(other)?;
        let moduli = &self.params().moduli;
        // Two numbers as one of twice as many limbs.
        let pair = |lower: &Batch, upper: &Batch, width: usize| {
            let by = engine.batch_from_biguints(&[(LIMB_BITS * width).into()])?;
            let upper = engine.shl_in(2 * width, upper, &by)?;
            engine.or_in(2 * width, lower, &upper)
        };
        let bases = pair(&self.retrieve()?, &other.retrieve()?, moduli.width())?;
        let exponents = pair(x, y, x.width().max(y.width()))?;
        let power = engine.of_residues(Operation::PowPair, &[&bases, &exponents, moduli])?;
        Ok(self.params.residues(self.params.in_form(&power)?))
    }

    fn power(&self, engine: &Engine, exponents: &Batch) -> Result<Self, Error> {
        let power = engine.pow_mod(&self.retrieve()?, exponents, &self.params().moduli)?;
        Ok(self.params.residues(self.params.in_form(&power)?))
    }

    fn with(&self, other: &Self, kind: Kind) -> Result<Self, Error> {
        self.check(other)?;
        let operands = [&self.value, &other.value];
        if let Some(value) = Value::waiting(&self.params, kind, operands)? {
            let params = self.params.clone();
            return Ok(Residues { params, value });
        }
        let operands = [self.as_montgomery()?, other.as_montgomery()?];
        Ok(self.params.residues(self.params.computed(kind, operands)?))
    }

    /// Refuses residues modulo other numbers.
    fn check(&self, other: &Self) -> Result<(), Error> {
        let (ours, theirs) = (&self.params().moduli, &other.params().moduli);
        let is_same = Arc::ptr_eq(&self.params.0, &other.params.0)
            || ours.shape() == theirs.shape() && ours.rows()? == theirs.rows()?;
        if is_same {
            Ok(())
        } else {
            Err(Error::OtherModuli)
        }
    }
}

/// The lowest `bits` bits of exponents.
fn lowest(engine: &Engine, exponents: &Batch, bits: usize) -> Result<Batch, Error> {
    let bits = bits.min(LIMB_BITS * exponents.width());
    let ones = (BigUint::from(1u32) << bits) - 1u32;
    let ones = engine.batch_from_biguints(&[ones])?;
    let form = Form::Modulo(bits.div_ceil(LIMB_BITS).max(1));
    engine.first_of(Operation::And, form, &[exponents, &ones])
}

impl MontgomeryParams {
    pub(crate) fn residues(&self, form: Batch) -> Residues {
        Residues {
            params: self.clone(),
            value: Value::of_form(form),
        }
    }

    /// The engine that computes with them.
    pub(super) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// A product, a sum or a difference, in Montgomery's form.
    pub(super) fn computed(&self, kind: Kind, [a, b]: [&Batch; 2]) -> Result<Batch, Error> {
        let operation = match kind {
            Kind::Product => Operation::MontMul,
            Kind::Sum => Operation::ModAdd,
            Kind::Difference => Operation::ModSub,
        };
        self.engine().of_residues(operation, &[a, b, self.moduli()])
    }

    /// The numbers of residues in Montgomery's form.
    pub(super) fn out_of_form(&self, form: &Batch) -> Result<Batch, Error> {
        self.computed(Kind::Product, [form, &self.small(1)?])
    }

    /// `x R mod m`, of numbers of as many limbs as the moduli, or fewer.
    pub(super) fn in_form(&self, numbers: &Batch) -> Result<Batch, Error> {
        self.computed(Kind::Product, [numbers, &self.0.square_of_radix])
    }

    /// Digit `i` of numbers in base `R`.
    fn digits(&self, numbers: &Batch, i: usize) -> Result<Batch, Error> {
        let Params { engine, moduli, .. } = &*self.0;
        let width = moduli.width();
        if numbers.width() <= width {
            return Ok(numbers.clone());
        }
        let by = engine.batch_from_biguints(&[(LIMB_BITS * width * i).into()])?;
        engine.shr_in(width, numbers, &by)
    }

    /// One small number, in the moduli's layout.
    pub(super) fn small(&self, number: Limb) -> Result<Batch, Error> {
        let Params { engine, moduli, .. } = &*self.0;
        let layout: Layout = moduli.shape().layout;
        engine.batch_from_biguints_in(&[number.into()], 1, layout)
    }
}
