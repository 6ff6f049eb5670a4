"""Files that others write for us to read, and what they read of ours.

others.py write FOLDER   writes files, and expected.json: {file: {column: [text or null]}}
others.py check FOLDER   reads ours.parquet and ours.arrow, which hold what ours.json says
"""

import decimal
import json
import pathlib
import sys

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

decimal.getcontext().prec = 100
DIGITS = {pa.decimal128: 38, pa.decimal256: 76}


def adversarial(least, greatest):
    """0, 1, all ones, powers of two and their neighbours, extremes; every fifth row null."""
    powers = [2**k + d for k in range(0, 300, 31) for d in (-1, 0, 1)]
    numbers = [0, *powers, *(-p for p in powers), least, greatest, least + 1, greatest - 1]
    numbers = [n for n in numbers if least <= n <= greatest]
    return [None if row % 5 == 4 else n for row, n in enumerate(numbers)]


def texts(numbers):
    return [None if n is None else str(n) for n in numbers]


def words(numbers, order="big"):
    return [None if n is None else n.to_bytes(32, order) for n in numbers]


def decimals(numbers):
    return [None if n is None else decimal.Decimal(n) for n in numbers]


def arrow_columns():
    """Arrays of every type of Arrow's, and the numbers in them."""
    columns = {}
    for bits in (8, 16, 32, 64):
        for name, least, greatest in (
            (f"int{bits}", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1),
            (f"uint{bits}", 0, 2**bits - 1),
        ):
            numbers = adversarial(least, greatest)
            columns[name] = (pa.array(numbers, type=getattr(pa, name)()), numbers)
    for make, digits in DIGITS.items():
        numbers = adversarial(1 - 10**digits, 10**digits - 1)
        columns[make.__name__] = (pa.array(decimals(numbers), type=make(digits, 0)), numbers)
    numbers = adversarial(-(2**400), 2**400)
    for make in (pa.string, pa.large_string, pa.string_view):
        columns[make.__name__] = (pa.array(texts(numbers), type=make()), numbers)
    columns["dictionary"] = (pa.array(texts(numbers)).dictionary_encode(), numbers)
    hexadecimal = [None if n is None else hex(n) for n in numbers]
    columns["hex"] = (pa.array(hexadecimal), numbers)
    numbers = adversarial(0, 2**256 - 1)
    columns["word"] = (pa.array(words(numbers), type=pa.binary(32)), numbers)
    for make in (pa.binary, pa.large_binary):
        columns[make.__name__] = (pa.array(words(numbers), type=make()), numbers)
    columns["null"] = (pa.nulls(len(numbers)), [None] * len(numbers))
    return columns


