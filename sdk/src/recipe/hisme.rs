//! HiSME (algorithms 1 to 5, 4.1): the recipe of the paper, and ours that departs from it by options.

use super::{AttemptPolicy, Limits, Recipe, Schedule};
use crate::{
    admit::{AdmitPolicy, Duplicates},
    credit::{CreditPer, CreditPolicy},
    domain::{State, TierPolicy},
    maintain::{
        BundlePolicy, EvolvePolicy, FilterPolicy, Maintenance, RefactorPolicy, RefinePolicy,
    },
    propose::{WritePolicy, WriteWhen, Writer},
    retrieve::RankWeights,
    reward::{HierarchicalReward, RewardPolicy, SkillUse},
    select::{Candidates, SelectPer, SelectPolicy, Selector},
};

/// HiSME as the paper has it: three candidates from each attempt, credit by a model, test bundles, refinement, refactoring,
/// filtering, and rules for the roles after each five tasks, which run at once; skills are chosen for each turn; deterministic
/// decoding, one attempt a task.
///
/// The paper publishes neither how many skills are injected (here two) nor the filter's thresholds (here two harmful judgements
/// and no helpful one, of the latest eight). There is no warm-up, and the tiers are wide, so that skills leave by evidence.
/// Where no case of a bundle can be played, live attempts release a skill, which the paper leaves open.
///
/// Its ablations (Table 3) switch parts off: `maintenance.evolve = None` is HiSME-static, `write.when = Never` is without the
/// extractor, `maintenance.{refine, refactor, filter} = None` without those.
///
/// [`hisme_robust`] departs from it by options.
pub fn hisme() -> Recipe {
    Recipe {
        name: "hisme".to_owned(),
        select: SelectPolicy {
            candidates: Candidates::Search { limit: 20 },
            rank: Some(RankWeights::default()),
            selector: Selector::Top { limit: 2 },
            per: SelectPer::Turn,
            skill_tokens: None,
        },
        attempts: AttemptPolicy {
            group: 1,
            temperature: 0.0,
            warm_up: 0,
        },
        reward: RewardPolicy {
            levels: HierarchicalReward::default(),
            binary: false,
            skill_use: SkillUse::Reported,
            own: None,
        },
        credit: CreditPolicy {
            per: CreditPer::Step,
            attribute: true,
            own: None,
        },
        write: WritePolicy {
            when: WriteWhen::Always,
            by: Writer::Extract {
                candidates: 3,
                failures: true,
            },
        },
        admit: AdmitPolicy {
            initial_state: State::Trial,
            duplicates: Duplicates::Distinct,
            revive: false,
            own: None,
        },
        tiers: TierPolicy {
            cache: 400,
            reservoir: 1_000,
            traces: 200,
            ..TierPolicy::default()
        },
        schedule: Schedule {
            batch: 5,
            micro: 5,
            r#macro: 5,
            gain: None,
        },
        maintenance: Maintenance {
            bundles: Some(BundlePolicy::paper()),
            refine: Some(RefinePolicy::paper()),
            filter: Some(FilterPolicy::paper()),
            refactor: Some(RefactorPolicy::paper()),
            evolve: Some(EvolvePolicy::default()),
        },
        programs: Vec::new(),
        limits: Limits::default(),
    }
}

/// HiSME for streams in which a single attempt is a noisy witness; ours. It is [`hisme`] with these options changed:
///
/// | row | option | the paper | here |
/// | --- | --- | --- | --- |
/// | H1 | [`Writer::Extract`]`::failures` | yes | no |
/// | H3 | [`RefactorPolicy::skip_covered`], [`RefactorPolicy::counterfactual`] | no | yes |
/// | H5 | [`BundlePolicy::tasks`] | 1 | 2 |
/// | H6 | [`BundlePolicy::gate`] | [`Gate::All`](crate::maintain::Gate::All) | [`Gate::Better`](crate::maintain::Gate::Better) |
/// | H6 | [`BundlePolicy::harm_blocks`] | yes | no |
/// | H9 | [`FilterPolicy::keep_supported`], [`AdmitPolicy::revive`] | no | yes |
/// | H10 | [`RefinePolicy::insufficient`] | no | yes |
/// | H10 | [`RefinePolicy::failed_cases`] | yes | no |
/// | H12 | [`SelectPolicy::per`] | [`SelectPer::Turn`] | [`SelectPer::Query`] |
///
/// `docs/decisions.md` has the reason for each, and `docs/results.md` what they bring.
pub fn hisme_robust() -> Recipe {
    let mut recipe = Recipe {
        name: "hisme-robust".to_owned(),
        ..hisme()
    };
    recipe.select.per = SelectPer::Query;
    recipe.write.by = Writer::Extract {
        candidates: 3,
        failures: false,
    };
    recipe.admit.revive = true;
    recipe.maintenance.bundles = Some(BundlePolicy::default());
    recipe.maintenance.refine = Some(RefinePolicy::default());
    recipe.maintenance.filter = Some(FilterPolicy::default());
    recipe.maintenance.refactor = Some(RefactorPolicy::default());
    recipe
}
