//! Runs: the state machine that decides, the driver that calls the host's parts, and the interface for hosts.
//!
//! - `machine` decides. [`RunMachine`] lists its open [`Effect`]s and accepts the [`Answer`](crate::policy::Answer)s in any
//!   order. It does no input or output, starts no thread and reads no clock, so it can be saved and resumed between any two
//!   answers, and replayed from its journal ([`replay`]).
//! - `driver` acts. [`Performer`] performs each effect with the host's parts, and one loop awaits the answers.
//! - `host` has the types that a host calls: [`Journeyman`] and [`AttemptHandle`].

pub(crate) mod driver;
pub(crate) mod host;
pub(crate) mod machine;
pub mod report;

pub use driver::{DecisionCost, Performer};
pub use host::{
    AddFate, AddReport, AddedSkill, AttemptGroup, AttemptHandle, Events, GateInForce, GroupStatus,
    Journeyman, Options, Retirement, ThresholdBy,
};
#[cfg(feature = "measure")]
pub use host::{Certificate, CertifiedSkill, OutcomeCalibration};
pub use machine::{
    AttemptEffect, CaseEffect, Effect, EffectId, RunEntry, RunMachine, RunPlan, Station, TurnAsk,
    recorded_attempts, replay,
};
