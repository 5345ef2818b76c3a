//! What a library's pairs of attempts say of the gate's threshold: those with the score of the decision at their task (row J4).

use std::collections::{BTreeMap, BTreeSet};

use super::OutcomeScores;
use crate::{
    domain::{FoundWeight, ScoreKind, ScoredBy},
    id::{ModelId, TaskId},
    library::SkillLibrary,
};

/// Which pairs say something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// What scores.
    pub(crate) by: &'a ScoredBy,
    /// The model that acts; `None` where any does.
    pub(crate) model: Option<&'a ModelId>,
    /// The score that the gate decides by; `None` where it may be any.
    pub(crate) score: Option<ScoreKind>,
}

/// The tasks that were tried without and with the skill that a gate chose, by scores that can be compared.
#[derive(Debug, Default)]
pub(crate) struct Tried {
    /// One for each task.
    pub(crate) tasks: Vec<OutcomeScores>,
    /// What these have in common; `None` where there are none.
    pub(crate) kind: Option<PairKind>,
    /// Number of other tasks with pairs.
    pub(crate) left_out: u64,
}

/// What pairs have in common whose scores, and whose outcomes, can be compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PairKind {
    /// The model that acted.
    pub(crate) model: Option<ModelId>,
    pub(crate) score: ScoreKind,
    /// What the score of a search counted.
    pub(crate) found: Option<FoundWeight>,
}

impl Tried {
    /// The lowest score; no number without a task.
    pub(crate) fn lowest(&self) -> f64 {
        let scores = self.tasks.iter().map(|task| task.score);
        scores.fold(f64::NAN, f64::min)
    }
}

