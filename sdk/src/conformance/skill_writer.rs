//! The rules of [`SkillWriter`].

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::report::{Report, Shortfall, Tried, require, require_error, skip};
use crate::{
    contract::{SkillWriter, Trace, WriteRequest},
    domain::{SkillDraft, Task, Trajectory},
    error::{ErrorKind, Result},
    id::Seed,
};

/// What a writer is tried with.
#[derive(Clone, Debug)]
pub struct SkillWriterFixture {
    /// The task.
    pub task: Task,
    /// One or two successful attempts at it, the best first.
    pub attempts: Vec<Trajectory>,
    /// Answers that can be read.
    pub readable: Vec<String>,
    /// Answers that cannot be read, beside the garbage that the suite brings.
    pub unreadable: Vec<String>,
}

/// Checks a writer.
pub async fn check(writer: &dyn SkillWriter, fixture: &SkillWriterFixture) -> Report {
    let traces: Vec<Trace<'_>> = (fixture.attempts.iter())
        .map(|trajectory| Trace { trajectory })
        .collect();
    let request = WriteRequest {
        task: &fixture.task,
        traces: &traces,
        seed: Seed(11),
        failed: None,
    };
    let mut report = Report::new("SkillWriter");
    report.case("pure", pure(writer, &request, fixture));
    report.case("garbage", garbage(writer, &request, fixture));
    report.case("bounded", bounded(writer, &request, fixture));
    report.case("fallback", fallback(writer, &request));
    report
}

fn sound(draft: &SkillDraft) -> Tried {
    let length = draft.description.chars().count();
    require((1..=1_024).contains(&length), || {
        format!("the description has {length} characters")
    })?;
    require(!draft.body.trim().is_empty(), || {
        "the body is empty".to_owned()
    })
}

/// Reads, and turns a panic into a failure.
fn read(
    writer: &dyn SkillWriter,
    request: &WriteRequest<'_>,
    text: &str,
) -> Tried<Result<SkillDraft>> {
    // A draft that was given up half-way is not looked at again, so nothing broken is seen.
    catch_unwind(AssertUnwindSafe(|| writer.read(request, text))).map_err(|_| {
        let shown: String = text.chars().take(30).collect();
        Shortfall::Failed(format!("reading {shown:?} panicked"))
    })
}

fn pure(
    writer: &dyn SkillWriter,
    request: &WriteRequest<'_>,
    fixture: &SkillWriterFixture,
) -> Tried {
    let repair = WriteRequest {
        failed: Some(("what was written", "what was wrong")),
        ..request.clone()
    };
    for request in [request, &repair] {
        let (first, second) = (writer.prompt(request), writer.prompt(request));
        let same = first.prompt == second.prompt
            && first.sampling == second.sampling
            && first.max_tokens == second.max_tokens
            && first.stop == second.stop
            && first.time_limit == second.time_limit;
        require(same, || "the same request gave another prompt".to_owned())?;
    }
    for text in fixture.readable.iter().chain(&fixture.unreadable) {
        let (first, second) = (read(writer, request, text)?, read(writer, request, text)?);
        require(first == second, || {
            "the same text gave another draft".to_owned()
        })?;
    }
    Ok(())
}

fn garbage_texts() -> Vec<String> {
    let fixed = [
        "",
        " \n\t",
        "\0\u{1}\u{202e}\u{feff}",
        "{",
        "}",
        "null",
        "[[[[[[[[",
        "{\"name\": NaN}",
        "{\"name\": 1, \"description\": [], \"body\": {}}",
        "---\nname: [\n---\n",
        "```json\n```",
        "\u{65e5}\u{672c}\u{8a9e}\u{1f469}\u{200d}\u{1f680}\u{301}",
    ];
    let deep = "{\"a\":".repeat(5_000);
    let long = "word ".repeat(200_000);
    (fixed.into_iter().map(str::to_owned))
        .chain([deep, long])
        .collect()
}

fn garbage(
    writer: &dyn SkillWriter,
    request: &WriteRequest<'_>,
    fixture: &SkillWriterFixture,
) -> Tried {
    // What the suite calls garbage a lenient writer may still read; but it must not break a rule.
    for text in garbage_texts() {
        match read(writer, request, &text)? {
            Ok(draft) => sound(&draft)?,
            refused => says_why(refused)?,
        }
    }
    for text in &fixture.unreadable {
        says_why(read(writer, request, text)?)?;
    }
    Ok(())
}

fn says_why(refused: Result<SkillDraft>) -> Tried {
    let error = require_error(refused, &[ErrorKind::Model], "an unreadable answer")?;
    require(!error.message().trim().is_empty(), || {
        "the error does not say what was wrong".to_owned()
    })
}

fn bounded(
    writer: &dyn SkillWriter,
    request: &WriteRequest<'_>,
    fixture: &SkillWriterFixture,
) -> Tried {
    if fixture.readable.is_empty() {
        return skip("no readable answer was given");
    }
    for text in &fixture.readable {
        sound(&read(writer, request, text)??)?;
    }
    Ok(())
}

fn fallback(writer: &dyn SkillWriter, request: &WriteRequest<'_>) -> Tried {
    if request.traces.is_empty() {
        return skip("no successful attempt was given");
    }
    for trace in request.traces {
        let alone = WriteRequest {
            traces: std::slice::from_ref(trace),
            ..request.clone()
        };
        sound(&writer.fallback(&alone))?;
    }
    let wordy = Task {
        instruction: "long ".repeat(1_000),
        ..request.task.clone()
    };
    let long = WriteRequest {
        task: &wordy,
        ..request.clone()
    };
    sound(&writer.fallback(&long))
}
