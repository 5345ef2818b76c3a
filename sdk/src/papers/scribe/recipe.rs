//! SCRIBE with the paper's numbers (sections 3 and 4).

use std::num::NonZeroU32;

use crate::{
    papers::scribe::{AssessPolicy, ProcessReward},
    stations::{
        propose::{Recovered, WritePolicy, WriteWhen},
        recipe::{AttemptPolicy, Recipe, standard},
        reward::RewardPolicy,
    },
};

/// SCRIBE: attempts are cut into subgoals, each is routed to a skill prototype and scored 0 to 3 by its rubric, the scores are
/// calibrated, and an attempt's reward is 0.3 of its process score and 0.7 of its outcome. Groups of 8; prototypes refreshed
/// each 1,000 steps; 20 anchors for each task type, judged 5 times.
///
/// Departures, with their reasons:
/// - In the paper the reward trains the agent's weights. Here they stay fixed: the reward credits skills, and a skill is written
///   from the attempt of a group with the greatest reward. How skills are found, chosen and kept, the paper does not say: as in
///   [`standard`].
/// - The paper clusters a training set first; here the first clustering is after [`AssessPolicy::first`] tasks, and until then the
///   reward is the outcome.
/// - The router is no trained model: [`RouteBy`](crate::papers::scribe::RouteBy).
pub fn scribe() -> Recipe {
    let standard = standard();
    Recipe {
        name: "scribe".to_owned(),
        attempts: AttemptPolicy {
            group: const { NonZeroU32::new(8).expect("not 0") },
            temperature: 1.0,
            ..standard.attempts
        },
        reward: RewardPolicy {
            by: ProcessReward::default().into(),
            ..standard.reward
        },
        assess: Some(AssessPolicy::default().into()),
        write: WritePolicy {
            when: WriteWhen::Always,
            recovered: Recovered::default(),
            ..standard.write
        },
        tiers: crate::domain::TierPolicy {
            traces: 200,
            ..standard.tiers
        },
        ..standard
    }
}
