#!/usr/bin/env bash
# Data, training and export of the bundled model in one command; run again to continue where it stopped.
#   bash tests/lab/apprentice/train.sh [--seed N] [--tokens N] [--type f16|q8_0|f32] [--out DIR] [--work DIR]
#     [-- OPTIONS of train.py, such as --width 256 --layers 8 --heads 8 --feed-forward 704]
# It uses a GPU where torch finds one, else two cores. A run has one schedule, by tokens or with `-- --seconds N`.
# `-- --stop-after SECONDS` saves and stops, and the next run goes on. `-- --from FILE.gguf` begins with the weights of an earlier
# run, on the text of this seed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
seed=1 tokens=68000000 out=$here work=$root/out/apprentice type=f16
while [ $# -gt 0 ]; do
  case $1 in
    --seed) seed=$2 ;;
    --tokens) tokens=$2 ;;
    --out) out=$2 ;;
    --work) work=$2 ;;
    --type) type=$2 ;;
    --) shift; break ;;
    *) echo "unknown argument $1; see the head of $0" >&2; exit 2 ;;
  esac
  shift 2
done
# shellcheck source=../../setup.sh
. "$root/tests/setup.sh"
# torch.compile writes C++ that includes Python.h.
if ! python3 -c 'import ensurepip, os, sysconfig, venv; open(os.path.join(sysconfig.get_path("include"), "Python.h"))' \
  2>/dev/null || ! command -v g++ >/dev/null; then
  echo "python3 lacks venv or its headers, or g++ is missing; run: apt-get install python3-venv python3-dev g++" >&2
  exit 1
fi
mkdir -p "$work" "$out"
if ! cmp -s "$here/requirements.txt" "$work/venv/installed"; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$work/venv/installed"
fi
export OMP_NUM_THREADS=1
processes=2
if "$work/venv/bin/python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then processes=1; fi
# Text of other worlds than today's, or of other prompts, is made anew.
toolworld=$root/tests/lab/toolworld/src
made=$(cat "$toolworld"/*.rs "$toolworld"/*/*.rs "$toolworld"/general/*/*.rs "$root"/skills/role-*/SKILL.md \
  "$root"/sdk/src/agent/chat_format.rs "$root"/sdk/src/agent/chat_format/*.rs "$root"/sdk/src/agent/role/*.rs | cksum)
corpus=$work/corpus-$seed run=$work/run-$seed
if [ "$(cat "$corpus/made" 2>/dev/null)" != "$made $tokens" ]; then
  cargo run --quiet --manifest-path "$root/Cargo.toml" --package journeyman-toolworld --bin general_corpus -- \
    --seed "$seed" --tokens "$tokens" --out "$corpus"
  echo "$made $tokens" >"$corpus/made"
fi
"$work/venv/bin/torchrun" --standalone --nproc-per-node "$processes" "$here/train.py" --corpus "$corpus" \
  --out "$run" --seed "$seed" --tokens "$tokens" "$@"
"$work/venv/bin/python" "$here/export.py" --checkpoint "$run/checkpoint.pt" --corpus "$corpus" --type "$type" \
  --template "$toolworld/general/chatml.jinja" --out "$out/apprentice.gguf" --folder "$out/apprentice"
