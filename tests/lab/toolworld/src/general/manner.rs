//! How a world is shown and how its services answer, in the forms that tools have elsewhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::recipe::json_value;
use crate::refusal::{Refusal, Wording};
use crate::seed::Draws;
use crate::simulate::Outcome;
use crate::tool::{Setting, ToolName, wire_name};

/// Number of styles in which a refusal names what is missing: those of [`Wording`], then sentences, then JSON.
pub const NAMED_STYLES: u8 = 11;
/// Number of styles of opaque refusals.
pub const OPAQUE_STYLES: u8 = 3;
/// Number of styles of results.
pub const RESULT_STYLES: u8 = 4;

/// How services refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusals {
    /// The refusal names the call or the value that is missing; the style is below [`NAMED_STYLES`].
    Named(u8),
    /// The refusal tells the kind of what is missing by a code that is the same everywhere, and nothing else; the style is
    /// below [`OPAQUE_STYLES`].
    Opaque(u8),
}

/// How a world's tools are defined and how they answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manner {
    /// Chooses the details of the tools' definitions.
    pub seed: u64,
    /// How services refuse.
    pub refusals: Refusals,
    /// The style of results, below [`RESULT_STYLES`].
    pub results: u8,
    /// Whether definitions have schema keys beyond type, range and enumeration: titles, defaults, examples.
    pub further_keys: bool,
    /// Values beyond those that the task and the contract name which a parameter's enumeration has to allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Setting>,
}

impl Manner {
    /// Draws a manner whose refusals name what is missing.
    #[must_use]
    pub fn named(draws: &mut Draws) -> Self {
        let style = draws.below(usize::from(NAMED_STYLES)) as u8;
        Self::with(Refusals::Named(style), draws)
    }

    /// Draws a manner whose refusals are opaque.
    #[must_use]
    pub fn opaque(draws: &mut Draws) -> Self {
        let style = draws.below(usize::from(OPAQUE_STYLES)) as u8;
        Self::with(Refusals::Opaque(style), draws)
    }

    fn with(refusals: Refusals, draws: &mut Draws) -> Self {
        Self {
            seed: draws.below(1 << 32) as u64,
            refusals,
            results: draws.below(usize::from(RESULT_STYLES)) as u8,
            further_keys: draws.chance(0.25),
            allowed: Vec::new(),
        }
    }

    /// Whether refusals are opaque.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        matches!(self.refusals, Refusals::Opaque(_))
    }

    /// The text of an answer to a call of this tool.
    #[must_use]
    pub fn answer(&self, tool: &str, outcome: &Outcome) -> String {
        match outcome {
            Outcome::Refused(refusal) => match self.refusals {
                Refusals::Named(style) => named(style, tool, refusal),
                Refusals::Opaque(style) => opaque(style, refusal),
            },
            Outcome::Accepted(value) => accepted(self.results, value.as_ref()),
            Outcome::Done => match self.results {
                0 => "done".to_owned(),
                1 => "The task is done.".to_owned(),
                2 => spaced(&json!({"status": "done"})),
                _ => compact(json!({"done": true})),
            },
        }
    }
}

fn accepted(style: u8, value: Option<&Setting>) -> String {
    let json = value.map(|Setting { parameter, value }| (parameter, json_value(parameter, value)));
    match (style, value, json) {
        (0, None, _) => "ok".to_owned(),
        (0, Some(Setting { parameter, value }), _) => format!("ok {parameter} {value}"),
        (1, None, _) => "That worked.".to_owned(),
        (1, Some(Setting { parameter, value }), _) => format!("The {parameter} is {value}."),
        (2, _, None) => spaced(&json!({"status": "ok"})),
        (2, _, Some((parameter, value))) => spaced(&json!({"status": "ok", parameter: value})),
        (_, _, None) => compact(json!({"ok": true})),
        (_, _, Some((parameter, value))) => compact(json!({"result": {parameter: value}})),
    }
}

fn named(style: u8, tool: &str, refusal: &Refusal) -> String {
    if let Some(wording) = Wording::ALL.get(usize::from(style)) {
        return wording.refuse(refusal);
    }
    match refusal {
        Refusal::NeedsCall(helper) => needs_call(style, tool, helper),
        Refusal::NeedsValue(setting) => needs_value(style, tool, setting),
        Refusal::NeedsResult { parameter, source } => needs_result(style, tool, parameter, source),
        other => fault(style, other),
    }
}

