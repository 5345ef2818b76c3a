#!/usr/bin/env bash
# Makes a Python environment with the official MCP client and the official reference server of time, and prints its
# interpreter:
#   export JOURNEYMAN_MCP_PYTHON=$(bash tests/adapters/mcp.sh [FOLDER])     default: the user's cache
set -euo pipefail
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/journeyman/mcp}
python=$folder/bin/python
if ! "$python" -c 'import mcp.client.streamable_http, mcp_server_time' 2>/dev/null; then
    python3 -m venv "$folder" >&2 || {
        echo "python3 with venv is needed: apt-get install python3-venv" >&2
        exit 1
    }
    "$python" -m pip install --quiet --disable-pip-version-check mcp==2.3.0 mcp-server-time==2026.10.19 >&2
    "$python" -c 'import mcp.client.streamable_http, mcp_server_time'
fi
echo "$python"
