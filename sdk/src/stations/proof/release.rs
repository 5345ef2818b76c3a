//! Release by proof: the maintenance program `proven`.

use std::{collections::BTreeSet, num::NonZeroU32, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{
    ComparePolicy, Comparison, Conclusion, LiftPolicy, LiftVerdict, Lifts,
    neighbours::{self, Neighbours},
};
use crate::{
    domain::{
        CaseKind, ComparedPair, LibraryChange, MaintenanceBudget, Skill, SkillRef, State, Trace,
    },
    error::Result,
    id::{ModelId, TaskId},
    library::{Entry, SkillLibrary, StandingWith},
    policy::{
        Ask, Case, MaintenanceProgram, PlayedCase, PolicyOptions, Release, SelectProgram, View,
    },
    run::report::EventKind,
    stations::maintain::{cases::whole_attempt, outcomes::is_temporary, within_budget::play_all},
};

/// Releases a skill on trial when it is proven that more is done with it: some tasks are attempted again, with it and without it, the
/// evidence is looked at, then some more. A refined version is compared with the version that was in use before it. Too few pairs
/// release nothing; a skill that is proven to do worse is disabled, or the version before is in use again. The maintenance
/// program `proven`, for every recipe that begins skills on trial:
///
/// ```
/// use journeyman::{
///     domain::State,
///     policy::Policies,
///     recipe::{self, ScheduledProgram},
///     stations::proof::ProvenRelease,
/// };
/// use std::num::NonZeroU64;
///
/// let mut recipe = recipe::standard();
/// let mut proven = ProvenRelease::default();
/// proven.compare.error = 0.05;
/// let every = NonZeroU64::new(10).expect("not 0");
/// recipe.maintenance.programs.push(ScheduledProgram::new(every, proven));
/// recipe.tiers.traces = 200;
/// // A skill that is active from the start would be in use before it is proven.
/// assert!(recipe.resolve(&Policies::new()).is_err());
/// recipe.admit.initial_state = State::Trial;
/// recipe.resolve(&Policies::new())?;
/// # Ok::<(), journeyman::Error>(())
/// ```
///
/// The tasks are those of kept attempts that had the skill in their prompt, each once, without those that it was written from: where it was
/// chosen, it has to prove itself. An attempt that cannot be made or that a judge cannot decide about counts as not done, on either
/// side; one that fails for the moment is made again. Where the world cannot be set up again, the ledger of lifts tells instead
/// ([`SelectPolicy::withhold`](crate::stations::select::SelectPolicy::withhold)), against no skill at all.
///
/// In a recipe with this program nothing that is on trial becomes active by another one, and what another one adds, revises, merges or
/// releases from quarantine begins on trial. While a next version is on trial, evaluations have the version that was in use before it.
///
/// Skills that are merged stay in use beside the merged one. It is compared with them at tasks of kept attempts that had one of them: with
/// those that the attempt had, or with all of them where it had the merged one alone. When it is proven to do better, they are archived. A
/// merge that is proven to do worse, or that would break a task, is disabled with the reason. Where nothing can be attempted again, the
/// ledger tells nothing against the sources: it can disable a merge, and releases none.
///
/// A release changes what the recipe's selector chooses. So before a release, tasks that were done with other skills are selected for
/// again; where the version would be chosen, the task is attempted with today's choice and with the new one. If only today's choice does
/// the task, and does so once more, the version is held back, and an event names the task; it is looked at again when one of the skills
/// that do the task has another version in use with the model, or none. A task that is done without a skill holds the version back for good.
/// If it goes otherwise the second time, nothing is known of the task yet, and the version waits. Before a merge the tasks of its sources are
/// looked at in the same way where the merged skill would not be chosen.
///
/// A proof holds for the model, with its adapter, that acted ([`Proof`](crate::library::Proof)). With another model a proven skill is
/// offered in learning alone until it is proven there too; if it is proven to harm there, it is not offered to that model any more. What was
/// merged into it is evaluated with that model as before, and is what it is compared with. Where the agent does not say which model acts,
/// nothing is recorded of it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProvenRelease {
    /// How likely a version that does not help may ever be released, from what difference on it matters, and how many pairs it may take.
    pub compare: ComparePolicy,
    /// Greatest number of tasks, done with other skills, that are selected for again before a release; 0 for none.
    pub neighbours: u32,
}

impl Default for ProvenRelease {
    /// The comparison's own default, and 24 tasks of other skills.
    fn default() -> Self {
        Self {
            compare: ComparePolicy::default(),
            neighbours: 24,
        }
    }
}

