//! The result of a selector.

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Candidate, Decision, NothingReason, Selection, SkillRef},
    library::SkillLibrary,
    report::EventKind,
};

/// The result of a selector ([`SelectProgram`](crate::policy::SelectProgram)): the candidates for a query, and the selections
/// among them.
///
/// ```
/// use journeyman::{
///     Version,
///     domain::{Decision, Selection, SkillRef},
///     select::Selected,
/// };
///
/// let skills = vec![SkillRef { id: "open-jar".into(), version: Version(1) }];
/// let selection = Selection::unscored(Decision::Inject { skills, explored: false });
/// let selected = Selected::from(selection.clone());
/// assert_eq!(selected.selections, [selection]);
/// assert!(selected.candidates.is_empty());
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Selected {
    /// The skills that were looked at, with the score by which they were found. They are evidence of what was offered, and a
    /// writer gets them. A selector that does not say leaves them out.
    pub candidates: Vec<Candidate>,
    /// One selection for all attempts at the task, or one for each of them, in their order.
    pub selections: Vec<Selection>,
}

impl Selected {
    /// Selections among candidates.
    pub fn new(candidates: Vec<Candidate>, selections: Vec<Selection>) -> Self {
        Self {
            candidates,
            selections,
        }
    }

    /// No skill for any attempt.
    pub fn nothing(candidates: Vec<Candidate>, reason: NothingReason) -> Self {
        Self::new(candidates, vec![Selection::nothing(reason)])
    }

    /// The skills for a rollout.
    pub(crate) fn injected(&self, rollout: u32) -> &[SkillRef] {
        let own = self.selections.get(rollout as usize);
        own.or(self.selections.first())
            .map_or(&[], Selection::skills)
    }

    /// One event for each selection.
    pub(crate) fn events(&self, library: &SkillLibrary) -> Vec<EventKind> {
        let event = |(rollout, selection): (u32, &Selection)| {
            let chosen = selection.skills().iter();
            let chosen = chosen.filter_map(|skill| library.get(&skill.id));
            EventKind::Selected {
                rollout,
                selection: selection.clone(),
                names: chosen.map(|entry| entry.skill.name.clone()).collect(),
            }
        };
        (0..).zip(&self.selections).map(event).collect()
    }

    /// The error of the retriever, scorer or selector, if one kept a selection from being made.
    pub(crate) fn unavailable(&self) -> Option<&str> {
        self.selections.iter().find_map(|one| match &one.decision {
            Decision::Nothing(
                NothingReason::RetrieverUnavailable(why)
                | NothingReason::ScorerUnavailable(why)
                | NothingReason::Uncalibrated(why)
                | NothingReason::SelectorFailed(why),
            ) => Some(why.as_str()),
            _ => None,
        })
    }
}

impl From<Selection> for Selected {
    /// One selection for all attempts.
    fn from(selection: Selection) -> Self {
        Self::new(Vec::new(), vec![selection])
    }
}
