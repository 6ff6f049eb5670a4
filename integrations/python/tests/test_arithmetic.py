"""Every operator and function against Python's own ints."""

import math
import operator

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bigint_engine as bi
from strategies import naturals, nonzero, numbers, positives, rows

small = st.integers(0, 300)


def check(found, expected):
    """Ints, masks and tuples of columns, row by row."""
    if isinstance(found, tuple):
        for part, column in zip(found, zip(*expected), strict=True):
            check(part, list(column))
    elif isinstance(found, np.ndarray):
        assert found.tolist() == expected
    else:
        assert found.to_list() == expected


BINARY = {
    operator.add: numbers,
    operator.sub: numbers,
    operator.mul: numbers,
    operator.floordiv: nonzero,
    operator.mod: nonzero,
    divmod: nonzero,
    operator.lshift: small,
    operator.rshift: st.one_of(small, st.just(1 << 40)),
    operator.and_: numbers,
    operator.or_: numbers,
    operator.xor: numbers,
    operator.pow: st.integers(0, 20),
    operator.eq: numbers,
    operator.ne: numbers,
    operator.lt: numbers,
    operator.le: numbers,
    operator.gt: numbers,
    operator.ge: numbers,
}


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
@given(data=st.data())
def test_operators(function, data):
    a, b = data.draw(rows(numbers, BINARY[function]))
    expected = [function(x, y) for x, y in zip(a, b)]
    left, right = bi.array(a), bi.array(b)
    check(function(left, right), expected)
    check(function(left, b), expected)
    check(function(a, right), expected)
    check(function(left, b[0]), [function(x, b[0]) for x in a])
    check(function(a[0], right), [function(a[0], y) for y in b])


@pytest.mark.parametrize("function", [operator.neg, operator.pos, abs, operator.invert])
@given(column=st.lists(numbers, max_size=12))
def test_unary_operators(function, column):
    check(function(bi.array(column)), [function(x) for x in column])


def truncated(a, b):
    quotient = abs(a) // abs(b)
    quotient = -quotient if (a < 0) != (b < 0) else quotient
    return quotient, a - quotient * b


def euclidean(a, b):
    remainder = a % abs(b)
    return (a - remainder) // b, remainder


def root(a, n):
    return tuple(int(x) if i == 0 else bool(x) for i, x in enumerate(gmpy2.iroot(a, n)))


degrees = st.integers(1, 9)
odd = naturals.map(lambda x: x | 1)

