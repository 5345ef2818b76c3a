//! Rejects answers with values that are not finite or out of range. JSON cannot represent NaN and infinities, so such a
//! value would make the run's journal unreadable.

use crate::{
    contract::{SkillScores, Total},
    domain::{Candidate, InformationGain, Trajectory},
    error::{Error, ErrorKind, Result},
};

fn refuse<T>(operation: &'static str, what: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Invalid, operation, what)
        .hint("the trait's documentation lists the rules for this value"))
}

pub(crate) fn candidates(found: Vec<Candidate>) -> Result<Vec<Candidate>> {
    if found.iter().all(|candidate| candidate.score.is_finite()) {
        return Ok(found);
    }
    refuse("Retriever::search", "a candidate's score is not finite")
}

pub(crate) fn scores(scores: Vec<SkillScores>) -> Result<Vec<SkillScores>> {
    let finite = |total: &Total| total.sum.is_finite();
    let sound = |score: &SkillScores| {
        let of_text = [&score.conditional, &score.unconditional];
        let of_fit = score.fit.iter().flat_map(|fit| [&fit.fits, &fit.does_not]);
        of_text.into_iter().flatten().chain(of_fit).all(finite)
    };
    if scores.iter().all(sound) {
        return Ok(scores);
    }
    refuse("Scorer::score", "a log-probability is not finite")
}

pub(crate) fn trajectory(trajectory: Box<Trajectory>) -> Result<Box<Trajectory>> {
    let outcome = trajectory.outcome.as_ref();
    let outcome_sound = outcome.is_none_or(|outcome| {
        outcome.score.is_finite() && outcome.parts.values().all(|part| part.is_finite())
    });
    if !outcome_sound {
        return refuse(
            "Episode::step",
            "the outcome's score or one of its parts is not finite",
        );
    }
    let unread = trajectory.unread.iter().flat_map(|turn| &turn.generations);
    let records = trajectory.steps.iter().flat_map(|step| &step.generations);
    let mut records = records.chain(unread);
    if records.all(|record| record.logprobs.iter().all(|logprob| logprob.is_finite())) {
        return Ok(trajectory);
    }
    refuse(
        "Executor::execute",
        "a recorded log-probability is not finite",
    )
}

pub(crate) fn gain(gain: Option<InformationGain>) -> Result<Option<InformationGain>> {
    if gain.as_ref().is_none_or(|gain| gain.nats.is_finite()) {
        return Ok(gain);
    }
    refuse("Scorer::score", "a log-probability is not finite")
}
