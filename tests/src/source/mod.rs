//! Reading Rust sources well enough to hold rules on them: comments and literals blanked, test code told apart,
//! functions measured, paths followed. What is scanned so is formatted by rustfmt and compiles. The public API needs more, and
//! is read with a parser.

mod api;
mod cargo;
mod files;
mod imports;
mod items;
mod mask;
mod paths;

pub use api::public_api;
pub use cargo::{cargo, metadata};
pub use files::{Sources, bundled_model, repository, repository_is_at};
pub use imports::Imports;
pub use items::{Function, blank_tests, functions, names};
pub use mask::mask;
pub use paths::paths_behind;
