//! Calls of tools in the forms that families of models were trained to write, found in a text.

use serde_json::Value;

use self::{
    spelling::{is_in_control, with_one_spelling},
    thoughts::{ends_thoughts, find_outside},
};
use super::{WrittenCall, lenient::MAX_BYTES};

mod bodies;
mod harmony;
mod literal;
mod spelling;
mod thoughts;

/// What stands in front of calls, and between and behind them, in the templates of published models.
const OPENERS: [&str; 24] = [
    // Hermes, Qwen, GLM, Granite 4, Reka
    "<tool_call>",
    // Apriel, Hunyuan, Jamba
    "<tool_calls>",
    // Granite 3, Phi 4
    "<|tool_call|>",
    // Gemma 4
    "<|tool_call>",
    // FunctionGemma
    "<start_function_call>",
    // LFM2
    "<|tool_call_start|>",
    // Kimi K2
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    // DeepSeek
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    // Command R
    "<|START_ACTION|>",
    // Llama 3 and 4
    "<|python_tag|>",
    "<|python_start|>",
    // Mistral
    "[TOOL_CALLS]",
    // Seed, MiniMax, OLMo
    "<seed:tool_call>",
    "<minimax:tool_call>",
    "<function_calls>",
    // Apertus, Nemotron, GigaChat, InternLM
    "<|tools_prefix|>",
    "<TOOLCALL>",
    "<|function_call|>",
    "function call<|role_sep|>",
    "<|action_start|><|plugin|>",
    // Solar
    "<|tool_calls|>",
    "<|tool_call:begin|>",
];
/// What begins the call itself.
const BEGINNINGS: [&str; 7] = [
    "<function=",
    "<function name=",
    "<invoke name=",
    "<call tool=",
    "<use_mcp_tool>",
    "functools[",
    "```tool_code",
];
/// What stands behind a call, and in front of the next one.
const CLOSERS: [&str; 25] = [
    "</tool_call>",
    "</tool_calls>",
    "<|/tool_call|>",
    "<tool_call|>",
    "<end_function_call>",
    "<|tool_call_end|>",
    "<|tool_call:end|>",
    "<|calls|>",
    "<|tool_calls_section_end|>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<|END_ACTION|>",
    "<|python_end|>",
    "</seed:tool_call>",
    "</minimax:tool_call>",
    "</function_calls>",
    "<|tools_suffix|>",
    "</TOOLCALL>",
    "<|action_end|>",
    "</use_mcp_tool>",
    "```",
    ";",
    ",",
    "<|eom_id|>",
    "<|call|>",
];
/// What ends the model's turn, where a server or a template leaves it in the text.
const ENDS: [&str; 12] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<turn|>",
    "<｜end▁of▁sentence｜>",
    "[END FINAL RESPONSE]",
    "</s>",
];
/// Marks around the words of a whole message.
const AROUND: [&str; 8] = [
    "<answer>",
    "</answer>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<|START_TEXT|>",
    "<|END_TEXT|>",
    "[BEGIN FINAL RESPONSE]",
    ">>>all\n",
];

/// Calls that stand in a text, with the words before them.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishedCalls {
    /// The text before the first call. What stands behind the calls is left out: a model that goes on has invented their results.
    pub words: String,
    /// The calls in order, as they are written.
    pub calls: Vec<WrittenCall>,
}

impl PublishedCalls {
    /// Calls behind words.
    pub fn new(words: impl Into<String>, calls: Vec<WrittenCall>) -> Self {
        Self {
            words: words.into(),
            calls,
        }
    }
}

