//! The answers of an attempt, each with the prompt that the runtime gave: for a trainer, as conversations of prompt and completion.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    contract::{Dialect, TurnMove, TurnView},
    domain::{
        Exposure, Injection, Message, Observation, Prompt, Span, Speaker, Step, ToolDefinition,
        Trace,
    },
    error::{Error, Result},
};

const PROMPTED: &str = "demonstrations::prompted";

/// An answer of the agent with the prompt before it, in the form that trainers such as TRL take (conversational, prompt and completion; a
/// template that is applied to `prompt` and `tools` gives the tokens that the agent's model was given).
///
/// ```
/// use journeyman::{builtin::ChatDialect, interchange::demonstrations, testing::sample};
///
/// let task = sample::task("greet", &["good", "day"]);
/// let mut attempt = sample::trace("a-1", &task, &["good", "day"], true);
/// attempt.trajectory.injection = sample::injection(&[sample::skill("greeting")]);
///
/// let answers = demonstrations::prompted(&ChatDialect::default(), &attempt)?;
/// assert_eq!(answers.len(), attempt.trajectory.steps.len());
/// let prompt: Vec<&str> = answers[0].prompt.iter().map(|message| message.role.as_str()).collect();
/// assert_eq!(prompt, ["system", "user"]);
/// assert!(answers[0].prompt[1].content.contains("To do greeting"));
/// // A line of the trainer's file.
/// let line = serde_json::to_string(&answers[0]).expect("JSON");
/// assert!(line.starts_with("{\"prompt\":[{\"role\":\"system\""));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompted {
    /// The messages that the model was given.
    pub prompt: Vec<PromptedMessage>,
    /// Its answer, as later prompts show it: one message.
    pub completion: Vec<PromptedMessage>,
    /// The tools that it could call by its own interface, as functions with their JSON Schemas; none where the prompt says them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Value>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptedMessage {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// What is said.
    pub content: String,
    /// The calls of an assistant by the model's own interface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<Value>,
    /// The call that a tool's message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The tool that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The answers of an attempt by a dialect, in order. Take attempts that succeeded, as [`of_attempts`](super::of_attempts) does.
///
/// They are those of the run where the agent used this dialect and its context held all steps: an executor that has to leave out steps gave
/// the model a shorter prompt. What was redacted before the attempt was kept is redacted here.
///
/// # Errors
/// `Unsupported` for a dialect that writes markers of its own in place of messages, or that does not show an answer in later prompts;
/// the dialect's error.
pub fn prompted(dialect: &dyn Dialect, attempt: &Trace) -> Result<Vec<Prompted>> {
    let steps = &attempt.trajectory.steps;
    let answers = steps.iter().enumerate().map(|(at, step)| {
        let injection = injected(attempt, step.index);
        let (prompt, tools) = asked(dialect, attempt, &injection, (at, &step.observation))?;
        let later = steps.get(at + 1).unwrap_or(step);
        let (shown, _) = asked(dialect, attempt, &injection, (at + 1, &later.observation))?;
        let answer = shown.messages.get(prompt.messages.len());
        let answer = answer.filter(|message| message.speaker == Speaker::Assistant);
        let answer = answer.ok_or_else(|| {
            Error::unsupported(
                PROMPTED,
                "the dialect does not show an answer in later prompts",
            )
            .with("step", step.index)
        })?;
        let mut completion = message(answer)?;
        completion.content = plain(&prompt.open)? + &completion.content;
        Ok(Prompted {
            prompt: prompt.messages.iter().map(message).collect::<Result<_>>()?,
            completion: vec![completion],
            tools: tools.iter().map(function).collect(),
        })
    });
    answers.collect()
}

/// The skills that stood in the prompt of an answer.
fn injected(attempt: &Trace, answer: u32) -> Injection {
    let trajectory = &attempt.trajectory;
    let mut injection = trajectory.injection.clone();
    injection.skills.retain(|injected| {
        let mut exposures = trajectory.exposures.iter();
        let exposure: Option<&Exposure> = exposures.find(|one| one.skill == injected.skill);
        exposure.is_none_or(|one| one.since <= answer)
    });
    injection
}

