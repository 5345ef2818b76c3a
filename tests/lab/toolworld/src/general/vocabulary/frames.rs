//! Which fixed texts are tokens of their own.

use std::collections::{BTreeSet, HashMap, HashSet};

use journeyman::domain::Role;

use crate::general::chatml::MARKS;
use crate::general::corpus::Writer;
use crate::general::document::Document;

/// Least length of a line that becomes a frame, in bytes.
const SHORTEST: usize = 6;
/// A line becomes a frame where it stands in one of so many documents.
const RARITY: usize = 350;
/// Frames within lines: what stands between names and values in tools, calls, results and skills. Some begin with the quote with
/// which others end. Only a text with a string of a comma and a blank is read otherwise by readers that go from left to right.
const INLINE: [&str; 32] = [
    r#"{"type": "function", "function": {"name": ""#,
    r#"", "description": ""#,
    r#"", "parameters": {"type": "object", "properties": {""#,
    r#"", "parameters": {"type": "object", "properties": {}"#,
    r#"": {"type": "integer", "maximum": 99, "minimum": 1"#,
    r#"": {"type": "integer", "minimum": 1"#,
    r#"": {"type": "integer""#,
    r#"": {"type": "string", "enum": [""#,
    r#"": {"type": "string""#,
    r#", "description": "the "#,
    r#", "required": []"#,
    r#", "required": [""#,
    r#"{"type":"function","function":{"name":""#,
    r#"","description":""#,
    r#"","parameters":{"properties":{""#,
    r#"","parameters":{"properties":{}"#,
    r#"":{"maximum":99,"minimum":1,"type":"integer"}"#,
    r#"":{"minimum":1,"type":"integer"}"#,
    r#"":{"type":"integer"}"#,
    r#"":{"type":"string"}"#,
    r#"":{"enum":[""#,
    r#","type":"object"}}}"#,
    r#"{"skill_name": ""#,
    r#"", "instructions": ""#,
    "\n{\"name\": \"",
    r#"", "arguments": "#,
    r#"{"arguments":{""#,
    r#"{"arguments":{},"tool":""#,
    r#"},"tool":""#,
    r#"", ""#,
    r#"": ""#,
    r"\n",
];

/// The frames of a text: what the shipped role prompts have between their slots, lines that recur, and [`INLINE`].
pub(super) fn find(writer: &Writer, documents: &[Document]) -> Vec<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for role in Role::ALL {
        if let Some(skill) = writer.roles().skill(role) {
            found.extend(between_slots(&skill.body));
        }
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for document in documents {
        let lines: HashSet<&str> = document
            .pieces
            .iter()
            .flat_map(|piece| piece.text.split('\n'))
            .map(str::trim)
            .filter(|line| line.len() >= SHORTEST && is_plain(line))
            .collect();
        for line in lines {
            *counts.entry(line).or_default() += 1;
        }
    }
    let often = (documents.len() / RARITY).max(3);
    let lines = counts.into_iter().filter(|(_, count)| *count >= often);
    found.extend(lines.map(|(line, _)| line.to_owned()));
    apart(found)
}

/// Whether a line is no mark of the template and ends no turn: data that has it must not pass for one.
fn is_plain(line: &str) -> bool {
    !MARKS.contains(&line) && !line.contains("<|")
}

/// The fixed texts of a role's prompt, without white space around them.
fn between_slots(body: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = body;
    while let Some((before, slot)) = rest.split_once("{{") {
        texts.push(before);
        rest = slot.split_once("}}").map_or("", |(_, after)| after);
    }
    texts.push(rest);
    let texts = texts.into_iter().map(|text| {
        // The end of a sentence whose number a slot gives.
        text.trim().trim_start_matches('.').trim_start()
    });
    texts
        .filter(|text| text.len() >= SHORTEST)
        .map(str::to_owned)
        .collect()
}

/// Leaves out each frame whose end is the beginning of a longer one: readers that look for the longest first would split a
/// text with both otherwise than readers that go from left to right.
fn apart(found: BTreeSet<String>) -> Vec<String> {
    let all: Vec<String> = found.into_iter().collect();
    let overlaps = |shorter: &String| {
        all.iter().any(|longer| {
            let is_other = longer != shorter && longer.len() >= shorter.len();
            let ends = (1..shorter.len()).filter(|at| shorter.is_char_boundary(*at));
            is_other
                && ends
                    .into_iter()
                    .any(|at| longer.starts_with(&shorter[at..]))
        })
    };
    let lines = all.iter().filter(|frame| !overlaps(frame)).cloned();
    let inline = INLINE.map(str::to_owned).into_iter();
    inline
        .chain(lines.filter(|line| !INLINE.contains(&line.as_str())))
        .collect()
}
