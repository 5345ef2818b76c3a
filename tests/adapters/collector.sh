#!/usr/bin/env bash
# Makes a Python environment with an OpenTelemetry collector (rotel: one binary, shipped in a Python package) and with the
# names of OpenTelemetry's conventions, and prints where the collector is:
#   export $(bash tests/adapters/collector.sh [FOLDER])     default: the user's cache
#   JOURNEYMAN_COLLECTOR     the binary; the conventions are in the same environment (tests/adapters/telemetry.py)
# A second call installs nothing.
set -euo pipefail
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/journeyman/collector}
python=$folder/bin/python
# opentelemetry-semantic-conventions is the released list. The names for generative AI have moved to a repository of their own,
# which is not released as a package; pytest-genai-semconv has them as of a commit that it names. Only files are read, so no
# dependencies are installed.
packages="rotel==0.0.1a15 opentelemetry-semantic-conventions==0.66b2 pytest-genai-semconv==0.1.0"

fail() {
    echo "$*" >&2
    exit 1
}

if [ "$(cat "$folder/installed" 2>/dev/null)" != "$packages" ]; then
    mkdir -p "$folder"
    { python3 -m venv "$folder" && "$python" -m pip --version; } >&2 ||
        fail "python3 with venv is needed: apt-get install python3-venv"
    # shellcheck disable=SC2086
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps $packages >&2 ||
        fail "pip could not install $packages: connect to a Python package index (rotel has binaries for Linux and macOS)"
    printf '%s\n' "$packages" >"$folder/installed"
fi
collector=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/rotel/rotel-agent
"$collector" version >/dev/null || fail "the collector does not start here ($collector); it needs this Python's shared library"
echo "JOURNEYMAN_COLLECTOR=$collector"
