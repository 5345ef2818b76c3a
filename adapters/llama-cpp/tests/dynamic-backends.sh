#!/usr/bin/env bash
# All tests of this adapter with llama.cpp's backends as libraries that are loaded at run time, the processor's too: first
# found by llama.cpp where it was built, then out of a folder that it does not know. Not part of CI: it compiles llama.cpp
# once more, with a library for each kind of processor.
# usage: bash adapters/llama-cpp/tests/dynamic-backends.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."
. tests/setup.sh

# A folder of its own: the features of llama.cpp are another build.
export CARGO_TARGET_DIR=$CARGO_TARGET_DIR-dynamic
tests=(cargo test --package journeyman-llama-cpp --features dynamic-backends)
"${tests[@]}" --no-run

# The build that the tests are linked to.
script=$("${tests[@]}" --no-run --message-format json 2>/dev/null |
    python3 -c 'import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if said["reason"] == "build-script-executed" and "llama-cpp-sys-2" in said["package_id"]:
        print(said["out_dir"])')
out=${script##*$'\n'}
: "${out:?cargo names no build of llama.cpp}"
# From a run that was ended in between.
[[ -d $out/backends || ! -d $out/moved ]] || mv --no-target-directory "$out/moved" "$out/backends"
export LD_LIBRARY_PATH=$out/lib
"${tests[@]}" -- --skip models_compute_on_what_is_loaded_from_a_folder

rm -rf "$out/moved"
trap '[[ ! -d $out/moved ]] || mv --no-target-directory "$out/moved" "$out/backends"' EXIT
mv --no-target-directory "$out/backends" "$out/moved"
JOURNEYMAN_TEST_BACKENDS=$out/moved "${tests[@]}" --test backends
