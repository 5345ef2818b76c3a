//! Admission: decides whether a draft that a role wrote enters the library, as what skill and in which state (ARISE D.1;
//! HiSME 3.2 and 3.3; rows A9, J7).
//!
//! A draft has to keep the rules of a SKILL.md ([`insert_ready`]). [`to_skill`] gives
//! a draft its name, id, provenance and quarantine, and [`imported`] a skill of another system. An [`AdmitPolicy`] decides about duplicates and the first state; its
//! [`Identity`] says which skills are the same. A curator's
//! calls are decided about one after the other.

pub(crate) mod admission;
mod anchors;
pub(crate) mod curated;
pub(crate) mod draft;
pub(crate) mod identity;
mod imported;
pub(crate) mod placement;
mod scan;

pub use anchors::{Anchors, Terms};
pub use draft::{Admittance, insert_ready, to_skill};
pub use identity::Wording;
pub use imported::{imported, offered};

pub use crate::policy::admit_policy::{AdmitPolicy, Duplicates, Identity};
