//! The gate: asks for the scores of the candidates and decides by them whether a skill is injected, and which (ARISE 3.2, Eq. 3 and 7;
//! rows A3, J4).

use std::collections::BTreeSet;

use async_trait::async_trait;

use crate::{
    contract::SkillScores,
    domain::{
        Candidate, DecidedOn, Decision, FittedThreshold, Mode, NothingReason, Scored, Selection,
        Skill, SkillRef, TurnQuery,
        gate_policy::{FITTED_FOR, GatePolicy, SelectorGate},
    },
    error::{Error, Result},
    id::Seed,
    policy::{Ask, PolicyOptions, SelectProgram, View, view::Selected},
    stations::select::candidates::{first, found, selections},
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
        let scores = ask_scores(ask, query, &gate, (&candidates, skills)).await;
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
async fn ask_scores(
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

/// Decides by scores: the best candidate if it passes the policy's tests, else nothing, with the reason.
///
/// If the best candidate passes, a training run takes with probability epsilon a skill drawn uniformly from the whole
/// `pool`, the best included (Eq. 7); an empty pool leaves the best. The answer is a function of the set of
/// candidates, the set of the pool and the seed: their order does not matter, and of equal values the smaller id
/// ranks first. If both tests fail, the reason is the relative one.
///
/// # Errors
/// `Invalid` for a policy out of range, a skill that is named twice or of which no token was scored, a score that is not
/// finite, and a candidate without a part that the score needs.
pub fn decide(
    policy: &GatePolicy,
    candidates: &[SkillScores],
    pool: &[SkillRef],
    seed: Seed,
    mode: Mode,
) -> Result<Selection> {
    policy.in_range()?;
    let candidates = scored(policy, candidates)?;
    let decision = match candidates.first() {
        None => Decision::Nothing(NothingReason::NoCandidates),
        Some(best) => match refusal(policy, best) {
            Some(reason) => Decision::Nothing(reason),
            None => {
                let drawn = match mode {
                    Mode::Train => explore(policy.epsilon, pool, seed),
                    Mode::Evaluate => None,
                };
                Decision::Inject {
                    explored: drawn.is_some(),
                    skills: vec![drawn.unwrap_or_else(|| best.skill.clone())],
                }
            }
        },
    };
    Ok(Selection {
        decision,
        score: Some(policy.score),
        candidates,
        ..Selection::nothing(NothingReason::NoCandidates)
    })
}

/// The candidates that pass a policy's tests, each by itself.
#[derive(Debug, Default)]
pub(crate) struct Gated {
    /// All candidates with their scores, the best first.
    pub(crate) scored: Vec<Scored>,
    /// Those that pass, the best first.
    pub(crate) passing: Vec<SkillRef>,
    /// The test that the best candidate fails, if it fails one.
    pub(crate) refusal: Option<NothingReason>,
}

/// Tests each candidate by itself, without exploration.
///
/// # Errors
/// As [`decide`].
pub(crate) fn gated(policy: &GatePolicy, candidates: &[SkillScores]) -> Result<Gated> {
    policy.in_range()?;
    let scored = scored(policy, candidates)?;
    let passes = |one: &&Scored| refusal(policy, one).is_none();
    Ok(Gated {
        passing: scored
            .iter()
            .filter(passes)
            .map(|one| one.skill.clone())
            .collect(),
        refusal: scored.first().and_then(|best| refusal(policy, best)),
        scored,
    })
}

/// The candidates with their value and softmax probability (Eq. 3), best first.
fn scored(policy: &GatePolicy, candidates: &[SkillScores]) -> Result<Vec<Scored>> {
    let mut seen = BTreeSet::new();
    let mut scored = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        if !seen.insert(&candidate.skill) {
            return Err(
                Error::invalid("select::decide", "a candidate is there twice")
                    .with("skill", &candidate.skill.id),
            );
        }
        scored.push(Scored {
            skill: candidate.skill.clone(),
            value: candidate.checked(policy.score)?,
            probability: 0.0,
        });
    }
    // Values are finite, so they always compare; 0 and -0 are equal.
    scored.sort_by(|a, b| {
        b.value
            .partial_cmp(&a.value)
            .unwrap_or(std::cmp::Ordering::Equal)
            .then_with(|| a.skill.cmp(&b.skill))
    });
    let greatest = scored.first().map_or(0.0, |best| best.value);
    // The greatest exponent is 0, so the sum is at least 1 and nothing overflows.
    let share = |value: f64| ((value - greatest) / policy.temperature).exp();
    let sum: f64 = scored.iter().map(|one| share(one.value)).sum();
    for one in &mut scored {
        one.probability = share(one.value) / sum;
    }
    Ok(scored)
}

/// The test that the best candidate fails; `None` if it passes both.
fn refusal(policy: &GatePolicy, best: &Scored) -> Option<NothingReason> {
    if let Some(threshold) = policy.relative
        && best.probability < threshold
    {
        return Some(NothingReason::BelowRelative {
            best: best.probability,
            threshold,
        });
    }
    if let Some(threshold) = policy.absolute
        && best.value <= threshold
    {
        return Some(NothingReason::BelowAbsolute {
            best: best.value,
            threshold,
        });
    }
    None
}

/// The exploration of Eq. 7: with probability epsilon a skill of the pool.
fn explore(epsilon: f64, pool: &[SkillRef], seed: Seed) -> Option<SkillRef> {
    if seed.derive("explore", 0).unit() < epsilon {
        draw(pool, seed)
    } else {
        None
    }
}

/// A skill drawn uniformly from the set of the pool's skills; `None` for an empty pool.
pub(super) fn draw(pool: &[SkillRef], seed: Seed) -> Option<SkillRef> {
    let pool: BTreeSet<&SkillRef> = pool.iter().collect();
    let index = seed.derive("draw", 0).index(pool.len())?;
    pool.into_iter().nth(index).cloned()
}

// The gate that is in force: the recipe's, or the same with a threshold that was fitted to the model.

/// The scores by which a gate decides. Where the recipe's threshold holds since the model was trained for it (`fitted` is `None`), those of
/// skills that it was not trained on say nothing, and are left out.
pub(crate) fn meaningful(
    mut scores: Vec<SkillScores>,
    policy: &GatePolicy,
    fitted: Option<&FittedThreshold>,
) -> Vec<SkillScores> {
    if policy.to_fit().is_some() && fitted.is_none() {
        scores.retain(|one| one.unconditional.is_none_or(|alone| alone.is_known()));
    }
    scores
}

/// The policy by which candidates are decided, and the threshold in it, if the session fitted that to the model.
///
/// # Errors
/// The reason why nothing may be injected: there is no threshold for this model.
pub(crate) async fn in_force(
    ask: &mut Ask,
    policy: &GatePolicy,
    on: DecidedOn,
) -> Result<(GatePolicy, Option<FittedThreshold>), NothingReason> {
    let Some(most_wrong) = policy.to_fit() else {
        return Ok((policy.clone(), None));
    };
    match ask.threshold(most_wrong, on).await {
        Ok(None) => Ok((policy.clone(), None)),
        Ok(Some(fitted)) => {
            let policy = GatePolicy {
                score: fitted.score,
                absolute: Some(fitted.threshold),
                found: fitted.found,
                ..policy.clone()
            };
            Ok((policy, Some(fitted)))
        }
        Err(error) => Err(NothingReason::Uncalibrated(error.to_string())),
    }
}

/// The reason why nothing is injected where skills were not scored for a gate.
pub(crate) fn unscored(error: &Error) -> NothingReason {
    match error.fact(FITTED_FOR) {
        Some(_) => NothingReason::Uncalibrated(error.to_string()),
        None => NothingReason::ScorerUnavailable(error.to_string()),
    }
}
