#!/usr/bin/env bash
# `journeyman run` on BFCL's multi-turn tasks: bash examples/bfcl/run.sh DATA OUT MODEL-LINES...
#   DATA         the folder with BFCL's tasks and the tools' documents
#   OUT          a new folder, for the run's file, its tasks and the library
#   MODEL-LINES  the lines of [model], such as 'gguf = "model.gguf"', or 'server = "http://127.0.0.1:8000/v1"' 'name = "m"'
# JOURNEYMAN names the command (journeyman), COUNT the tasks to take (all), HELD_OUT those of them to measure with (20).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ "$#" -lt 3 ]; then
    sed -n '2,6s/^# //p' "$0" >&2
    exit 2
fi
data=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
python=$(bash "$here/setup.sh")
"$python" "$here/python/bfcl_tasks.py" --data "$data" --as-tasks >"$out/all.jsonl"
head -n "${COUNT:-1000}" "$out/all.jsonl" >"$out/tasks.jsonl"
{
    printf 'name = "bfcl"\ntasks = "tasks.jsonl"\nheld_out = %s\nsteps = 40\n\n[model]\n' "${HELD_OUT:-20}"
    printf '%s\n' "$@"
    printf '\n[world]\nprogram = "%s"\narguments = ["%s", "--data", "%s"]\n' "$python" "$here/python/bfcl_world.py" "$data"
    printf 'environment = { PYTHONPATH = "%s" }\ntrusted = true\n' "$(cd "$here/../../adapters/process/python" && pwd)"
} >"$out/run.toml"
exec "${JOURNEYMAN:-journeyman}" run "$out/run.toml"
