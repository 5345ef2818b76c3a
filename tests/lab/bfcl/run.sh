#!/usr/bin/env bash
# `journeyman run` on BFCL's multi-turn tasks: bash tests/lab/bfcl/run.sh OUT MODEL-LINES...
#   OUT          a new folder, for the run's file, its tasks and the library
#   MODEL-LINES  the lines of [model], such as 'gguf = "/path/model.gguf"', or 'server = "http://127.0.0.1:8000/v1"' 'name = "m"'
# JOURNEYMAN names the command (journeyman), ARGUMENTS further ones of `journeyman run` (such as --json), COUNT the tasks to take
# (all), HELD_OUT those of them to measure with (20), DATA a folder with BFCL's tasks and the tools' documents (the package's, the
# tasks of even number).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ "$#" -lt 2 ]; then
    sed -n '2,7s/^# //p' "$0" >&2
    exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
data=()
if [ -n "${DATA:-}" ]; then data=(--data "$(cd "$DATA" && pwd)"); fi
python=$(bash "$here/setup.sh")
"$python" "$here/python/bfcl_tasks.py" "${data[@]}" --as-tasks >"$out/all.jsonl"
head -n "${COUNT:-1000}" "$out/all.jsonl" >"$out/tasks.jsonl"
quoted() { printf '"%s"' "$1"; }
{
    printf 'name = "bfcl"\ntasks = "tasks.jsonl"\nheld_out = %s\nsteps = 40\n\n[model]\n' "${HELD_OUT:-20}"
    printf '%s\n' "$@"
    printf '\n[world]\nprogram = %s\n' "$(quoted "$python")"
    printf 'arguments = ['
    for argument in "$here/python/bfcl_world.py" "${data[@]}"; do printf '%s, ' "$(quoted "$argument")"; done
    printf ']\nenvironment = { PYTHONPATH = %s }\ntrusted = true\n' \
        "$(quoted "$(cd "$here/../../../adapters/process/python" && pwd)")"
} >"$out/run.toml"
# shellcheck disable=SC2086 # several arguments
exec "${JOURNEYMAN:-journeyman}" run "$out/run.toml" ${ARGUMENTS:-}
