//! Selection of the best candidate by the model's log-probabilities, or of none (ARISE 3.2).

use async_trait::async_trait;

use crate::{
    contract::SkillScores,
    domain::{
        Candidate, FittedThreshold, NothingReason, Selection, Skill, SkillRef, TurnQuery,
        gate_policy::{GatePolicy, SelectorGate},
    },
    error::Result,
    policy::{Ask, PolicyOptions, SelectProgram, View, view::Selected},
    stations::select::{
        baselines::first,
        candidates::{found, selections},
        gate::{decide, in_force, meaningful, unscored},
    },
};

impl PolicyOptions for GatePolicy {
    const NAME: &'static str = "gate";

    fn validate(&self) -> Result<()> {
        self.in_range()
    }
}

#[async_trait]
impl SelectProgram for GatePolicy {
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected> {
        let candidates = match found(ask, view, query).await {
            Ok(candidates) => candidates,
            Err(nothing) => return Ok(nothing),
        };
        let skills = candidates
            .iter()
            .filter_map(|found| view.library().get(&found.skill.id));
        let skills: Vec<Skill> = skills.map(|entry| entry.skill.clone()).collect();
        let on = SelectorGate::of(self);
        let on = view.context().retrieval.decided_on(&on, skills.len());
        let (gate, fitted) = match in_force(ask, self, on).await {
            Ok(in_force) => in_force,
            Err(reason) => return Ok(Selected::nothing(candidates, reason)),
        };
        let scores = scored(ask, query, &gate, (&candidates, skills)).await;
        let scores = scores.map(|scores| meaningful(scores, &gate, fitted.as_ref()));
        if scores.as_ref().is_ok_and(Vec::is_empty) {
            return Ok(Selected::nothing(candidates, NothingReason::NotKnown));
        }
        let chosen = scores.and_then(|scores| choose(view, (&gate, fitted.as_ref()), &scores));
        Ok(match chosen {
            Ok(selections) => Selected::new(candidates, selections),
            // Missing or invalid scores cost the injection, not the task (F13).
            Err(error) => Selected::nothing(candidates, unscored(&error)),
        })
    }

    fn gate(&self) -> Option<SelectorGate<'_>> {
        Some(SelectorGate::of(self))
    }
}

/// The scores that the gate needs: of all candidates, or of the one that the search finds first, with what its score counts there
/// beside the model's.
///
/// # Errors
/// `Invalid` where the gate's threshold was fitted for another model; else the scorer's error.
async fn scored(
    ask: &mut Ask,
    query: &TurnQuery,
    gate: &GatePolicy,
    (candidates, mut skills): (&[Candidate], Vec<Skill>),
) -> Result<Vec<SkillScores>> {
    let found = gate.found.zip(first(candidates));
    if let Some((_, first)) = found {
        skills.retain(|skill| skill.id == first.skill.id);
    }
    let mut scores = ask.score_for_gate(query.text.clone(), skills, gate).await?;
    if let (Some((weight, first)), [one]) = (found, scores.as_mut_slice())
        && let Some(behind_the_task) = &mut one.conditional
    {
        behind_the_task.sum += weight.counts(first.score, &query.text);
    }
    Ok(scores)
}

fn choose(
    view: &View,
    (gate, fitted): (&GatePolicy, Option<&FittedThreshold>),
    scores: &[SkillScores],
) -> Result<Vec<Selection>> {
    let pool: Vec<SkillRef> = view
        .offered()
        .map(|entry| entry.skill.reference())
        .collect();
    let gate = match view.context().explores {
        true => gate.clone(),
        false => GatePolicy {
            epsilon: 0.0,
            ..gate.clone()
        },
    };
    selections(view, |seed| {
        Ok(Selection {
            fitted: fitted.cloned(),
            ..decide(&gate, scores, &pool, seed, view.mode())?
        })
    })
}
