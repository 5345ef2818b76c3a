//! Release by proof: the maintenance program `proven`.

use std::{collections::BTreeSet, num::NonZeroU32};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{ComparePolicy, Comparison, Conclusion, LiftPolicy, LiftVerdict, Lifts};
use crate::{
    domain::{
        CaseKind, ComparedPair, LibraryChange, MaintenanceBudget, Skill, SkillRef, State, Trace,
    },
    error::Result,
    id::TaskId,
    library::{Entry, SkillLibrary},
    policy::{Ask, Case, MaintenanceProgram, PlayedCase, PolicyOptions, Release, View},
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
///     stations::proof::{ComparePolicy, ProvenRelease},
/// };
/// use std::num::NonZeroU64;
///
/// let mut recipe = recipe::standard();
/// let compare = ComparePolicy { error: 0.05, ..ComparePolicy::default() };
/// let every = NonZeroU64::new(10).expect("not 0");
/// recipe.maintenance.programs.push(ScheduledProgram::new(every, ProvenRelease { compare }));
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
/// In a recipe with this program nothing that is on trial becomes active by another one, and what another one adds or
/// releases from quarantine begins on trial. A next version of a skill in use still takes its place as the recipe says, and so does what
/// skills in use are merged into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProvenRelease {
    /// How likely a version that does not help may ever be released, from what difference on it matters, and how many pairs it may take.
    pub compare: ComparePolicy,
}

impl PolicyOptions for ProvenRelease {
    const NAME: &'static str = "proven";

    fn validate(&self) -> Result<()> {
        self.compare.validate()
    }
}

#[async_trait]
impl MaintenanceProgram for ProvenRelease {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        let library = view.library();
        let on_trial = library.entries();
        let on_trial = on_trial.filter(|entry| entry.skill.state == State::Trial);
        if !view.context().replays {
            let lifts = Lifts::of(library, self.lifts())?;
            let of = |entry: &Entry| by_lift(ask, &lifts, entry);
            return Ok(on_trial.flat_map(of).collect());
        }
        let mut trials: Vec<Tried<'_>> = Vec::new();
        for entry in on_trial {
            trials.push(Tried::of(library, entry, self.compare)?);
        }
        let mut left = view.budget_left();
        while self.some_more(ask, library, &mut trials, &mut left).await {}
        let mut changes = Vec::new();
        for tried in trials {
            changes.extend(tried.recorded());
            changes.extend(decided(tried.entry, &tried.comparison));
            tell(ask, &tried);
        }
        Ok(changes)
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

impl ProvenRelease {
    fn lifts(&self) -> LiftPolicy {
        LiftPolicy {
            error: self.compare.error,
            false_discoveries: self.compare.error,
            ..LiftPolicy::default()
        }
    }

