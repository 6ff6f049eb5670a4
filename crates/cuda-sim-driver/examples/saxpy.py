"""A program of the CUDA driver API, in plain Python: loads PTX, launches it, reads the result.

    python3 saxpy.py LIBRARY

LIBRARY is `libcuda_sim_driver.so`, or NVIDIA's `libcuda.so.1` on a machine with a GPU: the program is
the same.
"""

import ctypes
import pathlib
import sys
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

N = 1000
cuda = ctypes.CDLL(sys.argv[1])


def call(name, *arguments):
    """Calls a function of the driver; ends the program if it fails."""
    code = getattr(cuda, name)(*arguments)
    if code != 0:
        words = ctypes.c_char_p()
        cuda.cuGetErrorName(code, byref(words))
        sys.exit(f"{name}: {words.value.decode()}")


device, context, module, kernel = c_int(), c_void_p(), c_void_p(), c_void_p()
call("cuInit", 0)
call("cuDeviceGet", byref(device), 0)
call("cuCtxCreate_v2", byref(context), 0, device)
ptx = pathlib.Path(__file__).parents[2] / "cuda-sim" / "examples" / "saxpy.ptx"
call("cuModuleLoadData", byref(module), ptx.read_bytes() + b"\0")
call("cuModuleGetFunction", byref(kernel), module, b"saxpy")

x = (c_float * N)(*range(N))
y = (c_float * N)(*[1.0] * N)
on_device = []
for numbers in (x, y):
    address = c_uint64()
    call("cuMemAlloc_v2", byref(address), c_size_t(ctypes.sizeof(numbers)))
    call("cuMemcpyHtoD_v2", address, numbers, c_size_t(ctypes.sizeof(numbers)))
    on_device.append(address)

n = c_uint(N)
values = [*on_device, n]
parameters = (c_void_p * 3)(*(ctypes.addressof(value) for value in values))
call("cuLaunchKernel", kernel, 8, 1, 1, 128, 1, 1, 0, None, parameters, None)
call("cuMemcpyDtoH_v2", y, on_device[1], c_size_t(ctypes.sizeof(y)))

wrong = sum(y[i] != 3.0 * x[i] + 1.0 for i in range(N))
print(f"{N} numbers, {wrong} wrong")
for address in on_device:
    call("cuMemFree_v2", address)
call("cuModuleUnload", module)
call("cuCtxDestroy_v2", context)
