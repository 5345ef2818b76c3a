//! Rollouts of a subgoal: how reliably an agent completes it from where an attempt had come (SCRIBE 6.1, appendix E; row C8).

use futures::{StreamExt, stream};

use crate::{
    domain::{Action, Subgoal, Trace, Trajectory},
    error::{Error, Result},
    papers::scribe::{Trials, trials::TrialOptions},
    run::{
        driver::redaction::{action_holds_mark, holds_mark},
        host::journeyman::Journeyman,
    },
};

const ROLLOUTS: &str = "Journeyman::subgoal_rollouts";

/// The rollouts of a subgoal.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct SubgoalRollouts {
    /// Number of steps that were replayed: the agent's own first step has this index.
    pub replayed: usize,
    /// The rollouts, in order. The error of one that could not be made, or that a part's fault ended.
    pub rollouts: Vec<Result<Box<Trajectory>>>,
}

impl SubgoalRollouts {
    /// Counts the rollouts that completed the subgoal. `completed` is given a rollout and the index of the agent's own first
    /// step; `None` where it cannot tell. Such a rollout does not count, and one with an error does not either; `None` where none
    /// counts.
    pub fn trials(&self, completed: impl Fn(&Trajectory, usize) -> Option<bool>) -> Option<Trials> {
        let made = self.rollouts.iter().filter_map(|one| one.as_deref().ok());
        Trials::of(made.filter_map(|one| completed(one, self.replayed)))
    }
}

impl Journeyman {
    /// Lets the agent work on a subgoal again and again: in each rollout the actions of an attempt before the subgoal are
    /// replayed, and then the agent acts until the episode ends. It has the skills that an evaluation of the task would select
    /// from the present library at the first turn. Whether a rollout completed the subgoal, the host says
    /// ([`SubgoalRollouts::trials`]).
    ///
    /// Rollouts differ in the agent's seed alone: the world's is the attempt's. The seeds follow from the session's, so that two
    /// checkpoints draw the same ones. Nothing is learned, written to the journal or told as an event.
    ///
    /// ```
    /// use std::{num::NonZeroU32, sync::Arc};
    ///
    /// use journeyman::{
    ///     Seed,
    ///     agent::EnvironmentJudge,
    ///     contract::Components,
    ///     domain::Action,
    ///     papers::scribe::TrialOptions,
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     testing::{Play, ScriptedEnvironment, ScriptedExecutor, sample},
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// // An agent that knows the second word at every other seed.
    /// let agent = ScriptedExecutor::acting(|attempt, _| {
    ///     let word = if attempt.seed.0 % 2 == 0 { "day" } else { "night" };
    ///     Play::Give((word == "day").then(|| Action::Message(word.to_owned())))
    /// });
    /// let world = ScriptedEnvironment::words();
    /// let components = Components::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge));
    /// let journeyman = Journeyman::open(components, recipe::scribe(), Options::new("desk", Seed(7))).await?;
    ///
    /// let task = sample::task("greet", &["good", "day"]);
    /// let attempt = sample::trace("desk/learn-0/0/0", &task, &["good", "day"], true);
    /// let subgoal = sample::subgoal("say the second word", 1, 1);
    /// let options = TrialOptions::new(NonZeroU32::new(64).expect("not 0"));
    /// let rollouts = journeyman.subgoal_rollouts(&attempt, &subgoal, &options).await?;
    /// let trials = rollouts.trials(|rollout, own| {
    ///     Some(rollout.steps.get(own).is_some_and(|step| !step.result.is_error))
    /// });
    /// let rate = trials.expect("64 rollouts").rate();
    /// assert!(0.2 < rate && rate < 0.8, "{rate}");
    /// # Ok::<_, journeyman::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `Unsupported` where the environment cannot set up a task again, where a prefix has to be replayed and the environment is not deterministic, where the host gave no agent or
    /// no world, and for a task, or an action before the subgoal, whose secrets were redacted; `Invalid` for a subgoal that is not among the attempt's steps, and
    /// for a temperature that is not a number from 0; the store's error.
    pub async fn subgoal_rollouts(
        &self,
        attempt: &Trace,
        subgoal: &Subgoal,
        options: &TrialOptions,
    ) -> Result<SubgoalRollouts> {
        let steps = &attempt.trajectory.steps;
        if subgoal.first > subgoal.last || subgoal.last >= steps.len() {
            return Err(
                Error::invalid(ROLLOUTS, "the subgoal is not among the attempt's steps")
                    .with("first", subgoal.first)
                    .with("last", subgoal.last)
                    .with("steps", steps.len()),
            );
        }
        self.session.performer.attempts_again(ROLLOUTS)?;
        if subgoal.first > 0 && !self.session.performer.repeats() {
            return Err(Error::unsupported(
                ROLLOUTS,
                "the actions before the subgoal can be replayed in a deterministic environment alone",
            )
            .hint("declare it in `Environment::capabilities`, or take the first subgoal of an attempt"));
        }
        if holds_mark(&attempt.task) {
            return Err(Error::unsupported(
                ROLLOUTS,
                "the attempt's task held a secret, and only its redacted form was kept",
            )
            .with("task", &attempt.task.id)
            .hint("take an attempt at a task without secrets"));
        }
        let prefix = steps.iter().take(subgoal.first);
        let prefix: Vec<Action> = prefix.map(|step| step.action.clone()).collect();
        if prefix.iter().any(action_holds_mark) {
            return Err(Error::unsupported(
                ROLLOUTS,
                "an action before the subgoal held a secret, and only its redacted form was kept",
            )
            .with("attempt", &attempt.trajectory.attempt)
            .hint("take a subgoal before that action, or an attempt without secrets"));
        }
        let of = format!("{}#{}", attempt.trajectory.attempt, subgoal.first);
        let trials = self.trials(ROLLOUTS, attempt.task.clone(), options).await?;
        let mut effect = trials.effect.clone();
        effect.world_seed = attempt.world_seed;
        let made = (0..options.count.get()).map(|number| {
            let trial = trials.trial(&effect, &prefix, &of, number);
            async move { self.session.performer.trial(&trial).await }
        });
        let in_flight = self.session.options.in_flight.get();
        let rollouts = stream::iter(made).buffered(in_flight).collect().await;
        Ok(SubgoalRollouts {
            replayed: prefix.len(),
            rollouts,
        })
    }
}
