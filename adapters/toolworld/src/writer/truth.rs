//! The true cut of an attempt into subgoals, by the contract that its agent cannot see.

use journeyman::domain::{Action, Segmentation, Step, Subgoal, Trace};
use journeyman::{Error, Result};

use super::assessing::{purpose, tool_at};
use crate::environment::{Setup, command};
use crate::policy::Exchange;
use crate::roles::subgoal;
use crate::simulate::{Outcome, Reply, Simulation};

/// The cut that the task's world gives: neighbouring steps of one purpose are one subgoal, and its skill is the tool of its last
/// call. What was recorded is replayed in the world, so the agent's and the model's words have no part in it. The subgoals have the
/// words that [`ApprenticeRoles`](super::ApprenticeRoles) reads from the bundled model's answers, whose training text was cut by the
/// same rule.
///
/// # Errors
/// `Invalid` for an attempt without steps, one whose task is no task of toolworld, and one that its world answers otherwise than
/// was recorded.
pub fn true_cut(attempt: &Trace) -> Result<Segmentation> {
    let world = Setup::of(&attempt.task)?.world;
    let mut simulation = Simulation::start(world, attempt.world_seed.0);
    let mut subgoals: Vec<Subgoal> = Vec::new();
    for (number, step) in attempt.trajectory.steps.iter().enumerate() {
        let exchange = replayed(&mut simulation, step);
        let refused = matches!(exchange.reply.outcome, Outcome::Refused(_));
        if refused != step.result.is_error {
            let rule = "the world answers otherwise than the attempt has it";
            return Err(Error::invalid("true_cut", rule)
                .with("attempt", &attempt.trajectory.attempt)
                .with("step", number)
                .hint("cut attempts that were recorded in this world, with their seed"));
        }
        let target = simulation.world().target();
        let contract = target.map_or(&[][..], |service| &service.contract);
        let meant = purpose(subgoal(contract, &exchange)).unwrap_or_default();
        let skill = tool_at(attempt, number).unwrap_or_default();
        match subgoals.last_mut() {
            Some(before) if before.subgoal == meant => {
                before.last = number;
                before.skill = skill;
            }
            _ => subgoals.push(Subgoal {
                subgoal: meant.to_owned(),
                skill,
                first: number,
                last: number,
            }),
        }
    }
    Segmentation::new(subgoals, attempt.trajectory.steps.len())
}

/// The last call of a step that the world answered, with the answer. Of several calls none is made behind one that is refused or
/// that does the task.
fn replayed(simulation: &mut Simulation, step: &Step) -> Exchange {
    let calls = match &step.action {
        Action::Call(calls) => calls.as_slice(),
        _ => &[],
    };
    let mut exchange: Option<Exchange> = None;
    for line in calls.iter().map(command) {
        let reply = simulation.call(&line);
        let is_last = matches!(reply.outcome, Outcome::Refused(_) | Outcome::Done);
        exchange = Some(Exchange { call: line, reply });
        if is_last {
            break;
        }
    }
    exchange.unwrap_or_else(|| Exchange {
        call: String::new(),
        reply: match step.action {
            // The world accepts the end of a turn.
            Action::EndTurn => Reply {
                text: String::new(),
                outcome: Outcome::Accepted(None),
            },
            _ => simulation.call(""),
        },
    })
}
