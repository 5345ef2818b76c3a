//! Roles that prompt and answer in plain lines, for tests.

use std::collections::BTreeMap;

use super::role_lines;
use crate::{
    contract::{CaseDraft, Experience, GenerateRequest, RoleAnswer, RoleRequest, RoleTask, Roles},
    domain::{
        Action, CaseKind, Judgement, Kind, Message, Prompt, Role, RoleRule, Scope, Skill,
        SkillDraft, Speaker, Subgoal, Trace,
    },
    error::{Error, ErrorKind, Result},
};

const READ: &str = "Roles::read";

/// [`Roles`] whose prompts and answers are plain lines.
///
/// The prompt begins with `role: NAME`. Then comes a line for each thing that is shown: `task: INSTRUCTION` and
/// `outcome: done`, `failed` or `untold` of each attempt, `skill: NAME`, `candidate: NUMBER`, `reason: WORDS`,
/// `failure: WORDS`, `of: NAME` (whose rules evolve), `rule: WORDS`, and `made: NAME helpful N harmful N FATE`. A repair
/// ends with `Not like this (REASON): ANSWER`.
///
/// | role | answer |
/// | --- | --- |
/// | summarize, extract, refactor, refine | `title: description`, and on the other lines the body |
/// | the same, when there is nothing to write | `none: reason` |
/// | attribute | `helpful: reason`, or `harmful`, `neutral` or `uncertain` |
/// | bundle | a line for each case, `unit FROM about`, or `integration` or `negative`; `none` for no case |
/// | evolve | a line for each rule |
/// | segment | a line for each subgoal, `SUBGOAL \| SKILL \| FIRST LAST` |
/// | distil-prototype | lines `title: `, `use: `, `objective: `, `pattern: `, `check: ` and `trap N: ` |
/// | route | `INDEX CONFIDENCE`, or `none` |
/// | score | `SCORE REASON` |
/// | curate | a line for each call, an object with `tool` and `arguments`; or `none` |
/// | tag | a line for each tag |
/// | lesson | `STEP \| FLAWED \| SHOULD \| PRINCIPLE` |
/// | distil-bank | a line for each skill, `TITLE \| DESCRIPTION \| BODY`, with `INDEX> ` before it for a refined one; or `none` |
/// | review | `SCORE REASON` |
///
/// A refined skill keeps its name and kind, whatever the title says.
///
/// ```
/// use journeyman::{
///     Seed,
///     contract::{RoleAnswer, RoleRequest, RoleTask, Roles},
///     domain::{Role, RoleRule},
///     testing::ScriptedRoles,
/// };
///
/// let task = RoleTask::Evolve { role: Role::Extract, rules: Vec::new(), rows: Vec::new() };
/// let request = RoleRequest::new(&task, Seed(1));
/// let roles = ScriptedRoles::default();
/// assert_eq!(roles.prompt(&request)?.prompt.text(), "role: evolve\nof: extract\n");
/// let rules = vec![RoleRule::new("Name the tool.")?];
/// assert_eq!(roles.read(&request, "Name the tool.\n")?, RoleAnswer::Rules(rules));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedRoles {
    played: Vec<Role>,
}

impl Default for ScriptedRoles {
    /// All roles.
    fn default() -> Self {
        Self::only(Role::ALL)
    }
}

impl ScriptedRoles {
    /// Only these roles.
    pub fn only(played: impl IntoIterator<Item = Role>) -> Self {
        Self {
            played: played.into_iter().collect(),
        }
    }
}

impl Roles for ScriptedRoles {
    fn plays(&self, role: Role) -> bool {
        self.played.contains(&role)
    }

    fn prompt(&self, request: &RoleRequest<'_>) -> Result<GenerateRequest> {
        let role = request.task.role();
        if !self.played.contains(&role) {
            return Err(
                Error::unsupported("Roles::prompt", "this role is not played").with("role", role),
            );
        }
        let mut text = format!("role: {role}\n");
        for attempt in request.task.attempts() {
            text.push_str(&attempt_lines(attempt));
        }
        text.push_str(&lines(request.task));
        if let Some(failed) = request.failed {
            text.push_str(&format!(
                "Not like this ({}): {}\n",
                failed.reason, failed.text
            ));
        }
        let prompt = Prompt {
            messages: vec![Message::data(Speaker::User, text)],
            open: Vec::new(),
        };
        let mut ask = GenerateRequest::greedy(prompt, 256);
        ask.sampling.seed = request.seed;
        Ok(ask)
    }

