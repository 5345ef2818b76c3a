//! The conformance suite of [`Journal`].

use std::sync::Arc;

use serde_json::json;

use super::report::{Report, Tried, require, require_error};
use crate::{
    contract::{Journal, JournalEntry},
    error::{ErrorKind, Result},
    id::RunId,
};

type Kept = Arc<dyn Journal>;

/// Checks a journal; every call of `fresh` has to return an empty one.
pub async fn check(fresh: impl AsyncFn() -> Result<Kept>) -> Report {
    let mut report = Report::new("Journal");
    report.case("order", order(&fresh).await);
    report.case("apart", apart(&fresh).await);
    report.case("once", once(&fresh).await);
    report.case("lists", lists(&fresh).await);
    report.case("gap", gap(&fresh).await);
    report
}

fn entry(run: &str, sequence: u64) -> JournalEntry {
    JournalEntry {
        schema: JournalEntry::SCHEMA,
        run: RunId::new(run),
        sequence,
        event: json!({
            "kind": "tried",
            "score": 0.1 + 0.2 + sequence as f64 / 7.0,
            "text": format!("a line's end\nand \"quotes\" of {run} {sequence}"),
        }),
    }
}

fn entries(run: &str, sequences: impl IntoIterator<Item = u64>) -> Vec<JournalEntry> {
    sequences.into_iter().map(|n| entry(run, n)).collect()
}

async fn holds(journal: &Kept, run: &str, due: &[JournalEntry]) -> Tried {
    let read = journal.read(&RunId::new(run)).await?;
    require(read == due, || {
        let numbers = |entries: &[JournalEntry]| -> Vec<u64> {
            entries.iter().map(|entry| entry.sequence).collect()
        };
        format!(
            "expected the entries {:?} of run {run} as they were appended, found the entries {:?}, or other content",
            numbers(due),
            numbers(&read)
        )
    })
}

async fn order(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let journal = fresh().await?;
    journal.append(&entries("run", 0..1)).await?;
    journal.append(&entries("run", 1..12)).await?;
    journal.append(&[]).await?;
    holds(&journal, "run", &entries("run", 0..12)).await
}

async fn apart(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let journal = fresh().await?;
    let mixed = [
        entry("one", 0),
        entry("two", 0),
        entry("two", 1),
        entry("one", 1),
    ];
    journal.append(&mixed).await?;
    holds(&journal, "one", &entries("one", 0..2)).await?;
    holds(&journal, "two", &entries("two", 0..2)).await?;
    holds(&journal, "three", &[]).await
}

async fn once(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let journal = fresh().await?;
    journal.append(&entries("run", 0..4)).await?;
    journal.append(&entries("run", 1..6)).await?;
    holds(&journal, "run", &entries("run", 0..6)).await?;
    let mut other = entry("run", 2);
    other.event = json!("something else");
    let tried = journal.append(&[other]).await;
    require_error(
        tried,
        &[ErrorKind::Conflict],
        "appending other content under a known sequence number",
    )?;
    holds(&journal, "run", &entries("run", 0..6)).await
}

async fn lists(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let journal = fresh().await?;
    let none = journal.runs().await?;
    require(none.is_empty(), || {
        format!("expected an empty journal to list no runs, found {none:?}")
    })?;
    let mixed = [entry("two", 0), entry("one", 0), entry("two", 1)];
    journal.append(&mixed).await?;
    let runs = journal.runs().await?;
    let due = [RunId::new("one"), RunId::new("two")];
    require(runs == due, || {
        format!("expected the runs {due:?}, found {runs:?}")
    })
}

async fn gap(fresh: &impl AsyncFn() -> Result<Kept>) -> Tried {
    let journal = fresh().await?;
    let tried = journal.append(&[entry("run", 1)]).await;
    require_error(
        tried,
        &[ErrorKind::Invalid],
        "appending sequence number 1 to an empty run",
    )?;
    holds(&journal, "run", &[]).await?;
    let tried = journal.append(&entries("run", [0, 1, 3, 2])).await;
    require_error(
        tried,
        &[ErrorKind::Invalid],
        "appending an entry after a gap",
    )?;
    holds(&journal, "run", &entries("run", 0..2)).await?;
    journal.append(&[entry("run", 2)]).await?;
    holds(&journal, "run", &entries("run", 0..3)).await
}
