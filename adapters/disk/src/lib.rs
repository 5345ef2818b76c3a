//! Durable skill libraries for [Journeyman](journeyman): a folder with an SQLite database and the skills as folders.
//!
//! A [`DiskStore`] is the store of a session's skills and the journal of its runs:
//!
//! ```
//! use std::sync::Arc;
//!
//! use journeyman::prelude::*;
//! use journeyman_disk::{DiskOptions, DiskStore};
//!
//! # futures::executor::block_on(async {
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! let store = Arc::new(DiskStore::open(folder.join("library"), &DiskOptions::default())?);
//! let parts = Components::own_loop().with_store(store.clone()).with_journal(store.clone());
//! let session = Journeyman::open(parts, recipe::standard(), Options::new("desk", Seed(7))).await?;
//! let text = "---\nname: close-ticket\ndescription: Closes a ticket.\n---\nVerify, then close.\n";
//! session.add(vec![Skill::from_skill_md(text)?], "version 1").await?;
//!
//! store.sync_folders().await?;
//! assert!(folder.join("library/skills/close-ticket/SKILL.md").is_file());
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! # Errors
//! [`DiskStore::open`] says by its kind what is wrong with a folder: `NotFound` (there is no library, and none is to be created), `Invalid`
//! (a database that is no library), `Corrupt` (a damaged one: [`check()`] says where, [`salvage()`] saves what can be read),
//! `Unsupported` (a library of a newer release, or a network file system), `Unavailable` (the folder cannot be used). A commit on another
//! revision than the last is a `Conflict`; runs repeat it by themselves.
//!
//! # Durability
//! A commit is one transaction, and so is a call that appends to the journal. It is acknowledged after the transaction
//! is on the disk ([`Durability::Sync`]) or handed to the operating system ([`Durability::Relaxed`]). Each record is
//! stored with its SHA-256; a record that differs from its hash is `Corrupt` and never used. The small file
//! `library.head` holds the number of writes that were acknowledged under `Sync`: a library that has fewer is refused
//! as `Corrupt`, and its files are left unchanged.
//!
//! # Scores
//! `scores.jsonl` has what a model's scoring of the skills gave and can give again (`SkillStore::keep_scores`). It may be deleted at any
//! time, and is no part of an archive; a line that cannot be read is left out.
//!
//! # The folders
//! After each commit the skills are written as folders beside the database: in `skills` those that runs may offer, in
//! `held` all others. The database decides, and the folders follow it, one whole folder at a time. People may edit,
//! add, move, rename and remove folders at any time. Their edits are committed to the library by
//! [`DiskStore::sync_folders`], by the library's own thread soon after opening, and by a write that meets them:
//!
//! - A changed folder becomes a new version by a person, even where the library was about to write another version
//!   there. That version is then the one before, and one call restores it.
//! - A new folder is a new skill: active in `skills`, a draft in `held`. A renamed folder renames its skill.
//! - A folder moved from `held` to `skills` releases its skill; a folder moved back disables it.
//! - A folder removed from `skills` archives its skill, which is then written to `held`. A folder removed from `held`
//!   is not written again. The skill stays in the library.
//! - Where all of several folders in `skills` or in `held` are gone at once, they are written again: that counts as
//!   data loss, not as a person's edit.
//! - A folder that cannot be read, such as one with an invalid SKILL.md, is left unchanged and reported as a fault.
//!
//! # Libraries of earlier versions
//! A library that an earlier version wrote opens with its skills, versions, states and counts, and learning goes on in it.
//! The entries of its journals can be read. A run that an earlier version began cannot be resumed where the SDK's runs have
//! another form since (`Unsupported`, with a hint); what it had committed stays in the library. Tests hold this against a
//! library that a program of the first edition wrote (`tests/fixtures/first-edition` of the repository).

mod archive;
mod check;
mod config;
mod convert;
mod database;
mod erase;
#[doc(hidden)]
pub mod fault;
mod find_skills;
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
mod scores;
mod skill_store;
mod statements;
mod worker;

pub use archive::{ArchiveLimits, Archived, Offer, read_offer};
pub use check::{CheckReport, check};
pub use config::{DiskOptions, Durability};
pub use erase::Erased;
pub use find_skills::{FoundSkills, find_skills};
pub use folders::{FolderFault, FolderReport};
pub use package::{SkillFolder, is_misnamed_skill};
pub use read_skills::{read_skill, read_skills};
pub use reader::LibraryReader;
pub use salvage::{Salvaged, salvage};
pub use skill_store::DiskStore;
