"""Runs the helper file of agents in its own process, and looks at what it keeps of attempts that ended."""

import gc
import json
import os
import sys
import threading
import time

import journeyman_agent
from journeyman_agent import Agent, Attempt, serve_agent
from journeyman_env import Action, Failure

START = {
    "id": "one",
    "task": {"id": "a", "instruction": "Say it."},
    "seed": 1,
    "temperature": 0.0,
    "time_limit_ms": 1000,
    "steps": [],
    "observation": {"text": "?", "tools": []},
    "skills": [],
}


class Once(Agent):
    def attempt(self, attempt):
        try:
            attempt.act(Action(message="so"))
        except Failure:
            # Refused as well, without a wait.
            attempt.act(Action(message="again"))


def kept(kind):
    gc.collect()
    return [one for one in gc.get_objects() if type(one) is kind]


host_input, child_output = os.pipe()
child_input, host_output = os.pipe()
os.dup2(child_input, 0)
os.dup2(child_output, 1)
threading.Thread(target=serve_agent, args=(Once,), daemon=True).start()
heard = os.fdopen(host_input, "r")


def say(**message):
    os.write(host_output, json.dumps(message).encode() + b"\n")


def hear(kind):
    message = json.loads(heard.readline())
    assert message["type"] == kind, message
    return message


for number in (1, 2):
    say(type="execute", id=number, attempt=START)
    act = hear("act")
    if number == 1:
        seen = {"observation": {"text": "Done.", "tools": []}, "is_error": False, "outcome": None}
        say(type="transition", id=act["id"], transition=seen)
        hear("executed")
    else:
        say(type="cancel", id=number)
        hear("act")
        assert hear("error")["error"]["kind"] == "cancelled"
del act

limit = time.monotonic() + 20
while kept(Attempt) and time.monotonic() < limit:
    time.sleep(0.05)
assert not kept(Attempt), "an attempt is kept"
(desk,) = kept(journeyman_agent._Desk)
assert not desk._open, desk._open
print("nothing is kept", file=sys.stderr)
