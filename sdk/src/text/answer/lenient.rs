//! A lenient JSON reader for the answers of instruct models: other quotes, comments, extra commas, names of Python.
//!
//! Beyond strict JSON the reader accepts comments (`//`, `/* */`, `#`), one comma before a closing bracket, keys without
//! quotes, strings in `'…'`, `“…”` and `‘…’`, line breaks and tabs within strings, `True`, `False` and `None`, and invisible
//! characters between tokens. It refuses everything else with the place: a string value without quotes, a missing comma or
//! bracket, a quote of the string's own kind within a string. It completes and guesses nothing.
//!
//! In a string with other quotes, the closing quote is the one before `,`, `:`, `}`, `]` or the end. A single quote elsewhere
//! is an apostrophe, and content, where it is between letters (`it's`) or after a letter and before a blank and a letter
//! (`the tins' lids`).

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

/// The greatest length of an answer that is read, in bytes.
pub(super) const MAX_BYTES: usize = 1024 * 1024;
/// The greatest nesting of an object (security requirement S12).
pub(super) const MAX_DEPTH: usize = 32;

/// Why a text is not a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The text ends before the value does.
    Unfinished,
    /// The text at this byte is not valid.
    Malformed(usize),
    /// An object has a key twice with different values; the byte is the second key's.
    Repeated(usize),
    /// The nesting is deeper than allowed.
    TooDeep,
}

/// The result of reading a text that begins with a bracket.
#[derive(Debug)]
pub(super) struct Reading {
    /// The value and its length in bytes.
    pub(super) value: Result<(Value, usize), Fault>,
    /// Whether the text certainly began as JSON: with a key (in quotes, or a name of two or more letters) and its colon, or
    /// with the first string or object of an array.
    pub(super) began: bool,
}

/// Reads the value at the beginning of a text, nested at most `depth` deep. The time is linear in the bytes that are read.
pub(super) fn read(text: &str, depth: usize) -> Reading {
    let mut reader = Reader {
        text,
        at: 0,
        began: false,
    };
    let value = reader.value(depth).map(|value| (value, reader.at));
    Reading {
        value,
        began: reader.began,
    }
}

/// Whether a character between tokens is skipped: blanks of all kinds, and characters without width.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}')
}

