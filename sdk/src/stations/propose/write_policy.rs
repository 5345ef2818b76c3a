//! When a skill is written from the attempts at a task, from which of them, and by which of our writers (ARISE D.1, C.3; HiSME 3.2;
//! SkillOS).

use std::{
    collections::BTreeSet,
    num::{NonZeroU32, NonZeroUsize},
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    contract::RoleTask,
    domain::{AttemptNote, LibraryChange, Mode, Role, Skill, SkillRef, Task, Verdict},
    error::{Error, Result},
    id::sha256_hex,
    policy::{
        Ask, Context, Policy, PolicyOptions, RoleReply, Rollout, View, WriteGroup, WriteProgram,
        Written,
    },
    run::report::{AttemptReport, EventKind},
    stations::reward,
    text::content_words,
};

/// When a skill is written from the attempts at a task.
///
/// ```
/// use journeyman::{recipe, stations::propose::WriteWhen};
///
/// let mut recipe = recipe::standard();
/// assert_eq!(recipe.write.when, WriteWhen::Below(0.75));
/// recipe.write.when = WriteWhen::Always;
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteWhen {
    /// Never: the library stays as it is (ARISE Table 2, ablation c).
    Never,
    /// Whenever there are attempts to write from (ARISE).
    Always,
    /// When the mean verdict score is below this bound, in (0, 1]: if the agent already does well with the skills that it
    /// was given, there is nothing to learn. Ours.
    ///
    /// The mean of a group of [`WINDOW`](crate::stations::propose::WINDOW) attempts or more is the group's own. A smaller group, such as
    /// a single attempt in a host's own loop, is averaged with the latest attempts at similar tasks; then no skill is written
    /// from a success with a skill and without a refusal, which shows only what the library has. In both an attempt with a
    /// refused action counts as [`WritePolicy::recovered`] says.
    Below(f64),
}

/// How an attempt in which the world refused an action counts in the mean of [`WriteWhen::Below`], whatever its verdict, in
/// [`learn`](crate::run::Journeyman::learn) and [`begin`](crate::run::Journeyman::begin) alike.
///
/// ```
/// use journeyman::stations::propose::Recovered;
///
/// // A task that was done, after two refusals.
/// assert_eq!(Recovered::AsFailed.level(1.0, 2), 0.0);
/// assert_eq!(Recovered::AsJudged.level(1.0, 2), 1.0);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovered {
    /// As 0: what it was refused is what a skill spares the next attempt. Ours.
    #[default]
    AsFailed,
    /// As its verdict says.
    AsJudged,
}

impl Recovered {
    /// The level of an attempt, in [0, 1], by its score and the number of its refused actions.
    pub fn level(self, score: f64, refused: u32) -> f64 {
        match self {
            Self::AsFailed if refused > 0 => 0.0,
            _ => score,
        }
    }
}

/// How skills are written from single tasks. Each recipe has one, which a host changes.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::{
///     stations::propose::{Extract, Recovered, WriteWhen},
///     recipe,
/// };
///
/// let mut recipe = recipe::standard();
/// recipe.write.when = WriteWhen::Always;
/// recipe.write.recovered = Recovered::AsFailed;
/// recipe.write.by = Extract::new(NonZeroU32::MIN).into();
/// recipe.validate()?;
/// recipe.write.when = WriteWhen::Below(1.5);
/// assert!(recipe.validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WritePolicy {
    /// When a skill is written.
    pub when: WriteWhen,
    /// How an attempt with a refused action counts, where `when` looks at scores.
    #[serde(default)]
    pub recovered: Recovered,
    /// The writer: one of ours ([`Summarize`], [`Extract`], [`Curate`]), or a host's own by the name under which it is registered
    /// ([`WriteProgram`](crate::policy::WriteProgram)).
    #[serde(default = "summarize")]
    pub by: Policy,
}

fn summarize() -> Policy {
    Summarize::default().into()
}

