//! What a round asks, and the answers as they come.

use serde::{Deserialize, Serialize};

use super::super::{
    Answer, AttemptNeed, CaseNeed, CaseRun, ChosenSkill, EventKind, Need, Played, context::Context,
};
use crate::{
    contract::{Embedding, RoleTask},
    domain::{BundleCase, CaseOutcome, InformationGain, Skill, SkillRef, Trace},
    error::{Error, Result, Retry},
    id::AttemptId,
};

/// Something to ask.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    /// A role.
    Role(Box<RoleTask>),
    /// A case, with a skill that may not be in the library, or without any.
    Case {
        skill: Option<Box<Skill>>,
        case: Box<BundleCase>,
    },
    /// Texts to be embedded.
    Embed(Vec<String>),
    /// What a skill gains over attempts.
    Gain {
        skill: Box<Skill>,
        attempts: Vec<Trace>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Slot {
    ask: Ask,
    answer: Option<Answer>,
}

/// What a round asks, and the answers as they come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Slots(Vec<Slot>);

impl FromIterator<Ask> for Slots {
    fn from_iter<I: IntoIterator<Item = Ask>>(asks: I) -> Self {
        let slot = |ask| Slot { ask, answer: None };
        Self(asks.into_iter().map(slot).collect())
    }
}

impl Slots {
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn are_full(&self) -> bool {
        self.0.iter().all(|slot| slot.answer.is_some())
    }

    /// What has no answer yet; `asked` asks came before.
    pub(super) fn open(
        &self,
        context: &Context<'_>,
        step: u64,
        asked: u32,
        wants: &dyn Fn(u32) -> bool,
    ) -> Vec<(u32, Need)> {
        let open = (asked..).zip(&self.0);
        let open = open.filter(|(index, slot)| slot.answer.is_none() && wants(*index));
        open.map(|(index, slot)| (index, need(context, step, index, &slot.ask)))
            .collect()
    }

    /// Takes an answer in, unless there is one; whether it fits what was asked.
    pub(super) fn answer(&mut self, place: u32, answer: Answer) -> bool {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let Some(slot) = self.0.get_mut(place) else {
            return false;
        };
        let fits = matches!(
            (&slot.ask, &answer),
            (Ask::Role(_), Answer::Played(_))
                | (Ask::Case { .. }, Answer::Tried(_))
                | (Ask::Embed(_), Answer::Embedded(_))
                | (Ask::Gain { .. }, Answer::Gained(_))
        );
        if fits {
            slot.answer.get_or_insert(answer);
        }
        fits
    }

    /// What roles were asked, and what they said; none where a role could not be played.
    pub(super) fn played(&self) -> impl Iterator<Item = (&RoleTask, &Result<Option<Played>>)> {
        self.0
            .iter()
            .filter_map(|slot| match (&slot.ask, &slot.answer) {
                (Ask::Role(task), Some(Answer::Played(played))) => Some((&**task, played)),
                _ => None,
            })
    }

    /// What came of the cases, with the skill of each, and whether it could not be played for now alone.
    pub(super) fn tried(&self) -> impl Iterator<Item = (&Skill, &BundleCase, CaseOutcome, bool)> {
        self.0
            .iter()
            .filter_map(|slot| match (&slot.ask, &slot.answer) {
                (
                    Ask::Case {
                        skill: Some(skill),
                        case,
                    },
                    Some(Answer::Tried(run)),
                ) => {
                    let for_now = run.as_ref().is_err_and(is_for_now);
                    Some((&**skill, &**case, outcome(case, run), for_now))
                }
                _ => None,
            })
    }

    /// What came of all cases, those without a skill too, in the order in which they were asked.
    pub(super) fn runs(&self) -> impl Iterator<Item = &Result<CaseRun>> {
        self.0
            .iter()
            .filter_map(|slot| match (&slot.ask, &slot.answer) {
                (Ask::Case { .. }, Some(Answer::Tried(run))) => Some(run),
                _ => None,
            })
    }

    /// The embeddings of all texts, in order; none where there is nothing that embeds.
    pub(super) fn embedded(&self) -> Option<Vec<Embedding>> {
        let mut all = Vec::new();
        for slot in &self.0 {
            match &slot.answer {
                Some(Answer::Embedded(Ok(Some(embedded)))) => all.extend(embedded.iter().cloned()),
                Some(Answer::Embedded(_)) => return None,
                _ => {}
            }
        }
        (!all.is_empty()).then_some(all)
    }

    /// What was measured of skills.
    pub(super) fn gained(
        &self,
    ) -> impl Iterator<Item = (&Skill, &Result<Option<InformationGain>>)> {
        self.0
            .iter()
            .filter_map(|slot| match (&slot.ask, &slot.answer) {
                (Ask::Gain { skill, .. }, Some(Answer::Gained(gain))) => Some((&**skill, gain)),
                _ => None,
            })
    }

    /// Word of every role that could not be played or read.
    pub(super) fn failures(&self) -> Vec<EventKind> {
        let failed = |(task, said): (&RoleTask, &Result<Option<Played>>)| {
            let error = said.as_ref().err()?;
            Some(EventKind::RoleFailed {
                role: task.role(),
                reason: error.to_string(),
            })
        };
        self.played().filter_map(failed).collect()
    }
}

fn need(context: &Context<'_>, step: u64, index: u32, ask: &Ask) -> Need {
    let seed = context.step_seed(step);
    // With a skill and without it a case is played alike, and at another place in the round too.
    let seed = match ask {
        Ask::Case { case, .. } => seed.derive(&case.name, 0),
        _ => seed.derive("maintain", u64::from(index)),
    };
    match ask {
        Ask::Role(task) => Need::Role {
            ask: task.clone(),
            seed,
        },
        Ask::Embed(texts) => Need::Embed(texts.clone()),
        Ask::Gain { skill, attempts } => Need::Gain {
            skill: skill.clone(),
            attempts: attempts.clone(),
        },
        Ask::Case { skill, case } => Need::Case(Box::new(CaseNeed {
            attempt: AttemptNeed {
                run: context.run.clone(),
                attempt: AttemptId::new(format!("{}/{step}/m{index}", context.run)),
                task: case.task.clone(),
                seed,
                world_seed: case.world_seed,
                temperature: 0.0,
                skills: skill.iter().map(|skill| chosen(skill)).collect(),
                skill_tokens: context.recipe.skill_tokens,
                // A case is about this skill.
                turns: None,
                time_limit: context.recipe.limits.attempt,
            },
            prefix: case.prefix.clone(),
        })),
    }
}

fn chosen(skill: &Skill) -> ChosenSkill {
    ChosenSkill {
        sha256: skill.content_sha256(),
        skill: skill.clone(),
    }
}

/// What a case came to.
pub(super) fn outcome(case: &BundleCase, run: &Result<CaseRun>) -> CaseOutcome {
    let (failed, refusals) = match run {
        Err(error) => (Some(cannot(error)), None),
        Ok(run) if run.verdict.success.is_none() => (Some(UNTOLD.to_owned()), None),
        Ok(run) => (failed(case, run), Some(run.refusals)),
    };
    CaseOutcome {
        name: case.name.clone(),
        failed,
        refusals,
    }
}

/// Why a case says nothing whose attempt nobody could judge.
pub(super) const UNTOLD: &str = "nobody could tell whether the task was done";

/// Why a case fails; none where it passes.
pub(super) fn failed(case: &BundleCase, run: &CaseRun) -> Option<String> {
    let (score, least) = (run.verdict.score, case.least_score);
    if run.verdict.success != Some(true) {
        Some("the task was not done".to_owned())
    } else if run.refusals > case.refusals {
        let (refusals, most) = (run.refusals, case.refusals);
        Some(format!(
            "{refusals} actions were refused, of {most} allowed"
        ))
    } else if score < least {
        Some(format!("the score is {score}, and has to be {least}"))
    } else {
        None
    }
}

/// What came of a version's cases.
pub(super) struct Ran {
    pub(super) skill: SkillRef,
    pub(super) cases: Vec<(BundleCase, CaseOutcome)>,
    /// Whether one of them could not be played for now: then the others decide nothing, and all are due again.
    pub(super) for_now: bool,
}

/// The outcomes by skill, in order.
pub(super) fn outcomes(slots: &Slots) -> Vec<Ran> {
    let mut outcomes: Vec<Ran> = Vec::new();
    for (skill, case, outcome, for_now) in slots.tried() {
        let skill = skill.reference();
        match outcomes.last_mut() {
            Some(last) if last.skill == skill => {
                last.cases.push((case.clone(), outcome));
                last.for_now |= for_now;
            }
            _ => outcomes.push(Ran {
                skill,
                cases: vec![(case.clone(), outcome)],
                for_now,
            }),
        }
    }
    outcomes
}

/// Whether what failed may go well another time.
pub(super) fn is_for_now(error: &Error) -> bool {
    error.retry() == Retry::Temporary
}

pub(super) fn cannot(error: &Error) -> String {
    format!("the case could not be played: {error}")
}