/// Whether a character is a quote that may begin a string.
pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '”' | '‘' | '’')
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    began: bool,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let taken = self.peek() == Some(wanted);
        if taken {
            self.at += wanted.len_utf8();
        }
        taken
    }

    /// The fault at the present place: the end of the text, or a text that is not valid.
    fn malformed<T>(&self) -> Result<T, Fault> {
        Err(match self.at < self.text.len() {
            true => Fault::Malformed(self.at),
            false => Fault::Unfinished,
        })
    }

    /// Passes over blanks and comments.
    fn blanks(&mut self) -> Result<(), Fault> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches(is_blank).len();
            self.at += blank;
            let rest = self.rest();
            let comment = if rest.starts_with('#') || rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment.find("*/").ok_or(Fault::Unfinished)? + 4
            } else {
                return Ok(());
            };
            self.at += comment;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        self.blanks()?;
        match self.peek() {
            Some('{' | '[') if depth == 0 => Err(Fault::TooDeep),
            Some('{') => self.object(depth - 1),
            Some('[') => self.array(depth - 1),
            Some(c) if is_quote(c) => Ok(Value::from(self.string(c)?.into_owned())),
            Some(c) if c.is_ascii_digit() || c == '-' => self.number(),
            Some(_) => self.word(),
            None => Err(Fault::Unfinished),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut object = Map::new();
        loop {
            self.blanks()?;
            if self.take('}') {
                return Ok(Value::Object(object));
            }
            let place = self.at;
            let key = self.key()?;
            let value = self.value(depth)?;
            match object.get(key.as_ref()) {
                Some(before) if *before != value => return Err(Fault::Repeated(place)),
                _ => object.insert(key.into_owned(), value),
            };
            self.blanks()?;
            if !self.take(',') && self.peek() != Some('}') {
                return self.malformed();
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut array = Vec::new();
        loop {
            self.blanks()?;
            if self.take(']') {
                return Ok(Value::Array(array));
            }
            let first = self.peek();
            self.began |= first.is_some_and(|c| c == '{' || c == '"');
            array.push(self.value(depth)?);
            self.blanks()?;
            if !self.take(',') && self.peek() != Some(']') {
                return self.malformed();
            }
        }
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<Cow<'a, str>, Fault> {
        let place = self.at;
        let key = match self.peek() {
            Some(c) if is_quote(c) => self.string(c)?,
            _ => {
                let name = self.name();
                if name.is_empty() {
                    return self.malformed();
                }
                Cow::Borrowed(name)
            }
        };
        let named = place + 1 < self.at;
        self.blanks()?;
        if !self.take(':') {
            // For a name without a colon, the fault is at the name.
            let quoted = self.text[place..].starts_with(is_quote);
            return match quoted || self.at == self.text.len() {
                true => self.malformed(),
                false => Err(Fault::Malformed(place)),
            };
        }
        self.began |= named;
        Ok(key)
    }

    /// A name without quotes; empty where there is none.
    fn name(&mut self) -> &'a str {
        let rest = self.rest();
        let starts = |c: char| c.is_alphabetic() || c == '_' || c == '$';
        let goes_on = |c: char| starts(c) || c.is_alphanumeric() || c == '-';
        let end = match rest.starts_with(starts) {
            true => rest.find(|c| !goes_on(c)).unwrap_or(rest.len()),
            false => 0,
        };
        self.at += end;
        &rest[..end]
    }

    fn word(&mut self) -> Result<Value, Fault> {
        let place = self.at;
        let word = self.name();
        match word {
            "true" | "True" => Ok(Value::Bool(true)),
            "false" | "False" => Ok(Value::Bool(false)),
            "null" | "None" => Ok(Value::Null),
            _ if self.at == self.text.len() && !word.is_empty() => Err(Fault::Unfinished),
            _ => Err(Fault::Malformed(place)),
        }
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let rest = self.rest();
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let number: Number =
            serde_json::from_str(&rest[..end]).map_err(|_| match end == rest.len() {
                true => Fault::Unfinished,
                false => Fault::Malformed(self.at),
            })?;
        self.at += end;
        Ok(Value::Number(number))
    }

    /// A string that begins with this quote.
    fn string(&mut self, quote: char) -> Result<Cow<'a, str>, Fault> {
        self.at += quote.len_utf8();
        let kind = Quote::of(quote);
        let mut text = String::new();
        let mut kept = self.at;
        while let Some(c) = self.peek() {
            let here = self.at;
            if c == '\\' {
                text.push_str(&self.text[kept..here]);
                text.push(self.escape()?);
                kept = self.at;
                continue;
            }
            self.at += c.len_utf8();
            if kind.is_own(c) {
                match kind.ends(&self.text[..here], self.rest()) {
                    End::Ends => {
                        text.push_str(&self.text[kept..here]);
                        return Ok(Cow::Owned(text));
                    }
                    End::Content => {}
                    End::Unclear => return Err(Fault::Malformed(here)),
                }
            } else if c.is_control() && !matches!(c, '\n' | '\r' | '\t') {
                return Err(Fault::Malformed(here));
            }
        }
        Err(Fault::Unfinished)
    }

    /// The character that an escape stands for.
    fn escape(&mut self) -> Result<char, Fault> {
        let place = self.at;
        self.at += 1;
        let Some(c) = self.peek() else {
            return Err(Fault::Unfinished);
        };
        self.at += c.len_utf8();
        Ok(match c {
            '"' | '\\' | '/' | '\'' | '“' | '”' | '‘' | '’' => c,
            'b' => '\u{8}',
            'f' => '\u{C}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.hexadecimal(place)?;
                match first {
                    0xD800..=0xDBFF if self.rest().starts_with("\\u") => {
                        self.at += 2;
                        let second = self.hexadecimal(place)?;
                        char::decode_utf16([first, second])
                            .next()
                            .and_then(Result::ok)
                    }
                    _ => char::from_u32(u32::from(first)),
                }
                .ok_or(Fault::Malformed(place))?
            }
            _ => return Err(Fault::Malformed(place)),
        })
    }

    fn hexadecimal(&mut self, place: usize) -> Result<u16, Fault> {
        let Some(digits) = self.rest().get(..4) else {
            return Err(match self.rest().len() < 4 {
                true => Fault::Unfinished,
                false => Fault::Malformed(place),
            });
        };
        self.at += 4;
        match digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            true => u16::from_str_radix(digits, 16).map_err(|_| Fault::Malformed(place)),
            false => Err(Fault::Malformed(place)),
        }
    }
}

#[derive(Clone, Copy)]
enum Quote {
    Strict,
    Double,
    Single { typographic: bool },
}

/// The effect of a quote of the string's own kind within the string.
enum End {
    Ends,
    Content,
    Unclear,
}

impl Quote {
    fn of(quote: char) -> Self {
        match quote {
            '"' => Self::Strict,
            '“' | '”' => Self::Double,
            '\'' => Self::Single { typographic: false },
            _ => Self::Single { typographic: true },
        }
    }

    fn is_own(self, c: char) -> bool {
        match self {
            Self::Strict => c == '"',
            Self::Double => matches!(c, '“' | '”'),
            Self::Single { typographic: false } => c == '\'',
            Self::Single { typographic: true } => matches!(c, '‘' | '’'),
        }
    }

    fn ends(self, before: &str, after: &str) -> End {
        if matches!(self, Self::Strict) {
            return End::Ends;
        }
        let next = after.trim_start_matches(is_blank).chars().next();
        if matches!(next, None | Some(',' | ':' | '}' | ']')) {
            return End::Ends;
        }
        let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let behind = letter(before.chars().next_back());
        let in_word = letter(after.chars().next());
        let plural = after.starts_with(' ') && letter(next);
        match matches!(self, Self::Single { .. }) && behind && (in_word || plural) {
            true => End::Content,
            false => End::Unclear,
        }
    }
}

/// Whether a text that begins with a bracket may be JSON, by its next character alone.
pub(super) fn may_open(text: &str) -> bool {
    let Some(next) = begins(text) else {
        return true;
    };
    let anywhere = is_quote(next) || next.is_alphabetic() || "_$/#".contains(next);
    match text.starts_with('{') {
        true => anywhere || next == '}',
        false => anywhere || "{[]-0123456789".contains(next),
    }
}

/// The first character behind an opening bracket that is no blank.
pub(super) fn begins(text: &str) -> Option<char> {
    text[1..].trim_start_matches(is_blank).chars().next()
}

#[cfg(test)]
mod tests;
