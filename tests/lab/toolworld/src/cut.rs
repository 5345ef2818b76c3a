//! The cut of a recorded attempt into subgoals by the contract that its agent cannot see, apart from any wording.

use journeyman::domain::{Action, Step, Trace};
use journeyman::{Error, Result};

use crate::environment::{Setup, command};
use crate::policy::Exchange;
use crate::refusal::Refusal;
use crate::simulate::{Outcome, Reply, Simulation};
use crate::tool::{Demand, ToolName};

/// Neighbouring steps of one kind.
pub(crate) struct Part {
    /// As [`kind_of_step`] names it.
    pub(crate) kind: &'static str,
    /// The tool of the last call; `None` where the last step makes none.
    pub(crate) tool: Option<ToolName>,
    /// The first and the last step, from 0.
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// The purpose of a step: `probe`, `prepare`, `collect`, `stray` or `finish`.
pub(crate) fn kind_of_step(contract: &[Demand], exchange: &Exchange) -> &'static str {
    match &exchange.reply.outcome {
        Outcome::Done => "finish",
        Outcome::Accepted(Some(_)) => "collect",
        Outcome::Accepted(None) => {
            let called = ToolName::parse(&exchange.call);
            let needed = contract
                .iter()
                .any(|demand| demand.helper() == called.as_ref());
            if needed { "prepare" } else { "stray" }
        }
        Outcome::Refused(
            Refusal::NeedsCall(_) | Refusal::NeedsValue(_) | Refusal::NeedsResult { .. },
        ) => "probe",
        Outcome::Refused(_) => "stray",
    }
}

/// The parts of an attempt. What was recorded is replayed in its world, so words of the agent have no part in it.
///
/// # Errors
/// `Invalid` for an attempt whose task is no task of toolworld, and for one that its world answers otherwise than was recorded.
pub(crate) fn parts(attempt: &Trace) -> Result<Vec<Part>> {
    let world = Setup::of(&attempt.task)?.world;
    let mut simulation = Simulation::start(world, attempt.world_seed.0);
    let mut parts: Vec<Part> = Vec::new();
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
        let kind = kind_of_step(contract, &exchange);
        let tool = tool_of(step);
        match parts.last_mut() {
            Some(before) if before.kind == kind => (before.last, before.tool) = (number, tool),
            _ => parts.push(Part {
                kind,
                tool,
                first: number,
                last: number,
            }),
        }
    }
    Ok(parts)
}

/// The tool of a step's last call.
fn tool_of(step: &Step) -> Option<ToolName> {
    match &step.action {
        Action::Call(calls) => ToolName::parse(&calls.last()?.tool.replacen('_', " ", 1)),
        _ => None,
    }
}

/// The last call of a step that the world answered, with the answer. Of several calls none is made behind one that is refused, that
/// does the task or that spends the budget: each call that was made has a line of the result.
fn replayed(simulation: &mut Simulation, step: &Step) -> Exchange {
    let calls = match &step.action {
        Action::Call(calls) => calls.as_slice(),
        _ => &[],
    };
    let mut exchange: Option<Exchange> = None;
    let answers = step.result.text.lines().count().max(1);
    for line in calls.iter().take(answers).map(command) {
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
