"""Threads, signals, forks, memory that ends: what a process does around its arrays."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import bigint_engine as bi

MODULUS = (1 << 2048) - 1942289


@pytest.fixture(autouse=True)
def interrupts_are_heard():
    """A shell has the jobs that it starts in the background ignore interrupts: they would work for hours."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def hours_of_work():
    """Far more than any test waits for, in pieces that end soon after nobody waits."""
    return pow(bi.array(range(1, 2_000_000)), MODULUS - 2, MODULUS)


def interrupt_soon():
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    return timer


def test_an_interrupt_ends_long_work():
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        hours_of_work()
    timer.join()
    assert (bi.array([2, 3]) * 5).to_list() == [10, 15]


def test_an_interrupt_ends_one_long_number():
    script = """
        import os, signal, threading
        import bigint_engine as bi
        threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
        try:
            bi.array([3]) ** (1 << 30)
        except KeyboardInterrupt:
            print("interrupted")
    """
    assert run(script) == "interrupted"


def test_other_threads_run_meanwhile_and_may_compute():
    timer, seen = interrupt_soon(), []

    def work(seed):
        column = [seed + i for i in range(500)]
        squares = bi.array(column) ** 2
        seen.append(squares.to_list() == [x * x for x in column])

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(8)]
    for thread in threads:
        thread.start()
    with pytest.raises(KeyboardInterrupt):
        hours_of_work()
    for thread in (timer, *threads):
        thread.join()
    assert seen == [True] * 8


def test_progress_reaches_the_end_and_may_stop_the_work():
    told = []
    with bi.progress(lambda done, total: told.append((done, total))):
        bi.is_prime(range(100_000))
        pow(bi.array([3, 5]), 7, 11)
    assert told[-1] == (2, 2) and (100_000, 100_000) in told
    assert all(0 < done <= total for done, total in told)

    def stop(done, total):
        raise StopIteration(f"at {done}")

    with bi.progress(stop), pytest.raises(StopIteration, match="at "):
        hours_of_work()
    told.clear()
    bi.is_prime(range(1000))
    assert told == []


def product(seed):
    return (bi.array(range(seed, seed + 100)) * (1 << 70)).sum()


def test_a_forked_child_computes():
    # The parent's threads are there before the fork, and not after it.
    expected = [product(seed) for seed in range(4)]
    bi.gcd(range(100_000), 12)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(product, range(4)) == expected


def double(array):
    return array + array


def test_arrays_go_to_spawned_processes():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(double, [bi.array([1, None, 1 << 99])])[0].to_list() == [2, None, 1 << 100]


def run(script, **environment):
    """The standard output of a Python of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_it_does_not_import_numpy():
    script = "import sys, bigint_engine; print('numpy' in sys.modules)"
    assert run(script) == "False"


def test_ints_by_the_stable_abi_alone():
    script = """
        import bigint_engine as bi
        column = [0, 1, -1, None, 1 << 29, 1 << 30, -(1 << 64), 3**500, -(3**500), True]
        array = bi.array(column)
        assert array.to_list() == column, array
        assert [array[i] for i in range(10)] == column
        assert array.sum() == sum(x or 0 for x in column)
        print("good")
    """
    assert run(script, BIGINT_ENGINE_STABLE_INTS="1") == "good"


# What takes more memory than there is, in a process that may have 1.5 GB.
GREEDY = {
    "a long number": "bi.array([1, 1, 1, 1]) << (1 << 32) - 64",
    "a long power": "bi.array([3]) ** (1 << 32)",
    "many numbers": "bi.from_bytes(bytes(1 << 26), 1) + (1 << 4096)",
    "many products": "bi.array([(1 << 4000) - 1] * 10**5) * bi.array([(1 << 100000) - 1])",
    "a list": "(bi.array([(1 << 2000) - 1])[[0] * (1 << 20)]).to_list() * 3 + (bi.array([(1 << 9000) - 1])[[0] * (1 << 20)]).to_list()",
    "rows": "bi.array([(1 << 9000) - 1])[[0] * (1 << 21)]",
    "limbs": "bi.array([1] * 1000).to_limbs(1 << 30)",
    "bytes": "bi.array([1] * 1000).to_bytes(1 << 30)",
    "columns of Arrow": "[bi.array(range(10**6)).to_arrow(pyarrow.binary(200)) for _ in range(30)]",
    "numbers of Arrow": "[bi.array(pyarrow.array([b'x' * 10**6] * 100)) for _ in range(30)]",
    "an expression": "(bi.expr(bi.array([(1 << 4000) - 1] * 10**5)) * ((1 << 100000) - 1) + 1).eval()",
}


@pytest.mark.parametrize("what", GREEDY)
def test_memory_that_ends_is_an_error(what):
    script = f"""
        import resource
        import numpy, pyarrow
        import bigint_engine as bi
        (bi.array(range(100_000)) ** 2).sum()
        resource.setrlimit(resource.RLIMIT_AS, (1500 << 20, 1500 << 20))
        try:
            {GREEDY[what]}
        except MemoryError:
            print("no memory")
        assert (bi.array([3]) * 5).to_list() == [15]
    """
    assert run(script) == "no memory"
