//! An environment of simulated services whose tools have contracts that the task does not tell.

pub mod corpus;
pub mod lexicon;
pub mod policy;
pub mod script;
pub mod seed;
pub mod simulate;
pub mod split;
pub mod tool;
pub mod vocabulary;
pub mod wording;
pub mod world;
