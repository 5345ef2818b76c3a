//! The calls themselves, without the marks around them.

use serde_json::{Map, Value};

use super::literal;
use crate::text::answer::{
    WrittenCall,
    lenient::{self, MAX_DEPTH},
};

/// Calls, and the text behind them.
type Found<'a> = Option<(Vec<WrittenCall>, &'a str)>;

/// The longest name of a tool that is looked for, in bytes.
const LONGEST_NAME: usize = 160;

/// Whether a character may stand in the name of a tool.
pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/')
}

/// The calls that a text begins with, behind a mark of calls or not.
pub(super) fn read(text: &str, is_marked: bool) -> Found<'_> {
    json(text, is_marked)
        .or_else(|| list(text))
        .or_else(|| tagged(text))
        .or_else(|| in_mcp(text))
        .or_else(|| gemma(text))
        .or_else(|| named(text))
}

/// The JSON object that a text begins with, read leniently, and the text behind it.
pub(super) fn object(text: &str) -> Option<(Value, &str)> {
    let (value, length) = lenient::read(text, MAX_DEPTH).value.ok()?;
    Some((value, &text[length..]))
}

/// The call that an object is: a name and arguments, or one field that is the name.
pub(super) fn call_of(value: &Value) -> Option<WrittenCall> {
    let outer = value.as_object()?;
    let object = match outer.get("function") {
        Some(Value::Object(function)) => function,
        _ => outer,
    };
    let of = |keys: &[&str]| keys.iter().find_map(|key| object.get(*key));
    let name = of(&["name", "tool_name", "function", "tool"]).and_then(Value::as_str)?;
    let arguments = of(&["arguments", "parameters", "args", "input", "tool_input"]);
    let id = ["id", "tool_call_id", "call_id"];
    let id = id.iter().find_map(|key| outer.get(*key)?.as_str());
    Some(written(id.unwrap_or_default(), name, arguments))
}

fn written(id: &str, name: &str, arguments: Option<&Value>) -> WrittenCall {
    let arguments = match arguments {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => Value::Object(Map::new()).to_string(),
        Some(arguments) => arguments.to_string(),
    };
    WrittenCall {
        id: id.to_owned(),
        tool: name.trim().to_owned(),
        arguments,
    }
}

/// An object or an array of objects. Between marks an object with one field is the call of the tool that the field is named for
/// (Apertus).
fn json(text: &str, is_marked: bool) -> Found<'_> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let (value, rest) = object(text)?;
    let by_field = |value: &Value| {
        let fields = value.as_object()?;
        let (name, arguments) = fields.iter().next()?;
        (fields.len() == 1 && arguments.is_object()).then(|| written("", name, Some(arguments)))
    };
    let item = |value: &Value| {
        let by_field = || is_marked.then(|| by_field(value)).flatten();
        call_of(value).or_else(by_field)
    };
    let calls = match &value {
        Value::Array(items) => items.iter().map(item).collect::<Option<Vec<_>>>()?,
        value => vec![call_of(value)?],
    };
    (!calls.is_empty()).then_some((calls, rest))
}

/// `[name(key=value), …]`, or the calls without brackets.
fn list(text: &str) -> Found<'_> {
    let (mut rest, is_list) = match text.strip_prefix('[') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let mut calls = Vec::new();
    while let Some((call, behind)) = python(rest) {
        calls.push(call);
        let next = behind.trim_start();
        rest = next.strip_prefix(',').unwrap_or(next);
    }
    if is_list {
        rest = rest.trim_start().strip_prefix(']')?;
    }
    (!calls.is_empty()).then_some((calls, rest))
}

/// `name(key=value, …)`.
pub(super) fn python(text: &str) -> Option<(WrittenCall, &str)> {
    let text = text.trim_start();
    let (name, rest) = name(text)?;
    let mut rest = rest.strip_prefix('(')?.trim_start();
    let mut arguments = Map::new();
    loop {
        if let Some(rest) = rest.strip_prefix(')') {
            return Some((written("", name, Some(&Value::Object(arguments))), rest));
        }
        let (key, behind) = self::name(rest)?;
        let behind = behind.trim_start().strip_prefix('=')?;
        let (value, behind) = literal::read(behind)?;
        arguments.insert(key.to_owned(), value);
        let behind = behind.trim_start();
        rest = behind.strip_prefix(',').unwrap_or(behind).trim_start();
    }
}