# What Python or gmpy2 has, and the operands' strategies.
FUNCTIONS = {
    "add": (operator.add, numbers, numbers),
    "sub": (operator.sub, numbers, numbers),
    "mul": (operator.mul, numbers, numbers),
    "square": (lambda x: x * x, numbers),
    "fma": (lambda a, b, c: a * b + c, numbers, numbers, numbers),
    "neg": (operator.neg, numbers),
    "abs": (abs, numbers),
    "f_div": (operator.floordiv, numbers, nonzero),
    "f_mod": (operator.mod, numbers, nonzero),
    "f_divmod": (divmod, numbers, nonzero),
    "t_div": (lambda a, b: truncated(a, b)[0], numbers, nonzero),
    "t_mod": (lambda a, b: truncated(a, b)[1], numbers, nonzero),
    "t_divmod": (truncated, numbers, nonzero),
    "e_divmod": (euclidean, numbers, nonzero),
    "pow": (pow, numbers, st.integers(0, 20)),
    "powmod": (pow, numbers, naturals, positives),
    "gcd": (math.gcd, numbers, numbers),
    "lcm": (math.lcm, numbers, numbers),
    "jacobi": (lambda a, n: int(gmpy2.jacobi(a, n)), numbers, odd),
    "isqrt": (math.isqrt, naturals),
    "isqrt_rem": (lambda a: (math.isqrt(a), a - math.isqrt(a) ** 2), naturals),
    "iroot": (root, naturals, degrees),
    "iroot_rem": (lambda a, n: (root(a, n)[0], a - root(a, n)[0] ** n), naturals, degrees),
    "is_square": (lambda a: bool(gmpy2.is_square(a)) if a >= 0 else False, numbers),
    "is_prime": (lambda a: a > 1 and bool(gmpy2.is_prime(a)), st.integers(-10, 1 << 80)),
    "next_prime": (lambda a: int(gmpy2.next_prime(a)), st.integers(0, 1 << 80)),
    "prev_prime": (lambda a: int(gmpy2.prev_prime(a)), st.integers(3, 1 << 80)),
    "is_safe_prime": (
        lambda a: a > 4 and bool(gmpy2.is_prime(a) and gmpy2.is_prime((a - 1) // 2)),
        st.one_of(st.integers(-10, 1 << 60), st.sampled_from([5, 7, 11, 23, 2**64 - 1469, 13, 29])),
    ),
    "is_power": (lambda a: bool(gmpy2.is_power(a)), st.integers(2, 1 << 60)),
    "bit_length": (int.bit_length, numbers),
    "popcount": (int.bit_count, naturals),
    "bit_scan1": (lambda a: -1 if a == 0 else gmpy2.bit_scan1(a), numbers),
    "bit_test": (lambda a, n: bool(a >> n & 1), naturals, small),
    "bit_set": (lambda a, n: a | 1 << n, numbers, small),
    "mul_2exp": (operator.lshift, numbers, small),
    "f_div_2exp": (operator.rshift, numbers, small),
    "bit_and": (operator.and_, numbers, numbers),
    "bit_or": (operator.or_, numbers, numbers),
    "bit_xor": (operator.xor, numbers, numbers),
    "bit_not": (operator.invert, numbers),
    "minimum": (min, numbers, numbers),
    "maximum": (max, numbers, numbers),
    "abs_diff": (lambda a, b: abs(a - b), numbers, numbers),
    "cmp": (lambda a, b: (a > b) - (a < b), numbers, numbers),
    "sign": (lambda a: (a > 0) - (a < 0), numbers),
    "is_even": (lambda a: a % 2 == 0, numbers),
    "is_odd": (lambda a: a % 2 == 1, numbers),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=st.data())
def test_functions(name, data):
    expect, *strategies = FUNCTIONS[name]
    columns = data.draw(rows(*strategies))
    expected = [expect(*row) for row in zip(*columns)]
    function = getattr(bi, name)
    check(function(*map(bi.array, columns)), expected)
    # Of numbers it is a number, and of a column and numbers a column.
    alone = function(*(column[0] for column in columns))
    assert alone == expected[0] and type(alone) is type(expected[0])
    first, *others = columns
    others = [column[0] for column in others]
    check(function(first, *others), [expect(x, *others) for x in first])


@given(start=st.integers(-5, 1 << 70), length=st.integers(0, 2000))
def test_primes_of_a_range_are_counted(start, length):
    expected = sum(n > 1 and gmpy2.is_prime(n) for n in range(start, start + length))
    assert bi.count_primes(start, start + length) == expected
    assert bi.count_primes(start + length, start) == 0 or length == 0


@pytest.mark.parametrize("bits", [2, 3, 20, 64, 65, 200])
def test_random_primes(bits):
    primes = bi.random_primes(70, bits).to_list()
    assert len(primes) == 70 and all(gmpy2.is_prime(p) and p.bit_length() == bits for p in primes)
    if bits >= 64:
        assert len(set(primes)) == 70
        primes = bi.random_primes(3, bits, safe=True, two_top_bits=True).to_list()
        assert all(gmpy2.is_prime(p // 2) and p >> bits - 2 == 3 for p in primes)
        assert all(p % 5 != 1 for p in bi.random_primes(9, bits, coprime_to=5).to_list())
    with pytest.raises(ValueError, match="prime"):
        bi.random_primes(1, 1)
    with pytest.raises(TypeError, match="two ints"):
        bi.count_primes([1], 5)
    with pytest.raises(ValueError):
        bi.prev_prime([7, 2])


@given(columns=rows(numbers, numbers))
def test_exact_quotients(columns):
    a, b = columns
    b = [x or 1 for x in b]
    products = [x * y for x, y in zip(a, b)]
    check(bi.divexact(products, b), a)
    with pytest.raises(ValueError, match="number 1 is no multiple"):
        bi.divexact([6, 7], [3, 2])


@given(columns=rows(numbers, st.integers(-50, 50), positives.filter(lambda m: m > 1)))
def test_powers_of_inverses(columns):
    rows = [(a, e, m) for a, e, m in zip(*columns) if math.gcd(a, m) == 1]
    a, e, m = map(list, zip(*rows)) if rows else ([], [], [])
    check(bi.powmod(a, e, m), [pow(*row) for row in rows])
    check(bi.invert(a, m), [pow(x, -1, y) for x, _, y in rows])
    check(pow(bi.array(a), e, m), [pow(*row) for row in rows])


@given(columns=rows(naturals, naturals, positives))
def test_sums_of_residues(columns):
    a, b, m = columns
    a, b = [x % n for x, n in zip(a, m)], [x % n for x, n in zip(b, m)]
    check(bi.mod_add(a, b, m), [(x + y) % n for x, y, n in zip(a, b, m)])
    check(bi.mod_sub(a, b, m), [(x - y) % n for x, y, n in zip(a, b, m)])


def test_strong_probable_primes():
    column = list(range(3, 4000, 2)) + [(1 << 127) - 1, 2047, 3277]
    expected = [bool(gmpy2.is_strong_prp(n, 2)) for n in column]
    assert bi.is_strong_prp(column, 2).tolist() == expected


def test_aliases_are_the_same_functions():
    for alias, name in {"pow_mod": "powmod", "invmod": "invert", "mul_add": "fma"}.items():
        assert getattr(bi, alias) is getattr(bi, name)


ERRORS = [
    (lambda a: a // [1, 0, 1], ZeroDivisionError, "number 1"),
    (lambda a: a % 0, ZeroDivisionError, "number 0"),
    (lambda a: pow(a, 2, 0), ZeroDivisionError, "number 0"),
    (lambda a: bi.invert(a, 6), ValueError, "number 1 has no inverse"),
    (lambda a: bi.isqrt(-a), ValueError, "number 0"),
    (lambda a: a ** [1, 1, -1], ValueError, "exponent 2"),
    (lambda a: a << [1, -1, 1], ValueError, "number 1"),
    (lambda a: bi.jacobi(a, 4), ValueError, "even"),
    (lambda a: a + [1, 2], ValueError, "3 and 2"),
    (lambda a: a + 1.5, TypeError, "float"),
    (lambda a: a + "1", TypeError, "str"),
    (lambda a: a + None, TypeError, "NoneType"),
    (lambda a: bi.gcd(a, 1.5), TypeError, "float"),
    (lambda a: a < "x", TypeError, "str"),
    (lambda a: a << 10**12, OverflowError, "limbs"),
    (lambda a: bool(a), ValueError, "not clear"),
    (lambda a: hash(a), TypeError, "unhashable"),
]


@pytest.mark.parametrize("function, error, text", ERRORS)
def test_errors_name_the_number(function, error, text):
    with pytest.raises(error, match=text):
        function(bi.array([5, 3, 35]))


@pytest.mark.parametrize("count", [3, 5000])
def test_errors_count_rows_across_nulls_and_pieces(count):
    divisors = [None] * count + [7] * count + [0]
    with pytest.raises(ZeroDivisionError, match=f"number {2 * count} "):
        bi.array([1] * len(divisors)) // divisors
    with pytest.raises(ValueError, match=f"number {2 * count} has no inverse"):
        bi.invert(divisors[:-1] + [21], [10] * 2 * count + [35])