    /// Makes as many pairs for each skill as may decide at once; whether there was one to make.
    async fn some_more(
        &self,
        ask: &mut Ask,
        library: &SkillLibrary,
        trials: &mut [Tried<'_>],
        left: &mut MaintenanceBudget,
    ) -> bool {
        let at_once = usize::try_from(self.compare.least).unwrap_or(usize::MAX);
        let mut room = *left;
        let (mut cases, mut due) = (Vec::new(), Vec::new());
        for tried in trials.iter_mut() {
            let mut attempts = Vec::new();
            let open = !tried.comparison.is_over() && !left.is_spent();
            let most = usize::try_from(tried.comparison.left()).unwrap_or(usize::MAX);
            while open && attempts.len() < at_once.min(most) && room.allows(2) {
                let Some(attempt) = tried.attempts.pop() else {
                    break;
                };
                room.pay(Default::default(), 2);
                cases.extend(pair_of_cases(library, tried.entry, attempt));
                attempts.push(attempt);
            }
            due.push(attempts);
        }
        if cases.is_empty() {
            return false;
        }
        let runs = play_all(ask, left, cases).await;
        for (tried, attempts) in trials.iter_mut().zip(due) {
            for attempt in attempts {
                let pair = pair(attempt, tried.entry, &runs);
                tried
                    .pairs
                    .extend(pair.inspect(|pair| tried.comparison.add(pair.before, pair.with)));
            }
        }
        true
    }
}

/// A skill on trial, and what it is compared by.
struct Tried<'a> {
    entry: &'a Entry,
    /// The kept attempts whose tasks are still to be attempted again, the next one last.
    attempts: Vec<&'a Trace>,
    comparison: Comparison,
    /// The pairs of this round.
    pairs: Vec<ComparedPair>,
}

impl<'a> Tried<'a> {
    /// # Errors
    /// `Invalid` for a policy out of its ranges.
    fn of(library: &'a SkillLibrary, entry: &'a Entry, policy: ComparePolicy) -> Result<Self> {
        let skill = entry.skill.reference();
        let mut comparison = Comparison::new(policy)?;
        let mut tasks: BTreeSet<&TaskId> = entry.skill.provenance.tasks.iter().collect();
        for pair in entry.life.pairs(skill.version) {
            tasks.insert(&pair.task);
            comparison.add(pair.before, pair.with);
        }
        let mut attempts = Vec::new();
        for trace in library.traces().filter(|trace| had(trace, &skill)) {
            if tasks.insert(&trace.task.id) {
                attempts.push(trace);
            }
        }
        attempts.reverse();
        Ok(Self {
            entry,
            attempts,
            comparison,
            pairs: Vec::new(),
        })
    }

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
fn pair_of_cases(library: &SkillLibrary, entry: &Entry, attempt: &Trace) -> [Case; 2] {
    let before = entry.in_use_before().cloned().map(Box::new);
    let case = Box::new(whole_attempt(library, attempt, CaseKind::Integration));
    [before, Some(Box::new(entry.skill.clone()))].map(|skill| Case {
        skill,
        case: case.clone(),
    })
}

/// The pair of an attempt's task; `None` where one of the two failed for the moment, and is made again.
fn pair(attempt: &Trace, entry: &Entry, runs: &[PlayedCase]) -> Option<ComparedPair> {
    let score = |skill: Option<SkillRef>| {
        let is_it = |played: &&PlayedCase| {
            let of = played.case.skill.as_ref().map(|skill| skill.reference());
            of == skill && played.case.case.attempt == attempt.trajectory.attempt
        };
        match &runs.iter().find(is_it)?.run {
            Ok(run) if run.verdict.success().is_some() => Some(run.verdict.score()),
            Err(error) if is_temporary(error) => None,
            Ok(_) | Err(_) => Some(0.0),
        }
    };
    Some(ComparedPair {
        task: attempt.task.id.clone(),
        before: score(entry.in_use_before().map(Skill::reference))?,
        with: score(Some(entry.skill.reference()))?,
    })
}

/// The changes that a comparison concludes.
fn decided(entry: &Entry, comparison: &Comparison) -> Vec<LibraryChange> {
    let points = 100.0 * comparison.estimate().unwrap_or(0.0);
    let pairs = comparison.pairs();
    let reason = format!(
        "{points:+.0} points of the score at {pairs} tasks, each attempted with what was before and with it"
    );
    match comparison.conclusion() {
        Conclusion::Better => vec![released(&entry.skill.reference(), reason)],
        Conclusion::Worse => undone(entry, reason),
        _ => Vec::new(),
    }
}

fn released(skill: &SkillRef, reason: String) -> LibraryChange {
    LibraryChange::Release {
        skill: skill.clone(),
        reason,
        from_quarantine: false,
    }
}

/// What becomes of a version that is proven to do worse: the one that was in use before is in use again.
fn undone(entry: &Entry, reason: String) -> Vec<LibraryChange> {
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

/// The changes that the ledger of lifts decides, where nothing can be attempted again: by the model with most tasks.
fn by_lift(ask: &mut Ask, lifts: &Lifts, entry: &Entry) -> Vec<LibraryChange> {
    let skill = entry.skill.reference();
    let Some(lift) = lifts.most_of(&skill) else {
        let reason = "nothing can be attempted again here, and no task went without it by chance yet (`SelectPolicy::withhold`)";
        wait(ask, entry, reason.to_owned());
        return Vec::new();
    };
    let (with, without) = lift.tasks();
    let points = 100.0 * lift.success.estimate().unwrap_or(0.0);
    let reason = format!(
        "{points:+.0} points of tasks done at {with} tasks with it, and by chance {without} without it"
    );
    match lift.verdict {
        Some(LiftVerdict::Helps) => vec![released(&skill, reason)],
        Some(LiftVerdict::Harms) => undone(entry, reason),
        _ => {
            wait(ask, entry, format!("{reason} are no proof yet"));
            Vec::new()
        }
    }
}

/// Says what is still missing.
fn tell(ask: &mut Ask, tried: &Tried<'_>) {
    let comparison = &tried.comparison;
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
            format!("{so_far} are no proof, and no more pairs are made (`ComparePolicy::most`)")
        }
        Conclusion::NotYet { more: Some(more) } => {
            format!("{so_far} are no proof yet; about {more} more tasks would tell")
        }
        Conclusion::NotYet { more: None } => format!("{so_far} are no proof yet"),
        Conclusion::Better | Conclusion::Worse => return,
    };
    wait(ask, tried.entry, reason);
}

fn wait(ask: &mut Ask, entry: &Entry, reason: String) {
    ask.tell(EventKind::Waits {
        skill: entry.skill.reference(),
        name: entry.skill.name.clone(),
        state: State::Trial,
        reason,
    });
}
