//! The citation: the line of an answer that says which skill the agent follows.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    contract::Generation,
    domain::{Action, InjectedSkill, SkillUse, StepNote},
    text::without_thinking,
};

/// What the system message says of it. For a prompt with skills.
pub(super) const RULE: &str = "\nBefore that, write one line that says which skill you follow now: `Skill: <its skill_name>`, \
                               or `Skill: none` if you follow none.";

/// The words for no skill. A skill that has one of these as its name cannot be cited.
const NONE: [&str; 6] = ["none", "no", "noskill", "nothing", "na", "null"];

/// Marks around a citation and its name: Markdown, quotes, brackets, list items.
const MARKS: [char; 16] = [
    '*', '_', '#', '>', '`', '"', '\'', '“', '”', '‘', '’', '-', '•', '.', ',', ';',
];

/// What an answer says of the injected skills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Citation {
    /// For each injected skill. Where the answer cites no skill that is there, all are unknown.
    pub(super) used: Vec<SkillUse>,
    /// Whether it cites a skill that is not there.
    pub(super) absent: bool,
}

impl Citation {
    /// What the answers of a turn say, with its message to the user: the latest answer that cites counts. A message loses its
    /// citation.
    pub(super) fn of(
        replies: &[Generation],
        action: &mut Action,
        skills: &[InjectedSkill],
    ) -> Self {
        if skills.is_empty() {
            return Self::default();
        }
        let names = Names::of(skills);
        let mut cited: Vec<Self> = (replies.iter())
            .map(|reply| names.read(&without_thinking(&reply.text)).0)
            .collect();
        if let Action::Message(text) = action {
            let (in_message, rest) = names.read(text);
            // A message of nothing else is kept, since an empty one says nothing to anybody.
            if !rest.trim().is_empty() && rest.len() < text.len() {
                *text = rest.trim().to_owned();
                cited.push(in_message);
            }
        }
        let absent = cited.iter().any(|one| one.absent);
        let mut latest = cited.into_iter().rev();
        let found = latest.find(|one| one.used.iter().any(|used| *used != SkillUse::Unknown));
        let used = found.map_or_else(|| vec![SkillUse::Unknown; skills.len()], |one| one.used);
        Self { used, absent }
    }

    pub(super) fn notes(&self) -> Vec<StepNote> {
        let absent = self.absent.then_some(StepNote::AbsentSkillCited);
        absent.into_iter().collect()
    }
}

/// The words of a step without the citation at their beginning. For words that are scored, or where no skill is known.
pub(super) fn without(words: &str) -> &str {
    let mut rest = words;
    loop {
        let from = rest.trim_start();
        let (line, after) = from.split_once('\n').unwrap_or((from, ""));
        match value(line) {
            Some(_) => rest = behind(line, after, from),
            None => return rest,
        }
    }
}

/// The text after a citation: what follows on its line, if a call does, or the next lines.
fn behind<'a>(line: &str, after: &'a str, from: &'a str) -> &'a str {
    match call_at(line) {
        Some(at) => &from[at..],
        None => after,
    }
}

/// The citation that an agent writes which follows this skill.
pub(super) fn line(skill: &InjectedSkill) -> String {
    format!("Skill: {}\n", name(skill))
}

/// The beginnings of a call, in the forms of several families. A name in angle brackets is a citation.
const CALLS: [&str; 5] = ["{", "<tool", "<function", "<|", "[TOOL"];

/// Where a call begins on a line.
fn call_at(line: &str) -> Option<usize> {
    CALLS.iter().filter_map(|call| line.find(call)).min()
}

/// The cited text of a line; `None` for a line that is no citation.
fn value(line: &str) -> Option<&str> {
    let bare = |c: char| c.is_whitespace() || MARKS.contains(&c) || matches!(c, '[' | '(');
    let line = line.trim_start_matches(bare);
    let head = line.get(.."skill".len())?;
    if !head.eq_ignore_ascii_case("skill") {
        return None;
    }
    let rest = line["skill".len()..].trim_start_matches(['s', 'S']);
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || MARKS.contains(&c));
    let rest = rest.strip_prefix([':', '：'])?;
    let rest = &rest[..call_at(rest).unwrap_or(rest.len())];
    let rest = rest.trim_matches(|c: char| {
        c.is_whitespace() || MARKS.contains(&c) || matches!(c, '<' | '[' | ']' | '(' | ')')
    });
    (!rest.is_empty()).then_some(rest)
}

