//! The traits of policies.

use std::fmt;

use async_trait::async_trait;

use super::{
    Ask, GroupAttempt, JudgedAttempt, SkillCredit, View, WriteGroup, Written, selected::Selected,
};
use crate::{
    domain::{LibraryChange, Role, Skill, TurnQuery, gate_policy::SelectorGate},
    error::Result,
    library::SkillLibrary,
};

/// Chooses the skills for a query: a selector, of ours or of a host's own
/// ([`SelectPolicy::selector`](crate::select::SelectPolicy::selector)).
///
/// A selector may choose among the candidates that the recipe finds and ranks ([`candidates()`](crate::select::candidates())), or
/// among all of [`View::offered`]. Each of ours can be asked by another one:
/// `GatePolicy::default().select(ask, view, query)`.
///
/// # Behavior
/// Checked by `conformance::select_program`.
/// - *repeats*: the same view, query and answers give the same questions and the same choice. A resumed run runs the policy again
///   over the answers that it had, and refuses it with the place where it asks something else. Randomness is derived from
///   [`View::seed`].
/// - *ends*: each call ends with a choice or an error. It does not panic, does not ask without end, and awaits nothing but
///   answers.
/// - *offered*: it chooses and looks at only skills of [`View::offered`]; a candidate is there once, with a finite score; anything
///   else is an error.
/// - *counted*: it makes one selection, or one for each attempt at the task ([`View::selections`]); another number is an error.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *errors*: after an error nothing is injected and the task goes on; a panic, and asking without end, fail the whole task.
///   At a later turn the skills of the turn before stay after any of these.
/// - *once*: it calls the selector once for all attempts at a task, or once for each turn of an attempt whose query is a new one
///   ([`SelectPer::Turn`](crate::select::SelectPer::Turn)). It does not call it in the warm-up, nor where no skill is offered.
#[async_trait]
pub trait SelectProgram: fmt::Debug + Send + Sync {
    /// Chooses skills for a query. A program that makes one selection ends with `Ok(selection.into())`.
    ///
    /// # Errors
    /// The reason why nothing can be chosen; the selection of the task holds its text.
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected>;

    /// The gate by which it injects a skill or none: a session says where the gate cannot decide with the host's parts, and finds
    /// its threshold. `None` for a selector that asks no scorer.
    fn gate(&self) -> Option<SelectorGate<'_>> {
        None
    }

    /// Whether it compares skills by embeddings: a session without an embedder says so.
    fn needs_embeddings(&self) -> bool {
        false
    }

    /// Whether it chooses among the candidates that the recipe finds. Otherwise a recipe that ranks these
    /// ([`SelectPolicy::rank`](crate::select::SelectPolicy::rank)) is refused.
    fn uses_ranking(&self) -> bool {
        true
    }

    /// Whether it never chooses a skill: a session says so, and the run does not call it.
    fn never_selects(&self) -> bool {
        false
    }
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

