//! The machine of a run, the driver that awaits, and the front that a host uses.
//!
//! - `machine` decides. [`RunMachine`] says what it needs ([`Need`]) and is told the [`Answer`](crate::policy::Answer)s, in
//!   any order. It does no input or output, starts no thread and reads no clock, so it can be saved and resumed between any
//!   two answers, and replayed from its journal ([`replay`]).
//! - `driver` acts. [`Performer`] gives each need to the host's parts, and one loop awaits their answers.
//! - `host` is what a host calls: [`Journeyman`] and [`AttemptHandle`].

pub(crate) mod driver;
pub(crate) mod host;
pub(crate) mod machine;

pub use driver::Performer;
pub use host::{AddFate, AddReport, AddedSkill, AttemptHandle, Journeyman, Options};
pub use machine::{
    AttemptNeed, CaseNeed, Need, NeedId, RunEntry, RunMachine, RunPlan, Station, TurnAsk, replay,
};
