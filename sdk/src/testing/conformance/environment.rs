//! The conformance suite of [`Environment`] and [`Episode`].

use super::report::{Report, Tried, require, require_error, skip};
use crate::{
    contract::{Environment, Episode},
    domain::{Action, Observation, Task, Transition},
    error::ErrorKind,
    id::Seed,
};

/// The inputs for checking an environment.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct EnvironmentFixture {
    /// A task that the environment can set up.
    pub task: Task,
    /// The seed of that task's episode.
    pub seed: Seed,
    /// Actions that end the episode with the last one and not before.
    pub actions: Vec<Action>,
    /// Another task, its seed, and actions that end its episode, for two concurrent episodes; `None` uses the same task
    /// twice.
    pub other: Option<(Task, Seed, Vec<Action>)>,
    /// An action that the environment refuses at the start, if there is one.
    pub refused: Option<Action>,
    /// A task that the environment cannot set up, if there is one.
    pub unknown: Option<Task>,
}

impl EnvironmentFixture {
    /// A task, the seed of its episode, and actions that end it.
    pub fn new(task: Task, seed: Seed, actions: Vec<Action>) -> Self {
        Self {
            task,
            seed,
            actions,
            other: None,
            refused: None,
            unknown: None,
        }
    }

    /// The same with another task, its seed, and actions that end its episode.
    #[must_use]
    pub fn with_other(mut self, other: impl Into<Option<(Task, Seed, Vec<Action>)>>) -> Self {
        self.other = other.into();
        self
    }

    /// The same with an action that the environment refuses at the start.
    #[must_use]
    pub fn with_refused(mut self, refused: impl Into<Option<Action>>) -> Self {
        self.refused = refused.into();
        self
    }

    /// The same with a task that the environment cannot set up.
    #[must_use]
    pub fn with_unknown(mut self, unknown: impl Into<Option<Task>>) -> Self {
        self.unknown = unknown.into();
        self
    }
}

/// Checks an environment and its episodes. The suite sets the fixture's task up several times, whatever the environment
/// declares: give a world that is not `resettable` a test instance that stands this.
pub async fn check(environment: &dyn Environment, fixture: &EnvironmentFixture) -> Report {
    let mut report = Report::new("Environment");
    report.case("again", again(environment, fixture).await);
    report.case("repeats", repeats(environment, fixture).await);
    report.case("apart", apart(environment, fixture).await);
    report.case("unknown task", unknown_task(environment, fixture).await);
    report.case("outcome", outcome(environment, fixture).await);
    report.case("refusal", refusal(environment, fixture).await);
    report.case("over", over(environment, fixture).await);
    report
}

/// The observations and transitions of an episode.
type Seen = (Observation, Vec<Transition>);

async fn play(
    environment: &dyn Environment,
    task: &Task,
    seed: Seed,
    actions: &[Action],
) -> Tried<Seen> {
    let mut episode = environment.reset(task, seed).await?;
    let first = episode.observation().clone();
    let mut transitions = Vec::new();
    for action in actions {
        transitions.push(episode.step(action).await?);
    }
    episode.close().await?;
    Ok((first, transitions))
}

async fn played(environment: &dyn Environment, fixture: &EnvironmentFixture) -> Tried<Seen> {
    play(environment, &fixture.task, fixture.seed, &fixture.actions).await
}

async fn again(environment: &dyn Environment, fixture: &EnvironmentFixture) -> Tried {
    if !environment.capabilities().resettable {
        return skip("the environment declares that a task cannot be set up again");
    }
    let (_, first) = played(environment, fixture).await?;
    let (_, second) = played(environment, fixture).await?;
    let ended = |seen: &[Transition]| seen.iter().position(|one| one.outcome.is_some());
    // By chance a transition may differ; the end of the episode is what the fixture promises.
    require(ended(&first) == ended(&second), || {
        format!(
            "expected the task to be attempted again as the first time, with its end at step {:?}, found {:?}",
            ended(&first),
            ended(&second)
        )
    })
}

