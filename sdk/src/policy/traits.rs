//! The traits of policies, and what they are given: the attempts at a task.

use std::{
    fmt,
    num::{NonZeroU32, NonZeroU64},
    sync::Arc,
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    contract::RoleAnswer,
    domain::{
        Assessment, Candidate, LibraryChange, Role, Skill, SkillDraft, SkillRef, Trace, TurnQuery,
        Verdict, gate_policy::SelectorGate,
    },
    error::Result,
    id::AttemptId,
    library::SkillLibrary,
    policy::{Ask, Release, RoleReply, View, named::ScheduledProgram, view::Selected},
    run::report::AttemptReport,
};

/// Chooses the skills for a query: a selector, of ours or of a host's own
/// ([`SelectPolicy::selector`](crate::stations::select::SelectPolicy::selector)).
///
/// A selector may choose among the candidates that the recipe finds and ranks ([`candidates()`](crate::stations::select::candidates())), or
/// among all of [`View::offered`]. Each of ours can be asked by another one:
/// `GatePolicy::default().select(ask, view, query)`.
///
/// ```
/// use std::sync::Arc;
///
/// use journeyman::{
///     domain::{Decision, NothingReason, Selection, TurnQuery},
///     policy::{Ask, Policies, Policy, SelectProgram, View},
///     prelude::*,
///     stations::select::Selected,
///     testing::sample,
/// };
///
/// /// Gives every task the skill of this name.
/// #[derive(Debug)]
/// struct Always(&'static str);
///
/// #[async_trait]
/// impl SelectProgram for Always {
///     async fn select(&self, _: &mut Ask, view: &View, _: &TurnQuery) -> Result<Selected> {
///         let mut offered = view.offered();
///         let selection = match offered.find(|entry| entry.skill.name.as_str() == self.0) {
///             Some(entry) => Selection::unscored(Decision::Inject {
///                 skills: vec![entry.skill.reference()],
///                 explored: false,
///             }),
///             None => Selection::nothing(NothingReason::NoCandidates),
///         };
///         Ok(selection.into())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let policies = Policies::new().with_selector("always", |_| Ok(Arc::new(Always("close-ticket"))));
/// let mut recipe = recipe::standard();
/// recipe.select.selector = Policy::new("always");
/// let options = Options::new("desk", Seed(7)).with_policies(policies);
/// let session = Journeyman::open(Components::own_loop(), recipe, options).await?;
/// session.add(vec![sample::skill("close-ticket")], "version 1").await?;
/// let attempt = session.begin(Task::new("t-1", "Close ticket 17.")).await?;
/// assert!(attempt.skill().is_some());
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// Checked by `testing::conformance::select_program`.
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
///   ([`SelectPer::Turn`](crate::stations::select::SelectPer::Turn)). It does not call it in the warm-up, nor where no skill is offered.
#[async_trait]
pub trait SelectProgram: fmt::Debug + Send + Sync {
    /// Chooses skills for a query. A program that makes one selection ends with `Ok(selection.into())`.
    ///
    /// # Errors
    /// The reason why nothing can be chosen; the selection of the task holds its text.
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected>;

    /// The gate by which it injects a skill or none: a session says where the gate cannot decide with the host's parts, and finds
    /// its threshold. Such a selector asks by `Ask::score_for_gate`, which refuses where the threshold was fitted for another model. `None` for
    /// a selector that asks no scorer.
    fn gate(&self) -> Option<SelectorGate<'_>> {
        None
    }

    /// Whether it compares skills by embeddings: a session without an embedder says so.
    fn needs_embeddings(&self) -> bool {
        false
    }

    /// Whether it chooses among the candidates that the recipe finds. Otherwise a recipe that ranks these
    /// ([`SelectPolicy::rank`](crate::stations::select::SelectPolicy::rank)) is refused.
    fn uses_ranking(&self) -> bool {
        true
    }

    /// Whether it never chooses a skill: a session says so, and the run does not call it.
    fn never_selects(&self) -> bool {
        false
    }
}

