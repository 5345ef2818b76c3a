//! The roles beside acting, as the bundled model plays them: what it is shown, and how its words are read.

mod evolving;
mod judging;
mod writing;

use journeyman::contract::{GenerateRequest, RoleAnswer, RoleRequest, RoleTask, Roles};
use journeyman::domain::{Injection, RoleRule, Sampling, Trace, Trajectory};
use journeyman::{Error, ErrorKind, Result};

use crate::dialect::{head, tools_of, transcript};
use crate::roles::{MOST_RULES, Role, Rule, noted};
use crate::script::{Script, choice};
use crate::tool::Tool;

/// The most tokens of an answer.
pub(crate) const ANSWER_TOKENS: usize = 96;
/// The most attempts that are compared at once.
const COMPARED: usize = 3;
/// The most skills of a prompt that the model tells apart.
const SKILLS: usize = 2;

/// Asks the bundled model in the worlds' compact language ([`crate::roles`]).
///
/// It shows what the model was trained on and leaves out the rest: rules that [`Rule::parse`] does not read; attempts
/// beside the first for a summary or a repair, and beside the last three of a group; a group's skills and reason, and its
/// calls of tools that an attempt did not have; the cases that a skill fails. A repair and a credit are `Unsupported`
/// where the skill stood behind two others, and a comparison of fewer than two attempts is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApprenticeRoles;

impl Roles for ApprenticeRoles {
    fn prompt(&self, request: &RoleRequest<'_>) -> Result<GenerateRequest> {
        let task = request.task;
        let rules = readable(rules_of(task));
        let (attempts, asked) = shown(task)?;
        let script = match (task, attempts.as_slice()) {
            (RoleTask::Evolve { rows, .. }, _) => evolving::script(rows),
            (RoleTask::Refactor { .. }, attempts) => writing::compared(attempts),
            (_, [attempt, ..]) => told(role_of(task)?, attempt),
            _ => return Err(absent("there is no attempt to show")),
        };
        let mut generate = ask(role_of(task)?, asked, noted(script, &rules));
        generate.sampling = sampling(request);
        Ok(generate)
    }

    fn read(&self, request: &RoleRequest<'_>, text: &str) -> Result<RoleAnswer> {
        match request.task {
            RoleTask::Attribute { attempt, skill } => judging::credit(attempt, *skill, text),
            RoleTask::Bundle { attempt, .. } => judging::cases(attempt, text),
            RoleTask::Evolve { rules, rows, .. } => evolving::read(rules, rows, text),
            task => writing::read(task, &readable(rules_of(task)), text),
        }
    }

    fn fallback(&self, task: &RoleTask) -> Option<RoleAnswer> {
        let RoleTask::Summarize { attempts } = task else {
            return None;
        };
        let draft = writing::abstracted(attempts.first());
        Some(RoleAnswer::Draft(Box::new(draft)))
    }
}

/// What a role is asked about an attempt that was made: extract, lesson, repair, credit, segment or curate. Compare,
/// score, tag and rule are about something else, and shown it in another form ([`Role::case`]).
///
/// `asked` is the place of the skill in question, for the roles that are asked about one. The skills that the attempt had
/// are shown too, except where a skill is extracted: there it counts what was done, and not on whose advice.
#[must_use]
pub fn role_request(
    role: Role,
    asked: Option<usize>,
    attempt: &Trace,
    rules: &[Rule],
) -> GenerateRequest {
    ask(role, asked, noted(told(role, attempt), rules))
}

/// An attempt as the model saw it.
fn told(role: Role, attempt: &Trace) -> Script {
    let injection = match role {
        Role::Extract => &Injection::NONE,
        _ => &attempt.trajectory.injection,
    };
    let tools = tools_shown(&attempt.trajectory);
    let head = head(&attempt.task.instruction, injection, &tools);
    transcript(head.plan(), &attempt.trajectory.steps)
}

/// Opens a role behind what it is about.
fn ask(role: Role, asked: Option<usize>, script: Script) -> GenerateRequest {
    let mut script = script.control(role.opening(), false);
    if asked.is_some() {
        script = script.control(choice(asked), false);
    }
    let mut generate = GenerateRequest::greedy(script.prompt(), ANSWER_TOKENS);
    generate.stop = ["<end>", "<s>", "<call>", "<obs>"]
        .map(str::to_owned)
        .to_vec();
    generate
}

