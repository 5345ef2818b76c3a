//! SkillOS (architecture): a curator that inserts, updates and deletes skills after each task.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use crate::{
    domain::{State, TierPolicy},
    stations::{
        admit::{AdmitPolicy, Duplicates, Identity},
        credit::{Attribute, CreditPolicy, PerStep},
        propose::{Curate, Recovered, WritePolicy, WriteWhen},
        recipe::{AttemptPolicy, Limits, Maintenance, Recipe},
        reward::{LevelReward, RewardPolicy, UsedWhen},
        select::{Candidates, SelectPer, SelectPolicy, Top},
    },
};

/// Number of skills that are retrieved and injected, and that the curator is shown.
const RETRIEVED: NonZeroUsize = NonZeroUsize::new(2).expect("not 0");

/// SkillOS (architecture): the skills that BM25 ranks first are injected without a gate, the agent makes one attempt, and a
/// curator is asked once a task, after failures too, with the attempt, whether it succeeded, and the retrieved skills. Tasks
/// run in sequence. BM25 is the host's [`Retriever`](crate::contract::Retriever), such as `journeyman-tantivy`.
///
/// Our knowledge of the paper is a third party's summary. Not in it, and ours: the number of retrieved skills (2), the
/// temperature (0.7), and the tiers. The paper removes no skill but by the curator; here the cache has room for 100,000, so that
/// no skill leaves it. Credits are recorded for people, and decide nothing.
///
/// Departures: the [`Judge`](crate::contract::Judge) says whether an attempt succeeded, while the paper's agent judges itself
/// (a host's judge may ask the agent's model); a deleted skill is archived; untrusted text changes no skill that is free of it.
///
/// With HiSME's release gate (`admit.initial_state` on trial, and the program `micro` with `bundles`) inserted skills are on trial,
/// and updates of active skills are drafts, until they pass their test cases.
///
/// [`Grouping`](crate::papers::skillos::Grouping) makes the paper's groups of tasks,
/// [`Journeyman::roll_out`](crate::run::Journeyman::roll_out) the rollouts of a group.
///
/// ```
/// use journeyman::{stations::propose::Curate, recipe};
///
/// let recipe = recipe::skillos();
/// assert!(recipe.write.by.is::<Curate>());
/// assert!(recipe.maintenance.is_none());
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
pub fn skillos() -> Recipe {
    Recipe {
        name: "skillos".to_owned(),
        select: SelectPolicy {
            candidates: Candidates::Search { limit: RETRIEVED },
            rank: None,
            selector: Top { limit: RETRIEVED }.into(),
            per: SelectPer::Query,
            skill_tokens: None,
            withhold: None,
        },
        attempts: AttemptPolicy {
            group: NonZeroU32::MIN,
            temperature: 0.7,
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
            when: WriteWhen::Always,
            recovered: Recovered::default(),
            by: Curate {
                skills: const { NonZeroU32::new(2).expect("not 0") },
            }
            .into(),
        },
        admit: AdmitPolicy {
            initial_state: State::Active,
            fallback_state: State::Trial,
            duplicates: Duplicates::Add,
            identity: Identity::Bytes,
            revive: false,
            rules: Vec::new(),
        },
        tiers: TierPolicy {
            cache: 100_000,
            ..TierPolicy::default()
        },
        batch: NonZeroU64::MIN,
        maintenance: Maintenance::default(),
        limits: Limits::default(),
    }
}
