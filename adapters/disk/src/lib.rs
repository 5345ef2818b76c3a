//! Durable skill libraries for [Journeyman](journeyman): one folder, one SQLite database in it.
//!
//! ```
//! use journeyman::{Revision, contract::SkillStore};
//! use journeyman_disk::{DiskStore, Options};
//!
//! # futures::executor::block_on(async {
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! let store = DiskStore::open(folder.join("library"), &Options::default())?;
//! assert_eq!(store.load().await?.revision, Revision(0));
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! # What is kept, and when
//! A commit is one transaction, and so is a call that appends to the journal. It is acknowledged after the transaction is
//! on the disk ([`Durability::Sync`]) or with the system ([`Durability::Relaxed`]). Each record has the SHA-256 of what was
//! written, and one that differs is `Corrupt` and never used. A small file, `library.head`, says how many writes were
//! acknowledged under `Sync`: a library that has fewer is refused as `Corrupt`, and its files are left as they are.

mod config;
mod convert;
mod database;
#[doc(hidden)]
pub mod fault;
mod head;
mod records;
mod skill_store;
mod worker;

pub use config::{Durability, Options};
pub use skill_store::DiskStore;