impl WritePolicy {
    /// Checks every number, and the options of a writer of ours.
    ///
    /// # Errors
    /// `Invalid`, naming the field or the policy.
    pub fn validate(&self) -> Result<()> {
        self.by.check::<Summarize>()?;
        self.by.check::<Extract>()?;
        self.by.check::<Curate>()?;
        let invalid = |field: &'static str, rule: &str| {
            Err(Error::invalid("Recipe::validate", rule).with("field", field))
        };
        match self.when {
            WriteWhen::Below(bound) if !(bound > 0.0 && bound <= 1.0) => {
                invalid("write.when", "the bound must be in (0, 1]")
            }
            _ => Ok(()),
        }
    }
}

/// Writes one skill from the successful attempts of the group (ARISE D.1): the writer `summarize`.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use journeyman::{stations::propose::Summarize, recipe};
///
/// let mut recipe = recipe::standard();
/// let mut summarize = Summarize::default();
/// summarize.shown_chars = NonZeroUsize::new(800);
/// recipe.write.by = summarize.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Summarize {
    /// How much of each attempt the role is shown, in characters; at most what the role itself shows (its `shown-chars`). The
    /// paper, and `recipe::arise`: 400. Ours: `None`, as much as the role shows, since an attempt by
    /// native tool calls takes more, and what was refused would be cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_chars: Option<NonZeroUsize>,
    /// Whether an attempt without a call becomes a skill, too, where no answer can be read: the beginning of what the agent wrote, as
    /// the paper has it for mathematics ("Solve by: ..."). It holds the values of its task. Ours: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keeps_reasoning: bool,
}

/// Writes several candidates from the best attempt (HiSME 3.2): the writer `extract`.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::{stations::propose::Extract, recipe};
///
/// let mut recipe = recipe::standard();
/// recipe.write.by = Extract::new(NonZeroU32::MIN).into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// Number of candidates. The paper: 3.
    pub candidates: NonZeroU32,
    /// Whether they are extracted from a failed attempt too, where none of the group succeeded. The paper: yes. Ours: no,
    /// since a failed attempt has no test case that the skill could pass.
    pub failures: bool,
}

impl Extract {
    /// So many candidates, and none from failed attempts.
    pub const fn new(candidates: NonZeroU32) -> Self {
        Self {
            candidates,
            failures: false,
        }
    }
}

/// Has a curator look after the library (SkillOS, architecture): the writer `curate`. After each task the curator is shown an
/// attempt, the judge's verdict on it and the skills that were retrieved, and inserts, updates and deletes skills
/// ([`CurateCall`](crate::stations::propose::CurateCall)). It is asked about failed attempts too, and about those that no judge could
/// decide. Of several attempts it is shown the best. Every call is checked against the library as the calls before it leave it,
/// when it is the task's turn to change the library; [`CurationReport`](crate::run::report::CurationReport) has the results.
///
/// In the paper the executor judges its own attempt; a host that wants this gives a `agent::role::ModelJudge` of the executor's
/// model, alone or beside its own judge. Departures: a deleted skill is archived, so that nothing is lost.
/// Text of an untrusted source changes no skill that is free of it, and a new skill written from it is quarantined.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::{stations::propose::Curate, recipe};
///
/// let mut recipe = recipe::skillos();
/// recipe.write.by = Curate::new(NonZeroU32::new(5).expect("not 0")).into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curate {
    /// Greatest number of retrieved skills that the curator is shown: the selection's candidates, the best first; where it
    /// has none, such as that of a host's own selector, the skills that were injected. Not published; here 2 in
    /// `recipe::skillos`.
    pub skills: NonZeroU32,
}

impl Curate {
    /// A curator that is shown at most so many retrieved skills.
    pub fn new(skills: NonZeroU32) -> Self {
        Self { skills }
    }
}

impl PolicyOptions for Summarize {
    const NAME: &'static str = "summarize";
}

