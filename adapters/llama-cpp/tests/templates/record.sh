#!/usr/bin/env bash
# Renders conversations with transformers by the published chat templates, and prints the folder that then holds the templates
# and the recordings:
#   export JOURNEYMAN_TEMPLATES=$(bash adapters/llama-cpp/tests/templates/record.sh [--write])
# The templates come from a pinned source distribution on PyPI; README.md says which of them are kept beside this file. Fails
# where these, or recorded.json beside them, are not what the sources give; with --write, recorded.json is replaced.
# JOURNEYMAN_TEMPLATES_ENV is the folder of the environment and the templates (in the user's cache).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${JOURNEYMAN_TEMPLATES_ENV:-${XDG_CACHE_HOME:-$HOME/.cache}/journeyman/templates}
python=$folder/env/bin/python
package=llama_cpp_python-0.3.16
sha256=34ed0f9bd9431af045bb63d9324ae620ad0536653740e9bb163a2e1fcb973be6
if ! "$python" -c 'import transformers, jinja2' 2>/dev/null; then
    python3 -m venv "$folder/env" >&2 || {
        echo "python3 with venv is needed: apt-get install python3-venv" >&2
        exit 1
    }
    "$python" -m pip install --quiet --disable-pip-version-check transformers==5.23.0 tokenizers==0.23.3 jinja2==3.1.6 >&2
fi
archive=$folder/$package.tar.gz
if ! [ -e "$archive" ]; then
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary llama-cpp-python --dest "$folder" \
        llama-cpp-python==0.3.16 >&2
fi
echo "$sha256  $archive" | sha256sum --check --quiet >&2
out=$folder/recorded
rm -rf "$out"
mkdir -p "$out"
tar -xzf "$archive" -C "$out" --strip-components 5 "$package/vendor/llama.cpp/models/templates"
"$python" "$here/record.py" "$out" >&2
for kept in "$here"/*.jinja; do
    cmp "$kept" "$out/$(basename "$kept")" >&2
done
if [ "${1:-}" = --write ]; then
    cp "$out/recorded.json" "$here/recorded.json"
fi
cmp "$here/recorded.json" "$out/recorded.json" >&2
echo "$out"
