//! One demonstration.

use journeyman::{
    Category, Error, Result, SkillId, TaskId, Version,
    domain::{AttemptId, Exposure, SkillUse, Step, Taint, ToolDefinition, Trace},
};
use serde::{Deserialize, Serialize};

const OF: &str = "Demonstration::of";
const VALIDATE: &str = "Demonstration::validate";

/// A successful attempt with skills, to be learned from.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Demonstration {
    /// Version of the form: [`Demonstration::SCHEMA`].
    pub schema: u32,
    /// The attempt.
    pub attempt: AttemptId,
    /// The task.
    pub task: ShownTask,
    /// The skills in the prompt, in their order there; at least one.
    pub skills: Vec<ShownSkill>,
    /// The tools in force at the first step.
    pub tools: Vec<ToolDefinition>,
    /// The turns, the task first.
    pub messages: Vec<ShownMessage>,
    /// Whether anything that the agent saw is of an untrusted source.
    pub taint: Taint,
}

/// The task of a demonstration.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownTask {
    /// Its id.
    pub id: TaskId,
    /// The request, in words.
    pub instruction: String,
    /// The host's own grouping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
}

/// A skill of a demonstration.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownSkill {
    /// Which skill.
    pub id: SkillId,
    /// In which version.
    pub version: Version,
    /// Its text as it stood in the prompt.
    pub text: String,
    /// The number of the assistant's message before which it first stood there, from 0.
    pub since: u32,
    /// Whether the agent followed it, as far as it said so.
    pub used: SkillUse,
}

/// Who speaks in a demonstration.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownRole {
    /// The user: the task, and answers to messages.
    User,
    /// The agent: what is learned.
    Assistant,
    /// The environment: results of calls.
    Tool,
}

/// A turn of a demonstration.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownMessage {
    /// Who speaks.
    pub role: ShownRole,
    /// What is said.
    pub content: String,
    /// Whether the environment refused the action; absent where it did not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub error: bool,
}

impl Demonstration {
    /// The version of the form.
    pub const SCHEMA: u32 = 2;

    /// The demonstration of an attempt.
    ///
    /// # Errors
    /// `Invalid` for an attempt that did not succeed, that had no skill in its prompt, or that has no step: such an attempt does
    /// not show how skills are used.
    pub fn of(attempt: &Trace) -> Result<Self> {
        let trajectory = &attempt.trajectory;
        let refuse = |reason: &'static str, hint: &'static str| {
            let error = Error::invalid(OF, reason).with("attempt", &trajectory.attempt);
            Err(error.hint(hint))
        };
        if !attempt.is_success() {
            let hint = "take attempts with a verdict of success; failures become lessons";
            return refuse("the attempt did not succeed", hint);
        }
        if trajectory.injection.is_empty() {
            let hint = "take attempts of a run that injected skills";
            return refuse("the attempt had no skill in its prompt", hint);
        }
        if trajectory.steps.is_empty() {
            let hint = "record the steps of the attempt: `AttemptHandle::record`";
            return refuse("the attempt has no step", hint);
        }
        let first = trajectory.steps.first();
        let demonstration = Self {
            schema: Self::SCHEMA,
            attempt: trajectory.attempt.clone(),
            task: ShownTask {
                id: attempt.task.id.clone(),
                instruction: attempt.task.instruction.clone(),
                category: attempt.task.category.clone(),
            },
            skills: skills(attempt),
            tools: first.map_or_else(Vec::new, |step| step.observation.tools.clone()),
            messages: messages(attempt),
            taint: attempt.taint(),
        };
        demonstration.validate()?;
        Ok(demonstration)
    }

    /// Checks the rules of the form that its types do not hold: a known version, at least one skill, the task first, no blank
    /// task, skill or message of the assistant, an answer to each of them, and at least one. The last answer may be missing.
    ///
    /// # Errors
    /// `Unsupported` for another version, `Invalid` else, with the place.
    pub fn validate(&self) -> Result<()> {
        if self.schema != Self::SCHEMA {
            let message = format!("schema {} is not the one this version reads", self.schema);
            return Err(Error::unsupported(VALIDATE, message).with("reads", Self::SCHEMA));
        }
        let check = |holds: bool, place: String, rule: &'static str| match holds {
            true => Ok(()),
            false => Err(Error::invalid(VALIDATE, rule).with("place", place)),
        };
        let said = |text: &str| !text.trim().is_empty();
        let task = &self.task.instruction;
        check(
            said(task),
            "task/instruction".to_owned(),
            "the task is empty",
        )?;
        check(
            !self.skills.is_empty(),
            "skills".to_owned(),
            "there is no skill",
        )?;
        for (number, skill) in self.skills.iter().enumerate() {
            check(
                said(&skill.text),
                format!("skills/{number}/text"),
                "the skill is empty",
            )?;
        }
        let mut before = None;
        for (number, message) in self.messages.iter().enumerate() {
            let place = || format!("messages/{number}");
            let own = message.role == ShownRole::Assistant;
            check(
                !own || said(&message.content),
                place(),
                "the assistant says nothing",
            )?;
            check(
                !own || before != Some(ShownRole::Assistant),
                place(),
                "the assistant speaks twice in a row",
            )?;
            check(
                number > 0 || message.role == ShownRole::User,
                place(),
                "the task does not come first",
            )?;
            before = Some(message.role);
        }
        let mut own = self
            .messages
            .iter()
            .filter(|one| one.role == ShownRole::Assistant);
        check(
            own.next().is_some(),
            "messages".to_owned(),
            "the assistant never speaks",
        )
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

fn skills(attempt: &Trace) -> Vec<ShownSkill> {
    let trajectory = &attempt.trajectory;
    let injected = trajectory.injection.skills.iter();
    let shown = injected.map(|injected| {
        let mut exposures = trajectory.exposures.iter();
        let exposure: Option<&Exposure> = exposures.find(|one| one.skill == injected.skill);
        ShownSkill {
            id: injected.skill.id.clone(),
            version: injected.skill.version,
            text: injected.text.clone(),
            since: exposure.map_or(0, |one| one.since),
            used: exposure.map_or(SkillUse::Unknown, |one| one.used),
        }
    });
    shown.collect()
}

/// The task and, where it says more, the first observation; then for each step the agent's words and the result.
fn messages(attempt: &Trace) -> Vec<ShownMessage> {
    let message = |role, content: String, error| ShownMessage {
        role,
        content,
        error,
    };
    let instruction = &attempt.task.instruction;
    let mut messages = vec![message(ShownRole::User, instruction.clone(), false)];
    let steps = &attempt.trajectory.steps;
    let says_more = |text: &str, than: &str| !text.trim().is_empty() && text.trim() != than.trim();
    if let Some(first) = steps.first()
        && says_more(&first.observation.text, instruction)
    {
        messages.push(message(
            ShownRole::User,
            first.observation.text.clone(),
            false,
        ));
    }
    for (place, step) in steps.iter().enumerate() {
        messages.push(message(ShownRole::Assistant, step.words(), false));
        let result = &step.result;
        messages.push(message(answers(step), result.text.clone(), result.is_error));
        let next = steps.get(place + 1).map(|next| &next.observation.text);
        if let Some(next) = next.filter(|next| says_more(next, &result.text)) {
            messages.push(message(answers(step), next.clone(), false));
        }
    }
    messages
}

/// Who answers a step: the user where a turn ends, or a tool.
fn answers(step: &Step) -> ShownRole {
    match step.ends_turn() {
        true => ShownRole::User,
        false => ShownRole::Tool,
    }
}
