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
//! # Scores
//! A score depends on the live skills, the query and the [`Config`], and on nothing else. tantivy stores the postings.
//! Its own ranking is not used: it counts replaced documents until a merge drops them, and adds floats in the order of
//! a segment's iterators, so two indexes of one library could rank ties differently. Here document frequencies and mean
//! lengths are over live skills, and sums are in `f64` in the order of the query's words. An index built in many
//! refreshes, one rebuilt from the library and one that was merged therefore give the same scores, bit for bit.
//!
//! # Words
//! A word is a run of letters and digits, in lower case; each Chinese or Japanese character is a word of its own. There
//! is no stemming and there are no stop words: skills use exact names of tools and arguments, where a stemmer mostly
//! conflates different names, and a frequent word has little weight by its inverse document frequency anyway.

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
