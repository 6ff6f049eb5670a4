"""Times chains of Montgomery products and squares, and powers by CGBN's parts, on this machine's first GPU.

    python3 chains.py chains.ptx [cgbn_modular.cubin] [BITS]

A line for each: nanoseconds of one product, square or power, the median and the least of five launches
that fill the device, and how many of the first results differ from Python's.
"""

import ctypes
import random
import statistics
import sys
from ctypes import byref, c_int, c_float, c_size_t, c_uint, c_uint64, c_void_p

TIMES, BLOCK, DISTINCT = 1000, 128, 4096
# Bits, and numbers that fill an H200.
COUNTS = {256: 1013760, 384: 540672, 512: 202752, 1024: 67584, 1536: 50688, 2048: 33792, 3072: 25344, 4096: 16896, 6144: 12672,
          8192: 8448}
# Bits, lanes and limbs of each.
OURS = [(256, 1, 8), (384, 1, 12), (512, 1, 16), (1024, 1, 32), (1536, 4, 12), (1536, 2, 24), (2048, 2, 32),
        (2048, 4, 16), (3072, 8, 12), (3072, 4, 24), (4096, 4, 32), (4096, 8, 16), (6144, 16, 12), (6144, 8, 24),
        (8192, 8, 32), (8192, 16, 16)]
# Bits of lazy fields.
LAZY = [256, 384, 512]
CGBN = [(256, 4), (512, 4), (1024, 8), (1536, 8), (2048, 8), (3072, 16), (4096, 16), (6144, 32), (8192, 32)]

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        sys.exit(f"{name}: CUDA error {code}")


