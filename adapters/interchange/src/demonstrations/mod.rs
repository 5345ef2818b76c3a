//! Demonstrations for supervised fine-tuning: successful attempts with skills, as JSON Lines (SkillRL 3.3, Eq. 6; row R5).
//!
//! Each line is one [`Demonstration`]: the task, the skills that were in the prompt, and the turns of the attempt. The JSON Schema of a
//! line is [`JSON_SCHEMA`], published in `docs/reference/demonstrations.md`. A trainer that learns an agent's answers behind the prompts that the
//! runtime gave takes [`prompted`].
//!
//! ```
//! use journeyman::testing::sample;
//! use journeyman_interchange::demonstrations;
//!
//! let task = sample::task("greet", &["good", "day"]);
//! let mut attempt = sample::trace("a-1", &task, &["good", "day"], true);
//! let failed = sample::trace("a-2", &task, &["day"], false);
//! attempt.trajectory.injection = sample::injection(&[sample::skill("greeting")]);
//!
//! let shown = demonstrations::of_attempts([&attempt, &failed]);
//! assert_eq!(shown.demonstrations.len(), 1);
//! assert_eq!(shown.refused[0].reason, "the attempt did not succeed");
//!
//! let lines = demonstrations::write(&shown.demonstrations)?;
//! assert_eq!(demonstrations::read(&lines)?, shown.demonstrations);
//! # Ok::<(), journeyman::Error>(())
//! ```

mod demonstration;
mod lines;
mod prompted;
mod schema;

pub use demonstration::{Demonstration, ShownMessage, ShownRole, ShownSkill, ShownTask};
pub use lines::{RefusedAttempt, ShownAttempts, of_attempts, read, write};
pub use prompted::{Prompted, PromptedMessage, prompted};
pub use schema::JSON_SCHEMA;