/// Greedy at first; further candidates and repairs are drawn, each otherwise.
fn sampling(request: &RoleRequest<'_>) -> Sampling {
    let candidate = match request.task {
        RoleTask::Extract { candidate, .. } => *candidate,
        _ => 0,
    };
    let draw = match request.failed {
        Some(_) => "repair",
        None if candidate > 0 => "candidate",
        None => return Sampling::GREEDY,
    };
    Sampling {
        temperature: 0.7,
        top_p: 0.95,
        seed: request.seed.derive(draw, candidate.into()),
    }
}

/// The role of the model that plays one of the SDK's.
fn role_of(task: &RoleTask) -> Result<Role> {
    match task {
        RoleTask::Summarize { .. } | RoleTask::Extract { .. } => Ok(Role::Extract),
        RoleTask::Refactor { .. } => Ok(Role::Compare),
        RoleTask::Refine { .. } => Ok(Role::Repair),
        RoleTask::Attribute { .. } => Ok(Role::Credit),
        RoleTask::Bundle { .. } => Ok(Role::Segment),
        RoleTask::Evolve { .. } => Ok(Role::Rule),
        _ => Err(refused("the bundled model does not play this role")),
    }
}

/// The attempts that the model is shown, and the place of the skill that it is asked about.
fn shown(task: &RoleTask) -> Result<(Vec<&Trace>, Option<usize>)> {
    match task {
        RoleTask::Refactor { attempts, .. } => match attempts.as_slice() {
            [] | [_] => Err(refused("there are fewer than two attempts to compare")),
            several => Ok((several.iter().rev().take(COMPARED).rev().collect(), None)),
        },
        RoleTask::Refine {
            skill, attempts, ..
        } => {
            let this = skill.reference();
            let place = |trace: &Trace| {
                let mut skills = trace.trajectory.injection.skills.iter();
                skills.position(|injected| injected.skill == this)
            };
            let stood = attempts
                .iter()
                .filter_map(|trace| Some((trace, place(trace)?)));
            // The first in which it stood among the first two, if there is one.
            let (trace, place) = stood
                .min_by_key(|(_, place)| (*place).max(SKILLS - 1))
                .ok_or_else(|| absent("the skill stood in the prompt of none of the attempts"))?;
            Ok((vec![trace], Some(told_apart(place)?)))
        }
        RoleTask::Attribute { attempt, skill } => {
            if *skill >= attempt.trajectory.injection.skills.len() {
                return Err(absent("the attempt's prompt had no such skill").with("skill", skill));
            }
            Ok((vec![attempt], Some(told_apart(*skill)?)))
        }
        other => Ok((other.attempts().iter().take(1).collect(), None)),
    }
}

/// A skill's place in a prompt, where the model can be asked about it.
fn told_apart(place: usize) -> Result<usize> {
    if place < SKILLS {
        return Ok(place);
    }
    Err(
        refused("the bundled model tells the first two skills of a prompt apart and no more")
            .with("place", place + 1)
            .hint("put at most two skills into a prompt"),
    )
}

fn absent(message: &'static str) -> Error {
    Error::invalid("Roles::prompt", message)
}

fn refused(message: &'static str) -> Error {
    Error::unsupported("Roles::prompt", message)
}

/// An answer that cannot be used.
fn unusable(message: impl Into<String>, text: &str) -> Error {
    Error::new(ErrorKind::Model, "Roles::read", message.into())
        .with("text", format!("{:?}", clip(text)))
}

fn rules_of(task: &RoleTask) -> &[RoleRule] {
    match task {
        RoleTask::Extract { rules, .. }
        | RoleTask::Refactor { rules, .. }
        | RoleTask::Refine { rules, .. } => rules,
        _ => &[],
    }
}

/// The rules that the model can read, the first ones, as many as it was trained on.
fn readable(rules: &[RoleRule]) -> Vec<Rule> {
    let read = |rule: &RoleRule| Rule::parse(&rule.0);
    rules.iter().filter_map(read).take(MOST_RULES).collect()
}

fn tools_shown(trajectory: &Trajectory) -> Vec<Tool> {
    let first = trajectory.steps.first();
    first
        .and_then(|step| tools_of(&step.observation).ok())
        .unwrap_or_default()
}

fn clip(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
