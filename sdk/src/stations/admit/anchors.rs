//! The names, numbers and steps of a text: what a paraphrase keeps, and a text about something else does not.

use std::collections::BTreeSet;

use serde_json::Value;

use super::scan::{Piece, doing_order, number, pieces, subwords, without_marker};
use crate::{
    domain::{Action, Trace},
    text::is_function_word,
};

/// The longest quotation, in words, that is taken for a name or a value. A longer one is a sentence.
const MOST_QUOTED: usize = 6;

/// The most words of an argument that is taken for a term ([`Terms`]).
const MOST_VALUE: usize = 3;

/// A name: its parts in lower case (`brew_coffee` is `brew`, `coffee`).
type Name = Vec<String>;

/// The terms of attempts: the names of their tools and the arguments of their calls. A text that names one means it, also
/// where it does not mark it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    tools: BTreeSet<Name>,
    arguments: BTreeSet<Name>,
}

impl Terms {
    /// The terms of attempts.
    pub fn of<'a>(attempts: impl IntoIterator<Item = &'a Trace>) -> Self {
        let mut terms = Self::default();
        for step in attempts.into_iter().flat_map(|one| &one.trajectory.steps) {
            let shown = step.observation.tools.iter().map(|tool| &tool.name);
            terms.tools.extend(shown.map(|name| subwords(name)));
            let Action::Call(calls) = &step.action else {
                continue;
            };
            for call in calls {
                terms.tools.insert(subwords(&call.tool));
                for (parameter, value) in &call.arguments {
                    terms.arguments.insert(subwords(parameter));
                    let words = value.as_str().map(subwords).unwrap_or_default();
                    if words.len() <= MOST_VALUE && !matches!(value, Value::Number(_)) {
                        terms.arguments.insert(words);
                    }
                }
            }
        }
        for names in [&mut terms.tools, &mut terms.arguments] {
            let kept = std::mem::take(names).into_iter().map(content);
            names.extend(kept.filter(|name| !name.is_empty()));
        }
        terms
    }

    /// Whether the attempts had no tools.
    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.arguments.is_empty()
    }

    fn iter(&self) -> impl Iterator<Item = &Name> {
        self.tools.iter().chain(&self.arguments)
    }
}

/// The names, numbers and steps of a description and a body.
///
/// A name is an identifier (`brew_coffee`, `startEngine`, `v2`) or a word in backticks or quotation marks. Numbers of list items and
/// of steps are none.
///
/// ```
/// use journeyman::stations::admit::{Anchors, Terms};
///
/// let of = |body: &str| Anchors::of("How to brew.", body);
/// let agree = |one: &str, other: &str| of(one).agrees(&of(other), &Terms::default());
///
/// let listed = "1. Call `open_jar`.\n2. Call `brew_coffee` with power 65.";
/// assert!(agree(listed, "Before you call brew_coffee with the power at 65, use open_jar."));
/// assert!(!agree(listed, "First open_jar, then brew_coffee with power 70."));
/// assert!(!agree(listed, "First seal_jar, then brew_coffee with power 65."));
/// assert!(!agree(listed, "First brew_coffee with power 65, then open_jar."));
/// assert!(!agree(listed, "Call brew_coffee with power 65."));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchors {
    /// The content words in order, numbers among them.
    words: Vec<String>,
    /// The words of the body in the order in which their sentences say that things are done, with a [`JOINT`] wherever the words
    /// behind it are about a later step.
    ordered: Vec<String>,
    names: BTreeSet<Name>,
    numbers: BTreeSet<String>,
    /// Code with tokens of signs alone, such as `$` or `|`: its words do not tell what it does.
    code: Vec<String>,
}

