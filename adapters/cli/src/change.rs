//! Commands that change single skills.

use std::path::Path;

use journeyman::{
    Result, Version,
    domain::{LibraryChange, State},
};

use crate::{
    arguments::How,
    library::{find, open},
    outcome::make,
    output::Answer,
    show::no_version,
};

pub(crate) async fn roll_back(root: &Path, name: &str, version: u64, how: &How) -> Result<Answer> {
    let opened = open(root, false).await?;
    let entry = find(&opened.library, name)?;
    let to = Version(version);
    if !entry.versions().any(|skill| skill.version == to) {
        return Err(no_version(entry, to));
    }
    let reason = how.reason("rolled back from the command line");
    let change = LibraryChange::RollBack {
        skill: entry.skill.id.clone(),
        to,
        reason: reason.clone(),
    };
    // A rollback to the current version changes nothing.
    let changes = (to != entry.skill.version).then_some(change);
    let outcome = make(&opened, changes.into_iter().collect(), &reason, how.dry_run).await?;
    Ok(outcome.answer())
}

pub(crate) async fn quarantine(root: &Path, name: &str, how: &How) -> Result<Answer> {
    let reason = how.reason("quarantined from the command line");
    set_state(root, name, State::Quarantined, &reason, how.dry_run).await
}

pub(crate) async fn release(
    root: &Path,
    name: &str,
    reason: &str,
    dry_run: bool,
) -> Result<Answer> {
    set_state(root, name, State::Active, reason, dry_run).await
}

async fn set_state(
    root: &Path,
    name: &str,
    state: State,
    reason: &str,
    dry_run: bool,
) -> Result<Answer> {
    let opened = open(root, false).await?;
    let entry = find(&opened.library, name)?;
    let change = LibraryChange::SetState {
        skill: entry.skill.id.clone(),
        state,
        reason: reason.to_owned(),
    };
    let changes = (entry.skill.state != state).then_some(change);
    let outcome = make(&opened, changes.into_iter().collect(), reason, dry_run).await?;
    Ok(outcome.answer())
}
