//! An [`Environment`](journeyman::contract::Environment) of simulated services whose tools have hidden contracts, which
//! tasks do not state.
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
//! There are two splits. Held-out *worlds* are pairs of verb and noun that never occur as a tool in the bundled model's
//! training text, but now and then as what a skill is about that does not fit its task ([`split::Split`]). Held-out
//! *tasks* have a contract that occurs in the stream, with other words and values, and are not in the stream themselves
//! ([`stream::Universe::held_out`]).

mod cut;
pub mod environment;
mod extra;
pub mod form;
pub mod general;
pub mod lexicon;
pub mod passing;
pub mod policy;
pub mod refusal;
pub mod request;
pub mod rivals;
mod scene;
pub mod seed;
pub mod simulate;
pub mod skill_form;
pub mod split;
pub mod stream;
pub mod tool;
pub mod trade;
pub mod world;
