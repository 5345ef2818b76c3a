//! HiSME (algorithms 1 to 5, 4.1), and where it departs from the paper.

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

/// HiSME with the paper's numbers where it has any: three candidates from each attempt that was done, credit by a model, bundles,
/// refining, refactoring, filtering and rules for the roles after each five tasks, which run at once; deterministic
/// decoding, one attempt a task. The paper does not publish how many skills are injected: two, ours. There is no
/// warm-up, and the tiers are wide: what leaves the pool leaves it by evidence.
///
/// Unlike the paper's it is built for streams in which a single attempt is a noisy witness. By options: attempts at two tasks
/// release a newcomer, also one that was extracted ([`BundlePolicy::tasks`], the paper's is 1); a mended version is released when
/// more attempts speak for it than for the one before, though it fails a case ([`Gate::Better`](crate::maintain::Gate::Better), the paper's
/// is [`Gate::All`](crate::maintain::Gate::All)); skills are chosen once a task ([`SelectPer::Query`], the paper's is
/// [`SelectPer::Turn`]). Without an option: the filter leaves what as much speaks for as for a newcomer; what was followed and
/// refused is mended though nobody calls it harmful, and so is what helps and never suffices; what a run disabled comes
/// back when others come to the same; a case of harm holds no newcomer back. Why stands in `docs/decisions.md`.
///
/// Its ablations (Table 3) switch parts off: `maintenance.evolve = None` is HiSME-static, `write = Never` is without
/// the extractor, `maintenance.{refine, refactor, filter} = None` without those.
pub fn hisme() -> Recipe {
    Recipe {
        name: "hisme".to_owned(),
        select: SelectPolicy {
            candidates: Candidates::Search { limit: 20 },
            rank: Some(RankWeights::default()),
            selector: Selector::Top { limit: 2 },
            per: SelectPer::Query,
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
        },
        credit: CreditPolicy {
            per: CreditPer::Step,
            attribute: true,
        },
        write: WritePolicy {
            when: WriteWhen::Always,
            by: Writer::Extract { candidates: 3 },
        },
        admit: AdmitPolicy {
            initial_state: State::Trial,
            duplicates: Duplicates::Distinct,
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
            bundles: Some(BundlePolicy::default()),
            refine: Some(RefinePolicy::default()),
            filter: Some(FilterPolicy::default()),
            refactor: Some(RefactorPolicy::default()),
            evolve: Some(EvolvePolicy::default()),
        },
        programs: Vec::new(),
        limits: Limits::default(),
    }
}
