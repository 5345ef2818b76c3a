//! A journal that writes JSON lines, and its readers.

use std::{
    fmt,
    io::{BufRead, Read, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use super::memory_journal::Runs;
use crate::{
    contract::{Journal, JournalEntry},
    error::{Error, ErrorKind, Result},
    id::RunId,
};

/// The greatest length of a line in bytes, its end included.
const LINE_BYTES: usize = 64 << 20;

/// Written after a line that was cut by a failed write. The line before the mark was never acknowledged, and a reader
/// skips it if it is not valid.
const CUT_MARK: &str = "{\"cut\":true}";

/// A [`Journal`] that writes each entry as one line of JSON and flushes after each call.
///
/// The host passes the writer, so the SDK opens no file. A host that must survive a loss of power passes a writer whose
/// `flush` is a sync. The entries are also kept in memory, and `read` answers from there.
///
/// After a failed write, the next call first ends the cut line and marks it in a line of its own. Entries that were not
/// acknowledged can be appended again.
///
/// ```
/// use journeyman::{agent::{JsonLinesJournal, read_json_lines}, contract::{Journal, JournalEntry}, RunId};
///
/// let journal = JsonLinesJournal::new(Vec::new());
/// let entry = JournalEntry::new(RunId::new("run"), 0, "began");
/// futures::executor::block_on(journal.append(&[entry.clone()]))?;
/// let lines = journal.into_writer();
/// assert_eq!(read_json_lines(lines.as_slice())?, [entry]);
/// # Ok::<(), journeyman::Error>(())
/// ```
pub struct JsonLinesJournal<W> {
    state: Mutex<State<W>>,
}

struct State<W> {
    writer: W,
    runs: Runs,
    /// Whether the last line may be incomplete.
    cut: bool,
}

impl<W> fmt::Debug for JsonLinesJournal<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonLinesJournal").finish_non_exhaustive()
    }
}

impl<W: Write + Send> JsonLinesJournal<W> {
    /// An empty journal; `writer` has no entries yet.
    pub fn new(writer: W) -> Self {
        Self::with_runs(writer, Runs::default(), false)
    }

    /// A journal that continues after recovered entries; `writer` must append to their text.
    ///
    /// # Errors
    /// `Conflict` or `Invalid` where the entries break the journal's rules; entries of [`recover_json_lines`] do not.
    pub fn resumed(writer: W, recovered: &RecoveredJournal) -> Result<Self> {
        let mut runs = Runs::default();
        for entry in &recovered.entries {
            if runs.is_new(entry)? {
                runs.push(entry.clone());
            }
        }
        Ok(Self::with_runs(writer, runs, recovered.open_line.is_some()))
    }

    /// Returns the writer.
    pub fn into_writer(self) -> W {
        let state = self.state.into_inner();
        state.unwrap_or_else(PoisonError::into_inner).writer
    }

