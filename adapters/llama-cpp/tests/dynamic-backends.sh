#!/usr/bin/env bash
# A model on backends out of a folder that llama.cpp does not know. All other tests run on those that it finds where it was built.
# Not part of CI: nothing else may use the build meanwhile.
# usage: bash adapters/llama-cpp/tests/dynamic-backends.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."
. tests/setup.sh

tests=(cargo test --package journeyman-llama-cpp --features dynamic-backends --test it)
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

rm -rf "$out/moved"
trap '[[ ! -d $out/moved ]] || mv --no-target-directory "$out/moved" "$out/backends"' EXIT
mv --no-target-directory "$out/backends" "$out/moved"
JOURNEYMAN_TEST_BACKENDS=$out/moved "${tests[@]}" -- --ignored backends::
