#!/usr/bin/env bash
# Data, training and export of the bundled model in one command; run again to continue where it stopped.
#   bash examples/apprentice/train.sh [--seed N] [--minutes N] [--tokens N] [--out DIR] [--work DIR]
# 38 million tokens took 77 minutes on two cores that were also compiling. --minutes bounds the time of training, --tokens its amount.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seed=1 minutes=0 tokens=38000000 out=$here work=$root/out/apprentice
while [ $# -gt 0 ]; do
  case $1 in
    --seed) seed=$2 ;;
    --minutes) minutes=$2 ;;
    --tokens) tokens=$2 ;;
    --out) out=$2 ;;
    --work) work=$2 ;;
    *) echo "unknown argument $1; see the head of $0" >&2; exit 2 ;;
  esac
  shift 2
done
# shellcheck source=../../tests/setup.sh
. "$root/tests/setup.sh"
if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
  echo "python3 lacks venv; run: apt-get install python3-venv python3-dev g++" >&2
  exit 1
fi
mkdir -p "$work" "$out"
if [ ! -x "$work/venv/bin/torchrun" ]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
fi
if [ ! -f "$work/corpus-$seed/done" ]; then
  cargo run --quiet --manifest-path "$root/Cargo.toml" --package journeyman-toolworld --bin corpus -- \
    --seed "$seed" --tokens 64000000 --out "$work/corpus-$seed"
  touch "$work/corpus-$seed/done"
fi
export OMP_NUM_THREADS=1
"$work/venv/bin/torchrun" --nproc-per-node 2 "$here/train.py" --corpus "$work/corpus-$seed" --out "$work/run-$seed" \
  --seed "$seed" --minutes "$minutes" --tokens "$tokens"
"$work/venv/bin/python" "$here/export.py" --checkpoint "$work/run-$seed/checkpoint.pt" \
  --vocabulary "$work/corpus-$seed/vocabulary.json" --out "$out/apprentice.gguf"
