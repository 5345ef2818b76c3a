//! What the agent did, for a person to read: `--trace FILE`, and the end of an attempt that failed.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use journeyman::{
    Error, Result,
    domain::{Action, AttemptId, EndReason, Step, Task, Trajectory},
    run::report::{Event, EventKind},
    text::{Redactor, plain_terminal},
};
use serde_json::Value;

use super::form::RUN;
use crate::{
    files::{unreadable, unwritable},
    output::warn,
    words::of_the_command,
};

/// The first line of a trace. A file that begins otherwise is somebody's, and is not written over.
const TITLE: &str = "trace of journeyman run\n";
/// Steps of a failed attempt that the command shows by itself.
const LAST_STEPS: usize = 3;
/// Maximum characters of a text that it shows of each.
const SHOWN: usize = 200;

/// The record of a run's attempts.
#[derive(Debug)]
pub(super) struct Trace {
    file: Mutex<TraceFile>,
    ends: Mutex<Ends>,
    redactor: Redactor,
}

/// The file of `--trace`.
#[derive(Debug)]
enum TraceFile {
    /// There is none, or it could not be written.
    None,
    /// It can be written, and is as it was.
    Found(PathBuf, File),
    /// It has what this run has done so far.
    Begun(PathBuf, File),
}

/// How attempts ended.
#[derive(Debug, Default)]
struct Ends {
    /// The last steps of attempts that are not judged yet.
    unjudged: BTreeMap<AttemptId, String>,
    /// The last steps of the latest attempt that was judged to be no success.
    failed: Option<String>,
}

impl Trace {
    /// A record that is also written to a file, where a path is given: a new file, or one that holds an older trace, which stays
    /// until [`Trace::begin`]. What the redactor finds is in no file and on no terminal.
    pub(super) fn new(path: Option<&Path>, redactor: Redactor) -> Result<Arc<Self>> {
        let file = path.map_or(Ok(TraceFile::None), |path| {
            found(path).map(|file| TraceFile::Found(path.to_owned(), file))
        })?;
        Ok(Arc::new(Self {
            file: Mutex::new(file),
            ends: Mutex::default(),
            redactor,
        }))
    }

    /// Empties the file, once everything else is known to be there.
    pub(super) fn begin(&self) -> Result<()> {
        let mut of_run = locked(&self.file);
        if let TraceFile::Found(path, mut file) = std::mem::replace(&mut *of_run, TraceFile::None) {
            emptied(&mut file).map_err(|error| unwritable(RUN, &path, error))?;
            *of_run = TraceFile::Begun(path, file);
        }
        Ok(())
    }

    /// Drops the ends of earlier attempts. Nothing else drops those of attempts at test cases, since no event reports them.
    pub(super) fn forget(&self) {
        *locked(&self.ends) = Ends::default();
    }

    /// Whether attempts are written to a file.
    pub(super) fn has_file(&self) -> bool {
        !matches!(&*locked(&self.file), TraceFile::None)
    }

    /// Notes a decision of the run.
    pub(super) fn event(&self, event: &Event) {
        if let EventKind::Attempted { report, .. } = &event.kind {
            let mut ends = locked(&self.ends);
            let end = ends.unjudged.remove(&report.attempt);
            if report.success == Some(false) {
                ends.failed = end;
            }
        }
        self.write(&format!("{}\n", self.shown(&event.to_string(), usize::MAX)));
    }

    /// The last steps of the latest attempt that was judged to be no success.
    pub(super) fn failed(&self) -> Option<String> {
        locked(&self.ends).failed.clone()
    }

    /// Notes an attempt that has ended, and is not judged yet.
    pub(super) fn attempt(&self, task: &Task, trajectory: &Trajectory) {
        let from = trajectory.steps.len().saturating_sub(LAST_STEPS);
        let mut text = self.head(task, trajectory, SHOWN);
        for step in &trajectory.steps[from..] {
            self.step(&mut text, step, SHOWN);
        }
        self.end(&mut text, trajectory, SHOWN);
        let unjudged = &mut locked(&self.ends).unjudged;
        unjudged.insert(trajectory.attempt.clone(), text);
        if self.has_file() {
            let mut text = self.head(task, trajectory, usize::MAX);
            for step in &trajectory.steps {
                let seen = self.shown(&step.observation.text, usize::MAX);
                let _ = writeln!(text, "  sees: {seen}");
                self.step(&mut text, step, usize::MAX);
            }
            self.end(&mut text, trajectory, usize::MAX);
            self.write(&text);
        }
    }

    fn write(&self, text: &str) {
        let mut of_run = locked(&self.file);
        let TraceFile::Begun(path, file) = &mut *of_run else {
            return;
        };
        if let Err(error) = file.write_all(text.as_bytes()) {
            // Said once; the run does not need the trace.
            warn(&unwritable(RUN, path, error).hint("the trace ends here; the run goes on"));
            *of_run = TraceFile::None;
        }
    }

