//! HiSME (algorithms 1 to 5, 4.1): the paper's recipe, and ours, which differs from it in options.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use crate::{
    domain::{State, TierPolicy},
    papers::hisme::{
        BundlePolicy, FilterPolicy, MacroPolicy, MicroPolicy, RefactorPolicy, RefinePolicy,
    },
    stations::{
        admit::{AdmitPolicy, Duplicates, Identity},
        credit::{Attribute, CreditPolicy, PerStep},
        propose::{Extract, Recovered, WritePolicy, WriteWhen},
        recipe::{AttemptPolicy, Limits, Maintenance, Recipe, ScheduledProgram},
        retrieve::RankWeights,
        reward::{LevelReward, RewardPolicy, UsedWhen},
        select::{Candidates, SelectPer, SelectPolicy, Top},
    },
};

/// Candidates from an attempt (3.2).
const CANDIDATES: NonZeroU32 = NonZeroU32::new(3).expect("not 0");

/// Tasks that run at once, and between two maintenances (4.1).
const BATCH: NonZeroU64 = NonZeroU64::new(5).expect("5 is not 0");

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
/// support it; a case that could not be played counts neither way.
///
/// The paper's ablations (Table 3) switch parts off: [`MacroPolicy::evolve`] `None` is HiSME-static, `write.when = Never` is
/// without the extractor, and [`MicroPolicy::refine`], [`MacroPolicy::refactor`] or [`MicroPolicy::filter`] `None` without those parts.
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
            withhold: None,
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
        batch: BATCH,
        maintenance: Maintenance {
            programs: vec![
                ScheduledProgram::new(BATCH, MicroPolicy::paper()),
                ScheduledProgram::new(BATCH, MacroPolicy::paper()),
            ],
            ..Maintenance::default()
        },
        limits: Limits::default(),
    }
}

/// HiSME for streams in which a single attempt is weak evidence; ours. [`hisme`] with these options changed:
///
/// | row | option | the paper | here |
/// | --- | --- | --- | --- |
/// | H1 | [`Extract::failures`] | yes | no |
/// | H3 | [`RefactorPolicy::skip_covered`], [`RefactorPolicy::counterfactual`] | no | yes |
/// | H3 | [`RefactorPolicy::revisions`] | yes | no |
/// | H5 | [`BundlePolicy::tasks`] | 1 | 2 |
/// | H6 | [`BundlePolicy::gate`] | [`Gate::All`](crate::papers::hisme::Gate::All) | [`Gate::Better`](crate::papers::hisme::Gate::Better) |
/// | H6 | [`BundlePolicy::harm_blocks`] | yes | no |
/// | H1, H14 | [`AdmitPolicy::identity`] | [`Identity::Bytes`] | [`Identity::MEANING`] |
/// | H9 | [`FilterPolicy::keep_supported`], [`AdmitPolicy::revive`] | no | yes |
/// | H10 | [`RefinePolicy::insufficient`] | no | yes |
/// | H10 | [`RefinePolicy::failed_cases`], [`RefinePolicy::whole`] | yes | no |
/// | H12 | [`SelectPolicy::per`] | [`SelectPer::Turn`] | [`SelectPer::Query`] |
///
/// `docs/decisions` has the reason for each, and `docs/results/hisme-departures.md` their effect.
///
/// ```
/// use journeyman::{recipe, stations::select::SelectPer};
///
/// let (paper, robust) = (recipe::hisme(), recipe::hisme_robust());
/// assert_eq!(paper.select.per, SelectPer::Turn);
/// assert_eq!(robust.select.per, SelectPer::Query);
/// // Both run the same programs as often, over the same tiers.
/// assert_eq!(robust.batch, paper.batch);
/// let every = |recipe: &recipe::Recipe| recipe.maintenance.programs.iter().map(|one| one.every).collect::<Vec<_>>();
/// assert_eq!(every(&robust), every(&paper));
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
    recipe.maintenance.edit(|micro: &mut MicroPolicy| {
        *micro = MicroPolicy {
            bundles: Some(BundlePolicy::default()),
            refine: Some(RefinePolicy::default()),
            filter: Some(FilterPolicy::default()),
        };
    });
    recipe.maintenance.edit(|across: &mut MacroPolicy| {
        across.refactor = Some(RefactorPolicy::default());
    });
    recipe
}
