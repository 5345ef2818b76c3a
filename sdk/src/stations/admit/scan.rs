//! Reads lines of instructions: list markers, marked words, parts of identifiers, and the order in which a sentence says that
//! things are done.

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Plain(&'a str),
    /// Between backticks.
    Code(&'a str),
    /// Between quotation marks.
    Quoted(&'a str),
}

/// The marked and unmarked parts of a line, in order.
pub(super) fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while let Some((open, mark)) = next_mark(line, at) {
        let inner = open + mark.len_utf8();
        let close = match mark {
            '\u{201c}' => '\u{201d}',
            mark => mark,
        };
        let rest = line.get(inner..).unwrap_or_default();
        let Some(length) = closing(rest, close) else {
            at = inner;
            continue;
        };
        found.extend(line.get(plain..open).map(Piece::Plain));
        let marked = rest.get(..length).unwrap_or_default();
        found.push(match mark {
            '`' => Piece::Code(marked),
            _ => Piece::Quoted(marked),
        });
        at = inner + length + close.len_utf8();
        plain = at;
    }
    found.extend(line.get(plain..).map(Piece::Plain));
    found
}

/// The next opening mark from a place on. An apostrophe within a word opens nothing.
fn next_mark(line: &str, from: usize) -> Option<(usize, char)> {
    let rest = line.get(from..)?;
    let before = line.get(..from).and_then(|before| before.chars().last());
    let mut before = before.unwrap_or(' ');
    for (place, c) in rest.char_indices() {
        let opens = match c {
            '`' | '"' | '\u{201c}' => true,
            '\'' => !before.is_alphanumeric(),
            _ => false,
        };
        if opens {
            return Some((from + place, c));
        }
        before = c;
    }
    None
}

/// The place of a closing mark. An apostrophe before a letter closes nothing.
fn closing(rest: &str, close: char) -> Option<usize> {
    let mut places = rest.char_indices().filter(|(_, c)| *c == close);
    let found = places.find(|(place, c)| {
        let after = rest.get(place + c.len_utf8()..);
        let after = after.and_then(|after| after.chars().next());
        *c != '\'' || !after.is_some_and(char::is_alphanumeric)
    });
    found.map(|(place, _)| place)
}

/// A line without the markers before it: of headings, of list items and of numbered steps.
pub(super) fn without_marker(line: &str) -> &str {
    let mut line = line.trim();
    loop {
        let signs = line.trim_start_matches(['#', '-', '*', '+', '\u{2022}', '>']);
        let rest = match line.strip_prefix('(').unwrap_or(line) {
            // A sign is a marker only before a space: `-5` is a number.
            _ if signs.len() < line.len() && signs.starts_with(' ') => signs,
            line => numbered(line).unwrap_or_default(),
        };
        match rest.trim_start() {
            "" => return line,
            rest => line = rest,
        }
    }
}

/// The text after `1. ` or `1) `.
fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = (rest.len() < line.len()).then_some(rest)?;
    let rest = rest.strip_prefix(['.', ')'])?;
    rest.starts_with(' ').then_some(rest)
}

/// A number in its shortest form: `65.0%` is `65`.
pub(super) fn number(token: &str) -> Option<String> {
    let token = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
    let digits = token.strip_prefix('-').unwrap_or(token);
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || !digits.chars().all(is_number) {
        return None;
    }
    let shortest = match token.split_once('.') {
        Some((whole, part)) if !part.contains('.') => match part.trim_end_matches('0') {
            "" => whole.to_owned(),
            part => format!("{whole}.{part}"),
        },
        _ => token.to_owned(),
    };
    Some(shortest)
}

