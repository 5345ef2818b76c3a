//! Reads and writes YAML. The only file that names the YAML library, and the limits that it runs under (security
//! requirement S8): 16 KiB, depth 8, one document, no anchors, aliases or tags.
//!
//! The reader uses the library's events and not serde, because the tree keeps the line of each value and the spelling of
//! numbers (`version: 1.10` is not 1.1).

use std::collections::BTreeSet;

use granit_parser::{Event, Marker, Parser, ScalarStyle, Span};
use serde::Serialize;

/// The greatest size of the frontmatter in bytes.
pub(crate) const MAX_BYTES: usize = 16 * 1024;
/// The greatest depth of lists and mappings, the frontmatter's own mapping counted.
const MAX_DEPTH: usize = 8;

/// A fault of a YAML text. The message never repeats the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Line within the YAML text, from 1.
    pub(crate) line: usize,
    pub(crate) what: &'static str,
    pub(crate) hint: &'static str,
}

/// A value and its line, from 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A plain scalar that means null.
    Null,
    /// A scalar that is a string.
    Text(String),
    /// A plain scalar that means a number or a boolean, as spelled in the text.
    Bare(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Value {
    /// As JSON; numbers and booleans keep their spelling as strings.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Self::Null => Json::Null,
            Self::Text(text) | Self::Bare(text) => Json::String(text.clone()),
            Self::List(items) => items.iter().map(|item| item.value.to_json()).collect(),
            Self::Map(fields) => fields
                .iter()
                .map(|(key, node)| (key.clone(), node.value.to_json()))
                .collect(),
        }
    }
}

/// Writes a value as YAML, every scalar on one line.
pub(crate) fn write(value: &impl Serialize) -> Result<String, serde_saphyr::ser::Error> {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    serde_saphyr::to_string_with_options(value, options)
}

/// Reads one YAML document that is a mapping.
pub(crate) fn read(text: &str) -> Result<Vec<(String, Node)>, Fault> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => builder.take(event, span)?,
            Err(error) => {
                return Err(Fault {
                    line: error.marker().line().max(1),
                    what: "the frontmatter is not valid YAML",
                    hint: "write `key: value` lines, and put quotes around a value that holds a colon or begins \
                           with a sign such as [ { * & ! | > % @",
                });
            }
        }
    }
    match builder.root {
        Some(Node {
            value: Value::Map(fields),
            ..
        }) => Ok(fields),
        Some(Node { line, value }) if value != Value::Null => Err(Fault {
            line,
            what: "the frontmatter is not a mapping",
            hint: "write `key: value` lines between the two `---` lines",
        }),
        _ => Ok(Vec::new()),
    }
}

/// The lines, from 1, on which a plain value of a text that can be read ends at a comment: ` #` and what follows is no part of
/// it, whatever its writer meant.
pub(crate) fn cut(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_cut = |end: Marker, is_empty: bool| {
        let line = lines.get(end.line().saturating_sub(1))?;
        let at = line.char_indices().nth(end.col());
        let rest = at.map_or("", |(at, _)| &line[at..]);
        // A value that begins with the sign is empty, and its place is that of its key.
        let rest = match is_empty {
            true => rest.trim_start().strip_prefix(':')?,
            false => rest,
        };
        let comment = rest.trim_start();
        (comment.len() < rest.len() && comment.starts_with('#')).then(|| end.line())
    };
    let mut cut = Vec::new();
    // The end of the text before, which is a key where the next one is its empty value.
    let mut before: Option<Marker> = None;
    for (event, span) in Parser::new_from_str(text).flatten() {
        let Event::Scalar(value, style, ..) = event else {
            before = None;
            continue;
        };
        if style == ScalarStyle::Plain {
            // The library says `~` for no text at all, with the place of what stands next.
            let is_empty = value == "~" && span.slice(text) != Some("~");
            let end = if is_empty { before } else { Some(span.end) };
            cut.extend(end.and_then(|end| is_cut(end, is_empty)));
        }
        before = Some(span.end);
    }
    cut
}

enum Open {
    List(usize, Vec<Node>),
    Map {
        line: usize,
        fields: Vec<(String, Node)>,
        keys: BTreeSet<String>,
        /// With its line.
        key: Option<(String, usize)>,
    },
}

