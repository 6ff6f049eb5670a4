#!/usr/bin/env bash
# Tests the whole workspace: what .ci/run does here, in minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")"

# One target folder for both workspaces: what they share is built once.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../target}
ROOM=$(mktemp -d)
export ROOM
trap 'rm -rf "$ROOM"' EXIT

# The wheel first: its virtual environment has the libraries whose files are read below.
python/test.sh
others=$("$ROOM/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
BIGINT_OTHERS=$others cargo test --locked --quiet -p bigint-arrow -p bigint-convert
cargo test --locked --quiet --manifest-path ../Cargo.toml -p bigint-e2e --features arrow --test cli parquet
