//! Constrained output: generation that obeys a host's JSON Schema, with the feature `llguidance`.

#[cfg(feature = "llguidance")]
mod grammars;
#[cfg(test)]
#[cfg(feature = "llguidance")]
mod tests;

use serde_json::Value;

#[cfg(feature = "llguidance")]
pub(crate) use grammars::{Constraint, Grammars};
#[cfg(not(feature = "llguidance"))]
pub(crate) use without::{Constraint, Grammars};

/// Whether this build can constrain output to a schema.
pub(crate) const AVAILABLE: bool = cfg!(feature = "llguidance");

/// What an output may be: JSON of a schema behind a fixed text.
#[cfg_attr(
    not(feature = "llguidance"),
    expect(dead_code, reason = "nothing constrains")
)]
pub(crate) struct Alternative {
    /// The text before the JSON; empty for JSON alone.
    pub(crate) begin: String,
    pub(crate) schema: Value,
}

impl Alternative {
    /// JSON alone.
    pub(crate) fn json(schema: Value) -> Self {
        Self {
            begin: String::new(),
            schema,
        }
    }
}

/// A build without the feature: no request can be constrained.
#[cfg(not(feature = "llguidance"))]
mod without {
    use journeyman::{Error, Result};
    use llama_cpp_2::model::LlamaModel;

    use super::Alternative;

    #[derive(Default)]
    pub(crate) struct Grammars {}

    pub(crate) enum Constraint {}

    impl Grammars {
        pub(crate) fn constraint(
            &self,
            operation: &'static str,
            _model: &LlamaModel,
            _alternatives: &[Alternative],
        ) -> Result<Constraint> {
            Err(Error::unsupported(
                operation,
                "this build holds no model to a JSON Schema",
            )
            .hint("build journeyman-llama-cpp with the feature `llguidance`, which is on by default, or ask by agent::role::Structured"))
        }
    }

    impl Constraint {
        pub(crate) fn mask(&mut self, _logits: &mut [f32]) -> Result<()> {
            match *self {}
        }

        pub(crate) fn accept(&mut self, _token: i32) -> Result<()> {
            match *self {}
        }
    }
}
