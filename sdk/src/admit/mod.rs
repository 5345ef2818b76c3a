//! Admission: decides whether a draft that a role wrote enters the library, as what skill and in which state (ARISE D.1;
//! HiSME 3.2 and 3.3; rows A9, J7).
//!
//! An answer is validated in four stages ([`validate`]), or a draft in the last of them ([`insert_ready`]). [`to_skill`] gives
//! a draft its name, id, provenance and quarantine. An [`AdmitPolicy`] decides about duplicates and the first state. A curator's
//! calls are decided about one after the other.

pub(crate) mod admission;
pub(crate) mod curated;
mod near;
mod options;
mod schema;
mod to_skill;

pub use near::Wording;
pub use options::{AdmitPolicy, Duplicates};
pub use schema::{insert_ready, validate};
pub use to_skill::{Admittance, to_skill};
