//! When two skills are the same: by their bytes, or by their meaning.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    contract::{Embedding, RoleAnswer},
    domain::{Skill, SkillDraft},
    library::SkillLibrary,
    policy::{Ask, Played, RoleReply},
    run::report::Sameness,
    stations::admit::{Anchors, Identity, Terms},
    text::{hashed_ngrams, ngrams},
};

/// By how much smaller a cosine suffices for texts that name two tools or more in the same order. Those of two writers with other
/// words about one procedure had 0.2 to 0.35 (`docs/results/second-hour.md`).
const SAME_CALLS: f64 = 0.15;

impl Identity {
    /// The texts whose embeddings decide whether a draft is a skill of the library, or an earlier draft.
    pub(crate) fn unclear<'a>(
        &self,
        known: impl Iterator<Item = &'a Skill>,
        drafts: &[Compared],
    ) -> BTreeSet<String> {
        let mut texts = BTreeSet::new();
        if *self == Self::Bytes || drafts.is_empty() {
            return texts;
        }
        let known: Vec<&Skill> = known.collect();
        for (number, draft) in drafts.iter().enumerate() {
            if known.iter().any(|skill| draft.equals(skill)) {
                continue;
            }
            let near = known.iter().filter(|skill| draft.agrees(skill));
            let near: Vec<String> = near.map(|skill| text_of(skill)).collect();
            let earlier = drafts.iter().take(number);
            let earlier = earlier.filter(|one| draft.agrees_with(one));
            let earlier: Vec<String> = earlier.map(Compared::text).collect();
            if !near.is_empty() || earlier.iter().any(|one| *one != draft.text()) {
                texts.insert(draft.text());
            }
            texts.extend(near.into_iter().chain(earlier));
        }
        // One text alone is compared with nothing.
        if texts.len() < 2 {
            texts.clear();
        }
        texts
    }
}

/// Embeddings of texts: those of the host's embedder, or none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Meanings(Option<BTreeMap<String, Embedding>>);

impl Meanings {
    /// Asks for the embeddings of texts. Nothing is asked for no text.
    pub(crate) async fn of(ask: &mut Ask, texts: BTreeSet<String>) -> Self {
        let texts: Vec<String> = texts.into_iter().collect();
        let embeddings = ask.embed(texts.clone()).await;
        Self(embeddings.map(|embeddings| texts.into_iter().zip(embeddings).collect()))
    }

    /// The cosine of two texts' embeddings; `None` where the host's embedder was not asked about one of them.
    fn cosine(&self, one: &str, other: &str) -> Option<f64> {
        match &self.0 {
            Some(known) => Some(known.get(one)?.cosine(known.get(other)?)),
            None => {
                let [one, other] = [one, other].map(|text| Embedding::new(hashed_ngrams(text)));
                Some(one.ok()?.cosine(&other.ok()?))
            }
        }
    }
}

/// A text that is compared with known skills.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    description: String,
    body: String,
    anchors: Anchors,
    terms: Terms,
}

