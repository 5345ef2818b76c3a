//! The results of tools as text.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

/// The text of a result: its texts, a line for what is no text, and its structured content where they do not say all of it.
pub(crate) fn text(result: &CallToolResult, cap: usize) -> String {
    let mut blocks: Vec<String> = result.content.iter().map(block).collect();
    let said = blocks.join("\n");
    let structured = result.structured_content.as_ref();
    if let Some(structured) = structured.filter(|structured| !is_said(structured, &said)) {
        blocks.push(structured.to_string());
        return cut(blocks.join("\n"), cap);
    }
    match (said.is_empty(), result.is_error) {
        (true, Some(true)) => "the tool reported an error without a text".to_owned(),
        _ => cut(said, cap),
    }
}

/// Whether a text gives a structured content: as the same JSON, or with each of its texts and numbers, as most servers do. Of a
/// content with more values nobody looks.
fn is_said(structured: &Value, text: &str) -> bool {
    const MOST: usize = 200;
    let is_same = serde_json::from_str::<Value>(text).is_ok_and(|said| said == *structured);
    is_same || stands_in(structured, text, &mut { MOST })
}

fn stands_in(value: &Value, text: &str, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else {
        return false;
    };
    *left = fewer;
    match value {
        Value::Null => true,
        // Python writes `True`.
        Value::Bool(yes) => has_word(&text.to_lowercase(), &yes.to_string()),
        Value::Number(number) => has_number(text, &number.to_string()),
        Value::String(inner) => {
            let escaped = Value::from(inner.as_str()).to_string();
            text.contains(inner.as_str()) || text.contains(escaped.trim_matches('"'))
        }
        Value::Array(items) => items.iter().all(|item| stands_in(item, text, left)),
        Value::Object(fields) => fields.values().all(|item| stands_in(item, text, left)),
    }
}

/// Whether a word stands in a text, and not within another one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        let after = text[at + word.len()..].chars().next();
        !is_part(text[..at].chars().next_back()) && !is_part(after)
    })
}

/// Whether a number stands in a text, and not within another one: `7.5`, `17`, `7,000` and `-7` have no 7; `[7,8]`, `7ms`, `5-7` and
/// a sentence that ends with it have one.
fn has_number(text: &str, number: &str) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    text.match_indices(number).any(|(at, _)| {
        let mut before = text[..at].chars().rev();
        let begins = match before.next() {
            Some('.') => !is_digit(before.next()),
            Some('-') => before.next().is_some_and(char::is_alphanumeric),
            first => !is_digit(first),
        };
        let mut after = text[at + number.len()..].chars();
        let ends = match after.next() {
            Some('.') => !is_digit(after.next()),
            Some(',') => after.take_while(char::is_ascii_digit).count() != 3,
            first => !is_digit(first),
        };
        begins && ends
    })
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[image, {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[audio, {}]", audio.mime_type),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("{uri}:\n{text}"),
            ResourceContents::BlobResourceContents { uri, .. } => format!("[file, {uri}]"),
            _ => "[resource]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[link to {}, {}]", link.name, link.uri),
        _ => "[content of an unknown type]".to_owned(),
    }
}

/// The first `cap` bytes, and a line that says so.
pub(crate) fn cut(mut text: String, cap: usize) -> String {
    let length = text.len();
    if length <= cap {
        return text;
    }
    let end = (0..=cap).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or(0));
    text.push_str(&format!("\n[cut: the first {cap} of {length} bytes]"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_its_texts_and_the_structured_content_that_they_do_not_say() {
        let mut both = CallToolResult::success(vec![
            ContentBlock::text("one"),
            ContentBlock::image("aGk=", "image/png"),
        ]);
        let structured = serde_json::json!({"n": 1, "said": "one"});
        both.structured_content = Some(structured);
        assert_eq!(
            text(&both, 100),
            "one\n[image, image/png]\n{\"n\":1,\"said\":\"one\"}"
        );
        both.content = vec![ContentBlock::text("one at place 1")];
        assert_eq!(text(&both, 100), "one at place 1");
        both.content = vec![ContentBlock::text("{\"said\": \"a \\\"b\\\"\"}")];
        both.structured_content = Some(serde_json::json!({"said": "a \"b\""}));
        assert_eq!(text(&both, 100), "{\"said\": \"a \\\"b\\\"\"}");
        for (said, structured, is_said) in [
            ("n is 7.", serde_json::json!({"n": 7}), true),
            ("n is 17", serde_json::json!({"n": 7}), false),
            ("n is 7.5", serde_json::json!({"n": 7}), false),
            ("n is 7.5", serde_json::json!({"n": 7.5}), true),
            ("n is -7", serde_json::json!({"n": 7}), false),
            ("n is 7,000", serde_json::json!({"n": 7}), false),
            ("ids: [7,8,9]", serde_json::json!({"ids": [7, 8, 9]}), true),
            (
                "took 7ms, pages 5-7",
                serde_json::json!({"ms": 7, "from": 5}),
                true,
            ),
            ("Open: True", serde_json::json!({"open": true}), true),
            ("It is done.", serde_json::json!({"done": false}), false),
        ] {
            both.content = vec![ContentBlock::text(said)];
            both.structured_content = Some(structured.clone());
            assert_eq!(text(&both, 100) == said, is_said, "{said} {structured}");
        }
        both.structured_content = Some(serde_json::json!({"n": 1}));
        both.content.clear();
        assert_eq!(text(&both, 100), r#"{"n":1}"#);
        both.structured_content = None;
        assert_eq!(text(&both, 100), "");
        both.is_error = Some(true);
        assert!(text(&both, 100).contains("without a text"));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("äöü".to_owned(), 3), "ä\n[cut: the first 3 of 6 bytes]");
        assert_eq!(cut("abc".to_owned(), 3), "abc");
    }
}
