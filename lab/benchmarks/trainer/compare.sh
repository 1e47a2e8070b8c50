#!/bin/sh
# Compares lethe's shard-steps per second with PyTorch Geometric's. Makes a Python
# environment in a folder of its own, once, and removes nothing.
#
#   ./compare.sh --rounds 9 --seconds 1
#   VENV=~/pyg ./compare.sh --cases elliptic:1024 --kernels fma portable
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=${VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/lethe-benchmark-pyg}
if [ ! -x "$venv/bin/python" ]; then
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet -r "$here/requirements.txt"
fi
steps=$(mktemp -d)
trap 'rm -rf "$steps"' EXIT
(cd "$here" && go build -o "$steps/steps" ./steps)
"$venv/bin/python" "$here/compare.py" --steps "$steps/steps" "$@"
