//! The skill that lessons make by themselves (SkillRL 3.1).

use std::collections::BTreeMap;

use crate::{
    domain::{Kind, Lesson, Scope, SkillDraft, SkillName},
    library::format::SkillMd,
};

/// Words with which two texts begin that say more about the same thing.
const SHARED: usize = 2;
/// Words of a beginning that hold for one end of it alone.
const TURNS: [&str; 13] = [
    "not", "never", "no", "don't", "cannot", "if", "when", "where", "before", "after", "unless",
    "without", "only",
];

/// The skill that the lessons of one attempt make, where no role distils skills from several of them. `None` for lessons without
/// words.
///
/// It is knowledge: its description is the principles, its name the first words of the first one, and its body has the four
/// points of each lesson (SkillRL 3.1) below the headings `Principle`, `Where it failed` (the step and the flawed action) and
/// `Instead`. Each point is one line.
///
/// ```
/// use journeyman::{domain::Lesson, papers::skillrl::lesson_draft};
///
/// let principle = "Heat what has to be hot before you put it down.";
/// let lesson = Lesson::new(2, "put the mug into the cupboard", "heat the mug first", principle);
/// let draft = lesson_draft(&[lesson]).expect("it has words");
/// assert_eq!(draft.title, "heat-what-has-to-be-hot-before-you-put-it-down");
/// assert_eq!(draft.description, "Heat what has to be hot before you put it down.");
/// let lines: Vec<&str> = draft.body.lines().filter(|line| !line.is_empty()).collect();
/// let points = [lines[1], lines[3], lines[5]];
/// assert_eq!(points, [draft.description.as_str(), "Step 3: put the mug into the cupboard", "heat the mug first"]);
/// ```
pub fn lesson_draft(lessons: &[Lesson]) -> Option<SkillDraft> {
    let lessons: Vec<Lesson> = lessons.iter().filter_map(in_lines).collect();
    let principles: Vec<&str> = lessons.iter().map(|one| one.principle.as_str()).collect();
    let title = SkillName::of_first_words(principles.first()?)
        .map_or_else(|| "lesson".to_owned(), |name| name.as_str().to_owned());
    let description = principles.join(" ");
    let description: String = description.chars().take(SkillMd::MAX_DESCRIPTION).collect();
    let sections = lessons.iter().map(|lesson| {
        let Lesson {
            step,
            flawed,
            should,
            principle,
        } = lesson;
        format!(
            "## Principle\n\n{principle}\n\n## Where it failed\n\nStep {}: {flawed}\n\n## Instead\n\n{should}\n",
            step.saturating_add(1)
        )
    });
    Some(SkillDraft {
        title,
        description: description.trim_end().to_owned(),
        kind: Kind::Knowledge,
        scope: Scope::General,
        trigger: None,
        body: sections.collect::<Vec<_>>().join("\n"),
        metadata: BTreeMap::new(),
    })
}

/// The lessons of an attempt as one finding, as a failed attempt has one in the paper (3.1): of several findings about one tool, small
/// models put one into a skill and forget the others. Of several, the step is the first one's.
pub(super) fn joined(lessons: &[Lesson]) -> Option<Lesson> {
    let all = |part: fn(&Lesson) -> &String| {
        let mut said: Vec<&str> = Vec::new();
        for text in lessons.iter().map(|lesson| part(lesson).trim()) {
            if !text.is_empty() && !said.contains(&text) {
                said.push(text);
            }
        }
        one_sentence(&said)
    };
    Some(Lesson {
        step: lessons.first()?.step,
        flawed: all(|lesson| &lesson.flawed),
        should: all(|lesson| &lesson.should),
        principle: all(|lesson| &lesson.principle),
    })
}

/// Texts as one sentence, since a small model ends what it writes with the first. A text that begins as the one before it does goes on
/// from there, where the beginning turns nothing round: `Tea needs a cup.` and `Tea needs hot water.` are `Tea needs a cup, hot water.`
fn one_sentence(texts: &[&str]) -> String {
    let mut all = String::new();
    let mut last = "";
    for text in texts {
        let bare = text.trim_end_matches('.');
        if bare == last {
            continue;
        }
        all.truncate(all.trim_end_matches('.').len());
        match goes_on(last, bare) {
            _ if all.is_empty() => all.push_str(text),
            Some(rest) => all.push_str(&format!(", {rest}{}", &text[bare.len()..])),
            None => all.push_str(&format!("; {text}")),
        }
        last = bare;
    }
    all
}

