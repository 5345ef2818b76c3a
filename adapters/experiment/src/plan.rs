//! The plan of an experiment: its arms and seeds, and how many tasks each seed has.

use std::collections::BTreeSet;

use journeyman::{Error, Result, policy::Policies, text::Redactor};

use crate::{
    arm::{Arm, Sweep},
    fault::EXPERIMENT,
};

/// All arms, the seeds that they run with, and the number of tasks.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Plan {
    /// The report's title.
    pub name: String,
    /// What all cells have in common.
    pub conditions: Conditions,
    /// One cell per arm and seed; no seed occurs twice.
    pub seeds: Vec<u64>,
    /// Tasks per seed to learn from, at least 1.
    pub stream: usize,
    /// Tasks per seed that are attempted at each checkpoint and never learned from, at least 1.
    pub held_out: usize,
    /// Checkpoints in the stream, from 1 to `stream`, evenly spaced, the last at its end. Another one is before the stream.
    pub checkpoints: usize,
    /// The arms, at least 1.
    pub arms: Vec<Arm>,
    /// The arm that the others are compared with, an index into `arms`.
    pub baseline: usize,
    /// Sweeps among the arms.
    pub sweeps: Vec<Sweep>,
    /// Policies of the host's own that recipes name. Their code is no part of a cell's key; a program's build is.
    pub policies: Policies,
    /// Removes secrets from what sessions keep ([`Options::redactor`](journeyman::run::Options::redactor)). No part of a cell's
    /// key.
    pub redactor: Redactor,
}

/// What all cells of a plan have in common, beside the world's settings ([`Host::world`](crate::Host::world)).
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Conditions {
    /// The agent's model, for the report.
    pub model: String,
    /// Identifies the model's weights, such as their SHA-256. Part of each cell's key.
    pub model_digest: String,
    /// Whether the same plan gives the same numbers on the same machine and build. Part of each cell's key.
    pub deterministic: bool,
    /// Threads that an engine computes with; the number may change how sums are rounded. Part of each cell's key.
    pub threads: u32,
    /// The world in words, for the report.
    pub world: String,
}

impl Conditions {
    /// A deterministic model on one thread, with an empty digest.
    #[must_use]
    pub fn new(model: impl Into<String>, world: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            model_digest: String::new(),
            deterministic: true,
            threads: 1,
            world: world.into(),
        }
    }
}

/// One arm with one seed.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellId {
    /// An index into [`Plan::arms`].
    pub arm: usize,
    /// One of [`Plan::seeds`].
    pub seed: u64,
}

impl Plan {
    /// A plan with the seeds 1 to 3, a stream of 48 tasks, 48 held-out tasks and 4 checkpoints. The first arm is the
    /// baseline.
    #[must_use]
    pub fn new(name: impl Into<String>, conditions: Conditions, arms: Vec<Arm>) -> Self {
        Self {
            name: name.into(),
            conditions,
            seeds: vec![1, 2, 3],
            stream: 48,
            held_out: 48,
            checkpoints: 4,
            arms,
            baseline: 0,
            sweeps: Vec::new(),
            policies: Policies::default(),
            redactor: Redactor::default(),
        }
    }

    /// After how many tasks of the stream the held-out ones are attempted.
    #[must_use]
    pub fn positions(&self) -> Vec<usize> {
        let parts = 0..=self.checkpoints;
        parts
            .map(|part| self.stream * part / self.checkpoints.max(1))
            .collect()
    }

    /// The arm that token overhead is measured against: the first without skills, else the baseline.
    #[must_use]
    pub fn without_skills(&self) -> usize {
        let none = self.arms.iter().position(|arm| !arm.has_skills);
        none.unwrap_or(self.baseline)
    }

    /// The first arm whose cells would have the same file names as those of an arm before it.
    #[must_use]
    pub fn doubled_arm(&self) -> Option<usize> {
        let mut taken = BTreeSet::new();
        self.arms
            .iter()
            .position(|arm| !taken.insert(slug(&arm.name)))
    }

    /// Checks the ranges and references that the fields' documentation states, and each arm's recipe with the policies that it names.
    ///
    /// # Errors
    /// `Invalid` for the first rule that is broken; those of [`Recipe::resolve`](journeyman::recipe::Recipe::resolve).
    pub fn validate(&self) -> Result<()> {
        let seeds: BTreeSet<u64> = self.seeds.iter().copied().collect();
        let is_arm = |arm: &usize| *arm < self.arms.len();
        let mut swept = self.sweeps.iter().flat_map(|sweep| &sweep.values);
        let broken = if seeds.is_empty() || seeds.len() < self.seeds.len() {
            Some("there are no seeds, or a seed occurs twice")
        } else if self.arms.is_empty() {
            Some("there are no arms")
        } else if self.stream == 0 || self.held_out == 0 {
            Some("there are no tasks to learn from, or none to measure with")
        } else if !(1..=self.stream).contains(&self.checkpoints) {
            Some("the number of checkpoints is not from 1 to the length of the stream")
        } else if !is_arm(&self.baseline) || !swept.all(|(_, arm)| is_arm(arm)) {
            Some("the baseline or a sweep refers to an arm that the plan does not have")
        } else {
            None
        };
        if let Some(message) = broken {
            return Err(Error::invalid(EXPERIMENT, message)
                .hint("see the fields of journeyman_experiment::Plan for their ranges"));
        }
        if let Some(arm) = self.doubled_arm().and_then(|at| self.arms.get(at)) {
            let message =
                "two arms have the same name, or names that differ in case or signs alone";
            return Err(Error::invalid(EXPERIMENT, message)
                .with("arm", &arm.name)
                .hint("give each arm a name of its own"));
        }
        for arm in &self.arms {
            let named = |error: Error| error.with("arm", &arm.name);
            arm.recipe.validate().map_err(named)?;
            arm.recipe.resolve(&self.policies).map_err(named)?;
        }
        Ok(())
    }
}

/// An arm's name as part of a file's name, in lower case.
pub(crate) fn slug(name: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || "-_.=+,".contains(c);
    let safe = name.chars().map(|c| if kept(c) { c } else { '-' });
    safe.flat_map(char::to_lowercase).collect()
}
