//! Journeyman lets an agent learn skills on the job: short texts that say how a kind of task is done.
//!
//! Your program brings the agent, its world and a judgement of results; Journeyman writes a skill where attempts taught something, gives
//! it to a later task only where the model's own log-probabilities say that it belongs there, and credits it by what happened. You can
//! ask why each skill was given or not, measure whether it helps, and take back what was learned.
//!
//! This page is a tour: each part begins with an example that runs. Scripted doubles (`testing`) stand in for a model.
//!
//! # The shortest session
//! Your program keeps its own agent loop. It asks for a prompt, records what the agent does, and says how the task ended.
//!
//! ```
//! use journeyman::prelude::*;
//! use serde_json::json;
//!
//! # futures::executor::block_on(async {
//! let options = Options::new("desk", Seed(7));
//! let session = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
//!
//! let mut attempt = session.begin(Task::new("t-1", "Close ticket 17.")).await?;
//! // The skills that fit, then the task. Nothing is learned yet, so here it is the task alone.
//! assert_eq!(attempt.prompt(), "Close ticket 17.");
//! let call = Action::call("close", json!({ "ticket": 17 }));
//! attempt.record(Step::new(call, StepResult::new("closed", Source::trusted("desk"))));
//! let report = attempt.finish(Outcome::success()).await?.expect("the group has one attempt");
//! assert_eq!(report.attempts[0].success, Some(true));
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! An [`AttemptHandle`](run::AttemptHandle) gives other skills for later turns ([`turn`](run::AttemptHandle::turn)), and takes what you
//! know of a skill's use ([`used`](run::AttemptHandle::used)). Several attempts at one task are a group
//! ([`begin_group`](run::Journeyman::begin_group)): they are compared with each other. The seed decides every random choice, so that a
//! run can be repeated.
//!
//! # Hand over a task
//! Journeyman makes the attempts itself where it has an agent ([`Executor`](contract::Executor)), its world
//! ([`Environment`](contract::Environment)) and a judge ([`Judge`](contract::Judge)). The recipe says how many attempts at a task are made.
//!
//! ```
//! use std::sync::Arc;
//!
//! use journeyman::{
//!     agent::{FnEnvironment, Reply},
//!     prelude::*,
//!     testing::{Play, ScriptedExecutor},
//! };
//! use serde_json::json;
//!
//! # futures::executor::block_on(async {
//! // The world: a ticket can be closed once its customer is verified.
//! let tools = ["verify", "close"].map(|name| ToolDefinition::new(name, name, json!({"type": "object"})));
//! let desk = FnEnvironment::new(Source::trusted("desk"), tools, |verified: &mut bool, call| {
//!     *verified |= call.tool == "verify";
//!     match call.tool == "close" {
//!         true if *verified => Reply::done("The ticket is closed."),
//!         true => Reply::refused("Verify the customer first."),
//!         false => Reply::next("The customer is verified."),
//!     }
//! })?;
//! // The agent: a script in place of a model.
//! let agent = ScriptedExecutor::acting(|_, steps| {
//!     let tool = ["verify", "close"].get(steps.len()).copied();
//!     Play::Give(tool.map(|tool| Action::call(tool, json!({}))))
//! });
//! let parts = Components::new(Arc::new(agent), Arc::new(desk), Arc::new(EnvironmentJudge));
//! let session = Journeyman::open(parts, recipe::standard(), Options::new("desk", Seed(7))).await?;
//!
//! let learned = session.learn(vec![Task::new("t-1", "Close ticket 17.")]).await?;
//! assert_eq!(learned.tasks[0].attempts.len(), 4);
//! let measured = session.evaluate(vec![Task::new("t-2", "Close ticket 18.")]).await?;
//! assert_eq!((measured.attempts().count(), measured.success_rate()), (1, Some(1.0)));
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! [`learn`](run::Journeyman::learn) attempts and learns; [`evaluate`](run::Journeyman::evaluate) attempts each task once and changes
//! nothing. With the feature `language-model`, `agent::ModelExecutor` is an agent of any [`LanguageModel`](contract::LanguageModel), and
//! `Components::of_model` puts one model into every place. Where a task cannot be set up again, the environment says so
//! ([`EnvironmentCapabilities`](contract::EnvironmentCapabilities)), and each task is attempted once.
//!
//! # What was learned
//! A model writes the skills. Here the agent was refused once and then did the task: the next attempt can be spared that.
//!
//! ```
//! use std::sync::Arc;
//!
//! use journeyman::{library::format::SkillMd, prelude::*, stations::select::First};
//! use journeyman::testing::{ScriptedModel, ScriptedRoles};
//! use serde_json::json;
//!
//! # futures::executor::block_on(async {
//! let writer = "close-tickets: How to close a ticket.\nVerify the customer, then close.";
//! let parts = Components::own_loop()
//!     .with_model(Arc::new(ScriptedModel::always(writer)))
//!     .with_roles(Arc::new(ScriptedRoles::default()));
//! let mut recipe = recipe::standard();
//! recipe.select.selector = First.into(); // no model is there that could score
//! let session = Journeyman::open(parts, recipe, Options::new("desk", Seed(7))).await?;
//!
//! let mut attempt = session.begin(Task::new("t-1", "Close ticket 17.")).await?;
//! let desk = Source::trusted("desk");
//! let call = |tool: &str| Action::call(tool, json!({ "ticket": 17 }));
//! attempt.record(Step::new(call("close"), StepResult::refused("Not verified.", desk.clone())));
//! attempt.record(Step::new(call("verify"), StepResult::new("Verified.", desk.clone())));
//! attempt.record(Step::new(call("close"), StepResult::new("Closed.", desk)));
//! let report = attempt.finish(Outcome::success()).await?.expect("the group has one attempt");
//! assert!(report.written[0].admitted.is_some());
//!
//! let library = session.library().await?;
//! let entry = library.entries().next().expect("the new skill");
//! assert_eq!(entry.skill.name.as_str(), "close-tickets");
//! assert!(SkillMd::from(&entry.skill).write()?.ends_with("Verify the customer, then close.\n"));
//! let next = session.begin(Task::new("t-2", "Close ticket 18.")).await?;
//! assert!(next.prompt().contains("Verify the customer, then close."));
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! An [`Entry`](library::Entry) of the [`SkillLibrary`](library::SkillLibrary) has the skill, its versions, and the evidence for it. A
//! skill that was written from untrusted text ([`Source::untrusted`](domain::Source::untrusted)) is quarantined: no agent is given it
//! until evidence or a person releases it ([`set_state`](run::Journeyman::set_state)). Skills of your own are added with
//! [`add`](run::Journeyman::add). `agent::role::GeneralRoles` has the prompts for a real model.
//!
//! # Why a skill was given, or not
//! The gate asks how much likelier the model finds a skill's text behind the task than behind no task. Each decision is an event with its
//! reason.
//!
//! ```
//! use std::sync::Arc;
//!
//! use journeyman::{prelude::*, run::report::FindingKind};
//! use journeyman::testing::{Play, ScriptedFormat, ScriptedScorer};
//!
//! # futures::executor::block_on(async {
//! // A scripted model: behind a task about a jar each word of the skill is likelier.
//! let scorer = ScriptedScorer::by(|prompt, _skill| {
//!     Play::Give(if prompt.text().contains("jar") { -0.5 } else { -2.0 })
//! });
//! let parts = Components::own_loop()
//!     .with_scorer(Arc::new(scorer))
//!     .with_prompt_format(Arc::new(ScriptedFormat));
//! let session = Journeyman::open(parts, recipe::standard(), Options::new("kitchen", Seed(7))).await?;
//! let skill = "---\nname: open-jar\ndescription: How to open a jar.\n---\nWarm the lid, then turn it.\n";
//! session.add(vec![Skill::from_skill_md(skill)?], "version 1").await?;
//!
//! let mut events = session.events();
//! assert!(!session.begin(Task::new("t-1", "Open the jar.")).await?.injection().is_empty());
//! assert!(session.begin(Task::new("t-2", "Water the plants.")).await?.injection().is_empty());
//! let mut reasons = Vec::new();
//! while let Some(event) = events.try_next() {
//!     if let EventKind::Selected { selection, .. } = event.kind {
//!         reasons.push(selection.to_string());
//!     }
//! }
//! assert!(reasons[0].starts_with("inject open-jar@1, with a score of 18.0"));
//! assert!(reasons[1].contains("is not above the gate's threshold of 5.000"));
//!
//! // What cannot happen with the parts at hand is a finding, with what to do about it.
//! let parts = Components::own_loop();
//! let blind = Journeyman::open(parts, recipe::standard(), Options::new("blind", Seed(7))).await?;
//! let findings = blind.findings();
//! let finding = findings.iter().find(|one| one.kind == FindingKind::NeverInjects).expect("no scorer");
//! assert!(finding.hint.contains("Components::scorer"));
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! The threshold of the gate depends on the model. A session fits it to a model without labels
//! ([`Journeyman::gate`](run::Journeyman::gate) says which is in force); [`GateCalibration`](stations::select::GateCalibration) fits it to
//! your tasks. [`Event`](run::report::Event) and [`RunReport`](run::report::RunReport) tell everything else that a run decides.
//!
//! # Does it help?
//! Let some tasks go without their skills by chance, and compare.
//!
//! ```
//! use journeyman::{domain::Withhold, prelude::*, stations::{proof::{LiftPolicy, LiftVerdict}, select::First}};
//!
//! # futures::executor::block_on(async {
//! let mut recipe = recipe::standard();
//! recipe.select.selector = First.into();
//! recipe.select.withhold = Some(Withhold::new(0.5));
//! let options = Options::new("desk", Seed(7));
//! let session = Journeyman::open(Components::own_loop(), recipe, options).await?;
//! let skill = "---\nname: verify-first\ndescription: How to close a ticket.\n---\nVerify, then close.\n";
//! let skill = Skill::from_skill_md(skill)?;
//! session.add(vec![skill.clone()], "version 1").await?;
//!
//! for number in 0..150 {
//!     let attempt = session.begin(Task::new(format!("t-{number}"), "Close a ticket.")).await?;
//!     // An agent that closes a ticket only with the skill.
//!     let done = !attempt.injection().is_empty();
//!     attempt.finish(Outcome::from(done)).await?;
//! }
//! let lifts = session.lift(LiftPolicy::default())?;
//! let lift = lifts.skill(&skill.reference(), None).expect("it was given, and withheld");
//! assert_eq!(lift.verdict, Some(LiftVerdict::Helps));
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! You may read the verdict after every task; [`LiftPolicy`](stations::proof::LiftPolicy) says how sure it is. The program
//! [`ProvenRelease`](stations::proof::ProvenRelease) releases only skills that were proven to help, and
//! `Journeyman::certify` (feature `measure`) finds which skills of a library help the model at hand.
//!
//! # Take it back
//! A run, a session or a version can be undone at any time. What other runs learned stays.
//!
//! ```
//! use journeyman::{Version, library::RunFilter, prelude::*, stations::select::First};
//!
//! # futures::executor::block_on(async {
//! let mut recipe = recipe::standard();
//! recipe.select.selector = First.into();
//! let options = Options::new("desk", Seed(7));
//! let session = Journeyman::open(Components::own_loop(), recipe, options).await?;
//! let head = "---\nname: verify-first\ndescription: How to close a ticket.\n";
//! let first = Skill::from_skill_md(&format!("{head}---\nVerify, then close.\n"))?;
//! session.add(vec![first.clone()], "version 1").await?;
//! let attempt = session.begin(Task::new("t-1", "Close ticket 17.")).await?;
//! attempt.finish(Outcome::failure()).await?;
//! assert_eq!(session.library().await?.get(&first.id).map(|entry| entry.credits), Some(1));
//!
//! // The desk was out of order that day: what was learned from it does not count.
//! let taken_back = session.retire(&RunFilter::of_session("desk"), "the desk was down").await?;
//! assert_eq!(taken_back.runs.len(), 1);
//! assert_eq!(session.library().await?.get(&first.id).map(|entry| entry.credits), Some(0));
//!
//! // A later version that was no better.
//! let second = Skill::from_skill_md(&format!("{head}metadata:\n  version: \"2\"\n---\nJust close.\n"))?;
//! session.add(vec![second], "version 2").await?;
//! session.roll_back(&first.id, Version(1), "it was no better").await?;
//! let library = session.library().await?;
//! let skill = &library.get(&first.id).expect("it is there").skill;
//! assert_eq!((skill.version, skill.body.as_str()), (Version(3), "Verify, then close."));
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! [`would_retire`](run::Journeyman::would_retire) shows the effect without it. [`library`] has the rules.
//!
//! # Recipes and policies of your own
//! A [`Recipe`](recipe::Recipe) is data: it names a policy for each station that a task passes, ours or yours.
//!
//! ```
//! use std::{num::NonZeroU32, sync::Arc};
//!
//! use journeyman::{library::SkillLibrary, policy::{AdmitRule, Policies, Policy}, prelude::*};
//! use serde_json::json;
//!
//! /// Admits no skill that is longer, in bytes.
//! #[derive(Debug)]
//! struct AtMost(u64);
//!
//! impl AdmitRule for AtMost {
//!     fn admit(&self, _: &SkillLibrary, skill: &Skill) -> Result<()> {
//!         match skill.body.len() as u64 <= self.0 {
//!             true => Ok(()),
//!             false => Err(Error::invalid("AtMost::admit", "the skill is too long for our prompts")),
//!         }
//!     }
//! }
//!
//! # futures::executor::block_on(async {
//! let mut recipe = recipe::standard();
//! recipe.attempts.group = NonZeroU32::new(2).expect("not 0"); // attempts at a task
//! recipe.admit.rules = vec![Policy::new("at-most").with_options(json!({ "bytes": 2_000 }))];
//! assert!(recipe.resolve(&Policies::new()).is_err(), "nobody has registered the rule");
//!
//! let policies = Policies::new().with_admission("at-most", |options| {
//!     let bytes = options["bytes"].as_u64().unwrap_or(4_000);
//!     Ok(Arc::new(AtMost(bytes)))
//! });
//! let options = Options::new("desk", Seed(7)).with_policies(policies);
//! Journeyman::open(Components::own_loop(), recipe, options).await?;
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! [`recipe::standard`] is the default; [`papers`] has the recipes of five papers. [`policy`] lists the seven kinds of policies, and
//! [`stations`] the policies that Journeyman brings.
//!
//! # Storage and journals
//! A [`SkillStore`](contract::SkillStore) keeps the library, a [`Journal`](contract::Journal) the events of runs. Without them both end
//! with the process.
//!
//! ```
//! use std::sync::Arc;
//!
//! use journeyman::{agent::{FrozenStore, MemoryJournal, MemoryStore}, contract::SkillStore, prelude::*};
//!
//! # futures::executor::block_on(async {
//! let (store, journal) = (Arc::new(MemoryStore::new()), Arc::new(MemoryJournal::new()));
//! let parts = || Components::own_loop().with_store(store.clone()).with_journal(journal.clone());
//! let options = || Options::new("desk", Seed(7));
//! let first = Journeyman::open(parts(), recipe::standard(), options()).await?;
//! let skill = "---\nname: verify-first\ndescription: How to close a ticket.\n---\nVerify, then close.\n";
//! first.add(vec![Skill::from_skill_md(skill)?], "version 1").await?;
//!
//! // A later process has the same library, and goes on with the runs that were interrupted.
//! let later = Journeyman::open(parts(), recipe::standard(), options()).await?;
//! assert_eq!(later.library().await?.in_use(), 1);
//! for run in later.unfinished_runs().await? {
//!     println!("{}", later.resume(&run).await?);
//! }
//!
//! // A library that nobody can change, for evaluation.
//! let frozen = FrozenStore::new(store.load().await?);
//! let parts = Components::own_loop().with_store(Arc::new(frozen));
//! let reader = Journeyman::open(parts, recipe::standard(), Options::new("trial", Seed(7))).await?;
//! assert!(reader.is_read_only());
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! The crate `journeyman-disk` has both on disk, with a folder of SKILL.md files that people may edit. Secrets are removed before
//! anything is kept ([`Options::redactor`](run::Options::redactor)).
//!
//! # When something fails
//! Every call that can fail returns an [`Error`], with its [`ErrorKind`], whether the same call may go through later ([`Retry`]), and a
//! hint what to do. A part that fails costs as little as it can: without scores nothing is injected, without a verdict nothing is
//! credited, and what was learned before stays.
//!
//! # The modules
//! | module | in it |
//! | --- | --- |
//! | [`run`] | the session: [`Journeyman`](run::Journeyman), [`AttemptHandle`](run::AttemptHandle), reports and events |
//! | [`contract`] | what a host implements: agent, world, judge, model, scorer, store and more |
//! | [`domain`] | plain values: tasks, attempts, skills, verdicts |
//! | [`agent`] | ready implementations of contracts: an agent of a model, stores, retrieval, prompts of roles |
//! | [`library`] | the library of skills, its history, SKILL.md |
//! | [`recipe`] | recipes, and how one is resolved |
//! | [`stations`] | the policies of each station: [the gate](stations::select), writing, admission, credit, [proof](stations::proof) |
//! | [`policy`] | the traits of policies, and how one asks |
//! | [`papers`] | a module for each paper: its recipe and policies |
//! | [`text`] | text processing without a model: JSON, redaction, blocks of prompts |
//! | `testing` | scripted doubles, and suites that check your own parts (only with its feature) |
//! | [`prelude`] | what most hosts name |
//!
//! # Features
//! - `system-clock` (default): [`agent`] has `SystemClock`, a clock that reads the system's time.
//! - `threads` (default): [`agent`] has `OnThread`, a wrapper that runs blocking parts on threads of their own.
//! - `language-model`: the parts that a language model plays ([`LanguageModel`](contract::LanguageModel)). [`agent`] has `ModelExecutor`,
//!   `ChatFormat`, `AdaptedModel` and the module `role`, [`Components`](contract::Components) has `of_model`, [`text`] reads
//!   answers (`published_calls`, `first_object`, `without_thinking`, `TextStream`), and [`library::format`] has ARISE's document. The
//!   adapters that bring a model switch it on. Without it, a host brings an agent of its own, or keeps its own loop.
//! - `json-schema`: validation of JSON by a schema. [`text`] has `JsonSchema`, `ToolCalls` and `loosened`, `agent::role` has `Structured` and
//!   `ModelJudge`, [`agent`] has `FnEnvironment`. Without it, arguments of tool calls are not held against the tools' schemas
//!   (`agent::ChatFormat`), and a role's skill keeps its shipped schema (`agent::role::GeneralRoles`). It enables `language-model`.
//! - `embeddings`: retrieval by embeddings. [`agent`] has `VectorRetriever`, `HybridRetriever` and `HashedEmbedder`, and
//!   [`stations::retrieve`] has `Fusion`.
//! - `measure`: [`Journeyman`](run::Journeyman) has `certify` and `calibrate_by_outcomes`, which attempt tasks again to measure what
//!   skills and the gate do with the host's model.
//! - `arise`, `hisme`, `scribe`, `skillos`, `skillrl`: the [room](papers) of a paper, with its recipe; `papers`: all five. Without it, a recipe that names
//!   one of its policies is refused ([`Recipe::resolve`](recipe::Recipe::resolve)). [`recipe::standard`] needs none. `arise` enables
//!   `language-model`.
//! - `testing`: the module `testing`, scripted doubles of all parts and generators of inputs. The examples above need it. It enables
//!   `json-schema` and `papers`.
//! - `conformance`: the module `testing::conformance`, a suite of checks for each contract. It enables `testing`. Both are for a
//!   host's `[dev-dependencies]`.
//!
//! Where to read on: [`contract`] for what a host implements, [`run`] for the two ways in, [`stations::select`] for the gate,
//! [`library`] for what a library does with a commit, `agent::role` for what a model is asked beside its tasks.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
// What several features share has no user in a build without them. A build with all of them says what none uses.
#![cfg_attr(
    not(all(
        feature = "arise",
        feature = "embeddings",
        feature = "hisme",
        feature = "measure",
        feature = "scribe",
        feature = "skillos",
        feature = "skillrl"
    )),
    allow(dead_code, unused_imports)
)]

pub mod agent;
pub mod contract;
pub mod domain;
mod error;
mod id;
pub mod library;
pub mod papers;
pub mod policy;
pub mod prelude;
pub mod recipe;
pub mod run;
pub mod stations;
mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;

/// The attribute that the contracts are written with, so that a host implements them with the same version.
pub use async_trait::async_trait;
pub use error::{Error, ErrorKind, Result, Retry};
pub use id::{Category, ModelId, RunId, Seed, SkillId, TaskId, Version};
