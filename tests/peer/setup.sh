#!/usr/bin/env bash
# llama.cpp as others ship it: the prebuilt library of node-llama-cpp, for `figures.sh real-models`. Prints the folder.
# usage: bash tests/peer/setup.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${XDG_CACHE_HOME:-$HOME/.cache}/journeyman/peer
command -v npm >/dev/null || {
    echo "the peer needs Node.js 20 or later with npm: install both, and run this again" >&2
    exit 1
}
mkdir -p "$folder"
if [ ! -d "$folder/node_modules/node-llama-cpp" ]; then
    echo "fetching node-llama-cpp 3.22.1 into $folder" >&2
    # Its script after installation would look for a build; the prebuilt library needs none.
    (cd "$folder" && npm install --silent --no-audit --no-fund --ignore-scripts --prefix . node-llama-cpp@3.22.1 >&2)
fi
cp "$here/bench.mjs" "$folder/"
printf '%s\n' "$folder"