fn needs_call(style: u8, tool: &str, helper: &ToolName) -> String {
    let helper = wire_name(helper);
    match style {
        5 => format!("{tool} needs a call of {helper} first."),
        6 => format!("Call {helper} before this."),
        7 => format!("Refused: {helper} was not called."),
        8 => spaced(&json!({"error": "missing call", "call": helper})),
        9 => compact(json!({"ok": false, "needs": {"call": helper}})),
        _ => spaced(&json!({"status": "failed", "message": format!("call {helper} first")})),
    }
}

fn needs_value(style: u8, tool: &str, Setting { parameter, value }: &Setting) -> String {
    let json = json_value(parameter, value);
    match style {
        5 => format!("{tool} needs {parameter} to be {value}."),
        6 => format!("Set {parameter} to {value}."),
        7 => format!("Refused: {parameter} is not {value}."),
        8 => spaced(&json!({"error": "wrong value", "parameter": parameter, "expected": json})),
        9 => compact(json!({"ok": false, "needs": {parameter: json}})),
        _ => {
            spaced(&json!({"status": "failed", "message": format!("{parameter} must be {value}")}))
        }
    }
}

fn needs_result(style: u8, tool: &str, parameter: &str, source: &ToolName) -> String {
    let source = wire_name(source);
    match style {
        5 => format!("{tool} needs the {parameter} that {source} returns."),
        6 => format!("Take {parameter} from the result of {source}."),
        7 => format!("Refused: {parameter} is not what {source} returned."),
        8 => spaced(&json!({"error": "wrong source", "parameter": parameter, "source": source})),
        9 => compact(json!({"ok": false, "needs": {parameter: {"from": source}}})),
        _ => spaced(
            &json!({"status": "failed", "message": format!("{parameter} comes from {source}")}),
        ),
    }
}

fn fault(style: u8, refusal: &Refusal) -> String {
    let words = match refusal {
        Refusal::WrongValue(parameter) => format!("wrong {parameter}"),
        Refusal::UnknownTool(tool) => format!("no tool {}", wire_name(tool)),
        Refusal::UnknownParameter { tool, parameter } => {
            format!("{} has no {parameter}", wire_name(tool))
        }
        Refusal::WrongType {
            parameter, number, ..
        } => format!(
            "{parameter} takes a {}",
            if *number { "number" } else { "word" }
        ),
        _ => "bad call".to_owned(),
    };
    match style {
        5..=7 => format!("Refused: {words}."),
        8 => spaced(&json!({"error": words})),
        9 => compact(json!({"ok": false, "error": words})),
        _ => spaced(&json!({"status": "failed", "message": words})),
    }
}

/// The kind of what is missing as a code.
fn opaque(style: u8, refusal: &Refusal) -> String {
    let kind = match refusal {
        Refusal::NeedsCall(_) => 0,
        Refusal::NeedsValue(_) => 1,
        Refusal::NeedsResult { .. } => 2,
        _ => 3,
    };
    let pick = |words: [&str; 4]| words.get(kind).copied().unwrap_or_default().to_owned();
    match style {
        0 => pick(["error 17", "error 23", "error 31", "error 40"]),
        1 => pick([
            "precondition failed",
            "value not accepted",
            "reference not found",
            "bad request",
        ]),
        _ => pick([
            r#"{"code": 409}"#,
            r#"{"code": 422}"#,
            r#"{"code": 424}"#,
            r#"{"code": 400}"#,
        ]),
    }
}

/// JSON without spaces, its keys in order.
fn compact(mut value: Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

/// JSON with a space after each colon and comma, as Python writes it, its keys in order.
#[must_use]
pub fn spaced(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<&String, &Value> = fields.iter().collect();
            let fields = fields
                .into_iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), spaced(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            let items = items.iter().map(spaced);
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(manner: &Manner, outcome: Outcome, expect: &str) {
        assert_eq!(manner.answer("unseal_coffee", &outcome), expect);
    }

    #[test]
    fn answers_have_the_style_of_the_world() {
        let mut manner = Manner::named(&mut Draws::new("manner", &[1]));
        let call = || Outcome::Refused(Refusal::NeedsCall(ToolName::new("lift", "bell")));
        let ticket = || {
            Outcome::Accepted(Some(Setting {
                parameter: "ticket".to_owned(),
                value: "42".to_owned(),
            }))
        };
        manner.refusals = Refusals::Named(0);
        check(&manner, call(), "error needs lift bell");
        manner.refusals = Refusals::Named(8);
        check(
            &manner,
            call(),
            r#"{"call": "lift_bell", "error": "missing call"}"#,
        );
        manner.refusals = Refusals::Opaque(1);
        check(&manner, call(), "precondition failed");
        manner.results = 2;
        check(&manner, ticket(), r#"{"status": "ok", "ticket": 42}"#);
        manner.results = 1;
        check(&manner, ticket(), "The ticket is 42.");
    }
}
