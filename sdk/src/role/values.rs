//! Reads the values of an answer's fields: texts, lines, words, numbers, lists.
//!
//! A value that is read in another spelling than the schema's is written back into the object in the schema's.

use serde_json::Value;

use super::{
    object::{Object, Read, cleaned, refuse},
    shown::one_line,
};
use crate::{
    domain::{SubgoalScore, find_hidden},
    text::{closes_a_block, shortened},
};

/// The greatest length of a line of a skill, of a reason, a scope or a case, in characters.
pub(super) const LINE: usize = 500;

/// Checks that a text can go into a skill or a prompt, whatever its length.
pub(super) fn harmless(key: &str, text: &str) -> Read<()> {
    if let Some(hidden) = find_hidden(text) {
        return refuse(format!("{key} holds {hidden}"));
    }
    match closes_a_block(text) {
        true => refuse(format!(
            "{key} holds what would end a block or a turn of a prompt"
        )),
        false => Ok(()),
    }
}

/// Checks that a text can go into a skill or a prompt.
pub(super) fn sound(key: &str, text: &str, most: usize) -> Read<()> {
    let length = text.chars().count();
    match length > most {
        true => refuse(format!(
            "{key} has {length} characters, and {most} is the most"
        )),
        false => harmless(key, text),
    }
}

pub(super) fn string<'a>(object: &'a Object, key: &str) -> Read<&'a str> {
    match object.get(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => refuse(format!("{key} is not a string")),
        None => refuse(format!("{key} is missing")),
    }
}

pub(super) fn array<'a>(object: &'a Object, key: &str) -> Read<&'a [Value]> {
    match object.get(key) {
        Some(Value::Array(items)) => Ok(items),
        Some(_) => refuse(format!("{key} is not an array")),
        None => refuse(format!("{key} is missing")),
    }
}

/// A text on one line; it may be empty. A longer one than `most` ends behind its last whole sentence or word that fits, since
/// a shorter name, reason or description does no harm.
pub(super) fn perhaps(object: &mut Object, key: &str, most: usize) -> Read<String> {
    let text = one_line(string(object, key)?);
    harmless(key, &text)?;
    if text.chars().count() <= most {
        return Ok(text);
    }
    let text = shortened(&text, most);
    object.insert(key.to_owned(), Value::from(text.as_str()));
    Ok(text)
}

/// A text on one line that is not empty.
pub(super) fn line(object: &mut Object, key: &str, most: usize) -> Read<String> {
    let text = perhaps(object, key, most)?;
    match text.is_empty() {
        true => refuse(format!("{key} is empty")),
        false => Ok(text),
    }
}

/// A text of one or more lines that is not empty. A longer one than `most` is refused: half of an instruction can say something
/// else than the whole.
pub(super) fn prose(object: &Object, key: &str, most: usize) -> Read<String> {
    let text = string(object, key)?.replace("\r\n", "\n");
    let text = text.trim();
    if text.is_empty() {
        return refuse(format!("{key} is empty"));
    }
    sound(key, text, most)?;
    Ok(text.to_owned())
}

/// A line that may be empty; null counts as empty.
pub(super) fn or_empty(object: &mut Object, key: &str) -> Read<String> {
    if object.get(key) == Some(&Value::Null) {
        object.insert(key.to_owned(), Value::from(""));
    }
    perhaps(object, key, LINE)
}

/// One of these words; case and signs around the word are ignored.
pub(super) fn word<T: Copy>(object: &mut Object, key: &str, words: &[(&str, T)]) -> Read<T> {
    let plain = string(object, key)?
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    match words.iter().find(|(word, _)| *word == plain) {
        Some((word, meaning)) => {
            object.insert(key.to_owned(), Value::from(*word));
            Ok(*meaning)
        }
        None => {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            refuse(format!("{key} is none of {}", words.join(", ")))
        }
    }
}

/// A text on one line, without a list mark at its beginning.
pub(super) fn unmarked(text: &str) -> String {
    let text = one_line(text);
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (digits.len() < text.len())
        .then(|| {
            digits
                .strip_prefix(". ")
                .or_else(|| digits.strip_prefix(") "))
        })
        .flatten();
    let marked = ['-', '*', '\u{2022}'].iter().find_map(|mark| {
        let rest = text.strip_prefix(*mark)?;
        rest.strip_prefix(' ').or(rest.is_empty().then_some(rest))
    });
    numbered.or(marked).unwrap_or(&text).to_owned()
}

/// The objects of a list, each with only these fields. `noun` is the name of one in a refusal.
pub(super) fn items<T>(
    object: &mut Object,
    (key, noun): (&str, &str),
    fields: &[&str],
    parse: impl Fn(&mut Object) -> Read<T>,
) -> Read<Vec<T>> {
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for item in array(object, key)? {
        let Value::Object(item) = item else {
            return refuse(format!("{noun} is not an object"));
        };
        let mut item = cleaned(item.clone(), fields)?;
        read.push(parse(&mut item)?);
        written.push(Value::Object(item));
    }
    object.insert(key.to_owned(), Value::Array(written));
    Ok(read)
}

