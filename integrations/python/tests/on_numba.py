"""Numba's kernels read an array's limbs where they are: run by test.sh where Numba was fetched for the simulator."""

import numpy as np
import pytest
from numba import cuda

import bigint_engine as bi

NATURALS = [0, 1, (1 << 500) - 1, 3**100]


@cuda.jit
def copy(limbs, copied):
    row = cuda.grid(1)
    if row < limbs.shape[0]:
        for limb in range(limbs.shape[1]):
            copied[row, limb] = limbs[row, limb]


def test_a_kernel_reads_the_limbs():
    for array in (
        bi.array(NATURALS, device="cuda:0"),
        bi.array(NATURALS, device="cuda:0") * 7 + 1,
        bi.array(NATURALS).to("cuda:0")[1:],
    ):
        limbs = cuda.as_cuda_array(array)
        assert limbs.__cuda_array_interface__["data"][0] == array.__cuda_array_interface__["data"][0]
        copied = cuda.device_array(limbs.shape, np.uint32)
        copy[1, 32](limbs, copied)
        for rows in (limbs, copied):
            assert [int.from_bytes(row.tobytes(), "little") for row in rows.copy_to_host()] == array.to_list()


def test_numba_keeps_the_limbs():
    limbs = cuda.as_cuda_array(bi.array(NATURALS, device="cuda:0") * 3)
    others = [bi.array([5] * 4, device="cuda:0") * 11 for _ in range(20)]
    assert [int.from_bytes(row.tobytes(), "little") for row in limbs.copy_to_host()] == [3 * x for x in NATURALS]
    assert others[-1].to_list() == [55] * 4


def test_negative_numbers_have_no_limbs():
    with pytest.raises(BufferError, match="number 1 is negative"):
        cuda.as_cuda_array(bi.array([5, -3], device="cuda:0"))
