//! What curves ask of a prime field.

/// A number of 256 bits, the lowest limb first.
pub type Limbs = [u32; 8];

/// Numbers modulo a prime.
pub trait Field {
    /// A number, in the form in which the field computes. One number may have several forms.
    type Element: Copy;

    /// The element of any number of 256 bits.
    fn element(number: Limbs) -> Self::Element;

    /// The number of an element, which is less than the prime.
    fn number(x: Self::Element) -> Limbs;

    /// `a + b`.
    fn add(a: Self::Element, b: Self::Element) -> Self::Element;

    /// `a - b`.
    fn sub(a: Self::Element, b: Self::Element) -> Self::Element;

    /// `a b`.
    fn mul(a: Self::Element, b: Self::Element) -> Self::Element;

    /// `a a`.
    fn square(a: Self::Element) -> Self::Element;

    /// `a / 2`.
    fn halve(a: Self::Element) -> Self::Element;

    /// Whether an element is 0.
    fn is_zero(a: Self::Element) -> bool;

    /// The element 0.
    #[inline(always)]
    fn zero() -> Self::Element {
        Self::element([0; 8])
    }

    /// The element 1.
    #[inline(always)]
    fn one() -> Self::Element {
        Self::element([1, 0, 0, 0, 0, 0, 0, 0])
    }

    /// `2 a`.
    #[inline(always)]
    fn double(a: Self::Element) -> Self::Element {
        Self::add(a, a)
    }

    /// `-a`.
    #[inline(always)]
    fn neg(a: Self::Element) -> Self::Element {
        Self::sub(Self::zero(), a)
    }

    /// `a b - c`.
    #[inline(always)]
    fn mul_less(a: Self::Element, b: Self::Element, c: Self::Element) -> Self::Element {
        Self::sub(Self::mul(a, b), c)
    }

    /// `a b - c d`.
    #[inline(always)]
    fn mul_less_mul(
        a: Self::Element,
        b: Self::Element,
        c: Self::Element,
        d: Self::Element,
    ) -> Self::Element {
        Self::mul_less(a, b, Self::mul(c, d))
    }

    /// `a b - c c`.
    #[inline(always)]
    fn mul_less_square(a: Self::Element, b: Self::Element, c: Self::Element) -> Self::Element {
        Self::mul_less(a, b, Self::square(c))
    }

    /// `a a` less up to three numbers.
    #[inline(always)]
    fn square_less<const N: usize>(a: Self::Element, less: [Self::Element; N]) -> Self::Element {
        less.into_iter().fold(Self::square(a), Self::sub)
    }

    /// Whether two elements are the same number.
    #[inline(always)]
    fn equal(a: Self::Element, b: Self::Element) -> bool {
        Self::is_zero(Self::sub(a, b))
    }
}

/// `x^(2^times)`.
#[inline(always)]
fn squares<F: Field>(mut x: F::Element, times: u32) -> F::Element {
    let mut done = 0;
    while done < times {
        x = F::square(x);
        done += 1;
    }
    x
}

/// `x^e` for an exponent whose bits, from the top, are runs of ones and zeros: `[ones, zeros]` of each.
/// There is a one in every run.
///
/// `x^(2^k - 1)` comes by the bits of `k`, from `x^(2^j - 1)` to that of `2 j` and `2 j + 1`. By hand, 27 is 11011
/// in binary, the runs `[2, 1]` and `[2, 0]`: `x^3`, then `x^6`, then `x^24 x^3`.
#[inline(always)]
pub fn power<F: Field, const RUNS: usize>(x: F::Element, runs: [[u32; 2]; RUNS]) -> F::Element {
    let mut power = x;
    let mut run = 0;
    while run < RUNS {
        let [ones, zeros] = runs[run];
        let (mut all, mut length) = (x, 1);
        let mut bit = 31 - ones.leading_zeros();
        while bit > 0 {
            bit -= 1;
            all = F::mul(squares::<F>(all, length), all);
            length *= 2;
            if ones >> bit & 1 == 1 {
                all = F::mul(F::square(all), x);
                length += 1;
            }
        }
        power = if run == 0 {
            all
        } else {
            F::mul(squares::<F>(power, ones), all)
        };
        power = squares::<F>(power, zeros);
        run += 1;
    }
    power
}
