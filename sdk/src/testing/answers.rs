//! A corpus of answers of general instruct models, each with its meaning.

mod actions;
mod assessing;
mod curating;
mod held_back;
mod roles;

use super::sample;
use crate::{
    Seed,
    contract::{
        FinishReason, Generation, PromptFormat, RoleAnswer, RoleRequest, Roles, TurnMove, TurnView,
    },
    domain::{Action, Injection, Role, Task, ToolDefinition},
    id::ModelId,
};

/// The reader of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerTo {
    /// A prompt format, with these tools in force.
    Turn(Vec<ToolDefinition>),
    /// A role, at [`sample::role_task`].
    Role(Role),
}

/// The meaning of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// This action.
    Action(Action),
    /// This answer of a role.
    Answer(Box<RoleAnswer>),
    /// No unambiguous meaning: the answer must be refused with a reason that contains this text.
    Refused(&'static str),
}

/// One answer of the corpus.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerCase {
    /// The unique name of the case, for the feature that it tests.
    pub name: &'static str,
    /// The reader of the answer.
    pub to: AnswerTo,
    /// The text that the model wrote.
    pub text: String,
    /// The expected meaning.
    pub meaning: Meaning,
}

/// Counts of answers by how they were read.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFigures {
    /// Read with the expected meaning.
    pub read_rightly: usize,
    /// Refused with the expected reason.
    pub refused_rightly: usize,
    /// Read with another meaning than the expected one.
    pub read_wrongly: usize,
    /// Refused although there is an expected meaning, or refused with another reason.
    pub refused_wrongly: usize,
    /// Each case with its result.
    pub cases: Vec<(&'static str, String)>,
}

impl AnswerFigures {
    /// The cases that were read or refused wrongly, one per line.
    pub fn faults(&self) -> String {
        let faults = self
            .cases
            .iter()
            .filter(|(_, what)| what.contains("wrongly"));
        let faults: Vec<String> = faults
            .map(|(name, what)| format!("{name}: {what}"))
            .collect();
        faults.join("\n")
    }
}

/// The corpus: answers to turns and of each role.
pub fn answers() -> Vec<AnswerCase> {
    let mut cases = actions::cases();
    cases.extend(roles::cases());
    cases.extend(assessing::cases());
    cases.extend(curating::cases());
    cases
}

/// A second corpus, written by a tester to find answers that are read wrongly.
pub fn held_back_answers() -> Vec<AnswerCase> {
    held_back::cases()
}

/// Reads each answer with the prompt format or the roles that it is for, and counts the results.
pub fn read_answers(
    cases: &[AnswerCase],
    prompt_format: &dyn PromptFormat,
    roles: &dyn Roles,
) -> AnswerFigures {
    let mut figures = AnswerFigures::default();
    for case in cases {
        let read = match &case.to {
            AnswerTo::Turn(tools) => {
                read_turn(prompt_format, tools, &case.text).map(Meaning::Action)
            }
            AnswerTo::Role(role) => {
                let task = sample::role_task(*role);
                let request = RoleRequest::new(&task, Seed(1));
                let read = roles.read(&request, &case.text);
                read.map(|answer| Meaning::Answer(Box::new(answer)))
                    .map_err(|error| error.message().to_owned())
            }
        };
        let (count, what) = match (&read, &case.meaning) {
            (Ok(read), meaning) if read == meaning => {
                (&mut figures.read_rightly, "read rightly".to_owned())
            }
            (Ok(read), _) => (
                &mut figures.read_wrongly,
                format!("read wrongly, as {read:?}"),
            ),
            (Err(reason), Meaning::Refused(part)) if reason.contains(part) => (
                &mut figures.refused_rightly,
                format!("refused rightly: {reason}"),
            ),
            (Err(reason), _) => (
                &mut figures.refused_wrongly,
                format!("refused wrongly: {reason}"),
            ),
        };
        *count += 1;
        figures.cases.push((case.name, what));
    }
    figures
}

/// The action of an answer that the model repeats in every reply of the turn.
fn read_turn(
    prompt_format: &dyn PromptFormat,
    tools: &[ToolDefinition],
    text: &str,
) -> Result<Action, String> {
    let task = Task::new("t", "Open the tin T1 for Ada");
    let mut observation = sample::observation("A kitchen.");
    observation.tools = tools.to_vec();
    let mut replies = Vec::new();
    for _ in 0..8 {
        replies.push(reply(text));
        let view = TurnView {
            task: &task,
            injection: &Injection::NONE,
            observation: &observation,
            steps: &[],
            replies: &replies,
        };
        match prompt_format.turn(&view) {
            Ok(TurnMove::Act { action, .. }) => return Ok(action),
            Ok(TurnMove::Unreadable { reason, .. }) => return Err(reason),
            Ok(TurnMove::Generate { .. }) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("the prompt format does not end".to_owned())
}

fn reply(text: &str) -> Generation {
    Generation {
        calls: Vec::new(),
        text: text.to_owned(),
        prompt_ids: Vec::new(),
        ids: Vec::new(),
        logprobs: Vec::new(),
        forced: Vec::new(),
        prompt_tokens: 0,
        output_tokens: 0,
        finish: FinishReason::EndOfText,
        model: ModelId::from("corpus"),
        adapter: None,
    }
}
