#!/bin/sh
# Measures the partitioner beside METIS on the same graphs in one run: planted
# graphs up to a million nodes, and real data if LETHE_DATA names its folder.
# METIS is installed from the system's packages if it is missing.
set -eu
cd "$(dirname "$0")/../../.."
if ! command -v gpmetis >/dev/null; then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get install -y -qq metis >&2
	else
		echo "compare.sh: gpmetis is missing; install the package metis" >&2
		exit 1
	fi
fi
mkdir -p docs/img
"${GO:-go}" run ./lab/benchmarks/partition growth --metis gpmetis --plot docs/img/partition-growth
if [ -n "${LETHE_DATA:-}" ]; then
	"${GO:-go}" run ./lab/benchmarks/partition real --data "$LETHE_DATA" --metis gpmetis
else
	echo "compare.sh: LETHE_DATA is not set, real data left out" >&2
fi
