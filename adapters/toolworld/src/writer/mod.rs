//! [`ApprenticeRoles`]: the SDK's roles played by the bundled model, with its prompts and the parser of its answers.

mod assessing;
mod curating;
mod evolving;
mod judging;
mod lesson;
mod shown;
mod truth;
mod unusable;
mod writing;

use journeyman::Result;
use journeyman::contract::{GenerateRequest, RoleAnswer, RoleRequest, RoleTask, Roles};
use journeyman::domain::{Injection, Role as Played, RoleRule, Sampling, Trace};

pub use truth::true_cut;

use self::shown::{absent, refused, shown, tools_shown};
use crate::dialect::{head, transcript};
use crate::roles::{MOST_RULES, Role, Rule, with_rule_notes};
use crate::script::{Script, choice};

/// Maximum tokens of an answer.
pub(crate) const ANSWER_TOKENS: usize = 96;
/// [`Roles`] for the bundled model, in the worlds' compact language ([`crate::roles`]).
///
/// Prompts contain only what the model was trained on, except an open judgement: it was trained to score by a checklist, and
/// without one it is asked all the same. There is one wording for cutting an attempt. Left out are: rules that
/// [`Rule::parse`] does not read; attempts other than the first for a summary or a repair, and other than the last three of
/// a group; a group's skills and reason; a group's calls of tools that an attempt did not have; the cases that a skill
/// fails; for a lesson, what came after the last refusal; of a curator's retrieved skills all but
/// the first two, and whether the attempt succeeded: it was trained on attempts that did. A repair or a credit of a skill behind two others in the prompt is `Unsupported`, as is a comparison of fewer than
/// two attempts. A curator makes one call, or none. The roles route, distil-bank and review are `Unsupported`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApprenticeRoles;

impl Roles for ApprenticeRoles {
    fn plays(&self, role: Played) -> bool {
        played_as(role).is_some()
    }

    fn prompt(&self, request: &RoleRequest<'_>) -> Result<GenerateRequest> {
        let task = request.task;
        let role = role_of(task)?;
        let rules = readable(rules_of(task));
        let (attempts, asked) = shown(task)?;
        let script = match (task, attempts.as_slice()) {
            (RoleTask::Evolve { rows, .. }, _) => evolving::script(rows),
            (RoleTask::DistilPrototype { members }, _) => assessing::distillation(members)?,
            (
                RoleTask::Score {
                    subgoal, rubric, ..
                },
                _,
            ) => assessing::score(subgoal, rubric.as_deref())?,
            (RoleTask::Refactor { .. }, attempts) => writing::compared(attempts, true),
            (RoleTask::Tag { task }, _) => Script::task(&task.instruction),
            (
                RoleTask::Curate {
                    attempt, skills, ..
                },
                _,
            ) => attempt_script(Role::Curate, &curating::shown(attempt, skills)),
            (RoleTask::Lesson { attempt }, _) => {
                attempt_script(Role::Lesson, &lesson::up_to_refusal(attempt)?)
            }
            (_, [attempt, ..]) => attempt_script(role, attempt),
            _ => return Err(absent("there is no attempt to show")),
        };
        let mut generate = ask(role, asked, with_rule_notes(script, &rules));
        generate.sampling = sampling(request);
        Ok(generate)
    }

    fn read(&self, request: &RoleRequest<'_>, text: &str) -> Result<RoleAnswer> {
        role_of(request.task)?;
        match request.task {
            RoleTask::Attribute { attempt, skill } => judging::credit(attempt, *skill, text),
            RoleTask::Bundle { attempt, .. } => judging::cases(attempt, text),
            RoleTask::Segment { attempt, .. } => assessing::segments(attempt, text),
            RoleTask::DistilPrototype { members } => assessing::rubric(members, text),
            RoleTask::Score { .. } => assessing::scored(text),
            RoleTask::Evolve { rules, rows, .. } => evolving::read(rules, rows, text),
            RoleTask::Lesson { attempt } => lesson::read(attempt, text),
            RoleTask::Curate {
                attempt, skills, ..
            } => curating::calls(attempt, skills, text),
            RoleTask::Tag { .. } => curating::tags(text),
            task => writing::read(task, &readable(rules_of(task)), text),
        }
    }

    fn fallback(&self, task: &RoleTask) -> Option<RoleAnswer> {
        let RoleTask::Summarize { attempts, .. } = task else {
            return None;
        };
        let draft = writing::abstracted(attempts.first());
        Some(RoleAnswer::Draft(Box::new(draft)))
    }
}

/// The request of a role about a finished attempt: extract, lesson, repair, credit, segment or curate. Compare, score,
/// tag and rule have other prompts ([`Role::case`]).
///
/// `asked` is the index of the skill in question, for roles that are asked about one. The skills of the attempt are
/// shown too, except to extract, which depends on the calls made and not on the advice.
#[must_use]
pub fn role_request(
    role: Role,
    asked: Option<usize>,
    attempt: &Trace,
    rules: &[Rule],
) -> GenerateRequest {
    ask(
        role,
        asked,
        with_rule_notes(attempt_script(role, attempt), rules),
    )
}

/// An attempt as the model saw it.
fn attempt_script(role: Role, attempt: &Trace) -> Script {
    let injection = match role {
        Role::Extract => &Injection::NONE,
        _ => &attempt.trajectory.injection,
    };
    let tools = tools_shown(&attempt.trajectory);
    let head = head(&attempt.task.instruction, injection, &tools);
    transcript(head.plan(), &attempt.trajectory.steps)
}

/// Adds a role's opening to a script.
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

/// Greedy for the first answer; further candidates, judgements and repairs are sampled, each with its own seed.
fn sampling(request: &RoleRequest<'_>) -> Sampling {
    let candidate = match request.task {
        RoleTask::Extract { candidate, .. } => *candidate,
        RoleTask::Score { repeat, .. } => *repeat,
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

/// The model's role for a role of the SDK; `None` for one that it does not play.
fn played_as(role: Played) -> Option<Role> {
    match role {
        Played::Summarize | Played::Extract => Some(Role::Extract),
        Played::Refactor | Played::DistilPrototype => Some(Role::Compare),
        Played::Refine => Some(Role::Repair),
        Played::Attribute => Some(Role::Credit),
        Played::Bundle | Played::Segment => Some(Role::Segment),
        Played::Score => Some(Role::Score),
        Played::Evolve => Some(Role::Rule),
        Played::Lesson => Some(Role::Lesson),
        Played::Curate => Some(Role::Curate),
        Played::Tag => Some(Role::Tag),
        _ => None,
    }
}

/// The model's role for a task of the SDK.
fn role_of(task: &RoleTask) -> Result<Role> {
    let role = played_as(task.role());
    role.ok_or_else(|| refused("the bundled model does not play this role"))
}

fn rules_of(task: &RoleTask) -> &[RoleRule] {
    match task {
        RoleTask::Extract { rules, .. }
        | RoleTask::Refactor { rules, .. }
        | RoleTask::Refine { rules, .. } => rules,
        _ => &[],
    }
}

/// The first rules that the model can read, as many as it was trained on.
fn readable(rules: &[RoleRule]) -> Vec<Rule> {
    let read = |rule: &RoleRule| Rule::parse(rule.as_str());
    rules.iter().filter_map(read).take(MOST_RULES).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
