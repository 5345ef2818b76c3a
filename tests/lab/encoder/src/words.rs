//! Other words for the verbs and nouns of toolworld.

use std::collections::BTreeMap;

use journeyman::{Error, Result};
use journeyman_toolworld::{seed::Draws, tool::ToolName};

const TABLE: &str = include_str!("../words.tsv");

/// Other words for each verb and noun.
///
/// ```
/// use encoder::OtherWords;
/// use journeyman_toolworld::{seed::Draws, tool::ToolName};
///
/// let words = OtherWords::read()?;
/// let other = words.draw(&ToolName::new("repair", "bucket"), &mut Draws::new("example", &[1]));
/// assert!(other.is_some_and(|other| other.verb != "repair" && other.noun != "bucket"));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Debug)]
pub struct OtherWords(BTreeMap<(&'static str, &'static str), Vec<&'static str>>);

impl OtherWords {
    /// Reads `words.tsv`.
    ///
    /// # Errors
    /// `Corrupt`, with the line that has another form.
    pub fn read() -> Result<Self> {
        let mut words = BTreeMap::new();
        for line in TABLE.lines() {
            let mut columns = line.split('\t');
            let (Some(kind), Some(word), Some(others)) =
                (columns.next(), columns.next(), columns.next())
            else {
                let message = "a line of words.tsv has not three columns";
                return Err(Error::new(
                    journeyman::ErrorKind::Corrupt,
                    "OtherWords::read",
                    message,
                )
                .with("line", line));
            };
            words.insert((kind, word), others.split(',').collect());
        }
        Ok(Self(words))
    }

    /// The tool's name in other words; `None` for an invented noun, which has none.
    #[must_use]
    pub fn draw(&self, name: &ToolName, draws: &mut Draws) -> Option<ToolName> {
        let mut other = |kind, word| draws.pick(self.0.get(&(kind, word))?).copied();
        Some(ToolName::new(
            other("verb", name.verb.as_str())?,
            other("noun", name.noun.as_str())?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use journeyman_toolworld::lexicon::{NOUNS, VERBS, all_words};

    use super::*;

    #[test]
    fn every_word_has_others_and_none_of_their_content_words_is_in_the_lexicon() {
        let words = OtherWords::read().unwrap();
        // `of`, as in `get hold of`, stands in most tasks anyhow.
        let known: BTreeSet<&str> = all_words().filter(|word| *word != "of").collect();
        let listed = VERBS.iter().map(|verb| ("verb", *verb));
        let listed: Vec<_> = listed
            .chain(NOUNS.iter().map(|noun| ("noun", *noun)))
            .collect();
        assert_eq!(words.0.len(), listed.len());
        for key in listed {
            let others = &words.0[&key];
            assert!(others.len() >= 2, "{key:?}");
            for word in others.iter().flat_map(|other| other.split(' ')) {
                assert!(!known.contains(word), "{word} for {key:?}");
            }
        }
    }
}
