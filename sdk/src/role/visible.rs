//! What of an answer's texts may become a part of a skill: no thoughts, and nothing that a person cannot see.

use serde_json::{Map, Value};

use crate::{
    domain::find_hidden,
    format::{SchemaRefusal, SchemaStage},
    text::{marks_thinking, without_closed_thinking},
};

/// A field's value whose texts have no thoughts, and no zero-width spaces, word joiners and byte order marks, where these are
/// hidden characters. A thought that does not begin and end within its text is refused: what is left of it would become a part
/// of a skill.
pub(super) fn visible(field: &str, value: Value) -> Result<Value, SchemaRefusal> {
    let refuse = |reason: String| Err(SchemaRefusal::new(SchemaStage::Parse, reason));
    Ok(match value {
        Value::String(text) => {
            let text = match find_hidden(&text) {
                None => text,
                Some(_) => text.replace(['\u{200B}', '\u{2060}', '\u{FEFF}'], ""),
            };
            let said = without_closed_thinking(&text);
            if marks_thinking(&said) {
                return refuse(format!(
                    "{field} holds a mark of thinking; write what was concluded, without the thoughts"
                ));
            }
            Value::String(said.into_owned())
        }
        Value::Array(items) => {
            let items = items.into_iter().map(|item| visible(field, item));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(object) => {
            let mut clean = Map::new();
            for (key, value) in object {
                if marks_thinking(&key) {
                    return refuse(format!("a name within {field} holds a mark of thinking"));
                }
                clean.insert(key, visible(field, value)?);
            }
            Value::Object(clean)
        }
        value => value,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        format::{AriseSchema, ProblemTypes},
        role::read_arise,
    };

    fn check(value: Value, expect: Result<Value, &str>) {
        let read = visible("method", value).map_err(|refusal| refusal.to_string());
        match (read, expect) {
            (Ok(read), Ok(expect)) => assert_eq!(read, expect),
            (Err(said), Err(part)) => assert!(said.contains(part), "{said}"),
            (read, _) => panic!("{read:?}"),
        }
    }

    #[test]
    fn thoughts_are_taken_out_of_values_at_any_depth() {
        check(
            json!([{"rule": "<think>hm</think>Call unlock"}, "[THINK]a[/THINK]Call it"]),
            Ok(json!([{"rule": "Call unlock"}, "Call it"])),
        );
        check(
            json!("<|channel>thought\nhm<channel|>Call unlock"),
            Ok(json!("Call unlock")),
        );
        check(json!("<th\u{200B}ink>hm</think>Call"), Ok(json!("Call")));
        check(
            json!(["a", "so it is.</thinking>Call"]),
            Err("method holds a mark of thinking"),
        );
        check(
            json!("Call <Reasoning> hm"),
            Err("method holds a mark of thinking"),
        );
        check(
            json!("Call < seed:think > hm"),
            Err("method holds a mark of thinking"),
        );
        check(json!({"<think>": 1}), Err("a name within method"));
        check(
            json!({"a": [1, null, "1 < 2"]}),
            Ok(json!({"a": [1, null, "1 < 2"]})),
        );
    }

    /// A summary's document whose first step is this.
    fn summary(step: &str) -> String {
        json!({
            "skill_name": "unlock_first",
            "key_insight": "A dial is locked at first",
            "method": [step, "Call set_level"],
            "check": "The level is named",
        })
        .to_string()
    }

    #[test]
    fn no_thought_becomes_a_step_of_a_skill() {
        let schema = AriseSchema::new(ProblemTypes::general());
        for step in [
            "<think>First I wonder what to do</think>Call unlock",
            "<|START_THINKING|>I wonder<|END_THINKING|> Call unlock",
            "Call <seed:think>I wonder</seed:think>unlock",
            "<REASONING>\nI wonder\n</reasoning>\n\nCall unlock",
        ] {
            let document = read_arise(&summary(step), &schema).unwrap();
            assert_eq!(document.method()[0], "Call unlock", "{step}");
        }
        for step in [
            "<think>I wonder what to do",
            "I wonder</think>Call unlock",
            "[THINK]I wonder</think>Call unlock",
            "< think >I wonder</ think >Call unlock",
        ] {
            let refusal = read_arise(&summary(step), &schema).unwrap_err();
            assert!(refusal.to_string().contains("a mark of thinking"), "{step}");
        }
        assert!(read_arise(&summary("<think>I wonder</think>"), &schema).is_err());
    }
}