impl PolicyOptions for Extract {
    const NAME: &'static str = "extract";
}

impl PolicyOptions for Curate {
    const NAME: &'static str = "curate";
}

#[async_trait]
impl WriteProgram for Summarize {
    async fn write(&self, ask: &mut Ask, _: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let summarize = RoleTask::Summarize {
            attempts: group.attempts.to_vec(),
            shown_chars: self.shown_chars,
            keeps_reasoning: self.keeps_reasoning,
        };
        Ok(Written::of_roles(ask.roles(vec![summarize]).await))
    }

    fn roles(&self) -> Vec<Role> {
        vec![Role::Summarize]
    }
}

#[async_trait]
impl WriteProgram for Extract {
    async fn write(&self, ask: &mut Ask, view: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let Some(attempt) = group.attempts.first() else {
            return Ok(Written::default());
        };
        let extract = |candidate| RoleTask::Extract {
            attempt: Box::new(attempt.clone()),
            candidate,
            rules: view.library().rules(Role::Extract).to_vec(),
        };
        let tasks = (0..self.candidates.get()).map(extract).collect();
        Ok(Written::of_roles(ask.roles(tasks).await))
    }

    fn roles(&self) -> Vec<Role> {
        vec![Role::Extract]
    }

    fn takes_failures(&self) -> bool {
        self.failures
    }
}

#[async_trait]
impl WriteProgram for Curate {
    async fn write(&self, ask: &mut Ask, view: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let best = group.attempts.first().zip(group.reports.first());
        let Some((attempt, report)) = best else {
            return Ok(Written::default());
        };
        let curate = RoleTask::Curate {
            correct: correct(report),
            skills: self.retrieved(view, group, report),
            attempt: Box::new(attempt.clone()),
        };
        Ok(Written::of_roles(ask.roles(vec![curate]).await))
    }

    fn roles(&self) -> Vec<Role> {
        vec![Role::Curate]
    }

    fn takes_failures(&self) -> bool {
        true
    }

    fn takes_undecided(&self) -> bool {
        true
    }

    fn most_attempts(&self) -> usize {
        1
    }
}

impl Curate {
    /// The skills that were retrieved for an attempt's task, the best first: the selection's candidates; where there are none, the
    /// injected skills.
    fn retrieved(&self, view: &View, group: &WriteGroup<'_>, report: &AttemptReport) -> Vec<Skill> {
        let found: Vec<&SkillRef> = match group.candidates {
            [] => report.injected.iter().collect(),
            found => found.iter().map(|candidate| &candidate.skill).collect(),
        };
        let entries = found
            .into_iter()
            .filter_map(|skill| view.library().get(&skill.id));
        let skills = entries.map(|entry| entry.skill.clone());
        skills.take(self.skills.get() as usize).collect()
    }
}

/// Whether the attempt did its task: the agent's own word where a judge gives it beside the verdict ([`Verdict::SELF_JUDGED`]), else the verdict.
fn correct(report: &AttemptReport) -> Option<bool> {
    let own = report.parts.get(Verdict::SELF_JUDGED);
    own.map(|own| *own >= 0.5).or(report.success)
}

// Whose answers are skills.

/// The answers of roles that write skills.
pub(crate) fn drafts(replies: &[RoleReply]) -> impl Iterator<Item = &RoleReply> {
    replies.iter().filter(|one| writes(one.task.role()))
}

/// Whether a role's answers are a writer's: drafts of skills, or a curator's calls.
pub(crate) fn is_writer(role: Role) -> bool {
    role == Role::Curate || writes(role)
}

/// Whether a role's answers are drafts of skills.
fn writes(role: Role) -> bool {
    matches!(
        role,
        Role::Summarize | Role::Extract | Role::Refactor | Role::Refine
    )
}

