//! How near two texts are, by the words that they share.

use std::collections::BTreeSet;

use crate::{domain::Skill, text::ngrams};

/// The words of a text and its pairs of neighboring words, for comparison with other texts. Words are runs of letters and
/// digits in lower case, numbers among them.
///
/// ```
/// use journeyman::admit::Wording;
///
/// let one = Wording::of("Open the drawer first.");
/// assert_eq!(one.similarity(&Wording::of("open the drawer, first")), 1.0);
/// assert!(one.similarity(&Wording::of("Open the fridge first.")) < 0.5);
/// // Another number is another fact, however alike the texts are.
/// let [five, six] = ["Set the power to 5.", "Set the power to 6."].map(Wording::of);
/// assert_eq!(five.similarity(&six), 0.0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wording {
    ngrams: BTreeSet<String>,
    numbers: BTreeSet<String>,
}

impl Wording {
    /// The wording of a text.
    pub fn of(text: &str) -> Self {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let numbers = words.iter().filter(|word| word.contains(char::is_numeric));
        Self {
            numbers: numbers.cloned().collect(),
            ngrams: ngrams(&words).collect(),
        }
    }

    /// The wording of a skill: its description and body.
    pub fn of_skill(skill: &Skill) -> Self {
        Self::of(&format!("{}\n{}", skill.description, skill.body))
    }

    /// The Jaccard index of the two texts' words and pairs of words, in [0, 1]; 0 for texts with different numbers, and for a
    /// text without words.
    pub fn similarity(&self, other: &Self) -> f64 {
        if self.numbers != other.numbers {
            return 0.0;
        }
        let common = self.ngrams.intersection(&other.ngrams).count();
        let all = self.ngrams.len() + other.ngrams.len() - common;
        match all {
            0 => 0.0,
            all => common as f64 / all as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(one: &str, other: &str, expect: f64) {
        let (a, b) = (Wording::of(one), Wording::of(other));
        assert!(
            (a.similarity(&b) - expect).abs() < 1e-9,
            "{one:?} {other:?}"
        );
        assert_eq!(a.similarity(&b), b.similarity(&a));
    }

    #[test]
    fn texts_are_near_by_what_they_share() {
        check("", "", 0.0);
        check("!?", "a", 0.0);
        check("a b", "A, B!", 1.0);
        // Words a, b, c and the pairs a b, b c; words a, b, d and the pairs a b, b d: three of seven.
        check("a b c", "a b d", 3.0 / 7.0);
        check("b a", "a b", 2.0 / 4.0);
        check("turn it to 65", "turn it to 70", 0.0);
        check("turn 65", "turn", 0.0);
    }
}
