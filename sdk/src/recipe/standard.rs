//! The default recipe: ARISE's parts, with the options that we found to be better.

use std::num::{NonZeroU32, NonZeroUsize};

use super::{AttemptPolicy, Limits, Recipe, Schedule};
use crate::{
    admit::{AdmitPolicy, Duplicates, Identity},
    credit::{Attribute, CreditPer, CreditPolicy},
    domain::{State, TierPolicy},
    maintain::Maintenance,
    propose::{Recovered, WritePolicy, WriteWhen, Writer},
    reward::{HierarchicalReward, RewardPolicy, UsedWhen},
    select::{Candidates, GatePolicy, SelectPer, SelectPolicy, Selector},
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
            selector: Selector::Gate(GatePolicy::default()),
            per: SelectPer::Query,
            skill_tokens: None,
        },
        attempts: AttemptPolicy {
            group: const { NonZeroU32::new(4).expect("not 0") },
            temperature: 0.7,
            warm_up: 0,
        },
        reward: RewardPolicy {
            levels: HierarchicalReward::default(),
            binary: false,
            skill_use: UsedWhen::Injected,
            process: None,
            own: None,
        },
        assess: None,
        credit: CreditPolicy {
            per: CreditPer::Step,
            used_when: UsedWhen::Injected,
            attribute: Attribute::Never,
            own: None,
        },
        write: WritePolicy {
            when: WriteWhen::Below(0.75),
            recovered: Recovered::default(),
            by: Writer::default(),
        },
        admit: AdmitPolicy {
            initial_state: State::Active,
            fallback_state: State::Trial,
            duplicates: Duplicates::Revise,
            identity: Identity::MEANING,
            revive: false,
            own: None,
        },
        tiers: TierPolicy {
            cache: 200,
            reservoir: 1_000,
            ..TierPolicy::default()
        },
        schedule: Schedule::default(),
        maintenance: Maintenance::default(),
        programs: Vec::new(),
        limits: Limits::default(),
    }
}
