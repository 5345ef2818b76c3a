//! An [`Environment`](journeyman::contract::Environment) of simulated services whose tools have contracts that the
//! task does not tell.
//!
//! ```
//! use journeyman_toolworld::stream::{Universe, UniverseSpec};
//!
//! let universe = Universe::make(UniverseSpec::default(), 7)?;
//! let stream = universe.stream(48);
//! let held_out = universe.held_out(&stream, 100);
//! assert!(held_out.iter().all(|task| stream.iter().all(|seen| seen.world.query != task.world.query)));
//! # Ok::<(), journeyman::Error>(())
//! ```
//!
//! Two splits, not to be confused. Held-out *worlds*: pairs of verb and noun that never occur as a tool in the
//! bundled model's training text ([`split::Split`]). Held-out *tasks*: their contract occurs in the stream, in other
//! words and with other values, and they are not in it ([`stream::Universe::held_out`]).

pub mod corpus;
pub mod dialect;
pub mod environment;
mod extra;
pub mod form;
pub mod lexicon;
pub mod passing;
pub mod policy;
pub mod refusal;
pub mod request;
pub mod rivals;
pub mod roles;
mod scene;
pub mod script;
pub mod seed;
pub mod simulate;
pub mod skill_form;
pub mod split;
pub mod stream;
pub mod tool;
pub mod vocabulary;
pub mod world;
pub mod writer;
