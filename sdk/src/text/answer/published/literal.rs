//! Literals as Python and Gemma write them.

use serde_json::{Map, Number, Value};

/// The greatest nesting of a literal.
const DEPTH: usize = 32;
/// The marks around a text: of Python, and of Gemma's templates.
const QUOTES: [&str; 5] = ["<|\"|>", "<escape>", "\"\"\"", "\"", "'"];

/// The literal that a text begins with, and the text behind it.
pub(super) fn read(text: &str) -> Option<(Value, &str)> {
    value(text.trim_start(), DEPTH)
}

fn value(text: &str, depth: usize) -> Option<(Value, &str)> {
    let depth = depth.checked_sub(1)?;
    match text.chars().next()? {
        '[' => sequence(&text[1..], ']', depth),
        '(' => sequence(&text[1..], ')', depth),
        '{' => fields(&text[1..], depth),
        _ => quoted(text).or_else(|| bare(text)),
    }
}

fn sequence(text: &str, close: char, depth: usize) -> Option<(Value, &str)> {
    let mut items = Vec::new();
    let mut rest = text.trim_start();
    loop {
        if let Some(rest) = rest.strip_prefix(close) {
            return Some((Value::Array(items), rest));
        }
        let (item, behind) = value(rest, depth)?;
        items.push(item);
        rest = next(behind, close)?;
    }
}

/// `{key: value, …}`, with keys in quotes or not.
fn fields(text: &str, depth: usize) -> Option<(Value, &str)> {
    let mut all = Map::new();
    let mut rest = text.trim_start();
    loop {
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((Value::Object(all), rest));
        }
        let (key, behind) = match quoted(rest) {
            Some((Value::String(key), behind)) => (key, behind),
            _ => {
                let end = rest.find([':', '}', ','])?;
                let key = rest[..end].trim();
                (!key.is_empty()).then(|| (key.to_owned(), &rest[end..]))?
            }
        };
        let behind = behind.trim_start().strip_prefix(':')?.trim_start();
        let (one, behind) = value(behind, depth)?;
        all.insert(key, one);
        rest = next(behind, '}')?;
    }
}

/// What follows an item: behind a comma, or the closing bracket.
fn next(text: &str, close: char) -> Option<&str> {
    let text = text.trim_start();
    match text.strip_prefix(',') {
        Some(rest) => Some(rest.trim_start()),
        None => text.starts_with(close).then_some(text),
    }
}

fn quoted(text: &str) -> Option<(Value, &str)> {
    let quote = QUOTES.iter().find(|quote| text.starts_with(**quote))?;
    let inner = &text[quote.len()..];
    // Gemma escapes nothing within its marks.
    if quote.starts_with('<') {
        let (text, rest) = inner.split_once(quote)?;
        return Some((Value::from(text), rest));
    }
    let mut said = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        if inner[at..].starts_with(quote) {
            return Some((Value::from(said), &inner[at + quote.len()..]));
        }
        match c {
            '\\' => match chars.next()?.1 {
                'n' => said.push('\n'),
                't' => said.push('\t'),
                'r' => said.push('\r'),
                'u' => {
                    let digits: String = (0..4)
                        .filter_map(|_| chars.next())
                        .map(|one| one.1)
                        .collect();
                    said.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                other @ ('\\' | '\'' | '"' | '/') => said.push(other),
                other => said.extend(['\\', other]),
            },
            c => said.push(c),
        }
    }
    None
}

/// A number, a truth value, or none.
fn bare(text: &str) -> Option<(Value, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let value = match word {
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        "null" | "None" => Value::Null,
        word => Value::Number(word.parse::<Number>().ok()?),
    };
    Some((value, rest))
}
