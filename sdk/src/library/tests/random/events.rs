//! Random changes.

use rand_chacha::{ChaCha8Rng, rand_core::Rng};

use crate::{
    domain::{LibraryChange, Origin, Provenance, Skill, SkillRef, State, Tier, TierPolicy},
    id::{RunId, Seed, Version},
    library::tests::{SkillLibrary, reference, skill},
};

/// Random changes over few ids, versions, names and rewards, so that they collide often. Ids and versions move
/// on slowly, since a deleted skill can come back only in a later version.
pub(super) struct Events {
    rng: ChaCha8Rng,
    drawn: u64,
}

impl Events {
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            rng: seed.rng(),
            drawn: 0,
        }
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.rng.next_u64() % bound
    }

    fn id(&mut self) -> String {
        format!("s{:04}", self.drawn / 100 + self.below(60))
    }

    fn version(&mut self, bound: u64) -> u64 {
        1 + self.drawn / 300 + self.below(bound)
    }

    fn skill(&mut self, versions: u64) -> Box<Skill> {
        let id = self.id();
        let name = format!("name{}", self.below(12));
        let version = Version(self.version(versions));
        let state = match self.below(6) {
            0 => State::Trial,
            1 => State::Quarantined,
            _ => State::Active,
        };
        let provenance = Provenance {
            origin: [Origin::Summary, Origin::Human][usize::from(self.below(8) == 0)],
            runs: vec![self.run()],
            tasks: Vec::new(),
        };
        Box::new(Skill {
            version,
            state,
            provenance,
            ..skill(&id, &name)
        })
    }

    pub(super) fn run(&mut self) -> RunId {
        RunId::new(format!("r{}", self.drawn / 50 + self.below(8)))
    }

    /// Mostly a skill that is there.
    fn credited(&mut self, library: &SkillLibrary) -> SkillRef {
        let count = library.entries().count() as u64;
        match self.below(5) {
            0 => reference(&self.id(), self.version(2)),
            _ => library
                .entries()
                .nth(self.below(count + 1) as usize)
                .map(|entry| entry.skill.reference())
                .unwrap_or_else(|| reference("none", 1)),
        }
    }

    fn policy(&mut self) -> TierPolicy {
        TierPolicy {
            cache: 1 + self.below(8) as usize,
            reservoir: self.below(30) as usize,
            beta: [0.0, 0.5, 0.9][self.below(3) as usize],
            initial_utility: [0.0, 0.5, -1.0][self.below(3) as usize],
            protected_credits: self.below(3),
            delete_percentile: [0.0, 10.0, 10.0, 37.5, 100.0][self.below(5) as usize],
            load_until_stable: self.below(2) == 0,
            traces: 0,
        }
    }

    pub(super) fn change(&mut self, library: &SkillLibrary) -> LibraryChange {
        self.drawn += 1;
        match self.below(100) {
            0 => LibraryChange::Configure(self.policy()),
            1..=10 => LibraryChange::Maintain,
            11..=40 => LibraryChange::Add(self.skill(2)),
            41..=46 => LibraryChange::Revise(self.skill(6)),
            47..=48 => LibraryChange::RollBack {
                skill: self.credited(library).id,
                to: Version(self.version(4)),
                reason: "a test".into(),
            },
            49 => LibraryChange::Restore {
                skill: self.id().as_str().into(),
                reason: "a test".into(),
            },
            50 => LibraryChange::Place {
                skill: self.id().as_str().into(),
                tier: [Tier::Cache, Tier::Reservoir][self.below(2) as usize],
                reason: "a test".into(),
            },
            51..=52 => {
                let skill = self.skill(2);
                let mut sources: Vec<_> = (0..=self.below(3))
                    .map(|_| self.credited(library).id)
                    .collect();
                sources.retain(|id| *id != skill.id);
                sources.sort();
                sources.dedup();
                if sources.is_empty() {
                    LibraryChange::Add(skill)
                } else {
                    LibraryChange::Merge {
                        skill,
                        sources,
                        beside: self.below(4) > 0,
                    }
                }
            }
            53 if self.below(4) == 0 => LibraryChange::RetireRun {
                run: self.run(),
                reason: "a test".into(),
            },
            53..=58 => LibraryChange::SetState {
                skill: self.id().as_str().into(),
                state: [State::Active, State::Trial, State::Disabled][self.below(3) as usize],
                reason: "a test".into(),
            },
            _ => LibraryChange::Credit {
                skill: self.credited(library),
                attempt: format!("t{}", self.below(300)).as_str().into(),
                reward: self.below(3) as f64,
                uses: 1 + self.below(8),
            },
        }
    }
}
