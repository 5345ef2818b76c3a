//! What a short host names: `use journeyman_local::prelude::*;`.
//!
//! It is the SDK's [prelude](journeyman::prelude), an environment that is a function, and what this crate adds.

pub use journeyman::{
    agent::{FnEnvironment, Reply},
    prelude::*,
};
pub use journeyman_llama_cpp::LlamaConfig;
#[cfg(feature = "schemars")]
pub use schemars::JsonSchema;

#[cfg(feature = "schemars")]
pub use crate::tools::tool;
pub use crate::{model::Model, parts::builder, tools::ToolCallExt};
