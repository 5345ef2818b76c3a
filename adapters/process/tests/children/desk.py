"""A world for the tests: the agent guesses a number drawn from the seed, among other things."""

import os
import random
import sys
import time
from dataclasses import dataclass

from drawers.lower import lock
from journeyman_env import Action, Environment, Failure, Observation, Outcome, Task, Tool, Transition, serve

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
GUESS = Tool("guess", "Guesses the number.", SCHEMA)


@dataclass(frozen=True)
class Key:
    """Its methods are made from text, which no file holds."""

    teeth: int


class Desk(Environment):
    name = "desk"
    deterministic = True

    def reset(self, task: Task, seed: int) -> Observation:
        print("noise that belongs on standard error")
        os.write(1, b"noise below Python\n")
        if task.payload == "unknown":
            raise Failure("not_found", "there is no such desk", "name another one")
        if task.payload == "tells":
            secret = "the password=hunter2hunter2 " + "x" * 3000
            raise Failure("unavailable", secret, secret)
        if task.payload == "raises":
            raise KeyError("drawer")
        if task.payload == "raises below":
            lock(None)
        if task.payload == "raises in text":
            Key(1).teeth = 2
        if task.payload == "raises without arguments":
            sys.argv.clear()
            raise KeyError("key")
        self.number = random.Random(seed).randrange(1000)
        return Observation(f"A number below 1000 was drawn: {self.number}.", [GUESS])

    def step(self, action: Action):
        if action.message == "hang":
            time.sleep(600)
        if action.message == "die":
            print("the desk collapses; password=hunter2hunter2", file=sys.stderr)
            sys.stderr.flush()
            os._exit(3)
        if action.message == "variables":
            return " ".join(sorted(os.environ))
        if action.message == "child":
            import subprocess

            self.helper = subprocess.Popen(["/bin/sleep", "600"])
            return str(self.helper.pid)
        if action.message == "score":
            return Transition("?", outcome=Outcome(True, 7.0))
        if action.message == "page":
            return Observation("from the web", untrusted=True)
        if action.message == "alarm":
            return Observation("The bell rings.", kind="event")
        if action.message is not None:
            return Observation(action.message, kind="user")
        if action.ends_turn:
            return Transition("The turn is yours.", is_error=True)
        (call,) = action.calls
        if call.tool != "guess":
            return Transition(f"There is no {call.tool}.", is_error=True)
        if call.arguments["n"] == self.number:
            return Transition("Right.", outcome=Outcome(True, 0.5, {"guesses": 1.0}))
        return "More." if call.arguments["n"] < self.number else "Less."


serve(Desk)
