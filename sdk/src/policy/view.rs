//! What a policy reads: a snapshot of the run's state ([`View`]), the attempts of a group, the result of a selector.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        Candidate, Decision, MaintenanceBudget, Mode, NothingReason, Selection, SkillRef, State,
        Tier, Trajectory, Verdict,
        retrieval::{Retrieval, SelectPer},
    },
    id::{ModelId, RunId, Seed},
    library::{Entry, SkillLibrary, StandingWith},
    policy::standing::Standing,
    run::report::{AttemptReport, EventKind},
};

/// A snapshot of the part of a run's state that a policy may read. It does not change while the policy runs.
#[derive(Debug)]
pub struct View {
    run: RunId,
    seed: Seed,
    mode: Mode,
    group: u32,
    warming_up: bool,
    explores: bool,
    replays: bool,
    model: Option<ModelId>,
    left: MaintenanceBudget,
    standing: Arc<Standing>,
    retrieval: Retrieval,
    library: SkillLibrary,
    step: u64,
}

impl View {
    /// A snapshot of the current state, for a step of the run.
    pub(crate) fn of(context: &Context<'_>, step: u64) -> Self {
        Self {
            run: context.run.clone(),
            seed: context.seed,
            mode: context.mode,
            group: context.group,
            warming_up: context.warming_up,
            explores: context.explores,
            replays: context.replays,
            model: context.model.cloned(),
            left: context.left,
            standing: Arc::clone(context.standing),
            retrieval: context.retrieval,
            library: context.library.clone(),
            step,
        }
    }

    /// The same run as an evaluation with this library would see it.
    pub(crate) fn evaluating(&self, library: SkillLibrary) -> Self {
        let context = Context {
            mode: Mode::Evaluate,
            warming_up: false,
            explores: false,
            library: &library,
            ..self.context()
        };
        Self::of(&context, self.step)
    }

    /// The borrowed form of this view.
    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            run: &self.run,
            seed: self.seed,
            mode: self.mode,
            group: self.group,
            warming_up: self.warming_up,
            explores: self.explores,
            replays: self.replays,
            model: self.model.as_ref(),
            left: self.left,
            standing: &self.standing,
            retrieval: self.retrieval,
            library: &self.library,
        }
    }

    /// The run's id.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The seed of this step. A policy derives all its randomness from it.
    pub fn seed(&self) -> Seed {
        self.context().step_seed(self.step)
    }

    /// Whether the run learns or evaluates.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The task's index in the stream, from 0. In maintenance: the index of the last task before it. 0 in a selection for a
    /// later turn of an attempt.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Number of selections that the recipe asks of a selector: one for all attempts at a task, or one for each of them, where it
    /// selects per rollout ([`SelectPer`](crate::stations::select::SelectPer)) and learns.
    pub fn selections(&self) -> u32 {
        match (self.retrieval.per, self.mode) {
            (SelectPer::Query | SelectPer::Turn, _) | (_, Mode::Evaluate) => 1,
            (SelectPer::Rollout, Mode::Train) => self.group,
        }
    }

    /// Whether test cases can be played ([`Ask::play`](super::Ask::play)): the host gave an agent, a judge, and a world that
    /// can be set up again ([`EnvironmentCapabilities`](crate::contract::EnvironmentCapabilities)). Otherwise a case is
    /// `Unsupported`, and the world is left alone.
    pub fn replays(&self) -> bool {
        self.replays
    }

    /// The model that acts in this run, with its adapter; `None` where the agent does not say.
    pub fn model(&self) -> Option<&ModelId> {
        self.model.as_ref()
    }

    /// What was left of the round's budget when this part of maintenance began ([`MaintenanceBudget`]). A program of a host's
    /// own keeps to it by itself.
    pub fn budget_left(&self) -> MaintenanceBudget {
        self.left
    }

    /// The library at the start of this step.
    pub fn library(&self) -> &SkillLibrary {
        &self.library
    }

    /// The skills that may be offered to the agent, by id: the active skills of the cache, and in learning also its skills
    /// on trial and those that the recipe tries in quarantine.
    pub fn offered(&self) -> impl Iterator<Item = &Entry> {
        self.context().offered()
    }
}

/// The part of a run's state that a policy may read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) run: &'a RunId,
    pub(crate) seed: Seed,
    pub(crate) mode: Mode,
    /// Number of attempts at a task.
    pub(crate) group: u32,
    /// Whether the run is in its warm-up, in which no skill is selected (ARISE 3.2).
    pub(crate) warming_up: bool,
    /// Whether a gate may inject a skill at random, to learn what it is good for: a recipe's exploration is off where an attempt is
    /// made for somebody.
    pub(crate) explores: bool,
    /// Whether attempts can be repeated: the host gave an agent, a judge, and a world that can be set up again.
    pub(crate) replays: bool,
    /// The model that acts, with its adapter.
    pub(crate) model: Option<&'a ModelId>,
    pub(crate) left: MaintenanceBudget,
    /// What the recipe says beside the policy's own options.
    pub(crate) standing: &'a Arc<Standing>,
    /// How the recipe finds and ranks candidates.
    pub(crate) retrieval: Retrieval,
    pub(crate) library: &'a SkillLibrary,
}

impl<'a> Context<'a> {
    /// The seed of a step, from which all randomness of the step is derived.
    pub(crate) fn step_seed(&self, step: u64) -> Seed {
        self.seed.derive("step", step)
    }

