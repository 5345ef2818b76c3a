//! Conversion between the skills of [Journeyman](journeyman) and the JSON formats of other systems: [`skillrl`], [`arise`].
//! [`memories`] reads SkillRL's published memories; [`evals`] reads and writes the evals of a skill; [`demonstrations`], [`rollouts`] and
//! [`assessments`] are exports for trainers.
//! Pure functions on texts; the host reads and writes the files.
//!
//! ```
//! use journeyman::domain::{Source, Trust};
//! use journeyman_interchange::skillrl;
//!
//! let bank = r#"{"general_skills": [{"skill_id": "gen_001", "title": "Look Twice", "weight": 0.5,
//!     "principle": "Look again before you go on.", "when_to_apply": "After each step."}]}"#;
//! let source = Source::new("a bank", Trust::Untrusted);
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
//! # Errors
//! `Invalid` for a text of skills that is not of its format, exceeds a limit or holds hidden characters. The error names the place, such as
//! `general_skills/0`, and never repeats what stands there.
//!
//! # Rules of every format of skills
//! - *Lossless.* A text that is read and written again is equal as a JSON value, also when the skills were written to a
//!   SKILL.md and read back in between. A field that cannot be derived from the skill's own fields is kept in its metadata
//!   as JSON text (`<format>-entry.<field>`; an empty text for a field that was absent). Data that belongs to no skill is
//!   kept in the body of an archived skill of its own, the *record*.
//! - *Current.* The written text has the present skills: a removed skill is absent, a new one is there, and where a person
//!   changed a text, the new text replaces the kept field.
//! - *Bounded* (F10, S12). At most 10 MiB, 10,000 entries, a nesting of 32, and field names of 256 bytes. A skill that does
//!   not fit into a SKILL.md is refused.
//! - *Visible* (S9). Hidden characters are refused.
//! - *Untrusted origin* (S2). Every skill that is read has passed [`imported`](journeyman::stations::admit::imported).

pub mod arise;
pub mod assessments;
pub mod demonstrations;
mod entry;
pub mod evals;
mod form;
mod json;
pub mod memories;
mod record;
pub mod rollouts;
pub mod skillrl;
