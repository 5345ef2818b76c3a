//! The traits of policies, and how a recipe names one.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Ask, View};
use crate::{
    domain::{
        LibraryChange, Role, Selection, Skill, SkillDraft, SkillRef, Trace, TurnQuery, Verdict,
    },
    error::Result,
    id::AttemptId,
    library::SkillLibrary,
    report::AttemptReport,
};

/// A policy of a host's own, as a recipe names it. A journal holds the recipe, so a run that is resumed has the same policy
/// with the same parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnPolicy {
    /// The name under which the host registered it.
    pub name: String,
    /// What it is made with. It is kept in the journal as it is: no secrets.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub parameters: Value,
}

impl OwnPolicy {
    /// A policy without parameters.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            parameters: Value::Null,
        }
    }

    /// With these parameters.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Value) -> Self {
        self.parameters = parameters;
        self
    }
}

/// Chooses the skills for a query: a selector of a host's own
/// ([`Selector::Own`](crate::select::Selector::Own)).
///
/// # Behavior
/// Checked by `conformance::select_program`.
/// - *repeats*: the same view, query and answers give the same questions and the same choice. A resumed run runs the policy again
///   over the answers that it had, and refuses it with the place where it asks something else. Randomness is derived from
///   [`View::seed`].
/// - *ends*: each call ends with a choice or an error. It does not panic, does not ask without end, and awaits nothing but
///   answers.
/// - *offered*: it chooses only skills of [`View::offered`]; another choice is an error.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *errors*: after an error nothing is injected and the task goes on; a panic, and asking without end, fail the whole task.
///   At a later turn the skills of the turn before stay after any of these.
/// - *once*: it calls the selector once for all attempts at a task, or once for each turn of an attempt whose query is a new one
///   ([`SelectPer::Turn`](crate::select::SelectPer::Turn)).
#[async_trait]
pub trait SelectProgram: fmt::Debug + Send + Sync {
    /// Chooses skills for a query.
    ///
    /// # Errors
    /// The reason why nothing can be chosen; the selection of the task holds its text.
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selection>;
}

/// Looks after the library between tasks: a maintenance program, of ours or of a host's own
/// ([`Recipe::programs`](crate::recipe::Recipe::programs)).
///
/// # Behavior
/// Checked by `conformance::maintenance_program`.
/// - *repeats*: the same view and answers give the same questions and the same changes.
/// - *ends*: as for [`SelectProgram`].
/// - *permitted*: it may add, revise, merge, restore, roll back and release skills, set their states, add to their bundles, and
///   set rules; what it found out about skills it may record if it says so ([`records`](Self::records)). It erases nothing, and
///   each change keeps the rules of [`LibraryChange::validate`]. A skill can be written as a SKILL.md, and names only files that
///   the library has.
/// - *applies*: each change has an effect on the library of its view.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *whole*: all changes of the program are one commit, made when it returns; without changes there is no commit.
/// - *errors*: after an error, a panic, or a change that is not permitted, nothing of the program is committed, the run goes on,
///   and an event has the reason ([`EventKind::MaintenanceFailed`](crate::report::EventKind::MaintenanceFailed)). A
///   permitted change without effect, such as one that another writer overtook, is passed over with an event.
#[async_trait]
pub trait MaintenanceProgram: fmt::Debug + Send + Sync {
    /// Decides on changes.
    ///
    /// # Errors
    /// Why it cannot.
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>>;

    /// The roles that it asks: a session that opens says which of them nobody plays.
    fn roles(&self) -> Vec<Role> {
        Vec::new()
    }

    /// Whether it records what it found out: results of test cases, information gains, prototypes and their anchors, attempts
    /// that are dealt with.
    fn records(&self) -> bool {
        false
    }

    /// What it did, for the library's history.
    fn reason(&self) -> &'static str {
        "a program of the host's own looked after the library"
    }
}

/// Writes skills from the attempts at a task: a writer of a host's own
/// ([`Writer::Own`](crate::propose::Writer::Own)).
///
/// # Behavior
/// Checked by `conformance::write_program`.
/// - *repeats*: the same view, attempts and answers give the same questions and the same drafts.
/// - *ends*: as for [`SelectProgram`].
/// - *valid*: each draft can become a skill ([`insert_ready`](crate::admit::insert_ready)); another one is refused.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *due*: it calls the writer where [`WritePolicy::when`](crate::propose::WritePolicy::when) calls for a skill, with the
///   attempts to write from, the best first.
/// - *admission*: each draft passes the recipe's admission like a role's. No draft is no skill.
/// - *errors*: after an error no skill is written from the task, and an event has the reason. A panic, and asking without end,
///   fail the task.
#[async_trait]
pub trait WriteProgram: fmt::Debug + Send + Sync {
    /// Writes drafts.
    ///
    /// # Errors
    /// The reason why nothing can be written.
    async fn write(
        &self,
        ask: &mut Ask,
        view: &View,
        attempts: &[Trace],
    ) -> Result<Vec<SkillDraft>>;
}

/// Rewards attempts: a reward of a host's own ([`RewardPolicy::own`](crate::reward::RewardPolicy::own)).
///
/// # Behavior
/// Checked by `conformance::reward_rule`.
/// - *repeats*: the same report and verdict give the same reward.
/// - *finite*: the reward is finite; another one is an error.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *verdicts*: it calls the rule for each attempt with a verdict. The report has the built-in reward where there is one.
/// - *errors*: an error or a panic fails the task: nothing is learned from it.
pub trait RewardRule: fmt::Debug + Send + Sync {
    /// The reward of an attempt.
    ///
    /// # Errors
    /// The reason why there is none.
    fn reward(&self, attempt: &AttemptReport, verdict: &Verdict) -> Result<f64>;
}

/// The credit of a skill for an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillCredit {
    /// The skill, in the version that the attempt was given.
    pub skill: SkillRef,
    /// The attempt.
    pub attempt: AttemptId,
    /// The reward that the skill is credited with, finite.
    pub reward: f64,
}

/// Credits skills from the attempts of a group: a credit rule of a host's own
/// ([`CreditPolicy::own`](crate::credit::CreditPolicy::own)).
///
/// # Behavior
/// Checked by `conformance::credit_rule`.
/// - *repeats*: the same attempts give the same credits, in the same order.
/// - *exposed*: a skill is credited only for an attempt that was given it, and at most once for each; anything else is an error.
/// - *finite*: credits are finite; another one is an error.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *errors*: an error or a panic fails the task: nothing is learned from it.
pub trait CreditRule: fmt::Debug + Send + Sync {
    /// The credits of a group.
    ///
    /// # Errors
    /// The reason why there are none.
    fn credits(&self, group: &[AttemptReport]) -> Result<Vec<SkillCredit>>;
}

/// Decides whether a skill enters the library: an admission rule of a host's own
/// ([`AdmitPolicy::own`](crate::admit::AdmitPolicy::own)).
///
/// # Behavior
/// Checked by `conformance::admit_rule`.
/// - *repeats*: the same library and skill give the same decision.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *last*: it asks the rule about each skill and each version that it would add, revise or merge, in tasks and in maintenance,
///   after the recipe's own admission. A rollback or a restoration brings back what was let in before, and the rule is not
///   asked about it.
/// - *errors*: an error refuses the skill, and its message is the reason; a panic refuses it too.
pub trait AdmitRule: fmt::Debug + Send + Sync {
    /// Lets a skill in.
    ///
    /// # Errors
    /// The reason why the skill is refused.
    fn admit(&self, library: &SkillLibrary, skill: &Skill) -> Result<()>;
}
