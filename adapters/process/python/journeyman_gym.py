"""Wraps a text environment with Gymnasium's methods for Journeyman. Needs journeyman_env.py beside it.

    from journeyman_env import serve
    from journeyman_gym import wrap

    serve(wrap(lambda task: MyTextEnv(task.payload["level"]), name="my game", deterministic=True))

The environment has `reset() -> (observation, info)` and `step(action) -> (observation, reward, terminated, truncated,
info)`. Gymnasium itself is not needed. Without `tools` the agent's messages are the actions, as text; with them, its
calls are, as `action_of_call` translates them.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Optional

from journeyman_env import Action, Call, Environment, Observation, Outcome, Task, Tool, Transition


def earned_reward(reward: float, terminated: bool, info: dict[str, Any]) -> bool:
    """The default judgement of an episode's end: it terminated, not by a limit of steps, with a last reward above 0."""
    return terminated and reward > 0


def wrap(
    make: Callable[[Task], Any],
    *,
    name: str,
    deterministic: bool = False,
    tools: Optional[list[Tool]] = None,
    action_of_call: Callable[[Call], Any] = lambda call: call.tool,
    text_of: Callable[[Any], str] = str,
    succeeded: Callable[[float, bool, dict[str, Any]], bool] = earned_reward,
) -> Callable[[], Environment]:
    """What `serve` takes, for environments that `make` makes, one an episode.

    `deterministic`: the same task, seed and actions give the same transitions. `tools`: calls of these are the actions,
    one a step; `action_of_call` makes the environment's action of one, and raises ValueError for arguments that it
    refuses. `text_of` writes an observation as text. `succeeded(last reward, terminated, info)` judges the end; the
    outcome's score is the last reward in [0, 1], its part `return` the sum of all.
    """
    # Gymnasium's `reset` begins anew, in an environment of its own for each episode.
    described = {"name": name, "resettable": True, "deterministic": deterministic}

    def action_of(action: Action) -> Any:
        if tools is None:
            if action.message is None:
                raise ValueError("Act by a message: its text is the action.")
            return action.message
        if len(action.calls) != 1:
            raise ValueError("Act by one call of a tool.")
        call = action.calls[0]
        if call.tool not in [tool.name for tool in tools]:
            raise ValueError(f"There is no tool {call.tool}.")
        return action_of_call(call)

    class Wrapped(Environment):
        """One episode of the wrapped environment."""

        def reset(self, task: Task, seed: int) -> Observation:
            self._inner = make(task)
            self._sum = 0.0
            # Gymnasium's seeds have 32 bits.
            offered = {"seed": seed % 2**32, "options": {"task": task.payload}}
            observation, _ = self._inner.reset(**_accepted(self._inner.reset, offered))
            return Observation(text_of(observation), tools)

        def step(self, action: Action) -> Transition:
            try:
                chosen = action_of(action)
            except ValueError as error:
                return Transition(str(error), is_error=True)
            observation, reward, terminated, truncated, info = self._inner.step(chosen)
            reward = float(reward)
            self._sum += reward
            outcome = None
            if terminated or truncated:
                score = min(max(reward, 0.0), 1.0)
                outcome = Outcome(bool(succeeded(reward, bool(terminated), info)), score, {"return": self._sum})
            return Transition(text_of(observation), outcome=outcome)

        def close(self) -> None:
            inner = getattr(self, "_inner", None)
            if hasattr(inner, "close"):
                inner.close()

    for field, value in described.items():
        setattr(Wrapped, field, value)
    return Wrapped


def _accepted(function: Callable[..., Any], offered: dict[str, Any]) -> dict[str, Any]:
    """Those of the arguments that a function takes."""
    parameters = inspect.signature(function).parameters
    takes_all = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    return {name: value for name, value in offered.items() if takes_all or name in parameters}
