//! The pieces of an answer's message: texts in parts, and calls.

use journeyman::text::WrittenCall;
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// A call, or a piece of one in a stream. The first piece has id and name, later ones go on with the arguments.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CallPiece {
    /// Which call it belongs to; absent in a whole answer.
    #[serde(default, deserialize_with = "forgiven")]
    pub(crate) index: Option<usize>,
    #[serde(default, deserialize_with = "forgiven")]
    pub(crate) id: Option<String>,
    #[serde(default, deserialize_with = "forgiven")]
    pub(crate) function: Option<CalledFunction>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct CalledFunction {
    #[serde(default, deserialize_with = "forgiven")]
    pub(crate) name: Option<String>,
    /// JSON as a text; some servers give the object itself.
    pub(crate) arguments: Option<Value>,
}

/// A field that has another form than it should counts as absent.
pub(crate) fn forgiven<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

/// What a message's content says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) words: String,
    pub(crate) thoughts: String,
}

/// Reads a content: a text, or parts, of which those of other kinds than text and thoughts are passed over.
pub(crate) fn said(content: &Value) -> Said {
    let mut all = Said::default();
    match content {
        Value::String(text) => all.words.push_str(text),
        Value::Array(parts) => {
            for part in parts {
                let thought = ["thinking", "reasoning"];
                let thought = thought.into_iter().find_map(|key| part.get(key));
                match (thought, part) {
                    (Some(thought), _) => all.thoughts.push_str(&said(thought).words),
                    (None, Value::String(text)) => all.words.push_str(text),
                    (None, part) => {
                        let text = part.get("text").and_then(Value::as_str);
                        all.words.push_str(text.unwrap_or_default());
                    }
                }
            }
        }
        _ => {}
    }
    all
}

/// The calls of an answer.
#[derive(Debug, Default)]
pub(crate) struct Calls(Vec<Open>);

#[derive(Debug)]
struct Open {
    index: usize,
    call: WrittenCall,
}

impl Calls {
    /// Takes in pieces of calls, and gives their number.
    pub(crate) fn take_in(&mut self, pieces: impl Iterator<Item = CallPiece>) -> u64 {
        let mut count = 0;
        for (at, piece) in pieces.enumerate() {
            count += 1;
            let call = self.of(piece.index.unwrap_or(at), &piece);
            if let Some(id) = piece.id.filter(|_| call.id.is_empty()) {
                call.id = id;
            }
            let Some(function) = piece.function else {
                continue;
            };
            // Some servers repeat the name in each piece.
            if let Some(name) = function.name.filter(|_| call.tool.is_empty()) {
                call.tool = name;
            }
            match function.arguments {
                Some(Value::String(text)) => call.arguments.push_str(&text),
                Some(Value::Null) | None => {}
                Some(whole) => call.arguments = whole.to_string(),
            }
        }
        count
    }

    pub(crate) fn into_written(mut self) -> Vec<WrittenCall> {
        self.0.sort_by_key(|open| open.index);
        self.0.into_iter().map(|open| open.call).collect()
    }

    /// The call that a piece goes on with, or a new one. Some servers give all calls one index: another id, or another name
    /// behind whole arguments, begins another call.
    fn of(&mut self, index: usize, piece: &CallPiece) -> &mut WrittenCall {
        let id = piece.id.as_deref().unwrap_or_default();
        let name = piece.function.as_ref().and_then(|one| one.name.as_deref());
        let latest = self.0.iter().rposition(|open| open.index == index);
        let goes_on = latest.filter(|at| {
            let known = self.0.get(*at).map(|open| &open.call);
            known.is_some_and(|known| match (id.is_empty(), known.id.is_empty()) {
                (false, false) => id == known.id,
                _ => !(name.is_some_and(|name| !name.is_empty()) && is_whole(&known.arguments)),
            })
        });
        let at = goes_on.unwrap_or_else(|| {
            let call = WrittenCall::default();
            self.0.push(Open { index, call });
            self.0.len() - 1
        });
        &mut self.0[at].call
    }
}

