//! Salvaging journal entries.

use std::collections::BTreeSet;

use journeyman::{Result, RunId, contract::JournalEntry};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{files::SALVAGE, report::Salvaged};
use crate::{
    convert::{failed, to_json},
    records::{entry_missing, read_entry},
    statements::insert_entry,
};

/// Collects the runs: those that the journal names, read from both ends, and those in the table of runs, as far as each
/// can be read.
pub(super) fn find_runs(
    damaged: &Connection,
    runs: &mut BTreeSet<String>,
    salvaged: &mut Salvaged,
) {
    let ways = [
        (
            "SELECT min(run) FROM journal",
            "SELECT min(run) FROM journal WHERE run > ?1",
        ),
        (
            "SELECT max(run) FROM journal",
            "SELECT max(run) FROM journal WHERE run < ?1",
        ),
        (
            "SELECT min(run) FROM runs",
            "SELECT min(run) FROM runs WHERE run > ?1",
        ),
    ];
    let run = |row: &rusqlite::Row<'_>| row.get::<_, Option<String>>(0);
    let mut whole = false;
    let mut fault = None;
    for (first, next) in ways {
        let mut found = BTreeSet::new();
        let mut at = damaged.query_row(first, [], run);
        while let Ok(Some(name)) = at {
            at = damaged
                .prepare_cached(next)
                .and_then(|mut statement| statement.query_row([&name], run));
            // A damaged index may lead in a circle.
            if !found.insert(name) {
                break;
            }
        }
        runs.extend(found);
        match at {
            Ok(_) => whole = true,
            Err(source) => fault = Some(failed(SALVAGE, source)),
        }
    }
    if let (false, Some(fault)) = (whole, fault) {
        salvaged
            .lost
            .push(fault.with("journal", "runs may be missing"));
    }
}

/// Copies a run's entries up to the first that is missing or damaged.
pub(super) fn copy_run(
    damaged: &Connection,
    new: &Transaction<'_>,
    run: &RunId,
    salvaged: &mut Salvaged,
) -> Result<()> {
    let due = [
        "SELECT max(sequence) + 1 FROM journal WHERE run = ?1",
        "SELECT entries FROM runs WHERE run = ?1",
    ];
    let due = greatest(damaged, due, [run.as_str()]);
    for sequence in 0_i64.. {
        let fault = match read_one_entry(damaged, run, sequence) {
            Ok(Some(entry)) => {
                insert_entry(SALVAGE, new, &entry, &to_json(SALVAGE, &entry)?)?;
                salvaged.entries += 1;
                continue;
            }
            Ok(None) if due.is_some_and(|due| due <= sequence) => return Ok(()),
            Ok(None) => entry_missing(SALVAGE, run, sequence.unsigned_abs()),
            Err(error) => error,
        };
        let entries = due.map_or_else(|| "unknown".to_owned(), |due| due.to_string());
        salvaged.lost.push(fault.with("entries", entries));
        return Ok(());
    }
    Ok(())
}

fn read_one_entry(
    damaged: &Connection,
    run: &RunId,
    sequence: i64,
) -> Result<Option<JournalEntry>> {
    let query = "SELECT sequence, body, hash FROM journal WHERE run = ?1 AND sequence = ?2";
    let failed = |source| {
        let error = failed(SALVAGE, source);
        error.with("run", run).with("sequence", sequence)
    };
    damaged
        .prepare_cached(query)
        .and_then(|mut statement| {
            let found = |row: &rusqlite::Row<'_>| Ok(read_entry(SALVAGE, run, row));
            let at = params![run.as_str(), sequence];
            statement.query_row(at, found).optional()
        })
        .map_err(failed)?
        .transpose()
}

/// The greater result of two queries; `None` unless both succeed.
pub(super) fn greatest<P: rusqlite::Params + Copy>(
    damaged: &Connection,
    queries: [&str; 2],
    of: P,
) -> Option<i64> {
    let answers = queries.map(|query| {
        let answer = damaged.query_row(query, of, |row| row.get::<_, Option<i64>>(0));
        let answer = answer.optional();
        answer.map(|answer| answer.flatten().unwrap_or(0))
    });
    let [one, other] = answers;
    Some(one.ok()?.max(other.ok()?))
}
