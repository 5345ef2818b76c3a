//! Commits changes, and describes their effect.

use std::time::SystemTime;

use journeyman::{
    Result,
    contract::SkillStoreExt,
    domain::{Cause, Commit, CommitKey, LibraryChange, Revision},
    library::{Applied, Move},
};
use serde_json::{Value, json};

use crate::{
    arguments::How,
    library::Opened,
    output::{Answer, first_rows, word},
    time::timestamp,
};

/// Maximum attempts to commit, where other writers commit first.
const ATTEMPTS: u32 = 1000;

/// The effect of changes.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The effect of the commit, made or not; empty where there was nothing to change.
    pub(crate) applied: Applied,
    /// The commit's revision; none where no commit was made.
    pub(crate) revision: Option<Revision>,
    pub(crate) dry_run: bool,
}

/// Makes one commit of all changes; with `dry_run`, only computes its effect.
pub(crate) async fn make(
    opened: &Opened,
    changes: Vec<LibraryChange>,
    reason: &str,
    dry_run: bool,
) -> Result<Outcome> {
    let mut outcome = Outcome {
        applied: Applied::default(),
        revision: None,
        dry_run,
    };
    if changes.is_empty() {
        return Ok(outcome);
    }
    let number = changes.len();
    let mut library = opened.library.clone();
    let mut cause = Cause::new(reason.to_owned());
    cause.at = Some(timestamp(SystemTime::now()));
    let commit = Commit::new(library.revision(), fresh_key(), cause, changes);
    let would_be = library.clone().apply(&commit.made_on(commit.base)?)?;
    // No commit is made where no change has an effect.
    if dry_run || would_be.passed_over.len() == number {
        outcome.applied = would_be;
        return Ok(outcome);
    }
    let done = opened.store.commit_rebased(&commit, ATTEMPTS).await?;
    for committed in &done.committed {
        outcome.applied = library.apply(committed)?;
    }
    outcome.revision = Some(outcome.applied.revision);
    Ok(outcome)
}

/// A key that no other command has: each command is a process of its own and makes one commit.
fn fresh_key() -> CommitKey {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos());
    CommitKey::new(format!("command/{now}-{}", std::process::id()))
}

impl How {
    pub(crate) fn reason(&self, otherwise: &str) -> String {
        self.reason.clone().unwrap_or_else(|| otherwise.to_owned())
    }
}

impl Outcome {
    pub(crate) fn json(&self) -> Value {
        let moves = self.applied.moves.iter().map(move_json);
        json!({
            "revision": self.revision,
            "dry_run": self.dry_run,
            "moves": moves.collect::<Vec<_>>(),
            "passed_over": self.applied.passed_over,
        })
    }

    pub(crate) fn text(&self) -> String {
        let rows: Vec<_> = self.applied.moves.iter().map(move_row).collect();
        let mut text = match rows.is_empty() {
            true => String::new(),
            false => first_rows(&["NAME", "VERSION", "WHAT"], &rows),
        };
        let said = match self.revision {
            _ if self.dry_run => "nothing was changed: this was a dry run".to_owned(),
            Some(revision) => format!("done: the library is at revision {revision}"),
            None => "nothing to change".to_owned(),
        };
        text.push_str(&said);
        text.push('\n');
        text
    }

    pub(crate) fn answer(self) -> Answer {
        Answer {
            json: self.json(),
            text: self.text(),
            ..Answer::default()
        }
    }
}

pub(crate) fn move_json(moved: &Move) -> Value {
    json!({
        "operation": moved.operation,
        "id": moved.skill.id,
        "version": moved.skill.version,
        "name": moved.name,
    })
}

fn move_row(moved: &Move) -> Vec<String> {
    vec![
        moved.name.to_string(),
        moved.skill.version.to_string(),
        word(&moved.operation).replace('_', " "),
    ]
}