/// The texts of a list, each on one line without a list mark, and shortened as by [`perhaps`]. `noun` is the name of one in a
/// refusal.
pub(super) fn lines(
    object: &mut Object,
    (key, noun): (&str, &str),
    most: usize,
) -> Read<Vec<String>> {
    let line = |item: &Value| {
        let Value::String(text) = item else {
            return refuse(format!("{noun} is not a string"));
        };
        let text = unmarked(text);
        if text.is_empty() {
            return refuse(format!("{noun} is empty"));
        }
        harmless(noun, &text)?;
        Ok(shortened(&text, most))
    };
    let read: Vec<String> = array(object, key)?.iter().map(line).collect::<Read<_>>()?;
    object.insert(key.to_owned(), Value::from(read.clone()));
    Ok(read)
}

/// A whole number from 0: as such, as `2.0`, or as a text of a number with perhaps `noun` before it (`step 2`).
fn whole(value: &Value, noun: &str) -> Option<usize> {
    let number = match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let number = number.as_f64()?;
            let is_whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
            is_whole.then_some(number as u64)
        }),
        Value::String(text) => {
            let text = text.trim().to_lowercase();
            let digits = match text.strip_prefix(noun) {
                // The label of a block: `skill-1`.
                Some(rest) => (rest.strip_prefix(['-', '_']).unwrap_or(rest)).trim_start(),
                None => &text,
            };
            let digits = digits.strip_prefix('#').unwrap_or(digits);
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse().ok()).flatten()
        }
        _ => None,
    };
    number.and_then(|number| usize::try_from(number).ok())
}

fn rewrite<T>(object: &mut Object, key: &str, value: T) -> T
where
    T: Copy,
    Value: From<T>,
{
    object.insert(key.to_owned(), Value::from(value));
    value
}

/// The number of a step, from 0; it may be none of the attempt's.
pub(super) fn step(object: &mut Object, key: &str) -> Read<usize> {
    match object.get(key).and_then(|value| whole(value, "step")) {
        Some(step) => Ok(rewrite(object, key, step)),
        None => refuse(format!("{key} is not a whole number from 0")),
    }
}

/// The number of a step of an attempt with so many.
pub(super) fn step_of(object: &mut Object, key: &str, steps: usize) -> Read<usize> {
    match step(object, key)? {
        step if step >= steps => refuse(format!(
            "{key} is no step of the attempt, which has {steps}, the first with the number 0"
        )),
        step => Ok(step),
    }
}

/// A score, also as `2/3`.
pub(super) fn score(object: &mut Object) -> Read<SubgoalScore> {
    let number = object.get("score").and_then(|value| match value {
        Value::String(text) => {
            let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            let number = text.strip_suffix(&format!("/{}", SubgoalScore::MAX));
            whole(&Value::from(number.unwrap_or(&text)), "score")
        }
        value => whole(value, "score"),
    });
    let score = number.and_then(|number| u8::try_from(number).ok());
    match score.map(SubgoalScore::new) {
        Some(Ok(score)) => {
            rewrite(object, "score", score.get());
            Ok(score)
        }
        _ => refuse(format!(
            "score is not a whole number from 0 to {}",
            SubgoalScore::MAX
        )),
    }
}

/// A number from 0 to 1, also as a text or in percent.
pub(super) fn share(object: &mut Object, key: &str) -> Read<f64> {
    let number = object.get(key).and_then(|value| match value {
        Value::String(text) => match text.trim().strip_suffix('%') {
            Some(percent) => percent.trim().parse().map(|share: f64| share / 100.0).ok(),
            None => text.trim().parse().ok(),
        },
        value => value.as_f64(),
    });
    match number {
        Some(share) if (0.0..=1.0).contains(&share) => Ok(rewrite(object, key, share)),
        _ => refuse(format!("{key} is not a number from 0 to 1")),
    }
}

/// Which of the things that the prompt numbers from 1 is meant, by its number or its name; `None` for null or `none`. The
/// index counts from 0.
pub(super) fn chosen(
    object: &mut Object,
    key: &str,
    (noun, names): (&str, &[&str]),
) -> Read<Option<usize>> {
    let Some(value) = object.get(key) else {
        return refuse(format!("{key} is missing"));
    };
    let text = value
        .as_str()
        .map(|text| one_line(&text.to_lowercase()))
        .unwrap_or_default();
    if value.is_null() || ["none", "null"].contains(&text.as_str()) {
        object.insert(key.to_owned(), Value::Null);
        return Ok(None);
    }
    let number = whole(value, noun).and_then(|number| number.checked_sub(1));
    let meant = |index: &usize| {
        let is_named = !text.is_empty() && one_line(&names[*index].to_lowercase()) == text;
        number == Some(*index) || is_named
    };
    let meant: Vec<usize> = (0..names.len()).filter(meant).collect();
    match meant.as_slice() {
        [index] => {
            rewrite(object, key, *index + 1);
            Ok(Some(*index))
        }
        [] => refuse(format!(
            "{key} is none of the {} that are shown, the first with the number 1",
            names.len()
        )),
        _ => refuse(format!("{key} fits more than one of those that are shown")),
    }
}
