//! Scripted doubles, for the logic of machines and for faults. Never a default.
//!
//! Every double is made of a closure that is told the request and the number of the call, from 0, and says what to
//! [`Play`]: an answer, an error, or nothing for ever. A closure that panics is a part that panics.
//!
//! For what reads skills of others there are generators of packages, [`ordinary()`] and [`hostile()`];
//! for what reads answers of models, [`answers()`].

mod answers;
mod clock;
mod dialect;
mod environment;
mod executor;
mod hostile;
mod judge;
mod large_library;
mod measure;
mod model;
mod ordinary;
mod play;
mod retriever;
mod roles;
pub mod sample;
mod scorer;
mod store;
mod voices;

pub use answers::{
    AnswerCase, AnswerFigures, AnswerTo, Meaning, answers, held_back_answers, read_answers,
};
pub use clock::ManualClock;
pub use dialect::ScriptedDialect;
pub use environment::ScriptedEnvironment;
pub use executor::ScriptedExecutor;
pub use hostile::{Hostile, RefusedBy, hostile, hostile_families, known_attacks};
pub use judge::ScriptedJudge;
pub use large_library::LargeLibrary;
pub use measure::{HashEmbedder, WordTokenizer};
pub use model::ScriptedModel;
pub use ordinary::{Ordinary, ordinary};
pub use play::Play;
pub use retriever::ScriptedRetriever;
pub use roles::ScriptedRoles;
pub use scorer::ScriptedScorer;
pub use store::{FaultyStore, StoreFault};