impl Anchors {
    /// The anchors of a skill's description and body.
    pub fn of(description: &str, body: &str) -> Self {
        let mut anchors = Self {
            words: Vec::new(),
            ordered: Vec::new(),
            names: BTreeSet::new(),
            numbers: BTreeSet::new(),
            code: Vec::new(),
        };
        anchors.read(description);
        // Words of the description and of the body are no neighbors.
        anchors.words.push(String::new());
        anchors.read(body);
        let lines = body.lines().filter(|line| !line.trim().starts_with('#'));
        for part in doing_order(lines.map(without_marker)) {
            anchors.ordered.push(JOINT.to_owned());
            for token in part.split_whitespace() {
                anchors.ordered.extend(content(subwords(token)));
                anchors
                    .ordered
                    .extend(joins(token).then(|| JOINT.to_owned()));
            }
        }
        anchors
    }

    /// Whether both texts name the same things, have the same numbers and name the tools in the same order. Texts that name
    /// nothing in common do not agree.
    pub fn agrees(&self, other: &Self, terms: &Terms) -> bool {
        let both_have = |name: &Name| self.has(name) && other.has(name);
        let names = || self.names.iter().chain(&other.names);
        let differ = |name: &Name| self.has(name) != other.has(name);
        let has_code = !self.code.is_empty() && !other.code.is_empty();
        if self.numbers != other.numbers || has_code && self.code != other.code {
            return false;
        }
        if names().any(|name| !both_have(name)) || terms.iter().any(differ) {
            return false;
        }
        let in_common = !self.numbers.is_empty() || names().chain(terms.iter()).any(both_have);
        let ordered = self.ordered_names(other, terms);
        let order = self.order(&ordered, other);
        in_common && order.is_some() && order == other.order(&ordered, self)
    }

    /// How many tools both texts name, and compound names, which are those of tools mostly.
    pub(crate) fn calls_in_common(&self, other: &Self, terms: &Terms) -> usize {
        let names = self.ordered_names(other, terms).into_iter();
        names
            .filter(|name| self.has(name) && other.has(name))
            .count()
    }

    /// The names whose order counts. That of names of one word, such as parameters, means nothing.
    fn ordered_names<'a>(&'a self, other: &'a Self, terms: &'a Terms) -> BTreeSet<&'a Name> {
        let names = self.names.iter().chain(&other.names);
        let compound = names.filter(|name| name.len() > 1);
        compound.chain(&terms.tools).collect()
    }

    /// The words that a text must have to agree with this one.
    pub(crate) fn needed(&self) -> impl Iterator<Item = &str> {
        let words = self.names.iter().flatten().chain(&self.numbers);
        words.map(String::as_str)
    }

    /// The names that both bodies have, in the order of their last mentions in this one: an introduction often names the last
    /// step first. `None` where a sentence names two of them and does not say in known words which one comes first.
    fn order<'a>(&self, names: &BTreeSet<&'a Name>, other: &Self) -> Option<Vec<&'a Name>> {
        let in_both = names
            .iter()
            .filter(|name| last(&other.ordered, name).is_some());
        let mut found: Vec<(usize, &Name)> = in_both
            .filter_map(|name| Some((last(&self.ordered, name)?, *name)))
            .collect();
        found.sort();
        let is_joined = |two: &[(usize, &Name)]| match two {
            [(from, _), (to, _)] => {
                let mut between = self.ordered.iter().take(*to).skip(*from);
                between.any(|word| word == JOINT)
            }
            _ => true,
        };
        let is_known = found.windows(2).all(is_joined);
        is_known.then(|| found.into_iter().map(|(_, name)| name).collect())
    }

    fn has(&self, name: &Name) -> bool {
        last(&self.words, name).is_some()
    }

    fn read(&mut self, text: &str) {
        let mut in_block = false;
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                in_block = !in_block;
                continue;
            }
            if in_block {
                self.marked(line, true);
                continue;
            }
            for piece in pieces(without_marker(line)) {
                match piece {
                    Piece::Plain(text) => self.plain(text),
                    Piece::Code(text) => self.marked(text, true),
                    Piece::Quoted(text) if text.split_whitespace().count() > MOST_QUOTED => {
                        self.plain(text);
                    }
                    Piece::Quoted(text) => self.marked(text, false),
                }
            }
        }
    }

    fn plain(&mut self, text: &str) {
        for token in tokens(text) {
            if let Some(number) = number(token) {
                // The number of a step: `Step 2`.
                if self.words.last().is_none_or(|word| word != "step") {
                    self.number(number);
                }
                continue;
            }
            let parts = content(subwords(token));
            if is_identifier(token) && !parts.is_empty() {
                self.names.insert(parts.clone());
            }
            self.words.extend(parts);
        }
    }

    fn marked(&mut self, text: &str, is_code: bool) {
        let is_signs = |token: &str| !token.contains(char::is_alphanumeric);
        if is_code && text.split_whitespace().any(is_signs) {
            let code = text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.code.push(code);
        }
        let text = match is_code {
            true => without_placeholders(text),
            false => text.to_owned(),
        };
        let is_alone = tokens(&text).nth(1).is_none();
        for token in tokens(&text) {
            if let Some(number) = number(token) {
                self.number(number);
                continue;
            }
            let mut parts = content(subwords(token));
            if parts.is_empty() && is_alone {
                // A marked function word is a value, such as a grade `A`.
                parts = subwords(token);
            }
            if !parts.is_empty() {
                self.names.insert(parts.clone());
            }
            self.words.extend(parts);
        }
    }

    fn number(&mut self, number: String) {
        self.words.push(number.clone());
        self.numbers.insert(number);
    }
}

