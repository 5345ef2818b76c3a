//! The span of each effect, and what its answer adds to it.

use tracing::Span;

use crate::{
    policy::Answer,
    run::machine::effect::{CaseEffect, Effect},
    telemetry,
};

/// The span of the work for an effect; that of a commit is made where the commit is.
pub(super) fn of(effect: &Effect) -> Span {
    match effect {
        Effect::Retrieve(query) => telemetry::retrieval(query.limit),
        Effect::Score { skills, .. } => telemetry::score(skills.len()),
        Effect::Threshold { .. } => telemetry::score(0),
        Effect::Attempt(effect) => {
            telemetry::agent(&effect.run, &effect.task.id, &effect.attempt, false)
        }
        Effect::Case(case) => {
            let CaseEffect { attempt, .. } = &**case;
            telemetry::agent(&attempt.run, &attempt.task.id, &attempt.attempt, true)
        }
        Effect::Role { ask, .. } => telemetry::role(ask.role()),
        Effect::Judge { .. } => telemetry::judgement(),
        Effect::Embed(_) => telemetry::embeddings(),
        Effect::Gain { .. } => telemetry::information_gain(),
        Effect::Commit(_) => Span::none(),
    }
}

/// Adds an answer, redacted, to the span of its effect.
pub(super) fn answered(span: &Span, answer: &Answer) {
    if let Some(counts) = answer.role_counts() {
        let reading = match (counts.unreadable, counts.repaired, counts.failed) {
            (0, 0, 0) => "read",
            (0, _, 0) => "repaired",
            (_, _, 0) => "unreadable",
            _ => "none",
        };
        telemetry::read(span, reading, answer.whole_prompt());
    }
    match answer {
        Answer::Attempted(made) => {
            telemetry::finished(span, made);
            if let Ok(trajectory) = made {
                telemetry::used(span, trajectory.usage);
                telemetry::compacted(span, trajectory.compaction);
                span.record("journeyman.steps", telemetry::int(trajectory.steps.len()));
                if let Some(fault) = trajectory.fault() {
                    telemetry::failed(span, fault);
                }
            }
        }
        Answer::Judged(judged) => {
            telemetry::finished(span, judged);
            if let Ok(verdict) = judged {
                telemetry::judged(span, verdict);
            }
        }
        Answer::Played(Ok(played)) => {
            if let Some(played) = played {
                telemetry::used(span, played.usage);
            }
        }
        Answer::Tried(Ok(tried)) => telemetry::used(span, tried.usage),
        Answer::Played(Err(failed)) | Answer::Tried(Err(failed)) => {
            telemetry::used(span, failed.usage);
            telemetry::failed(span, &failed.error);
        }
        Answer::Retrieved(done) => telemetry::finished(span, done),
        Answer::Scored(done) => telemetry::finished(span, done),
        Answer::Fitted(done) => telemetry::finished(span, done),
        Answer::Embedded(done) => telemetry::finished(span, done),
        Answer::Gained(done) => telemetry::finished(span, done),
        Answer::Committed(_) => {}
    }
}
