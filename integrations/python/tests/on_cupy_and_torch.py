"""CuPy, PyTorch and JAX read an array's limbs where they are: run by hand on a machine with a GPU and these.

pytest -p no:cacheprovider tests/on_cupy_and_torch.py
"""

import numpy as np
import pytest

import bigint_engine as bi

NATURALS = [0, 1, (1 << 500) - 1, 3**100] * 50


def arrays():
    yield bi.array(NATURALS, device="cuda:0")
    yield bi.array(NATURALS, device="cuda:0") * 7 + 1
    yield bi.array(NATURALS).to("cuda:0")[1:]


def address(array):
    return array.__cuda_array_interface__["data"][0]


def numbers(rows):
    return [int.from_bytes(np.ascontiguousarray(row).tobytes(), "little") for row in rows]


def test_cupy_reads_the_limbs():
    cupy = pytest.importorskip("cupy")
    own = cupy.RawKernel(
        "extern \"C\" __global__ void copy(const unsigned *from, unsigned *to, int count)"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < count) to[i] = from[i]; }",
        "copy",
    )
    for array in arrays():
        for limbs in (cupy.asarray(array), cupy.from_dlpack(array)):
            assert limbs.data.ptr == address(array)
            copied = cupy.empty_like(limbs, order="C")
            own((limbs.size // 128 + 1,), (128,), (cupy.ascontiguousarray(limbs), copied, np.int32(limbs.size)))
            assert numbers(limbs.get()) == numbers(copied.get()) == array.to_list()
            assert numbers((limbs ^ cupy.uint32(5)).get())[0] & 0xFFFFFFFF == array[0] & 0xFFFFFFFF ^ 5


def test_torch_reads_the_limbs():
    torch = pytest.importorskip("torch")
    for array in arrays():
        limbs = torch.from_dlpack(array)
        assert limbs.is_cuda and limbs.dtype == torch.uint32 and limbs.data_ptr() == address(array)
        assert numbers(limbs.cpu().numpy()) == array.to_list()
        low = limbs[:, 0].to(torch.int64) + 1
        assert low.cpu().tolist() == [(number & 0xFFFFFFFF) + 1 for number in array.to_list()]


def test_jax_reads_the_limbs():
    jax = pytest.importorskip("jax")
    for array in arrays():
        assert numbers(np.asarray(jax.dlpack.from_dlpack(array))) == array.to_list()


def test_limbs_outlive_their_array():
    cupy, torch = pytest.importorskip("cupy"), pytest.importorskip("torch")
    limbs = [cupy.asarray(bi.array(NATURALS, device="cuda:0") * 3), torch.from_dlpack(bi.array(NATURALS, device="cuda:0") * 3)]
    others = [bi.array([5] * 200, device="cuda:0") * 11 for _ in range(20)]
    for rows in (limbs[0].get(), limbs[1].cpu().numpy()):
        assert numbers(rows) == [3 * number for number in NATURALS]
    assert others[-1].to_list() == [55] * 200


def test_negative_numbers_have_no_limbs():
    negative = bi.array([5, -3], device="cuda:0")
    for take in (pytest.importorskip("cupy").asarray, pytest.importorskip("torch").from_dlpack):
        with pytest.raises(BufferError, match="number 1 is negative"):
            take(negative)
