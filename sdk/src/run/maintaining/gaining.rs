//! The exact information gain of the skills in use, now and then (ARISE D.3, Eq. 14; row A11).

use super::{
    super::context::Context,
    slots::{Ask, Slots},
};
use crate::{
    domain::{LibraryChange, Skill, Trace},
    library::Entry,
};

/// Attempts behind each gain, the latest: each costs two passes of the scorer for every step.
const ATTEMPTS: usize = 4;

/// Asks for the gain of each skill on offer, over successful attempts that had it or that it was made from.
pub(super) fn measure(context: &Context<'_>) -> Slots {
    let asks = context.offered().filter_map(|entry| {
        let attempts = attempts(context, entry);
        (!attempts.is_empty()).then(|| Ask::Gain {
            skill: Box::new(entry.skill.clone()),
            attempts,
        })
    });
    asks.collect()
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

/// What was measured.
pub(super) fn measured(slots: &Slots) -> Vec<LibraryChange> {
    let measured = slots.gained().filter_map(|(skill, gain)| match gain {
        Ok(gain) => Some(LibraryChange::Gain {
            skill: skill.reference(),
            gain: gain.clone()?,
        }),
        Err(error) => {
            tracing::warn!(%error, skill = %skill.name, "an information gain could not be measured");
            None
        }
    });
    measured.collect()
}