/// Looks after the library between tasks: a maintenance program, of ours or of a host's own
/// ([`Maintenance::programs`](crate::recipe::Maintenance::programs)).
///
/// ```
/// use std::{num::NonZeroU64, sync::Arc};
///
/// use journeyman::{
///     domain::LibraryChange,
///     policy::{Ask, MaintenanceProgram, Policies, Policy, View},
///     prelude::*,
///     stations::select::First,
///     testing::sample,
/// };
///
/// /// Puts a skill away that was never of use in three attempts.
/// #[derive(Debug)]
/// struct PutAway;
///
/// #[async_trait]
/// impl MaintenanceProgram for PutAway {
///     async fn maintain(&self, _: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
///         let offered = view.library().entries().filter(|entry| entry.skill.state.is_offered());
///         let useless = offered.filter(|entry| entry.credits >= 3 && entry.utility <= 0.0);
///         let changes = useless.map(|entry| LibraryChange::SetState {
///             skill: entry.skill.id.clone(),
///             state: State::Archived,
///             reason: "it was of no use in three attempts".to_owned(),
///         });
///         Ok(changes.collect())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let policies = Policies::new().with_program("put-away", |_| Ok(Arc::new(PutAway)));
/// let mut recipe = recipe::standard().with_program(NonZeroU64::MIN, Policy::new("put-away"));
/// recipe.select.selector = First.into();
/// let options = Options::new("desk", Seed(7)).with_policies(policies);
/// let session = Journeyman::open(Components::own_loop(), recipe, options).await?;
/// let skill = sample::skill("close-ticket");
/// session.add(vec![skill.clone()], "version 1").await?;
/// for number in 1..=3 {
///     let attempt = session.begin(Task::new(format!("t-{number}"), "Close a ticket.")).await?;
///     attempt.finish(Outcome::failure()).await?;
/// }
/// let library = session.library().await?;
/// assert_eq!(library.get(&skill.id).map(|entry| entry.skill.state), Some(State::Archived));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// Checked by `testing::conformance::maintenance_program`.
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
///   and an event has the reason ([`EventKind::MaintenanceFailed`](crate::run::report::EventKind::MaintenanceFailed)). A
///   permitted change without effect, such as one that another writer overtook, is passed over with an event.
#[async_trait]
pub trait MaintenanceProgram: fmt::Debug + Send + Sync {
    /// Decides on changes.
    ///
    /// # Errors
    /// Why it cannot.
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>>;

    /// The same program in a recipe with this selector, for one that asks what the selector would choose; `None` for all others.
    fn beside(&self, _selector: &Arc<dyn SelectProgram>) -> Option<Arc<dyn MaintenanceProgram>> {
        None
    }

    /// The roles that it asks: a session that opens says which of them nobody plays.
    fn roles(&self) -> Vec<Role> {
        Vec::new()
    }

    /// Whether it records what it found out: results of test cases, information gains, prototypes and their anchors, attempts
    /// that are dealt with.
    fn records(&self) -> bool {
        false
    }

    /// How it releases skills on trial, if it does. The first program of a recipe that does so says how; without one the run releases
    /// them by live attempts, after each task.
    fn release(&self) -> Option<Release> {
        None
    }

    /// Whether it writes skills by itself, so that a recipe without a writer learns all the same.
    fn writes(&self) -> bool {
        false
    }

    /// Number of kept attempts ([`TierPolicy::traces`](crate::domain::TierPolicy::traces)) that it needs, in a run with so many attempts
    /// at a task; a recipe that keeps fewer is refused.
    fn kept_attempts(&self, _group: NonZeroU32) -> u64 {
        0
    }

    /// Number of tasks between two runs, where the recipe says none
    /// ([`ScheduledProgram::every`](crate::recipe::ScheduledProgram::every)). HiSME: 5.
    fn every(&self) -> NonZeroU64 {
        const { NonZeroU64::new(5).expect("not 0") }
    }

    /// What it did, for the library's history.
    fn reason(&self) -> &'static str {
        "a program of the host's own looked after the library"
    }
}

