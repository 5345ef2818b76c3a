"""A desk that closes a ticket only after its customer was verified, for the tests of `journeyman run`."""

from journeyman_env import Action, Environment, Observation, Outcome, Task, Tool, Transition, serve

TOOLS = [Tool(name, name, {"type": "object"}) for name in ("verify_customer", "close_ticket")]


class Desk(Environment):
    name = "desk"
    deterministic = True

    def reset(self, task: Task, seed: int) -> Observation:
        self.verified = False
        return Observation(task.instruction, TOOLS)

    def step(self, action: Action) -> Transition:
        called = [call.tool for call in action.calls]
        self.verified |= "verify_customer" in called
        if "close_ticket" in called:
            if not self.verified:
                return Transition("the customer is not verified: call verify_customer first", True)
            return Transition("closed", outcome=Outcome(True))
        return Transition("verified", outcome=None if called else Outcome(False))


serve(Desk)