/// The name that a text begins with.
fn name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    (1..=LONGEST_NAME)
        .contains(&end)
        .then(|| text.split_at(end))
}

/// A tag's kind, and its name or attribute: `=NAME>` or the first of its attributes, ` name="NAME" …>`, and the text behind the tag.
fn tag<'a>(text: &'a str, kinds: &[&'static str]) -> Option<(&'static str, &'a str, &'a str)> {
    let text = text.strip_prefix('<')?;
    let of = |kind: &&'static str| Some((*kind, text.strip_prefix(*kind)?));
    let (kind, rest) = kinds.iter().find_map(of)?;
    let (inner, behind) = rest.split_once('>')?;
    let name = match inner.strip_prefix('=') {
        Some(name) => name,
        None => {
            let attribute = inner.trim_start();
            let names = ["name=\"", "tool=\"", "key=\""];
            let value = names.iter().find_map(|name| attribute.strip_prefix(name))?;
            value.split('"').next()?
        }
    };
    let name = name.trim().trim_matches('"');
    (!name.is_empty() && name.len() <= LONGEST_NAME).then_some((kind, name, behind))
}

/// Where a closing tag of this kind begins, and the text behind it.
fn closed<'a>(text: &'a str, kind: &str) -> Option<(usize, &'a str)> {
    let tag = format!("</{kind}>");
    let at = text.find(&tag)?;
    Some((at, &text[at + tag.len()..]))
}

/// The tags of a call, and of one of its parameters.
const CALL: [&str; 3] = ["function", "invoke", "call"];
const PARAMETER: [&str; 3] = ["parameter", "param", "argument"];

/// `<function=name>` or `<invoke name="name">` with JSON, or with a tag for each parameter.
fn tagged(text: &str) -> Found<'_> {
    let (kind, name, rest) = tag(text, &CALL)?;
    let inner = rest.trim_start();
    if inner.starts_with('{') {
        let (arguments, behind) = object(inner)?;
        let behind = behind.trim_start();
        let end = closed(behind, kind).filter(|(at, _)| *at == 0);
        let behind = end.map_or(behind, |(_, behind)| behind);
        return Some((vec![written("", name, Some(&arguments))], behind));
    }
    let (arguments, rest) = match parameters(inner, kind)? {
        (none, _) if none.is_empty() => in_own_tags(inner),
        found => found,
    };
    let rest = match closed(rest.trim_start(), kind) {
        Some((0, behind)) => behind,
        // A call that is not closed ends with the answer.
        _ if !arguments.is_empty() => rest,
        _ => return None,
    };
    let arguments = Value::Object(arguments);
    Some((vec![written("", name, Some(&arguments))], rest))
}

/// `<parameter=key>value</parameter>`, any number of them, in a call with tags of the kind `call`. The values are texts.
fn parameters<'a>(text: &'a str, call: &str) -> Option<(Map<String, Value>, &'a str)> {
    let mut all = Map::new();
    let mut rest = text.trim_start();
    while let Some((kind, key, behind)) = tag(rest, &PARAMETER) {
        if let Some((value, next)) = in_cdata(behind, kind) {
            all.insert(key.to_owned(), Value::from(value));
            rest = next.trim_start();
            continue;
        }
        // A closing tag may be missing: then the next parameter, or the call's end, ends the value.
        let ends = [
            closed(behind, kind),
            behind.find("<parameter=").map(|at| (at, &behind[at..])),
            closed(behind, call).map(|(at, _)| (at, &behind[at..])),
        ];
        let (end, next) = ends.into_iter().flatten().min_by_key(|(at, _)| *at)?;
        all.insert(key.to_owned(), Value::from(value(&behind[..end])));
        rest = next.trim_start();
    }
    Some((all, rest))
}

/// The value in `<![CDATA[value]]>` before a closing tag, and the text behind the tag.
fn in_cdata<'a>(text: &'a str, kind: &str) -> Option<(&'a str, &'a str)> {
    let (value, behind) = text
        .trim_start()
        .strip_prefix("<![CDATA[")?
        .split_once("]]>")?;
    let (at, behind) = closed(behind.trim_start(), kind)?;
    (at == 0).then_some((value, behind))
}

