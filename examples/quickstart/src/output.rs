//! Where the quickstart writes.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, ErrorKind as Io, Read},
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Result, agent::JsonLinesJournal, contract::JournalEntry};

/// The session, which each of its runs' names begins with.
pub(crate) const SESSION: &str = "quickstart";

/// The session that attempts tasks with the skills that the gate refused.
pub(crate) const WITHOUT_GATE: &str = "quickstart-without-gate";

/// The greatest length of a journal's first line that is read.
const LINE_BYTES: u64 = 64 << 20;

/// The folder of the skills under an output folder.
pub(crate) fn skills(out: &Path) -> PathBuf {
    out.join("skills")
}

/// The journal under an output folder.
pub(crate) fn journal(out: &Path) -> PathBuf {
    out.join("journal.jsonl")
}

/// A fresh journal beside an empty folder of skills. What an earlier quickstart wrote there is replaced, which its
/// journal shows; anything else is left alone, with an error.
pub(crate) fn begin(out: &Path) -> Result<JsonLinesJournal<BufWriter<File>>> {
    let (skills, journal) = (skills(out), journal(out));
    let begun = first_line(&journal).map_err(unwritable)?;
    let something = !begun.is_empty() || holds_anything(&skills).map_err(unwritable)?;
    if something && !is_ours(&begun) {
        return Err(
            Error::invalid("quickstart", "the folder holds what no quickstart wrote")
                .with("folder", out.display())
                .hint("name another folder with --out"),
        );
    }
    if skills.exists() {
        fs::remove_dir_all(&skills).map_err(unwritable)?;
    }
    fs::create_dir_all(&skills).map_err(unwritable)?;
    let file = File::create(journal).map_err(unwritable)?;
    Ok(JsonLinesJournal::new(BufWriter::new(file)))
}

/// What to say when something could not be written.
pub(crate) fn unwritable(error: io::Error) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "quickstart",
        format!("the output could not be written: {error}"),
    )
    .hint("name another folder with --out")
}

/// The first line of a file; empty for an empty file or none.
fn first_line(path: &Path) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    match File::open(path) {
        Err(error) if error.kind() == Io::NotFound => {}
        file => {
            BufReader::new(file?.take(LINE_BYTES)).read_until(b'\n', &mut line)?;
        }
    }
    Ok(line)
}

/// Whether a journal that begins with this line is a quickstart's.
fn is_ours(line: &[u8]) -> bool {
    serde_json::from_slice::<JournalEntry>(line).is_ok_and(|entry| {
        let session = entry.run.as_str().split('/').next();
        session == Some(SESSION)
    })
}

fn holds_anything(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == Io::NotFound => Ok(false),
        entries => Ok(entries?.next().is_some()),
    }
}