    fn with_runs(writer: W, runs: Runs, cut: bool) -> Self {
        Self {
            state: Mutex::new(State { writer, runs, cut }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        // `cut` is set before a write and cleared after it, so a panic in between counts as a cut line.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write> State<W> {
    /// Writes whole lines; `cut` stays set where the write fails.
    fn write(&mut self, lines: &[u8]) -> std::io::Result<()> {
        let was_cut = std::mem::replace(&mut self.cut, true);
        if was_cut {
            self.writer
                .write_all(format!("\n{CUT_MARK}\n").as_bytes())?;
        }
        self.writer.write_all(lines)?;
        self.writer.flush()?;
        self.cut = false;
        Ok(())
    }

    /// Adds new entries to `runs` and returns their lines and their runs, with the error that stopped at an entry, if any.
    fn take_in(&mut self, entries: &[JournalEntry]) -> (Vec<u8>, Vec<RunId>, Result<()>) {
        let (mut lines, mut taken) = (Vec::new(), Vec::new());
        for entry in entries {
            match self.runs.is_new(entry) {
                Ok(false) => {}
                Ok(true) => match line(entry) {
                    Ok(line) => {
                        lines.extend(line);
                        self.runs.push(entry.clone());
                        taken.push(entry.run.clone());
                    }
                    Err(error) => return (lines, taken, Err(error)),
                },
                Err(error) => return (lines, taken, Err(error)),
            }
        }
        (lines, taken, Ok(()))
    }
}

fn line(entry: &JournalEntry) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(entry).map_err(|error| {
        Error::invalid("Journal::append", "the entry cannot be written as JSON")
            .with("sequence", entry.sequence)
            .source_from(error)
    })?;
    line.push(b'\n');
    if line.len() > LINE_BYTES {
        return Err(
            Error::invalid("Journal::append", "the entry is longer than a line may be")
                .with("sequence", entry.sequence)
                .with("bytes", line.len())
                .with("limit", LINE_BYTES),
        );
    }
    Ok(line)
}

#[async_trait]
impl<W: Write + Send> Journal for JsonLinesJournal<W> {
    async fn append(&self, entries: &[JournalEntry]) -> Result<()> {
        let mut state = self.lock();
        let (lines, taken, rest) = state.take_in(entries);
        if !lines.is_empty()
            && let Err(error) = state.write(&lines)
        {
            // Entries that were not acknowledged are not kept.
            for run in taken.iter().rev() {
                state.runs.pop(run);
            }
            return Err(Error::unavailable(
                "Journal::append",
                "the entries could not be written",
            )
            .temporary()
            .hint("see that the disk has room and is writable, then append the same entries again")
            .source_from(error));
        }
        rest
    }

    async fn read(&self, run: &RunId) -> Result<Vec<JournalEntry>> {
        Ok(self.lock().runs.of(run))
    }

    async fn runs(&self) -> Result<Vec<RunId>> {
        Ok(self.lock().runs.ids())
    }
}

/// The readable part of a journal whose writer may have been killed.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecoveredJournal {
    /// The entries in the order of their lines.
    pub entries: Vec<JournalEntry>,
    /// The number, from 1, of a last line without a line feed.
    pub open_line: Option<usize>,
    /// Whether that line was cut, so that its entry is lost. The entry was never acknowledged.
    pub cut: bool,
}

/// Reads the text of a journal that was closed properly.
///
/// # Errors
/// `Corrupt`, with the line's number and never its content, for a line that is not a journal entry, that differs from an
/// earlier entry of the same number, or that leaves a gap, and for a last line that was cut ([`recover_json_lines`] accepts
/// it); `Unsupported` for an entry of a later schema; `Unavailable` where reading fails.
pub fn read_json_lines(input: impl BufRead) -> Result<Vec<JournalEntry>> {
    let recovered = recover_json_lines(input)?;
    match recovered.open_line {
        Some(line) if recovered.cut => Err(damaged("the last line was cut short", line)
            .hint("use `recover_json_lines` to go on with the entries before it")),
        _ => Ok(recovered.entries),
    }
}

/// Reads the text of a journal whose writer may have been killed: as [`read_json_lines`], but a last line that was cut is
/// reported and not refused.
///
/// # Errors
/// As [`read_json_lines`], for every line except a cut last one.
///
/// ```
/// use journeyman::{agent::{JsonLinesJournal, recover_json_lines}, contract::{Journal, JournalEntry}, RunId};
///
/// let entry = |sequence| JournalEntry::new(RunId::new("run"), sequence, "began");
/// let journal = JsonLinesJournal::new(Vec::new());
/// futures::executor::block_on(journal.append(&[entry(0), entry(1)]))?;
/// let mut lines = journal.into_writer();
/// lines.truncate(lines.len() - 5); // the writer was killed
///
/// let recovered = recover_json_lines(lines.as_slice())?;
/// assert_eq!((recovered.entries.len(), recovered.open_line, recovered.cut), (1, Some(2), true));
/// let journal = JsonLinesJournal::resumed(lines, &recovered)?;
/// futures::executor::block_on(journal.append(&[entry(1)]))?;
/// # Ok::<(), journeyman::Error>(())
/// ```
pub fn recover_json_lines(mut input: impl BufRead) -> Result<RecoveredJournal> {
    let mut recovered = RecoveredJournal::default();
    let mut runs = Runs::default();
    let mut unreadable: Option<Error> = None;
    for number in 1.. {
        let Some((line, ended)) = next_line(&mut input, number)? else {
            break;
        };
        if ended && CUT_MARK.as_bytes().starts_with(&line) {
            // A whole mark follows a mark that was itself cut.
            unreadable = (line.len() < CUT_MARK.len()).then(|| {
                let cut = damaged("the line is not JSON", number);
                unreadable.take().unwrap_or(cut)
            });
            continue;
        }
        if let Some(error) = unreadable.take() {
            return Err(error);
        }
        if !ended {
            recovered.open_line = Some(number);
        }
        match parse(&line, number) {
            Ok(entry) => {
                if runs
                    .is_new(&entry)
                    .map_err(|error| damaged(error.message(), number))?
                {
                    runs.push(entry.clone());
                    recovered.entries.push(entry);
                }
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => return Err(error),
            Err(_) if !ended => recovered.cut = true,
            // The next line may be the mark that says this one was cut.
            Err(error) => unreadable = Some(error),
        }
    }
    unreadable.map_or(Ok(recovered), Err)
}

fn next_line(input: &mut impl BufRead, number: usize) -> Result<Option<(Vec<u8>, bool)>> {
    let mut line = Vec::new();
    let mut limited = input.take(LINE_BYTES as u64);
    let read = limited.read_until(b'\n', &mut line).map_err(|error| {
        Error::unavailable("read_json_lines", "the journal could not be read")
            .with("line", number)
            .source_from(error)
    })?;
    if read == 0 {
        return Ok(None);
    }
    let ended = line.last() == Some(&b'\n');
    if ended {
        line.pop();
    } else if read == LINE_BYTES {
        return Err(damaged("the line is longer than a line may be", number));
    }
    Ok(Some((line, ended)))
}

/// Reads one line. Only the position of serde's error is kept, since its message may repeat content.
fn parse(line: &[u8], number: usize) -> Result<JournalEntry> {
    let entry: JournalEntry = serde_json::from_slice(line).map_err(|error| {
        let message = match error.classify() {
            serde_json::error::Category::Data => "the line is not a journal entry",
            _ => "the line is not JSON",
        };
        damaged(message, number).with("column", error.column())
    })?;
    if entry.schema > JournalEntry::SCHEMA {
        return Err(Error::unsupported(
            "read_json_lines",
            "the entry is of a later schema than this version reads",
        )
        .with("line", number)
        .with("schema", entry.schema)
        .hint("read this journal with a newer version"));
    }
    Ok(entry)
}

fn damaged(message: &str, line: usize) -> Error {
    Error::corrupt("read_json_lines", message).with("line", line)
}