    fn head(&self, task: &Task, trajectory: &Trajectory, most: usize) -> String {
        let injected = match trajectory.exposures.as_slice() {
            [] => "without a skill".to_owned(),
            exposures => {
                let skills = exposures.iter().map(|one| match one.since {
                    0 => one.skill.to_string(),
                    since => format!("{} since step {since}", one.skill),
                });
                format!("with {}", skills.collect::<Vec<_>>().join(", "))
            }
        };
        format!(
            "attempt {} at the task {}, {injected}\n  task: {}\n",
            trajectory.attempt,
            trajectory.task,
            self.shown(&task.instruction, most)
        )
    }

    fn step(&self, text: &mut String, step: &Step, most: usize) {
        let did = match &step.action {
            Action::Call(calls) => {
                let calls = calls.iter();
                let calls = calls.map(|call| {
                    format!("{}({})", call.tool, Value::Object(call.arguments.clone()))
                });
                format!("calls {}", calls.collect::<Vec<_>>().join(", "))
            }
            Action::Message(message) => format!("says: {message}"),
            Action::EndTurn => "ends its turn".to_owned(),
            _ => "does what this version does not know".to_owned(),
        };
        let how = match step.result.is_error {
            true => "refused",
            false => "answer",
        };
        let _ = writeln!(
            text,
            "  {} {}\n    {how}: {}",
            step.index,
            self.shown(&did, most),
            self.shown(&step.result.text, most)
        );
    }

    fn end(&self, text: &mut String, trajectory: &Trajectory, most: usize) {
        if let Some(unread) = &trajectory.unread {
            let _ = writeln!(
                text,
                "  sees: {}\n  writes: {}\n  unusable: {}{}",
                self.shown(&unread.observation.text, most),
                self.shown(&unread.transcript, most),
                self.shown(&unread.reason, most),
                more_tokens(&unread.reason)
            );
        }
        let end = match (&trajectory.end, &trajectory.outcome) {
            (EndReason::Finished, Some(outcome)) if outcome.success => "done".to_owned(),
            (EndReason::Finished, _) => {
                "the world says that the task is over and not done".to_owned()
            }
            (EndReason::Failed(error), _) => {
                let hint = error.hint_text().map(of_the_command);
                let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
                format!("a part failed: {}{hint}", of_the_command(error.message()))
            }
            (end, _) => end.to_string(),
        };
        let _ = writeln!(text, "  end: {}", self.shown(&end, most));
    }

    /// At most so many characters of a text, its further lines below the first. Escape sequences go first, since they could part
    /// a secret, and secrets are hidden before the text is cut, since a part of one has no known form.
    fn shown(&self, text: &str, most: usize) -> String {
        let text = plain_terminal(text.trim_end());
        let text = self.redactor.redact(&text);
        let cut = match text.char_indices().nth(most) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text.into_owned(),
        };
        cut.replace('\n', "\n      ")
    }
}

/// Opens the file of a trace without changing it, and refuses a file that holds anything else. A missing file is made here and not
/// when the run begins: a path that cannot be written is reported before the model is loaded.
fn found(path: &Path) -> Result<File> {
    // A terminal or a pipe holds no older trace. It is not opened for reading: whoever holds the reading end of a pipe is not told
    // that its other reader has gone, and waits for ever when the pipe is full.
    let reads = fs::metadata(path).map_or(true, |found| found.is_file());
    let mut options = OpenOptions::new();
    let options = options.read(reads).write(true).create(true).truncate(false);
    let mut file = options
        .open(path)
        .map_err(|error| unwritable(RUN, path, error))?;
    let mut start = Vec::new();
    if reads {
        let read = (&mut file).take(TITLE.len() as u64).read_to_end(&mut start);
        read.map_err(|error| unreadable(RUN, path, error))?;
    }
    if start.is_empty() || start == TITLE.as_bytes() {
        return Ok(file);
    }
    Err(Error::invalid(
        RUN,
        "the file for the trace holds something else than a trace",
    )
    .with("path", path.display())
    .hint("name another file, or remove this one"))
}

/// Takes out what a file held, and writes the title.
fn emptied(file: &mut File) -> io::Result<()> {
    if file.metadata()?.is_file() {
        file.rewind()?;
        file.set_len(0)?;
    }
    file.write_all(TITLE.as_bytes())
}

fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What helps where an answer has too few tokens.
fn more_tokens(reason: &str) -> &'static str {
    match reason.contains("tokens of the answer") || reason.contains("limit of tokens") {
        true => "; raise `answer_tokens` in [model]",
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_an_escape_sequence_parts_or_a_cut_would_part_is_hidden() {
        let named = Redactor::new(["the-blue-door".to_owned()]).unwrap();
        let trace = Trace::new(None, named).unwrap();
        let coloured = "password: \u{1B}[31mhunter22x\u{1B}[0m, the-\u{1B}[1mblue-door";
        for (text, most) in [
            (coloured, usize::MAX),
            (coloured, 30),
            ("say the-blue-door", 9),
        ] {
            let shown = trace.shown(text, most);
            for part in ["hunter", "the-b", "blue"] {
                assert!(!shown.contains(part), "{shown}");
            }
        }
    }
}
