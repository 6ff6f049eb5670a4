"""What a Numba program computes on the simulated driver, compared with NumPy."""

import math

import numpy as np
from numba import cuda, int32


@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def block_sum(x, total):
    part = cuda.shared.array(128, int32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    width = 64
    while width:
        if i < width:
            part[i] += part[i + width]
        cuda.syncthreads()
        width //= 2
    if i == 0:
        cuda.atomic.add(total, 0, part[0])


@cuda.jit
def warp_sum(x, y):
    value = x[cuda.grid(1)]
    distance = 16
    while distance:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, distance)
        distance //= 2
    if cuda.laneid == 0:
        y[cuda.grid(1) // 32] = value


@cuda.jit
def functions(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.sqrt(x[i]) + math.exp(-x[i]) + math.sin(x[i])


@cuda.jit
def hello():
    print("thread", cuda.threadIdx.x, "says", 2.5)


rng = np.random.default_rng(1)
stream = cuda.stream()
begin, end = cuda.event(), cuda.event()

x = rng.standard_normal(1000, dtype=np.float32)
y = rng.standard_normal(1000, dtype=np.float32)
begin.record(stream)
on_device = cuda.to_device(x, stream=stream), cuda.to_device(y, stream=stream)
axpy[8, 128, stream](np.float32(2), *on_device)
result = on_device[1].copy_to_host(stream=stream)
end.record(stream)
end.synchronize()
assert begin.elapsed_time(end) >= 0
# Products and sums are fused: one rounding.
exact = (2 * x.astype(np.float64) + y).astype(np.float32)
assert np.array_equal(result, exact)

x = rng.integers(-1000, 1000, 4096, dtype=np.int32)
total = np.zeros(1, dtype=np.int32)
block_sum[32, 128](x, total)
assert total[0] == x.sum()

sums = np.zeros(128, dtype=np.int32)
warp_sum[16, 256](x, sums)
assert np.array_equal(sums, x.reshape(128, 32).sum(axis=1))

x = rng.uniform(0, 10, 500)
y = np.zeros(500)
functions[4, 128](x, y)
assert np.allclose(y, np.sqrt(x) + np.exp(-x) + np.sin(x), rtol=0, atol=1e-14)

hello[1, 2]()
cuda.synchronize()
