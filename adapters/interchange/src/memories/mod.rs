//! SkillRL's published memories: a teacher's notes on single attempts (SkillRL 3.1; row R1). [`read`] reads them, [`bank`] makes a
//! bank of them without a model, in the JSON that [`skillrl::read`](super::skillrl::read) reads.
//!
//! A memory of a success has the refined steps and a planning pattern; one of a failure has mistakes to avoid: when each
//! happens, and the bad action. So the teacher has distilled them already (Eq. 2, 3), and what is left is to group what is alike.
//!
//! ```
//! use journeyman::domain::{Source, Trust};
//! use journeyman_interchange::{memories, skillrl};
//!
//! let memory = |id: &str, goal: &str| format!(r#"{{
//!     "memory_id": "{id}",
//!     "contextual_description": "AlfWorld task classified as 'pick_and_place' to {goal}",
//!     "tags": {{"environment": "Alfworld", "outcome": "Success"}},
//!     "content": {{
//!         "task_meta": {{"original_goal": "{goal}"}},
//!         "refined_trajectory": {{"refined_trajectory": [{{"step_index": 0, "action": "go to shelf",
//!             "critical_observation": "A cup is on it.", "reasoning": "Search nearby."}}]}},
//!         "strategic_guidelines": {{"planning_pattern": "Search [Location] -> Acquire [Object]",
//!             "mistakes_to_avoid": []}}
//!     }}
//! }}"#);
//! let text = format!("[{}, {}]", memory("m-1", "put a cup on the desk."), memory("m-2", "put a cup away."));
//! let memories = memories::read(&text)?;
//! assert_eq!(memories[0].category.as_ref().map(|category| category.as_str()), Some("pick_and_place"));
//!
//! let made = memories::bank(&memories, &memories::BankOptions::default())?;
//! let source = Source::new("memories", Trust::Trusted);
//! let skills = skillrl::read(&made.json, &source)?;
//! assert_eq!(skills[0].body, "Search [Location] -> Acquire [Object]");
//! assert_eq!(made.groups[0].memories, ["m-1", "m-2"]);
//! # Ok::<(), journeyman::Error>(())
//! ```

mod bank;
mod memory;
mod reading;

pub use bank::{BankOptions, Group, MemoryBank, bank};
pub use memory::{Memory, MemoryMistake, MemoryStep};
pub use reading::read;
