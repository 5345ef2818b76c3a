//! BM25 retrieval for [Journeyman](journeyman), on tantivy.
//!
//! ```
//! use journeyman::{
//!     contract::Retriever,
//!     domain::{LibraryChange, Query, Skill},
//!     library::SkillLibrary,
//!     testing::sample,
//! };
//! use journeyman_tantivy::{Bm25Retriever, Config};
//!
//! # futures::executor::block_on(async {
//! let text = "---\nname: open-jar\ndescription: How to open a sealed jar.\n---\nWarm the lid.\n";
//! let add = LibraryChange::Add(Box::new(Skill::from_skill_md(text)?));
//! let mut library = SkillLibrary::new();
//! library.apply(&sample::committed(1, vec![add]))?;
//!
//! let retriever = Bm25Retriever::new(Config::default())?;
//! library.refresh(&retriever).await?; // a session does so by itself
//! let query = Query::new("open the jar", 10);
//! let found = retriever.search(&query).await?;
//! assert_eq!(found[0].skill.id.as_str(), "open-jar");
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! # Errors
//! `Invalid` for an option out of its range; `Unavailable` for a folder that cannot be read or written, `Corrupt` for an index that is
//! damaged. The index is derived from the library, so a damaged one may be deleted: the next refresh makes it anew.
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