/// The names of the injected skills, as an answer may write them.
struct Names(Vec<Vec<String>>);

/// The meaning of a cited name.
enum Cited {
    None,
    /// The places of the skills with this name.
    Skills(Vec<usize>),
    Absent,
}

impl Names {
    fn of(skills: &[InjectedSkill]) -> Self {
        let names = skills.iter().map(|skill| {
            let names = [plain(&name(skill)), plain(skill.skill.id.as_str())];
            names.into_iter().filter(|name| !name.is_empty()).collect()
        });
        Self(names.collect())
    }

    fn find(&self, cited: &str) -> Cited {
        let cited = plain(cited);
        if NONE.contains(&cited.as_str()) {
            return Cited::None;
        }
        let places = (0..self.0.len()).filter(|&place| self.0[place].contains(&cited));
        let places: Vec<usize> = places.collect();
        match places.is_empty() {
            true => Cited::Absent,
            false => Cited::Skills(places),
        }
    }

    /// The names in a citation: the whole text is one, or without its explanation, or it lists several.
    fn names(&self, value: &str) -> Vec<Cited> {
        let known = |text: &str| match self.find(text) {
            Cited::Absent => None,
            known => Some(known),
        };
        let brief = [" (", " - ", " – ", " — ", ": ", " because "].into_iter();
        let brief = brief.filter_map(|mark| Some(value.split_once(mark)?.0));
        if let Some(one) = known(value).or_else(|| brief.into_iter().find_map(known)) {
            return vec![one];
        }
        let list = value.replace(" and ", ",").replace([';', '&', '+'], ",");
        let list = list.split(',').filter(|name| !plain(name).is_empty());
        list.map(|name| self.find(name)).collect()
    }

    /// Reads the citations of a text, and gives the text without them. The first lines are citations whatever they name; a later
    /// line before the call only where it names a skill that is there, or none.
    fn read<'a>(&self, text: &'a str) -> (Citation, Cow<'a, str>) {
        let (mut named, mut any, mut absent) = (vec![false; self.0.len()], false, false);
        let mut unclear = vec![false; self.0.len()];
        let (mut kept, mut rest, mut is_first) = (String::new(), text, true);
        while !rest.is_empty() {
            let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
            let (line, after) = rest.split_at(end);
            let names = value(line).map(|value| self.names(value));
            let there = |one: &Cited| !matches!(one, Cited::Absent);
            match names {
                Some(names) if is_first || names.iter().any(there) => {
                    for name in names {
                        match name {
                            Cited::None => any = true,
                            Cited::Absent => absent = true,
                            Cited::Skills(places) => {
                                any = true;
                                let marks = match places.as_slice() {
                                    [_] => &mut named,
                                    _ => &mut unclear,
                                };
                                places.iter().for_each(|&place| marks[place] = true);
                            }
                        }
                    }
                    rest = behind(line, after, rest);
                    if rest.len() > after.len() {
                        break;
                    }
                }
                _ if is_call(line) => break,
                _ => {
                    is_first &= line.trim().is_empty();
                    kept.push_str(line);
                    rest = after;
                }
            }
        }
        let of = |place: usize| match (any, named[place], unclear[place]) {
            (_, true, _) => SkillUse::Followed,
            (true, false, false) => SkillUse::NotFollowed,
            _ => SkillUse::Unknown,
        };
        let used = (0..self.0.len()).map(of).collect();
        let text = match kept.len() + rest.len() == text.len() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(kept + rest),
        };
        (Citation { used, absent }, text)
    }
}

/// Whether a line begins a call, so that what follows is no longer the agent's plain words.
fn is_call(line: &str) -> bool {
    let line = line.trim_start();
    let head = line.get(.."action".len()).unwrap_or_default();
    line.starts_with(['{', '<', '['])
        || line.starts_with("```")
        || head.eq_ignore_ascii_case("action")
}

/// The name that the prompt shows: `skill_name` of the text that this prompt format wrote, else the id.
fn name(skill: &InjectedSkill) -> Cow<'_, str> {
    let shown = serde_json::from_str::<Value>(&skill.text).ok();
    let shown = shown.and_then(|shown| Some(shown.get("skill_name")?.as_str()?.to_owned()));
    shown.map_or(Cow::Borrowed(skill.skill.id.as_str()), Cow::Owned)
}

/// A name without case, spaces and marks.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests;
