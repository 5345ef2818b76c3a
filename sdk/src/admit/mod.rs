//! Admission: what lets a draft into the library.

pub(crate) mod admission;
mod options;
mod schema;
mod to_skill;

pub use options::{AdmitPolicy, Duplicates};
pub use schema::{insert_ready, validate};
pub use to_skill::{Admittance, to_skill};
