//! Admission: what lets a draft into the library.

mod schema;
mod to_skill;

pub use schema::{insert_ready, validate};
pub use to_skill::{Admittance, to_skill};
