//! What the agent did, for a person to read: `--trace FILE`, and the end of an attempt that failed.

use std::{
    fmt::Write as _,
    fs::File,
    io::Write as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use journeyman::{
    Result,
    domain::{Action, EndReason, Step, Task, Trajectory},
    report::Event,
    text::Redactor,
};
use serde_json::Value;

use super::form::RUN;
use crate::{files::unwritable, output::warn};

/// Steps of a failed attempt that the command shows by itself.
const LAST_STEPS: usize = 3;
/// Maximum characters of a text that it shows of each.
const SHOWN: usize = 200;

/// The record of a run's attempts.
#[derive(Debug)]
pub(super) struct Trace {
    file: Option<Mutex<File>>,
    /// The end of the latest attempt that did not succeed.
    failed: Mutex<Option<String>>,
    /// Known forms of secrets are in no file and on no terminal.
    redactor: Redactor,
}

impl Trace {
    /// A record that is also written to a file, which takes the place of an older one.
    pub(super) fn open(path: Option<&Path>) -> Result<Arc<Self>> {
        let create = |path| File::create(path).map_err(|error| unwritable(RUN, path, error));
        Ok(Arc::new(Self {
            file: path.map(create).transpose()?.map(Mutex::new),
            failed: Mutex::default(),
            redactor: Redactor::default(),
        }))
    }

    /// Notes a decision of the run.
    pub(super) fn event(&self, event: &Event) {
        self.write(&format!("{event}\n"));
    }

    /// The last steps of the latest attempt that did not succeed.
    pub(super) fn failed(&self) -> Option<String> {
        let failed = self.failed.lock();
        failed.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes an attempt that has ended.
    pub(super) fn attempt(&self, task: &Task, trajectory: &Trajectory) {
        let instruction = task.instruction.as_str();
        let is_done = matches!(&trajectory.outcome, Some(outcome) if outcome.success);
        if !is_done {
            let from = trajectory.steps.len().saturating_sub(LAST_STEPS);
            let mut text = head(instruction, trajectory, SHOWN);
            for step in &trajectory.steps[from..] {
                steps(&mut text, step, SHOWN);
            }
            let _ = writeln!(text, "  end: {}", end(trajectory));
            let text = self.redactor.redact(&text).into_owned();
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        }
        if self.file.is_some() {
            let mut text = head(instruction, trajectory, usize::MAX);
            for step in &trajectory.steps {
                let _ = writeln!(text, "  sees: {}", indented(&step.observation.text));
                steps(&mut text, step, usize::MAX);
            }
            let _ = writeln!(text, "  end: {}", end(trajectory));
            self.write(&text);
        }
    }

    fn write(&self, text: &str) {
        let Some(file) = &self.file else { return };
        let text = self.redactor.redact(text);
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(text.as_bytes()) {
            warn(&unwritable(RUN, Path::new("the trace"), error));
        }
    }
}

fn head(instruction: &str, trajectory: &Trajectory, most: usize) -> String {
    let injected = match trajectory.injection.skills.len() {
        0 => "without a skill".to_owned(),
        1 => "with 1 skill".to_owned(),
        count => format!("with {count} skills"),
    };
    format!(
        "attempt {} at the task {}, {injected}\n  task: {}\n",
        trajectory.attempt,
        trajectory.task,
        indented(&cut(instruction, most))
    )
}

fn steps(text: &mut String, step: &Step, most: usize) {
    let did = match &step.action {
        Action::Call(calls) => {
            let calls = calls.iter();
            let calls = calls
                .map(|call| format!("{}({})", call.tool, Value::Object(call.arguments.clone())));
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
        indented(&cut(&did, most)),
        indented(&cut(&step.result.text, most))
    );
}

fn end(trajectory: &Trajectory) -> String {
    match (&trajectory.end, &trajectory.outcome) {
        (EndReason::Finished, Some(outcome)) if outcome.success => "done".to_owned(),
        (EndReason::Finished, _) => "the world says that the task is over and not done".to_owned(),
        (end, _) => end.to_string(),
    }
}

/// At most this many characters.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Further lines stand below the first.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n      ")
}
