"""Arrays that a CUDA device computes with: run by test.sh, on the simulator where there is no GPU."""

import ctypes
import math
import os

import pytest

import bigint_engine as bi

COLUMN = [0, 1, (1 << 500) - 1, None, 3**100]


def test_a_device_computes_the_same():
    gpu = bi.array(COLUMN, device="cuda:0")
    cpu = bi.array(COLUMN, device="cpu")
    assert gpu.device == "cuda:0" and (gpu + 1).device == "cuda:0"
    for function in (lambda x: x * x + 3, lambda x: 3 - x, lambda x: x // 7, lambda x: bi.gcd(x, 6), lambda x: x << 9):
        assert function(gpu).to_list() == function(cpu).to_list()
    assert (bi.expr(gpu) * gpu - 1).eval().to_list() == (cpu * cpu - 1).to_list()


def read(address, count, width):
    """Rows of limbs in the memory of the device, read by the driver as others would."""
    driver = ctypes.CDLL(os.environ.get("BIGINT_CUDA_DRIVER", "libcuda.so.1"))
    context, limbs = ctypes.c_void_p(), (ctypes.c_uint32 * (count * width))()
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert driver.cuCtxPushCurrent_v2(context) == 0
    assert driver.cuMemcpyDtoH_v2(limbs, ctypes.c_uint64(address), ctypes.c_size_t(4 * count * width)) == 0
    assert driver.cuCtxPopCurrent_v2(ctypes.byref(context)) == 0
    assert driver.cuDevicePrimaryCtxRelease_v2(0) == 0
    numbers = [limbs[row * width : (row + 1) * width] for row in range(count)]
    return [sum(limb << 32 * i for i, limb in enumerate(row)) for row in numbers]


NATURALS = [0, 1, (1 << 500) - 1, 3**100]


def test_others_read_the_limbs_where_they_are():
    for array in (
        bi.array(NATURALS, device="cuda:0"),
        bi.array(NATURALS, device="cuda:0") * 7 + 1,
        bi.array([-x for x in NATURALS]).to("cuda:0") * -1,
        bi.array(NATURALS).to("cuda:0")[1:],
        pow(bi.array(NATURALS, device="cuda:0"), 65537, 10**60 + 7),
    ):
        interface = array.__cuda_array_interface__
        address, is_read_only = interface["data"]
        assert (interface["version"], interface["typestr"], is_read_only) == (3, "<u4", True)
        assert interface["strides"] is None and array.__dlpack_device__() == (2, 0)
        assert read(address, *interface["shape"]) == array.to_list()
        assert array.__cuda_array_interface__ == interface


class Tensor(ctypes.Structure):
    """DLPack's DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("delete", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("data", ctypes.c_uint64),
        ("kind", ctypes.c_int32),
        ("ordinal", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


def test_dlpack_lends_the_same_memory_and_keeps_it():
    array = bi.array(NATURALS, device="cuda:0") * 3
    address = array.__cuda_array_interface__["data"][0]
    capsule = array.__dlpack__(stream=1, max_version=(1, 0))
    expected = array.to_list()
    del array
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = Tensor.from_address(pointer(capsule, b"dltensor_versioned"))
    assert (tensor.major, tensor.flags, tensor.kind, tensor.ordinal) == (1, 1, 2, 0)
    assert (tensor.data, tensor.dimensions, tensor.code, tensor.bits, tensor.lanes) == (address, 2, 1, 32, 1)
    count, width = tensor.shape[:2]
    assert tensor.strides[:2] == [width, 1] and read(address, count, width) == expected
    # A capsule that nobody takes lets go by itself.
    del tensor, capsule


def test_limbs_that_cannot_be_lent():
    negative = bi.array([5, -3], device="cuda:0")
    with pytest.raises(BufferError, match="number 1 is negative"):
        negative.__cuda_array_interface__
    with pytest.raises(BufferError, match="abs"):
        negative.__dlpack__()
    uneven = bi.array([1] * 1000 + [1 << 40_000], device="cuda:0")
    assert (uneven + 1).to_list()[-1] == (1 << 40_000) + 1
    with pytest.raises(BufferError, match="differ too much"):
        uneven.__dlpack__()
    with pytest.raises(BufferError, match="use to"):
        bi.array([1], device="cuda:0").__dlpack__(dl_device=(2, 7))
    assert not hasattr(bi.array([1]), "__cuda_array_interface__")


def test_results_stay_until_they_are_wanted():
    a = bi.array([x * 7 for x in NATURALS], device="cuda:0")
    b = bi.array([3, 5, 7, 11], device="cuda:0")
    ints = a.to_list()
    for function in (
        lambda x, y: x + y,
        lambda x, y: x - y,
        lambda x, y: x * y - x,
        lambda x, y: x // y,
        lambda x, y: -x // y,
        lambda x, y: -x % y,
        lambda x, y: x << 5,
        lambda x, y: abs(y - x),
    ):
        made = function(a, b)
        assert made.device == "cuda:0"
        assert made.to_list() == [function(x, y) for x, y in zip(ints, b.to_list())]
        assert made[::2].to_list() == made.to_list()[::2] and made.sum() == sum(made.to_list())
        assert made.to("cpu").to_list() == made.to_list()
    assert divmod(a, b)[1].to_list() == [x % y for x, y in zip(ints, b.to_list())]
    assert bi.powmod(a + 1, [-1, 2, 3, 5], 10**9 + 7).to_list() == [
        pow(x + 1, e, 10**9 + 7) for x, e in zip(ints, [-1, 2, 3, 5])
    ]
    with pytest.raises(ZeroDivisionError, match="number 2"):
        a // [1, 1, 0, 1]
    assert bi.isqrt(a).to_list() == [math.isqrt(x) for x in ints]
    assert bi.concatenate([a, b, a[:1]]).to_list() == ints + b.to_list() + ints[:1]
    assert bi.array([], device="cuda:0").to_list() == (bi.array([], device="cuda:0") + 1).to_list() == []


def test_a_forked_child_is_told():
    gpu = bi.array(COLUMN, device="cuda:0")
    assert (gpu + gpu)[1] == 2
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        try:
            (gpu * gpu)[2]
        except RuntimeError as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert "forked" in os.read(read, 10_000).decode()
    os.close(read), os.close(write)


def test_there_is_no_such_device():
    with pytest.raises(RuntimeError, match="no such device"):
        bi.array([1], device="cuda:99")
