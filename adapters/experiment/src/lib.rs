//! Paired experiments over seeds in any [`Environment`](journeyman::contract::Environment): arms, ablations and sweeps.
//!
//! An *arm* is one way to learn: a [`Recipe`](journeyman::recipe::Recipe) and the library that it starts from. One arm
//! with one seed is a *cell*. A cell learns from a stream of tasks. Before the stream and at checkpoints of it, it attempts
//! tasks that are held out of it, greedily and with a copy of the library to which nothing is committed. A seed's tasks are
//! the same for all arms, so differences between arms are paired by task and seed.
//!
//! Where the environment is not [resettable](journeyman::contract::EnvironmentCapabilities::resettable), a cell attempts
//! held-out tasks only once, after its stream.
//!
//! The host supplies the world and the agent: see [`Host`]. Here both are scripted, and the agent can say a task's words
//! only with a skill in its prompt:
//!
//! ```
//! use std::{collections::BTreeMap, sync::Arc};
//!
//! use journeyman::{
//!     Result,
//!     agent::EnvironmentJudge,
//!     contract::Components,
//!     domain::Action,
//!     recipe,
//!     stations::select::First,
//!     testing::{Play, ScriptedEnvironment, ScriptedExecutor, sample},
//! };
//! use journeyman_experiment::{Arm, Conditions, Experiment, Host, Metric, Options, Plan, Tasks};
//!
//! struct Words(BTreeMap<&'static str, usize>);
//!
//! impl Host for Words {
//!     type World = BTreeMap<&'static str, usize>;
//!     type Engine = ();
//!
//!     fn world(&self) -> &Self::World {
//!         &self.0
//!     }
//!
//!     fn engines(&self, _plan: &Plan, _cells: usize) -> Result<Vec<()>> {
//!         Ok(vec![()])
//!     }
//!
//!     fn tasks(&self, plan: &Plan, seed: u64) -> Result<Tasks> {
//!         let task = |kind: &str, at| sample::task(&format!("{kind}-{seed}-{at}"), &["good", "day"]);
//!         let tasks = |name: &str, count| (0..count).map(|at| task(name, at)).collect();
//!         Ok(Tasks::new(tasks("stream", plan.stream), tasks("held-out", plan.held_out)))
//!     }
//!
//!     fn components(&self, _engine: &(), _arm: &Arm) -> Result<Components> {
//!         let agent = ScriptedExecutor::acting(|attempt, steps| {
//!             let word = attempt.task.payload[steps.len()].as_str();
//!             let word = word.filter(|_| !attempt.injection.skills.is_empty());
//!             Play::Give(word.map(|word| Action::Message(word.to_owned())))
//!         });
//!         let world = ScriptedEnvironment::words();
//!         Ok(Components::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge)))
//!     }
//! }
//!
//! // The arm `given` starts from one skill and always injects it.
//! let mut recipe = recipe::standard();
//! recipe.select.selector = First.into();
//! let mut given = Arm::new("given", recipe);
//! given.start = vec![sample::skill("greet")];
//! given.learns = false;
//!
//! let conditions = Conditions::new("a scripted agent", "words to say in order");
//! let arms = vec![Arm::without_skills("no skills"), given];
//! let mut plan = Plan::new("greetings", conditions, arms);
//! (plan.stream, plan.held_out, plan.checkpoints) = (2, 4, 1);
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! let host = Words(BTreeMap::from([("words", 2)]));
//! let experiment = Experiment::open(plan, host, folder, "build 1")?;
//! let outcome = experiment.perform(&Options::default(), &mut |event| println!("{event:?}"))?;
//! let difference = outcome.results.difference(1, Metric::First).unwrap();
//! assert_eq!((difference.mean, difference.n), (1.0, 3));
//! assert!(experiment.report_path().is_file());
//! # Ok::<(), journeyman::Error>(())
//! ```
//!
//! # Errors
//! A cell that fails outside the agent is no result: it is a [`Failure`] with its error, the other cells go on, and the next run tries it
//! again. [`Experiment::open`] refuses a plan that cannot be carried out (`Invalid`), and a folder that cannot be written or in which
//! another run is at work (`Unavailable`).
//!
//! # The folder
//! `cells` has a file for each finished cell, written whole or not at all; `report.md` and `report.svg` are written anew
//! after each. A cell's key is the SHA-256 of everything that its result follows from: the numbers of tasks, the world's
//! settings ([`Host::world`]), the model's digest, recipe, starting library and seed. A stored cell is kept while its key
//! and the program's build are the same; else it runs again.
//!
//! # Metrics
//! The report's metrics come from verdicts and tags ([`Metric`]). A success counts as one at the first attempt if the
//! verdict's part `first_attempt` is 1, or if the judge does not report this part. Tasks with the tag `hidden` and tasks
//! without it are also shown apart; a host sets it on tasks that have something to learn.
//!
//! # Statistics
//! A difference is the mean over a seed's held-out tasks of arm minus baseline, and then the mean over seeds with its 95%
//! interval by Student's t ([`Spread::interval`]). No correction is made for many comparisons.

mod arm;
mod cell;
mod chart;
mod experiment;
mod failure;
mod fault;
mod files;
mod host;
mod measure;
mod panels;
mod plan;
mod report;
mod result;
mod stats;
mod store;
mod summary;
mod tables;
mod work;

#[cfg(test)]
mod tests;

pub use arm::{Arm, Sweep, value_text};
pub use experiment::{Event, Experiment, Options, Outcome};
pub use failure::Failure;
pub use host::{Host, Tasks};
pub use plan::{CellId, Conditions, Plan};
pub use report::Report;
pub use stats::Spread;
pub use store::Stale;
pub use summary::{Metric, Results};
pub use tables::Table;
