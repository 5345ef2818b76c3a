#!/usr/bin/env bash
# Renders conversations with transformers by published chat templates, and prints the folder that then holds the templates and
# the recordings:
#   export JOURNEYMAN_TEMPLATES=$(bash adapters/llama-cpp/tests/templates/record.sh [--write] [FOLDER])
# The templates come from a pinned source distribution on PyPI, and those of FOLDER besides, such as a user's own; README.md says
# which are kept beside this file. Fails where recorded.json beside it is not what the sources give; with --write, the kept
# templates and recorded.json are replaced.
# JOURNEYMAN_TEMPLATES_ENV is the folder of the environment and the templates (in the user's cache).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${JOURNEYMAN_TEMPLATES_ENV:-${XDG_CACHE_HOME:-$HOME/.cache}/journeyman/templates}
python=$folder/env/bin/python
version=0.3.36
package=llama_cpp_python-$version
sha256=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
is_written=false
if [ "${1:-}" = --write ]; then
    is_written=true
    shift
fi
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
        "llama-cpp-python==$version" >&2
fi
echo "$sha256  $archive" | sha256sum --check --quiet >&2
out=$folder/recorded
rm -rf "$out"
mkdir -p "$out"
tar -xzf "$archive" -C "$out" --strip-components 5 "$package/vendor/llama.cpp/models/templates"
rm -f "$out/README.md"
for kept in "$here"/*.jinja; do
    if $is_written; then
        cp "$out/$(basename "$kept")" "$kept"
    fi
    cmp "$kept" "$out/$(basename "$kept")" >&2
done
if [ -n "${1:-}" ]; then
    cp --no-preserve=mode "$1"/*.jinja "$out"
fi
cp "$here"/*.jinja "$out"
"$python" "$here/record.py" "$out" >&2
if $is_written; then
    cp "$out/recorded.json" "$here/recorded.json"
fi
cmp "$here/recorded.json" "$out/recorded.json" >&2
echo "$out"
