//! Our policies, by their names.

use std::sync::Arc;

use serde_json::Value;

use super::programs::with_our_programs;
use crate::{
    credit::{PerRollout, PerStep},
    error::Result,
    policy::{Policies, PolicyOptions, named::checked_options},
    propose::{Curate, Extract, Summarize},
    reward::{LevelReward, ProcessReward},
    select::{BankSelector, First, GatePolicy, Nothing, Random, Top},
};

/// The registry of our policies. All but the maintenance programs are their own options.
pub(super) fn ours() -> Policies {
    with_our_programs(Policies::new())
        .with_selector(GatePolicy::NAME, |options| Ok(make::<GatePolicy>(options)?))
        .with_selector(BankSelector::NAME, |options| {
            Ok(make::<BankSelector>(options)?)
        })
        .with_selector(First::NAME, |options| Ok(make::<First>(options)?))
        .with_selector(Top::NAME, |options| Ok(make::<Top>(options)?))
        .with_selector(Random::NAME, |options| Ok(make::<Random>(options)?))
        .with_selector(Nothing::NAME, |options| Ok(make::<Nothing>(options)?))
        .with_writer(Summarize::NAME, |options| Ok(make::<Summarize>(options)?))
        .with_writer(Extract::NAME, |options| Ok(make::<Extract>(options)?))
        .with_writer(Curate::NAME, |options| Ok(make::<Curate>(options)?))
        .with_reward(LevelReward::NAME, |options| {
            Ok(make::<LevelReward>(options)?)
        })
        .with_reward(ProcessReward::NAME, |options| {
            Ok(make::<ProcessReward>(options)?)
        })
        .with_credit(PerStep::NAME, |options| Ok(make::<PerStep>(options)?))
        .with_credit(PerRollout::NAME, |options| Ok(make::<PerRollout>(options)?))
}

/// Makes one of our policies of its options.
///
/// # Errors
/// `Invalid` for options of another policy, and for a value out of range.
fn make<O: PolicyOptions>(options: &Value) -> Result<Arc<O>> {
    checked_options(options).map(Arc::new)
}
