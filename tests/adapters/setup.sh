#!/usr/bin/env bash
# Sets up what the figures of the group `adapters` and the ignored tests of the adapters need, and prints the variables:
#   eval "$(bash tests/adapters/setup.sh)"
# Python 3 with venv, npm, a C++ compiler and cmake are needed; a second call installs nothing. The model servers are compiled once
# (some 15 minutes on 2 cores). What could not be set up is told on standard error and left out: its figures are missing.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if ! command -v python3 >/dev/null; then
    echo "python3 is needed: apt-get install python3 python3-venv" >&2
    exit 1
fi
# value NAME SCRIPT: of a script that prints one path.
value() {
    local path
    if path=$(bash "$root/$2"); then
        printf 'export %s=%q\n' "$1" "$path"
    else
        echo "left out: $1 ($2 failed)" >&2
    fi
}
# lines SCRIPT: of a script that prints NAME=PATH.
lines() {
    local printed
    if printed=$(bash "$root/$1"); then
        printf '%s\n' "$printed" | sed 's/^/export /'
    else
        echo "left out: the variables of $1" >&2
    fi
}
value ORT_DYLIB_PATH tests/adapters/fastembed.sh
value JOURNEYMAN_BFCL_PYTHON tests/lab/bfcl/setup.sh
value JOURNEYMAN_MCP_PYTHON tests/adapters/mcp.sh
value JOURNEYMAN_MCP_CONFORMANCE tests/adapters/mcp_conformance.sh
value JOURNEYMAN_TEMPLATES adapters/llama-cpp/tests/templates/record.sh
lines tests/adapters/collector.sh
lines tests/adapters/servers.sh