impl PolicyOptions for ProvenRelease {
    const NAME: &'static str = "proven";

    fn validate(&self) -> Result<()> {
        self.compare.validate()
    }
}

#[async_trait]
impl MaintenanceProgram for ProvenRelease {
    /// By itself it knows no selector, and looks at no neighbours.
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        self.maintained(ask, view, None).await
    }

    fn beside(&self, selector: &Arc<dyn SelectProgram>) -> Option<Arc<dyn MaintenanceProgram>> {
        Some(Arc::new(Beside {
            release: *self,
            selector: Arc::clone(selector),
        }))
    }

    fn records(&self) -> bool {
        true
    }

    fn release(&self) -> Option<Release> {
        Some(Release::by_proof())
    }

    /// Pairs are made of attempts that are kept.
    fn kept_attempts(&self, _: NonZeroU32) -> u64 {
        1
    }

    fn reason(&self) -> &'static str {
        "skills on trial were compared with what was before them"
    }
}

/// The program in a recipe with this selector.
#[derive(Debug)]
struct Beside {
    release: ProvenRelease,
    selector: Arc<dyn SelectProgram>,
}

#[async_trait]
impl MaintenanceProgram for Beside {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        let selector = Some(self.selector.as_ref());
        self.release.maintained(ask, view, selector).await
    }

    fn records(&self) -> bool {
        self.release.records()
    }

    fn release(&self) -> Option<Release> {
        self.release.release()
    }

    fn kept_attempts(&self, group: NonZeroU32) -> u64 {
        self.release.kept_attempts(group)
    }

    fn reason(&self) -> &'static str {
        self.release.reason()
    }
}

impl ProvenRelease {
    async fn maintained(
        &self,
        ask: &mut Ask,
        view: &View,
        selector: Option<&dyn SelectProgram>,
    ) -> Result<Vec<LibraryChange>> {
        let library = view.library();
        let on_trial = library.entries().filter(|entry| is_to_prove(view, entry));
        if !view.replays() {
            let lifts = Lifts::of(library, self.lifts())?;
            let of = |entry: &Entry| by_lift(ask, (&lifts, view), entry);
            return Ok(on_trial.flat_map(of).collect());
        }
        let mut left = view.budget_left();
        let of = (on_trial.collect(), self.compare);
        let trials = compared(ask, view, of, &mut left).await?;
        let mut changes = Vec::new();
        for trial in &trials {
            tell(ask, trial);
            let concluded = self.concluded(ask, (view, selector), trial, &mut left);
            changes.extend(concluded.await);
        }
        Ok(changes)
    }

    /// How the ledger of lifts is read where nothing can be attempted again.
    pub(crate) fn lifts(&self) -> LiftPolicy {
        LiftPolicy {
            error: self.compare.error,
            false_discoveries: self.compare.error,
            ..LiftPolicy::default()
        }
    }

    /// What a comparison changes: its pairs are kept, and what they prove is done, but for a release that would break a neighbour.
    pub(crate) async fn concluded(
        &self,
        ask: &mut Ask,
        (view, selector): (&View, Option<&dyn SelectProgram>),
        trial: &Trial<'_>,
        left: &mut MaintenanceBudget,
    ) -> Vec<LibraryChange> {
        let entry = trial.entry;
        let mut changes: Vec<LibraryChange> = trial.recorded().into_iter().collect();
        let neighbours = match (trial.comparison.conclusion(), selector) {
            (Conclusion::Better, Some(selector)) => {
                let of = (view, selector);
                neighbours::looked_at(ask, of, entry, (self.neighbours, left)).await
            }
            _ => Neighbours::Kept,
        };
        match neighbours {
            Neighbours::Kept => {
                changes.extend(decided(view.model(), trial));
            }
            Neighbours::Broken { told, new } => {
                changes.extend(new);
                let reason = format!("it does better at its own tasks, and would break {told}");
                match trial.is_merge() && entry.skill.state == State::Trial {
                    true => changes.extend(undone(view.model(), entry, reason)),
                    false => wait(ask, entry, reason),
                }
            }
            Neighbours::NotKnown(why) => {
                let reason = format!(
                    "it does better at its own tasks; whether it breaks those of other skills is not known yet: {why}"
                );
                wait(ask, entry, reason);
            }
        }
        changes
    }
}

