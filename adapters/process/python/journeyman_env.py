"""An environment for Journeyman, in Python: derive from `Environment` and call `serve`.

    from journeyman_env import Action, Environment, Observation, Outcome, Task, Transition, serve

    class Guessing(Environment):
        name = "guessing"
        deterministic = True

        def reset(self, task: Task, seed: int) -> str:
            self.word = task.payload
            return "Name a word."

        def step(self, action: Action) -> Transition:
            if action.message == self.word:
                return Transition("Right.", outcome=Outcome(True))
            return Transition("Another one.", is_error=action.message is None)

    serve(Guessing)

The host starts this file as a process and talks to it in JSON Lines on standard input and output (docs/reference/process-protocol.md).
`serve` keeps standard output for itself: whatever the program prints from then on goes to standard error; before it, print
nothing. Needs Python 3.9 and no package; copy the file next to yours.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import sysconfig
import threading
import traceback
from dataclasses import asdict, dataclass, field
from typing import Any, Callable, Iterator, Optional, Union

PROTOCOL = 1
"""The version of the protocol that this file speaks."""


@dataclass
class Task:
    """A task: `instruction` is the request in words, `payload` the host's data for setting it up (any JSON value)."""

    id: str
    instruction: str
    category: Optional[str] = None
    tags: list[str] = field(default_factory=list)
    payload: Any = None


@dataclass
class Tool:
    """A tool that the agent can call; `input_schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    input_schema: dict[str, Any]


@dataclass
class Observation:
    """What the agent sees. `tools`: in force from here on; None: as before. `untrusted`: anybody may write it.

    `kind` says what the text is to the agent: "result" (what came of an action; data), "user" (what the user says) or
    "event" (something that happened; data).
    """

    text: str
    tools: Optional[list[Tool]] = None
    untrusted: bool = False
    kind: str = "result"


@dataclass
class Call:
    """A call of a tool, with its arguments by name."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass
class Action:
    """Either tool calls, or a message to the user, or, with neither, the end of the turn."""

    calls: list[Call] = field(default_factory=list)
    message: Optional[str] = None

    @property
    def ends_turn(self) -> bool:
        """Whether it is the end of the turn without a message."""
        return not self.calls and self.message is None

    def to_json(self) -> Any:
        """The action as the protocol writes it."""
        if self.message is not None:
            return {"message": self.message}
        return {"call": [asdict(call) for call in self.calls]} if self.calls else "end_turn"

    @staticmethod
    def from_json(value: Any) -> Action:
        """Reads the protocol's form."""
        if value == "end_turn":
            return Action()
        if "message" in value:
            return Action(message=value["message"])
        return Action(calls=[Call(**call) for call in value["call"]])


@dataclass
class Outcome:
    """How a task ended: `score` in [0, 1] (None: 1 for a success, else 0), `parts` any named numbers."""

    success: bool
    score: Optional[float] = None
    parts: dict[str, float] = field(default_factory=dict)


@dataclass
class Transition:
    """The result of an action. `is_error`: the action was refused. `outcome`: exactly when the episode is over."""

    observation: Union[Observation, str]
    is_error: bool = False
    outcome: Optional[Outcome] = None


class Failure(Exception):
    """A failure to report to the host.

    `kind` is one of invalid, not_found, unsupported, rate_limited, timeout, unavailable, model, cancelled. A task that
    cannot be set up is invalid or not_found. Any other exception is reported as unavailable, with its type and text.
    """

    def __init__(self, kind: str, message: str, hint: Optional[str] = None, temporary: bool = False) -> None:
        super().__init__(message)
        self.kind, self.message, self.hint, self.temporary = kind, message, hint, temporary


class Environment:
    """One episode's world. A new object is made for every episode, and its methods are called on one thread."""

    name: str = "environment"
    """The source of its observations."""
    resettable: bool = False
    """Whether a task can be set up again: `reset` finds the world as the first one did, whatever earlier episodes changed.
    Without it each task is attempted once, and nothing is replayed."""
    deterministic: bool = False
    """Whether the same task, seed and actions give the same transitions. It includes `resettable`."""

    def reset(self, task: Task, seed: int) -> Union[Observation, str]:
        """Begins the episode. All randomness must come from `seed`."""
        raise NotImplementedError

    def step(self, action: Action) -> Union[Transition, Observation, str]:
        """Takes an action. Not called again after a transition with an outcome."""
        raise NotImplementedError

    def close(self) -> None:
        """Frees what the episode holds. Called once, also after a failed `reset`."""


_FOLDER = os.path.join(os.path.dirname(os.path.realpath((sys.argv or [""])[0])), "")
_LIBRARIES = tuple(os.path.join(os.path.realpath(sysconfig.get_paths()[name]), "") for name in ("stdlib", "purelib", "platlib"))
_HELPERS = ("journeyman_env.py", "journeyman_gym.py")


def _is_own(path: str) -> bool:
    """Whether a file is the program's, in its folder or below, and not Python's or a package's: its author can mend it."""
    real = os.path.realpath(path) if os.path.isabs(path) else ""
    is_own = real.startswith(_FOLDER) and not real.startswith(_LIBRARIES)
    return is_own and os.path.basename(real) not in _HELPERS


