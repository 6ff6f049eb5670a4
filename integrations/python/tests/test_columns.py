"""Arrays as columns: made, indexed, sorted, summed, written, with and without nulls."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bigint_engine as bi
from strategies import naturals, numbers, with_nulls

columns = with_nulls(numbers)


@given(columns)
def test_lists_come_back(column):
    array = bi.array(column)
    assert len(array) == len(column)
    assert array.to_list() == column
    assert list(array) == column
    assert [array[i] for i in range(-len(column), len(column))] == column * 2
    assert array.is_null().tolist() == [x is None for x in column]
    assert array.null_count == column.count(None)
    assert bi.array(tuple(column)).to_list() == column
    assert bi.array(iter(column)).to_list() == column
    assert bi.array(array).to_list() == column
    assert pickle.loads(pickle.dumps(array)).to_list() == column
    assert copy.deepcopy(array).to_list() == column


@given(columns)
def test_texts_come_back(column):
    array = bi.array(column)
    assert array.to_str() == [x if x is None else str(x) for x in column]
    assert array.to_str(16) == [x if x is None else hex(x) for x in column]
    assert bi.array(array.to_str()).to_list() == column
    assert bi.array(array.to_str(16)).to_list() == column


def test_long_lists_come_back():
    column = [(-1) ** i * (i**7 << (i % 1000)) for i in range(50_000)]
    array = bi.array(column)
    assert array.to_list() == column
    column[17] = column[40_000] = None
    assert bi.array(column).to_list() == column
    assert bi.array([np.int64(i) for i in range(40_000)]).to_list() == list(range(40_000))
    mixed = [x if i % 1009 or x is None else Index(x) for i, x in enumerate(column)]
    assert bi.array(mixed).to_list() == column
    assert bi.array(column[:30_000] + [1 << 60_000, None] + column).to_list()[30_000:] == [1 << 60_000, None] + column


class Index:
    def __init__(self, value, before=lambda: None):
        self.value, self.before = value, before

    def __index__(self):
        self.before()
        return self.value


def test_whatever_has_an_index_is_an_int():
    assert bi.array([Index(3), True, np.uint8(200)]).to_list() == [3, 1, 200]
    assert (bi.array([1, 2]) + Index(5)).to_list() == [6, 7]


def test_a_list_that_shrinks_while_it_is_read_is_an_error():
    column = [1 << 100] * 1000
    column[500] = Index(7, column.clear)
    with pytest.raises(IndexError):
        bi.array(column)


@given(columns, st.slices(12))
def test_slices(column, key):
    assert bi.array(column)[key].to_list() == column[key]


@given(columns, st.data())
def test_masks_and_indices(column, data):
    array, count = bi.array(column), len(column)
    mask = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    expected = [x for x, is_in in zip(column, mask) if is_in]
    assert array[np.array(mask, dtype=bool)].to_list() == expected
    if column:
        indices = data.draw(st.lists(st.integers(-count, count - 1)))
        assert array[indices].to_list() == [column[i] for i in indices]
        assert array[np.array(indices, dtype=np.int32)].to_list() == [column[i] for i in indices]
    for key in (count, -count - 1, [count], [True] * (count + 1), 10**30):
        with pytest.raises(IndexError):
            array[key]
    for key in ("a", 1.5, None):
        with pytest.raises((TypeError, IndexError)):
            array[key]


@given(columns)
def test_totals(column):
    array, known = bi.array(column), [x for x in column if x is not None]
    assert array.sum() == sum(known)
    assert array.prod() == math.prod(known)
    sums = [None if x is None else sum(y or 0 for y in column[: i + 1]) for i, x in enumerate(column)]
    assert array.cumsum().to_list() == sums
    if known:
        assert (array.min(), array.max()) == (min(known), max(known))
        assert array.argmin() == column.index(min(known))
        assert array.argmax() == column.index(max(known))
    else:
        for total in (array.min, array.max, array.argmin, array.argmax):
            with pytest.raises(ValueError, match="no number"):
                total()


@given(columns)
def test_order(column):
    array, known = bi.array(column), [x for x in column if x is not None]
    nulls = [None] * column.count(None)
    assert array.sort().to_list() == sorted(known) + nulls
    assert array.sort(reverse=True).to_list() == sorted(known, reverse=True) + nulls
    assert array[array.argsort()].to_list() == sorted(known) + nulls
    assert array.unique().to_list() == sorted(set(known))
    unique, counts = array.unique(return_counts=True)
    assert dict(zip(unique, counts.tolist())) == {x: known.count(x) for x in known}


@given(columns, numbers)
def test_nulls_stay_null(column, number):
    array = bi.array(column)
    for function in (lambda x: x * x, lambda x: x + number, lambda x: -x, lambda x: x >> 1):
        assert function(array).to_list() == [None if x is None else function(x) for x in column]
    assert (array < number).tolist() == [x is not None and x < number for x in column]
    quotients = [None if not x else number // x for x in column]
    assert (number // bi.array([x or None for x in column])).to_list() == quotients
    assert (array + bi.array([None])).to_list() == [None] * len(column)
    roots = bi.isqrt(abs(array)).to_list()
    assert roots == [None if x is None else math.isqrt(abs(x)) for x in column]
    assert bi.is_even(array).tolist() == [x is not None and x % 2 == 0 for x in column]


@given(columns, st.data())
def test_where(column, data):
    count = len(column)
    mask = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    found = bi.where(mask, column, 7)
    assert found.to_list() == [x if is_first else 7 for x, is_first in zip(column, mask)]


@given(st.lists(columns, max_size=4))
def test_columns_one_after_another(parts):
    found = bi.concatenate([bi.array(part) if i % 2 else part for i, part in enumerate(parts)])
    assert found.to_list() == sum(parts, []) and found.null_count == sum(parts, []).count(None)


@given(st.lists(naturals, min_size=1))
def test_limbs(column):
    array = bi.array(column)
    limbs = array.to_limbs()
    assert limbs.dtype == np.uint32
    assert [sum(int(x) << 32 * i for i, x in enumerate(row)) for row in limbs] == column
    assert bi.from_limbs(limbs).to_list() == column
    wide = array.to_limbs(limbs.shape[1] + 2)
    assert bi.from_limbs(wide).to_list() == column
    if limbs.shape[1] > 1:
        with pytest.raises(OverflowError, match="limbs"):
            array.to_limbs(limbs.shape[1] - 1)


@given(st.lists(naturals, min_size=1, max_size=12))
def test_limbs_by_dlpack(column):
    array = bi.array(column)
    assert array.__dlpack_device__() == (1, 0)
    limbs = np.from_dlpack(array)
    assert limbs.dtype == np.uint32 and np.array_equal(limbs, array.to_limbs())
    # Who does not know of versions gets the older structure; a capsule that nobody takes is let go.
    assert '"dltensor"' in repr(array.__dlpack__()) and "versioned" in repr(array.__dlpack__(max_version=(1, 1)))
    for refused in (bi.array([3, -1]), array):
        with pytest.raises(BufferError):
            refused.__dlpack__(copy=False)
    with pytest.raises(BufferError, match="number 1 is negative"):
        bi.array([3, -1]).__dlpack__()


@given(st.lists(numbers, min_size=1), st.sampled_from(["big", "little"]), st.booleans())
def test_bytes(column, order, signed):
    column = column if signed else [abs(x) for x in column]
    width = max(x.bit_length() // 8 + 1 for x in column)
    expected = b"".join(x.to_bytes(width, order, signed=signed) for x in column)
    assert bi.array(column).to_bytes(width, order, signed=signed) == expected
    assert bi.from_bytes(expected, width, order, signed=signed).to_list() == column
    fits = True
    try:
        expected = b"".join(x.to_bytes(width - 1, order, signed=signed) for x in column)
    except OverflowError:
        fits = False
    if fits and width > 1:
        assert bi.array(column).to_bytes(width - 1, order, signed=signed) == expected
    elif width > 1:
        with pytest.raises(OverflowError, match="does not fit"):
            bi.array(column).to_bytes(width - 1, order, signed=signed)


@given(st.lists(naturals))
def test_numbers_of_bytes_of_any_length(column):
    texts = [x.to_bytes(x.bit_length() // 8 + 1, "big") for x in column]
    assert bi.array(texts).to_list() == column


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
@given(data=st.data())
def test_machine_integers(dtype, data):
    bounds = np.iinfo(dtype)
    column = data.draw(st.lists(st.integers(int(bounds.min), int(bounds.max))))
    theirs = np.array(column, dtype=dtype)
    for source in (theirs, theirs[::-1][::-1], theirs.astype(theirs.dtype.newbyteorder(">"))):
        assert bi.array(source).to_list() == column
    back = bi.array(column).to_numpy(dtype)
    assert back.dtype == np.dtype(dtype) and back.tolist() == column
    with pytest.raises(OverflowError, match="does not fit"):
        bi.array([*column, int(bounds.max) + 1]).to_numpy(dtype)
    assert (theirs + bi.array(column)).to_list() == [2 * x for x in column]


@given(columns)
def test_arrays_of_objects(column):
    theirs = np.array(column + [1 << 100], dtype=object)
    assert bi.array(theirs).to_list() == column + [1 << 100]
    assert bi.array(column).to_numpy().tolist() == column
    assert np.asarray(bi.array(column)).tolist() == column
    assert (theirs + bi.array(theirs)).to_list() == (bi.array(theirs) * 2).to_list()


BAD = [
    ([1.5], TypeError, "item 0"),
    ([1, "2"], TypeError, "item 1"),
    (["1", 2], TypeError, "item 1"),
    ([b"1", 2], TypeError, "item 1"),
    (["1", "x"], ValueError, "number 1"),
    ([""], ValueError, "number 0"),
    ("12", TypeError, "one text"),
    (b"12", TypeError, "one text"),
    (5, TypeError, "int"),
    (None, TypeError, "NoneType"),
    (np.array([1.5]), TypeError, "float64"),
    (np.zeros((2, 2), dtype=int), ValueError, "dimension"),
]


@pytest.mark.parametrize("source, error, text", BAD)
def test_what_is_no_column(source, error, text):
    with pytest.raises(error, match=text):
        bi.array(source)


def test_other_bad_arguments():
    with pytest.raises(ValueError, match="no numbers of 3 bytes"):
        bi.from_bytes(b"1234", 3)
    with pytest.raises(ValueError, match="byteorder"):
        bi.from_bytes(b"1234", 2, "middle")
    with pytest.raises(TypeError, match="uint32"):
        bi.from_limbs(np.zeros(3))
    with pytest.raises(ValueError, match="base"):
        bi.array([1]).to_str(7)
    with pytest.raises(ValueError, match="no device"):
        bi.array([1], device="gpu")


def test_a_repr_shows_numbers():
    assert repr(bi.array([1, None, -3])) == "array([1, None, -3])"
    assert repr(bi.array(range(1000))) == "array([0, 1, 2, …, 997, 998, 999], length=1000)"
    assert repr(bi.array([-(1 << 1023) - 5])) == "array([-0x8000000000000000…00000005 (1024 bits)])"
    assert repr(bi.array([7], device="cpu")) == 'array([7], device="cpu")'


def test_expressions_are_computed_in_one_pass():
    a, b = bi.array([3, -4, None, 1 << 200]), bi.array([5, 6, 7, -8])
    x = bi.expr(a)
    polynomial = ((x * x + 3) * x - b) // 2
    expected = [None if p is None else ((p * p + 3) * p - q) // 2 for p, q in zip(a, b)]
    assert polynomial.eval().to_list() == expected
    assert (x * b).sum().eval() == sum(p * q for p, q in zip(a, b) if p is not None)
    assert (-x).prod().eval() == math.prod(-p for p in a if p is not None)
    assert bi.gcd(x, b).eval().to_list() == bi.gcd(a, b).to_list()
    assert abs(x).eval().to_list() == abs(a).to_list()
    assert (~x).eval().to_list() == (~a).to_list()
    assert pow(abs(x), 3, 1009).eval().to_list() == pow(abs(a), 3, 1009).to_list()
    assert (2**bi.expr([1, 5])).eval().to_list() == [2, 32]
    with pytest.raises(TypeError, match="is_prime"):
        bi.is_prime(x)
    with pytest.raises(ZeroDivisionError, match="number 3"):
        (x // [1, 1, 1, 0]).eval()
    with pytest.raises(ValueError, match="beside"):
        (x + x.sum()).eval()
    with pytest.raises(TypeError):
        x + 1.5


def test_deep_expressions():
    x = bi.expr([1])
    for _ in range(20_000):
        x = x + 1
    del x
