//! The borrowed form of [`View`](super::View): the part of a run's state that a policy may read.

use crate::{
    domain::{MaintenanceBudget, Mode, State, Tier, retrieval::Retrieval},
    id::{RunId, Seed},
    library::{Entry, SkillLibrary},
};

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
    /// What is left of the budget of this round of maintenance.
    pub(crate) left: MaintenanceBudget,
    /// Whether the recipe tries skills in quarantine (J7).
    pub(crate) tries_quarantined: bool,
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
    /// (HiSME, appendix B), and so one that is tried in quarantine.
    pub(crate) fn offers(&self, entry: &Entry) -> bool {
        let in_training = self.mode == Mode::Train;
        match entry.tier {
            Tier::Cache => entry.skill.state == State::Active || in_training,
            Tier::Aside => in_training && self.tries(entry),
            Tier::Reservoir => false,
        }
    }

    /// Whether the recipe tries the skill in quarantine.
    pub(crate) fn tries(&self, entry: &Entry) -> bool {
        self.tries_quarantined && entry.awaits_evidence()
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
