//! Measures the exact information gain of the skills on offer (ARISE D.3, Eq. 14; row A11).

use crate::{
    domain::{LibraryChange, Skill, Trace},
    library::Entry,
    policy::{Ask, Context},
};

/// The greatest number of attempts that a gain is measured on, the latest ones: each costs two scorer passes per step.
const ATTEMPTS: usize = 4;

/// Measures the gain of each skill on offer, over the successful attempts that had the skill in their prompt or were
/// made at a task that the skill was made from.
pub(crate) async fn measure(ask: &mut Ask, context: &Context<'_>) -> Vec<LibraryChange> {
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