/// The parts of a word in lower case: runs of letters and digits, split at an inner capital.
pub(super) fn subwords(word: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let mut before_is_lower = false;
    for c in word.chars() {
        if !c.is_alphanumeric() || before_is_lower && c.is_uppercase() {
            parts.push(String::new());
        }
        before_is_lower = c.is_lowercase();
        if let (true, Some(part)) = (c.is_alphanumeric(), parts.last_mut()) {
            part.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Words after which a sentence names what is done earlier.
const EARLIER: [&str; 6] = ["after", "until", "needs", "need", "requires", "require"];

/// Words at the beginning of a sentence about what is done before all else, and about what is done last.
const FIRST: [&str; 4] = ["first", "ahead", "beforehand", "start"];
const LAST: [&str; 3] = ["last", "finally", "end"];

/// Among how many words such a word is looked for: *The last call is ...*
const BEGINNING: usize = 2;

/// The parts of a text in the order in which they are done: `Before A, B`, `A after B` and `A requires B` are B and then A, and a
/// sentence that begins with `Ahead of it` or `The last call is` stands before or behind the others. These are the English words
/// that are known; a text without them is done as it stands.
pub(super) fn doing_order<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut sentences: Vec<&str> = lines.flat_map(sentences).collect();
    sentences.sort_by_key(|sentence| place(sentence));
    sentences.into_iter().flat_map(of_sentence).collect()
}

/// Whether a sentence is about what is done first, about a step, or about what is done last.
fn place(sentence: &str) -> i8 {
    let words = words_at(sentence).into_iter().take(BEGINNING);
    let among = |these: &[&str]| {
        let mut words = words.clone();
        words.any(|(_, word)| these.iter().any(|one| word.eq_ignore_ascii_case(one)))
    };
    match (among(&FIRST), among(&LAST)) {
        (true, _) => -1,
        (false, true) => 1,
        (false, false) => 0,
    }
}

fn of_sentence(sentence: &str) -> [&str; 2] {
    let words = words_at(sentence);
    let is = |word: &str, one: &str| word.eq_ignore_ascii_case(one);
    if let Some((_, first)) = words.first()
        && is(first, "before")
        && let Some((clause, rest)) = sentence.split_once(',')
    {
        return [rest, clause];
    }
    let mut later = words.iter().skip(1);
    let turns = later.find(|(_, word)| EARLIER.iter().any(|one| is(word, one)));
    let split = turns.and_then(|(at, _)| sentence.split_at_checked(*at));
    match split {
        Some((done_later, done_earlier)) => [done_earlier, done_later],
        None => [sentence, ""],
    }
}

fn words_at(text: &str) -> Vec<(usize, &str)> {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, is_inside(c)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                words.extend(text.get(from..at).map(|word| (from, word)));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// The sentences of a line. A full stop within a name or a number ends none.
fn sentences(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = matches!(c, '.' | ';' | '!' | '?');
        let before_space = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        if ends && before_space {
            let end = at + c.len_utf8();
            found.extend(line.get(start..end));
            start = end;
        }
    }
    found.extend(line.get(start..));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_go() {
        for (line, expect) in [
            ("  1. Call it", "Call it"),
            ("- 2) Call it", "Call it"),
            ("## How to", "How to"),
            ("-5 degrees", "-5 degrees"),
            ("12 eggs", "12 eggs"),
            ("1.", "1."),
            ("**bold** word", "**bold** word"),
            ("", ""),
            ("\u{2022} \u{e9}t\u{e9}", "\u{e9}t\u{e9}"),
        ] {
            assert_eq!(without_marker(line), expect, "{line:?}");
        }
    }

    #[test]
    fn marks_are_read_in_pairs() {
        use Piece::{Code, Plain, Quoted};
        let check = |line: &str, expect: &[Piece<'_>]| assert_eq!(pieces(line), expect, "{line:?}");
        check("", &[Plain("")]);
        check(
            "call `a b` now",
            &[Plain("call "), Code("a b"), Plain(" now")],
        );
        check(
            "don't say 'it's off'",
            &[Plain("don't say "), Quoted("it's off"), Plain("")],
        );
        check("an open ` stays", &[Plain("an open ` stays")]);
        check(
            "\u{201c}\u{e9}\u{201d}\"b\"",
            &[
                Plain(""),
                Quoted("\u{e9}"),
                Plain(""),
                Quoted("b"),
                Plain(""),
            ],
        );
    }

    #[test]
    fn numbers_have_one_form() {
        let check = |token: &str, expect: Option<&str>| {
            assert_eq!(number(token).as_deref(), expect, "{token:?}");
        };
        check("65", Some("65"));
        check("65.0%", Some("65"));
        check("0.50", Some("0.5"));
        check("-5", Some("-5"));
        check("1.2.3", Some("1.2.3"));
        check("v2", None);
        check("", None);
        check("-", None);
    }

    #[test]
    fn identifiers_have_parts() {
        for (word, expect) in [
            ("brew_coffee", "brew coffee"),
            ("startEngine", "start engine"),
            ("a.b-c", "a b c"),
            ("v2", "v2"),
            ("...", ""),
        ] {
            assert_eq!(subwords(word).join(" "), expect, "{word:?}");
        }
    }

    #[test]
    fn sentences_turn_around() {
        let check = |line: &str, expect: &str| {
            let parts = doing_order(line.lines());
            let parts = parts.iter().map(|part| part.trim());
            let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
            assert_eq!(parts.join("|"), expect, "{line:?}");
        };
        check("Call a.b at 6.5. Then c; d", "Call a.b at 6.5.|Then c;|d");
        check("Before you brew, open it.", "open it.|Before you brew");
        check("Brew only after opening.", "after opening.|Brew only");
        check("After opening, brew.", "After opening, brew.");
        check(
            "The last call is brew.\nOpen it.\nAhead of it, wash.",
            "Ahead of it, wash.|Open it.|The last call is brew.",
        );
        check(
            "It has the last word.\nOpen it.",
            "It has the last word.|Open it.",
        );
        check("", "");
    }
}
