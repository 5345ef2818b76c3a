//! A selector: the skill whose trigger words all stand in the task.

use std::{collections::BTreeSet, num::NonZeroUsize, sync::Arc};

use journeyman::{
    Result, async_trait,
    domain::{Decision, NothingReason, Selection, TurnQuery},
    policy::{Ask, Policies, PolicyOptions, SelectProgram, View},
    stations::select::Selected,
};
use serde::{Deserialize, Serialize};

/// Takes the skill with the most trigger words, and of equal ones the skill with the greater utility. It asks no model.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ByTrigger {
    /// Minimum number of words of a trigger.
    pub(crate) least: NonZeroUsize,
}

impl PolicyOptions for ByTrigger {
    const NAME: &'static str = "by-trigger";
}

pub(crate) fn register(policies: Policies) -> Policies {
    policies.with_selector(ByTrigger::NAME, |options| {
        Ok(Arc::new(crate::options::<ByTrigger>(options)?))
    })
}

#[async_trait]
impl SelectProgram for ByTrigger {
    async fn select(&self, _: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected> {
        let task = words(&query.text);
        let fitting = view.offered().filter_map(|entry| {
            let trigger = words(entry.skill.trigger.as_deref()?);
            let fits = trigger.len() >= self.least.get() && trigger.is_subset(&task);
            fits.then_some((trigger.len(), entry))
        });
        let best = fitting.max_by(|(few, one), (many, other)| {
            let by_utility = one.utility.total_cmp(&other.utility);
            few.cmp(many).then(by_utility)
        });
        let selection = best.map(|(_, entry)| {
            let skills = vec![entry.skill.reference()];
            let explored = false;
            Selection::unscored(Decision::Inject { skills, explored })
        });
        let nothing = || Selection::nothing(NothingReason::NoCandidates);
        Ok(selection.unwrap_or_else(nothing).into())
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
