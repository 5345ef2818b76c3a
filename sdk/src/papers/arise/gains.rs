//! The exact information gain of the skills on offer, and the maintenance program that measures it (ARISE D.3, Eq. 14; row A11).

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    domain::{LibraryChange, Skill, Trace},
    error::Result,
    library::Entry,
    policy::{Ask, Context, MaintenanceProgram, PolicyOptions, View},
};

/// Measures the exact information gain of the offered skills (ARISE D.3): the maintenance program `gains`, which has no options. The
/// measurement decides nothing; it needs a scorer and kept attempts ([`TierPolicy::traces`](crate::domain::TierPolicy::traces)).
///
/// ```
/// use std::num::NonZeroU64;
///
/// use journeyman::{papers::arise::GainsPolicy, recipe};
///
/// let arise = recipe::arise();
/// assert!(arise.maintenance.get::<GainsPolicy>().is_some());
/// // After each 100 steps of 64 tasks.
/// assert_eq!(arise.maintenance.programs[0].every, NonZeroU64::new(6_400));
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GainsPolicy {}

impl PolicyOptions for GainsPolicy {
    const NAME: &'static str = "gains";
}

#[async_trait]
impl MaintenanceProgram for GainsPolicy {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        Ok(measure(ask, &view.context()).await)
    }

    fn records(&self) -> bool {
        true
    }

    fn reason(&self) -> &'static str {
        "the gain of skills was measured"
    }
}

/// The greatest number of attempts that a gain is measured on, the latest ones: each costs two scorer passes per step.
const ATTEMPTS: usize = 4;

/// Measures the gain of each skill on offer, over the successful attempts that had the skill in their prompt or were
/// made at a task that the skill was made from.
async fn measure(ask: &mut Ask, context: &Context<'_>) -> Vec<LibraryChange> {
    let skills = context.offered().filter_map(|entry| {
        let attempts = attempts(context, entry);
        (!attempts.is_empty()).then(|| (entry.skill.clone(), attempts))
    });
    let gains = ask.gains(skills.collect()).await;
    let measured = gains.into_iter().filter_map(|(skill, gain)| match gain {
        Ok(gain) => Some(LibraryChange::Gain {
            skill: skill.reference(),
            gain: gain?,
        }),
        Err(error) => {
            tracing::warn!(%error, skill = %skill.name, "an information gain could not be measured");
            None
        }
    });
    measured.collect()
}

fn attempts(context: &Context<'_>, entry: &Entry) -> Vec<Trace> {
    let Skill { id, provenance, .. } = &entry.skill;
    let about = |trace: &&Trace| {
        let mut injected = trace.trajectory.injection.skills.iter();
        let had = injected.any(|injected| injected.skill.id == *id);
        trace.is_success() && (had || provenance.tasks.contains(&trace.task.id))
    };
    let all: Vec<&Trace> = context.library.traces().filter(about).collect();
    let latest = all.into_iter().rev().take(ATTEMPTS);
    latest.cloned().collect()
}