/// What the model is asked behind the first steps of an attempt.
fn asked(
    dialect: &dyn Dialect,
    attempt: &Trace,
    injection: &Injection,
    (steps, observation): (usize, &Observation),
) -> Result<(Prompt, Vec<ToolDefinition>)> {
    let before: &[Step] = attempt.trajectory.steps.get(..steps).unwrap_or_default();
    let view = TurnView {
        task: &attempt.task,
        injection,
        observation,
        steps: before,
        replies: &[],
    };
    match dialect.turn(&view)? {
        TurnMove::Generate { prompt, tools, .. } => Ok((prompt, tools)),
        _ => Err(
            Error::unsupported(PROMPTED, "the dialect asks no model at this step")
                .with("step", steps),
        ),
    }
}

fn message(message: &Message) -> Result<PromptedMessage> {
    let role = match message.speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Tool => "tool",
    };
    let calls = message.calls.iter().map(|call| {
        json!({
            "id": call.id,
            "type": "function",
            "function": {"name": call.call.tool, "arguments": call.call.arguments},
        })
    });
    Ok(PromptedMessage {
        role: role.to_owned(),
        content: plain(&message.content)?,
        tool_calls: calls.collect(),
        tool_call_id: message.answers.as_ref().map(|call| call.id.clone()),
        name: message.answers.as_ref().map(|call| call.tool.clone()),
    })
}

/// The text of spans that are all data.
fn plain(spans: &[Span]) -> Result<String> {
    let texts = spans.iter().map(|span| match span {
        Span::Data(text) => Ok(text.as_str()),
        Span::Control(_) => Err(Error::unsupported(
            PROMPTED,
            "the dialect writes markers of its own, which a chat template does not know",
        )),
    });
    texts.collect()
}

fn function(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        builtin::ChatDialect,
        domain::{Action, SkillUse},
        testing::{ScriptedDialect, sample},
    };

    fn attempt() -> Trace {
        let task = sample::task("t", &["one", "two", "three"]);
        let mut attempt = sample::trace("a", &task, &["one", "two", "three"], true);
        attempt.trajectory.injection =
            sample::injection(&[sample::skill("first"), sample::skill("later")]);
        let skills = attempt.trajectory.injection.skills.clone();
        let exposures = skills
            .into_iter()
            .zip([0, 2])
            .map(|(injected, since)| Exposure {
                skill: injected.skill,
                used: SkillUse::Unknown,
                since,
            });
        attempt.trajectory.exposures = exposures.collect();
        attempt
    }

    #[test]
    fn each_answer_stands_behind_what_the_agent_had_seen() {
        let attempt = attempt();
        let answers = prompted(&ChatDialect::default(), &attempt).unwrap();
        let says = |answer: &Prompted, skill: &str| {
            let mut prompt = answer.prompt.iter();
            prompt.any(|message| message.content.contains(&format!("To do {skill}")))
        };
        for (at, answer) in answers.iter().enumerate() {
            // System, task, and of each step before an answer and what came back.
            assert_eq!(answer.prompt.len(), 2 + 2 * at);
            assert_eq!(answer.completion.len(), 1);
            assert_eq!(answer.completion[0].role, "assistant");
            assert!(says(answer, "first"));
            assert_eq!(says(answer, "later"), at >= 2);
        }
        // What the agent said stands in later prompts as it is to be learned.
        assert_eq!(answers[1].prompt[2], answers[0].completion[0]);
    }

    #[test]
    fn calls_by_a_models_own_interface_are_calls() {
        let mut attempt = attempt();
        let step = &mut attempt.trajectory.steps[0];
        step.action = Action::call("brew", json!({"cups": 2}));
        step.transcript.clear();
        step.observation.tools = vec![ToolDefinition::new("brew", "", json!({"type": "object"}))];
        let dialect = ChatDialect {
            native_tools: true,
            ..ChatDialect::default()
        };
        let answers = prompted(&dialect, &attempt).unwrap();
        let call = &answers[0].completion[0].tool_calls[0];
        assert_eq!(call["function"]["name"], "brew");
        assert_eq!(call["function"]["arguments"]["cups"], 2);
        assert_eq!(answers[0].tools[0]["function"]["name"], "brew");
        let mut later = answers[1].prompt.iter();
        let answered = later.find(|message| message.role == "tool").unwrap();
        assert_eq!(answered.tool_call_id.as_deref(), call["id"].as_str());
    }

    #[test]
    fn a_dialect_that_no_template_renders_is_refused() {
        assert!(prompted(&ScriptedDialect, &attempt()).is_err());
    }
}