/// Writes skills from the attempts at a task: a writer, of ours or of a host's own
/// ([`WritePolicy::by`](crate::stations::propose::WritePolicy::by)).
///
/// Each of ours can be asked by another one: `Summarize::default().write(ask, view, group)`.
///
/// ```
/// use std::sync::Arc;
///
/// use journeyman::{
///     domain::SkillDraft,
///     policy::{Ask, Policies, Policy, View, WriteGroup, WriteProgram, Written},
///     prelude::*,
/// };
/// use serde_json::json;
///
/// /// Writes down what the world refused, without a model.
/// #[derive(Debug)]
/// struct Refusals;
///
/// #[async_trait]
/// impl WriteProgram for Refusals {
///     async fn write(&self, _: &mut Ask, _: &View, group: &WriteGroup<'_>) -> Result<Written> {
///         let steps = group.attempts.iter().flat_map(|attempt| &attempt.trajectory.steps);
///         let refused = steps.filter(|step| step.result.is_error);
///         let body: Vec<&str> = refused.map(|step| step.result.text.as_str()).collect();
///         let drafts = match body.is_empty() {
///             true => Vec::new(),
///             false => vec![SkillDraft::new("refusals", "What the desk refuses.", body.join("\n"))],
///         };
///         Ok(drafts.into())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let policies = Policies::new().with_writer("refusals", |_| Ok(Arc::new(Refusals)));
/// let mut recipe = recipe::standard();
/// recipe.write.by = Policy::new("refusals");
/// let options = Options::new("desk", Seed(7)).with_policies(policies);
/// let session = Journeyman::open(Components::own_loop(), recipe, options).await?;
/// let mut attempt = session.begin(Task::new("t-1", "Close ticket 17.")).await?;
/// let refused = StepResult::refused("Verify the customer first.", Source::trusted("desk"));
/// attempt.record(Step::new(Action::call("close", json!({})), refused));
/// attempt.finish(Outcome::success()).await?;
/// let library = session.library().await?;
/// let entry = library.entries().next().expect("a skill was written");
/// assert_eq!(entry.skill.body, "Verify the customer first.");
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// Checked by `testing::conformance::write_program`.
/// - *repeats*: the same view, attempts and answers give the same questions and the same drafts.
/// - *ends*: as for [`SelectProgram`].
/// - *valid*: each draft can become a skill ([`insert_ready`](crate::stations::admit::insert_ready)); another one is refused. The answers
///   that it hands on have one curation at most; more are an error.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *due*: it calls the writer where [`WritePolicy::when`](crate::stations::propose::WritePolicy::when) calls for a skill, with the
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

/// Assesses judged attempts beside their verdict: an assessor, ours or a host's own ([`Recipe::assess`](crate::recipe::Recipe::assess)).
///
/// Ours can be asked by another one: `AssessPolicy::default().assess(ask, view, attempt)`.
///
/// # Behavior
/// Checked by `testing::conformance::assess_program`.
/// - *repeats*: the same view, attempt and answers give the same questions and the same assessment.
/// - *ends*: as for [`SelectProgram`].
/// - *valid*: an assessment names the attempt that the assessor was given, and its task, and keeps the rules of
///   [`LibraryChange::validate`]: its subgoals follow each other from step 0 without a gap. A process score is in [0, 1]. Anything
///   else is an error.
///
/// # What the run does
/// Checked by the tests of the runtime.
/// - *judged*: it calls the assessor in learning alone, once for each attempt with a verdict, for all attempts at a task at once,
///   before it rewards them. The library keeps the assessments, and the reports of the attempts have the process scores.
/// - *errors*: after an error the attempt has no assessment, the task goes on, and an event has the reason. A panic, and asking
///   without end, fail the task.
#[async_trait]
pub trait AssessProgram: fmt::Debug + Send + Sync {
    /// Assesses an attempt, by the library at the start of its task. `None` where it cannot be assessed, such as one without a step.
    ///
    /// # Errors
    /// The reason why it is not assessed.
    async fn assess(&self, ask: &mut Ask, view: &View, attempt: &Trace)
    -> Result<Option<Assessed>>;

    /// The roles that it asks: a session that opens says which of them nobody plays.
    fn roles(&self) -> Vec<Role> {
        Vec::new()
    }

