"""An agent for Journeyman, in Python: derive from `Agent` and call `serve_agent`. Needs journeyman_env.py beside it.

    from journeyman_agent import Agent, Attempt, serve_agent
    from journeyman_env import Action

    class Speller(Agent):
        name = "speller"

        def attempt(self, attempt: Attempt) -> None:
            for word in attempt.task.instruction.split(" ")[len(attempt.steps):]:
                if attempt.act(Action(message=word)).outcome:
                    return

    serve_agent(Speller)

The host acts in the episode, records the steps and keeps the time limit; the agent decides.
"""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from typing import Any, Callable, Optional

from journeyman_env import Action, Channel, Failure, Observation, Outcome, Task, Tool, Transition


@dataclass(frozen=True)
class Skill:
    """A skill with its text as it is written into the prompt."""

    id: str
    version: int
    text: str


@dataclass(frozen=True)
class Step:
    """A step that the host took before the agent's first one."""

    action: Action
    text: str
    is_error: bool
    kind: str = "result"
    """As in `Observation`."""


def _observation(value: dict[str, Any]) -> Observation:
    tools = [Tool(**tool) for tool in value.get("tools") or []]
    return Observation(value["text"], tools, value.get("untrusted", False), value.get("kind", "result"))


class _Desk:
    """The requests of all attempts, and where their answers go."""

    def __init__(self) -> None:
        self.channel = Channel()
        self._lock = threading.Lock()
        self._last = 0
        self._open: dict[int, queue.Queue[dict[str, Any]]] = {}

    def send(self, request: dict[str, Any], answers: queue.Queue[dict[str, Any]]) -> int:
        with self._lock:
            self._last += 1
            number = self._last
            self._open[number] = answers
        self.channel.say({**request, "id": number})
        return number

    def forget(self, number: int) -> None:
        """Expects no answer to a request any more."""
        with self._lock:
            self._open.pop(number, None)

    def deliver(self, answer: dict[str, Any]) -> None:
        with self._lock:
            answers = self._open.pop(answer["id"], None)
        if answers is not None:
            answers.put(answer)


class Attempt:
    """An attempt at a task: what is known at its start, and the way to act."""

    def __init__(self, desk: _Desk, execution: int, start: dict[str, Any]) -> None:
        self._desk, self._execution = desk, execution
        self.answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self.id: str = start["id"]
        self.task = Task(**start["task"])
        self.seed: int = start["seed"]
        self.temperature: float = start["temperature"]
        self.time_limit: float = start["time_limit_ms"] / 1000
        """Seconds."""
        self.steps = [Step(Action.from_json(s["action"]), s["text"], s["is_error"], s.get("kind", "result")) for s in start["steps"]]
        self.observation = _observation(start["observation"])
        """The current one."""
        self.skills = [Skill(**skill) for skill in start["skills"]]
        """Those of the first turn."""
        self.prompt_tokens = 0
        self.output_tokens = 0
        """Tokens spent; the agent counts them here."""

    def act(self, action: Action, transcript: str = "") -> Transition:
        """Acts in the episode. `transcript`: the agent's own words for this step."""
        answer = self._ask({"type": "act", "action": action.to_json(), "transcript": transcript})["transition"]
        self.observation = _observation(answer["observation"])
        outcome = answer.get("outcome")
        return Transition(self.observation, answer["is_error"], Outcome(**outcome) if outcome else None)

    def guide(self) -> list[Skill]:
        """The skills for the next turn. Without it an agent keeps to those of the first turn."""
        return [Skill(**skill) for skill in self._ask({"type": "guide"})["skills"]]

    def used(self, skill: Skill, followed: bool = True) -> None:
        """Reports whether the agent followed a skill. Of a skill that is never reported nobody knows."""
        said = {"type": "used", "execution": self._execution, "skill": skill.id, "version": skill.version}
        said["followed"] = followed
        self._desk.channel.say(said)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        number = self._desk.send({**request, "execution": self._execution}, self.answers)
        answer = self.answers.get()
        if answer["type"] == "cancel":
            # It stays for further requests: the host answers none of them.
            self.answers.put(answer)
            self._desk.forget(number)
            raise Failure("cancelled", "the host ended the attempt")
        if answer["type"] == "error":
            raise Failure(**answer["error"])
        return answer


class Agent:
    """An agent. A new object is made for every attempt."""

    name: str = "agent"

    def attempt(self, attempt: Attempt) -> Optional[str]:
        """Acts until a transition has an outcome or it gives up.

        Returns why it ended: gave_up (as None), step_budget or unreadable; after an outcome it does not matter.
        """
        raise NotImplementedError


class _Attempts:
    """The attempts under way, by the ids of their requests."""

    def __init__(self, desk: _Desk, make: Callable[[], Agent]) -> None:
        self._desk, self._make = desk, make
        self._lock = threading.Lock()
        self._open: dict[int, Attempt] = {}

    def begin(self, request: int, start: dict[str, Any]) -> None:
        attempt = Attempt(self._desk, request, start)
        with self._lock:
            self._open[request] = attempt
        threading.Thread(target=self._execute, args=(attempt, request), daemon=True).start()

    def cancel(self, message: dict[str, Any]) -> None:
        attempt = self._end(message["id"])
        if attempt is not None:
            attempt.answers.put(message)

    def _end(self, request: int) -> Optional[Attempt]:
        with self._lock:
            return self._open.pop(request, None)

    def _execute(self, attempt: Attempt, request: int) -> None:
        def answer() -> dict[str, Any]:
            end = self._make().attempt(attempt) or "gave_up"
            usage = {"prompt_tokens": attempt.prompt_tokens, "output_tokens": attempt.output_tokens}
            return {"type": "executed", "end": end, "usage": usage}

        try:
            self._desk.channel.answer(request, answer)
        finally:
            self._end(request)


def serve_agent(make: Callable[[], Agent]) -> None:
    """Serves attempts, several at once, until standard input ends. `make` makes an agent; often it is the class."""
    desk = _Desk()
    attempts = _Attempts(desk, make)
    for message in desk.channel.messages():
        kind = message["type"]
        if kind == "hello":
            desk.channel.hello(message, "executor", make().name)
        elif kind == "execute":
            attempts.begin(message["id"], message["attempt"])
        elif kind == "cancel":
            attempts.cancel(message)
        else:
            desk.deliver(message)
