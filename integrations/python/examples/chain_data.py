"""Amounts of 256 bits, as chain data have them: from Parquet, through the engine, to Parquet.

Cells are marked by `# %%`, as editors and Jupyter (jupytext) know them; `python chain_data.py` runs all.
"""

# %% A file as exporters of chain data write it: amounts are 32 bytes, most significant first.
import random
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import bigint_engine as bi

folder = Path(tempfile.mkdtemp())
draw = random.Random(1)
values = [draw.getrandbits(draw.randrange(1, 250)) for _ in range(10_000)]
values[7] = None
amounts = pa.array([x if x is None else x.to_bytes(32, "big") for x in values], pa.binary(32))
pools = pa.array([f"pool {draw.randrange(3)}" for _ in values])
pq.write_table(pa.table({"pool": pools, "amount": amounts}), folder / "swaps.parquet")

# %% The column as an array: what has no amount is None.
table = pq.read_table(folder / "swaps.parquet")
amount = bi.array(table["amount"])
amount

# %% A fee of 0.3 %, rounded down, exact: no float has 256 bits.
fee = amount * 3 // 1000
assert fee.to_list() == [x if x is None else x * 3 // 1000 for x in values]

# %% Totals of groups, by masks of NumPy.
pool = table["pool"].to_numpy()
totals = {name: fee[pool == name].sum() for name in sorted(set(pool))}
assert sum(totals.values()) == fee.sum()
totals

# %% The largest amounts.
amount[amount.argsort(reverse=True)[:3]]

# %% Back to a file: as bytes again, which every other tool reads, and as the extension type bigint.any.
net = amount - fee
pq.write_table(pa.table({"net": net.to_arrow(pa.binary(32)), "fee": fee.to_arrow()}), folder / "net.parquet")
again = pq.read_table(folder / "net.parquet")
assert bi.array(again["net"]).to_list() == net.to_list()
assert bi.array(again["fee"]).to_list() == fee.to_list()
again.schema
