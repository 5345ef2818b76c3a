//! Shorter forms of texts and steps, for prompts that must fit a context.

use std::collections::BTreeMap;

use crate::domain::{Action, Step};

/// The greatest number of tools that a summary of steps names.
const NAMES: usize = 6;
/// The greatest length of a tool's name there, in characters.
const NAME_CHARS: usize = 60;

/// The beginning of a text on one line, about `most` characters long, with a note of how many characters are missing.
pub(crate) fn brief(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = line.chars().count();
    if count <= most {
        return line;
    }
    let head: String = line.chars().take(most).collect();
    format!("{} [{} more characters]", head.trim_end(), count - most)
}

/// The beginning and the end of a text, about `most` characters in all, with a note between them. Errors are often at the
/// end.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let tail = most / 3;
    let head: String = text.chars().take(most - tail).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{head}\n[{} more characters]\n{end}", count - most)
}

/// What was done in steps that are left out, by tool: `open x20, close x18`.
pub(crate) fn actions_in_brief<'a>(steps: impl Iterator<Item = &'a Step>) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for step in steps {
        match &step.action {
            Action::Call(calls) => calls.iter().for_each(|call| {
                let name: String = call.tool.chars().take(NAME_CHARS).collect();
                *counts.entry(name).or_default() += 1;
            }),
            _ => *counts.entry("messages".to_owned()).or_default() += 1,
        }
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let more = counts.len().saturating_sub(NAMES);
    let named = counts.iter().take(NAMES);
    let mut parts: Vec<String> = named
        .map(|(name, count)| format!("{name} x{count}"))
        .collect();
    if more > 0 {
        parts.push(format!("{more} more tools"));
    }
    parts.join(", ")
}

/// A text of at most `most` characters: a longer one ends behind its last whole sentence, or its last whole word where that
/// keeps more than twice as much.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most).collect();
    let begins_anew = text[head.len()..].starts_with(char::is_whitespace);
    let ends = head
        .char_indices()
        .filter(|(_, c)| ".!?;\u{3002}".contains(*c));
    let ends = ends.map(|(at, c)| at + c.len_utf8());
    let mut sentence = ends.filter(|&end| match head[end..].chars().next() {
        Some(next) => {
            next.is_whitespace() || !head[..end].is_ascii() && head[..end].ends_with('\u{3002}')
        }
        None => begins_anew,
    });
    let sentence = sentence.next_back().unwrap_or(0);
    let word = match begins_anew {
        true => head.len(),
        false => head.rfind(char::is_whitespace).unwrap_or(head.len()),
    };
    let end = if 2 * sentence >= word { sentence } else { word };
    head[..end].trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{Source, StepResult};

    #[test]
    fn a_text_ends_behind_a_sentence_or_a_word() {
        let check = |text: &str, most: usize, expect: &str| {
            let found = shortened(text, most);
            assert_eq!(found, expect);
            assert!(found.chars().count() <= most);
        };
        check("short", 5, "short");
        check("Open it first. Then close it again.", 20, "Open it first.");
        check("Open it first. Then close it", 14, "Open it first.");
        check(
            "Use v1.2 of the tool and be very careful",
            20,
            "Use v1.2 of the tool",
        );
        check(
            "Use v1.2 of the tool and be very careful",
            22,
            "Use v1.2 of the tool",
        );
        check(
            "a. bbbbbbbbbb cccccccccc dddd",
            24,
            "a. bbbbbbbbbb cccccccccc",
        );
        check("unbroken-word", 8, "unbroken");
        check(
            "\u{5148}\u{958b}\u{3002}\u{518d}\u{95dc}\u{9589}",
            4,
            "\u{5148}\u{958b}\u{3002}",
        );
        check("anything", 0, "");
    }

    #[test]
    fn a_brief_text_says_what_is_missing() {
        assert_eq!(brief("a\n  b", 10), "a b");
        assert_eq!(
            brief(&"word ".repeat(10), 9),
            "word word [40 more characters]"
        );
        assert_eq!(clipped("abcdefghi", 6), "abcd\n[3 more characters]\nhi");
    }

    #[test]
    fn steps_are_counted_by_tool() {
        let step = |tool: &str| {
            let result = StepResult::new("ok", Source::trusted("world"));
            Step::new(Action::call(tool, json!({})), result)
        };
        let mut steps = vec![step("open"), step("close"), step("open")];
        assert_eq!(actions_in_brief(steps.iter()), "open x2, close x1");
        steps.extend((0..8).map(|n| step(&format!("tool_{n}"))));
        let brief = actions_in_brief(steps.iter());
        assert!(brief.ends_with("tool_3 x1, 4 more tools"), "{brief}");
        assert_eq!(actions_in_brief([].iter()), "");
    }
}
