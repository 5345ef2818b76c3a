//! BM25 retrieval for [Journeyman](journeyman), on tantivy.
//!
//! ```
//! use journeyman::{contract::Retriever, domain::Query, library::SkillLibrary};
//! use journeyman_tantivy::{Bm25Retriever, Config};
//!
//! # futures::executor::block_on(async {
//! let retriever = Bm25Retriever::new(Config::default())?;
//! let library = SkillLibrary::new();
//! library.refresh(&retriever).await?;
//! let query = Query { text: "open the sealed jar".into(), limit: 10, among: None };
//! assert!(retriever.search(&query).await?.is_empty()); // there is no skill yet
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! # What a score depends on
//! The live skills, the query and the [`Config`]; nothing else. tantivy keeps the postings; its own ranking is not
//! used, because it counts replaced documents until a merge drops them and adds floats in the order of a segment's
//! iterators, so that two indexes of one library could rank ties differently. Here document frequencies and mean
//! lengths are taken over live skills, and sums run in `f64` in the order of the query's terms: an index built in
//! many refreshes, one rebuilt from the library, and one merged in between give the same scores, bit for bit.
//!
//! # Words
//! Runs of letters and digits in lower case; each Chinese or Japanese character is a word of its own. No stemming and
//! no stop words: skills are about exact names of tools and arguments, where a stemmer mostly makes false friends,
//! and a frequent word weighs little by its inverse document frequency anyway.

mod best;
mod bm25;
mod config;
mod convert;
mod home;
mod mark;
mod retriever;
mod view;
mod words;

pub use config::{Boosts, Config};
pub use retriever::Bm25Retriever;