/// Reads the calls of a text, in whatever published form they stand: between the control tokens of a family's template, as
/// `<function=…>`, `<invoke name="…">`, `name[ARGS]{…}`, `>>>name`, a list of Python calls, or an object with a name and arguments at
/// the beginning of a line. A form without marks is read only where it names a tool, by `is_tool`. `None` where there are no calls,
/// or where one of them cannot be read. Thoughts stay in the words. Of a text longer than 1 MiB nothing is read.
///
/// ```
/// use journeyman::text::published_calls;
///
/// let is_tool = |name: &str| name == "brew";
/// let xml = "I brew.\n<tool_call>\n<function=brew>\n<parameter=cups>\n2\n</parameter>\n</function>\n</tool_call>";
/// let found = published_calls(xml, &is_tool).expect("a call");
/// assert_eq!((found.words.as_str(), found.calls[0].tool.as_str()), ("I brew.", "brew"));
/// // Values in tags are texts: the tool's schema says what they are.
/// assert_eq!(found.calls[0].arguments, r#"{"cups":"2"}"#);
///
/// for text in [
///     "[TOOL_CALLS]brew[ARGS]{\"cups\": 2}",
///     "<|tool_call_start|>[brew(cups=2)]<|tool_call_end|>",
///     "<|channel|>commentary to=functions.brew <|constrain|>json<|message|>{\"cups\": 2}<|call|>",
///     "brew\n{\"cups\": 2}",
/// ] {
///     let found = published_calls(text, &is_tool).expect("a call");
///     assert_eq!(found.calls[0].arguments.replace(' ', ""), r#"{"cups":2}"#);
/// }
/// assert_eq!(published_calls("Shall I brew?", &is_tool), None);
/// ```
pub fn published_calls(text: &str, is_tool: &dyn Fn(&str) -> bool) -> Option<PublishedCalls> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let text = &*with_one_spelling(text);
    if harmony::is_meant(text) {
        let (words, calls) = harmony::read(text);
        return (!calls.is_empty()).then_some(PublishedCalls { words, calls });
    }
    let begin = find_outside(text, &|outside| begin(outside, is_tool))?;
    // Where a thought ends behind it, what looks like a call stands in that thought.
    if ends_thoughts(&text[begin..]) {
        return None;
    }
    let calls = calls(&text[begin..])?;
    let words = words_before(&text[..begin]).to_owned();
    (!calls.is_empty()).then_some(PublishedCalls { words, calls })
}

/// Whether marks of calls stand in a text.
pub(crate) fn begins_calls(text: &str) -> bool {
    let text = &*with_one_spelling(text);
    let mut marks = OPENERS.iter().chain(&BEGINNINGS);
    marks.any(|mark| text.contains(mark)) || text.contains("[ARGS]") || harmony::is_meant(text)
}

/// Whether a text has marks of calls, or control tokens, so that it is no message to a person.
pub(crate) fn has_marks(text: &str) -> bool {
    if has_control(text) {
        return true;
    }
    let text = &*with_one_spelling(text);
    let all = OPENERS.iter().chain(&BEGINNINGS).chain(&CLOSERS);
    let long = all.filter(|mark| mark.len() > 3);
    let marks = long.chain(&ENDS).chain(&AROUND);
    { marks }.any(|mark| text.contains(mark)) || text.contains("[ARGS]") || has_control(text)
}

/// The words of an answer without calls, as they are meant for the user: without the marks around them.
pub(crate) fn message(text: &str) -> String {
    let text = &*with_one_spelling(text);
    if harmony::is_meant(text) {
        return harmony::read(text).0;
    }
    let behind_thoughts = text.rsplit("<|inner_suffix|>").next();
    let mut words = behind_thoughts.unwrap_or(text).trim();
    let marks = || AROUND.iter().chain(&ENDS);
    loop {
        let begun = marks().find_map(|mark| words.strip_prefix(mark.trim_end()));
        let shorter = begun.or_else(|| marks().find_map(|mark| words.strip_suffix(mark)));
        match shorter {
            Some(shorter) => words = shorter.trim(),
            None => return words.to_owned(),
        }
    }
}

/// The words and calls of an answer that is written in channels (gpt-oss), without its thoughts; `None` for any other.
pub(crate) fn in_channels(text: &str) -> Option<PublishedCalls> {
    let text = &*with_one_spelling(text);
    harmony::is_meant(text).then(|| {
        let (words, calls) = harmony::read(text);
        PublishedCalls { words, calls }
    })
}

/// Whether something of the form `<|…|>` or `<｜…｜>` stands in a text.
fn has_control(text: &str) -> bool {
    text.split('<').skip(1).any(|rest| {
        let Some(inner) = rest.strip_prefix(['|', '｜']) else {
            return false;
        };
        let end = inner.find(|c| !is_in_control(c)).unwrap_or(inner.len());
        (1..=64).contains(&end) && inner[end..].starts_with(['|', '｜'])
    })
}

/// What stands before calls, without the marks at its end that announce them.
fn words_before(text: &str) -> &str {
    // Command R writes `Action:` and a fence.
    const ANNOUNCE: [&str; 6] = [
        "```json",
        "```",
        "Action:",
        "<tools>",
        "<|message_sep|>",
        "<|eom|>",
    ];
    let mut words = text.trim_end();
    if let Some(header) = words.strip_suffix("<|message|>") {
        let before = header
            .rsplit_once("to=")
            .map_or(header, |(before, _)| before);
        words = before.trim_end();
    }
    loop {
        // A fence that closes what the words themselves have opened is theirs.
        let is_closed = words.matches("```").count().is_multiple_of(2);
        let mut marks = ANNOUNCE.iter().filter(|mark| **mark != "```" || !is_closed);
        match marks.find_map(|mark| words.strip_suffix(mark)) {
            Some(shorter) => words = shorter.trim_end(),
            None => return words,
        }
    }
}

