"""Times chains of Montgomery products and powers by windows, by kernels as they were and as they are, in turn.

    python3 powers.py BITS...

`was/` and `is/` have pow_mod.ptx and mont_mul.ptx, which are told lanes and limbs, assembled by ptxas and launched
one by one. A line for each: the median and the least of some launches, and how many of the first results differ from Python's.
"""

import ctypes
import os
import random
import statistics
import subprocess
import sys
from ctypes import byref, c_float, c_int, c_size_t, c_uint64, c_void_p
from concurrent.futures import ThreadPoolExecutor

BLOCK, DISTINCT, BUDGET = 128, 1024, 576 << 20
cuda = ctypes.CDLL("libcuda.so.1") if not os.environ.get("DRY") else None


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        sys.exit(f"{name}: CUDA error {code}")


def lanes_and_limbs(version, kind, width):
    """What `bigint_host` chooses of many numbers."""
    if kind == "mont_mul":
        digits = [8, 16] if version == "was" else [8, 12, 16]
    else:
        digits = [8, 16, 32] if version == "was" else [8, 16, 24, 32]
    fewest = next(lanes for most, lanes in [(64, 2), (128, 4), (256, 8), (512, 16)] if width <= most)
    if version == "was" and width <= 48:
        fewest = 4
    if kind == "mont_mul":
        fewest = max(fewest, 4)
    for lanes in [2, 4, 8, 16, 32]:
        for limbs in digits:
            if lanes >= fewest and width <= lanes * limbs:
                return lanes, limbs


def window_of(width, scans):
    best = 3 if width <= 3 else 4 if width <= 10 else 5 if width <= 47 else 6 if width <= 191 else 7
    return min(best, (5 if width <= 64 else 4) if scans else 7)


def count_of(width):
    return next(count for most, count in [(48, 50688), (64, 33792), (96, 25344), (128, 16896), (192, 12672), (256, 8448)]
                if width <= most)


def image(version, kind, lanes, limbs, scans=True):
    module = "mont_mul" if kind == "mont_mul" else "pow_mod"
    entry = "mont_mul_cios_warp_contiguous" if kind == "mont_mul" else "pow_mod_window_warp_interleaved"
    name = f"{version}/{kind}.{lanes}.{limbs}"
    if not os.path.exists(name + ".cubin"):
        text = open(f"{version}/{module}.ptx").read()
        head, *entries = text.split(".visible .entry ")
        body = next(e for e in entries if e.startswith(entry + "("))
        word = (lanes.bit_length() - 1) << 4 | limbs // 4 << 7
        if kind != "mont_mul":
            word |= BASES_ONE << 12 | (TRUE if scans else FALSE) << 18
        open(name + ".ptx", "w").write((head + ".visible .entry " + body).replace("0 /*told*/", str(word)))
        made = subprocess.run([os.environ.get("PTXAS", "ptxas"), "-v", "-arch=sm_90", name + ".ptx", "-o", name + ".cubin"],
                              capture_output=True, text=True)
        lines = [x.strip() for x in made.stderr.splitlines() if "Used" in x or "spill" in x or "rror" in x]
        print(name, " ".join(lines).replace("ptxas info    : ", ""), flush=True)
    return name + ".cubin", entry


BASES_ONE, FALSE, TRUE = 1, 2, 1


