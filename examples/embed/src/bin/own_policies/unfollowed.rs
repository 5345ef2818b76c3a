//! A maintenance program: skills that nobody follows are archived.

use std::{num::NonZeroU64, sync::Arc};

use journeyman::{
    Result, async_trait,
    domain::{LibraryChange, State},
    library::Entry,
    policy::{Ask, MaintenanceProgram, Policies, PolicyOptions, View},
};
use serde::{Deserialize, Serialize};

/// Archives a skill that so many attempts had in their prompts and none followed: it takes the place of one that would
/// help. An attempt of which nobody knows whether it followed the skill counts as one that did.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unfollowed {
    /// Number of attempts with the skill.
    pub(crate) uses: NonZeroU64,
}

impl PolicyOptions for Unfollowed {
    const NAME: &'static str = "unfollowed";
}

pub(crate) fn register(policies: Policies) -> Policies {
    policies.with_program(Unfollowed::NAME, |options| {
        Ok(Arc::new(crate::options::<Unfollowed>(options)?))
    })
}

#[async_trait]
impl MaintenanceProgram for Unfollowed {
    async fn maintain(&self, _: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        let is_unfollowed = |entry: &&Entry| {
            let life = entry.life.lifetime();
            life.injected >= self.uses.get() && life.used + life.use_unknown == 0
        };
        let unfollowed = view.offered().filter(is_unfollowed);
        let changes = unfollowed.map(|entry| LibraryChange::SetState {
            skill: entry.skill.id.clone(),
            state: State::Archived,
            reason: format!("none of {} attempts followed it", self.uses),
        });
        Ok(changes.collect())
    }

    fn reason(&self) -> &'static str {
        "skills that nobody follows were archived"
    }
}
