//! What tasks expect, and the judge that compares an attempt with it: a server has no outcome of its own.

use std::collections::BTreeMap;

use async_trait::async_trait;
use journeyman::{
    Result, TaskId,
    contract::{Judge, JudgeRequest},
    domain::{Action, EndReason, Step, ToolCall, Verdict},
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What has to be true at the end of an attempt.
///
/// ```
/// use journeyman_mcp::Expected;
///
/// let due = r#"{"message": ["closed"], "calls": [{"tool": "close_ticket", "arguments": {"id": 7}}]}"#;
/// let due: Expected = serde_json::from_str(due)?;
/// assert_eq!(due.calls[0].tool, "close_ticket");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Texts that the agent's last message has to contain, upper and lower case alike.
    #[serde(default)]
    pub message: Vec<String>,
    /// Calls that have to be made and not refused, in this order. Other calls may stand between them.
    #[serde(default)]
    pub calls: Vec<ExpectedCall>,
}

impl Expected {
    /// Texts that stand in the last message, and calls that were made.
    pub fn new(message: Vec<String>, calls: Vec<ExpectedCall>) -> Self {
        Self { message, calls }
    }
}

/// A call that has to be made.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedCall {
    /// The tool's name.
    pub tool: String,
    /// Arguments that the call has to have with these values; it may have others.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

impl ExpectedCall {
    /// A call of a tool with at least these arguments.
    pub fn new(tool: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self {
            tool: tool.into(),
            arguments,
        }
    }
}

impl Expected {
    /// Whether it is true of every attempt.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.message.iter().all(|text| text.trim().is_empty()) && self.calls.is_empty()
    }

    fn is_met(&self, steps: &[Step]) -> bool {
        let message = steps.iter().rev().find_map(|step| match &step.action {
            Action::Message(text) => Some(text.to_lowercase()),
            _ => None,
        });
        let message = message.unwrap_or_default();
        let says = |text: &String| message.contains(&text.trim().to_lowercase());
        let made = steps.iter().filter(|step| !step.result.is_error);
        let mut made = made.flat_map(|step| match &step.action {
            Action::Call(calls) => calls.as_slice(),
            _ => &[],
        });
        // Each expected call takes the first that fits after the one before it.
        let mut called = self.calls.iter();
        called.all(|call| made.any(|one| call.fits(one))) && self.message.iter().all(says)
    }
}

impl ExpectedCall {
    fn fits(&self, call: &ToolCall) -> bool {
        let mut arguments = self.arguments.iter();
        self.tool == call.tool
            && arguments.all(|(name, due)| call.arguments.get(name).is_some_and(|v| same(v, due)))
    }
}

/// Numbers are compared by value: 3 and 3.0 are the same.
fn same(found: &Value, due: &Value) -> bool {
    match (found.as_f64(), due.as_f64()) {
        (Some(found), Some(due)) => found == due,
        _ => found == due,
    }
}

/// A [`Judge`] that compares an attempt with what its task expects.
///
/// The score of a success is 1 / (1 + refused calls), of those calls that were made before what is expected was true: a skill
/// that spares refusals is worth something to an agent that succeeds anyhow. A failure's score is 0. There is no verdict on a
/// task without an expectation, nor on an attempt that a part's failure ended before what is expected was true.
///
/// ```
/// use journeyman::{
///     Seed,
///     contract::{Judge, JudgeRequest},
///     domain::{Action, Source, Step, StepResult, Task, Trajectory},
/// };
/// use journeyman_mcp::{Expected, ExpectationJudge};
///
/// # futures::executor::block_on(async {
/// let task = Task::new("lima", "What time is it in Lima at 12:00 UTC?");
/// let due = Expected::new(vec!["07:00".to_owned()], Vec::new());
/// let judge = ExpectationJudge::new([(task.id.clone(), due)]);
/// let mut trajectory = Trajectory::new("first".into(), task.id.clone(), Seed(7));
/// let says = Action::Message("It is 07:00 in Lima.".to_owned());
/// trajectory.push(Step::new(says, StepResult::new("", Source::default())));
/// let request = JudgeRequest::new(&task, &trajectory);
/// assert_eq!(judge.judge(&request).await?.success(), Some(true));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct ExpectationJudge(BTreeMap<TaskId, Expected>);