def device_limbs(numbers, bits, count):
    packed = b"".join(x.to_bytes(bits // 8, "little") for x in numbers) * (count // len(numbers) + 1)
    address = c_uint64()
    call("cuMemAlloc_v2", byref(address), c_size_t(count * bits // 8))
    call("cuMemcpyHtoD_v2", address, packed, c_size_t(count * bits // 8))
    return address


class Batch:
    """Moduli with their top bit set, or one for all with six bits to spare, and numbers below them, the first of which are the greatest."""

    def __init__(self, bits, is_lazy=False):
        any_ = random.Random(bits)
        self.bits, self.count = bits, COUNTS[bits]
        self.m = [any_.getrandbits(bits) | 1 | 1 << (bits - 1) for _ in range(DISTINCT)]
        if is_lazy:
            self.m = [self.m[0] >> 6 | 1] * DISTINCT
        self.a = [any_.randrange(m) for m in self.m]
        self.b = [any_.randrange(m) for m in self.m]
        for i in range(4):
            self.a[i] = self.b[i] = self.m[i] - 1
        operands = [self.a, self.a, self.b, self.m]
        self.addresses = [device_limbs(numbers, bits, self.count) for numbers in operands]

    def results(self, count):
        size = self.bits // 8
        raw = ctypes.create_string_buffer(count * size)
        call("cuMemcpyDtoH_v2", raw, self.addresses[0], c_size_t(count * size))
        return [int.from_bytes(raw.raw[i * size:(i + 1) * size], "little") for i in range(count)]

    def expected(self, kind, i):
        a, b, m = self.a[i], self.b[i], self.m[i]
        inverse = pow(1 << self.bits, -1, m)
        if kind == "power":
            return pow(a, b, m)
        if kind == "product":
            return a * pow(b * inverse, TIMES, m) % m
        for _ in range(TIMES):
            a = a * a * inverse % m
        return a

    def free(self):
        for address in self.addresses:
            call("cuMemFree_v2", address)


def ours(batch, kind, lanes):
    width = batch.bits // 32
    matrix = lambda address: [address.value, width, 1, width]
    r, a, b, c = map(matrix, batch.addresses)
    chain = [0, 0, int(kind == "square"), TIMES]
    workers = -(-batch.count * lanes // BLOCK) * BLOCK // lanes
    words = [*r, *chain, *a, *b, *c, *[0] * 4, 0, 0, 0, batch.count, workers]
    return [(c_uint64 * len(words))(*words)]


def lazy(batch, kind):
    m, width = batch.m[0], batch.bits // 32
    limbs = [x >> 32 * i & 0xffffffff for x in (m, 2 * m) for i in range(width)]
    return [*ours(batch, kind, 1), (c_uint * len(limbs))(*limbs)]


def cgbn(batch):
    return [*batch.addresses, c_uint(batch.count), c_uint(TIMES)]


def measure(batch, who, kind, image, entry, arguments, lanes):
    module, function = c_void_p(), c_void_p()
    call("cuModuleLoadData", byref(module), image)
    call("cuModuleGetFunction", byref(function), module, entry.encode())
    pointers = (c_void_p * len(arguments))(*[ctypes.addressof(argument) for argument in arguments])
    begin, end = c_void_p(), c_void_p()
    call("cuEventCreate", byref(begin), 0)
    call("cuEventCreate", byref(end), 0)
    times = []
    for _ in range(3 if kind == "power" else 6):
        call("cuEventRecord", begin, None)
        blocks = -(-batch.count * lanes // BLOCK)
        call("cuLaunchKernel", function, blocks, 1, 1, BLOCK, 1, 1, 0, None, pointers, None)
        call("cuEventRecord", end, None)
        call("cuEventSynchronize", end)
        elapsed = c_float()
        call("cuEventElapsedTime", byref(elapsed), begin, end)
        each = 1 if kind == "power" else TIMES
        times.append(elapsed.value * 1e6 / batch.count / each)
    results = batch.results(12)
    # CGBN's products may be as great as any number of so many bits, those of lazy fields as two moduli.
    of = results if who == "ours" else [x % m for x, m in zip(results, batch.m)]
    wrong = sum(x != batch.expected(kind, i) for i, x in enumerate(of))
    median, least = statistics.median(times[1:]), min(times[1:])
    print(f"{who} {kind} {batch.bits} bits {lanes} lanes: {median:.4f} ns (least {least:.4f}), "
          f"{wrong} of {len(results)} wrong", flush=True)
    call("cuModuleUnload", module)


def main():
    device, context = c_int(), c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", byref(device), 0)
    call("cuDevicePrimaryCtxRetain", byref(context), device)
    call("cuCtxSetCurrent", context)
    ptx = open(sys.argv[1]).read()
    peer = open(sys.argv[2], "rb").read() if len(sys.argv) > 2 else None
    only = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    for bits in COUNTS if not only else [only]:
        batch = Batch(bits)
        for _, lanes, limbs in (row for row in OURS if row[0] == bits):
            # `bigint_core::facts`: LANES and DIGIT.
            facts = (lanes.bit_length() - 1) << 4 | limbs // 4 << 7
            image = ptx.replace("0 /*told*/", str(facts)).encode() + b"\0"
            entry = "chain_thread" if lanes == 1 else "chain_warp"
            for kind in ["product", "square"]:
                measure(batch, "ours", kind, image, entry, ours(batch, kind, lanes), lanes)
        for _, lanes in (row for row in CGBN if peer and row[0] == bits):
            measure(batch, "CGBN", "product", peer, f"mul_{bits}_{lanes}", cgbn(batch), lanes)
            measure(batch, "CGBN", "square", peer, f"sqr_{bits}_{lanes}", cgbn(batch), lanes)
            measure(batch, "CGBN", "power", peer, f"pow_{bits}_{lanes}", cgbn(batch), lanes)
        batch.free()
    for bits in LAZY if not only else []:
        batch = Batch(bits, True)
        for kind in ["product", "square"]:
            measure(batch, "lazy", kind, ptx.encode() + b"\0", f"lazy_{bits // 32}", lazy(batch, kind), 1)
        batch.free()


main()