    /// Whether it compares what it assesses by embeddings: a session without an embedder says so.
    fn needs_embeddings(&self) -> bool {
        false
    }

    /// The maintenance program that looks after what it learns, where tasks run in batches of so many
    /// ([`Recipe::batch`](crate::recipe::Recipe::batch)). It runs after the programs of the recipe; a recipe that has one of its name is
    /// refused.
    fn upkeep(&self, _batch: NonZeroU64) -> Option<ScheduledProgram> {
        None
    }

    /// Number of kept attempts ([`TierPolicy::traces`](crate::domain::TierPolicy::traces)) that it needs; a recipe that keeps fewer is
    /// refused.
    fn kept_attempts(&self) -> u64 {
        0
    }
}

/// Rewards attempts: a reward rule, of ours or of a host's own ([`RewardPolicy::by`](crate::stations::reward::RewardPolicy::by)).
///
/// Each of ours can be asked by another one: `LevelReward::default().reward(attempt)`.
///
/// ```
/// use journeyman::{
///     Result,
///     domain::Verdict,
///     policy::{JudgedAttempt, RewardRule},
///     testing::sample,
/// };
///
/// /// Rewards success, less a price for each step.
/// #[derive(Debug)]
/// struct Priced(f64);
///
/// impl RewardRule for Priced {
///     fn reward(&self, attempt: &JudgedAttempt<'_>) -> Result<Option<f64>> {
///         let price = self.0 * f64::from(attempt.report.steps);
///         let done = attempt.verdict.success();
///         Ok(done.map(|done| f64::from(u8::from(done)) - price))
///     }
/// }
///
/// let (report, done) = (sample::attempt_report("a-1", &[], true), Verdict::binary(true));
/// let attempt = JudgedAttempt::new(&report, &done); // of one step
/// assert_eq!(Priced(0.25).reward(&attempt)?, Some(0.75));
/// # Ok::<(), journeyman::Error>(())
/// ```
///
/// # Behavior
/// Checked by `testing::conformance::reward_rule`.
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
/// ([`CreditPolicy::by`](crate::stations::credit::CreditPolicy::by)).
///
/// ```
/// use journeyman::{
///     Result,
///     policy::{CreditRule, GroupAttempt, SkillCredit},
///     testing::sample,
/// };
///
/// /// Credits every skill of an attempt with the whole reward.
/// #[derive(Debug)]
/// struct Whole;
///
/// impl CreditRule for Whole {
///     fn credits(&self, group: &[GroupAttempt]) -> Result<Vec<SkillCredit>> {
///         let mut credits = Vec::new();
///         for one in group {
///             let Some(reward) = one.report.reward else {
///                 continue;
///             };
///             let attempt = &one.report.attempt;
///             let skills = one.credited.iter();
///             credits.extend(skills.map(|skill| SkillCredit::new(skill.clone(), attempt.clone(), reward)));
///         }
///         Ok(credits)
///     }
/// }
///
/// let report = sample::attempt_report("a-1", &[sample::skill("close-ticket")], true);
/// let credits = Whole.credits(&[GroupAttempt::new(report)])?;
/// assert_eq!((credits.len(), credits[0].reward), (1, 1.0));
/// # Ok::<(), journeyman::Error>(())
/// ```
///
/// # Behavior
/// Checked by `testing::conformance::credit_rule`.
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

    /// In how many orders skills that were injected together are looked at to find out what each brought
    /// ([`GroupAttempt::contributed`]); `None` for a rule that does not ask, and then no attempt is made again.
    fn orders(&self) -> Option<NonZeroU32> {
        None
    }
}

