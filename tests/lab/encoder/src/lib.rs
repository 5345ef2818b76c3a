//! The texts of the small text encoder: tasks of toolworld in the skills' own words and in other words, and the skills.
//!
//! `words.tsv` has two or three other words for each verb and noun of toolworld's lexicon, none of which occurs in the
//! lexicon. A task in other words names its tool by these alone, so that it shares no word with its skill's title.

mod cases;
mod words;

pub use cases::{Case, Grid, Part, cases};
pub use words::OtherWords;
