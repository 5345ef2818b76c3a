//! Our own default: ARISE's parts with what we found to be better.

use super::{
    Candidates, Duplicates, Limits, Maintenance, Recipe, Schedule, SelectPer, SkillUse, WriteWhen,
    Writer,
};
use crate::{
    credit::CreditPer,
    domain::{State, TierPolicy},
    reward::HierarchicalReward,
    select::{GatePolicy, Selector},
};

/// The default: ten candidates by retrieval, the gate on PMI with an absolute threshold, a skill written only
/// where the agent fell short, one skill a title, a cache of 200. No warm-up: with fixed weights there is no base
/// policy to train first.
pub fn standard() -> Recipe {
    Recipe {
        name: "standard".to_owned(),
        candidates: Candidates::Search { limit: 10 },
        rank: None,
        selector: Selector::Gate(GatePolicy::default()),
        select_per: SelectPer::Query,
        group: 4,
        temperature: 0.7,
        reward: HierarchicalReward::default(),
        binary: false,
        skill_tokens: None,
        skill_use: SkillUse::Injected,
        credit: CreditPer::Step,
        write: WriteWhen::Below(0.75),
        writer: Writer::Summarize,
        newcomers: State::Active,
        attribute: false,
        duplicates: Duplicates::Revise,
        tiers: TierPolicy {
            cache: 200,
            reservoir: 1_000,
            ..TierPolicy::default()
        },
        schedule: Schedule::default(),
        maintenance: Maintenance::default(),
        warm_up: 0,
        limits: Limits::default(),
    }
}
