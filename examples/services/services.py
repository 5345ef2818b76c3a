"""A toy world in Python: small services, some of which demand what no task tells. `journeyman run run.toml` learns in it.

A service's demand is hidden from the agent: another call has to come first, a setting has to have one value, or a
setting takes what another call gives. The service says so when it refuses. The next task about the same service has
other words and values, and the same demand: this is what a skill can hold. The tasks in tasks.jsonl come from
toolworld (`cargo run -p journeyman-toolworld --bin tasks`), which the bundled model was trained in.
"""

from __future__ import annotations

import random

from journeyman_env import Action, Call, Environment, Failure, Observation, Outcome, Task, Tool, Transition, serve

BUDGET = 8
"""Calls of one task."""


class Refused(Exception):
    """A call that a service refuses, with its reason."""


class Services(Environment):
    """One task: the services that it shows, the one to call, and what that one demands."""

    name = "services"
    deterministic = True

    def reset(self, task: Task, seed: int) -> Observation:
        payload = task.payload
        if not isinstance(payload, dict) or not {"tools", "target", "given", "demands"} <= payload.keys():
            raise Failure("invalid", "the payload has no tools, target, given and demands", "take tasks.jsonl")
        self.tools = {tool["name"]: tool["input_schema"]["properties"] for tool in payload["tools"]}
        self.target, self.given, self.demands = payload["target"], payload["given"], payload["demands"]
        self.called: list[str] = []
        self.calls = self.refusals = 0
        self.done = False
        self.result = self._draw(random.Random(seed))
        return Observation(task.instruction, [Tool(**tool) for tool in payload["tools"]])

    def step(self, action: Action) -> Transition:
        said, refused = [], False
        for call in action.calls:
            self.calls += 1
            try:
                said.append(self._call(call))
            except Refused as reason:
                said.append(f"error {reason}")
                refused = True
                self.refusals += 1
            if refused or self.done or self.calls >= BUDGET:
                break
        if action.message is not None:
            self.calls += 1
            said, refused = ["error bad call"], True
        over = self.done or action.ends_turn or self.calls >= BUDGET
        return Transition("\n".join(said) or "ok", refused, self._outcome() if over else None)

    def _call(self, call: Call) -> str:
        settings = {name: str(value) for name, value in call.arguments.items()}
        if call.tool not in self.tools:
            raise Refused(f"no tool {spoken(call.tool)}")
        for name in settings:
            if name not in self.tools[call.tool]:
                raise Refused(f"{spoken(call.tool)} has no {name}")
        if call.tool != self.target:
            self.called.append(call.tool)
            gives = any(demand.get("from") == call.tool for demand in self.demands)
            return f"ok {self.result[0]} {self.result[1]}" if gives else "ok"
        for demand in self.demands:
            if "before" in demand and demand["before"] not in self.called:
                raise Refused(f"needs {spoken(demand['before'])}")
            name, source = demand.get("parameter"), demand.get("from")
            if "value" in demand and settings.get(name) != demand["value"]:
                raise Refused(f"needs {name} {demand['value']}")
            if source and (source not in self.called or settings.get(name) != self.result[1]):
                raise Refused(f"needs {name} from {spoken(source)}")
        for name, value in self.given.items():
            if settings.get(name) != value:
                raise Refused(f"wrong {name}")
        self.done = True
        return "done"

    def _draw(self, random_: random.Random) -> tuple[str, str]:
        """The parameter that another call gives, and its value: none that the task or a demand names."""
        taken = {*self.given.values(), *(demand.get("value") for demand in self.demands)}
        for demand in self.demands:
            if "from" in demand:
                schema = self.tools[self.target][demand["parameter"]]
                values = schema.get("enum") or [str(number) for number in range(1, 100)]
                return demand["parameter"], random_.choice([value for value in values if value not in taken])
        return "", ""

    def _outcome(self) -> Outcome:
        fewest = 1 + sum("before" in demand or "from" in demand for demand in self.demands)
        first = self.done and self.refusals == 0 and self.calls == fewest
        score = fewest / self.calls if self.done else 0.0
        return Outcome(self.done, score, {"first_attempt": float(first)})


def spoken(name: str) -> str:
    """A tool's name as the services say it."""
    return name.replace("_", " ", 1)


if __name__ == "__main__":
    serve(Services)
