//! Assessment: cuts attempts into subgoals, routes each to a skill prototype, and has a judge score it against the
//! prototype's rubric (SCRIBE; rows C1 to C7).
//!
//! [`AssessPolicy`] says how. While a run learns, each attempt is assessed after its verdict (3.2); the library keeps the assessed
//! subgoals, and from time to time they are clustered again and distilled into prototypes
//! ([`LibraryChange::SetPrototypes`](crate::domain::LibraryChange::SetPrototypes)). The scores are calibrated by what followed
//! from earlier ones ([`Calibration`]). The process score goes into the reward
//! ([`ProcessReward`](crate::stations::reward::ProcessReward)).
//!
//! [`RouterAccuracy`] compares a router with annotations, [`VariantAgreement`] two prompt variants; [`Journeyman::assess`] assesses
//! attempts that were made before.
//!
//! [`Journeyman::assess`]: crate::run::Journeyman::assess

mod annotations;
mod asking;
pub(crate) mod assessing;
mod calibration;
mod center;
#[cfg(feature = "clustering")]
mod cluster;
mod comparison;
#[cfg(not(feature = "clustering"))]
mod no_cluster;
mod options;
pub(crate) mod prototypes;

pub use annotations::annotations;
pub use calibration::Calibration;
pub use comparison::{AssessedPair, RouterAccuracy, Share, VariantAgreement};
pub use options::{
    AnchorPolicy, AssessBy, AssessPolicy, CalibrationPolicy, ClusterPolicy, RouteBy, SubgoalWeights,
};
