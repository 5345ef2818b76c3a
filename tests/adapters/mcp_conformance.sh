#!/usr/bin/env bash
# Installs the official conformance package of MCP, in the release that has scenarios on skills, with a Node.js that it runs
# on, and prints the command:
#   export JOURNEYMAN_MCP_CONFORMANCE=$(bash tests/adapters/mcp_conformance.sh [FOLDER])     default: the user's cache
# npm is needed. A second call installs nothing.
set -euo pipefail
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/journeyman/mcp-conformance}
# The stable 0.1.16 has no scenarios on skills. Node.js of Debian is older than what this release needs.
packages="@modelcontextprotocol/conformance@0.2.0-alpha.12 node@22.23.3"
program=$folder/conformance

fail() {
    echo "$*" >&2
    exit 1
}

if [ "$(cat "$folder/installed" 2>/dev/null)" != "$packages" ]; then
    command -v npm >/dev/null || fail "npm is needed: apt-get install npm"
    mkdir -p "$folder"
    # shellcheck disable=SC2086
    npm install --prefix "$folder" --no-audit --no-fund --silent $packages >&2 ||
        fail "npm could not install $packages: connect to an npm registry"
    cat >"$program" <<'END'
#!/usr/bin/env bash
modules=$(dirname "${BASH_SOURCE[0]}")/node_modules
exec "$modules/node/bin/node" "$modules/@modelcontextprotocol/conformance/dist/index.js" "$@"
END
    chmod +x "$program"
    printf '%s\n' "$packages" >"$folder/installed"
fi
"$program" list >/dev/null || fail "the conformance package does not start here ($program)"
echo "$program"