async fn repeats(environment: &dyn Environment, fixture: &EnvironmentFixture) -> Tried {
    if !environment.capabilities().replays_prefixes() {
        return skip("the environment declares that it is not deterministic");
    }
    let first = played(environment, fixture).await?;
    let second = played(environment, fixture).await?;
    require(first == second, || {
        format!(
            "expected equal episodes for the same task, seed and actions, found {first:?}, then {second:?}"
        )
    })
}

async fn apart(environment: &dyn Environment, fixture: &EnvironmentFixture) -> Tried {
    if !environment.capabilities().replays_prefixes() {
        return skip(
            "the environment is not deterministic, so interference cannot be distinguished from chance",
        );
    }
    let (task, seed, actions) = (fixture.other.clone())
        .unwrap_or_else(|| (fixture.task.clone(), fixture.seed, fixture.actions.clone()));
    let alone = played(environment, fixture).await?;
    let other_alone = play(environment, &task, seed, &actions).await?;

    let mut one = environment.reset(&fixture.task, fixture.seed).await?;
    let mut two = environment.reset(&task, seed).await?;
    let mut seen = (one.observation().clone(), Vec::new());
    let mut other = (two.observation().clone(), Vec::new());
    for at in 0..fixture.actions.len().max(actions.len()) {
        if let Some(action) = actions.get(at) {
            other.1.push(two.step(action).await?);
        }
        if let Some(action) = fixture.actions.get(at) {
            seen.1.push(one.step(action).await?);
        }
    }
    one.close().await?;
    two.close().await?;
    require(seen == alone && other == other_alone, || {
        "expected two concurrent episodes to go as each does alone, found other observations or transitions".to_owned()
    })
}

async fn unknown_task(environment: &dyn Environment, fixture: &EnvironmentFixture) -> Tried {
    let Some(unknown) = &fixture.unknown else {
        return skip("the fixture has no task that the environment cannot set up");
    };
    let tried = environment.reset(unknown, fixture.seed).await;
    let kinds = [ErrorKind::Invalid, ErrorKind::NotFound];
    require_error(tried, &kinds, "`reset` with a task that cannot be set up").map(drop)
}

async fn outcome(environment: &dyn Environment, fixture: &EnvironmentFixture) -> Tried {
    if fixture.actions.is_empty() {
        return skip("the fixture has no actions");
    }
    let (_, transitions) = played(environment, fixture).await?;
    let last = transitions.len() - 1;
    for (at, transition) in transitions.iter().enumerate() {
        require(transition.outcome.is_some() == (at == last), || {
            format!(
                "expected an outcome exactly in the last transition, {last}, found {:?} in transition {at}",
                transition.outcome
            )
        })?;
    }
    Ok(())
}

async fn refusal(environment: &dyn Environment, fixture: &EnvironmentFixture) -> Tried {
    let Some(refused) = &fixture.refused else {
        return skip("the fixture has no action that the environment refuses");
    };
    let mut episode = environment.reset(&fixture.task, fixture.seed).await?;
    let tried = episode.step(refused).await;
    episode.close().await?;
    match tried {
        Ok(transition) => require(transition.is_error, || {
            "expected `is_error` in the transition of a refused action, found false".to_owned()
        }),
        Err(error) => require(false, || {
            format!(
                "expected a transition with `is_error` for a refused action, found the error: {error}"
            )
        }),
    }
}

async fn over(environment: &dyn Environment, fixture: &EnvironmentFixture) -> Tried {
    let Some(last) = fixture.actions.last() else {
        return skip("the fixture has no actions");
    };
    let mut episode: Box<dyn Episode> = environment.reset(&fixture.task, fixture.seed).await?;
    for action in &fixture.actions {
        episode.step(action).await?;
    }
    let first = episode.step(last).await;
    let second = episode.step(&Action::EndTurn).await;
    episode.close().await?;
    for tried in [first, second] {
        require_error(
            tried,
            &[ErrorKind::Invalid],
            "`step` after the episode's end",
        )?;
    }
    Ok(())
}
