//! The rules of [`Judge`].

use super::report::{Report, Tried, require, skip};
use crate::{
    contract::{Judge, JudgeRequest},
    domain::{Task, Trajectory},
};

/// The inputs for checking a judge.
#[derive(Clone, Debug)]
pub struct JudgeFixture {
    /// The task.
    pub task: Task,
    /// Attempts at the task that the judge can judge; at least one.
    pub attempts: Vec<Trajectory>,
    /// Attempts at the task for which nobody can say whether the task was done.
    pub untold: Vec<Trajectory>,
    /// Whether the judge documents that it samples, so that its verdicts may differ.
    pub samples: bool,
}

/// Checks a judge.
pub async fn check(judge: &dyn Judge, fixture: &JudgeFixture) -> Report {
    let mut report = Report::new("Judge");
    report.case("answers", answers(judge, fixture).await);
    report.case("unsure", unsure(judge, fixture).await);
    report.case("repeats", repeats(judge, fixture).await);
    report
}

fn request<'a>(fixture: &'a JudgeFixture, trajectory: &'a Trajectory) -> JudgeRequest<'a> {
    JudgeRequest {
        task: &fixture.task,
        trajectory,
    }
}

async fn answers(judge: &dyn Judge, fixture: &JudgeFixture) -> Tried {
    if fixture.attempts.is_empty() {
        return skip("no attempt was given");
    }
    for trajectory in fixture.attempts.iter().chain(&fixture.untold) {
        judge.judge(&request(fixture, trajectory)).await?;
    }
    Ok(())
}

async fn unsure(judge: &dyn Judge, fixture: &JudgeFixture) -> Tried {
    if fixture.untold.is_empty() {
        return skip("no attempt was given of which it cannot be told");
    }
    for trajectory in &fixture.untold {
        let verdict = judge.judge(&request(fixture, trajectory)).await?;
        require(verdict.success().is_none(), || {
            format!(
                "attempt {}: guessed {:?}",
                trajectory.attempt,
                verdict.success()
            )
        })?;
    }
    Ok(())
}

async fn repeats(judge: &dyn Judge, fixture: &JudgeFixture) -> Tried {
    if fixture.samples {
        return skip("the judge says that it draws samples");
    }
    if fixture.attempts.is_empty() {
        return skip("no attempt was given");
    }
    for trajectory in fixture.attempts.iter().chain(&fixture.untold) {
        let first = judge.judge(&request(fixture, trajectory)).await?;
        let second = judge.judge(&request(fixture, trajectory)).await?;
        require(first == second, || {
            format!("attempt {}: {first:?}, then {second:?}", trajectory.attempt)
        })?;
    }
    Ok(())
}
