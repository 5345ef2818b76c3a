//! Characters that a reader cannot see and a model can (security requirement S9).

use std::fmt;

/// A character that does not show: where it is and of what kind. It never repeats the text around it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenCharacter {
    /// The line, from 1.
    pub line: usize,
    /// Which character.
    pub character: char,
    /// The kind, in words.
    pub kind: &'static str,
}

impl fmt::Display for HiddenCharacter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a hidden character (U+{:04X}, {})",
            u32::from(self.character),
            self.kind
        )
    }
}

/// The first hidden character of a text, if it has one.
///
/// Refused are bidirectional controls, tag characters, zero-width characters, invisible fillers, stray variation
/// selectors, line separators, and control characters other than tab and line feed. Ordinary writing passes:
/// joiners within Arabic, Persian and Indic words and emoji sequences, direction marks in a line that has
/// right-to-left letters, zero-width spaces between Thai, Lao, Khmer or Burmese letters, ideographic variants, and
/// the three flags that are written with tags.
///
/// ```
/// use journeyman::domain::find_hidden;
///
/// assert_eq!(find_hidden("日本語 و فارسی می‌خواهم 👩‍💻"), None);
/// let found = find_hidden("pay\nAlice\u{202E}").unwrap();
/// assert_eq!(found.to_string(), "a hidden character (U+202E, bidirectional control)");
/// assert_eq!(found.line, 2);
/// ```
pub fn find_hidden(text: &str) -> Option<HiddenCharacter> {
    hidden_by_line(text).next()
}

/// The first hidden character of each line that has one, by the rules of [`find_hidden`].
pub fn hidden_by_line(text: &str) -> impl Iterator<Item = HiddenCharacter> {
    // One look at each character, and only texts that leave ASCII need the rules about neighbours.
    let suspicious = |c: char| !c.is_ascii() || (c.is_control() && c != '\n' && c != '\t');
    let text = if text.chars().any(suspicious) {
        text
    } else {
        ""
    };
    (1..)
        .zip(text.split('\n'))
        .filter_map(|(number, line)| find_in_line(line, number))
}

fn find_in_line(line: &str, number: usize) -> Option<HiddenCharacter> {
    if line.is_ascii() && !line.bytes().any(|b| b.is_ascii_control() && b != b'\t') {
        return None;
    }
    let right_to_left = line.chars().any(is_right_to_left);
    let mut before = None;
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        if character == '\u{1F3F4}' {
            skip_tagged_flag(&mut rest);
        }
        let after = rest.clone().next();
        if let Some(kind) = fault(character, before, after, right_to_left) {
            return Some(HiddenCharacter {
                line: number,
                character,
                kind,
            });
        }
        before = Some(character);
    }
    None
}

/// England, Scotland and Wales are a black flag, their code in tag characters, and an end tag.
fn skip_tagged_flag(rest: &mut std::str::Chars<'_>) {
    for code in ["gbeng", "gbsct", "gbwls"] {
        let mut tags = rest.clone();
        let spelled = code
            .chars()
            .all(|c| tags.next().map(u32::from) == Some(0xE0000 + u32::from(c)));
        if spelled && tags.next() == Some('\u{E007F}') {
            *rest = tags;
            return;
        }
    }
}

fn fault(
    character: char,
    before: Option<char>,
    after: Option<char>,
    right_to_left: bool,
) -> Option<&'static str> {
    let joins = |c: Option<char>| c.is_some_and(is_joining);
    let fine = match u32::from(character) {
        0x09 => true,
        0x00..=0x1F | 0x7F..=0x9F => return Some("control character"),
        0x202A..=0x202E | 0x2066..=0x2069 => return Some("bidirectional control"),
        0x200E | 0x200F | 0x061C if right_to_left => true,
        0x200E | 0x200F | 0x061C => return Some("bidirectional control"),
        0xE0000..=0xE007F => return Some("tag character"),
        0x2028 | 0x2029 => return Some("line separator"),
        // A zero-width space separates words where they are written without spaces.
        0x200B => is_southeast_asian(before) && is_southeast_asian(after),
        0x200C => joins(before) && joins(after),
        0x200D => joins(before) || (is_emoji(before) && is_emoji(after)),
        0x180E => before.is_some_and(|c| ('\u{1800}'..='\u{18AF}').contains(&c)),
        0xFE00..=0xFE0F => {
            if is_variable(before) {
                true
            } else {
                return Some("stray variation selector");
            }
        }
        0xE0100..=0xE01EF => {
            if is_ideograph(before) {
                true
            } else {
                return Some("stray variation selector");
            }
        }
        0x00AD | 0x034F | 0x2060..=0x2064 | 0x206A..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB => false,
        0x3164 | 0xFFA0 | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A => false,
        0x115F | 0x1160 => {
            let jamo = |c: char| ('\u{1100}'..='\u{11FF}').contains(&c);
            before.is_some_and(jamo) || after.is_some_and(jamo)
        }
        _ => true,
    };
    (!fine).then_some("zero-width character")
}