/// Stands between the words about one step and those about a later one.
const JOINT: &str = "\0";

/// Whether the next words are about a later step than those before: behind a comma, and behind such a word.
fn joins(token: &str) -> bool {
    let word = token.trim_matches(|c: char| !c.is_alphanumeric());
    let is_joint = |one: &str| word.eq_ignore_ascii_case(one);
    let mut words = ["and", "then", "before", "next", "followed"].iter();
    words.any(|one| is_joint(one)) || token.contains([',', ';', ':', '>', '\u{2192}'])
}

/// The parts of a text between white space and the signs of calls and lists.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let between = |c: char| c.is_whitespace() || "=:,;()[]{}<>/|\"'`".contains(c);
    let tokens = text.split(between);
    tokens.filter(|token| token.contains(char::is_alphanumeric))
}

/// Code without what stands in angle brackets: it names what to fill in, in words of its own.
fn without_placeholders(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some((before, after)) = rest.split_once('<') {
        let Some((_, behind)) = after.split_once('>') else {
            break;
        };
        kept.push_str(before);
        kept.push(' ');
        rest = behind;
    }
    kept + rest
}

/// Whether a word is written as names of programs are.
fn is_identifier(token: &str) -> bool {
    let token = token.trim_matches(|c: char| !c.is_alphanumeric());
    let has = |is: fn(char) -> bool| token.contains(is);
    let chars: Vec<char> = token.chars().collect();
    let is_camel = chars
        .windows(2)
        .any(|two| matches!(two, [a, b] if a.is_lowercase() && b.is_uppercase()));
    let is_dotted = chars.windows(3).any(
        |three| matches!(three, [a, '.' | '_', b] if a.is_alphanumeric() && b.is_alphanumeric()),
    );
    is_camel || is_dotted || has(char::is_numeric) && has(char::is_alphabetic)
}

/// Without function words: `brew the coffee` has the name `brew_coffee`.
fn content(words: Vec<String>) -> Name {
    let words = words.into_iter();
    words.filter(|word| !is_function_word(word)).collect()
}

