//! The conformance suite of [`Executor`].

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use async_trait::async_trait;

use super::report::{Report, Tried, require, skip};
use crate::{
    contract::{Attempt, Environment, Episode, Executor, FixedGuidance},
    domain::{
        Action, EndReason, Injection, Observation, SkillRef, SkillUse, Task, Trajectory, Transition,
    },
    error::{Error, Result},
    id::{AttemptId, Seed},
};

/// The inputs for checking an executor.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct ExecutorFixture {
    /// An environment in which the executor can act.
    pub environment: Arc<dyn Environment>,
    /// A task of that environment in which the executor takes at least one step.
    pub task: Task,
    /// The seed of the environment and the executor.
    pub seed: Seed,
    /// Skills as they stand in the prompt; with none, the rule of exposures is skipped.
    pub injection: Injection,
    /// Actions that the environment accepts at the start and that do not end the episode; with none, the rule of prefixes is
    /// skipped.
    pub prefix: Vec<Action>,
    /// Time limit of an attempt.
    pub time_limit: Duration,
}

impl ExecutorFixture {
    /// A task of an environment, without skills and a prefix, within a minute.
    pub fn new(environment: Arc<dyn Environment>, task: Task, seed: Seed) -> Self {
        Self {
            environment,
            task,
            seed,
            injection: Injection::NONE,
            prefix: Vec::new(),
            time_limit: Duration::from_secs(60),
        }
    }

    /// The same with skills.
    #[must_use]
    pub fn with_injection(mut self, injection: Injection) -> Self {
        self.injection = injection;
        self
    }

    /// The same with actions that the environment accepts at the start.
    #[must_use]
    pub fn with_prefix(mut self, prefix: Vec<Action>) -> Self {
        self.prefix = prefix;
        self
    }

    /// The same with this time limit.
    #[must_use]
    pub fn with_time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }
}

/// Checks an executor.
pub async fn check(executor: &dyn Executor, fixture: &ExecutorFixture) -> Report {
    let mut report = Report::new("Executor");
    report.case("trajectory", trajectory(executor, fixture).await);
    report.case("steps", steps(executor, fixture).await);
    report.case("outcome", outcome(executor, fixture).await);
    report.case("prefix", prefix(executor, fixture).await);
    report.case("exposures", exposures(executor, fixture).await);
    report
}

/// A fault that is injected into the environment.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Every step returns an error.
    Fails,
    /// Refuses every action, and ends as a failure with this many actions.
    Refuses(usize),
}

/// An episode that records its steps.
#[derive(Debug)]
struct Watched {
    inner: Box<dyn Episode>,
    fault: Fault,
    seen: Vec<(Observation, Action, Transition)>,
}

#[async_trait]
impl Episode for Watched {
    fn observation(&self) -> &Observation {
        self.inner.observation()
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        let before = self.inner.observation().clone();
        let transition = match self.fault {
            Fault::None => self.inner.step(action).await?,
            Fault::Fails => {
                return Err(Error::unavailable(
                    "Episode::step",
                    "a failure injected by the conformance suite",
                ));
            }
            Fault::Refuses(times) => Transition {
                observation: before.clone(),
                is_error: true,
                outcome: (self.seen.len() + 1 >= times).then(|| crate::domain::Outcome {
                    success: false,
                    score: 0.0,
                    parts: Default::default(),
                }),
            },
        };
        self.seen.push((before, action.clone(), transition.clone()));
        Ok(transition)
    }

    async fn close(self: Box<Self>) -> Result<()> {
        self.inner.close().await
    }
}

/// An execution, with the steps that the environment saw and the use of skills that was reported to the guidance.
struct Execution {
    result: Result<Trajectory>,
    seen: Vec<(Observation, Action, Transition)>,
    reported: BTreeMap<SkillRef, SkillUse>,
}

async fn attempt(
    executor: &dyn Executor,
    fixture: &ExecutorFixture,
    fault: Fault,
    prefix: &[Action],
) -> Tried<Execution> {
    let inner = fixture
        .environment
        .reset(&fixture.task, fixture.seed)
        .await?;
    let mut episode = Watched {
        inner,
        fault,
        seen: Vec::new(),
    };
    let guidance = FixedGuidance::new(fixture.injection.clone());
    let attempt = Attempt {
        id: AttemptId::new("conformance"),
        task: &fixture.task,
        seed: fixture.seed,
        temperature: 0.0,
        injection: &fixture.injection,
        guidance: &guidance,
        time_limit: fixture.time_limit,
        prefix,
    };
    let result = executor.execute(attempt, &mut episode).await;
    let seen = std::mem::take(&mut episode.seen);
    Box::new(episode).close().await?;
    Ok(Execution {
        result,
        seen,
        reported: guidance.reported(),
    })
}

