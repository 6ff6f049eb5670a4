#!/bin/sh
# Tests this machine's first GPU, then measures it. The records go to the folder $1,
# or here: DATE-auto.json (the library's own choices), DATE-wrapping.json (sums and
# differences as wide as their operands), DATE-choices.json (every kernel), and DATE-tuning.txt:
# the times by which kernels are chosen beside those that a model says, with their file DATE-tuning.toml.
#
# Where CUDA's compute-sanitizer is, its four tools look at the self-test of CHECKED pairs
# first: their findings, none, go to DATE-sanitizer.txt.
#
# CASES, pairs of numbers per operation of the self-test; BENCH, more options for
# `bigint bench`, such as "--samples 5 --widths 1024,4096"; TUNE, the same of `bigint tune`; BIGINT,
# another program.
set -eu
folder=${1:-.}
bigint=${BIGINT:-$(dirname "$0")/bigint}
mkdir -p "$folder"

"$bigint" info
"$bigint" selftest --backend cuda --cases "${CASES:-100000}"

PATH=$PATH:/usr/local/cuda/bin
if command -v compute-sanitizer >/dev/null; then
    record=$folder/$(date -u +%F)-sanitizer.txt
    : >"$record.part"
    for tool in memcheck initcheck racecheck synccheck; do
        echo "$tool" | tee -a "$record.part"
        # A finding ends it with 1, as a wrong answer does.
        compute-sanitizer --tool "$tool" --error-exitcode 1 --print-limit 5 \
            "$bigint" selftest --backend cuda --cases "${CHECKED:-40}" \
            >>"$record.part" 2>&1 || { cat "$record.part"; exit 1; }
    done
    mv "$record.part" "$record"
    grep SUMMARY "$record"
fi

bench() {
    record=$folder/$(date -u +%F)-$1.json
    shift
    # The options are words.
    # shellcheck disable=SC2086
    "$bigint" bench --backend cuda --json "$@" ${BENCH:-} >"$record.part"
    mv "$record.part" "$record"
    echo "$record"
}
tuning=$folder/$(date -u +%F)-tuning
# shellcheck disable=SC2086
"$bigint" tune --backend cuda -o "$tuning.toml" ${TUNE:-} >"$tuning.txt.part"
mv "$tuning.txt.part" "$tuning.txt"
cat "$tuning.txt"
bench auto --operations add,mul
bench wrapping --operations add,sub --wrapping
bench choices --operations add,mul --every-choice
