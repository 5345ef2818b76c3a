//! The default recipe: ARISE's parts, with the options that we found to be better.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use super::{AttemptPolicy, Limits, Maintenance, Recipe};
use crate::{
    domain::{State, TierPolicy},
    stations::{
        admit::{AdmitPolicy, Duplicates, Identity},
        credit::{Attribute, CreditPolicy, PerStep},
        propose::{Recovered, Summarize, WritePolicy, WriteWhen},
        reward::{LevelReward, RewardPolicy, UsedWhen},
        select::{Candidates, GatePolicy, SelectPer, SelectPolicy},
    },
};

/// The default: ten candidates by retrieval, the gate on PMI with an absolute threshold, a skill written only if the
/// mean score is below 0.75, one skill per title, a cache of 200. No warm-up: with fixed weights there is no base policy
/// to train first.
pub fn standard() -> Recipe {
    Recipe {
        name: "standard".to_owned(),
        select: SelectPolicy {
            candidates: Candidates::Search {
                limit: const { NonZeroUsize::new(10).expect("not 0") },
            },
            rank: None,
            selector: GatePolicy::default().into(),
            per: SelectPer::Query,
            skill_tokens: None,
            withhold: None,
        },
        attempts: AttemptPolicy {
            group: const { NonZeroU32::new(4).expect("not 0") },
            temperature: 0.7,
            warm_up: 0,
        },
        reward: RewardPolicy {
            by: LevelReward::default().into(),
            skill_use: UsedWhen::Injected,
        },
        assess: None,
        credit: CreditPolicy {
            by: PerStep.into(),
            used_when: UsedWhen::Injected,
            attribute: Attribute::Never,
        },
        write: WritePolicy {
            when: WriteWhen::Below(0.75),
            recovered: Recovered::default(),
            by: Summarize::default().into(),
        },
        admit: AdmitPolicy {
            initial_state: State::Active,
            fallback_state: State::Trial,
            duplicates: Duplicates::Revise,
            identity: Identity::MEANING,
            revive: false,
            rules: Vec::new(),
        },
        tiers: TierPolicy {
            cache: 200,
            reservoir: 1_000,
            ..TierPolicy::default()
        },
        batch: NonZeroU64::MIN,
        maintenance: Maintenance::default(),
        limits: Limits::default(),
    }
}
