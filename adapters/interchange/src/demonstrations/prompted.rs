//! The answers of an attempt, each with the prompt that the runtime gave: for a trainer, as conversations of prompt and completion.

use journeyman::{
    Error, Result,
    contract::{PromptFormat, TurnMove, TurnView},
    domain::{Message, Observation, Prompt, Span, Speaker, Step, StepNote, ToolDefinition, Trace},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const PROMPTED: &str = "demonstrations::prompted";

/// An answer of the agent with the prompt before it, in the conversational form of prompt and completion that trainers such as TRL take. The model's
/// chat template, applied to `prompt` and `tools`, gives the tokens that the agent's model was given.
///
/// ```
/// use journeyman::{agent::ChatFormat, testing::sample};
/// use journeyman_interchange::demonstrations;
///
/// let task = sample::task("greet", &["good", "day"]);
/// let mut attempt = sample::trace("a-1", &task, &["good", "day"], true);
/// attempt.trajectory.injection = sample::injection(&[sample::skill("greeting")]);
///
/// let answers = demonstrations::prompted(&ChatFormat::default(), &attempt)?;
/// assert_eq!(answers.len(), attempt.trajectory.steps.len());
/// let prompt: Vec<&str> = answers[0].prompt.iter().map(|message| message.role.as_str()).collect();
/// assert_eq!(prompt, ["system", "user"]);
/// assert!(answers[0].prompt[1].content.contains("To do greeting"));
/// // A line of the trainer's file.
/// let line = serde_json::to_string(&answers[0]).expect("JSON");
/// assert!(line.starts_with("{\"prompt\":[{\"role\":\"system\""));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
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
#[non_exhaustive]
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

/// The answers of an attempt by a prompt format, in order. Take attempts that succeeded, as [`of_attempts`](super::of_attempts) does.
///
/// They are those of the run where the agent used this prompt format and its context held all steps: an executor that has to leave out steps gave
/// the model a shorter prompt. An answer that the model gave only when it was asked again is left out, since the first one and the reason
/// stood before it. What was redacted before the attempt was kept is redacted here. An attempt does not say when a skill left its prompt, so take
/// attempts of recipes that select once a task ([`SelectPer::Query`](journeyman::stations::select::SelectPer), not `Turn`).
///
/// # Errors
/// `Unsupported` for an attempt in which a skill came into the prompt later; for a prompt format that
/// writes markers of its own in place of messages, or that does not show an answer in later prompts. The prompt format's error.
pub fn prompted(prompt_format: &dyn PromptFormat, attempt: &Trace) -> Result<Vec<Prompted>> {
    let trajectory = &attempt.trajectory;
    if let Some(later) = trajectory.exposures.iter().find(|one| one.since > 0) {
        let message = "a skill came into the attempt's prompt later, and the attempt does not say when others left it";
        return Err(Error::unsupported(PROMPTED, message)
            .with("skill", &later.skill.id)
            .hint("take attempts of a recipe that selects once a task (`SelectPer::Query`)"));
    }
    let steps = &trajectory.steps;
    let Some(last) = steps.last() else {
        return Ok(Vec::new());
    };
    // What the agent saw before each step, and, for how the last answer is shown, once more.
    let seen = steps.iter().chain([last]).map(|step| &step.observation);
    let asked = seen
        .enumerate()
        .map(|(at, seen)| asked(prompt_format, attempt, (at, seen)));
    let asked: Vec<(Prompt, Vec<ToolDefinition>)> = asked.collect::<Result<_>>()?;
    let answers = steps.iter().zip(asked.windows(2));
    let answers = answers.filter(|(step, _)| !step.notes.contains(&StepNote::AskedAgain));
    let answers = answers.map(|(step, pair)| match pair {
        [(prompt, tools), (later, _)] => answer(step, (prompt, tools), later),
        _ => Err(Error::invalid(PROMPTED, "a step has no prompt")),
    });
    answers.collect()
}

/// An answer behind its prompt, as a later prompt shows it.
fn answer(
    step: &Step,
    (prompt, tools): (&Prompt, &[ToolDefinition]),
    later: &Prompt,
) -> Result<Prompted> {
    let answer = later.messages.get(prompt.messages.len());
    let answer = answer.filter(|message| message.speaker == Speaker::Assistant);
    let answer = answer.ok_or_else(|| {
        let message = "the prompt format does not show an answer in later prompts";
        Error::unsupported(PROMPTED, message).with("step", step.index)
    })?;
    let mut completion = message(answer)?;
    completion.content = plain(&prompt.open)? + &completion.content;
    Ok(Prompted {
        prompt: prompt.messages.iter().map(message).collect::<Result<_>>()?,
        completion: vec![completion],
        tools: tools.iter().map(function).collect(),
    })
}

/// What the model is asked behind the first steps of an attempt.
fn asked(
    prompt_format: &dyn PromptFormat,
    attempt: &Trace,
    (steps, observation): (usize, &Observation),
) -> Result<(Prompt, Vec<ToolDefinition>)> {
    let before: &[Step] = attempt.trajectory.steps.get(..steps).unwrap_or_default();
    let mut view = TurnView::new(&attempt.task, &attempt.trajectory.injection, observation);
    view.steps = before;
    match prompt_format.turn(&view)? {
        TurnMove::Generate { prompt, tools, .. } => Ok((prompt, tools)),
        _ => Err(
            Error::unsupported(PROMPTED, "the prompt format asks no model at this step")
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
        _ => {
            let message = "the prompt format has a speaker that chat templates do not know";
            return Err(Error::unsupported(PROMPTED, message));
        }
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
            "the prompt format writes markers of its own, which a chat template does not know",
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
    use journeyman::{
        agent::ChatFormat,
        domain::{Action, Exposure, SkillUse},
        testing::{ScriptedFormat, sample},
    };

    fn attempt() -> Trace {
        let task = sample::task("t", &["one", "two", "three"]);
        let mut attempt = sample::trace("a", &task, &["one", "two", "three"], true);
        attempt.trajectory.injection = sample::injection(&[sample::skill("first")]);
        attempt
    }

    #[test]
    fn each_answer_stands_behind_what_the_agent_had_seen() {
        let attempt = attempt();
        let answers = prompted(&ChatFormat::default(), &attempt).unwrap();
        assert_eq!(answers.len(), 3);
        for (at, answer) in answers.iter().enumerate() {
            // System, task, and of each step before an answer and what came back.
            assert_eq!(answer.prompt.len(), 2 + 2 * at);
            assert_eq!(answer.completion.len(), 1);
            assert_eq!(answer.completion[0].role, "assistant");
            assert!(answer.prompt[1].content.contains("To do first"));
        }
        // What the agent said stands in later prompts as it is to be learned.
        assert_eq!(answers[1].prompt[2], answers[0].completion[0]);
        let mut nothing = attempt;
        nothing.trajectory.steps.clear();
        assert_eq!(prompted(&ChatFormat::default(), &nothing), Ok(Vec::new()));
    }

    #[test]
    fn what_was_asked_again_is_left_out_and_a_skill_that_came_later_is_refused() {
        let mut attempt = attempt();
        attempt.trajectory.steps[1].notes = vec![StepNote::AskedAgain];
        let answers = prompted(&ChatFormat::default(), &attempt).unwrap();
        let lengths: Vec<usize> = answers.iter().map(|one| one.prompt.len()).collect();
        assert_eq!(lengths, [2, 6]);
        let mut later = Exposure::new(sample::skill("later").reference(), SkillUse::Unknown);
        later.since = 2;
        attempt.trajectory.exposures = vec![later];
        let error = prompted(&ChatFormat::default(), &attempt).unwrap_err();
        assert!(error.hint_text().is_some(), "{error}");
    }

    #[test]
    fn calls_by_a_models_own_interface_are_calls() {
        let mut attempt = attempt();
        let step = &mut attempt.trajectory.steps[0];
        step.action = Action::call("brew", json!({"cups": 2}));
        step.transcript.clear();
        step.observation.tools = vec![ToolDefinition::new("brew", "", json!({"type": "object"}))];
        let mut prompt_format = ChatFormat::default();
        prompt_format.native_tools = true;
        let answers = prompted(&prompt_format, &attempt).unwrap();
        let call = &answers[0].completion[0].tool_calls[0];
        assert_eq!(call["function"]["name"], "brew");
        assert_eq!(call["function"]["arguments"]["cups"], 2);
        assert_eq!(answers[0].tools[0]["function"]["name"], "brew");
        let mut later = answers[1].prompt.iter();
        let answered = later.find(|message| message.role == "tool").unwrap();
        assert_eq!(answered.tool_call_id.as_deref(), call["id"].as_str());
    }

    #[test]
    fn a_prompt_format_that_no_template_renders_is_refused() {
        assert!(prompted(&ScriptedFormat, &attempt()).is_err());
    }
}