/// `<key>value</key>`, any number of them. The values are texts.
fn in_own_tags(text: &str) -> (Map<String, Value>, &str) {
    let mut all = Map::new();
    let mut rest = text.trim_start();
    while let Some((key, behind)) = rest
        .strip_prefix('<')
        .and_then(|inner| inner.split_once('>'))
        .filter(|(key, _)| !key.is_empty() && key.len() <= LONGEST_NAME && key.chars().all(is_name))
        && let Some((end, next)) = closed(behind, key)
    {
        all.insert(key.to_owned(), Value::from(value(&behind[..end])));
        rest = next.trim_start();
    }
    (all, rest)
}

/// The value between two tags, without the breaks around it. A break before the closing tag alone belongs to the value.
fn value(text: &str) -> &str {
    let inner = text.strip_prefix('\n');
    inner.map_or(text, |inner| inner.strip_suffix('\n').unwrap_or(inner))
}

/// MiroThinker's: the tool's name and arguments in tags of their own.
fn in_mcp(text: &str) -> Found<'_> {
    let field = |text: &'_ str, name: &str| -> Option<(String, usize)> {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let from = text.find(&open)? + open.len();
        let length = text[from..].find(&close)?;
        let inner = text[from..from + length].trim().to_owned();
        Some((inner, from + length + close.len()))
    };
    if !text.starts_with("<server_name>") && !text.starts_with("<tool_name>") {
        return None;
    }
    let (tool, behind) = field(text, "tool_name")?;
    let (arguments, length) = field(&text[behind..], "arguments")?;
    let call = WrittenCall {
        id: String::new(),
        tool,
        arguments,
    };
    Some((vec![call], &text[behind + length..]))
}

/// Gemma's: `call:name{key:value}`.
fn gemma(text: &str) -> Found<'_> {
    let (name, rest) = name(text.strip_prefix("call:")?)?;
    let (arguments, rest) = literal::read(rest.trim_start())?;
    let arguments = arguments.is_object().then_some(arguments)?;
    Some((vec![written("", name, Some(&arguments))], rest))
}

/// A name, and then arguments behind a mark of the family or on the next line.
fn named(text: &str) -> Found<'_> {
    // DeepSeek V3 writes the kind of the call first.
    let text = text.strip_prefix("function<｜tool▁sep｜>").unwrap_or(text);
    // Solar writes the id of the call first.
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (before, text) = match text[end..].strip_prefix("<|tool_call:name|>") {
        Some(behind) => (&text[..end], behind),
        None => ("", text),
    };
    let (name, rest) = name(text)?;
    let (id, rest) = match rest.strip_prefix("[CALL_ID]") {
        Some(rest) => rest.split_at(rest.find("[ARGS]")?),
        None => (before, rest),
    };
    let behind = rest.trim_start();
    let behind = behind.strip_prefix("<tool_sep>").unwrap_or(behind);
    let behind = behind.trim_start();
    if behind.starts_with("<arg_key>") {
        return keyed(name, behind);
    }
    let marks = [
        "[ARGS]",
        "<|tool_call_argument_begin|>",
        "<|tool_call:args|>",
        "<｜tool▁sep｜>",
    ];
    let marked = marks.iter().find_map(|mark| behind.strip_prefix(mark));
    let on_next_line = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    if marked.is_none() && !on_next_line && !rest.starts_with('{') {
        return None;
    }
    let inner = marked.unwrap_or(behind).trim_start();
    let inner = inner.strip_prefix("```json").unwrap_or(inner).trim_start();
    let (arguments, rest) = object(inner).filter(|(value, _)| value.is_object())?;
    Some((vec![written(id.trim(), name, Some(&arguments))], rest))
}

/// GLM's: `<arg_key>key</arg_key><arg_value>value</arg_value>`, any number of them.
fn keyed<'a>(name: &str, text: &'a str) -> Found<'a> {
    let mut all = Map::new();
    let mut rest = text;
    while let Some(behind) = rest.strip_prefix("<arg_key>") {
        let (key, behind) = behind.split_once("</arg_key>")?;
        let behind = behind.trim_start().strip_prefix("<arg_value>")?;
        let (value, behind) = behind.split_once("</arg_value>")?;
        all.insert(key.trim().to_owned(), Value::from(value));
        rest = behind.trim_start();
    }
    Some((vec![written("", name, Some(&Value::Object(all)))], rest))
}
