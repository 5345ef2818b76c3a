//! The environment's own judgement.
#![allow(clippy::unwrap_used)]

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind,
    agent::EnvironmentJudge,
    contract::{Judge, JudgeRequest},
    domain::{EndReason, Outcome, Trajectory, Verdict},
    testing::sample,
};

fn judge(trajectory: &Trajectory) -> journeyman::Result<Verdict> {
    let task = sample::task("t", &["one"]);
    block_on(EnvironmentJudge.judge(&JudgeRequest::new(&task, trajectory)))
}

#[test]
fn reads_the_outcome() {
    let task = sample::task("t", &["one"]);
    for success in [true, false] {
        let verdict = judge(&sample::trajectory("a", &task, &["one"], success)).unwrap();
        assert_eq!(
            (verdict.success(), verdict.score()),
            (Some(success), f64::from(u8::from(success)))
        );
    }
}

#[test]
fn an_attempt_without_outcome_is_a_failure_only_where_the_agent_ended_it() {
    let task = sample::task("t", &["one"]);
    let broken = Error::new(ErrorKind::Unavailable, "Episode::step", "gone");
    let cases = [
        (EndReason::GaveUp, Some(false)),
        (EndReason::StepBudget, Some(false)),
        (EndReason::Deadline, Some(false)),
        (EndReason::Unreadable, Some(false)),
        (EndReason::Finished, None),
        (
            EndReason::ContextLength {
                prompt: 600,
                context: 512,
            },
            None,
        ),
        (EndReason::Failed(broken), None),
    ];
    for (end, expected) in cases {
        let verdict = judge(&sample::ended("a", &task, end.clone())).unwrap();
        assert_eq!(
            (verdict.success(), verdict.score()),
            (expected, 0.0),
            "{end:?}"
        );
        assert_eq!(verdict.evidence().len(), 1);
    }
}

#[test]
fn refuses_an_outcome_that_breaks_the_rules() {
    let task = sample::task("t", &["one"]);
    let part = |part: f64| [("p".to_owned(), part)].into_iter().collect();
    for (score, parts) in [
        (1.5, part(0.0)),
        (f64::NAN, part(0.0)),
        (0.5, part(f64::INFINITY)),
    ] {
        let mut trajectory = sample::trajectory("a", &task, &["one"], true);
        let mut outcome = Outcome::scored(true, score);
        outcome.parts = parts;
        trajectory.outcome = Some(outcome);
        assert_eq!(judge(&trajectory).unwrap_err().kind(), ErrorKind::Invalid);
    }
}
