//! SCRIBE: the recipe with the paper's numbers, and assessment: attempts are cut into subgoals, each is routed to a skill prototype,
//! and a judge scores it against the prototype's rubric (rows C1 to C8).
//!
//! [`AssessPolicy`] says how: it is the assessor `subgoals`, which a recipe names
//! ([`Recipe::assess`](crate::recipe::Recipe::assess)). While a run learns, each attempt is assessed after its verdict (3.2); the library keeps the assessed
//! subgoals, and from time to time they are clustered again and distilled into prototypes
//! ([`LibraryChange::SetPrototypes`](crate::domain::LibraryChange::SetPrototypes)). The scores are calibrated by what followed
//! from earlier ones ([`Calibration`]). The process score goes into the reward
//! ([`ProcessReward`]).
//!
//! [`RouterAccuracy`] compares a router with annotations, [`VariantAgreement`] two prompt variants; [`Journeyman::assess`] assesses
//! attempts that were made before.
//!
//! [`Journeyman::assess`]: crate::run::Journeyman::assess

mod annotations;
mod asking;
mod assessing;
mod assessor;
mod calibration;
mod center;
mod cluster;
mod comparison;
mod host;
mod options;
mod plan_runs;
mod plans;
pub(crate) mod policies;
mod process;
mod prototypes;
mod recipe;
mod structure;
mod subgoal_rollouts;
mod trials;
mod upkeep;

pub use annotations::annotations;
pub use calibration::Calibration;
pub use comparison::{AssessedPair, RouterAccuracy, Share, VariantAgreement};
pub use host::AssessReport;
pub use options::{
    AnchorPolicy, AssessBy, AssessPolicy, CalibrationPolicy, ClusterPolicy, RouteBy, SubgoalWeights,
};
pub use plan_runs::PlanRun;
pub use plans::{Plan, candidate_plans};
pub use process::ProcessReward;
pub use recipe::scribe;
pub use structure::{ExecutedPlan, HighLevel, MidLevel, StructureOptions, Trials, Viability};
pub use subgoal_rollouts::SubgoalRollouts;
pub use trials::TrialOptions;