/// Compares skills, each with what was before it: some pairs for each, then some more, until all is clear or nothing is left to do.
///
/// # Errors
/// `Invalid` for a policy out of its ranges.
pub(crate) async fn compared<'a>(
    ask: &mut Ask,
    view: &'a View,
    (entries, compare): (Vec<&'a Entry>, ComparePolicy),
    left: &mut MaintenanceBudget,
) -> Result<Vec<Trial<'a>>> {
    let trials = entries
        .into_iter()
        .map(|entry| Trial::of(view, entry, compare));
    let mut trials: Vec<Trial<'_>> = trials.collect::<Result<_>>()?;
    while some_more(ask, (view, compare), &mut trials, left).await {}
    Ok(trials)
}

/// Makes as many pairs for each skill as may decide at once; whether there was one to make.
async fn some_more(
    ask: &mut Ask,
    (view, compare): (&View, ComparePolicy),
    trials: &mut [Trial<'_>],
    left: &mut MaintenanceBudget,
) -> bool {
    let (library, model) = (view.library(), view.model());
    let at_once = usize::try_from(compare.least).unwrap_or(usize::MAX);
    let mut room = *left;
    let (mut cases, mut due) = (Vec::new(), Vec::new());
    for trial in trials.iter_mut() {
        let mut attempts = Vec::new();
        let open = !trial.comparison.is_over() && !left.is_spent();
        let most = usize::try_from(trial.comparison.left()).unwrap_or(usize::MAX);
        while open && attempts.len() < at_once.min(most) && room.allows(2) {
            let Some(attempt) = trial.attempts.pop() else {
                break;
            };
            room.pay(Default::default(), 2);
            cases.extend(pair_of_cases(library, trial, attempt));
            attempts.push(attempt);
        }
        due.push(attempts);
    }
    if cases.is_empty() {
        return false;
    }
    let runs = play_all(ask, left, cases).await;
    for (trial, attempts) in trials.iter_mut().zip(due) {
        for attempt in attempts {
            let pair = pair(model, attempt, trial, &runs);
            trial
                .pairs
                .extend(pair.inspect(|pair| trial.comparison.add(pair.before, pair.with)));
        }
    }
    true
}

/// Whether a skill has to prove itself with the model that acts: it is on trial, or in use and proven on other models alone.
fn is_to_prove(view: &View, entry: &Entry) -> bool {
    match entry.skill.state {
        State::Trial => true,
        State::Active => view.context().standing_with(entry) == StandingWith::ToProve,
        _ => false,
    }
}

/// A skill that has to prove itself, and what it is compared by.
pub(crate) struct Trial<'a> {
    pub(crate) entry: &'a Entry,
    /// What was merged into it and is in use beside it, by id; empty where nothing is.
    sources: Vec<&'a Skill>,
    /// The kept attempts whose tasks are still to be attempted again, the next one last.
    attempts: Vec<&'a Trace>,
    pub(crate) comparison: Comparison,
    pairs: Vec<ComparedPair>,
}

impl<'a> Trial<'a> {
    /// # Errors
    /// `Invalid` for a policy out of its ranges.
    fn of(view: &'a View, entry: &'a Entry, policy: ComparePolicy) -> Result<Self> {
        let (library, skill) = (view.library(), &entry.skill);
        let sources = in_use_beside(view, entry);
        let of_sources: Vec<SkillRef> = sources.iter().map(|source| source.reference()).collect();
        let mut comparison = Comparison::new(policy)?;
        let mut tasks: BTreeSet<&TaskId> = skill.provenance.tasks.iter().collect();
        // What another model did, or with something else before it, says nothing here.
        let against = before(entry).filter(|_| sources.is_empty());
        let against = against.map(|before| before.version);
        let counts = |pair: &&ComparedPair| {
            pair.model.as_ref() == view.model()
                && pair.against == against
                && pair.sources.is_empty() == of_sources.is_empty()
                && pair.sources.iter().all(|one| of_sources.contains(one))
        };
        for pair in entry.life.pairs(skill.version).filter(counts) {
            tasks.insert(&pair.task);
            comparison.add(pair.before, pair.with);
        }
        let own = skill.reference();
        let had_one =
            |trace: &&Trace| had(trace, &own) || of_sources.iter().any(|one| had(trace, one));
        let mut attempts = Vec::new();
        for trace in library.traces().filter(had_one) {
            if tasks.insert(&trace.task.id) {
                attempts.push(trace);
            }
        }
        attempts.reverse();
        Ok(Self {
            entry,
            sources,
            attempts,
            comparison,
            pairs: Vec::new(),
        })
    }

    /// Whether it is a merge whose sources are in use beside it.
    fn is_merge(&self) -> bool {
        !self.sources.is_empty()
    }

