"""Products and powers beside a list comprehension, gmpy2 and NumPy, all conversions counted.

    RAYON_NUM_THREADS=1 taskset -c 0 python products.py 200000    # one thread: the CPU's time counts
    python products.py 1000000                                    # all cores: the clock's time counts

Times are the least of several runs, the CPU's of this process, on which others on the machine have little
influence, and the clock's.
"""

import operator
import os
import random
import signal
import subprocess
import sys
import threading
import time

import gmpy2
import numpy as np
import pyarrow as pa

import bigint_engine as bi

count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
powers = max(64, count // 1000)


def measure(name, function, of=count, runs=5, beside=None):
    best = [float("inf")] * 2
    for _ in range(runs):
        start = time.process_time(), time.perf_counter()
        result = function()
        best = [min(best[0], time.process_time() - start[0]), min(best[1], time.perf_counter() - start[1])]
        del result
    cpu, clock = (1e9 * x / of for x in best)
    share = f"{beside[0] / best[0]:8.2f}{beside[1] / best[1]:8.2f}" if beside else ""
    print(f"{name:58}{cpu:12.0f}{clock:12.0f}{share}", flush=True)
    return best


def part(rust, arrow):
    print(f"{'  % of the rate of products alone':58}{100 * rust[0] / arrow[0]:12.0f}{100 * rust[1] / arrow[1]:12.0f}")


print(f"Python {sys.version.split()[0]}, gmpy2 {gmpy2.version()}, NumPy {np.__version__}, pyarrow {pa.__version__}")
print(f"{os.environ.get('RAYON_NUM_THREADS', os.cpu_count())} threads")
print("ns each: CPU time, clock; then how many times as fast as gmpy2, by both\n")

draw = random.Random(1)
a, b = ([draw.getrandbits(1024) | 1 << 1023 for _ in range(count)] for _ in range(2))
print(f"{count} products of 1024-bit ints, from a list to a list")
measure("list comprehension", lambda: [x * y for x, y in zip(a, b)])
peer = measure("gmpy2, [int(mpz(x) * mpz(y)) ...]", lambda: [int(gmpy2.mpz(x) * gmpy2.mpz(y)) for x, y in zip(a, b)])
measure("gmpy2, list(map(int, map(gmpy2.mul, a, b)))", lambda: list(map(int, map(gmpy2.mul, a, b))), beside=peer)
products = list(map(operator.mul, a, b))
measure("Python's making of such ints: list(map(neg, products))", lambda: list(map(operator.neg, products)), beside=peer)
measure("NumPy, arrays of objects", lambda: (np.array(a, dtype=object) * np.array(b, dtype=object)).tolist(), beside=peer)
measure("bigint_engine", lambda: (bi.array(a) * bi.array(b)).to_list(), beside=peer)
x, y = bi.array(a), bi.array(b)
z = x * y
assert z.to_list() == products
measure("  of these: one list to an array", lambda: bi.array(a))
rust = measure("  products alone, the Rust library's rate", lambda: x * y)
measure("  the array of products to a list", lambda: z.to_list())

print(f"\n{count} products of 1024-bit columns of pyarrow")
theirs = [column.to_arrow() for column in (x, y)]
arrow = measure("bigint.any, to an array of products", lambda: bi.array(theirs[0]) * bi.array(theirs[1]))
part(rust, arrow)
chain = [pa.array([n.to_bytes(128, 'big') for n in column], pa.binary(128)) for column in (a, b)]
arrow = measure("big-endian bytes, to an array of products", lambda: bi.array(chain[0]) * bi.array(chain[1]))
part(rust, arrow)

print(f"\n{powers} powers modulo 2048 bits, exponents of 2048 bits, from a list to a list")
m = draw.getrandbits(2048) | 1 << 2047 | 1
base, e = ([draw.getrandbits(2048) % m for _ in range(powers)] for _ in range(2))
measure("list comprehension", lambda: [pow(p, q, m) for p, q in zip(base[:8], e)], of=8, runs=1)
peer = measure("gmpy2", lambda: [int(gmpy2.powmod(p, q, m)) for p, q in zip(base, e)], of=powers, runs=3)
measure("bigint_engine", lambda: bi.powmod(base, e, m).to_list(), of=powers, runs=3, beside=peer)
assert bi.powmod(base, e, m).to_list() == [gmpy2.powmod(p, q, m) for p, q in zip(base, e)]

imports = []
for _ in range(10):
    script = "import time; s = time.process_time(); import bigint_engine; print(time.process_time() - s)"
    imports.append(float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout))
print(f"\nimport: {1e3 * min(imports):.1f} ms, without NumPy, which the first mask imports")

waits = []
for _ in range(5):
    sent = []

    def interrupt():
        time.sleep(0.3)
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        pow(bi.array(range(1, 1_000_000)), m - 2, m)
    except KeyboardInterrupt:
        waits.append(time.perf_counter() - sent[0])
    thread.join()
print(f"KeyboardInterrupt during powers: {1e3 * max(waits):.0f} ms after the signal, the longest of 5, wall time")
