//! Admission: what lets a draft into the library.

mod to_skill;

pub use to_skill::{Admittance, to_skill};
