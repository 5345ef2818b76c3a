//! The forms in which families of models write tool calls.

use journeyman::text::WrittenCall;
use serde_json::{Map, Value};

const THOUGHT: (&str, &str) = ("<think>", "</think>");

/// How a family writes calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallForm {
    /// `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, any number of them: Hermes, Qwen.
    Tagged,
    /// `{"name": …, "parameters": {…}}`, perhaps behind `<|python_tag|>`: Llama 3.
    Object,
    /// `[TOOL_CALLS][{"name": …, "arguments": {…}}, …]`: Mistral to version 7.
    List,
    /// `[TOOL_CALLS]name[ARGS]{…}`, with `[CALL_ID]…` between or not: Mistral from version 11.
    Marked,
    /// `<function=name>{…}</function>`: Functionary.
    Function,
}

/// An answer, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The text before the calls; all of it without any. Text behind the calls is left out: a model that goes on has invented
    /// their results.
    pub(crate) words: String,
    pub(crate) calls: Vec<WrittenCall>,
}

impl CallForm {
    /// The form of a call of `tool` in a template's rendering.
    pub(crate) fn of(rendered: &str, tool: &str) -> Option<Self> {
        let forms = [
            Self::Marked,
            Self::List,
            Self::Tagged,
            Self::Function,
            Self::Object,
        ];
        let begins = |form: &Self| {
            let mut begin = form.begin(Some(tool));
            // What stands between name and arguments differs within a family.
            if let Some(at) = begin.find(tool) {
                begin.truncate(at + tool.len());
            }
            rendered.contains(&begin)
        };
        forms.into_iter().find(begins)
    }

    /// How a call begins: up to its arguments where the tool is known.
    pub(crate) fn begin(self, tool: Option<&str>) -> String {
        let name = tool.unwrap_or_default();
        let known = tool.is_some();
        match self {
            Self::Tagged if known => {
                format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": ")
            }
            Self::Tagged => "<tool_call>\n{\"name\": \"".to_owned(),
            Self::Object if known => format!("{{\"name\": \"{name}\", \"parameters\": "),
            Self::Object => "{\"name\": \"".to_owned(),
            Self::List if known => {
                format!("[TOOL_CALLS][{{\"name\": \"{name}\", \"arguments\": ")
            }
            Self::List => "[TOOL_CALLS][{\"name\": \"".to_owned(),
            Self::Marked if known => format!("[TOOL_CALLS]{name}[ARGS]"),
            Self::Marked => "[TOOL_CALLS]".to_owned(),
            Self::Function if known => format!("<function={name}>"),
            Self::Function => "<function=".to_owned(),
        }
    }

    /// Whether plain tokens write the name of a tool and what stands between it and the arguments, so that it is read back. Not in
    /// Mistral's newer form: there a control token follows the name, which no text spells.
    pub(crate) fn spells(self, name: &str) -> bool {
        self != Self::Marked && !name.contains(|c: char| c.is_control() || "\"\\<>".contains(c))
    }

    /// What stands behind the arguments of a call that [`begin`](Self::begin) began with its tool.
    pub(crate) fn end(self) -> &'static str {
        match self {
            Self::Tagged => "}\n</tool_call>",
            Self::Object => "}",
            Self::List => "}]",
            Self::Marked => "",
            Self::Function => "</function>",
        }
    }

    /// Takes an answer apart. An answer whose calls cannot be read is all words.
    pub(crate) fn read(self, text: &str) -> Answer {
        let all_words = || Answer {
            words: text.to_owned(),
            calls: Vec::new(),
        };
        let Some(from) = behind_thoughts(text) else {
            return all_words();
        };
        let (thoughts, said) = text.split_at(from);
        let found = match self {
            Self::Tagged => tagged(said),
            Self::Object => objects(said),
            Self::List | Self::Marked => marked(said),
            Self::Function => functions(said),
        };
        match found {
            Some((words, calls)) if !calls.is_empty() => Answer {
                words: format!("{thoughts}{words}").trim_end().to_owned(),
                calls,
            },
            _ => all_words(),
        }
    }
}

/// Where the text behind the model's thoughts begins; `None` where they do not end.
fn behind_thoughts(text: &str) -> Option<usize> {
    let (open, close) = THOUGHT;
    match (text.rfind(open), text.rfind(close)) {
        (None, None) => Some(0),
        (Some(open), Some(close)) if open > close => None,
        (Some(_), None) => None,
        (_, Some(end)) => Some(end + close.len()),
    }
}

