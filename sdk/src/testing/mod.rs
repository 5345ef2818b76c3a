//! Scripted doubles, for the logic of machines and for faults. Never a default.
//!
//! Every double is made of a closure that is told the request and the number of the call, from 0, and says what to
//! [`Play`]: an answer, an error, or nothing for ever. A closure that panics is a part that panics.

mod clock;
mod dialect;
mod environment;
mod executor;
mod judge;
mod measure;
mod model;
mod play;
mod retriever;
pub mod sample;
mod scorer;
mod store;
mod writer;

pub use clock::ManualClock;
pub use dialect::ScriptedDialect;
pub use environment::ScriptedEnvironment;
pub use executor::ScriptedExecutor;
pub use judge::ScriptedJudge;
pub use measure::{HashEmbedder, WordTokenizer};
pub use model::ScriptedModel;
pub use play::Play;
pub use retriever::ScriptedRetriever;
pub use scorer::ScriptedScorer;
pub use store::{FaultyStore, StoreFault};
pub use writer::ScriptedWriter;
