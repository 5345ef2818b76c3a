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
//! The same word is found however it was typed: words are compared in Unicode's form KC and without case. A name of code is
//! a word as a whole and by its parts, whatever its style: `refresh token` finds `refreshToken`, and `createInvoiceDraft`
//! finds `create_invoice_draft`. Latin and Greek words count without their accents too, Arabic ones without vowel marks and
//! article.
//!
//! Chinese and Japanese, Thai, Lao, Khmer and Myanmar are written without spaces between words, so each two adjacent
//! characters (for the last four, also each three letters) are words, as are those of Korean words, which particles follow.
//! A segmenter with a dictionary was not tried.
//!
//! A word also finds the first few compounds of the library that begin or end with it, at a tenth of their weight: `Rechnung`
//! finds `Rechnungsnummer`. There is no stemming unless [`Config::stemmer`] asks for it, and there are no stop words: skills use
//! exact names of tools and arguments, where a stemmer mostly conflates different names, and a frequent word has little weight by
//! its inverse document frequency anyway.

mod best;
mod bm25;
mod config;
mod convert;
mod folded;
mod home;
mod identifier;
mod kin;
mod mark;
mod retriever;
mod view;
mod words;

pub use config::{Boosts, Config, Stemmer};
pub use retriever::Bm25Retriever;
