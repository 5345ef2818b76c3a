//! The library's data for assessing attempts: assessed subgoals, prototypes, anchors (SCRIBE).

use std::sync::Arc;

use rpds::QueueSync;
use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        Anchor, AnchorScores, AssessedSubgoal, Assessment, LibraryChange, Prototype, SubgoalRef,
    },
    id::{Category, RunId, TaskId},
};

/// Number of the latest assessed subgoals that are kept.
const MOST_SUBGOALS: usize = 10_000;
/// Number of the latest runs whose prototypes are kept, so that a run can be taken back.
const MOST_RUNS: usize = 16;
/// Number of the latest checkpoints of the anchors that are kept.
const MOST_CHECKS: usize = 64;

/// An assessed subgoal, with how its task ended.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownSubgoal {
    /// Which subgoal.
    pub at: SubgoalRef,
    /// At which task.
    pub task: TaskId,
    /// The task's category.
    pub category: Option<Category>,
    /// Whether the task was done, where a judge decided.
    pub success: Option<bool>,
    /// The subgoal, its prototype when it was assessed, and its score.
    pub assessed: AssessedSubgoal,
    /// The run that assessed it, if one did.
    pub run: Option<RunId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Made<T> {
    what: Arc<Vec<T>>,
    run: Option<RunId>,
}

impl<T> Made<T> {
    fn new(what: Vec<T>, run: Option<&RunId>) -> Self {
        Self {
            what: Arc::new(what),
            run: run.cloned(),
        }
    }
}

/// The library's data for assessing attempts. A copy shares what it does not change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Rubrics {
    #[serde(with = "queue")]
    subgoals: QueueSync<Arc<KnownSubgoal>>,
    /// One set for each of the latest runs that made any; the last is in force.
    prototypes: Vec<Made<Prototype>>,
    anchors: Vec<Made<Anchor>>,
    checks: Vec<Made<AnchorScores>>,
}

impl Rubrics {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn subgoals(&self) -> impl Iterator<Item = &KnownSubgoal> {
        self.subgoals.iter().map(|known| &**known)
    }

    pub(super) fn prototypes(&self) -> &[Prototype] {
        self.prototypes.last().map_or(&[], |made| &made.what)
    }

    pub(super) fn anchors(&self) -> &[Anchor] {
        self.anchors.last().map_or(&[], |made| &made.what)
    }

    pub(super) fn anchor_checks(&self) -> impl Iterator<Item = &[AnchorScores]> {
        self.checks.iter().map(|made| made.what.as_slice())
    }

    /// Applies a change of what attempts are assessed by. Returns whether it was new.
    pub(super) fn remember(&mut self, run: Option<&RunId>, change: &LibraryChange) -> bool {
        match change {
            LibraryChange::Assess(assessment) => return self.assess(assessment, run),
            LibraryChange::SetPrototypes(prototypes) => {
                set(&mut self.prototypes, Made::new(prototypes.to_vec(), run));
            }
            LibraryChange::SetAnchors(anchors) => {
                set(&mut self.anchors, Made::new(anchors.to_vec(), run));
            }
            LibraryChange::CheckAnchors(scores) => self.check_anchors(scores, run),
            _ => {}
        }
        true
    }

    /// Adds the subgoals of an attempt, unless it was assessed before, and keeps the latest.
    fn assess(&mut self, assessment: &Assessment, run: Option<&RunId>) -> bool {
        let attempt = &assessment.attempt;
        if self.subgoals().any(|known| known.at.attempt == *attempt) {
            return false;
        }
        for (place, assessed) in (0..).zip(&assessment.subgoals) {
            self.subgoals.enqueue_mut(Arc::new(KnownSubgoal {
                at: SubgoalRef {
                    attempt: attempt.clone(),
                    place,
                },
                task: assessment.task.clone(),
                category: assessment.category.clone(),
                success: assessment.success,
                assessed: assessed.clone(),
                run: run.cloned(),
            }));
        }
        while self.subgoals.len() > MOST_SUBGOALS {
            self.subgoals.dequeue_mut();
        }
        true
    }

    fn check_anchors(&mut self, scores: &[AnchorScores], run: Option<&RunId>) {
        self.checks.push(Made::new(scores.to_vec(), run));
        let over = self.checks.len().saturating_sub(MOST_CHECKS);
        self.checks.drain(..over);
    }

    /// Takes back everything that a run added: the prototypes and anchors of before are in force again.
    pub(super) fn take_back(&mut self, run: &RunId) {
        let of_run = |made: &Option<RunId>| made.as_ref() == Some(run);
        let kept = self.subgoals.iter().filter(|known| !of_run(&known.run));
        self.subgoals = kept.cloned().collect();
        self.prototypes.retain(|made| !of_run(&made.run));
        self.anchors.retain(|made| !of_run(&made.run));
        self.checks.retain(|made| !of_run(&made.run));
    }
}

/// Puts a set in force. It takes the place of the same run's set before.
fn set<T>(sets: &mut Vec<Made<T>>, made: Made<T>) {
    if sets.last().is_some_and(|last| last.run == made.run) {
        sets.pop();
    }
    sets.push(made);
    let over = sets.len().saturating_sub(MOST_RUNS);
    sets.drain(..over);
}

/// A queue in JSON as an array.
mod queue {
    use std::sync::Arc;

    use rpds::QueueSync;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        queue: &QueueSync<Arc<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(queue.iter())
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<QueueSync<Arc<T>>, D::Error> {
        let items = Vec::<T>::deserialize(deserializer)?;
        Ok(items.into_iter().map(Arc::new).collect())
    }
}
