//! Trials in quarantine (J7): what evidence releases a tainted or imported skill, and what ends its trial.

use std::collections::BTreeMap;

use crate::{
    domain::{ExposureOutcome, Judgement, LibraryChange, SkillUse, State, Taint},
    id::AttemptId,
    library::Entry,
    policy::Context,
};

/// The change that releases a skill, on trial or tried in quarantine, for this evidence.
pub(crate) fn release(entry: &Entry, evidence: String) -> LibraryChange {
    let reason = match (entry.skill.state, entry.skill.taint) {
        (State::Quarantined, Taint::Tainted) => {
            format!("{evidence}; it was in quarantine, since it is tainted")
        }
        (State::Quarantined, Taint::Clean) => {
            format!("{evidence}; it was in quarantine, since it was imported")
        }
        _ => evidence,
    };
    LibraryChange::Release {
        skill: entry.skill.reference(),
        reason,
        from_quarantine: entry.skill.state == State::Quarantined,
    }
}

/// The changes that end trials in quarantine, for the evidence of the commit that they are made for and that before it.
pub(crate) fn ended(context: &Context<'_>, evidence: &[LibraryChange]) -> Vec<LibraryChange> {
    let tried = context.library.entries();
    let tried = tried.filter(|entry| context.tries(entry));
    let ended = tried.filter_map(|entry| {
        let harm = harm(entry, evidence)?;
        Some(LibraryChange::SetState {
            skill: entry.skill.id.clone(),
            state: State::Quarantined,
            reason: format!("its trial in quarantine ends: {harm}"),
        })
    });
    ended.collect()
}

/// The harm that attempts with the current version did, in words.
fn harm(entry: &Entry, evidence: &[LibraryChange]) -> Option<String> {
    let skill = entry.skill.reference();
    let judged: BTreeMap<&AttemptId, Judgement> = evidence
        .iter()
        .filter_map(|change| match change {
            LibraryChange::Attribute(said) if said.skill == skill => {
                Some((&said.attempt, said.judgement))
            }
            _ => None,
        })
        .collect();
    let is_harmful = |judgement: &Judgement| *judgement == Judgement::Harmful;
    if entry.life.counts(skill.version).harmful > 0 || judged.values().any(is_harmful) {
        return Some("an attempt with it was judged harmful".to_owned());
    }
    // Where nobody knows whether it was followed, it may have been.
    let may_follow = |used| used != SkillUse::NotFollowed;
    let mut live = entry.life.live(skill.version, may_follow);
    for change in evidence {
        let LibraryChange::Expose {
            skill: exposed,
            attempt,
            injected: true,
            used,
            outcome: Some(ExposureOutcome { success, .. }),
        } = change
        else {
            continue;
        };
        if *exposed == skill && may_follow(used.judged(judged.get(attempt).copied())) {
            live.done += u32::from(*success);
            live.failed += u32::from(!success);
        }
    }
    let (failed, done) = (live.failed, live.done);
    (failed > done).then(|| format!("with it {failed} attempts failed and {done} succeeded"))
}

#[cfg(test)]
mod tests;
