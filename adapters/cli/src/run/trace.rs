//! What the agent did, for a person to read: `--trace FILE`, and the end of an attempt that failed.

use std::{
    env,
    fmt::Write as _,
    fs::{self, File},
    io::{ErrorKind, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use journeyman::{
    Error, Result,
    domain::{Action, EndReason, Injection, Step, Task, Trajectory},
    report::Event,
    text::{Redactor, plain_terminal},
};
use serde_json::Value;

use super::form::{Form, RUN};
use crate::{
    files::{unreadable, unwritable},
    output::warn,
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
    path: Option<PathBuf>,
    /// Nothing before the run begins, and after the file could not be written.
    file: Mutex<Option<File>>,
    /// The end of the latest attempt that did not succeed.
    failed: Mutex<Option<String>>,
    /// Known forms of secrets, and the key of the run's server, are in no file and on no terminal.
    redactor: Redactor,
}

impl Trace {
    /// A record that is also written to a file: a new one, or one that holds an older trace. Nothing is written yet.
    pub(super) fn new(path: Option<&Path>, form: &Form) -> Result<Arc<Self>> {
        if let Some(path) = path {
            refuse_other_files(path)?;
        }
        let key = form.model.get_ref().key_variable.as_ref();
        let key = key.and_then(|variable| env::var(variable).ok());
        Ok(Arc::new(Self {
            path: path.map(Path::to_owned),
            file: Mutex::default(),
            failed: Mutex::default(),
            // A key that is too short to be told from a word is hidden by its form alone.
            redactor: Redactor::new(key).unwrap_or_default(),
        }))
    }

    /// Empties the file, once everything else is known to be there.
    pub(super) fn begin(&self) -> Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let begun = File::create(path).and_then(|mut file| {
            file.write_all(TITLE.as_bytes())?;
            Ok(file)
        });
        *locked(&self.file) = Some(begun.map_err(|error| unwritable(RUN, path, error))?);
        Ok(())
    }

    /// Notes a decision of the run.
    pub(super) fn event(&self, event: &Event) {
        self.write(&format!("{}\n", self.redactor.redact(&event.to_string())));
    }

    /// The last steps of the latest attempt that did not succeed.
    pub(super) fn failed(&self) -> Option<String> {
        locked(&self.failed).clone()
    }

    /// Notes an attempt that has ended.
    pub(super) fn attempt(&self, task: &Task, injection: &Injection, trajectory: &Trajectory) {
        let is_done = matches!(&trajectory.outcome, Some(outcome) if outcome.success);
        if !is_done {
            let from = trajectory.steps.len().saturating_sub(LAST_STEPS);
            let mut text = self.head(task, injection, trajectory, SHOWN);
            for step in &trajectory.steps[from..] {
                self.step(&mut text, step, SHOWN);
            }
            self.end(&mut text, trajectory, SHOWN);
            *locked(&self.failed) = Some(text);
        }
        if self.path.is_some() {
            let mut text = self.head(task, injection, trajectory, usize::MAX);
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
        let mut file = locked(&self.file);
        let Some(open) = file.as_mut() else { return };
        if let Err(error) = open.write_all(plain_terminal(text).as_bytes()) {
            // Said once; the run does not need the trace.
            *file = None;
            let path = self.path.as_deref().unwrap_or(Path::new(""));
            warn(&unwritable(RUN, path, error).hint("the trace ends here; the run goes on"));
        }
    }

    fn head(
        &self,
        task: &Task,
        injection: &Injection,
        trajectory: &Trajectory,
        most: usize,
    ) -> String {
        let injected = match injection.skills.as_slice() {
            [] => "without a skill".to_owned(),
            skills => {
                let names = skills.iter().map(|one| one.skill.to_string());
                format!("with {}", names.collect::<Vec<_>>().join(", "))
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
            other => format!("{other:?}"),
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
                "  sees: {}\n  writes: {}",
                self.shown(&unread.observation.text, most),
                self.shown(&unread.transcript, most)
            );
        }
        let end = match (&trajectory.end, &trajectory.outcome) {
            (EndReason::Finished, Some(outcome)) if outcome.success => "done".to_owned(),
            (EndReason::Finished, _) => {
                "the world says that the task is over and not done".to_owned()
            }
            (end, _) => end.to_string(),
        };
        let _ = writeln!(text, "  end: {}", self.shown(&end, most));
    }

    /// At most so many characters of a text, its further lines below the first. Secrets are hidden before it is cut, since a
    /// part of one has no known form.
    fn shown(&self, text: &str, most: usize) -> String {
        let text = self.redactor.redact(text);
        let text = plain_terminal(text.trim_end());
        let cut = match text.char_indices().nth(most) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text.into_owned(),
        };
        cut.replace('\n', "\n      ")
    }
}

/// Refuses a file that holds anything else than a trace.
fn refuse_other_files(path: &Path) -> Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        // A terminal or a pipe has nothing to lose.
        return Ok(());
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| {
        let most = TITLE.len() as u64;
        file.take(most).read_to_end(&mut start)
    });
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unreadable(RUN, path, error)),
        Ok(_) if start.is_empty() || start == TITLE.as_bytes() => Ok(()),
        Ok(_) => Err(Error::invalid(
            RUN,
            "the file for the trace holds something else than a trace",
        )
        .with("path", path.display())
        .hint("name another file, or remove this one")),
    }
}

fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