    /// What an attempt's task is attempted with to compare the skill: the version that was in use before it, or none; for a merge, those
    /// of its sources that the attempt had, or all of them where it had none.
    fn before(&self, attempt: &Trace) -> Vec<&'a Skill> {
        if !self.is_merge() {
            return before(self.entry).into_iter().collect();
        }
        let sources = self.sources.iter().copied();
        let had_it = |source: &&Skill| had(attempt, &source.reference());
        let of_attempt: Vec<&Skill> = sources.filter(had_it).collect();
        match of_attempt.is_empty() {
            true => self.sources.clone(),
            false => of_attempt,
        }
    }

    /// The record of the pairs of this round.
    fn recorded(&self) -> Option<LibraryChange> {
        (!self.pairs.is_empty()).then(|| LibraryChange::Compare {
            skill: self.entry.skill.reference(),
            pairs: self.pairs.clone(),
        })
    }
}

/// Whether an attempt had a version in its prompt.
fn had(trace: &Trace, skill: &SkillRef) -> bool {
    let mut exposures = trace.trajectory.exposures.iter();
    exposures.any(|exposure| exposure.skill == *skill)
}

/// An attempt's task with what was in use before, and with the skill.
fn pair_of_cases(library: &SkillLibrary, trial: &Trial<'_>, attempt: &Trace) -> [Case; 2] {
    let case = Box::new(whole_attempt(library, attempt, CaseKind::Integration));
    [trial.before(attempt), vec![&trial.entry.skill]].map(|skills| {
        let mut skills = skills.into_iter().cloned();
        Case {
            skill: skills.next().map(Box::new),
            beside: skills.collect(),
            case: case.clone(),
        }
    })
}

/// What was merged into a skill and is in use beside it, by id: while it is on trial, and, with a model that it is not proven on, what gave
/// way to it by another model's proof.
fn in_use_beside<'a>(view: &'a View, entry: &'a Entry) -> Vec<&'a Skill> {
    let (library, id) = (view.library(), &entry.skill.id);
    match entry.skill.state {
        State::Trial => {
            let skills = library.offered_beside(id).map(|source| &source.skill);
            let in_use = skills.filter(|skill| skill.state == State::Active);
            in_use.collect()
        }
        State::Active if is_to_prove(view, entry) => {
            let was_in_use = |source: &&Entry| {
                let merged = source.merged.as_ref();
                merged.is_some_and(|merged| merged.from == State::Active)
                    && view.context().standing_with(source) == StandingWith::InUse
            };
            let in_use = library.gave_way_to(id).filter(was_in_use);
            in_use.map(|source| &source.skill).collect()
        }
        _ => Vec::new(),
    }
}

/// What a version is compared with: the one that was in use before it. For one that is in use, and proven on other models alone, no skill.
fn before(entry: &Entry) -> Option<&Skill> {
    match entry.skill.state {
        State::Active => None,
        _ => entry.in_use_before(),
    }
}

/// The pair of an attempt's task; `None` where one of the two failed for the moment, and is made again, and where another model acted than
/// the session's.
fn pair(
    model: Option<&ModelId>,
    attempt: &Trace,
    trial: &Trial<'_>,
    runs: &[PlayedCase],
) -> Option<ComparedPair> {
    let score = |skills: &[SkillRef]| {
        let is_it = |played: &&PlayedCase| {
            let case = &played.case;
            let given = case.skill.as_deref().into_iter().chain(&case.beside);
            given.map(Skill::reference).eq(skills.iter().cloned())
                && case.case.attempt == attempt.trajectory.attempt
        };
        match &runs.iter().find(is_it)?.run {
            Ok(run) if model.is_some() && run.model.as_ref() != model => None,
            Ok(run) if run.verdict.success().is_some() => Some(run.verdict.score()),
            Err(error) if is_temporary(error) => None,
            Ok(_) | Err(_) => Some(0.0),
        }
    };
    let before = trial.before(attempt);
    let given: Vec<SkillRef> = before.iter().map(|skill| skill.reference()).collect();
    let is_merge = trial.is_merge();
    let version = before.first().map(|before| before.version);
    Some(ComparedPair {
        task: attempt.task.id.clone(),
        before: score(&given)?,
        against: version.filter(|_| !is_merge),
        sources: if is_merge { given } else { Vec::new() },
        model: model.cloned(),
        with: score(&[trial.entry.skill.reference()])?,
    })
}