/// Decides whether a skill enters the library: an admission rule of a host's own
/// ([`AdmitPolicy::rules`](crate::stations::admit::AdmitPolicy::rules)). There is none of ours: scans, duplicates and names are the engine's.
///
/// ```
/// use journeyman::{
///     Error, Result,
///     domain::Skill,
///     library::SkillLibrary,
///     policy::AdmitRule,
///     testing::sample,
/// };
///
/// /// Lets in nothing that speaks of passwords.
/// #[derive(Debug)]
/// struct NoPasswords;
///
/// impl AdmitRule for NoPasswords {
///     fn admit(&self, _: &SkillLibrary, skill: &Skill) -> Result<()> {
///         match skill.body.contains("password") {
///             false => Ok(()),
///             true => Err(Error::invalid("NoPasswords::admit", "the skill speaks of passwords")),
///         }
///     }
/// }
///
/// let library = SkillLibrary::new();
/// assert!(NoPasswords.admit(&library, &sample::skill("close-ticket")).is_ok());
/// assert!(NoPasswords.admit(&library, &sample::skill("share a password")).is_err());
/// ```
///
/// # Behavior
/// Checked by `testing::conformance::admit_rule`.
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

// The attempts at a task as writers, reward rules and credit rules get them, and the results of these policies.

/// The attempts that a writer writes from.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct WriteGroup<'a> {
    /// The attempts, the best first; at least one in a run.
    pub attempts: &'a [Trace],
    /// The reports of these attempts, in the same order.
    pub reports: &'a [AttemptReport],
    /// The candidates that the task's selection found, the best first.
    pub candidates: &'a [Candidate],
}

impl<'a> WriteGroup<'a> {
    /// Attempts, the best first, with their reports in the same order, and the candidates of the selection.
    pub fn new(
        attempts: &'a [Trace],
        reports: &'a [AttemptReport],
        candidates: &'a [Candidate],
    ) -> Self {
        Self {
            attempts,
            reports,
            candidates,
        }
    }
}

/// The result of a writer: drafts, and answers of roles that hold drafts or a curator's calls.
///
/// Drafts that a writer made by itself come from a list of them, `Ok(drafts.into())`. The answers of [`Ask::roles`] are handed on
/// as they are, so that the report tells which of them are fallbacks or could not be read; answers of roles that write no skill
/// are left out.
///
/// [`Ask::roles`]: crate::policy::Ask::roles
///
/// ```
/// use journeyman::policy::Written;
///
/// assert_eq!(Written::from(Vec::new()).drafts().count(), 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    replies: Vec<RoleReply>,
    /// The writer's own drafts.
    drafts: Vec<SkillDraft>,
}

impl Written {
    /// The answers of roles that write skills.
    pub fn of_roles(replies: Vec<RoleReply>) -> Self {
        Self {
            replies,
            drafts: Vec::new(),
        }
    }

    /// All drafts: those in the answers of roles, then the writer's own.
    pub fn drafts(&self) -> impl Iterator<Item = &SkillDraft> {
        let played = self.replies.iter();
        let played = played.filter_map(|one| one.reply.as_ref().ok()?.as_ref());
        let of_roles = played.filter_map(|played| match &played.answer {
            RoleAnswer::Draft(draft) => Some(draft.as_ref()),
            _ => None,
        });
        of_roles.chain(&self.drafts)
    }

    /// The answers of roles.
    pub fn replies(&self) -> &[RoleReply] {
        &self.replies
    }

    /// The answers of roles, and the writer's own drafts.
    pub(crate) fn into_parts(self) -> (Vec<RoleReply>, Vec<SkillDraft>) {
        (self.replies, self.drafts)
    }
}

impl From<Vec<SkillDraft>> for Written {
    fn from(drafts: Vec<SkillDraft>) -> Self {
        Self {
            replies: Vec::new(),
            drafts,
        }
    }
}

/// The result of an assessor: an attempt's assessment and its process score.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assessed {
    /// The assessment; the library keeps it.
    pub assessment: Assessment,
    /// The process score, in [0, 1], by which an attempt can be rewarded ([`AttemptReport::process`]); `None` for none.
    pub process: Option<f64>,
}

impl Assessed {
    /// An assessment with its process score.
    pub fn new(assessment: Assessment, process: Option<f64>) -> Self {
        Self {
            assessment,
            process,
        }
    }
}

