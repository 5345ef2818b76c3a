"""An agent for the tests: says the words of the instruction, one a step, and uses the first skill."""

import os
import time

from journeyman_agent import Agent, Attempt, serve_agent
from journeyman_env import Action


class Speller(Agent):
    name = "speller"

    def attempt(self, attempt: Attempt):
        if attempt.skills:
            attempt.used(attempt.skills[0])
        if len(attempt.skills) > 1:
            attempt.used(attempt.skills[1], followed=False)
        if attempt.task.category == "dies":
            attempt.act(Action(message="last words"))
            os._exit(4)
        if attempt.task.category == "hangs":
            attempt.act(Action(message="so far"))
            time.sleep(600)
        for word in attempt.task.instruction.split(" ")[len(attempt.steps):]:
            attempt.prompt_tokens += 3
            attempt.output_tokens += 1
            if attempt.steps or attempt.prompt_tokens > 3:
                attempt.guide()
            if attempt.act(Action(message=word), transcript=f"I say {word}").outcome:
                return None
        return "step_budget" if attempt.task.category == "long" else None


serve_agent(Speller)