type Found<'a> = Option<(&'a str, Vec<WrittenCall>)>;

/// The JSON value that a text begins with, and the text behind it.
fn value(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

/// The call that an object with a name and arguments is.
fn call(value: &Value) -> Option<WrittenCall> {
    let object = value.as_object()?;
    let object = match object.get("function") {
        Some(Value::Object(function)) => function,
        _ => object,
    };
    let arguments = object.get("arguments").or_else(|| object.get("parameters"));
    let arguments = match arguments {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => Value::Object(Map::new()).to_string(),
        Some(arguments) => arguments.to_string(),
    };
    let id = object.get("id").and_then(Value::as_str);
    Some(WrittenCall {
        id: id.unwrap_or_default().to_owned(),
        tool: object.get("name")?.as_str()?.to_owned(),
        arguments,
    })
}

fn tagged(text: &str) -> Found<'_> {
    const OPEN: &str = "<tool_call>";
    const CLOSE: &str = "</tool_call>";
    let opened = text.find(OPEN);
    let (words, mut rest) = match opened {
        Some(at) => (&text[..at], &text[at..]),
        // A block that is closed and not opened.
        None if text.trim_start().starts_with('{') && text.contains(CLOSE) => ("", text),
        None => return None,
    };
    let mut calls = Vec::new();
    loop {
        rest = rest.trim_start();
        rest = rest.strip_prefix(OPEN).unwrap_or(rest).trim_start();
        let (found, behind) = value(rest)?;
        calls.push(call(&found)?);
        rest = behind.trim_start();
        // A block that is not closed ends with the answer.
        rest = rest.strip_prefix(CLOSE).unwrap_or(rest).trim_start();
        if !rest.starts_with(OPEN) {
            return Some((words, calls));
        }
    }
}

fn objects(text: &str) -> Found<'_> {
    const TAG: &str = "<|python_tag|>";
    let begin = match text.find(TAG) {
        Some(at) => at,
        None => {
            let lines = text.match_indices('{').map(|(at, _)| at);
            let is_line = |at: &usize| {
                let before = text[..*at].trim_end_matches([' ', '\t']);
                before.is_empty() || before.ends_with('\n')
            };
            lines.into_iter().find(is_line)?
        }
    };
    let (words, mut rest) = text.split_at(begin);
    let mut calls = Vec::new();
    loop {
        rest = rest.trim_start().trim_start_matches(';').trim_start();
        rest = rest.strip_prefix(TAG).unwrap_or(rest).trim_start();
        if !rest.starts_with('{') {
            return Some((words, calls));
        }
        let (found, behind) = value(rest)?;
        calls.push(call(&found)?);
        rest = behind;
    }
}

fn marked(text: &str) -> Found<'_> {
    const MARK: &str = "[TOOL_CALLS]";
    let (words, rest) = text.split_once(MARK)?;
    let rest = rest.trim_start();
    if rest.starts_with('[') {
        let (found, _) = value(rest)?;
        let calls = found.as_array()?.iter().map(call).collect::<Option<_>>()?;
        return Some((words, calls));
    }
    let one = |text: &str| {
        let (head, _) = text.split_at(text.find('{')?);
        let (arguments, _) = value(&text[head.len()..])?;
        let head = head.trim_end().trim_end_matches("[ARGS]");
        let (tool, id) = head.split_once("[CALL_ID]").unwrap_or((head, ""));
        Some(WrittenCall {
            id: id.trim().to_owned(),
            tool: tool.trim().to_owned(),
            arguments: arguments.to_string(),
        })
    };
    let calls = rest.split(MARK).map(one).collect::<Option<_>>()?;
    Some((words, calls))
}

fn functions(text: &str) -> Found<'_> {
    const OPEN: &str = "<function=";
    let begin = text.find(OPEN)?;
    let (words, mut rest) = text.split_at(begin);
    let mut calls = Vec::new();
    while let Some(opened) = rest.trim_start().strip_prefix(OPEN) {
        let (tool, behind) = opened.split_once('>')?;
        let (arguments, behind) = value(behind)?;
        calls.push(WrittenCall {
            id: String::new(),
            tool: tool.trim().to_owned(),
            arguments: arguments.to_string(),
        });
        let behind = behind.trim_start();
        rest = behind.strip_prefix("</function>").unwrap_or(behind);
    }
    Some((words, calls))
}

#[cfg(test)]
mod tests;
