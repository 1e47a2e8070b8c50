#!/usr/bin/env bash
# Runs the processes that docker-compose.yml and the chart run, without containers: the roles as processes
# of their own on a Kafka, and a stream that is made up. It ends with a signal, or after COMMAND if one is given.
#
#   BROKERS=kafka:9092 deploy/local/up.sh FOLDER [COMMAND...]
#   integration/kafka/kafka.sh run deploy/local/up.sh FOLDER
#
# FOLDER has the data directories and logs. The API is on 127.0.0.1:8080 (PORT), the other processes answer
# with health checks and metrics on the three ports behind it. STEPS, NODES, RATE shape the stream, PREFIX names the
# topics, CONFIG is more of the configuration file, BINARY a lethe that is built already. COMMAND has the API's address in API.
set -euo pipefail
BROKERS="${BROKERS:-${LETHE_BROKERS:-}}"
[ "$#" -ge 1 ] && [ -n "$BROKERS" ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
# What kafka.sh says to tests is no configuration of lethe.
unset LETHE_BROKERS LETHE_BROKER_DIR LETHE_SASL_BROKER LETHE_MTLS_BROKER LETHE_EXPIRED_BROKER LETHE_BROKER_CERTIFICATES
root="$(cd "$(dirname "$0")/../.." && pwd)"
folder="$1"; shift
port="${PORT:-8080}"
prefix="${PREFIX:-lethe.}"
mkdir -p "$folder"
folder="$(cd "$folder" && pwd)"
if [ -n "${BINARY:-}" ]; then cp "$BINARY" "$folder/lethe"; else (cd "$root" && go build -o "$folder/lethe" ./cmd/lethe); fi
[ -e "$folder/secret" ] || { umask 077; head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$folder/secret"; }
cat >"$folder/lethe.yaml" <<YAML
kafka: {brokers: [$BROKERS], topic_prefix: "$prefix"}
secret_file: $folder/secret
${CONFIG:-}
YAML
if [ ! -e "$folder/stream" ]; then
  "$folder/lethe" generate --out "$folder/stream" --steps "${STEPS:-60}" \
    --nodes-per-step "${NODES:-2000}" >/dev/null
fi
export LETHE_SCORING_FEATURE_NAMES="$folder/stream/feature_names.txt"
pids=()
finish() {
  trap - EXIT INT TERM
  kill "${pids[@]}" 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
}
trap finish EXIT
trap 'exit 0' INT TERM

# ready PORT waits until a process is, and fails if it has ended.
ready() {
  until curl -sf "http://127.0.0.1:$1/readyz" >/dev/null; do
    kill -0 "$2" 2>/dev/null || { tail -n 5 "$folder/$3.log" >&2; exit 1; }
    sleep 0.2
  done
}
at="$port"
for process in view:view build:graphs,erasure train:train score:score; do
  name="${process%%:*}"
  "$folder/lethe" run --config "$folder/lethe.yaml" --data-dir "$folder/$name" --roles "${process#*:}" \
    --http-address "127.0.0.1:$at" 2>"$folder/$name.log" &
  pids+=($!)
  ready "$at" "$!" "$name"
  echo "$name: http://127.0.0.1:$at, log in $folder/$name.log"
  at=$((at + 1))
done
"$folder/lethe" replay --config "$folder/lethe.yaml" --dataset "$folder/stream" --rate "${RATE:-40}" \
  >"$folder/replay.log" 2>&1 &
pids+=($!)
if [ "$#" = 0 ]; then wait "${pids[0]}"; else API="http://127.0.0.1:$port/api/v1" "$@"; fi
