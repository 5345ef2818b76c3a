//! Marks in other spellings, in the one that the reader knows.

use std::borrow::Cow;

/// Families that write a name of their own into each mark, and what the reader knows in its place.
const OWN: [(&str, &str); 7] = [
    // DeepSeek V3.2 and V4
    ("<｜DSML｜", "<"),
    ("</｜DSML｜", "</"),
    // MiniMax M3
    ("]<]minimax[>[", ""),
    ("<atem:", "<"),
    ("</atem:", "</"),
    ("<|eom|><|start|>assistant to=", "to="),
    // Hunyuan
    (":opensource>", ">"),
];
/// Kimi K3's, which spells tags with control tokens.
const KIMI: &str = "<|open|>";
const KIMIS: [(&str, &str); 7] = [
    ("<|open|>response<|sep|>", ""),
    ("<|close|>response<|sep|>", ""),
    ("<|close|>message<|sep|>", ""),
    ("<|end_of_msg|>", ""),
    (KIMI, "<"),
    ("<|close|>", "</"),
    ("<|sep|>", ">"),
];

/// A text whose marks are written as the reader knows them.
pub(super) fn with_one_spelling(text: &str) -> Cow<'_, str> {
    let mut text = deepseek(text);
    let kimis = KIMIS.iter().filter(|_| text.contains(KIMI));
    let all: Vec<&(&str, &str)> = OWN.iter().chain(kimis).collect();
    for (own, known) in all {
        if text.contains(own) {
            text = Cow::Owned(text.replace(own, known));
        }
    }
    text
}

/// DeepSeek's control tokens with `▁` between their words. Vocabularies write `▁` for a blank, and some models and servers undo
/// it; others write `_`, or `\\_` as in Markdown.
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