/// The changes that a comparison concludes.
fn decided(model: Option<&ModelId>, trial: &Trial<'_>) -> Vec<LibraryChange> {
    let (entry, comparison) = (trial.entry, &trial.comparison);
    let points = 100.0 * comparison.estimate().unwrap_or(0.0);
    let pairs = comparison.pairs();
    let before = match trial.is_merge() {
        true => "what it was merged from",
        false => "what was before",
    };
    let reason = format!(
        "{points:+.0} points of the score at {pairs} tasks, each attempted with {before} and with it"
    );
    match comparison.conclusion() {
        Conclusion::Better => released(model, entry, reason),
        Conclusion::Worse => undone(model, entry, reason),
        _ => Vec::new(),
    }
}

/// The changes for a version that is proven to help.
fn released(model: Option<&ModelId>, entry: &Entry, reason: String) -> Vec<LibraryChange> {
    let skill = entry.skill.reference();
    let proven = proven(model, &skill, true);
    let release = (entry.skill.state == State::Trial).then(|| LibraryChange::Release {
        skill,
        reason,
        from_quarantine: false,
    });
    release.into_iter().chain(proven).collect()
}

/// The record of a proof; none where the agent does not say which model acts.
fn proven(model: Option<&ModelId>, skill: &SkillRef, helps: bool) -> Option<LibraryChange> {
    Some(LibraryChange::Prove {
        skill: skill.clone(),
        model: model?.clone(),
        helps,
    })
}

/// What becomes of a version that is proven to do worse: the one that was in use before is in use again. One that another model is
/// helped by stays for that one, and is not offered to this.
fn undone(model: Option<&ModelId>, entry: &Entry, reason: String) -> Vec<LibraryChange> {
    if entry.skill.state == State::Active {
        let proven = proven(model, &entry.skill.reference(), false);
        return proven.into_iter().collect();
    }
    let skill = entry.skill.id.clone();
    let state = |state| LibraryChange::SetState {
        skill: skill.clone(),
        state,
        reason: reason.clone(),
    };
    match entry.in_use_before() {
        Some(before) => vec![
            LibraryChange::RollBack {
                skill: skill.clone(),
                to: before.version,
                reason: reason.clone(),
            },
            state(State::Active),
        ],
        None => vec![state(State::Disabled)],
    }
}

/// The changes that the ledger of lifts decides, where nothing can be attempted again.
fn by_lift(ask: &mut Ask, (lifts, view): (&Lifts, &View), entry: &Entry) -> Vec<LibraryChange> {
    let model = view.model();
    let Some(lift) = lifts.skill(&entry.skill.reference(), model) else {
        let reason = "nothing can be attempted again here, and no task went without it by chance yet (`select.withhold` of the recipe)";
        wait(ask, entry, reason.to_owned());
        return Vec::new();
    };
    let (with, without) = lift.tasks();
    let points = 100.0 * lift.success.estimate().unwrap_or(0.0);
    let reason = format!(
        "{points:+.0} points of tasks done at {with} tasks with it, and by chance {without} without it"
    );
    match lift.verdict {
        Some(LiftVerdict::Helps) if !in_use_beside(view, entry).is_empty() => {
            let reason = format!(
                "{reason}; how it does against what it was merged from cannot be told here"
            );
            wait(ask, entry, reason);
            Vec::new()
        }
        Some(LiftVerdict::Helps) => released(model, entry, reason),
        Some(LiftVerdict::Harms) => undone(model, entry, reason),
        _ => {
            wait(ask, entry, format!("{reason} are no proof yet"));
            Vec::new()
        }
    }
}

/// Says what is still missing.
fn tell(ask: &mut Ask, trial: &Trial<'_>) {
    let comparison = &trial.comparison;
    let Some(estimate) = comparison.estimate() else {
        return;
    };
    let so_far = format!(
        "{:+.0} points of the score at {} tasks",
        100.0 * estimate,
        comparison.pairs()
    );
    let reason = match comparison.conclusion() {
        Conclusion::NoDifference => format!("{so_far}: no difference that matters"),
        Conclusion::NotYet { .. } if comparison.is_over() => {
            format!(
                "{so_far} are no proof, and no more pairs are made: the greatest number is reached"
            )
        }
        Conclusion::NotYet { more: Some(more) } => {
            format!("{so_far} are no proof yet; about {more} more tasks would tell")
        }
        Conclusion::NotYet { more: None } => format!("{so_far} are no proof yet"),
        Conclusion::Better | Conclusion::Worse => return,
    };
    wait(ask, trial.entry, reason);
}

fn wait(ask: &mut Ask, entry: &Entry, reason: String) {
    ask.tell(EventKind::Waits {
        skill: entry.skill.reference(),
        name: entry.skill.name.clone(),
        state: entry.skill.state,
        reason,
    });
}
