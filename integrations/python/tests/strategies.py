"""Numbers and columns to test with."""

from hypothesis import strategies as st

# Around the ends of limbs, of Python's digits and of machine words, and anything.
ENDS = [b + d for k in (15, 29, 30, 31, 32, 60, 63, 64, 90, 479, 480, 481, 512) for b in (1 << k,) for d in (-1, 0, 1)]

numbers = st.one_of(
    st.sampled_from([0, 1, -1, 2, *ENDS, *(-x for x in ENDS)]),
    st.integers(-(1 << 70), 1 << 70),
    st.integers(-(1 << 1100), 1 << 1100),
)
naturals = numbers.map(abs)
positives = naturals.filter(bool)
nonzero = numbers.filter(bool)


def rows(*of: st.SearchStrategy) -> st.SearchStrategy:
    """Columns of as many rows each."""
    return st.lists(st.tuples(*of), min_size=1, max_size=12).map(
        lambda rows: tuple(list(column) for column in zip(*rows))
    )


def with_nulls(of: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(st.one_of(st.none(), of), max_size=12)