/// The tasks of a library's pairs with a skill and without any. Of several kinds that are wanted, the one with the most tasks counts.
///
/// Skills that were refined, disabled or deleted since count too, and of a task the pair that was made first: to leave out what harmed, or
/// what was mended, would make the others look better than the next ones will be.
pub(crate) fn tried(library: &SkillLibrary, wanted: &Wanted<'_>) -> Tried {
    let mut all: BTreeSet<&TaskId> = BTreeSet::new();
    let mut kinds: Vec<(PairKind, BTreeMap<&TaskId, OutcomeScores>)> = Vec::new();
    let entries = library.entries().chain(library.deleted());
    let pairs = entries.flat_map(|entry| &entry.life.compared);
    // Beside an earlier version it is not known what the task comes to without any.
    let pairs = pairs
        .map(|one| &one.pair)
        .filter(|pair| pair.against.is_none());
    for pair in pairs {
        all.insert(&pair.task);
        let acted = wanted
            .model
            .is_none_or(|model| pair.model.as_ref() == Some(model));
        let Some(score) = pair.gate_score.as_ref().filter(|_| acted) else {
            continue;
        };
        if score.by != *wanted.by || wanted.score.is_some_and(|kind| kind != score.score) {
            continue;
        }
        let kind = PairKind {
            model: pair.model.clone(),
            score: score.score,
            found: score.found,
        };
        let place = kinds.iter().position(|(known, _)| *known == kind);
        let place = place.unwrap_or_else(|| {
            kinds.push((kind, BTreeMap::new()));
            kinds.len() - 1
        });
        let (_, tasks) = &mut kinds[place];
        tasks.entry(&pair.task).or_insert_with(|| OutcomeScores {
            task: pair.task.clone(),
            score: score.value,
            before: pair.before,
            with: pair.with,
        });
    }
    let most = kinds.into_iter().reduce(|most, one| {
        let has_more = one.1.len() > most.1.len();
        if has_more { one } else { most }
    });
    let Some((kind, tasks)) = most else {
        return Tried {
            left_out: all.len() as u64,
            ..Tried::default()
        };
    };
    Tried {
        left_out: (all.len() - tasks.len()) as u64,
        tasks: tasks.into_values().collect(),
        kind: Some(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{ComparedPair, GateScore, LibraryChange},
        testing::sample,
    };

    fn by(model: &str) -> ScoredBy {
        ScoredBy {
            model: model.into(),
            prompt_format: "digest".to_owned(),
        }
    }

    /// A task that the model `m` did without the skill, and with it where it is `done`.
    fn pair(skill: &str, task: &str, value: f64, done: bool) -> ComparedPair {
        ComparedPair {
            task: task.into(),
            before: 1.0,
            with: f64::from(u8::from(done)),
            against: None,
            sources: Vec::new(),
            model: Some("m".into()),
            gate_score: Some(GateScore {
                skill: sample::skill(skill).reference(),
                score: ScoreKind::Pmi,
                value,
                found: None,
                by: by("scorer"),
            }),
        }
    }

    fn compared(skill: &str, pairs: Vec<ComparedPair>) -> Vec<LibraryChange> {
        let skill = sample::skill(skill);
        let compare = LibraryChange::Compare {
            skill: skill.reference(),
            pairs,
        };
        vec![LibraryChange::Add(Box::new(skill)), compare]
    }

    fn library(changes: Vec<LibraryChange>) -> SkillLibrary {
        SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap()
    }

    fn of(library: &SkillLibrary, model: Option<&str>, score: Option<ScoreKind>) -> Tried {
        let model = model.map(ModelId::from);
        let wanted = Wanted {
            by: &by("scorer"),
            model: model.as_ref(),
            score,
        };
        tried(library, &wanted)
    }

    #[test]
    fn each_task_of_the_pairs_is_there_once_with_its_first_pair() {
        let mut again = pair("one", "t1", 9.0, true);
        again.model = Some("other".into());
        let one = vec![
            pair("one", "t1", 3.0, false),
            again,
            pair("one", "t2", 5.0, true),
        ];
        let two = vec![pair("two", "t2", 7.0, false), pair("two", "t3", 2.0, false)];
        let library = library([compared("one", one), compared("two", two)].concat());
        let tried = of(&library, Some("m"), None);
        let told: Vec<(&str, f64, f64)> = (tried.tasks.iter())
            .map(|task| (task.task.as_str(), task.score, task.with))
            .collect();
        assert_eq!(told, [("t1", 3.0, 0.0), ("t2", 5.0, 1.0), ("t3", 2.0, 0.0)]);
        assert_eq!((tried.left_out, tried.lowest()), (0, 2.0));
        // Where any model counts, the one with the most tasks.
        let kind = of(&library, None, None).kind.unwrap();
        assert_eq!(kind.model, Some("m".into()));
        assert_eq!(of(&library, Some("other"), None).tasks.len(), 1);
    }

    #[test]
    fn pairs_that_say_nothing_here_are_left_out_and_counted() {
        let mut of_before = pair("one", "t1", 3.0, true);
        of_before.against = Some(crate::id::Version(1));
        let mut unscored = pair("one", "t2", 3.0, true);
        unscored.gate_score = None;
        let changed = |task: &str, change: &dyn Fn(&mut GateScore)| {
            let mut pair = pair("one", task, 3.0, true);
            pair.gate_score.iter_mut().for_each(change);
            pair
        };
        let pairs = vec![
            of_before,
            unscored,
            changed("t3", &|score| score.by = by("another")),
            changed("t4", &|score| score.score = ScoreKind::Fits),
            changed("t5", &|_| {}),
        ];
        let library = library(compared("one", pairs));
        let tried = of(&library, Some("m"), Some(ScoreKind::Pmi));
        assert_eq!(tried.tasks.len(), 1);
        // Beside an earlier version it is no pair with and without.
        assert_eq!(tried.left_out, 3);
        let none = of(&library, Some("nobody"), None);
        assert_eq!((none.tasks.len(), none.left_out), (0, 4));
        assert!(none.kind.is_none() && none.lowest().is_nan());
    }

    #[test]
    fn what_a_skill_that_was_taken_out_of_use_did_counts() {
        let mut changes = compared("one", vec![pair("one", "t1", 3.0, false)]);
        changes.push(LibraryChange::SetState {
            skill: "one".into(),
            state: crate::domain::State::Disabled,
            reason: "it harms".to_owned(),
        });
        assert_eq!(of(&library(changes), None, None).tasks.len(), 1);
    }

    #[test]
    fn a_pair_of_an_earlier_version_of_the_program_has_no_score() {
        let json = r#"{"task":"t1","before":0.0,"with":1.0,"model":"m"}"#;
        let pair: ComparedPair = serde_json::from_str(json).unwrap();
        assert_eq!(pair.gate_score, None);
        assert_eq!(serde_json::to_string(&pair).unwrap(), json);
    }
}
