//! ARISE, as the paper has it (Algorithm 1, Table 3).

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

/// ARISE with the paper's numbers: the whole cache scored by summed log-probabilities, gate 0.35, exploration 0.1,
/// groups of 8, rewards 0, 1 and 2, a skill from every group that has traces, tiers of 10 and 100, 500 tasks of
/// warm-up, the exact information gain after each 100. The paper does not publish its rollouts' temperature; 1.0 is GRPO's custom. The
/// library starts empty: [`Journeyman::add`](crate::run::Journeyman::add) with the skills of
/// [`seed_skills`](crate::domain::seed_skills) gives it the paper's start.
pub fn arise() -> Recipe {
    Recipe {
        name: "arise".to_owned(),
        candidates: Candidates::Cache,
        rank: None,
        selector: Selector::Gate(GatePolicy::faithful()),
        select_per: SelectPer::Query,
        group: 8,
        temperature: 1.0,
        reward: HierarchicalReward::default(),
        binary: false,
        skill_tokens: None,
        skill_use: SkillUse::Injected,
        credit: CreditPer::Step,
        write: WriteWhen::Always,
        writer: Writer::Summarize,
        newcomers: State::Active,
        attribute: false,
        duplicates: Duplicates::Add,
        tiers: TierPolicy {
            traces: 100,
            ..TierPolicy::default()
        },
        schedule: Schedule {
            gain: Some(100),
            ..Schedule::default()
        },
        maintenance: Maintenance::default(),
        warm_up: 500,
        limits: Limits::default(),
    }
}