#[derive(Default)]
struct Builder {
    stack: Vec<Open>,
    root: Option<Node>,
    documents: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        let line = span.start.line().max(1);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Fault {
                        line,
                        what: "the frontmatter holds more than one YAML document",
                        hint: "keep one document between the two `---` lines",
                    });
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                plain(line, anchor, tag.is_some())?;
                let value = if style == ScalarStyle::Plain {
                    resolve(&text)
                } else {
                    Value::Text(text.into_owned())
                };
                self.add(Node { line, value })?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                plain(line, anchor, tag.is_some())?;
                self.open(line, Open::List(line, Vec::new()))?;
            }
            Event::MappingStart(_, anchor, tag) => {
                plain(line, anchor, tag.is_some())?;
                let open = Open::Map {
                    line,
                    fields: Vec::new(),
                    keys: BTreeSet::new(),
                    key: None,
                };
                self.open(line, open)?;
            }
            Event::SequenceEnd | Event::MappingEnd => match self.stack.pop() {
                Some(Open::List(line, items)) => self.add(Node {
                    line,
                    value: Value::List(items),
                })?,
                Some(Open::Map { line, fields, .. }) => self.add(Node {
                    line,
                    value: Value::Map(fields),
                })?,
                None => {}
            },
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            // Aliases, and any event that a later version of the library adds.
            _ => return Err(special(line)),
        }
        Ok(())
    }

    fn open(&mut self, line: usize, open: Open) -> Result<(), Fault> {
        if let Some(Open::Map { key: None, .. }) = self.stack.last() {
            return Err(Fault {
                line,
                what: "a key is a list or a mapping",
                hint: "keys are plain text; put quotes around a value that begins with [ or {",
            });
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(Fault {
                line,
                what: "the frontmatter is nested deeper than 8",
                hint: "keep metadata flat: text keys with text values",
            });
        }
        self.stack.push(open);
        Ok(())
    }

    fn add(&mut self, node: Node) -> Result<(), Fault> {
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Map {
                fields, key, keys, ..
            }) => match key.take() {
                // A list or a mapping begins at the line after its key's.
                Some((key, line)) => fields.push((
                    key,
                    Node {
                        line,
                        value: node.value,
                    },
                )),
                None => {
                    let name = match node.value {
                        Value::Text(text) | Value::Bare(text) => text,
                        _ => String::new(),
                    };
                    if name.is_empty() {
                        return Err(Fault {
                            line: node.line,
                            what: "a key is empty",
                            hint: "give the value a name: `key: value`",
                        });
                    }
                    if !keys.insert(name.clone()) {
                        return Err(Fault {
                            line: node.line,
                            what: "a key occurs twice",
                            hint: "keep one of the two",
                        });
                    }
                    *key = Some((name, node.line));
                }
            },
        }
        Ok(())
    }
}

fn plain(line: usize, anchor: usize, tagged: bool) -> Result<(), Fault> {
    if anchor == 0 && !tagged {
        Ok(())
    } else {
        Err(special(line))
    }
}

fn special(line: usize) -> Fault {
    Fault {
        line,
        what: "the frontmatter uses an anchor, an alias or a tag",
        hint: "write the value out; put quotes around a value that begins with & * or !",
    }
}

/// The value of a plain scalar by YAML 1.2's core schema.
fn resolve(text: &str) -> Value {
    let number = || {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let radix = |prefix: &str, base: u32| {
            text.strip_prefix(prefix)
                .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_digit(base)))
        };
        let special = ["inf", "Inf", "INF"].map(|name| digits.strip_prefix('.') == Some(name));
        radix("0x", 16)
            || radix("0o", 8)
            || special.contains(&true)
            || matches!(text, ".nan" | ".NaN" | ".NAN")
            || (digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
                && digits.bytes().any(|b| b.is_ascii_digit())
                && digits.parse::<f64>().is_ok())
    };
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Value::Bare(text.to_owned()),
        _ if number() => Value::Bare(text.to_owned()),
        _ => Value::Text(text.to_owned()),
    }
}
