//! HiSME (algorithms 1 to 5, 4.1): the paper's recipe, and ours, which differs from it in options.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use super::{AttemptPolicy, Limits, Recipe, Schedule};
use crate::{
    domain::{MaintenanceBudget, State, TierPolicy},
    stations::{
        admit::{AdmitPolicy, Duplicates, Identity},
        credit::{Attribute, CreditPolicy, PerStep},
        maintain::{
            BundlePolicy, EvolvePolicy, FilterPolicy, Maintenance, RefactorPolicy, RefinePolicy,
        },
        propose::{Extract, Recovered, WritePolicy, WriteWhen},
        retrieve::RankWeights,
        reward::{LevelReward, RewardPolicy, UsedWhen},
        select::{Candidates, SelectPer, SelectPolicy, Top},
    },
};

/// Candidates from an attempt (3.2).
const CANDIDATES: NonZeroU32 = NonZeroU32::new(3).expect("not 0");

/// The paper's writer: several candidates, from failures too.
const EXTRACT: Extract = Extract {
    candidates: CANDIDATES,
    failures: true,
};

/// HiSME as in the paper: three candidates from each attempt, credit by a model, test bundles, refinement, refactoring,
/// filtering, and rules for the roles after each five tasks, which run at once; skills are chosen for each turn; deterministic
/// decoding, one attempt per task.
///
/// The paper publishes neither how many skills are injected (here two) nor the filter's thresholds (here two harmful judgements
/// and no helpful one, of the latest eight). There is no warm-up, and the tiers are wide, so that skills leave by evidence.
///
/// Differences without an option: if no case of a bundle can be played, live attempts release a skill, which the paper leaves
/// open; a skill on trial is released only by whole-attempt cases, and while no more judgements call it harmful than tasks
/// support it; a case that could not be played counts neither way; there are no skill-revision groups (H3).
///
/// The paper's ablations (Table 3) switch parts off: `maintenance.evolve = None` is HiSME-static, `write.when = Never` is
/// without the extractor, `maintenance.{refine, refactor, filter} = None` without those parts.
///
/// [`hisme_robust`] differs from it in options.
pub fn hisme() -> Recipe {
    Recipe {
        name: "hisme".to_owned(),
        select: SelectPolicy {
            candidates: Candidates::Search {
                limit: const { NonZeroUsize::new(20).expect("not 0") },
            },
            rank: Some(RankWeights::default()),
            selector: Top {
                limit: const { NonZeroUsize::new(2).expect("not 0") },
            }
            .into(),
            per: SelectPer::Turn,
            skill_tokens: None,
        },
        attempts: AttemptPolicy {
            group: NonZeroU32::MIN,
            temperature: 0.0,
            warm_up: 0,
        },
        reward: RewardPolicy {
            by: LevelReward::default().into(),
            skill_use: UsedWhen::Followed,
        },
        assess: None,
        credit: CreditPolicy {
            by: PerStep.into(),
            used_when: UsedWhen::Injected,
            attribute: Attribute::Always,
        },
        write: WritePolicy {
            when: WriteWhen::Always,
            recovered: Recovered::default(),
            by: EXTRACT.into(),
        },
        admit: AdmitPolicy {
            initial_state: State::Trial,
            fallback_state: State::Trial,
            duplicates: Duplicates::Distinct,
            identity: Identity::Bytes,
            revive: false,
            rules: Vec::new(),
        },
        tiers: TierPolicy {
            cache: 400,
            reservoir: 1_000,
            traces: 200,
            ..TierPolicy::default()
        },
        schedule: Schedule {
            batch: const { NonZeroU64::new(5).expect("not 0") },
            ..Schedule::default()
        },
        maintenance: Maintenance {
            bundles: Some(BundlePolicy::paper()),
            refine: Some(RefinePolicy::paper()),
            filter: Some(FilterPolicy::paper()),
            refactor: Some(RefactorPolicy::paper()),
            evolve: Some(EvolvePolicy::default()),
            bank: None,
            quarantine: None,
            budget: MaintenanceBudget::default(),
        },
        programs: Vec::new(),
        limits: Limits::default(),
    }
}

/// HiSME for streams in which a single attempt is weak evidence; ours. [`hisme`] with these options changed:
///
/// | row | option | the paper | here |
/// | --- | --- | --- | --- |
/// | H1 | [`Extract::failures`] | yes | no |
/// | H3 | [`RefactorPolicy::skip_covered`], [`RefactorPolicy::counterfactual`] | no | yes |
/// | H5 | [`BundlePolicy::tasks`] | 1 | 2 |
/// | H6 | [`BundlePolicy::gate`] | [`Gate::All`](crate::stations::maintain::Gate::All) | [`Gate::Better`](crate::stations::maintain::Gate::Better) |
/// | H6 | [`BundlePolicy::harm_blocks`] | yes | no |
/// | H1, H14 | [`AdmitPolicy::identity`] | [`Identity::Bytes`] | [`Identity::MEANING`] |
/// | H9 | [`FilterPolicy::keep_supported`], [`AdmitPolicy::revive`] | no | yes |
/// | H10 | [`RefinePolicy::insufficient`] | no | yes |
/// | H10 | [`RefinePolicy::failed_cases`], [`RefinePolicy::whole`] | yes | no |
/// | H12 | [`SelectPolicy::per`] | [`SelectPer::Turn`] | [`SelectPer::Query`] |
///
/// `docs/decisions.md` has the reason for each, and `docs/results/hisme-departures.md` their effect.
///
/// ```
/// use journeyman::{recipe, stations::select::SelectPer};
///
/// let (paper, robust) = (recipe::hisme(), recipe::hisme_robust());
/// assert_eq!(paper.select.per, SelectPer::Turn);
/// assert_eq!(robust.select.per, SelectPer::Query);
/// // Both learn by the same schedule and tiers.
/// assert_eq!(robust.schedule, paper.schedule);
/// assert_eq!(robust.tiers, paper.tiers);
/// robust.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
pub fn hisme_robust() -> Recipe {
    let mut recipe = Recipe {
        name: "hisme-robust".to_owned(),
        ..hisme()
    };
    recipe.select.per = SelectPer::Query;
    recipe.write.by = Extract {
        failures: false,
        ..EXTRACT
    }
    .into();
    recipe.admit.revive = true;
    recipe.admit.identity = Identity::MEANING;
    recipe.maintenance.bundles = Some(BundlePolicy::default());
    recipe.maintenance.refine = Some(RefinePolicy::default());
    recipe.maintenance.filter = Some(FilterPolicy::default());
    recipe.maintenance.refactor = Some(RefactorPolicy::default());
    recipe
}