/// What a text adds to the one before it, where both are plain sentences with the same beginning.
fn goes_on(before: &str, text: &str) -> Option<String> {
    let both = before.split(' ').zip(text.split(' '));
    let shared = both.take_while(|(one, other)| one == other).count();
    let head = text.split(' ').take(shared);
    let turns = |word: &str| TURNS.contains(&word.to_lowercase().as_str());
    let marks = |text: &str| text.contains([',', ';', ':', '!', '?']) || text.contains(". ");
    let is_plain = !marks(before) && !marks(text) && !head.into_iter().any(turns);
    let rest: Vec<&str> = text.split(' ').skip(shared).collect();
    (is_plain && shared >= SHARED && !rest.is_empty()).then(|| rest.join(" "))
}

/// A lesson with each point on one line. `None` for one without a principle and without a remedy.
fn in_lines(lesson: &Lesson) -> Option<Lesson> {
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (principle, should) = (line(&lesson.principle), line(&lesson.should));
    let principle = match principle.is_empty() {
        true => should.clone(),
        false => principle,
    };
    (!principle.is_empty()).then(|| Lesson {
        step: lesson.step,
        flawed: line(&lesson.flawed),
        should,
        principle,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stations::admit::insert_ready;

    fn lesson(principle: &str, should: &str) -> Lesson {
        Lesson {
            step: 0,
            flawed: "said it\nat once".to_owned(),
            should: should.to_owned(),
            principle: principle.to_owned(),
        }
    }

    #[test]
    fn the_lessons_of_an_attempt_make_one_skill() {
        let draft = lesson_draft(&[
            lesson("Ask first.", "ask"),
            lesson("Then answer.", "answer"),
        ]);
        let draft = draft.unwrap();
        assert_eq!(
            (draft.title.as_str(), draft.kind),
            ("ask-first", Kind::Knowledge)
        );
        assert_eq!(draft.description, "Ask first. Then answer.");
        assert_eq!(draft.body.matches("## Principle").count(), 2);
        assert!(
            draft.body.contains("\nStep 1: said it at once\n"),
            "{}",
            draft.body
        );
        insert_ready(&draft).unwrap();
    }

    #[test]
    fn the_lessons_of_an_attempt_are_one_finding() {
        let one = lesson("Ask first.", "ask");
        assert_eq!(joined(&[]), None);
        assert_eq!(joined(std::slice::from_ref(&one)), Some(one.clone()));
        let both = joined(&[one.clone(), lesson("Then answer.", "answer"), one]).unwrap();
        assert_eq!(both.principle, "Ask first; Then answer.");
        assert_eq!((both.should.as_str(), both.step), ("ask; answer", 0));
        assert_eq!(both.flawed, "said it\nat once");
        let more = [
            lesson("Tea needs a cup.", "fetch a cup"),
            lesson("Tea needs hot water.", "boil water"),
        ];
        let both = joined(&more).unwrap();
        assert_eq!(both.principle, "Tea needs a cup, hot water.");
        assert_eq!(both.should, "fetch a cup; boil water");
    }

    #[test]
    fn texts_go_on_only_where_that_turns_nothing_round() {
        let table: [(&[&str], &str); 7] = [
            (
                &["Do not buy before you ask.", "Do not skip the check."],
                "Do not buy before you ask; Do not skip the check.",
            ),
            (
                &["Tea needs a cup.", "Ask first.", "Tea needs hot water."],
                "Tea needs a cup; Ask first; Tea needs hot water.",
            ),
            (
                &["When a door is locked, ask.", "When a door is open, go."],
                "When a door is locked, ask; When a door is open, go.",
            ),
            (&["Tea needs a cup.", "Tea needs a cup"], "Tea needs a cup."),
            (
                &["Ask first. Tea needs a cup.", "Ask first of all."],
                "Ask first. Tea needs a cup; Ask first of all.",
            ),
            (
                &["Tea needs a cup", "Tea needs milk", "Tea needs time."],
                "Tea needs a cup, milk, time.",
            ),
            (&["Ask."], "Ask."),
        ];
        for (texts, expected) in table {
            assert_eq!(one_sentence(texts), expected);
        }
    }

    #[test]
    fn a_lesson_needs_words_and_long_ones_are_cut() {
        assert_eq!(lesson_draft(&[]), None);
        assert_eq!(lesson_draft(&[lesson(" ", "\n")]), None);
        assert_eq!(
            lesson_draft(&[lesson("", "ask")]).unwrap().description,
            "ask"
        );
        let title = |principle: &str| lesson_draft(&[lesson(principle, "")]).unwrap().title;
        assert_eq!(title("!?"), "lesson");
        let long = lesson_draft(&[lesson(&"word ".repeat(900), "ask")]).unwrap();
        assert!(long.description.chars().count() <= SkillMd::MAX_DESCRIPTION);
        insert_ready(&long).unwrap();
    }
}
