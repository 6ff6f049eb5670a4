#!/usr/bin/env bash
# Builds the wheel, installs it in a fresh virtual environment, and tests it there.
set -euo pipefail
cd "$(dirname "$0")"

python=${PYTHON:-python3}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1

"$python" -m venv "$room/maturin"
"$room/maturin/bin/pip" install --quiet maturin==1.16.0
"$room/maturin/bin/maturin" build --release --locked --quiet --out "$room/wheels"

"$python" -m venv "$room/venv"
"$room/venv/bin/pip" install --quiet "$room"/wheels/*.whl -r tests/requirements.txt
"$room/venv/bin/mypy" --strict --cache-dir "$room/mypy" tests/typed.py
(cd "$room" && venv/bin/python -m mypy.stubtest --concise --ignore-disjoint-bases bigint_engine)
"$room/venv/bin/pytest" --quiet -p no:cacheprovider --doctest-glob='*.md' README.md tests

# The simulator stands in for a GPU, where it is built.
driver=${BIGINT_CUDA_DRIVER:-$PWD/../../target/debug/libcuda_sim_driver.so}
if [ -e "$driver" ]; then
    BIGINT_CUDA_DRIVER=$driver "$room/venv/bin/pytest" --quiet -p no:cacheprovider tests/device.py
else
    echo 'no simulated GPU: build it by cargo build --package cuda-sim-driver'
fi
