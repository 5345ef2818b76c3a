//! Marks in other spellings, in the one that the reader knows.

use std::borrow::Cow;

/// A text that shows a family's own marks, and these marks with what the reader knows in their place.
type Family = (&'static str, &'static [(&'static str, &'static str)]);

const FAMILIES: [Family; 5] = [
    // DeepSeek V3.2 and V4
    ("<｜DSML｜", &[("<｜DSML｜", "<"), ("</｜DSML｜", "</")]),
    // MiniMax M3
    ("]<]minimax[>[<tool_call>", &[("]<]minimax[>[", "")]),
    // Muse
    (
        "<atem:function_calls>",
        &[
            ("<atem:", "<"),
            ("</atem:", "</"),
            ("<|eom|><|start|>assistant to=", "to="),
        ],
    ),
    // Hunyuan
    ("<tool_calls:opensource>", &[(":opensource>", ">")]),
    // Kimi K3, which spells tags with control tokens
    (
        "<|close|>",
        &[
            ("<|open|>response<|sep|>", ""),
            ("<|close|>response<|sep|>", ""),
            ("<|close|>message<|sep|>", ""),
            ("<|end_of_msg|>", ""),
            ("<|open|>", "<"),
            ("<|close|>", "</"),
            ("<|sep|>", ">"),
        ],
    ),
];

/// A text whose marks are written as the reader knows them.
pub(super) fn with_one_spelling(text: &str) -> Cow<'_, str> {
    let mut text = deepseek(text);
    for (shown_by, marks) in FAMILIES {
        if text.contains(shown_by) {
            let known = marks.iter();
            let known = known.fold(text.into_owned(), |text, (own, known)| {
                text.replace(own, known)
            });
            text = Cow::Owned(known);
        }
    }
    text
}

/// DeepSeek's control tokens with `▁` between their words. Vocabularies write `▁` for a blank, and some models and servers undo
/// it; others write `_`, or `\_` as in Markdown.
fn deepseek(text: &str) -> Cow<'_, str> {
    const OPEN: &str = "<｜";
    const LONGEST: usize = 64;
    if !text.contains(OPEN) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(OPEN);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        all.push_str(OPEN);
        match part.split_once("｜>") {
            Some((name, behind)) if name.len() <= LONGEST && name.chars().all(is_in_control) => {
                let name = name.replace('\\', "").replace([' ', '_'], "▁");
                all.push_str(&format!("{name}｜>{behind}"));
            }
            _ => all.push_str(part),
        }
    }
    Cow::Owned(all)
}

/// Whether a character may stand in the name of a control token.
pub(super) fn is_in_control(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '▁' | '-' | ' ' | ':' | '\\')
}
