//! Durable skill libraries for [Journeyman](journeyman): one folder with an SQLite database and the
//! skills as folders.
//!
//! ```
//! use journeyman::{Revision, contract::SkillStore};
//! use journeyman_disk::{DiskStore, DiskOptions};
//!
//! # futures::executor::block_on(async {
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! let store = DiskStore::open(folder.join("library"), &DiskOptions::default())?;
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
//!
//! # The folders
//! After each commit the skills lie as folders beside the database: in `skills` what runs may offer, in `held` everything
//! else. The database is what counts, the folders follow it, a whole folder at a time. People may change, add, move, rename
//! and remove folders at any time; [`DiskStore::sync_folders`] takes that in, the library's own thread does soon after it
//! was opened, and so does a write that comes upon it:
//!
//! - A changed folder is a new version by a person, whatever the library wanted to write there meanwhile; that is the
//!   version before, and one call brings it back.
//! - A new folder is a new skill: active in `skills`, a draft in `held`. A renamed folder renames its skill.
//! - A folder moved from `held` to `skills` releases its skill, one moved back disables it.
//! - A folder removed from `skills` archives its skill, which then lies in `held`; removed from there it is left away. It
//!   stays in the library.
//! - Where all folders of an area are gone at once, and it had several, they are written again: that is a loss and no wish.
//! - A folder that cannot be read, such as one with a broken SKILL.md, is left as it is and is a fault of the report.

mod archive;
mod check;
mod config;
mod convert;
mod database;
mod erase;
#[doc(hidden)]
pub mod fault;
mod folders;
mod form;
mod head;
mod package;
mod read_only;
mod read_skills;
mod reader;
mod records;
mod redaction;
mod salvage;
mod skill_store;
mod statements;
mod worker;

pub use archive::{ArchiveLimits, Archived, Offer, read_offer};
pub use check::{CheckReport, check};
pub use config::{DiskOptions, Durability};
pub use erase::Erased;
pub use folders::{FolderFault, FolderReport};
pub use package::SkillFolder;
pub use read_skills::{read_skill, read_skills};
pub use reader::LibraryReader;
pub use salvage::{Salvaged, salvage};
pub use skill_store::DiskStore;
