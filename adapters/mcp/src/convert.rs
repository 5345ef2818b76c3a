//! The results of tools as text.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// The text of a result: its texts, a line for what is no text, and its structured content where it has nothing else.
pub(crate) fn text(result: &CallToolResult, cap: usize) -> String {
    let blocks: Vec<String> = result.content.iter().map(block).collect();
    let text = match (&result.structured_content, blocks.is_empty()) {
        (Some(structured), true) => structured.to_string(),
        _ => blocks.join("\n"),
    };
    cut(text, cap)
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
    fn a_result_is_its_texts_or_its_structured_content() {
        let mut both = CallToolResult::success(vec![
            ContentBlock::text("one"),
            ContentBlock::image("aGk=", "image/png"),
        ]);
        both.structured_content = Some(serde_json::json!({"n": 1}));
        assert_eq!(text(&both, 100), "one\n[image, image/png]");
        both.content.clear();
        assert_eq!(text(&both, 100), r#"{"n":1}"#);
        both.structured_content = None;
        assert_eq!(text(&both, 100), "");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("äöü".to_owned(), 3), "ä\n[cut: the first 3 of 6 bytes]");
        assert_eq!(cut("abc".to_owned(), 3), "abc");
    }
}
