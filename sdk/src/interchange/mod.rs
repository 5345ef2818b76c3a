//! Skills in the forms of others: pure functions between texts and [`Skill`](crate::domain::Skill)s. Reading and writing
//! files is the host's.
//!
//! ```
//! use journeyman::{
//!     domain::{Source, Trust},
//!     interchange::skillrl,
//! };
//!
//! let bank = r#"{"general_skills": [{"skill_id": "gen_001", "title": "Look Twice", "weight": 0.5,
//!     "principle": "Look again before you go on.", "when_to_apply": "After each step."}]}"#;
//! let source = Source { name: "a bank".into(), trust: Trust::Untrusted };
//! let mut skills = skillrl::read(bank, &source)?;
//! assert_eq!(skills[0].name.as_str(), "look-twice");
//!
//! skills[0].body = "Look three times.".into();
//! let written: serde_json::Value = serde_json::from_str(&skillrl::write(&skills)?).unwrap();
//! assert_eq!(written["general_skills"][0]["principle"], "Look three times.");
//! assert_eq!(written["general_skills"][0]["weight"], 0.5);
//! # Ok::<(), journeyman::Error>(())
//! ```
//!
//! # What holds of every form
//! - *Lossless.* What is read and written again is equal as a JSON value, also when the skills went through their SKILL.md
//!   in between. A field that the form's own do not give back stands in the skill's metadata as JSON text
//!   (`<form>-entry.<field>`; an empty text for a field that was absent); what belongs to no skill stands in the body of
//!   an archived skill of its own, the *record*.
//! - *Live.* What is written is what the skills say now: one that is gone or new shows, and where a person changed a text,
//!   the kept field that it came from gives way.
//! - *Bounded* (F10, S12). At most 10 MiB, 10,000 entries, nested at most 32 deep, names of fields of at most 256 bytes. What
//!   does not fit into a SKILL.md is refused.
//! - *Visible* (S9). Hidden characters are refused.
//! - *Of others* (S2). What is read has passed [`imported`].

pub mod arise;
mod entry;
mod imported;
mod json;
mod record;
pub mod skillrl;

pub use imported::{imported, offered};
