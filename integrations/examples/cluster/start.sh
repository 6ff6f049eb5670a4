#!/usr/bin/env bash
# One scheduler and two executors on this machine, on the loopback alone, until Ctrl-C.
# PORT=50050, TASKS (of each executor) and PROFILE=release may be set. PROGRAMS is a folder of programs
# that are built already.
set -euo pipefail
cd "$(dirname "$0")/../.."

port=${PORT:-50050}
tasks=${TASKS:-$((($(nproc) + 1) / 2))}
profile=${PROFILE:-release}
if [ -z "${PROGRAMS:-}" ]; then
    cargo build --profile "$profile" -p bigint-ballista -p bigint-sql
fi
built=${CARGO_TARGET_DIR:-target}/$([ "$profile" = dev ] && echo debug || echo "$profile")
programs=${PROGRAMS:-$built}

trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
"$programs/bigint-scheduler" --listen "127.0.0.1:$port" &
scheduler=$!
until (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    kill -0 "$scheduler" 2>/dev/null || exit 1
    sleep 0.1
done
for _ in 1 2; do
    "$programs/bigint-executor" --scheduler "127.0.0.1:$port" --tasks "$tasks" &
done

cat <<END
The cluster is df://127.0.0.1:$port. In another terminal, in $PWD:

  $programs/bigint-sql 'SELECT value AS n, big_pow(3, value) AS p FROM generate_series(1, 2000)' -o powers.parquet
  $programs/bigint-sql 'SELECT n % 7 AS k, big_bits(big_product(p)) AS bits, max(p) AS p FROM t GROUP BY k ORDER BY p' \\
      --table t=powers.parquet --cluster df://127.0.0.1:$port -o products.csv

Kill one executor meanwhile, if you like. Ctrl-C ends the cluster.
END
wait "$scheduler"