def write(folder):
    expected = {}

    def by_arrow(name, table, numbers):
        pa.parquet.write_table(table, folder / f"{name}.parquet", row_group_size=7)
        with pa.ipc.new_file(folder / f"{name}.arrow", table.schema) as out:
            out.write_table(table, max_chunksize=11)
        with pa.ipc.new_stream(folder / f"{name}.stream.arrow", table.schema) as out:
            out.write_table(table)
        for end in ("parquet", "arrow", "stream.arrow"):
            expected[f"{name}.{end}"] = {key: texts(n) for key, n in numbers.items()}

    for name, (array, numbers) in arrow_columns().items():
        table = pa.table({"n": array})
        by_arrow(f"pyarrow-{name}", table, {"n": numbers})
        by_arrow(f"pyarrow-{name}-sliced", table.slice(3, 9), {"n": numbers[3:12]})
        by_arrow(f"pyarrow-{name}-empty", table.slice(0, 0), {"n": []})

    small = adversarial(-(2**63), 2**63 - 1)
    large = adversarial(1 - 10**38, 10**38 - 1)[: len(small)]
    small = small[: len(large)]
    numbers = {"i": small, "d": large, "t": large, "b": [abs(n) if n else n for n in small]}
    frame = polars.DataFrame(
        {
            "i": polars.Series(numbers["i"], dtype=polars.Int64),
            "d": polars.Series(decimals(large), dtype=polars.Decimal(38, 0)),
            "t": texts(large),
            "b": words(numbers["b"]),
            "c": polars.Series(texts(large), dtype=polars.Categorical),
        }
    )
    numbers["c"] = large
    for name, part in (("polars", frame), ("polars-sliced", frame[2:9]), ("polars-empty", frame[:0])):
        part.write_parquet(folder / f"{name}.parquet")
        part.write_ipc(folder / f"{name}.arrow")
        part.write_ipc_stream(folder / f"{name}.stream.arrow")
        rows = {"polars": slice(None), "polars-sliced": slice(2, 9), "polars-empty": slice(0, 0)}
        of_part = {key: texts(n[rows[name]]) for key, n in numbers.items()}
        for end in ("parquet", "arrow", "stream.arrow"):
            expected[f"{name}.{end}"] = of_part

    frame = pandas.DataFrame(
        {
            "i": pandas.array(small, dtype="Int64"),
            "u": pandas.Series(range(len(small)), dtype="uint32"),
            "t": texts(large),
            "c": pandas.Categorical(texts(large)),
        }
    )
    frame.to_parquet(folder / "pandas.parquet")
    frame.to_feather(folder / "pandas.arrow")
    for end in ("parquet", "arrow"):
        expected[f"pandas.{end}"] = {
            "i": texts(small),
            "u": texts(range(len(small))),
            "t": texts(large),
            "c": texts(large),
        }

    database = duckdb.connect()
    database.execute("create table t (i bigint, d decimal(38,0), t varchar, b blob)")
    rows = list(zip(small, decimals(large), texts(large), words(numbers["b"])))
    database.executemany("insert into t values (?, ?, ?, ?)", rows)
    database.execute(f"copy t to '{folder}/duckdb.parquet' (format parquet, compression zstd)")
    database.execute(f"copy (select * from t limit 0) to '{folder}/duckdb-empty.parquet'")
    of_table = {key: texts(numbers[key]) for key in "idtb"}
    expected["duckdb.parquet"] = of_table
    expected["duckdb-empty.parquet"] = {key: [] for key in of_table}
    (folder / "expected.json").write_text(json.dumps(expected))


def any_number(value):
    magnitude = int.from_bytes(value[: len(value) // 4 * 4], "little")
    return -magnitude if len(value) % 4 else magnitude


READ = {
    "any": any_number,
    "little": lambda value: int.from_bytes(value, "little"),
    "big": lambda value: int.from_bytes(value, "big", signed=True),
    "text": int,
    "decimal": int,
}


def check(folder):
    ours = json.loads((folder / "ours.json").read_text())
    parquet, arrow = folder / "ours.parquet", folder / "ours.arrow"
    with pa.memory_map(str(arrow)) as source:
        in_memory = pa.ipc.open_file(source).read_all().to_pydict()
    wide = ["decimal"]
    readers = {
        "pyarrow, Parquet": pa.parquet.read_table(parquet).to_pydict(),
        "pyarrow, Arrow": in_memory,
        "polars, Parquet": polars.read_parquet(parquet, columns=[c for c in READ if c not in wide]).to_dict(as_series=False),
        "polars, Arrow": polars.read_ipc(arrow, columns=[c for c in READ if c not in wide]).to_dict(as_series=False),
        "pandas": {
            name: [None if pandas.isna(value) else value for value in column]
            for name, column in pandas.read_parquet(parquet).items()
        },
    }
    names = [name for name in READ if name not in wide]
    quoted = ", ".join(f"\"{name}\"" for name in names)
    found = duckdb.connect().execute(f"select {quoted} from '{parquet}'").fetchall()
    readers["DuckDB"] = {name: list(column) for name, column in zip(names, zip(*found))}
    for reader, columns in readers.items():
        for name, column in columns.items():
            numbers = [None if value is None else READ[name](value) for value in column]
            assert texts(numbers) == ours[name], (reader, name)
    field = pa.parquet.read_schema(parquet).field("any")
    metadata = {**(field.metadata or {})}
    assert metadata.get(b"ARROW:extension:name") == b"bigint.any", metadata
    print("read by", ", ".join(readers))


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
