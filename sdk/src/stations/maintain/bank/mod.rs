//! The bank of general and category skills: distilled from attempts, and grown from the failures of validation rounds (SkillRL
//! 3.1 to 3.3, algorithm 1; rows R1, R4).
//!
//! 1. *Differential processing* ([`distilling`]). An attempt that succeeded becomes a pattern (the role `extract`), one that
//!    failed becomes a lesson (the role `lesson`).
//! 2. *The bank* ([`distilling`]). The role `distil-bank` makes general skills of all patterns and lessons, and skills of each
//!    category of those of its tasks. Where the host's model does not play it, each pattern becomes a skill, and the lessons of
//!    each attempt become a skill ([`lessons`]).
//! 3. *What enters* ([`entering`]). A skill that says what the bank says already stays out; a refined one becomes the next
//!    version of its skill.
//!
//! The first bank is made of the attempts that the library keeps, while it has no skill. From then on the material is drawn
//! from the failures of each [`ValidationRound`]. A [`BankPolicy`] has the numbers.

pub(crate) mod admission;
pub(crate) mod distillation;
mod lessons;
mod options;
mod round;

pub use lessons::lesson_draft;
pub use options::{BankPolicy, Failure};
pub use round::{SuccessRate, ValidationRound};
