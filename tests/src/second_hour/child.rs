//! A process that learns in a library which another one learns in.

use std::{error::Error, io::Write, path::Path, sync::Arc};

use futures::executor::block_on;
use journeyman::Seed;
use journeyman_disk::{DiskOptions, DiskStore, Durability};
use shop::desk::tasks;

use super::{open, other_words, parts};

/// What the process is called with behind its name.
pub const ARGUMENT: &str = "shop-child";

/// The session whose writer has other words, and quotes the customer's message.
pub(super) const OTHER: &str = "other";
/// The same without the message.
pub(super) const OTHER_UNQUOTED: &str = "unquoted";

/// How many tasks it learns from.
const TASKS: u64 = 18;

/// Learns in `folder`: `shop-child FOLDER SESSION SEED`.
///
/// # Errors
/// For a wrong call, and what the run gives.
pub fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let mut next = || arguments.next().ok_or("an argument is missing");
    let (folder, session, seed) = (next()?, next()?, next()?);
    let mut options = DiskOptions::default();
    options.durability = Durability::Relaxed;
    options.folders = false;
    let store = Arc::new(DiskStore::open(Path::new(&folder), &options)?);
    let mut parts = parts()?.with_store(store);
    if [OTHER, OTHER_UNQUOTED].contains(&session.as_str()) {
        parts = parts.with_model(other_words(session == OTHER));
    }
    let seed = Seed(seed.parse()?);
    block_on(async {
        let opened = open(&parts, &session, seed).await?;
        let mut out = std::io::stdout();
        writeln!(out, "ready")?;
        out.flush()?;
        // Both begin when both are there.
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        opened.learn(tasks(seed, TASKS, false)).await?;
        Ok(())
    })
}