/// An attempt that a reward rule rewards.
///
/// ```
/// use journeyman::{
///     domain::Verdict,
///     policy::{JudgedAttempt, RewardRule},
///     stations::reward::LevelReward,
///     testing::sample,
/// };
///
/// let skill = sample::skill("close-ticket");
/// let (report, verdict) = (sample::attempt_report("a-1", &[skill], true), Verdict::binary(true));
/// let attempt = JudgedAttempt::new(&report, &verdict);
/// assert!(attempt.used);
/// assert_eq!(LevelReward::default().reward(&attempt)?, Some(2.0));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct JudgedAttempt<'a> {
    /// The attempt's report, with its process score where the recipe assesses attempts, and without a reward.
    pub report: &'a AttemptReport,
    /// The verdict on it.
    pub verdict: &'a Verdict,
    /// Whether the run is in its warm-up, in which no skill is selected (ARISE 3.2).
    pub warming_up: bool,
    /// Whether the attempt counts as one that used a skill ([`RewardPolicy::skill_use`](crate::stations::reward::RewardPolicy::skill_use)).
    pub used: bool,
}

impl<'a> JudgedAttempt<'a> {
    /// An attempt after the warm-up, which used a skill if one was injected.
    pub fn new(report: &'a AttemptReport, verdict: &'a Verdict) -> Self {
        Self {
            report,
            verdict,
            warming_up: false,
            used: !report.injected.is_empty(),
        }
    }
}

/// An attempt of a group, for a credit rule.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupAttempt {
    /// The attempt's report, with its reward; without a verdict there is none.
    pub report: AttemptReport,
    /// The injected skills that get credit for the attempt by what the agent said of their use
    /// ([`CreditPolicy::used_when`](crate::stations::credit::CreditPolicy::used_when)).
    pub credited: Vec<SkillRef>,
    /// What each injected skill brought to the task's score, where the rule asks for it ([`CreditRule::orders`]) and it is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contributed: Vec<(SkillRef, f64)>,
}

impl GroupAttempt {
    /// An attempt for which every injected skill gets credit.
    pub fn new(report: AttemptReport) -> Self {
        Self {
            credited: report.injected.clone(),
            contributed: Vec::new(),
            report,
        }
    }
}

/// The credit of a skill for an attempt, or for a whole group of attempts.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillCredit {
    /// The skill, in the version that was injected.
    pub skill: SkillRef,
    /// The attempt; for a credit for the whole group the group's first attempt, whether or not it was given the skill.
    pub attempt: AttemptId,
    /// The reward that the skill is credited with, finite.
    pub reward: f64,
    /// Number of attempts that the credit is for: 1, or for a credit for the whole group up to the number of attempts that get credit
    /// for the skill ([`GroupAttempt::credited`]). All credits of a skill together are for no more.
    pub uses: u64,
}

impl SkillCredit {
    /// A credit for one attempt.
    pub fn new(skill: SkillRef, attempt: AttemptId, reward: f64) -> Self {
        Self {
            skill,
            attempt,
            reward,
            uses: 1,
        }
    }
}

#[cfg(test)]
mod group_tests {
    use super::*;
    use crate::{
        contract::RoleTask,
        domain::{Kind, Scope},
        policy::Played,
    };

    fn draft(title: &str) -> SkillDraft {
        SkillDraft {
            title: title.to_owned(),
            description: "How to.".to_owned(),
            kind: Kind::Workflow,
            scope: Scope::General,
            trigger: None,
            body: "Do it.".to_owned(),
            metadata: Default::default(),
        }
    }

    #[test]
    fn the_drafts_of_roles_come_before_the_writer_s_own() {
        let task = RoleTask::Summarize {
            attempts: Vec::new(),
            shown_chars: None,
            keeps_reasoning: false,
        };
        let answer = RoleAnswer::Draft(Box::new(draft("one")));
        let reply = RoleReply {
            task,
            reply: Ok(Some(Played::of(answer))),
        };
        let none = RoleReply {
            reply: Ok(None),
            ..reply.clone()
        };
        let mut written = Written::of_roles(vec![none, reply]);
        written.drafts.push(draft("two"));
        let titles: Vec<&str> = written.drafts().map(|one| one.title.as_str()).collect();
        assert_eq!(titles, ["one", "two"]);
        assert_eq!(written.replies().len(), 2);
    }
}
