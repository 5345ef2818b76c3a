"""A tiny environment in Gymnasium's style, wrapped: as text, or with a tool."""

import random
import sys

from journeyman_env import Tool, serve
from journeyman_gym import wrap


class Corridor:
    """Walk to the door by `left` and `right`; five steps at most."""

    def reset(self, seed=None, options=None):
        self.door = random.Random(seed).choice([-2, 2])
        self.at, self.steps = 0, 0
        return {"at": self.at, "door": self.door}, {}

    def step(self, action):
        self.at += {"left": -1, "right": 1}.get(action, 0)
        self.steps += 1
        there = self.at == self.door
        return {"at": self.at, "door": self.door}, 0.75 * there, there, self.steps == 5, {}


def text_of(seen):
    return f"You stand at {seen['at']}, the door is at {seen['door']}."


def direction(call):
    if call.arguments.get("to") not in ("left", "right"):
        raise ValueError("`to` is left or right.")
    return call.arguments["to"]


WALK = Tool("walk", "One step.", {"type": "object", "properties": {"to": {"enum": ["left", "right"]}}})
tools = [WALK] if sys.argv[1:] == ["tools"] else None
serve(
    wrap(
        lambda task: Corridor(),
        name="corridor",
        deterministic=True,
        tools=tools,
        action_of_call=direction,
        text_of=text_of,
    )
)
