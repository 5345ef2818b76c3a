//! Candidate plans: the subgoal sequences of earlier attempts (SCRIBE, appendix E; row C8).

use std::{collections::BTreeSet, num::NonZeroUsize};

use serde::{Deserialize, Serialize};

use crate::{
    domain::Subgoal,
    id::{AttemptId, TaskId},
    library::{KnownSubgoal, SkillLibrary},
};

/// A candidate plan of a task: a sequence of subgoals. A host keeps it, so that later checkpoints execute the same plans.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The task of the attempt.
    pub task: TaskId,
    /// The first attempt that was cut into these subgoals.
    pub attempt: AttemptId,
    /// The subgoals in order, with their spans in that attempt.
    pub subgoals: Vec<Subgoal>,
}

/// The distinct subgoal sequences of a library's assessed attempts at `tasks`, at most `most`, the earliest first. Two sequences
/// are the same if they have the same subgoals and skills, whatever their spans. The paper takes the attempts at the task that the
/// plans are executed for; where these are too much alike, attempts at similar tasks give more plans.
///
/// An attempt of which the library has only the last subgoals gives no plan.
///
/// ```
/// use std::num::NonZeroUsize;
/// use journeyman::{library::SkillLibrary, papers::scribe::candidate_plans};
///
/// let five = NonZeroUsize::new(5).expect("not 0");
/// assert!(candidate_plans(&SkillLibrary::new(), &["ticket-17".into()], five).is_empty());
/// ```
pub fn candidate_plans(library: &SkillLibrary, tasks: &[TaskId], most: NonZeroUsize) -> Vec<Plan> {
    let known = library.subgoals().filter(|one| tasks.contains(&one.task));
    let known: Vec<&KnownSubgoal> = known.collect();
    // The subgoals of an attempt stand together, in order.
    let attempts = known.chunk_by(|one, next| one.at.attempt == next.at.attempt);
    let mut seen = BTreeSet::new();
    let mut plans = Vec::new();
    for attempt in attempts {
        let Some(first) = attempt.first().filter(|first| first.at.place == 0) else {
            continue;
        };
        let subgoals: Vec<Subgoal> = attempt
            .iter()
            .map(|known| known.assessed.subgoal.clone())
            .collect();
        let words: Vec<String> = subgoals.iter().map(Subgoal::text).collect();
        if plans.len() < most.get() && seen.insert(words) {
            plans.push(Plan {
                task: first.task.clone(),
                attempt: first.at.attempt.clone(),
                subgoals,
            });
        }
    }
    plans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{AssessedSubgoal, Assessment, LibraryChange},
        testing::sample,
    };

    fn assess(attempt: &str, task: &str, subgoals: &[&str]) -> LibraryChange {
        let subgoal = |(place, words): (usize, &&str)| AssessedSubgoal {
            subgoal: Subgoal {
                subgoal: (*words).to_owned(),
                skill: "brewing".to_owned(),
                first: place,
                last: place,
            },
            route: None,
            score: None,
        };
        LibraryChange::Assess(Box::new(Assessment {
            attempt: attempt.into(),
            task: task.into(),
            category: None,
            success: Some(true),
            repaired: false,
            subgoals: subgoals.iter().enumerate().map(subgoal).collect(),
        }))
    }

    fn check(most: usize, expect: &[(&str, &[&str])]) {
        let changes = vec![
            assess("a", "t", &["heat", "pour"]),
            assess("b", "t", &["heat", "pour"]),
            assess("c", "other", &["stir"]),
            assess("d", "t", &["pour", "heat"]),
            assess("e", "t", &["heat"]),
        ];
        let library = SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap();
        let most = NonZeroUsize::new(most).unwrap();
        let plans = candidate_plans(&library, &["t".into()], most);
        let found: Vec<(&str, Vec<&str>)> = plans
            .iter()
            .map(|plan| {
                let words = plan.subgoals.iter().map(|one| one.subgoal.as_str());
                (plan.attempt.as_str(), words.collect())
            })
            .collect();
        let expect: Vec<(&str, Vec<&str>)> = expect
            .iter()
            .map(|(attempt, words)| (*attempt, words.to_vec()))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn plans_are_the_distinct_sequences_of_a_tasks_attempts() {
        let all: [(&str, &[&str]); 3] = [
            ("a", &["heat", "pour"]),
            ("d", &["pour", "heat"]),
            ("e", &["heat"]),
        ];
        check(5, &all);
        check(2, &all[..2]);
    }
}