    fn read(&self, request: &RoleRequest<'_>, text: &str) -> Result<RoleAnswer> {
        match request.task {
            RoleTask::Attribute { .. } => credit(text),
            RoleTask::Bundle { attempt, .. } => cases(text, attempt),
            RoleTask::Evolve { .. } => rules(text),
            RoleTask::Segment { attempt, .. } => {
                role_lines::segments(text, attempt.trajectory.steps.len())
            }
            RoleTask::DistilPrototype { .. } => role_lines::rubric(text),
            RoleTask::Route { prototypes, .. } => role_lines::route(text, prototypes.len()),
            RoleTask::Score { .. } => role_lines::score(text),
            RoleTask::Curate { .. } => role_lines::calls(text),
            RoleTask::Tag { .. } => role_lines::tags(text),
            RoleTask::Lesson { attempt } => {
                role_lines::lesson(text, attempt.trajectory.steps.len())
            }
            RoleTask::DistilBank {
                category, skills, ..
            } => role_lines::bank(text, category.as_ref(), skills.len()),
            RoleTask::Review { .. } => role_lines::review(text),
            RoleTask::Refine { skill, .. } => Ok(match draft(text)? {
                RoleAnswer::Draft(draft) => RoleAnswer::Draft(Box::new(SkillDraft {
                    title: title(skill),
                    kind: skill.kind,
                    ..*draft
                })),
                nothing => nothing,
            }),
            _ => draft(text),
        }
    }

    fn fallback(&self, task: &RoleTask) -> Option<RoleAnswer> {
        let RoleTask::Summarize { attempts, .. } = task else {
            return None;
        };
        let mut body = String::from("Do as it was done before:\n");
        let steps = attempts.first().map(|attempt| &attempt.trajectory.steps);
        for step in steps.into_iter().flatten() {
            let line = match &step.action {
                Action::Message(text) => format!("- say {text}\n"),
                Action::Call(calls) => (calls.iter())
                    .map(|call| format!("- call {}\n", call.tool))
                    .collect(),
                Action::EndTurn => "- end the turn\n".to_owned(),
            };
            body.push_str(&line);
        }
        let instruction = attempts.first().map(|attempt| &attempt.task.instruction);
        let description = format!(
            "For tasks such as: {}",
            instruction.map_or("", String::as_str)
        );
        let description: String = description.chars().take(1_024).collect();
        Some(drafted("from-a-trace", &description, &body))
    }
}

fn attempt_lines(attempt: &Trace) -> String {
    let success = (attempt.verdict.as_ref()).and_then(|verdict| verdict.success());
    let outcome = match success {
        Some(true) => "done",
        Some(false) => "failed",
        None => "untold",
    };
    format!("task: {}\noutcome: {outcome}\n", attempt.task.instruction)
}

/// The lines of the prompt beside the attempts.
fn lines(task: &RoleTask) -> String {
    let (mut lines, mut learnt): (Vec<String>, &[RoleRule]) = (Vec::new(), &[]);
    match task {
        RoleTask::Summarize { .. } => {}
        RoleTask::Extract {
            candidate, rules, ..
        } => {
            lines.push(format!("candidate: {candidate}"));
            learnt = rules;
        }
        RoleTask::Refactor {
            skills,
            reason,
            rules,
            ..
        } => {
            lines.extend(skills.iter().map(|skill| format!("skill: {}", skill.name)));
            lines.push(format!("reason: {reason}"));
            learnt = rules;
        }
        RoleTask::Refine {
            skill,
            failures,
            rules,
            ..
        } => {
            lines.push(format!("skill: {}", skill.name));
            lines.extend(failures.iter().map(|failure| format!("failure: {failure}")));
            learnt = rules;
        }
        RoleTask::Attribute { attempt, skill } => {
            let asked = attempt.trajectory.injection.skills.get(*skill);
            lines.extend(asked.map(|asked| format!("skill: {}", asked.skill.id)));
        }
        RoleTask::Bundle { skill, .. } => lines.push(format!("skill: {}", skill.name)),
        RoleTask::Evolve { role, rules, rows } => {
            lines.push(format!("of: {role}"));
            lines.extend(rows.iter().map(row));
            learnt = rules;
        }
        other => lines = assessing_lines(other),
    }
    lines.extend(learnt.iter().map(|rule| format!("rule: {rule}")));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The same of the roles of SCRIBE, SkillOS and SkillRL.
fn assessing_lines(task: &RoleTask) -> Vec<String> {
    let mut lines = Vec::new();
    match task {
        RoleTask::Segment { prompt, .. } => lines.push(format!("prompt: {prompt:?}")),
        RoleTask::DistilPrototype { members } => {
            lines.extend(members.iter().map(|one| subgoal(&one.subgoal)));
        }
        RoleTask::Route {
            subgoal: one,
            prototypes,
        } => {
            lines.push(subgoal(&one.subgoal));
            let titles = prototypes.iter().map(|one| &one.rubric.title);
            lines.extend(titles.map(|title| format!("prototype: {title}")));
        }
        RoleTask::Score {
            subgoal: one,
            rubric,
            repeat,
        } => {
            lines.push(subgoal(&one.subgoal));
            let checks = rubric.iter().flat_map(|rubric| &rubric.checklist);
            lines.extend(checks.map(|check| format!("check: {check}")));
            lines.push(format!("repeat: {repeat}"));
        }
        RoleTask::Curate {
            correct, skills, ..
        } => {
            lines.push(format!("correct: {correct:?}"));
            lines.extend(skills.iter().map(|skill| format!("skill: {}", skill.id)));
        }
        RoleTask::Tag { task } => lines.push(format!("task: {}", task.instruction)),
        RoleTask::Review { skill } => lines.push(format!("skill: {}", skill.name)),
        RoleTask::DistilBank {
            category,
            findings,
            skills,
        } => {
            lines.extend(
                category
                    .iter()
                    .map(|category| format!("category: {category}")),
            );
            lines.extend(findings.iter().map(|one| format!("finding: {}", one.task)));
            lines.extend(skills.iter().map(|skill| format!("skill: {}", skill.id)));
        }
        _ => {}
    }
    lines
}

fn subgoal(one: &Subgoal) -> String {
    format!("subgoal: {} {} {}", one.subgoal, one.first, one.last)
}

fn row(row: &Experience) -> String {
    let Experience {
        skill,
        helpful,
        harmful,
        fate,
        ..
    } = row;
    let name = &skill.name;
    format!("made: {name} helpful {helpful} harmful {harmful} {fate}")
}

fn title(skill: &Skill) -> String {
    (skill.original_name.clone()).unwrap_or_else(|| skill.name.as_str().to_owned())
}

fn refuse<T>(why: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Model, READ, why))
}