/// Where the first call, or the mark before it, begins.
fn begin(text: &str, is_tool: &dyn Fn(&str) -> bool) -> Option<usize> {
    let marked = OPENERS.iter().chain(&BEGINNINGS);
    let marked = marked.filter_map(|mark| text.find(mark)).min();
    marked
        .or_else(|| named_arguments(text))
        .or_else(|| unmarked(text, is_tool))
        // A block that is closed and was opened in the prompt.
        .or_else(|| {
            let closed = CLOSERS.iter().filter(|mark| mark.len() > 3);
            let is_closed = { closed }.any(|mark| text.contains(mark));
            (is_closed && text.trim_start().starts_with(['{', '['])).then_some(0)
        })
}

/// Where a name stands whose arguments `[ARGS]` announces: the mark before it was lost.
fn named_arguments(text: &str) -> Option<usize> {
    let at = text.find("[CALL_ID]").or_else(|| text.find("[ARGS]"))?;
    let name = text[..at].rfind(|c: char| !bodies::is_name(c));
    let begin = name.map_or(0, |before| {
        before + text[before..].chars().next().map_or(0, char::len_utf8)
    });
    (begin < at).then_some(begin)
}

/// Where a line begins a call without marks: an object that names a tool, a tool's name above an object, `>>>name`, or Python.
fn unmarked(text: &str, is_tool: &dyn Fn(&str) -> bool) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let begin = at + line.len() - line.trim_start().len();
        let rest = &text[begin..];
        at += line.len();
        let next = || text[at..].trim_start();
        let begins = match rest.chars().next() {
            Some('{') => bodies::object(rest)
                .and_then(|(value, _)| bodies::call_of(&value))
                .is_some_and(|call| is_tool(&call.tool)),
            Some('>') => rest.starts_with(">>>") && !rest.starts_with(">>>all\n"),
            Some('[') => bodies::read(rest, false).is_some_and(|(calls, _)| {
                let names = calls.iter().map(|call| call.tool.as_str());
                { names }.all(is_tool)
            }),
            _ => is_tool(line.trim()) && next().starts_with('{'),
        };
        if begins {
            return Some(begin);
        }
    }
    None
}

/// The calls that a text consists of. What stands behind the last one is passed over, if it begins with no mark of a call.
fn calls(text: &str) -> Option<Vec<WrittenCall>> {
    let mut rest = text;
    let mut calls = Vec::new();
    loop {
        let (behind, is_opened) = without_marks(rest);
        let is_marked = behind.len() < rest.trim_start().len();
        // Prose behind the calls may look like a name above an object.
        let goes_on = calls.is_empty() || is_marked || behind.starts_with(['{', '<']);
        let more = goes_on.then(|| bodies::read(behind, is_marked)).flatten();
        let Some((more, behind)) = more else {
            let begins = BEGINNINGS.iter().any(|mark| behind.starts_with(mark));
            return (!is_opened && !begins).then_some(calls);
        };
        calls.extend(more);
        rest = behind;
    }
}

/// A text without the marks that it begins with, and whether one of them opens a call.
fn without_marks(text: &str) -> (&str, bool) {
    const LANGUAGES: [&str; 5] = [
        "```json",
        "```tool_code",
        "functools",
        ">>>",
        "<use_mcp_tool>",
    ];
    let (mut rest, mut is_opened) = (text, false);
    loop {
        let trimmed = rest.trim_start();
        let behind = |mark: &&str| trimmed.strip_prefix(*mark);
        if let Some(shorter) = OPENERS.iter().chain(&LANGUAGES).find_map(behind) {
            (rest, is_opened) = (shorter, true);
        } else if let Some(shorter) = CLOSERS.iter().find_map(behind) {
            rest = shorter;
        } else if let Some(shorter) = addressed(trimmed) {
            rest = shorter;
        } else {
            return (trimmed, is_opened);
        }
    }
}

/// What stands behind `to=name<|message|>`, which addresses a call that is written in tags.
fn addressed(text: &str) -> Option<&str> {
    let name = text.strip_prefix("to=")?;
    name.trim_start_matches(bodies::is_name)
        .strip_prefix("<|message|>")
}

/// The text that spells calls in the first of these forms: of calls that a server gave, and that could not be taken.
pub fn spelled(calls: &[WrittenCall]) -> String {
    let mut text = String::new();
    for call in calls {
        let arguments = match call.arguments.trim() {
            "" => "{}".to_owned(),
            object if object.starts_with('{') => object.to_owned(),
            other => Value::from(other).to_string(),
        };
        let name = Value::from(call.tool.as_str());
        text.push_str(&format!(
            "\n<tool_call>\n{{\"name\": {name}, \"arguments\": {arguments}}}\n</tool_call>"
        ));
    }
    text
}

#[cfg(test)]
mod tests;
