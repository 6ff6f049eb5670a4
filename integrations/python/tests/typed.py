"""What mypy makes of the stubs; never run."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import bigint_engine as bi

a = bi.array([1, 2, None], device="cpu")
assert_type(a, bi.Array)
assert_type(a + 1, bi.Array)
assert_type(1 - a, bi.Array)
assert_type(a // [1, 2, 3] % 7, bi.Array)
assert_type(divmod(a, 2), tuple[bi.Array, bi.Array])
assert_type(pow(a, 2, 7), bi.Array)
assert_type(-abs(~a), bi.Array)
assert_type(a < 3, NDArray[np.bool_])
assert_type(a == a, NDArray[np.bool_])
assert_type(a[a > 1], bi.Array)
assert_type(a[1:], bi.Array)
assert_type(a.sum(), int)
assert_type(a.unique(), bi.Array)
assert_type(a.unique(return_counts=True), tuple[bi.Array, NDArray[np.int64]])
assert_type(a.to_limbs(4), NDArray[np.uint32])
assert_type(bi.gcd(12, 18), int)
assert_type(bi.gcd(a, 18), bi.Array)
assert_type(bi.isqrt_rem(a), tuple[bi.Array, bi.Array])
assert_type(bi.is_prime(a), NDArray[np.bool_])
assert_type(bi.powmod(a, 3, 5), bi.Array)
assert_type(bi.count_primes(0, 100), int)
assert_type(bi.random_primes(3, 64, safe=True), bi.Array)
x = bi.expr(a)
assert_type(x * a + 3, bi.Expr)
assert_type(a + x, bi.Expr)
assert_type(bi.gcd(x, 3), bi.Expr)
with bi.progress(lambda done, total: print(done, total)):
    a.prod()
