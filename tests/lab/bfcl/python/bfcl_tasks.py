"""Reads BFCL's files and writes one JSON object a line: a task's entry, its expected calls as text, and parsed.

    python bfcl_tasks.py [--data FOLDER] [--name multi_turn_base.even] [--as-tasks]

Without `--data`, the tasks of even number that the package bfcl-eval brings are taken.

`calls` has, for each turn, calls as `{"tool": ..., "arguments": {...}}`. Positional arguments get the names that the
tool's document gives at their places. Nothing is evaluated: names and literals only. With `--as-tasks` each line is a task
for `journeyman run`, whose payload is what bfcl_world.py reads.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
from pathlib import Path
from typing import Any


def parsed(text: str, parameters: dict[str, list[str]]) -> dict[str, Any]:
    """A call as a tool's name and arguments by name; ValueError for anything but a call with literals."""
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in parameters:
        raise ValueError(f"no call of a known tool: {text}")
    places = parameters[call.func.id]
    arguments = {places[place]: ast.literal_eval(value) for place, value in enumerate(call.args)}
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in arguments:
            raise ValueError(f"no plain arguments: {text}")
        arguments[keyword.arg] = ast.literal_eval(keyword.value)
    return {"tool": call.func.id, "arguments": arguments}


def lines(file: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON Lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def packaged() -> tuple[Path, list[dict[str, Any]], list[dict[str, Any]]]:
    """The package's folder of documents, its tasks of even number, and the answers of all."""
    package = importlib.util.find_spec("bfcl_eval")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("the package bfcl-eval is not installed: run tests/lab/bfcl/setup.sh and use what it prints")
    data = Path(package.submodule_search_locations[0]) / "data"
    file = "BFCL_v4_multi_turn_base.json"
    entries = [entry for entry in lines(data / file) if int(entry["id"].rsplit("_", 1)[1]) % 2 == 0]
    return data / "multi_turn_func_doc", entries, lines(data / "possible_answer" / file)


def main() -> None:
    """Writes the tasks to standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--name", default="multi_turn_base.even")
    parser.add_argument("--as-tasks", action="store_true")
    options = parser.parse_args()
    if options.data:
        documents = options.data
        entries = lines(options.data / f"{options.name}.jsonl")
        answers = lines(options.data / f"{options.name}.answers.jsonl")
    else:
        documents, entries, answers = packaged()
    parameters = {
        tool["name"]: list(tool["parameters"].get("properties", {}))
        for file in sorted(documents.glob("*.json"))
        for tool in lines(file)
    }
    expected_of = {answer["id"]: answer["ground_truth"] for answer in answers}
    for entry in entries:
        expected = expected_of[entry["id"]]
        if options.as_tasks:
            asked = "\n".join(message["content"] for message in entry["question"][0])
            print(json.dumps({"id": entry["id"], "instruction": asked, "payload": {"entry": entry, "ground_truth": expected}}))
            continue
        calls = [[parsed(text, parameters) for text in turn] for turn in expected]
        print(json.dumps({"entry": entry, "ground_truth": expected, "calls": calls}))


if __name__ == "__main__":
    main()
