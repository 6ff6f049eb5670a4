"""Columns of pyarrow, polars and pandas, there and back."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bigint_engine as bi
from strategies import numbers, with_nulls

columns = with_nulls(numbers)
words = with_nulls(st.integers(-(1 << 63), (1 << 63) - 1))


@given(columns)
def test_arrays_of_pyarrow_come_back(column):
    array = bi.array(column)
    theirs = array.to_arrow()
    assert len(theirs) == len(column) and theirs.null_count == column.count(None)
    assert theirs.type.extension_name == "bigint.any"
    assert bi.array(theirs).to_list() == column
    assert bi.array(theirs[1:]).to_list() == column[1:]
    chunked = pa.chunked_array([theirs, theirs[:1], theirs[:0]])
    assert bi.array(chunked).to_list() == column + column[:1]


TYPES = [pa.int8(), pa.int64(), pa.uint64(), pa.decimal128(38, 0), pa.decimal256(76, 0), pa.string(), pa.large_string()]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_types_that_hold_integers(type):
    column = [0, 1, None, 127, 5]
    text = pa.types.is_string(type) or pa.types.is_large_string(type)
    theirs = pa.array([x if x is None else str(x) if text else x for x in column], type)
    assert bi.array(theirs).to_list() == column
    assert bi.array(theirs[1:4]).to_list() == column[1:4]
    assert bi.array(pa.chunked_array([theirs, theirs])).to_list() == column * 2
    assert bi.array(column).to_arrow(type).to_pylist() == theirs.to_pylist()


def test_big_endian_bytes_of_chain_data():
    column = [0, 1, None, (1 << 256) - 1]
    theirs = pa.array([x if x is None else x.to_bytes(32, "big") for x in column], pa.binary(32))
    assert bi.array(theirs).to_list() == column
    assert bi.array(pa.array([b"\x01\x00", None], pa.binary())).to_list() == [256, None]


@given(words)
def test_series_of_polars(column):
    series = pl.Series("a", column, dtype=pl.Int64)
    assert bi.array(series).to_list() == column
    assert bi.array(pl.Series("a", [x if x is None else str(x) for x in column], dtype=pl.String)).to_list() == column
    assert (bi.array(series) * 3).to_list() == [x if x is None else 3 * x for x in column]
    back = pl.Series(bi.array(column).to_arrow(pa.int64()))
    assert back.to_list() == column


@given(words)
def test_series_of_pandas(column):
    assert bi.array(pd.Series(column, dtype="Int64")).to_list() == column
    known = [x for x in column if x is not None]
    assert bi.array(pd.Series(known, dtype="int64")).to_list() == known
    assert bi.array(pd.Series([x << 99 for x in known], dtype=object)).to_list() == [x << 99 for x in known]
    back = pd.Series(bi.array(column).to_numpy())
    assert bi.array(back).to_list() == column


def test_decimals_of_polars():
    series = pl.Series([Decimal(10**30), None, Decimal(-7)], dtype=pl.Decimal(38, 0))
    assert bi.array(series).to_list() == [10**30, None, -7]


def test_what_is_no_column_of_integers():
    for theirs, error in [
        (pa.array([1.5]), TypeError),
        (pa.array([[1]]), TypeError),
        (pa.array(["x"]), ValueError),
        (pa.table({"a": [1]}), TypeError),
        (pl.DataFrame({"a": [1]}), TypeError),
    ]:
        with pytest.raises(error):
            bi.array(theirs)
    with pytest.raises((ValueError, OverflowError)):
        bi.array([1 << 64]).to_arrow(pa.int64())
    assert np.array_equal(bi.array(pa.array([], pa.int64())).to_numpy(), [])
