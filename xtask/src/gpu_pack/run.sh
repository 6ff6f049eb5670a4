#!/bin/sh
# Tests this machine's first GPU, then measures it. The records go to the folder $1,
# or here: DATE-auto.json (the library's own choices), DATE-wrapping.json (sums and
# differences as wide as their operands) and DATE-choices.json (every kernel).
#
# CASES, pairs of numbers per operation of the self-test; BENCH, more options for
# `bigint bench`, such as "--samples 5 --widths 1024,4096"; BIGINT, another program.
set -eu
folder=${1:-.}
bigint=${BIGINT:-$(dirname "$0")/bigint}
mkdir -p "$folder"

"$bigint" info
"$bigint" selftest --backend cuda --cases "${CASES:-100000}"

bench() {
    record=$folder/$(date -u +%F)-$1.json
    shift
    # The options are words.
    # shellcheck disable=SC2086
    "$bigint" bench --backend cuda --json "$@" ${BENCH:-} >"$record.part"
    mv "$record.part" "$record"
    echo "$record"
}
bench auto --operations add,mul
bench wrapping --operations add,sub --wrapping
bench choices --operations add,mul --every-choice
