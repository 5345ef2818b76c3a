//! The conformance suite of [`Judge`].

use super::report::{Report, Tried, require, skip};
use crate::{
    contract::{Judge, JudgeRequest},
    domain::{Task, Trajectory},
};

/// The inputs for checking a judge.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct JudgeFixture {
    /// The task.
    pub task: Task,
    /// Attempts at the task that the judge can judge; at least one.
    pub attempts: Vec<Trajectory>,
    /// Attempts at the task that do not show whether the task was done.
    pub undecidable: Vec<Trajectory>,
    /// Whether the judge's documentation says that it samples, so that its verdicts may differ.
    pub samples: bool,
}

impl JudgeFixture {
    /// Attempts at a task, for a judge that does not sample.
    pub fn new(task: Task, attempts: Vec<Trajectory>) -> Self {
        Self {
            task,
            attempts,
            undecidable: Vec::new(),
            samples: false,
        }
    }

    /// The same with attempts that do not show whether the task was done.
    #[must_use]
    pub fn with_undecidable(mut self, undecidable: Vec<Trajectory>) -> Self {
        self.undecidable = undecidable;
        self
    }

    /// Sets whether the judge samples.
    #[must_use]
    pub fn with_samples(mut self, samples: bool) -> Self {
        self.samples = samples;
        self
    }
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
        return skip("the fixture has no attempts");
    }
    for trajectory in fixture.attempts.iter().chain(&fixture.undecidable) {
        judge.judge(&request(fixture, trajectory)).await?;
    }
    Ok(())
}

async fn unsure(judge: &dyn Judge, fixture: &JudgeFixture) -> Tried {
    if fixture.undecidable.is_empty() {
        return skip("the fixture has no undecidable attempts");
    }
    for trajectory in &fixture.undecidable {
        let verdict = judge.judge(&request(fixture, trajectory)).await?;
        require(verdict.success().is_none(), || {
            format!(
                "expected no success value for the undecidable attempt {}, found {:?}",
                trajectory.attempt,
                verdict.success()
            )
        })?;
    }
    Ok(())
}

async fn repeats(judge: &dyn Judge, fixture: &JudgeFixture) -> Tried {
    if fixture.samples {
        return skip("the judge samples");
    }
    if fixture.attempts.is_empty() {
        return skip("the fixture has no attempts");
    }
    for trajectory in fixture.attempts.iter().chain(&fixture.undecidable) {
        let first = judge.judge(&request(fixture, trajectory)).await?;
        let second = judge.judge(&request(fixture, trajectory)).await?;
        require(first == second, || {
            format!(
                "expected equal verdicts for attempt {}, found {first:?}, then {second:?}",
                trajectory.attempt
            )
        })?;
    }
    Ok(())
}
