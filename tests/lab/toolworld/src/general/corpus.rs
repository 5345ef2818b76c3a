//! Training text of the bundled model.

use journeyman::agent::role::GeneralRoles;
use journeyman::contract::{RoleRequest, Roles};
use journeyman::domain::Role;
use journeyman::{Result, Seed};

use super::acting::{self, Kind, prompt_format};
use super::broken;
use super::chatml;
use super::document::Document;
use super::drills;
use super::roles::{RoleCase, Stage, case};
use crate::seed::Draws;
use crate::split::Split;
use crate::world::WorldSpec;

/// The weights of the kinds of documents; only their ratios count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixture {
    /// Attempts, by kind.
    pub acting: [(Kind, u32); 6],
    /// Tasks that give several values, with few visible tools.
    pub values: u32,
    /// A task that no visible tool does.
    pub unfit: u32,
    /// A task and its skill alone, or a skill without a task: the basis of the gate's log-probabilities.
    pub gate: u32,
    /// The question whether a skill fits a task.
    pub fits: u32,
    /// Copying drills.
    pub drill: u32,
    /// The first words of attempts alone: the skill that is followed, and the plan.
    pub planned: u32,
    /// The weight of each role, in the order of [`Role::ALL`].
    pub roles: [u32; Role::ALL.len()],
}

impl Mixture {
    /// The mixture of the first part of training: more copying.
    pub const EARLY: Self = Self {
        acting: [
            (Kind::Alone, 130),
            (Kind::Right, 220),
            (Kind::Irrelevant, 90),
            (Kind::Both, 70),
            (Kind::Stale, 20),
            (Kind::Opaque, 30),
        ],
        values: 40,
        unfit: 10,
        gate: 40,
        fits: 30,
        drill: 250,
        planned: 1200,
        roles: [6, 50, 12, 14, 12, 8, 6, 14, 4, 6, 8, 14, 8, 12, 6, 6],
    };
    /// The mixture of the second part: every task of the model.
    pub const LATE: Self = Self {
        acting: [
            (Kind::Alone, 90),
            (Kind::Right, 120),
            (Kind::Irrelevant, 120),
            (Kind::Both, 150),
            (Kind::Stale, 40),
            (Kind::Opaque, 90),
        ],
        values: 40,
        unfit: 20,
        gate: 150,
        fits: 400,
        drill: 30,
        planned: 600,
        roles: [
            50, 90, 90, 80, 90, 22, 60, 30, 10, 40, 50, 60, 14, 24, 100, 14,
        ],
    };
}

/// Worlds as varied as those of the evaluation, with a slightly larger share of invented nouns.
fn training_spec(draws: &mut Draws) -> WorldSpec {
    WorldSpec {
        split: Split::Training,
        invented_nouns: 0.3,
        hidden: 0.72,
        foreign_words: 0.05,
        ..WorldSpec::wide(draws)
    }
}

/// Tasks that give several values, with few visible tools.
fn values_spec(spec: WorldSpec) -> WorldSpec {
    WorldSpec {
        given: [0, 0, 40, 40, 20],
        fewest_tools: 2,
        most_tools: 4,
        hidden: 0.5,
        ..spec
    }
}

/// Writes documents.
#[derive(Debug, Clone)]
pub struct Writer {
    roles: GeneralRoles,
}

impl Writer {
    /// A writer with the shipped roles.
    ///
    /// # Errors
    /// Only in a broken build.
    pub fn new() -> Result<Self> {
        Ok(Self {
            roles: GeneralRoles::shipped()?,
        })
    }

    /// The roles by which cases are asked.
    #[must_use]
    pub fn roles(&self) -> &GeneralRoles {
        &self.roles
    }

    /// Draws a document.
    #[must_use]
    pub fn document(&self, mixture: &Mixture, draws: &mut Draws) -> Document {
        let acting = mixture.acting.map(|(_, weight)| weight);
        let kinds = [
            acting.iter().sum(),
            mixture.values,
            mixture.unfit,
            mixture.gate,
            mixture.fits,
            mixture.drill,
            mixture.planned,
            mixture.roles.iter().sum(),
        ];
        loop {
            let spec = training_spec(draws);
            let drawn = match draws.weighted(&kinds) {
                0 => {
                    let at = draws.weighted(&acting);
                    let kind = mixture
                        .acting
                        .get(at)
                        .map_or(Kind::Right, |(kind, _)| *kind);
                    self.attempt(kind, &spec, draws)
                }
                1 => {
                    let kind = match draws.chance(0.5) {
                        true => Kind::Right,
                        false => Kind::Alone,
                    };
                    self.attempt(kind, &values_spec(spec), draws)
                }
                2 => acting::unfit(&spec, draws),
                3 => drills::gate(&spec, draws),
                4 => drills::fits(&spec, draws),
                5 => Some(drills::drill(&spec, draws)),
                6 => drills::planned(&spec, draws),
                _ => {
                    let at = draws.weighted(&mixture.roles);
                    let role = Role::ALL.get(at).copied().unwrap_or(Role::Extract);
                    self.role(role, &spec, draws)
                }
            };
            if let Some(document) = drawn {
                return document;
            }
        }
    }

    fn attempt(&self, kind: Kind, spec: &WorldSpec, draws: &mut Draws) -> Option<Document> {
        let attempt = acting::attempt(kind, spec, draws)?;
        acting::document(&attempt, draws)
    }

    fn role(&self, role: Role, spec: &WorldSpec, draws: &mut Draws) -> Option<Document> {
        let prompt_format = prompt_format();
        let stage = Stage {
            spec,
            prompt_format: &prompt_format,
        };
        let case = case(role, stage, draws);
        self.case(&case, Some(draws)).ok()
    }

    /// A role's case as a document; its prompt is changed now and then where there are draws for it.
    ///
    /// # Errors
    /// As [`Roles::prompt`].
    pub fn case(&self, case: &RoleCase, draws: Option<&mut Draws>) -> Result<Document> {
        let request = RoleRequest::new(&case.task, Seed(0));
        let mut prompt = self.roles.prompt(&request)?.prompt;
        if let Some(draws) = draws {
            broken::role(&mut prompt, draws);
        }
        let mut document = chatml::conversation(&prompt, &[], &[], false);
        document.control(chatml::OPEN, false);
        document.data(case.answer.as_str(), true);
        document.control(chatml::END, true);
        Ok(document)
    }
}