class Batch:
    def __init__(self, width):
        any_ = random.Random(width)
        bits = 32 * width
        self.width, self.count = width, count_of(width)
        self.m = [any_.getrandbits(bits) | 1 | 1 << (bits - 1) for _ in range(DISTINCT)]
        self.a = [any_.randrange(m) for m in self.m]
        self.b = [any_.getrandbits(bits) for m in self.m]
        for i in range(4):
            self.a[i], self.b[i] = self.m[i] - 1, (1 << bits) - 1
        self.c = [b % m for b, m in zip(self.b, self.m)]
        self.addresses = [self.limbs(numbers) for numbers in (self.a, self.a, self.a, self.b, self.c, self.m)]

    def limbs(self, numbers):
        packed = b"".join(x.to_bytes(4 * self.width, "little") for x in numbers) * (self.count // DISTINCT + 1)
        address = c_uint64()
        call("cuMemAlloc_v2", byref(address), c_size_t(len(packed)))
        call("cuMemcpyHtoD_v2", address, packed, c_size_t(len(packed)))
        return address.value

    def results(self, address, count):
        size = 4 * self.width
        raw = ctypes.create_string_buffer(count * size)
        call("cuMemcpyDtoH_v2", raw, c_uint64(address), c_size_t(count * size))
        return [int.from_bytes(raw.raw[i * size:(i + 1) * size], "little") for i in range(count)]

    def free(self):
        for address in self.addresses:
            call("cuMemFree_v2", c_uint64(address))


def load(path, entry):
    module, function = c_void_p(), c_void_p()
    call("cuModuleLoadData", byref(module), open(path, "rb").read())
    call("cuModuleGetFunction", byref(function), module, entry.encode())
    return function


def launch(function, grid, words):
    packed = (c_uint64 * len(words))(*words)
    pointers = (c_void_p * 1)(ctypes.addressof(packed))
    call("cuLaunchKernel", function, grid, 1, 1, BLOCK, 1, 1, 0, None, pointers, None)


def timed(work):
    begin, end, elapsed = c_void_p(), c_void_p(), c_float()
    call("cuEventCreate", byref(begin), 0)
    call("cuEventCreate", byref(end), 0)
    call("cuEventRecord", begin, None)
    work()
    call("cuEventRecord", end, None)
    call("cuEventSynchronize", end)
    call("cuEventElapsedTime", byref(elapsed), begin, end)
    return elapsed.value * 1e6


def arguments(batch, lanes, operands, workers, scratch=None):
    width = batch.width
    matrix = lambda address: [address, width, 1, width]
    r, a, b, c = map(matrix, operands)
    return [*r, 0, 0, 0, 0, *a, *b, *c, *(scratch or [0] * 4), 0, 0, 0, batch.count, workers]


def products(batch, function, lanes, times, squares):
    """`times` products or squares, each from device memory and back."""
    groups = BLOCK // lanes
    grid = -(-batch.count // groups)
    x, y, a, _, c, m = batch.addresses

    def work():
        of, to = a, x
        for _ in range(times):
            launch(function, grid, arguments(batch, lanes, [to, of, of if squares else c, m], grid * groups))
            of, to = to, y if to == x else x
    took = [timed(work) / batch.count / times for _ in range(4)]
    last = x if times % 2 else y
    wrong = 0
    for i, found in enumerate(batch.results(last, 12)):
        a, c, m = batch.a[i], batch.c[i], batch.m[i]
        inverse = pow(1 << 32 * batch.width, -1, m)
        for _ in range(times):
            a = a * (a if squares else c) * inverse % m
        wrong += found != a
    return took[1:], wrong


def powers(batch, function, lanes, limbs, scans, launches):
    groups = BLOCK // lanes
    scratch = ((1 << window_of(batch.width, scans)) + 1) * lanes * limbs
    wanted = -(-batch.count // groups)
    most = BUDGET // (4 * scratch * groups)
    grid = -(-wanted // -(-wanted // most))
    room = c_uint64()
    call("cuMemAlloc_v2", byref(room), c_size_t(4 * scratch * groups * grid))
    r, _, a, b, _, m = batch.addresses
    words = arguments(batch, lanes, [r, a, b, m], grid * groups, [room.value, scratch, 1, scratch])
    took = [timed(lambda: launch(function, grid, words)) / batch.count for _ in range(launches)]
    wrong = sum(found != pow(batch.a[i], batch.b[i], batch.m[i]) for i, found in enumerate(batch.results(r, 12)))
    call("cuMemFree_v2", room)
    return took[1:], wrong


def kernels(width):
    for kind in ["mont_mul", "variable", "constant"]:
        for version in ["was", "is"]:
            yield kind, version, *lanes_and_limbs(version, kind, width)


def main():
    widths = [int(bits) // 32 for bits in sys.argv[1:]]
    jobs = {job for width in widths for job in kernels(width)}
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda job: image(job[1], job[0], *job[2:], scans=job[0] == "constant"), sorted(jobs)))
    if not cuda:
        return
    device, context = c_int(), c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", byref(device), 0)
    call("cuDevicePrimaryCtxRetain", byref(context), device)
    call("cuCtxSetCurrent", context)
    for width in widths:
        batch = Batch(width)
        for kind, version, lanes, limbs in kernels(width):
            path, entry = image(version, kind, lanes, limbs)
            function = load(path, entry)
            if kind == "mont_mul":
                made = [(name, *products(batch, function, lanes, 32, name == "square")) for name in ["product", "square"]]
            else:
                launches = 4 if width <= 64 else 3 if width <= 128 else 2
                made = [(f"power, {kind} time", *powers(batch, function, lanes, limbs, kind == "constant", launches))]
            for name, took, wrong in made:
                print(f"{32 * width} bits {name}, {version}, {lanes} lanes of {limbs}: {statistics.median(took):.4f} ns "
                      f"(least {min(took):.4f}), {wrong} of 12 wrong", flush=True)
        batch.free()


main()
