//! SkillRL over fixed model weights: the recipe, the selector [`BankSelector`], and the bank.
//!
//! The bank of general and category skills: distilled from attempts, and grown from the failures of validation rounds (SkillRL
//! 3.1 to 3.3, algorithm 1; rows R1, R4).
//!
//! 1. *Differential processing* (`distillation.rs`). An attempt that succeeded becomes a pattern (the role `extract`), one that
//!    failed becomes a lesson (the role `lesson`).
//! 2. *The bank* (`distillation.rs`). The role `distil-bank` makes general skills of all patterns and lessons, and skills of each
//!    category of those of its tasks. Where the host's model does not play it, each pattern becomes a skill, and the lessons of
//!    each attempt become a skill (`lessons.rs`).
//! 3. *What enters* (`admission.rs`). A skill that says what the bank says already stays out; a refined one becomes the next
//!    version of its skill.
//!
//! The first bank is made of the attempts that the library keeps, while it has no skill. From then on the material is drawn
//! from the failures of each [`ValidationRound`]. A [`BankPolicy`] has the numbers.

mod admission;
mod bank;
mod bank_selector;
mod compression;
mod distillation;
mod growth;
mod host;
mod lessons;
mod options;
pub(crate) mod policies;
mod recipe;
mod round;

pub use bank_selector::{BankGate, BankSelector, WithoutCategory};
pub use compression::{Compression, PromptLength, Tokens, raw_text};
pub use growth::{BankSize, bank_growth};
pub use host::BankReport;
pub use lessons::lesson_draft;
pub use options::{BankPolicy, Failure};
pub use recipe::skillrl;
pub use round::{SuccessRate, ValidationRound};