impl ExpectationJudge {
    /// A judge of these tasks.
    pub fn new(expected: impl IntoIterator<Item = (TaskId, Expected)>) -> Self {
        Self(expected.into_iter().collect())
    }

    /// The calls that tasks expect.
    pub fn calls(&self) -> impl Iterator<Item = (&TaskId, &ExpectedCall)> {
        let tasks = self.0.iter();
        tasks.flat_map(|(task, expected)| expected.calls.iter().map(move |call| (task, call)))
    }
}

#[async_trait]
impl Judge for ExpectationJudge {
    async fn judge(&self, request: &JudgeRequest<'_>) -> Result<Verdict> {
        let Some(expected) = self.0.get(&request.task.id) else {
            return Ok(Verdict::undecided());
        };
        let steps = &request.trajectory.steps;
        if !expected.is_met(steps) {
            return match request.trajectory.end {
                EndReason::Failed(_) | EndReason::ContextLength { .. } => Ok(Verdict::undecided()),
                _ => Verdict::scored(false, 0.0),
            };
        }
        let all = steps.len();
        let needed = (0..all).find(|end| expected.is_met(&steps[..*end]));
        let needed = &steps[..needed.unwrap_or(all)];
        let refused = needed.iter().filter(|step| step.result.is_error).count();
        Verdict::scored(true, 1.0 / (1.0 + refused as f64))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use futures::executor::block_on;
    use journeyman::{
        Seed,
        domain::{Source, StepResult, Task, Trajectory},
    };
    use serde_json::json;

    use super::*;

    fn verdict(expected: Value, steps: Vec<(Action, bool)>) -> (Option<bool>, f64) {
        let task = Task::new("t", "Do it.");
        let mut trajectory = Trajectory::new("a".into(), task.id.clone(), Seed(1));
        for (action, is_error) in steps {
            let mut result = StepResult::new("said", Source::default());
            result.is_error = is_error;
            trajectory.push(Step::new(action, result));
        }
        let expected = serde_json::from_value(expected).unwrap();
        let judge = ExpectationJudge::new([(task.id.clone(), expected)]);
        let request = JudgeRequest::new(&task, &trajectory);
        let verdict = block_on(judge.judge(&request)).unwrap();
        (verdict.success(), verdict.score())
    }

    #[test]
    fn calls_are_due_in_order_with_their_arguments_and_unrefused() {
        let due = json!({"calls": [
            {"tool": "find", "arguments": {"id": 3}},
            {"tool": "close", "arguments": {"note": {"a": [1]}}},
        ]});
        let find = || Action::call("find", json!({"id": 3.0, "deep": true}));
        let close = || Action::call("close", json!({"note": {"a": [1]}}));
        let other = || Action::call("find", json!({"id": 4}));
        let told = |steps| verdict(due.clone(), steps);
        let done = vec![(find(), false), (other(), false), (close(), false)];
        assert_eq!(told(done), (Some(true), 1.0));
        let after_a_refusal = vec![(close(), true), (find(), false), (close(), false)];
        assert_eq!(told(after_a_refusal), (Some(true), 0.5));
        let refused_afterwards = vec![(find(), false), (close(), false), (other(), true)];
        assert_eq!(told(refused_afterwards), (Some(true), 1.0));
        for failed in [
            vec![(close(), false), (find(), false)],
            vec![(find(), true), (close(), false)],
            vec![(other(), false), (close(), false)],
            vec![(find(), false), (close(), true)],
            Vec::new(),
        ] {
            assert_eq!(told(failed), (Some(false), 0.0));
        }
    }

    #[test]
    fn the_last_message_has_to_say_what_is_due() {
        let due = json!({"message": ["Lima ", "05:30"]});
        let says = |text: &str| (Action::Message(text.to_owned()), false);
        let told = |steps| verdict(due.clone(), steps).0;
        assert_eq!(told(vec![says("It is 05:30 in lima.")]), Some(true));
        assert_eq!(told(vec![says("It is 05:30.")]), Some(false));
        let corrected = vec![says("It is 05:30 in Lima."), says("I do not know.")];
        assert_eq!(told(corrected), Some(false));
        let empty: Expected = serde_json::from_value(json!({"message": [" "]})).unwrap();
        assert!(empty.is_empty());
    }
}