/// The curator's answer, if one was asked.
pub(crate) fn curation(replies: &[RoleReply]) -> Option<&RoleReply> {
    let mut replies = replies.iter();
    replies.find(|one| one.task.role() == Role::Curate)
}

// Which attempts a skill is written from.

/// Why no skill is written.
pub(crate) struct Undue {
    reason: String,
    /// Whether it is that the agent does too well for the recipe's bound.
    above: bool,
    /// Whether it is that, and each attempt had the full score and no refusal.
    flawless: bool,
}

impl Undue {
    pub(crate) fn event(self) -> EventKind {
        EventKind::NotDue {
            reason: self.reason,
            above: self.above,
            flawless: self.flawless,
        }
    }

    fn of(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            above: false,
            flawless: false,
        }
    }
}

/// The places of the rollouts that a skill is written from, best first; else the reason why none is written.
pub(crate) fn sources(
    context: &Context<'_>,
    (policy, writer): (&WritePolicy, &dyn WriteProgram),
    task: &Task,
    rollouts: &[Rollout<'_>],
) -> Result<Vec<usize>, Undue> {
    let judged = judged(rollouts);
    match policy.when {
        WriteWhen::Never => return Err(Undue::of("the recipe writes none")),
        WriteWhen::Always => {}
        WriteWhen::Below(bound) => falls_short(context, policy, (task, rollouts), bound)?,
    }
    let rewards: Vec<f64> = judged.iter().map(|(_, reward, _)| *reward).collect();
    let successes: Vec<bool> = judged
        .iter()
        .map(|(rollout, ..)| rollout.report.success == Some(true))
        .collect();
    let mut best = reward::positive_traces(&rewards, &successes);
    if best.is_empty() && writer.takes_failures() {
        best = (0..judged.len()).collect();
    }
    // Of equal rewards the one with the greater verdict score is preferred.
    best.sort_by(|a, b| {
        let score = |i: &usize| judged[*i].0.report.score;
        rewards[*b]
            .total_cmp(&rewards[*a])
            .then(score(b).total_cmp(&score(a)))
            .then(a.cmp(b))
    });
    let mut best: Vec<usize> = best.into_iter().map(|i| judged[i].2).collect();
    if best.is_empty() && writer.takes_undecided() {
        let mut made = (0..).zip(rollouts);
        let undecided = made.find(|(_, one)| one.trajectory.is_some());
        best.extend(undecided.map(|(place, _)| place));
    }
    best.truncate(writer.most_attempts());
    match best.is_empty() {
        true => Err(Undue::of(
            "no attempt was done that it could be written from",
        )),
        false => Ok(best),
    }
}

/// The rollouts that have a trajectory and a reward, each with its reward and its place.
fn judged<'a, 'b>(rollouts: &'b [Rollout<'a>]) -> Vec<(&'b Rollout<'a>, f64, usize)> {
    let made = (0..)
        .zip(rollouts)
        .filter(|(_, one)| one.trajectory.is_some());
    made.filter_map(|(place, one)| Some((one, one.report.reward?, place)))
        .collect()
}