async fn trajectory(executor: &dyn Executor, fixture: &ExecutorFixture) -> Tried {
    let made = attempt(executor, fixture, Fault::None, &[]).await?.result?;
    require(
        made.attempt.as_str() == "conformance" && made.task == fixture.task.id,
        || {
            format!(
                "expected a trajectory of attempt conformance at task {}, found attempt {} at task {}",
                fixture.task.id, made.attempt, made.task
            )
        },
    )?;
    for fault in [Fault::Fails, Fault::Refuses(100)] {
        let made = attempt(executor, fixture, fault, &[]).await?.result;
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                return require(false, || {
                    format!(
                        "expected a trajectory in an environment with the fault {fault:?}, found the error: {error}"
                    )
                });
            }
        };
        let finished = made.end == EndReason::Finished;
        require(finished == made.outcome.is_some(), || {
            format!(
                "expected an outcome exactly where the end is `Finished`, found the end {:?} with the outcome {:?} \
                 in an environment with the fault {fault:?}",
                made.end, made.outcome
            )
        })?;
    }
    Ok(())
}

async fn steps(executor: &dyn Executor, fixture: &ExecutorFixture) -> Tried {
    let tried = attempt(executor, fixture, Fault::None, &[]).await?;
    let made = tried.result?;
    require(!made.steps.is_empty(), || {
        "expected at least one step at the fixture's task, found none".to_owned()
    })?;
    require(made.steps.len() == tried.seen.len(), || {
        format!(
            "expected {} steps, as many as the environment saw, found {}",
            tried.seen.len(),
            made.steps.len()
        )
    })?;
    for (index, (step, (before, action, after))) in (0..).zip(made.steps.iter().zip(&tried.seen)) {
        require(step.index == index, || {
            format!(
                "expected the index {index} in step {index}, found {}",
                step.index
            )
        })?;
        require(
            step.observation == *before && step.action == *action,
            || {
                format!(
                    "expected step {index} to record {before:?} and {action:?}, found {:?} and {:?}",
                    step.observation, step.action
                )
            },
        )?;
        let answered = step.result.text == after.observation.text
            && step.result.is_error == after.is_error
            && step.result.source == after.observation.source
            && step.result.kind == after.observation.kind;
        require(answered, || {
            format!(
                "expected step {index} to record the text, source, kind and `is_error` of {after:?}, found {:?}",
                step.result
            )
        })?;
    }
    Ok(())
}

async fn outcome(executor: &dyn Executor, fixture: &ExecutorFixture) -> Tried {
    for fault in [Fault::None, Fault::Refuses(1)] {
        let tried = attempt(executor, fixture, fault, &[]).await?;
        let made = tried.result?;
        let last = tried
            .seen
            .last()
            .and_then(|(_, _, after)| after.outcome.clone());
        require(made.outcome == last, || {
            format!(
                "expected the episode's outcome {last:?} in the trajectory, found {:?}",
                made.outcome
            )
        })?;
    }
    Ok(())
}

async fn prefix(executor: &dyn Executor, fixture: &ExecutorFixture) -> Tried {
    if fixture.prefix.is_empty() {
        return skip("the fixture has no prefix");
    }
    let tried = attempt(executor, fixture, Fault::None, &fixture.prefix).await?;
    let made = tried.result?;
    let done: Vec<&Action> = made.steps.iter().map(|step| &step.action).collect();
    let due: Vec<&Action> = fixture.prefix.iter().collect();
    require(done.starts_with(&due), || {
        format!("expected the actions to begin with the prefix {due:?}, found {done:?}")
    })
}

async fn exposures(executor: &dyn Executor, fixture: &ExecutorFixture) -> Tried {
    if fixture.injection.skills.is_empty() {
        return skip("the fixture has no skills");
    }
    let tried = attempt(executor, fixture, Fault::None, &[]).await?;
    let made = tried.result?;
    for injected in &fixture.injection.skills {
        let count = (made.exposures.iter())
            .filter(|e| e.skill == injected.skill)
            .count();
        require(count == 1, || {
            format!(
                "expected one exposure of the injected skill {}, found {count}",
                injected.skill.id
            )
        })?;
    }
    for exposure in &made.exposures {
        let reported = tried.reported.get(&exposure.skill);
        let reported = reported.copied().unwrap_or_default();
        require(exposure.used == reported, || {
            format!(
                "expected the use of skill {} to be {reported}, as reported to the guidance, found {}",
                exposure.skill.id, exposure.used
            )
        })?;
    }
    Ok(())
}
