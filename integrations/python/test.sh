#!/usr/bin/env bash
# Builds the wheel, installs it in a fresh virtual environment, and tests it there. The wheel is that of
# the profile dev, whose arithmetic is optimised: `PROFILE=release` tests the one that users get.
set -euo pipefail
cd "$(dirname "$0")"

python=${PYTHON:-python3}
room=${ROOM:-$(mktemp -d)}
[[ -n ${ROOM:-} ]] || trap 'rm -rf "$room"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1

"$python" -m venv "$room/maturin"
"$room/maturin/bin/pip" install --quiet maturin==1.16.0
"$room/maturin/bin/maturin" build --profile "${PROFILE:-dev}" --locked --quiet --out "$room/wheels"

"$python" -m venv "$room/venv"
"$room/venv/bin/pip" install --quiet "$room"/wheels/*.whl -r tests/requirements.txt
"$room/venv/bin/mypy" --strict --cache-dir "$room/mypy" tests/typed.py
# The library itself is a module of the package, which has the stubs.
echo 'bigint_engine\.bigint_engine' > "$room/modules"
(cd "$room" && venv/bin/python -m mypy.stubtest --concise --ignore-disjoint-bases --allowlist modules bigint_engine)
"$room/venv/bin/pytest" --quiet --numprocesses auto -p no:cacheprovider --doctest-glob='*.md' README.md tests
for example in examples/*.py; do "$room/venv/bin/python" "$example"; done

# The simulator stands in for a GPU, where it is built.
driver=${BIGINT_CUDA_DRIVER:-${CARGO_TARGET_DIR:-$PWD/../../target}/debug/deps/libcuda_sim_driver.so}
if [ -e "$driver" ]; then
    BIGINT_CUDA_DRIVER=$driver "$room/venv/bin/pytest" --quiet -p no:cacheprovider tests/device.py
    # Numba as the simulator's own tests have fetched it, with the NumPy that it knows.
    numba=$(dirname "$driver")/numba
    if [ -e "$numba/whole" ]; then
        BIGINT_CUDA_DRIVER=$driver LD_LIBRARY_PATH=$numba/driver CUDA_HOME=$numba/cuda PYTHONPATH=$numba/packages \
            CUDA_SIM_LEAKS=off NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS=0 \
            "$room/venv/bin/pytest" --quiet -p no:cacheprovider tests/on_numba.py
    else
        echo 'no Numba: CUDA_SIM_CLIENTS=fetch cargo test --package cuda-sim-driver --test clients fetches it'
    fi
else
    echo 'no simulated GPU: build it by cargo build --package cuda-sim-driver'
fi
