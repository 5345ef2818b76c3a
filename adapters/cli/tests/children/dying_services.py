"""The world of `examples/services`, whose process ends once without a word: at the first step of the task whose id is the first
argument. The second one names the file that says that it did."""

import os
import pathlib
import sys

from journeyman_env import Action, Observation, Task, Transition, serve
from services import Services

LAST, DIED = sys.argv[1], pathlib.Path(sys.argv[2])


class Dying(Services):
    def reset(self, task: Task, seed: int) -> Observation:
        self.is_last = task.id == LAST
        return super().reset(task, seed)

    def step(self, action: Action) -> Transition:
        if self.is_last and not DIED.exists():
            DIED.touch()
            os._exit(3)
        return super().step(action)


serve(Dying)
