"""BFCL's multi-turn tasks as an environment of Journeyman, on the package bfcl-eval.

    python bfcl_world.py [--data FOLDER] [--state]

FOLDER has the tools' documents, such as ticket_api.json; the package's own are the default.

A task's payload is `{"entry": the task's line, "ground_truth": its expected calls by turn}`. The first observation is
the user's first request; the agent ends a turn by a message or by the end of the turn, and the next request is the next
observation. After the last turn the official checker judges the calls of all turns.

The package evaluates calls as Python text. Here that text is written from a parsed name and literal arguments, for the
tools of the task alone. With `--state`, the observation after a turn begins with a line `state SHA256`: a digest of
what the services hold.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import re
import threading
from pathlib import Path
from typing import Any

import bfcl_eval
from bfcl_eval.constants.executable_backend_config import MULTI_TURN_FUNC_DOC_FILE_MAPPING
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker
from journeyman_env import Action, Call, Environment, Failure, Observation, Outcome, Task, Tool, Transition, serve

# The package names its services by the text that is given as the model's name and keeps them in a module's globals.
_number = itertools.count()
# The checker and the services were written for one thread: a judgement imports, evaluates and compares by globals.
_package = threading.Lock()

_TYPES = {"dict": "object", "float": "number", "tuple": "array", "list": "array"}


def json_schema(described: Any) -> Any:
    """The JSON Schema of a parameter, from BFCL's description, which has Python's names of types."""
    if isinstance(described, list):
        return [json_schema(part) for part in described]
    if not isinstance(described, dict):
        return described
    made = {name: json_schema(value) for name, value in described.items()}
    kind = made.get("type")
    if isinstance(kind, str):
        made["type"] = _TYPES.get(kind, kind)
        if kind == "any":
            del made["type"]
    return made


def literal(value: Any) -> str:
    """A JSON value as a Python literal; no text has an opening parenthesis, which the package takes for a call."""
    if isinstance(value, str):
        return repr(value).replace("(", "\\x28")
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(literal(part) for part in value) + "]"
    return "{" + ", ".join(f"{literal(name)}: {literal(part)}" for name, part in value.items()) + "}"


def call_text(call: Call) -> str:
    """A call as the package evaluates it. Its names are identifiers: `World` has checked them."""
    return f"{call.tool}({', '.join(f'{name}={literal(value)}' for name, value in call.arguments.items())})"


def described(value: Any, within: tuple[int, ...] = ()) -> str:
    """What a value holds, as text: equal for equal values. A value within itself, such as a parent, is left out."""
    if id(value) in within:
        return "..."
    inner = (*within, id(value))
    if isinstance(value, dict):
        return repr(sorted((repr(name), described(part, inner)) for name, part in value.items()))
    if isinstance(value, (list, tuple)):
        return repr([described(part, inner) for part in value])
    if hasattr(value, "__dict__"):
        public = {name: part for name, part in vars(value).items() if not name.startswith("_")}
        return type(value).__name__ + described(public, inner)
    return repr(value)


class World(Environment):
    """One task of BFCL."""

    name = "bfcl"
    deterministic = True
    documents = Path(".")
    shows_state = False

    def reset(self, task: Task, seed: int) -> Observation:
        payload = task.payload
        if not isinstance(payload, dict) or not {"entry", "ground_truth"} <= payload.keys():
            raise Failure("invalid", "the payload has no `entry` and `ground_truth`", "make tasks by bfcl_tasks.py")
        self.entry, self.expected = payload["entry"], payload["ground_truth"]
        unknown = set(self.entry["involved_classes"]) - MULTI_TURN_FUNC_DOC_FILE_MAPPING.keys()
        if unknown or len(self.expected) != len(self.entry["question"]):
            raise Failure("invalid", f"unknown services {sorted(unknown)}, or other turns than expected calls")
        self.model = f"journeyman_{next(_number)}"
        self.tools = self._tools()
        # The calls of each turn, in steps: what the checker is given.
        self.turns: list[list[list[str]]] = [[]]
        return Observation(self._request(), list(self.tools.values()), kind="user")

    def step(self, action: Action) -> Transition:
        if action.calls:
            return self._call(action.calls)
        state = f"state {self._state()}\n" if self.shows_state else ""
        if len(self.turns) == len(self.expected):
            return Transition(f"{state}The task is over.", outcome=Outcome(self._is_valid()))
        self.turns.append([])
        return Transition(Observation(state + self._request(), kind="user"))

    def close(self) -> None:
        _forget(getattr(self, "model", None))

    def _tools(self) -> dict[str, Tool]:
        excluded = self.entry.get("excluded_function", [])
        tools = {}
        for service in self.entry["involved_classes"]:
            file = self.documents / MULTI_TURN_FUNC_DOC_FILE_MAPPING[service]
            for line in file.read_text(encoding="utf-8").splitlines():
                described = json.loads(line)
                if described["name"] not in excluded:
                    schema = json_schema(described["parameters"])
                    tools[described["name"]] = Tool(described["name"], described["description"], schema)
        return tools

    def _request(self) -> str:
        return "\n".join(message["content"] for message in self.entry["question"][len(self.turns) - 1])

    def _call(self, calls: list[Call]) -> Transition:
        for call in calls:
            tool = self.tools.get(call.tool)
            if tool is None:
                return Transition(f"There is no tool {call.tool}.", is_error=True)
            known = tool.input_schema.get("properties", {})
            for name in call.arguments:
                if name not in known or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                    return Transition(f"{call.tool} has no argument {name}.", is_error=True)
        texts = [call_text(call) for call in calls]
        results, _ = self._execute(texts)
        self.turns[-1].append(texts)
        failed = all(result.startswith(("Error during execution:", '{"error":')) for result in results)
        return Transition("\n".join(results), is_error=failed)

    def _execute(self, texts: list[str]) -> tuple[list[str], dict[str, Any]]:
        """The texts of the results, and the services by name."""
        entry = self.entry
        with _package:
            return multi_turn_utils.execute_multi_turn_func_call(
                texts, entry["initial_config"], entry["involved_classes"], self.model, entry["id"]
            )

    def _state(self) -> str:
        _, services = self._execute([])
        return hashlib.sha256(described(services).encode()).hexdigest()

    def _is_valid(self) -> bool:
        model = f"{self.model}_judged"
        with _package:
            verdict = multi_turn_checker(self.turns, self.expected, self.entry, "multi_turn_base", model)
        _forget(model)
        return bool(verdict["valid"])


def _forget(model: str | None) -> None:
    """Frees the services of an episode, which the package keeps for ever."""
    if model is not None:
        with _package:
            for name in [name for name in vars(multi_turn_utils) if name.startswith(f"{model}_")]:
                delattr(multi_turn_utils, name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    packaged = Path(bfcl_eval.__path__[0]) / "data" / "multi_turn_func_doc"
    parser.add_argument("--data", type=Path, default=packaged)
    parser.add_argument("--state", action="store_true")
    options = parser.parse_args()
    World.documents, World.shows_state = options.data, options.state
    serve(World)
