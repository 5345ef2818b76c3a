//! The options of assessment.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use serde::{Deserialize, Serialize};

use crate::{
    contract::SegmentPrompt,
    error::{Error, Result},
    policy::PolicyOptions,
};

/// What a judge scores.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AssessBy {
    /// The subgoals that a role cuts the attempt into, each bound to the rubric of its prototype (SCRIBE).
    Subgoals(SegmentPrompt),
    /// Each step by itself, without a rubric: SCRIBE's baseline without prototypes (section 4, PRM).
    Steps,
}

/// How a subgoal finds its prototype.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteBy {
    /// By the similarity of embeddings to the prototypes' exemplars. The confidence is the softmax of the cosines over the
    /// temperature. Ours: the paper trains a model for it.
    Similarity {
        /// The temperature, positive and finite.
        temperature: f64,
        /// A subgoal whose cosine to every prototype is less has none, in [-1, 1]; -1 gives each subgoal a prototype. The paper's
        /// prototypes are of its whole training set; in a run there are new kinds of subgoals.
        least: f64,
    },
    /// By the role `route`.
    Role,
}

/// How the scores of subgoals are averaged.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubgoalWeights {
    /// Each subgoal counts once.
    #[default]
    Equal,
    /// Each subgoal counts as often as it has steps.
    Steps,
}

/// How subgoals are clustered (SCRIBE 3.1). The paper publishes no numbers: they are ours.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterPolicy {
    /// Least number of subgoals of a dense cluster (HDBSCAN); at least 2.
    pub least: NonZeroUsize,
    /// Number of neighbours by which HDBSCAN measures density.
    pub neighbours: NonZeroUsize,
    /// A member of a dense cluster whose cosine to the cluster's center is less is noise, in [-1, 1]. A subgoal that is like no
    /// other is as far from each cluster, and HDBSCAN then puts it into one of them.
    pub near: f64,
    /// Subgoals that density leaves as noise are put into clusters of this size on average (k-means).
    pub noise: NonZeroUsize,
    /// Greatest number of members that a prototype is distilled from.
    pub shown: NonZeroUsize,
    /// A prototype that continues is distilled anew once it has so many times the members that its rubric was distilled from; 1: at
    /// each refresh. The default, 2, keeps a rubric that is known from changing with each refresh.
    pub growth: NonZeroUsize,
}

impl Default for ClusterPolicy {
    fn default() -> Self {
        let number = |number| NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN);
        Self {
            least: number(5),
            neighbours: number(3),
            near: 0.3,
            noise: number(5),
            shown: number(6),
            growth: number(2),
        }
    }
}

/// How raw scores become rates of success (SCRIBE A.2).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationPolicy {
    /// Least number of judged subgoals of a type with a score before that type's own rate counts; with fewer, the rate over
    /// all types counts, and with fewer of these too, the score divided by 3. Ours: the paper publishes no number.
    pub least: NonZeroU32,
}

impl CalibrationPolicy {
    /// A type's own rate counts from so many judged subgoals on.
    pub fn new(least: NonZeroU32) -> Self {
        Self { least }
    }
}

/// Which subgoals are judged again to see whether the judge stays the same (SCRIBE A.3).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnchorPolicy {
    /// Number of anchors for each category of tasks. The paper: 20 for each task type.
    pub each: NonZeroUsize,
    /// How often each is judged at a checkpoint. The paper: 5.
    pub repeats: NonZeroU32,
}

impl AnchorPolicy {
    /// So many anchors for each category, each judged so often at a checkpoint.
    pub fn new(each: NonZeroUsize, repeats: NonZeroU32) -> Self {
        Self { each, repeats }
    }
}

/// How attempts are assessed (SCRIBE 3.1, 3.2, appendix A): the options of the assessor `subgoals`, and of the maintenance program
/// `prototypes`, which a run with this assessor has too.
///
/// Whatever is assessed is clustered at each refresh, by steps too.
///
/// ```
/// use journeyman::{papers::scribe::{AssessBy, AssessPolicy}, recipe};
///
/// let mut recipe = recipe::scribe();
/// // The paper's baseline: a judge of steps without prototypes.
/// let mut assess = AssessPolicy::default();
/// assess.by = AssessBy::Steps;
/// recipe.assess = Some(assess.into());
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AssessPolicy {
    /// What is scored.
    pub by: AssessBy,
    /// How a subgoal finds its prototype.
    pub route: RouteBy,
    /// A subgoal whose router is less confident has no prototype, in [0, 1]. The paper: 0.
    pub least_confidence: f64,
    /// Whether a subgoal without a prototype is scored by an open judgement; otherwise it has no score. The paper: no.
    pub open: bool,
    /// How the scores are averaged.
    pub weights: SubgoalWeights,
    /// How scores are calibrated; `None` divides them by 3.
    pub calibrate: Option<CalibrationPolicy>,
    /// How subgoals are clustered.
    pub cluster: ClusterPolicy,
    /// Number of tasks before the first clustering. The paper clusters the attempts at its training problems first.
    pub first: NonZeroU64,
    /// Number of steps, of [`Recipe::batch`](crate::recipe::Recipe::batch) tasks each, between two refreshes of the
    /// prototypes and two checkpoints of the anchors. The paper: 1,000.
    pub refresh: NonZeroU64,
    /// Subgoals that are judged again at each refresh; `None` for none.
    pub anchors: Option<AnchorPolicy>,
}

impl Default for AssessPolicy {
    /// SCRIBE's numbers where it publishes them.
    fn default() -> Self {
        Self {
            by: AssessBy::Subgoals(SegmentPrompt::Main),
            route: RouteBy::Similarity {
                temperature: 0.05,
                least: 0.5,
            },
            least_confidence: 0.0,
            open: false,
            weights: SubgoalWeights::Equal,
            calibrate: Some(CalibrationPolicy {
                least: const { NonZeroU32::new(5).expect("not 0") },
            }),
            cluster: ClusterPolicy::default(),
            first: const { NonZeroU64::new(20).expect("not 0") },
            refresh: const { NonZeroU64::new(1_000).expect("not 0") },
            anchors: Some(AnchorPolicy {
                each: const { NonZeroUsize::new(20).expect("not 0") },
                repeats: const { NonZeroU32::new(5).expect("not 0") },
            }),
        }
    }
}

impl PolicyOptions for AssessPolicy {
    const NAME: &'static str = "subgoals";

    fn validate(&self) -> Result<()> {
        let invalid = |field: &'static str, rule: &str| {
            Err(Error::invalid("AssessPolicy::validate", rule).with("field", field))
        };
        if let RouteBy::Similarity { temperature, least } = self.route {
            if !(temperature.is_finite() && temperature > 0.0) {
                return invalid(
                    "route.temperature",
                    "the temperature must be finite and positive",
                );
            }
            if !(-1.0..=1.0).contains(&least) {
                return invalid("route.least", "a cosine is in [-1, 1]");
            }
        }
        if !(0.0..=1.0).contains(&self.least_confidence) {
            return invalid("least_confidence", "the least confidence must be in [0, 1]");
        }
        if !(-1.0..=1.0).contains(&self.cluster.near) {
            return invalid("cluster.near", "a cosine is in [-1, 1]");
        }
        match self.cluster.least.get() < 2 {
            true => invalid("cluster.least", "a dense cluster has at least 2 subgoals"),
            false => Ok(()),
        }
    }
}
