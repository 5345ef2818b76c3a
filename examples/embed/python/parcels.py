"""A parcel room: a parcel is weighed, then given the one right stamp. Start it through journeyman-process."""

import random

from journeyman_env import Action, Environment, Failure, Observation, Outcome, Task, Tool, Transition, serve

NOTHING = {"type": "object", "properties": {}}
STAMP = {"type": "object", "properties": {"cents": {"type": "integer"}}, "required": ["cents"]}
TOOLS = [Tool("weigh", "Weighs the parcel.", NOTHING), Tool("stamp", "Puts a stamp on the parcel.", STAMP)]


class ParcelRoom(Environment):
    name = "parcel room"
    deterministic = True  # all randomness comes from the seed

    def reset(self, task: Task, seed: int) -> Observation:
        if not isinstance(task.payload, dict) or "to" not in task.payload:
            raise Failure("invalid", "the payload has no `to`", 'give a payload such as {"to": "Bern"}')
        self.grams = random.Random(seed).randrange(1, 20) * 100
        self.weighed = False
        return Observation(f"A parcel to {task.payload['to']} lies on the table.", TOOLS)

    def step(self, action: Action) -> Transition:
        if len(action.calls) != 1:
            return Transition("Call one tool at a time.", is_error=True)
        call = action.calls[0]
        if call.tool == "weigh":
            self.weighed = True
            return Transition(f"The parcel weighs {self.grams} g; 100 g cost 50 cents.")
        if call.tool != "stamp":
            return Transition(f"There is no tool {call.tool}.", is_error=True)
        if not self.weighed:
            return Transition("Weigh the parcel first.", is_error=True)
        right = call.arguments.get("cents") == self.grams // 2
        return Transition("The parcel is on its way.", outcome=Outcome(right))


if __name__ == "__main__":
    serve(ParcelRoom)