impl Compared {
    /// The drafts among roles' answers, each with the terms of its attempts.
    pub(crate) fn of_replies<'a>(
        replies: impl IntoIterator<Item = &'a RoleReply>,
    ) -> impl Iterator<Item = Self> {
        let replies = replies.into_iter();
        replies.filter_map(|RoleReply { task, reply }| match reply {
            Ok(Some(Played {
                answer: RoleAnswer::Draft(draft),
                ..
            })) => Some(Self::of_draft(draft, Terms::of(task.attempts()))),
            _ => None,
        })
    }

    pub(crate) fn of_draft(draft: &SkillDraft, terms: Terms) -> Self {
        Self::of(&draft.description, &draft.body, terms)
    }

    pub(crate) fn of_skill(skill: &Skill, terms: Terms) -> Self {
        Self::of(&skill.description, &skill.body, terms)
    }

    fn of(description: &str, body: &str, terms: Terms) -> Self {
        Self {
            description: description.to_owned(),
            body: body.to_owned(),
            anchors: Anchors::of(description, body),
            terms,
        }
    }

    fn text(&self) -> String {
        text(&self.description, &self.body)
    }

    /// How a known skill is the same, if it is. The terms of the known skill's attempts count too, as far as the library keeps
    /// these.
    pub(crate) fn same(
        &self,
        identity: &Identity,
        meanings: &Meanings,
        (library, known): (&SkillLibrary, &Skill),
    ) -> Option<Sameness> {
        if self.equals(known) {
            return Some(Sameness::Bytes);
        }
        let Identity::Meaning { least } = identity else {
            return None;
        };
        if !self.agrees(known) {
            return None;
        }
        let other = Self::of_skill(known, Terms::default());
        let calls = self.anchors.calls_in_common(&other.anchors, &self.terms);
        let least = if calls >= 2 {
            least - SAME_CALLS
        } else {
            *least
        };
        if meanings.cosine(&self.text(), &text_of(known))? < least {
            return None;
        }
        let known = Self::of_skill(known, terms_of(library, known));
        known.agrees_with(self).then_some(Sameness::Meaning)
    }

    fn equals(&self, known: &Skill) -> bool {
        self.description == known.description && self.body == known.body
    }

    /// Whether both texts name the same things, so that their embeddings decide.
    fn agrees(&self, known: &Skill) -> bool {
        // Reading a text takes longer than looking for a few words in it.
        let text = text_of(known).to_lowercase();
        self.anchors.needed().all(|word| has_word(&text, word))
            && self.agrees_with(&Self::of_skill(known, Terms::default()))
    }

    fn agrees_with(&self, other: &Self) -> bool {
        self.anchors.agrees(&other.anchors, &self.terms)
    }
}

/// The terms of the kept attempts at the tasks that a skill was written from.
pub(crate) fn terms_of(library: &SkillLibrary, skill: &Skill) -> Terms {
    let tasks = &skill.provenance.tasks;
    let traces = library.traces();
    Terms::of(traces.filter(|trace| tasks.contains(&trace.task.id)))
}

/// Whether a text may have a word. A number may have another form there, such as `65.0`.
fn has_word(text: &str, word: &str) -> bool {
    word.contains(char::is_numeric) || text.contains(word)
}

fn text_of(skill: &Skill) -> String {
    text(&skill.description, &skill.body)
}

fn text(description: &str, body: &str) -> String {
    format!("{description}\n{body}")
}

// How near two texts are, by the words that they share.

