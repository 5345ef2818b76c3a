//! SkillRL (algorithm 1, 4.1) over fixed model weights.

use std::num::{NonZeroU32, NonZeroU64};

use crate::{
    domain::{State, TierPolicy},
    papers::skillrl::{BankPolicy, BankSelector},
    stations::{
        admit::{AdmitPolicy, Duplicates, Identity},
        credit::{Attribute, CreditPolicy, PerStep},
        propose::{Recovered, Summarize, WritePolicy, WriteWhen},
        recipe::{AttemptPolicy, Limits, Maintenance, Recipe, ScheduledProgram},
        reward::{LevelReward, RewardPolicy, UsedWhen},
        select::{Candidates, SelectPer, SelectPolicy},
    },
};

/// SkillRL with the paper's numbers: a bank of general and category skills ([`BankPolicy`]), distilled from attempts of both
/// kinds and grown from the failures of categories with a success rate below 0.4; general skills always in the prompt, and at
/// most 6 of the task's category by similarity ([`BankSelector`]); groups of 8 attempts, steps of 16 tasks, a binary reward. No
/// skill is written from a single task.
///
/// Departures, since model weights stay fixed here: there is no reinforcement learning and no cold start. What they need is
/// exported: groups with rewards and advantages, and demonstrations
/// (`demonstrations` of the crate `journeyman-interchange`). A validation round is the attempts at the latest
/// tasks, five steps of them, and not an evaluation on tasks of its own; a host that has such tasks hands the round over
/// ([`Journeyman::evolve_bank`](crate::run::Journeyman::evolve_bank)).
///
/// The paper publishes neither the threshold of similarity (here 0) nor how often it validates, how many failures are distilled
/// (here 16), which texts are duplicates (here 0.9) and the temperature of attempts (here 1). The tiers are wide, so that no
/// skill is evicted: the paper's bank only grows.
///
/// Where the host's model does not play `distil-bank`, patterns and lessons become skills by themselves; a task without a
/// category then gives a general skill, which every prompt has. A host with such a model gives its tasks categories.
///
/// ```
/// use journeyman::{recipe, papers::skillrl::BankSelector};
///
/// let recipe = recipe::skillrl();
/// recipe.validate()?;
/// let bank = recipe.select.selector.read::<BankSelector>()?.expect("it selects from a bank");
/// assert_eq!((bank.limit.get(), recipe.attempts.group.get()), (6, 8));
/// # Ok::<(), journeyman::Error>(())
/// ```
pub fn skillrl() -> Recipe {
    let bank = BankPolicy::default();
    Recipe {
        name: "skillrl".to_owned(),
        select: SelectPolicy {
            candidates: Candidates::Cache,
            rank: None,
            selector: BankSelector::default().into(),
            per: SelectPer::Query,
            skill_tokens: None,
            withhold: None,
        },
        attempts: AttemptPolicy {
            group: const { NonZeroU32::new(8).expect("not 0") },
            temperature: 1.0,
            warm_up: 0,
        },
        reward: RewardPolicy {
            by: LevelReward {
                binary: true,
                ..LevelReward::default()
            }
            .into(),
            skill_use: UsedWhen::Injected,
        },
        assess: None,
        credit: CreditPolicy {
            by: PerStep.into(),
            used_when: UsedWhen::Injected,
            attribute: Attribute::Never,
        },
        write: WritePolicy {
            when: WriteWhen::Never,
            recovered: Recovered::default(),
            by: Summarize::default().into(),
        },
        admit: AdmitPolicy {
            initial_state: State::Active,
            fallback_state: State::Trial,
            duplicates: Duplicates::Distinct,
            identity: Identity::Bytes,
            revive: false,
            rules: Vec::new(),
        },
        tiers: TierPolicy {
            cache: 400,
            reservoir: 1_000,
            traces: 640,
            ..TierPolicy::default()
        },
        batch: const { NonZeroU64::new(16).expect("not 0") },
        maintenance: Maintenance {
            programs: vec![ScheduledProgram::of(bank)],
            ..Maintenance::default()
        },
        limits: Limits::default(),
    }
}