    /// Whether a skill may be offered to the agent: an active skill of the cache always, a skill on trial only in training
    /// (HiSME, appendix B), and so one that is tried in quarantine, and one that is proven on other models than this one.
    pub(crate) fn offers(&self, entry: &Entry) -> bool {
        let in_training = self.mode == Mode::Train;
        let standing = self.standing_with(entry);
        let in_use = entry.skill.state == State::Active && standing == StandingWith::InUse;
        match entry.tier {
            _ if standing == StandingWith::Out => false,
            Tier::Cache => in_use || in_training,
            Tier::Aside => in_training && self.tries(entry),
            Tier::Reservoir => false,
        }
    }

    /// How a skill stands with the model that acts: proofs count where skills are released by them.
    pub(crate) fn standing_with(&self, entry: &Entry) -> StandingWith {
        let model = self.model.filter(|_| self.standing.by_proof());
        entry.life.standing_with(entry.skill.version, model)
    }

    /// Whether the recipe tries the skill in quarantine.
    pub(crate) fn tries(&self, entry: &Entry) -> bool {
        self.standing.quarantine.is_some() && entry.awaits_evidence()
    }

    /// Whether skills have test cases, and these can be played.
    pub(crate) fn plays_cases(&self) -> bool {
        self.replays && self.standing.cases().is_some()
    }

    /// Whether the skill gathers evidence: it is active, on trial, or tried in quarantine.
    pub(crate) fn gathers_evidence(&self, entry: &Entry) -> bool {
        entry.skill.state.is_offered() || self.tries(entry)
    }

    /// The skills that may be offered, by id.
    pub(crate) fn offered(self) -> impl Iterator<Item = &'a Entry> {
        let entries = self.library.entries();
        entries.filter(move |entry| self.offers(entry))
    }
}

/// One attempt of a group. `trajectory` is none where the attempt could not be made or was ended by a part's fault;
/// `verdict` is none where it was not judged.
#[derive(Debug)]
pub(crate) struct Rollout<'a> {
    pub(crate) report: AttemptReport,
    pub(crate) trajectory: Option<&'a Trajectory>,
    pub(crate) verdict: Option<&'a Verdict>,
}

impl Rollout<'_> {
    /// Number of actions that the environment refused.
    pub(crate) fn refused(&self) -> u32 {
        let steps = self
            .trajectory
            .iter()
            .flat_map(|trajectory| &trajectory.steps);
        let refused = steps.filter(|step| step.result.is_error).count();
        u32::try_from(refused).unwrap_or(u32::MAX)
    }
}

/// The result of a selector ([`SelectProgram`](crate::policy::SelectProgram)): the candidates for a query, and the selections
/// among them.
///
/// ```
/// use journeyman::{
///     Version,
///     domain::{Decision, Selection, SkillRef},
///     stations::select::Selected,
/// };
///
/// let skills = vec![SkillRef { id: "open-jar".into(), version: Version(1) }];
/// let selection = Selection::unscored(Decision::Inject { skills, explored: false });
/// let selected = Selected::from(selection.clone());
/// assert_eq!(selected.selections, [selection]);
/// assert!(selected.candidates.is_empty());
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Selected {
    /// The skills that were looked at, with the score by which they were found. They are evidence of what was offered, and a
    /// writer gets them. A selector that does not say leaves them out.
    pub candidates: Vec<Candidate>,
    /// One selection for all attempts at the task, or one for each of them, in their order.
    pub selections: Vec<Selection>,
}

impl Selected {
    /// Selections among candidates.
    pub fn new(candidates: Vec<Candidate>, selections: Vec<Selection>) -> Self {
        Self {
            candidates,
            selections,
        }
    }

    /// No skill for any attempt.
    pub fn nothing(candidates: Vec<Candidate>, reason: NothingReason) -> Self {
        Self::new(candidates, vec![Selection::nothing(reason)])
    }

    pub(crate) fn selection(&self, rollout: u32) -> Option<&Selection> {
        let own = self.selections.get(rollout as usize);
        own.or(self.selections.first())
    }

    pub(crate) fn injected(&self, rollout: u32) -> &[SkillRef] {
        self.selection(rollout).map_or(&[], Selection::skills)
    }

    pub(crate) fn events(&self, library: &SkillLibrary) -> Vec<EventKind> {
        let event = |(rollout, selection): (u32, &Selection)| {
            let chosen = selection.skills().iter();
            let chosen = chosen.filter_map(|skill| library.get(&skill.id));
            EventKind::Selected {
                rollout,
                selection: selection.clone(),
                names: chosen.map(|entry| entry.skill.name.clone()).collect(),
            }
        };
        (0..).zip(&self.selections).map(event).collect()
    }

    /// The error of the retriever, scorer or selector, if one kept a selection from being made.
    pub(crate) fn unavailable(&self) -> Option<&str> {
        self.selections.iter().find_map(|one| match &one.decision {
            Decision::Nothing(
                NothingReason::RetrieverUnavailable(why)
                | NothingReason::ScorerUnavailable(why)
                | NothingReason::Uncalibrated(why)
                | NothingReason::SelectorFailed(why),
            ) => Some(why.as_str()),
            _ => None,
        })
    }
}

impl From<Selection> for Selected {
    fn from(selection: Selection) -> Self {
        Self::new(Vec::new(), vec![selection])
    }
}