def _place(error: BaseException) -> str:
    """The innermost line of the program's own files; without one, the innermost line of all."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_own(frame.filename)]
    last = (own or frames)[-1]
    return f"{os.path.basename(last.filename)}:{last.lineno}"


class Channel:
    """The protocol's end of standard input and output. From here on, all that is printed goes to standard error."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._input = os.fdopen(os.dup(0), "rb")
        self._output = os.fdopen(os.dup(1), "wb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        # At the level of the system, so that libraries in C and child processes print there too.
        sys.stdout.flush()
        os.dup2(2, 1)
        sys.stdout = sys.stderr

    def say(self, message: dict[str, Any]) -> None:
        """Writes a message as one line; raises ValueError or TypeError for what is no JSON."""
        line = json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"
        with self._lock:
            try:
                self._output.write(line)
                self._output.flush()
            except BrokenPipeError:
                pass  # The host is gone; standard input ends too.

    def answer(self, request: int, make: Callable[[], dict[str, Any]]) -> bool:
        """Answers a request with what `make` gives, or with its failure. Whether it is an answer."""
        try:
            self.say({"id": request, **make()})
            return True
        except Failure as failure:
            fields = {"kind": failure.kind, "message": failure.message, "hint": failure.hint}
            self.say({"type": "error", "id": request, "error": {**fields, "temporary": failure.temporary}})
        except Exception as error:  # pylint: disable=broad-except
            traceback.print_exc()
            fields = {"kind": "unavailable", "message": f"{type(error).__name__}: {error} ({_place(error)})"}
            hint = "this is an exception of the process, raised at or below the given line; the whole traceback is on its standard error"
            self.say({"type": "error", "id": request, "error": {**fields, "hint": hint}})
        return False

    def messages(self) -> Iterator[dict[str, Any]]:
        """The host's messages, until it closes standard input."""
        for line in self._input:
            yield json.loads(line)

    def hello(self, message: dict[str, Any], part: str, name: str, capabilities: dict[str, bool] = {}) -> None:
        """Answers the host's `hello`."""
        fields = {"type": "hello", "id": message["id"], "protocol": PROTOCOL, "part": part, "name": name}
        self.say({**fields, "capabilities": capabilities})


def _observation(seen: Union[Observation, str]) -> dict[str, Any]:
    observation = asdict(Observation(seen) if isinstance(seen, str) else seen)
    if observation["tools"] is None:
        del observation["tools"]
    if observation["kind"] == "result":
        del observation["kind"]
    return observation


class _Episode:
    """An episode on a thread of its own."""

    def __init__(self, channel: Channel, make: Callable[[], Environment]) -> None:
        self._channel, self._make = channel, make
        self._environment: Optional[Environment] = None
        self._over = False
        self.requests: queue.Queue[dict[str, Any]] = queue.Queue()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self) -> None:
        while True:
            request = self.requests.get()
            work = {"reset": self._reset, "step": self._step, "close": self._close}[request["type"]]
            self._channel.answer(request["id"], lambda: work(request))
            if request["type"] == "close":
                return

    def _reset(self, request: dict[str, Any]) -> dict[str, Any]:
        self._environment = self._make()
        seen = self._environment.reset(Task(**request["task"]), request["seed"])
        return {"type": "observation", "observation": _observation(seen)}

    def _step(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._environment is None or self._over:
            raise Failure("invalid", "the episode is over", "begin another one")
        result = self._environment.step(Action.from_json(request["action"]))
        if not isinstance(result, Transition):
            result = Transition(result)
        self._over = result.outcome is not None
        outcome = asdict(result.outcome) if result.outcome else None
        transition = {"observation": _observation(result.observation), "is_error": bool(result.is_error), "outcome": outcome}
        return {"type": "transition", "transition": transition}

    def _close(self, _: dict[str, Any]) -> dict[str, Any]:
        environment, self._environment = self._environment, None
        if environment is not None:
            environment.close()
        return {"type": "closed"}


def serve(make: Callable[[], Environment]) -> None:
    """Serves episodes until the host closes standard input. `make` makes the world of one episode; often the class."""
    channel = Channel()
    episodes: dict[int, _Episode] = {}
    described = make()
    for message in channel.messages():
        if message["type"] == "hello":
            deterministic = described.deterministic
            capabilities = {"resettable": described.resettable or deterministic, "deterministic": deterministic}
            channel.hello(message, "environment", described.name, capabilities)
        elif message["type"] == "reset":
            episodes[message["episode"]] = _Episode(channel, make)
            episodes[message["episode"]].requests.put(message)
        elif message["type"] == "step" and message["episode"] in episodes:
            episodes[message["episode"]].requests.put(message)
        elif message["type"] == "close":
            episode = episodes.pop(message["episode"], None)
            if episode is None:
                channel.say({"type": "closed", "id": message["id"]})
            else:
                episode.requests.put(message)
        elif message["type"] != "cancel":
            # A step under way cannot be stopped; its answer is passed over by the host.
            fields = {"kind": "invalid", "message": "there is no such episode, or no such request"}
            channel.say({"type": "error", "id": message["id"], "error": fields})
    for episode in episodes.values():
        episode.requests.put({"type": "close", "id": 0})
    for episode in episodes.values():
        episode.thread.join(timeout=1)