fn drafted(title: &str, description: &str, body: &str) -> RoleAnswer {
    RoleAnswer::Draft(Box::new(SkillDraft {
        title: title.to_owned(),
        description: description.to_owned(),
        kind: Kind::Workflow,
        scope: Scope::General,
        trigger: None,
        body: body.to_owned(),
        metadata: BTreeMap::new(),
    }))
}

fn draft(text: &str) -> Result<RoleAnswer> {
    let (head, body) = text.split_once('\n').unwrap_or((text, ""));
    let Some((title, description)) = head.split_once(": ") else {
        return refuse("the first line is not `title: description`");
    };
    let (title, description) = (title.trim(), description.trim());
    if title.is_empty() || description.is_empty() {
        return refuse("title or description is empty");
    }
    if title == "none" {
        return Ok(RoleAnswer::Nothing(description.to_owned()));
    }
    if body.trim().is_empty() {
        return refuse("there is no body");
    }
    if description.chars().count() > 1_024 {
        return refuse("the description is longer than 1,024 characters");
    }
    Ok(drafted(title, description, body))
}

fn credit(text: &str) -> Result<RoleAnswer> {
    let (word, reason) = text.split_once(": ").unwrap_or((text, ""));
    let judgement = match word.trim() {
        "helpful" => Judgement::Helpful,
        "harmful" => Judgement::Harmful,
        "neutral" => Judgement::Neutral,
        "uncertain" => Judgement::Uncertain,
        _ => return refuse("the answer does not begin with a judgement"),
    };
    Ok(RoleAnswer::Credit {
        judgement,
        scope: String::new(),
        reason: reason.trim().to_owned(),
    })
}

fn cases(text: &str, attempt: &Trace) -> Result<RoleAnswer> {
    let steps = attempt.trajectory.steps.len();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let cases: Option<Vec<CaseDraft>> = lines
        .filter(|line| *line != "none")
        .map(|line| {
            let (kind, rest) = line.split_once(' ')?;
            let (from, about) = rest.split_once(' ')?;
            let kind = match kind {
                "unit" => CaseKind::Unit,
                "integration" => CaseKind::Integration,
                "negative" => CaseKind::Negative,
                _ => return None,
            };
            let from = from.parse().ok().filter(|from| *from < steps)?;
            let about = about.to_owned();
            Some(CaseDraft { kind, from, about })
        })
        .collect();
    match cases {
        Some(cases) if !text.trim().is_empty() => Ok(RoleAnswer::Cases(cases)),
        _ => refuse("a line is not `unit FROM about`, with a step of the attempt"),
    }
}

fn rules(text: &str) -> Result<RoleAnswer> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let rules: Result<Vec<RoleRule>> = lines.map(RoleRule::new).collect();
    match rules {
        Ok(rules) if (1..=RoleRule::MOST).contains(&rules.len()) => Ok(RoleAnswer::Rules(rules)),
        _ => refuse("there are no rules, more than five, or one is too long"),
    }
}
