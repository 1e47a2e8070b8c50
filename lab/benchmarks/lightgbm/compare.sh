#!/bin/sh
# Scores a stream with the script that a team would write with LightGBM instead of lethe. Creates a
# Python environment with the packages of requirements.txt, once.
#
#   ./compare.sh FOLDER --seeds 3
#   VENV=~/lightgbm ./compare.sh FOLDER --columns neighbours --set num_threads=1
#
# On a busy machine set OMP_WAIT_POLICY=passive: waiting threads of LightGBM spin otherwise, and its
# processor time can be ten times as long.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=${VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/lethe-benchmark-lightgbm}
if [ ! -x "$venv/bin/python" ]; then
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet -r "$here/requirements.txt"
fi
exec "$venv/bin/python" "$here/score.py" "$@"
