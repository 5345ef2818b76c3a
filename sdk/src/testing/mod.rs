//! Scripted doubles of all parts, for tests (feature `testing`). No double is ever a default.
//!
//! A double follows a closure that gets the request and the number of the call, from 0, and returns a [`Play`]: an answer,
//! an error, or no answer for ever. A closure that panics makes a part that panics.
//!
//! There are also generators of inputs: skill packages for importers and linters ([`ordinary()`], [`hostile()`]), and
//! answers of models for prompt formats and roles ([`answers()`]).

mod answers;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod edited;
mod environment;
mod executor;
mod hostile;
mod judge;
mod large_library;
mod measure;
mod model;
mod ordinary;
mod play;
mod prompt_format;
mod retriever;
mod role_lines;
mod roles;
pub mod sample;
mod scorer;
mod store;
mod voices;

pub use answers::{
    AnswerCase, AnswerFigures, AnswerTo, Meaning, answers, held_back_answers, read_answers,
};
pub use clock::ManualClock;
pub use edited::Edited;
pub use environment::ScriptedEnvironment;
pub use executor::ScriptedExecutor;
pub use hostile::{Hostile, RefusedBy, hostile, hostile_families, known_attacks};
pub use judge::ScriptedJudge;
pub use large_library::LargeLibrary;
pub use measure::{WordEmbedder, WordTokenizer};
pub use model::ScriptedModel;
pub use ordinary::{Ordinary, ordinary};
pub use play::Play;
pub use prompt_format::ScriptedFormat;
pub use retriever::ScriptedRetriever;
pub use roles::ScriptedRoles;
pub use scorer::ScriptedScorer;
pub use store::{FaultyStore, StoreFault};
