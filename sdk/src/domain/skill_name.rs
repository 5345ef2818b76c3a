//! Names of skills.

use std::{borrow::Cow, fmt, sync::LazyLock};

use regex::Regex;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use super::{FilePath, find_hidden};
use crate::{
    error::{Error, Result},
    id::sha256_hex,
};

/// A skill's name as the reference validator of the Agent Skills specification (the Python package `skills-ref`) accepts it: 1
/// to 64 lowercase letters and digits of any script and single hyphens, none at either end. It is also its folder's name, so
/// nothing else ever touches a path.
///
/// It is kept in Unicode's normalization form KC, so that two spellings of one name are equal. Marks that are no letters, such
/// as the vowel signs of Devanagari, are refused by the validator and here. Two departures: a name holds no letter that
/// cannot be seen (U+115F, U+1160), and has at most 255 bytes, the most that file systems take (64 characters of four bytes
/// have 256).
///
/// ```
/// use journeyman::domain::SkillName;
///
/// for name in ["unseal-coffee", "возврат-2", "退款", "café"] {
///     assert_eq!(SkillName::new(name)?.as_str(), name);
/// }
/// assert_eq!(SkillName::new("cafe\u{301}")?, SkillName::new("caf\u{e9}")?);
/// for name in ["Unseal", "un_seal", "-unseal", "un--seal", "..", "Возврат", "a\u{200d}b"] {
///     assert!(SkillName::new(name).is_err());
/// }
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillName(String);

/// A character other than a letter, a digit and a hyphen. The general categories are those of Python's `str.isalnum`; Rust's
/// `char::is_alphanumeric` counts marks too. The pattern compiles: every test of names needs it.
static NO_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[^\p{L}\p{N}-]").ok());

impl SkillName {
    /// The greatest length in characters.
    pub const MAX: usize = 64;
    /// The greatest length in bytes.
    pub const MAX_BYTES: usize = 255;
    /// What to write instead of a name that is refused, for people.
    pub const HINT: &str =
        "use 1 to 64 lowercase letters, digits and single hyphens, such as `unseal-coffee`";

    /// Checks a name and normalizes it.
    ///
    /// # Errors
    /// `Invalid`, saying which rule the name breaks.
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        let name = match name.is_ascii() {
            true => name,
            // Longer than any name even where the form KC is shorter; normalizing it all would only cost time.
            false if name.len() > 8 * Self::MAX_BYTES => name,
            false => name.nfkc().collect(),
        };
        match fault(&name) {
            None => Ok(Self(name)),
            Some(fault) => {
                Err(Error::invalid("SkillName::new", format!("the name {fault}")).hint(Self::HINT))
            }
        }
    }

    /// The name's case-folded form: two names with the same form are one folder on some file systems.
    pub fn folded(&self) -> Cow<'_, str> {
        match self.0.is_ascii() {
            true => Cow::Borrowed(&self.0),
            false => Cow::Owned(FilePath::folded(&self.0)),
        }
    }

    /// The nearest name in ASCII, for names that a machine writes: lower case, every run of other characters than a-z and 0-9 one hyphen, cut at 64. A text
    /// without any of these is transliterated. `None` for a text without a letter or digit of any script.
    ///
    /// ```
    /// use journeyman::domain::SkillName;
    ///
    /// let slug = |text| SkillName::slug(text).map(String::from);
    /// assert_eq!(slug("Unseal, then brew").as_deref(), Some("unseal-then-brew"));
    /// assert_eq!(slug("Возврат").as_deref(), Some("vozvrat"));
    /// assert_eq!(slug("退款先查").as_deref(), Some("tui-kuan-xian-cha"));
    /// assert_eq!(slug("!?"), None);
    /// ```
    pub fn slug(text: &str) -> Option<Self> {
        let mut name = latin_words(text, '-')?;
        name.truncate(Self::MAX);
        Self::new(name.trim_end_matches('-')).ok()
    }

    /// The ASCII name of the first whole words of a text, as many as fit. `None` where these have no letter or digit.
    ///
    /// ```
    /// use journeyman::domain::SkillName;
    ///
    /// let text = "Look into every drawer of the room before you go back to one that you have seen.";
    /// let name = SkillName::of_first_words(text).map(String::from);
    /// assert_eq!(name.as_deref(), Some("look-into-every-drawer-of-the-room-before-you-go-back-to-one"));
    /// ```
    pub fn of_first_words(text: &str) -> Option<Self> {
        let words = text.split_whitespace().map_while({
            let mut length = 0;
            move |word| {
                length += word.len() + 1;
                (length <= Self::MAX).then_some(word)
            }
        });
        Self::slug(&words.collect::<Vec<_>>().join(" "))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The rule that a normalized name breaks.
fn fault(name: &str) -> Option<&'static str> {
    // Seen by nobody, though Unicode counts them as letters.
    let unseen = |c: char| matches!(c, '\u{115F}' | '\u{1160}');
    if name.is_empty() {
        Some("is empty")
    } else if name.chars().count() > SkillName::MAX {
        Some("is longer than 64 characters")
    } else if name.len() > SkillName::MAX_BYTES {
        Some("is longer than 255 bytes")
    } else if NO_NAME.as_ref().is_none_or(|no| no.is_match(name)) {
        Some("holds something other than letters, digits and hyphens")
    } else if name.chars().any(unseen) || find_hidden(name).is_some() {
        Some("holds a hidden character")
    } else if name.to_lowercase() != name {
        Some("holds an upper-case letter")
    } else if name.starts_with('-') || name.ends_with('-') {
        Some("begins or ends with a hyphen")
    } else if name.contains("--") {
        Some("holds two hyphens in a row")
    } else {
        None
    }
}

/// The words of a text in lower-case ASCII letters and digits, with this character between them. In a text
/// without an ASCII letter, letters are transliterated; in a text with ASCII letters, others are left out, so that a letter
/// of another script that looks like a Latin one does not make the name of another skill. Letters that have no
/// transliteration give `skill` and eight digits of the text's SHA-256. `None` for a text without a letter or digit.
pub(crate) fn latin_words(text: &str, between: char) -> Option<String> {
    if !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    let mut name = words(text.chars(), between);
    if !name.contains(|c: char| c.is_ascii_alphabetic()) {
        let latin = |c: char| match c.is_alphanumeric() {
            true => deunicode::deunicode_char(c).unwrap_or_default(),
            false => " ",
        };
        name = words(text.chars().flat_map(|c| latin(c).chars()), between);
    }
    match name.is_empty() {
        true => Some(format!("skill{between}{}", &sha256_hex(text)[..8])),
        false => Some(name),
    }
}

/// Lower case, every run of other characters than ASCII letters and digits one `between`, none at either end.
fn words(text: impl Iterator<Item = char>, between: char) -> String {
    let mut name = String::new();
    for c in text {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with(between) {
            name.push(between);
        }
    }
    name.truncate(name.trim_end_matches(between).len());
    name
}

impl Default for SkillName {
    /// `skill`, for a skill without a name.
    fn default() -> Self {
        Self("skill".to_owned())
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SkillName {
    type Error = Error;
    fn try_from(name: String) -> Result<Self> {
        Self::new(name)
    }
}

impl From<SkillName> for String {
    fn from(name: SkillName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests;