/// Writes skills from the attempts at a task: a writer, of ours or of a host's own
/// ([`WritePolicy::by`](crate::propose::WritePolicy::by)).
///
/// Each of ours can be asked by another one: `Summarize::default().write(ask, view, group)`.
///
/// # Behavior
/// Checked by `conformance::write_program`.
/// - *repeats*: the same view, attempts and answers give the same questions and the same drafts.
/// - *ends*: as for [`SelectProgram`].
/// - *valid*: each draft can become a skill ([`insert_ready`](crate::admit::insert_ready)); another one is refused. The answers
///   that it hands on have one curation at most; more are an error.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *due*: it calls the writer where [`WritePolicy::when`](crate::propose::WritePolicy::when) calls for a skill, with the
///   attempts to write from, the best first.
/// - *admission*: each draft passes the recipe's admission. No draft is no skill.
/// - *errors*: after an error no skill is written from the task, and an event has the reason. A panic, and asking without end,
///   fail the task.
#[async_trait]
pub trait WriteProgram: fmt::Debug + Send + Sync {
    /// Writes skills. A program that makes drafts by itself ends with `Ok(drafts.into())`, one that asks roles with
    /// `Ok(Written::of_roles(replies))`.
    ///
    /// # Errors
    /// The reason why nothing can be written.
    async fn write(&self, ask: &mut Ask, view: &View, group: &WriteGroup<'_>) -> Result<Written>;

    /// The roles that it asks: a session that opens says which of them nobody plays.
    fn roles(&self) -> Vec<Role> {
        Vec::new()
    }

    /// Whether it writes from failed attempts, where none of the group succeeded.
    fn takes_failures(&self) -> bool {
        false
    }

    /// Whether it writes from an attempt without a reward, such as one that no judge could decide, where no other is there.
    fn takes_undecided(&self) -> bool {
        false
    }

    /// The greatest number of attempts that it is given. ARISE D.1: 2.
    fn most_attempts(&self) -> usize {
        2
    }
}

/// Rewards attempts: a reward rule, of ours or of a host's own ([`RewardPolicy::by`](crate::reward::RewardPolicy::by)).
///
/// Each of ours can be asked by another one: `LevelReward::default().reward(attempt)`.
///
/// # Behavior
/// Checked by `conformance::reward_rule`.
/// - *repeats*: the same attempt gives the same reward.
/// - *finite*: the reward is finite; another one is an error.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *verdicts*: it calls the rule once for each attempt with a verdict, also for one of a judge that cannot decide.
/// - *errors*: an error or a panic fails the task: nothing is learned from it.
pub trait RewardRule: fmt::Debug + Send + Sync {
    /// The reward of an attempt; `None` for no reward, and nothing is credited for the attempt then.
    ///
    /// # Errors
    /// The reason why the attempt cannot be rewarded.
    fn reward(&self, attempt: &JudgedAttempt<'_>) -> Result<Option<f64>>;

    /// Whether it reads the process score of attempts: a recipe that does not assess attempts
    /// ([`Recipe::assess`](crate::recipe::Recipe::assess)) is refused.
    fn needs_assessment(&self) -> bool {
        false
    }
}

/// Credits skills from the attempts of a group: a credit rule, of ours or of a host's own
/// ([`CreditPolicy::by`](crate::credit::CreditPolicy::by)).
///
/// # Behavior
/// Checked by `conformance::credit_rule`.
/// - *repeats*: the same attempts give the same credits, in the same order.
/// - *exposed*: a skill is credited only for an attempt that was given it, or for the whole group, where one of its attempts was
///   given it; and at most once for each; anything else is an error.
/// - *uses*: a credit is for at least one attempt, and only one that names the group's first attempt is for more; all credits of a
///   skill together are for no more attempts than get credit for it ([`GroupAttempt::credited`]); another number is an error.
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
    fn credits(&self, group: &[GroupAttempt]) -> Result<Vec<SkillCredit>>;
}

/// Decides whether a skill enters the library: an admission rule of a host's own
/// ([`AdmitPolicy::rules`](crate::admit::AdmitPolicy::rules)). There is none of ours: scans, duplicates and names are the engine's.
///
/// # Behavior
/// Checked by `conformance::admit_rule`.
/// - *repeats*: the same library and skill give the same decision.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *last*: it asks the rule about each skill and each version that it would add, revise or merge, in tasks and in maintenance,
///   after the recipe's own admission. A rollback or a restoration brings back what was let in before, and the rule is not
///   asked about it. Of several rules each is asked, in their order, until one refuses.
/// - *errors*: an error refuses the skill, and its message is the reason; a panic refuses it too.
pub trait AdmitRule: fmt::Debug + Send + Sync {
    /// Lets a skill in.
    ///
    /// # Errors
    /// The reason why the skill is refused.
    fn admit(&self, library: &SkillLibrary, skill: &Skill) -> Result<()>;
}
