//! ARISE with the paper's numbers (Algorithm 1, Table 3).

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use crate::{
    domain::{State, TierPolicy},
    papers::arise::GainsPolicy,
    stations::{
        admit::{AdmitPolicy, Duplicates, Identity},
        credit::{Attribute, CreditPolicy, PerStep},
        propose::{Recovered, Summarize, WritePolicy, WriteWhen},
        recipe::{AttemptPolicy, Limits, Maintenance, Recipe, ScheduledProgram},
        reward::{LevelReward, RewardPolicy, UsedWhen},
        select::{Candidates, GatePolicy, SelectPer, SelectPolicy},
    },
};

/// Tasks of a step (A.1, A.2).
const STEP: NonZeroU64 = NonZeroU64::new(64).expect("64 is not 0");
/// Tasks between two measurements of the exact information gain: 100 steps (D.3).
const GAINS: NonZeroU64 = NonZeroU64::new(100 * STEP.get()).expect("6,400 is not 0");

/// ARISE with the paper's numbers: the whole cache scored by summed log-probabilities, gate 0.35, exploration 0.1,
/// groups of 8, rewards 0, 1 and 2, a skill from every group that has traces (of each the writer is shown 400 characters, D.1), tiers of 10 and 100, steps of 64 tasks, 500
/// steps of warm-up, the exact information gain after each 100. That is the schedule of a training run: 500 steps are 32,000
/// tasks. A host with fewer tasks sets [`Recipe::batch`], [`AttemptPolicy::warm_up`] and how often `gains` runs
/// ([`Maintenance::every`]) to what it has. The paper does not publish its rollouts' temperature; 1.0 is usual for GRPO. The library
/// starts empty: [`Journeyman::add`](crate::run::Journeyman::add) with the skills of
/// [`seed_skills`](crate::library::format::seed_skills) gives it the paper's start.
pub fn arise() -> Recipe {
    Recipe {
        name: "arise".to_owned(),
        select: SelectPolicy {
            candidates: Candidates::Cache,
            rank: None,
            selector: GatePolicy::paper().into(),
            per: SelectPer::Query,
            skill_tokens: None,
            withhold: None,
        },
        attempts: AttemptPolicy {
            group: const { NonZeroU32::new(8).expect("not 0") },
            temperature: 1.0,
            warm_up: 500,
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
            when: WriteWhen::Always,
            recovered: Recovered::default(),
            by: Summarize {
                shown_chars: NonZeroUsize::new(400),
                keeps_reasoning: true,
            }
            .into(),
        },
        admit: AdmitPolicy {
            initial_state: State::Active,
            fallback_state: State::Active,
            duplicates: Duplicates::Add,
            identity: Identity::Bytes,
            revive: false,
            rules: Vec::new(),
        },
        tiers: TierPolicy {
            traces: 100,
            ..TierPolicy::default()
        },
        batch: STEP,
        maintenance: Maintenance {
            programs: vec![ScheduledProgram::new(GAINS, GainsPolicy {})],
            ..Maintenance::default()
        },
        limits: Limits::default(),
    }
}