/// `Ok` if the agent's mean score is below the bound; else the reason why it is not. For a group of [`WINDOW`] attempts or more
/// it is the group's mean. A smaller group is averaged with the latest attempts at similar tasks, and must have something new:
/// a success with a skill and without a refusal shows only what the library already has. In both an attempt with a refusal
/// counts as the policy says.
fn falls_short(
    context: &Context<'_>,
    policy: &WritePolicy,
    (task, rollouts): (&Task, &[Rollout<'_>]),
    bound: f64,
) -> Result<(), Undue> {
    let counted = match policy.recovered {
        Recovered::AsFailed => ", where one with a refusal counts as 0",
        Recovered::AsJudged => "",
    };
    let above = |reason: String| Undue {
        reason: format!("{reason}{counted}, and the recipe writes below {bound}"),
        above: true,
        flawless: rollouts.iter().all(is_flawless),
    };
    if context.group as usize >= WINDOW {
        let judged = judged(rollouts);
        if judged.is_empty() {
            return Err(Undue::of("no attempt has a verdict"));
        }
        let level = |one: &Rollout<'_>| policy.recovered.level(one.report.score, one.refused());
        let sum: f64 = judged.iter().map(|(one, ..)| level(one)).sum();
        let mean = sum / (judged.len().max(1) as f64);
        return match mean < bound {
            true => Ok(()),
            false => Err(above(format!(
                "the mean score of its {} attempts is {mean:.2}",
                judged.len()
            ))),
        };
    }
    let done = |one: &Rollout<'_>| one.report.success == Some(true);
    let is_new = |one: &Rollout<'_>| one.report.injected.is_empty() || one.refused() > 0;
    if !rollouts.iter().any(done) {
        return Err(Undue::of(
            "no attempt was done that it could be written from",
        ));
    }
    if !rollouts.iter().any(|one| done(one) && is_new(one)) {
        return Err(Undue::of(
            "it was done with a skill and without a refusal, so there is nothing new",
        ));
    }
    let own = own_notes(task, rollouts);
    match level_at_like_tasks(task, &own, context.library.notes(), policy.recovered) {
        Some(level) if level < bound => Ok(()),
        Some(level) => Err(above(format!(
            "of the latest {WINDOW} attempts at like tasks the mean score is {level:.2}"
        ))),
        None => Err(Undue::of("no attempt has a verdict")),
    }
}

/// Whether an attempt was done with the full score and without a refusal.
fn is_flawless(one: &Rollout<'_>) -> bool {
    one.report.success == Some(true) && one.report.score >= 1.0 && one.refused() == 0
}

/// Notes of a small group's attempts for the library, if the recipe's writing rule averages over earlier attempts.
pub(crate) fn notes(
    context: &Context<'_>,
    policy: &WritePolicy,
    task: &Task,
    rollouts: &[Rollout<'_>],
) -> Vec<LibraryChange> {
    let looks_back = matches!(policy.when, WriteWhen::Below(_));
    let small = (context.group as usize) < WINDOW;
    if context.mode != Mode::Train || !looks_back || !small {
        return Vec::new();
    }
    let notes = own_notes(task, rollouts).into_iter();
    notes.map(LibraryChange::Note).collect()
}

fn own_notes(task: &Task, rollouts: &[Rollout<'_>]) -> Vec<AttemptNote> {
    let words = note_words(task);
    let judged = judged(rollouts).into_iter();
    judged
        .map(|(rollout, ..)| AttemptNote {
            attempt: rollout.report.attempt.clone(),
            category: task.category.clone(),
            words: words.clone(),
            score: rollout.report.score,
            refused: rollout.refused(),
        })
        .collect()
}

// How well the agent does at tasks like the one at hand, by which `WriteWhen::Below` decides.

/// Number of attempts whose mean says how well the agent does: a group of this size or more is averaged alone, a smaller one
/// together with the latest attempts at similar tasks before it. The size of `standard`'s groups.
pub const WINDOW: usize = 4;

/// Minimum Jaccard index of the words of two similar instructions. An estimate, not measured on other hosts' tasks; a host
/// that groups its tasks by [`Task::category`] does not depend on it.
const MIN_JACCARD: f64 = 0.5;

/// Digests of the content words of a task's instruction as an [`AttemptNote`] keeps them: sorted, each once.
pub fn note_words(task: &Task) -> Vec<u16> {
    let words = content_words(&task.instruction).into_iter();
    let digests: BTreeSet<u16> = words.map(|word| digest(&word)).collect();
    digests.into_iter().take(AttemptNote::WORDS).collect()
}

/// The first 16 bits of a word's SHA-256.
fn digest(word: &str) -> u16 {
    let hex = sha256_hex(word);
    u16::from_str_radix(&hex[..4], 16).unwrap_or_default()
}

/// The mean level of a small group's attempts and of the latest attempts at similar tasks before it, [`WINDOW`] in all; `None`
/// for no attempt. Tasks are similar if their categories are equal or, if one of them has no category, if the Jaccard index of
/// their content words is at least 0.5.
pub fn level_at_like_tasks<'a>(
    task: &Task,
    own: &[AttemptNote],
    before: impl DoubleEndedIterator<Item = &'a AttemptNote>,
    recovered: Recovered,
) -> Option<f64> {
    let words = note_words(task);
    let is_similar = |note: &&AttemptNote| match (&note.category, &task.category) {
        (Some(one), Some(other)) => one == other,
        _ => jaccard(&note.words, &words) >= MIN_JACCARD,
    };
    let level = |note: &AttemptNote| recovered.level(note.score, note.refused);
    let own_levels = own.iter().map(level);
    let room = WINDOW.saturating_sub(own.len());
    let earlier = before.rev().filter(is_similar).take(room);
    let levels: Vec<f64> = own_levels.chain(earlier.map(level)).collect();
    let count = levels.len();
    (count > 0).then(|| levels.iter().sum::<f64>() / count as f64)
}

/// The Jaccard index of two lists without duplicates; 0 for two empty ones.
fn jaccard(one: &[u16], other: &[u16]) -> f64 {
    let common = one.iter().filter(|word| other.contains(word)).count();
    let all = one.len() + other.len() - common;
    if all == 0 {
        return 0.0;
    }
    common as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(task: &Task, score: f64, refused: u32) -> AttemptNote {
        AttemptNote {
            attempt: "a".into(),
            category: task.category.clone(),
            words: note_words(task),
            score,
            refused,
        }
    }

    fn check(own: (f64, u32), before: &[(&str, f64, u32)], expect: f64) {
        let task = Task::new("t", "Close ticket T-9 for customer Ada");
        let earlier: Vec<AttemptNote> = before
            .iter()
            .map(|(words, score, refused)| note(&Task::new("b", *words), *score, *refused))
            .collect();
        let own = [note(&task, own.0, own.1)];
        let level = level_at_like_tasks(&task, &own, earlier.iter(), Recovered::AsFailed);
        assert_eq!(level, Some(expect));
    }

    #[test]
    fn the_latest_attempts_at_like_tasks_count() {
        check((1.0, 0), &[], 1.0);
        // Done, but only after a refusal.
        check((1.0, 1), &[], 0.0);
        check(
            (1.0, 0),
            &[("Close ticket T-1 for customer Bob", 0.0, 0)],
            0.5,
        );
        check((1.0, 0), &[("Water the flowers", 0.0, 0)], 1.0);
        let like = "close the ticket of customer Eve";
        check(
            (1.0, 0),
            &[
                (like, 0.0, 0),
                (like, 1.0, 0),
                (like, 1.0, 0),
                (like, 1.0, 0),
            ],
            1.0,
        );
    }

    #[test]
    fn a_note_keeps_no_word_of_its_task() {
        let task = Task::new("t", "Close ticket T-9 for customer Lovelace");
        let note = serde_json::to_string(&note(&task, 1.0, 0)).unwrap();
        assert!(!note.to_lowercase().contains("lovelace"), "{note}");
        assert!(!note.contains("ticket"), "{note}");
    }

    #[test]
    fn categories_decide_where_both_have_one() {
        let mut task = Task::new("t", "one");
        task.category = Some("tickets".into());
        let mut other = Task::new("o", "two");
        other.category = Some("tickets".into());
        let notes = [note(&other, 0.0, 0)];
        let own = [note(&task, 1.0, 0)];
        let level = |own: &[AttemptNote], before: &[AttemptNote]| {
            level_at_like_tasks(&task, own, before.iter(), Recovered::AsFailed)
        };
        assert_eq!(level(&own, &notes), Some(0.5));
        assert_eq!(level(&[], &[]), None);
    }
}