fn is_right_to_left(c: char) -> bool {
    matches!(u32::from(c), 0x0590..=0x060B | 0x060D..=0x061B | 0x061D..=0x08FF | 0xFB1D..=0xFDFF
        | 0xFE70..=0xFEFC | 0x10800..=0x10FFF | 0x1E800..=0x1EFFF)
}

/// Letters whose shape a joiner changes: Arabic and its kin, Indic scripts, Burmese, Khmer, Mongolian.
fn is_joining(c: char) -> bool {
    matches!(u32::from(c), 0x0620..=0x08FF | 0x0900..=0x0DFF | 0x0F00..=0x109F | 0x1780..=0x180A
        | 0x1820..=0x18AF | 0x1B00..=0x1B7F | 0xA840..=0xA95F | 0xA980..=0xA9FF | 0xFB50..=0xFDFF
        | 0xFE70..=0xFEFC | 0x11000..=0x11FFF)
}

fn is_southeast_asian(c: Option<char>) -> bool {
    c.is_some_and(
        |c| matches!(u32::from(c), 0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x1950..=0x19DF),
    )
}

fn is_emoji(c: Option<char>) -> bool {
    c.is_some_and(|c| {
        matches!(u32::from(c), 0x2190..=0x2BFF | 0x3030 | 0x303D | 0x3297 | 0x3299 | 0xFE0F
            | 0x1F000..=0x1FAFF)
    })
}

/// Characters that one of the first sixteen variation selectors may follow: keycaps, symbols, emoji and ideographs.
fn is_variable(c: Option<char>) -> bool {
    c.is_some_and(|c| match c {
        '#' | '*' | '0'..='9' | '\u{A9}' | '\u{AE}' => true,
        _ => {
            is_ideograph(Some(c))
                || is_emoji(Some(c)) && c != '\u{FE0F}'
                || matches!(u32::from(c), 0x1000..=0x109F | 0x1820..=0x18AF | 0x2010..=0x218F | 0x3000..=0x303F
                    | 0xA840..=0xA87F | 0xFF00..=0xFF60)
        }
    })
}

fn is_ideograph(c: Option<char>) -> bool {
    c.is_some_and(|c| {
        matches!(u32::from(c), 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFD)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        let found = find_hidden(text).map(|found| found.kind);
        assert_eq!(found, expect, "{}", text.escape_unicode());
    }

    #[test]
    fn ordinary_writing_passes() {
        for text in [
            "",
            "plain\n\ttext",
            "日本語の文章、葛\u{E0100}飾区。한국어 문장. 中文，标点。",
            "العربية: مرحبا بالعالم",
            "فارسی: می\u{200C}خواهم",
            "עברית \u{200F}(טקסט)\u{200E} ok",
            "हिन्दी क\u{94D}\u{200D}ष मलയാളം ന\u{D4D}\u{200D}",
            "ไทย\u{200B}ไทย ខ្មែរ\u{200B}ខ្មែរ",
            "👩\u{200D}💻 👨\u{200D}👩\u{200D}👧\u{200D}👦 🏳\u{FE0F}\u{200D}🌈 ❤\u{FE0F} 1\u{FE0F}\u{20E3} 👍🏽 👩🏽\u{200D}🔬",
            "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F} flag",
            "naïve café — “quotes” … ½ × ≤",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn hidden_characters_are_found() {
        check("a\u{202E}b", Some("bidirectional control"));
        check("a\u{2066}b\u{2069}", Some("bidirectional control"));
        check("latin\u{200F}", Some("bidirectional control"));
        check("a\u{200B}b", Some("zero-width character"));
        check("a\u{200D}b", Some("zero-width character"));
        check("👩\u{200D}\u{200D}💻", Some("zero-width character"));
        check("a\u{FEFF}b", Some("zero-width character"));
        check("a\u{2060}b", Some("zero-width character"));
        check("\u{E0041}\u{E0042}", Some("tag character"));
        check("🏴\u{E0041}\u{E007F}", Some("tag character"));
        check("a\u{FE0F}", Some("stray variation selector"));
        check("❤\u{FE0F}\u{FE0F}", Some("stray variation selector"));
        check("a\u{E0101}\u{E0102}", Some("stray variation selector"));
        check("\u{1B}[31mred", Some("control character"));
        check("a\u{2028}b", Some("line separator"));
        check("ok\rno", Some("control character"));
    }

    #[test]
    fn the_line_is_told() {
        let found = find_hidden("one\ntwo\nthr\u{200B}ee").map(|found| found.line);
        assert_eq!(found, Some(3));
    }
}
