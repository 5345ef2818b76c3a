//! The machines of a run, and the one loop that awaits.
//!
//! [`RunMachine`] decides: it says what it needs ([`Need`]) and is told the [`Answer`]s, in any order. It does no input
//! or output, starts no thread and reads no clock, so it can be saved and resumed between any two answers, and
//! replayed from its journal ([`replay`]). [`Journeyman`] is the front that a host uses.

mod admission;
mod advancing;
mod asking;
mod attempting;
mod attempts;
mod begun;
mod bringing;
mod checking;
mod committing;
mod contain;
mod context;
mod drive;
mod event;
mod finding;
mod fold;
mod gaining;
mod handle;
mod injecting;
mod journal;
mod journeyman;
mod live;
mod log;
mod machine;
mod maintaining;
mod need;
mod options;
mod perform;
mod playing;
mod question;
mod redacting;
mod report;
mod selecting;
mod settled;
mod sound;
mod task_machine;
mod turning;
mod view;
mod work;
mod writing;

pub use bringing::{AddFate, AddReport, AddedSkill};
pub use event::{Event, EventKind};
pub use finding::{Finding, FindingKind};
pub use handle::AttemptHandle;
pub use journal::{RunEntry, replay};
pub use journeyman::Journeyman;
pub use machine::{RunMachine, RunPlan};
pub use need::{
    Answer, AttemptNeed, CaseNeed, CaseRun, ChosenSkill, CommitDone, Need, NeedId, Played, Station,
    Turns,
};
pub use options::Options;
pub use perform::Performer;
pub use report::{AttemptReport, RunReport, SkillGain, TaskReport, WriteReport};
