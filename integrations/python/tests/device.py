"""Arrays that a CUDA device computes with: run by test.sh, on the simulator where there is no GPU."""

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