fn is_whole(arguments: &str) -> bool {
    matches!(serde_json::from_str(arguments), Ok(Value::Object(_)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_said(content: Value, words: &str, thoughts: &str) {
        let found = said(&content);
        assert_eq!(
            (found.words.as_str(), found.thoughts.as_str()),
            (words, thoughts)
        );
    }

    #[test]
    fn a_content_is_a_text_or_parts() {
        check_said(json!("yes"), "yes", "");
        check_said(json!(null), "", "");
        check_said(json!(7), "", "");
        check_said(
            json!([{"type": "text", "text": "a"}, "b", {"type": "image_url"}]),
            "ab",
            "",
        );
        let thoughts = json!([{"type": "text", "text": "hm"}]);
        check_said(
            json!([{"type": "thinking", "thinking": thoughts}, {"type": "text", "text": "yes"}]),
            "yes",
            "hm",
        );
        check_said(json!([{"type": "reasoning", "reasoning": "hm"}]), "", "hm");
    }

    /// The calls as `id name arguments`, of pieces that come one by one.
    fn check_calls(pieces: &[Value], expect: &[&str]) {
        let mut calls = Calls::default();
        for piece in pieces {
            let piece: CallPiece = serde_json::from_value(piece.clone()).unwrap();
            assert_eq!(calls.take_in(std::iter::once(piece)), 1);
        }
        let written = calls.into_written().into_iter();
        let found: Vec<String> = written
            .map(|call| format!("{} {} {}", call.id, call.tool, call.arguments))
            .collect();
        assert_eq!(found, expect);
    }

    fn piece(index: Value, id: Value, name: Value, arguments: Value) -> Value {
        json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
    }

    #[test]
    fn calls_are_told_apart_by_index_by_id_and_by_name() {
        let none = || Value::Null;
        let begun = |index: u64, id: &str, name: &str| {
            piece(json!(index), json!(id), json!(name), json!(""))
        };
        let more = |index: u64, text: &str| piece(json!(index), none(), none(), json!(text));
        check_calls(
            &[
                begun(0, "a", "look"),
                more(0, "{\"x\":"),
                more(0, "1}"),
                begun(1, "b", "rest"),
            ],
            &["a look {\"x\":1}", "b rest "],
        );
        // Interleaved.
        check_calls(
            &[
                begun(0, "a", "look"),
                begun(1, "b", "rest"),
                more(0, "{}"),
                more(1, "{} "),
            ],
            &["a look {}", "b rest {} "],
        );
        // One index for all.
        check_calls(
            &[
                begun(0, "a", "look"),
                more(0, "{}"),
                begun(0, "b", "look"),
                more(0, "{ }"),
            ],
            &["a look {}", "b look { }"],
        );
        // No ids.
        let whole = |text: &str| piece(json!(0), none(), json!("look"), json!(text));
        check_calls(&[whole("{}"), whole("{ }")], &[" look {}", " look { }"]);
        // The name is repeated with each piece, and the id too.
        let repeated = |text: &str| piece(json!(0), json!("a"), json!("look"), json!(text));
        check_calls(
            &[repeated("{\"x\""), repeated(":1}")],
            &["a look {\"x\":1}"],
        );
        let named = |text: &str| piece(none(), none(), json!("look"), json!(text));
        check_calls(&[named("{\"x\""), named(":1}")], &[" look {\"x\":1}"]);
        // An empty id and an empty name say nothing.
        check_calls(
            &[
                begun(0, "a", "look"),
                piece(json!(0), json!(""), json!(""), json!("{}")),
            ],
            &["a look {}"],
        );
        // Fields of other forms.
        check_calls(
            &[piece(json!("0"), json!(7), json!("look"), json!({"x": 1}))],
            &[" look {\"x\":1}"],
        );
    }
}