/// The place of the last mention of a name.
fn last(words: &[String], name: &[String]) -> Option<usize> {
    if name.is_empty() {
        return None;
    }
    words.windows(name.len()).rposition(|some| some == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::ToolCall, testing::sample};

    /// Checks both ways round.
    fn check(one: &str, other: &str, expect: bool) {
        let [a, b] = [one, other].map(|body| Anchors::of("How to do it.", body));
        let terms = Terms::default();
        assert_eq!(a.agrees(&b, &terms), expect, "{one:?} {other:?}");
        assert_eq!(b.agrees(&a, &terms), expect, "{other:?} {one:?}");
    }

    #[test]
    fn texts_agree_in_names_and_numbers_however_they_are_marked() {
        check(
            "Call `brew_coffee` with `power` 65.",
            "use brew_coffee, power=65",
            true,
        );
        check(
            "Call brewCoffee with \u{201c}power\u{201d} 65.",
            "brew the coffee with power 65.0",
            true,
        );
        check("Set `tone` to 'off'.", "the tone is off", true);
        check("Set `tone` to 'off'.", "the tone is on", false);
        check("Give the grade `A`.", "Give the grade `B`.", false);
        check("call brew_coffee", "call brew_cocoa", false);
        check("use v2 of it", "use v3 of it", false);
        check("wait -5 minutes", "wait 5 minutes", false);
        check("pay 2.50 now", "pay 2.5 now", true);
    }

    #[test]
    fn numbers_of_steps_are_no_facts() {
        check(
            "1. Call `open_jar`.\n2. Call `stir`.",
            "Step 1: open_jar. Step 2: stir.",
            true,
        );
        check("- Call `stir` 3 times", "3) Call `stir`", false);
    }

    #[test]
    fn texts_that_name_nothing_do_not_agree() {
        check("Think first.", "Think first!", false);
        check("", "", false);
    }

    #[test]
    fn the_order_of_tools_is_that_in_which_they_are_called() {
        let listed = "# Brew with brew_coffee\n1. open_jar\n2. brew_coffee";
        for same in [
            "Before brew_coffee, call open_jar.",
            "Call open_jar before brew_coffee.",
            "Call brew_coffee only after open_jar.",
            "After open_jar, call brew_coffee.",
            "brew_coffee requires open_jar.",
            "To run brew_coffee, use open_jar and then brew_coffee.",
            "The last call is brew_coffee. Ahead of it comes open_jar.",
        ] {
            check(listed, same, true);
        }
        for other in [
            // Nobody knows which one comes first by these words.
            "brew_coffee fails unless you have called open_jar.",
            "open_jar fails unless you have called brew_coffee.",
            "Before open_jar, call brew_coffee.",
            "Call open_jar only after brew_coffee.",
            "brew_coffee, then open_jar",
        ] {
            check(listed, other, false);
        }
    }

    #[test]
    fn code_with_signs_alone_is_compared_as_it_is() {
        check("`brew coffee power #`", "`brew coffee power $`", false);
        check("`brew coffee power #`", "brew the coffee, power", true);
        check("```\nls | sort\n```", "```\nls > sort\n```", false);
        check(
            "`stir(minutes=<as the task says>)`",
            "call stir, `minutes` from the task",
            true,
        );
    }

    #[test]
    fn terms_of_the_attempts_count_where_no_text_marks_them() {
        let mut trace = sample::trace("a", &sample::task("t", &["day"]), &["day"], true);
        let arguments =
            serde_json::json!({"tone": "off", "size": 3, "note": "a text of many words here"});
        trace.trajectory.steps[0].action = Action::Call(vec![ToolCall {
            tool: "open_jar".to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
        }]);
        let terms = Terms::of([&trace]);
        let check = |one: &str, other: &str, expect: bool| {
            let [a, b] = [one, other].map(|body| Anchors::of("How to do it.", body));
            assert_eq!(a.agrees(&b, &terms), expect, "{one:?} {other:?}");
        };
        check("Open the jar early.", "Early, open the jar.", true);
        check("Open the jar early.", "Open the box early.", false);
        check("Open the jar, tone off.", "Open the jar, tone on.", false);
        check(
            "Open the jar, the tone off.",
            "With tone off open the jar.",
            true,
        );
        check("Open the jar of many words.", "Open the jar.", true);
    }
}
