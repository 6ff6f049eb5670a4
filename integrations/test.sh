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
cargo test --locked --quiet --manifest-path ../Cargo.toml --workspace --features bigint-e2e/arrow --test cli parquet
# All at once: chosen one by one, crates would have other features, and be built again. The command is the
# one that the line above has built.
BIGINT_OTHERS=$others BIGINT_COMMAND=$CARGO_TARGET_DIR/debug/bigint-e2e \
    cargo test --locked --quiet --workspace --exclude bigint-python