/// The words of a text and its pairs of neighboring words, for comparison with other texts. Words are runs of letters and
/// digits in lower case, numbers among them.
///
/// ```
/// use journeyman::stations::admit::Wording;
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
    use crate::testing::sample;

    const ONE: (&str, &str) = (
        "How to brew.",
        "1. Call `open_jar`.\n2. Call `brew_coffee` with power 65.",
    );
    const PARAPHRASE: (&str, &str) = (
        "Brewing.",
        "Before brew_coffee with power 65, call open_jar.",
    );
    const OTHER: (&str, &str) = (
        "How to brew.",
        "1. Call `open_jar`.\n2. Call `brew_coffee` with power 70.",
    );

    fn skill((description, body): (&str, &str)) -> Skill {
        Skill {
            description: description.to_owned(),
            body: body.to_owned(),
            ..sample::skill("brew")
        }
    }

    fn compared(of: (&str, &str)) -> Compared {
        Compared::of_skill(&skill(of), Terms::default())
    }

    /// Embeddings of texts, in two dimensions.
    fn meanings(of: &[((&str, &str), [f32; 2])]) -> Meanings {
        let known = of.iter().map(|(of, components)| {
            let embedding = Embedding::new(components.to_vec()).unwrap();
            (text(of.0, of.1), embedding)
        });
        Meanings(Some(known.collect()))
    }

    fn check(
        identity: Identity,
        meanings: &Meanings,
        other: (&str, &str),
        expect: Option<Sameness>,
    ) {
        let same = compared(ONE).same(&identity, meanings, (&SkillLibrary::new(), &skill(other)));
        assert_eq!(same, expect, "{identity:?} {other:?}");
    }

    #[test]
    fn the_policy_says_which_skills_are_the_same() {
        let hashed = Meanings::default();
        check(Identity::Bytes, &hashed, ONE, Some(Sameness::Bytes));
        check(Identity::Bytes, &hashed, PARAPHRASE, None);
        check(Identity::MEANING, &hashed, ONE, Some(Sameness::Bytes));
        check(
            Identity::MEANING,
            &hashed,
            PARAPHRASE,
            Some(Sameness::Meaning),
        );
        check(Identity::MEANING, &hashed, OTHER, None);
        check(Identity::Meaning { least: 1.0 }, &hashed, PARAPHRASE, None);
    }

    #[test]
    fn a_texts_embedding_is_the_hosts_or_none() {
        let east = [1.0, 0.0];
        let near = meanings(&[(ONE, east), (PARAPHRASE, east), (OTHER, east)]);
        check(
            Identity::MEANING,
            &near,
            PARAPHRASE,
            Some(Sameness::Meaning),
        );
        // Another value is another skill, however near the texts are.
        check(Identity::MEANING, &near, OTHER, None);
        let far = meanings(&[(ONE, east), (PARAPHRASE, [0.0, 1.0])]);
        check(Identity::MEANING, &far, PARAPHRASE, None);
        check(
            Identity::MEANING,
            &meanings(&[(ONE, east)]),
            PARAPHRASE,
            None,
        );
        check(
            Identity::MEANING,
            &meanings(&[]),
            ONE,
            Some(Sameness::Bytes),
        );
    }

    #[test]
    fn texts_with_the_same_calls_need_no_near_words() {
        let single = ("How to brew.", "Call `brew_coffee` with power 65.");
        let other = ("Coffee.", "brew_coffee, power 65");
        let near = |cosine: f32| {
            let far = [cosine, (1.0 - cosine * cosine).sqrt()];
            meanings(&[
                (ONE, [1.0, 0.0]),
                (PARAPHRASE, far),
                (single, [1.0, 0.0]),
                (other, far),
            ])
        };
        let same = |one, other, cosine| {
            let known = (&SkillLibrary::new(), &skill(other));
            compared(one).same(&Identity::MEANING, &near(cosine), known)
        };
        assert_eq!(same(ONE, PARAPHRASE, 0.25), Some(Sameness::Meaning));
        assert_eq!(same(ONE, PARAPHRASE, 0.15), None);
        // One call alone says less.
        assert_eq!(same(single, other, 0.25), None);
        assert_eq!(same(single, other, 0.4), Some(Sameness::Meaning));
    }

    #[test]
    fn only_texts_whose_names_agree_are_embedded() {
        let unclear = |identity: Identity, known: &[(&str, &str)], drafts: &[(&str, &str)]| {
            let known: Vec<Skill> = known.iter().copied().map(skill).collect();
            let drafts: Vec<Compared> = drafts.iter().copied().map(compared).collect();
            identity.unclear(known.iter(), &drafts).len()
        };
        assert_eq!(unclear(Identity::MEANING, &[ONE, OTHER], &[PARAPHRASE]), 2);
        assert_eq!(unclear(Identity::Bytes, &[ONE, OTHER], &[PARAPHRASE]), 0);
        // Equal bytes decide without.
        assert_eq!(unclear(Identity::MEANING, &[ONE, PARAPHRASE], &[ONE]), 0);
        assert_eq!(unclear(Identity::MEANING, &[OTHER], &[ONE]), 0);
        assert_eq!(
            unclear(Identity::MEANING, &[], &[ONE, PARAPHRASE, OTHER]),
            2
        );
        assert_eq!(unclear(Identity::MEANING, &[], &[ONE, ONE]), 0);
    }
}

#[cfg(test)]
mod near_tests {
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
