//! ARISE's summary: parses the document of an answer (D.1), and makes a fallback without a model.

use std::collections::BTreeSet;

use super::{object, template::Purpose};
use crate::{
    domain::{Action, Role, SkillDraft, Step, ToolCall, ToolDefinition, Trace},
    library::format::{AriseDocument, AriseSchema, SchemaRefusal, TraceStep},
    text::without_thinking,
};

/// Parses a model's answer as a document, as the role summarize does: the first three stages of validation (ARISE D.1:
/// extract, parse, clip).
///
/// # Errors
/// A refusal with its stage; the reason can be put into a repair prompt.
///
/// ```
/// use journeyman::{
///     library::format::{AriseSchema, ProblemTypes},
///     agent::role::read_arise,
/// };
///
/// let schema = AriseSchema::new(ProblemTypes::general());
/// let answer = r#"Here it is: {"skill_name": "unseal_first", "key_insight": "Unseal a tin first",
///     "method": ["Call unseal", "Then brew"], "check": "The tin is open"}"#;
/// assert_eq!(read_arise(answer, &schema)?.skill_name(), "unseal_first");
///
/// let refusal = read_arise("I cannot.", &schema).unwrap_err();
/// assert_eq!(refusal.to_string(), "the answer has no JSON object (stage extract)");
/// # Ok::<(), journeyman::library::format::SchemaRefusal>(())
/// ```
pub fn read_arise(text: &str, schema: &AriseSchema) -> Result<AriseDocument, SchemaRefusal> {
    object::read(
        object::form(Purpose::Of(Role::Summarize)),
        text,
        |object, _| schema.read(&object),
    )
}

/// Makes a skill of an attempt without a model: the trace abstraction (D.1). The skill names tools and arguments, and has no
/// value, no message and no word of the task. Steps that the environment refused are left out. An attempt without a call makes one of
/// what the agent wrote if `keeps_reasoning`, else `None`: nothing in the skill would say when it helps.
pub(super) fn trace_abstract(
    attempt: &Trace,
    schema: &AriseSchema,
    keeps_reasoning: bool,
) -> Option<SkillDraft> {
    let steps = attempt.trajectory.steps.iter();
    let done: Vec<&Step> = steps.filter(|step| !step.result.is_error).collect();
    let steps: Vec<TraceStep> = done.iter().flat_map(|step| abstracted(step)).collect();
    let calls = |step: &TraceStep| matches!(step, TraceStep::Call { .. });
    if steps.iter().any(calls) {
        return Some(SkillDraft::from(&schema.trace_abstract(&steps)));
    }
    let written = done.iter().filter_map(|step| match &step.action {
        Action::Message(text) => Some(without_thinking(text)),
        _ => None,
    });
    let written = written.collect::<Vec<_>>().join(" ");
    (keeps_reasoning && !written.trim().is_empty())
        .then(|| SkillDraft::from(&schema.reasoning_abstract(&written)))
}

fn abstracted(step: &Step) -> Vec<TraceStep> {
    match &step.action {
        Action::Call(calls) => {
            let call = |call| abstract_call(call, &step.observation.tools);
            calls.iter().map(call).collect()
        }
        Action::Message(_) => vec![TraceStep::Message],
        Action::EndTurn => Vec::new(),
    }
}

/// A name that a model invented may contain a value. So for a known tool only the names of its definition are used, and for
/// an unknown tool only names that look like identifiers of a program.
fn abstract_call(call: &ToolCall, tools: &[ToolDefinition]) -> TraceStep {
    let definition = tools.iter().find(|tool| tool.name == call.tool);
    let properties = definition.and_then(|tool| tool.input_schema.get("properties"));
    let known = |name: &String| match properties {
        Some(known) => known.get(name).is_some(),
        None => is_identifier(name),
    };
    let names: BTreeSet<&String> = call.arguments.keys().collect();
    TraceStep::Call {
        tool: match is_name(&call.tool) && (definition.is_some() || is_identifier(&call.tool)) {
            true => call.tool.clone(),
            false => "a tool".to_owned(),
        },
        arguments: names
            .into_iter()
            .filter(|name| is_name(name) && known(name))
            .cloned()
            .collect(),
    }
}

/// Whether a text begins with a lower-case letter, has only letters, digits and underscores, and at most two digits. Ids and
/// names of persons mostly do not.
fn is_identifier(text: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || c == '_';
    let digits = text.chars().filter(|c| c.is_numeric()).count();
    text.starts_with(char::is_lowercase) && text.chars().all(fits) && digits <= 2
}

fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    !text.is_empty() && text.chars().count() <= 64 && text.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        library::format::{ProblemTypes, SchemaStage},
        testing::sample,
    };

    fn schema() -> AriseSchema {
        AriseSchema::new(ProblemTypes::new(["kitchen", "general"]))
    }

    /// The stage and the reason that an answer is refused for.
    fn check(answer: &str, expect: &str) {
        let refusal = read_arise(answer, &schema()).unwrap_err();
        assert_eq!(refusal.to_string(), expect);
    }

    const GOOD: &str = r#"{"skill_name": "unseal_first", "problem_type": "kitchen", "key_insight": "A sealed tin must be unsealed before it is used", "method": ["Call unseal with the tin", "Then brew"], "check": "The tin is open"}"#;

    #[test]
    fn answers_are_read_or_refused_with_their_stage() {
        let read = read_arise(
            &format!("<think>{{}}</think>Here:\n```json\n{GOOD}\n```"),
            &schema(),
        );
        assert_eq!(read.unwrap().to_json(), GOOD);
        check("I cannot.", "the answer has no JSON object (stage extract)");
        check(&GOOD[..60], "the JSON object is not closed (stage parse)");
        check(
            "{\"skill_name\": unquoted}",
            "the JSON object is not valid at line 1 column 16 (stage parse)",
        );
        check(
            &GOOD.replace("kitchen", "cellar"),
            "problem_type is none of: kitchen, general (stage parse)",
        );
        check(
            &GOOD.replace("\"method\"", "\"steps\""),
            "method is missing (stage parse)",
        );
        let long = GOOD
            .replace("Then brew", &"brew ".repeat(30))
            .replace("Call unseal", &"call ".repeat(30));
        assert!(read_arise(&long, &schema()).is_ok());
        let mut schema = schema();
        schema.limits.total = 120;
        let refusal = read_arise(&long, &schema).unwrap_err();
        assert_eq!(refusal.stage, SchemaStage::Clip);
        let error = crate::Error::from(refusal);
        assert_eq!(error.kind(), crate::ErrorKind::Model);
    }

    fn called(tool: &str, arguments: serde_json::Value) -> Action {
        Action::Call(vec![ToolCall {
            tool: tool.to_owned(),
            arguments: arguments.as_object().unwrap().clone(),
        }])
    }

    /// The abstraction of an attempt of these actions; those that are marked were refused.
    fn check_abstract(actions: &[(Action, bool)], (title, insight): (&str, &str), method: &[&str]) {
        let task = sample::task("t", &["T-0", "sesame"]);
        let words = vec!["sesame"; actions.len()];
        let mut attempt = sample::trace("a-1", &task, &words, true);
        for (step, (action, refused)) in attempt.trajectory.steps.iter_mut().zip(actions) {
            step.action = action.clone();
            step.transcript = "I say sesame to T-0".to_owned();
            step.result.is_error = *refused;
        }
        let schema = AriseSchema::new(ProblemTypes::general());
        let draft = trace_abstract(&attempt, &schema, true).unwrap();
        assert_eq!(draft.title, title);
        assert_eq!(draft.description, insight);
        let document = AriseDocument::from_draft(&draft).unwrap();
        assert_eq!(document.method(), method);
        assert_eq!(schema.fit(document.clone()), Ok(document));
        let text = format!("{draft:?}");
        for value in ["T-0", "sesame", "Ada", "77"] {
            assert!(!text.contains(value), "{value} in {text}");
        }
    }

    #[test]
    fn an_abstraction_holds_no_value_of_its_task() {
        use serde_json::json;
        let get = called("get_ticket", json!({"customer": "Ada", "ticket": "T-0"}));
        let close = called("close", json!({"ticket": "T-0", "amount": 77}));
        check_abstract(
            &[
                (get.clone(), true),
                (get.clone(), false),
                (get.clone(), false),
                (Action::Message("sesame".to_owned()), false),
                (close.clone(), false),
                (Action::EndTurn, false),
            ],
            ("get_ticket_then_close", "Solve by: get_ticket, close"),
            &[
                "call get_ticket with customer, ticket",
                "say something to the user",
                "call close with amount, ticket",
            ],
        );
        let odd = called("open sesame", json!({"Ada is 77": 1, "x": 2}));
        check_abstract(
            &[(odd, false)],
            ("a_tool", "Solve by: a tool"),
            &["call a tool with x", "Follow the insight"],
        );
        let same = called("same", json!({}));
        check_abstract(
            &[
                (get.clone(), false),
                (close.clone(), false),
                (get.clone(), false),
                (close, false),
                (same, false),
            ],
            (
                "get_ticket_then_close_then_same",
                "Solve by: get_ticket, close, same",
            ),
            &[
                "call get_ticket with customer, ticket",
                "call close with amount, ticket, then get_ticket with customer, ticket",
                "call close with amount, ticket, then same",
            ],
        );
    }

    #[test]
    fn a_long_attempt_is_never_cut_silently() {
        use serde_json::json;
        let actions: Vec<(Action, bool)> = (0..60)
            .map(|number| {
                (
                    called(&format!("tool_{number}"), json!({"ticket": "T-0"})),
                    false,
                )
            })
            .collect();
        let names = |numbers: std::ops::Range<usize>| {
            let names: Vec<String> = numbers.map(|number| format!("tool_{number}")).collect();
            names.join(", then ")
        };
        let insight = "Solve by: tool_0, tool_1, tool_2, tool_3, tool_4, tool_5, tool_6, tool_7, tool_8, tool_9, tool_10 and 49 more";
        let method = [
            format!("call {}", names(0..4)),
            format!("call {}", names(4..8)),
            format!("call {}, then 48 more steps", names(8..12)),
        ];
        check_abstract(
            &actions,
            ("tool_0_then_tool_1_then_tool_2", insight),
            &method.each_ref().map(String::as_str),
        );
    }

    #[test]
    fn an_attempt_without_a_call_keeps_its_reasoning_where_the_recipe_says_so() {
        let task = sample::task("t", &["brew"]);
        let attempt = sample::trace("a-1", &task, &["unseal the tin", "brew the coffee"], true);
        assert!(trace_abstract(&attempt, &schema(), false).is_none());
        let draft = trace_abstract(&attempt, &schema(), true).unwrap();
        assert_eq!(draft.title, "unseal_the_tin");
        assert_eq!(
            draft.description,
            "Solve by: unseal the tin brew the coffee"
        );
        let document = AriseDocument::from_draft(&draft).unwrap();
        assert_eq!(schema().fit(document.clone()), Ok(document));
        // What was refused, and silence, are no reasoning.
        let mut refused = attempt.clone();
        (refused.trajectory.steps.iter_mut()).for_each(|step| step.result.is_error = true);
        assert!(trace_abstract(&refused, &schema(), true).is_none());
    }
}
