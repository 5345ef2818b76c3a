//! Annotated attempts and prototypes as JSON Lines.

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{
    Error, ErrorKind, Result,
    domain::{Assessment, AttemptId, Prototype, Trace},
    library::SkillLibrary,
    papers::scribe::annotations,
};
use serde::Serialize;

use super::{
    attempt::AnnotatedAttempt,
    split::{Split, SplitPart},
};

const OF: &str = "assessments::of_assessments";
const READ: &str = "assessments::read";
const WRITE: &str = "assessments::write";

/// The annotated attempts, and why others are not among them.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportedAssessments {
    /// The annotated attempts, in the order of the assessments.
    pub attempts: Vec<AnnotatedAttempt>,
    /// The other ones.
    pub refused: Vec<RefusedAssessment>,
}

/// An assessment that cannot be exported.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedAssessment {
    /// Which attempt it is of.
    pub attempt: AttemptId,
    /// Why, and what to do about it.
    pub error: Error,
}

/// The annotated attempts of a library: its [`annotations`] with the attempts that it still keeps
/// ([`TierPolicy::traces`](journeyman::domain::TierPolicy::traces)).
///
/// # Errors
/// `Invalid` for a share of the split that is not above 0 and below 1.
pub fn of_library(library: &SkillLibrary, split: &Split) -> Result<ExportedAssessments> {
    of_assessments(&annotations(library), library.traces(), split)
}

/// Assessments with their attempts. An assessment is refused with its reason where its attempt is not there, its spans are not
/// those of the attempt's steps, or another one is of the same attempt. The split is of those that can be exported.
///
/// # Errors
/// `Invalid` for a share of the split that is not above 0 and below 1.
pub fn of_assessments<'a>(
    assessments: &[Assessment],
    attempts: impl IntoIterator<Item = &'a Trace>,
    split: &Split,
) -> Result<ExportedAssessments> {
    split.validate()?;
    let attempts = attempts.into_iter();
    let attempts: BTreeMap<&AttemptId, &Trace> = attempts
        .map(|attempt| (&attempt.trajectory.attempt, attempt))
        .collect();
    let mut exported = ExportedAssessments::default();
    let mut seen = BTreeSet::new();
    let mut taken: Vec<&Assessment> = Vec::new();
    for assessment in assessments {
        let id = &assessment.attempt;
        let annotated = match attempts.get(id) {
            _ if !seen.insert(id) => Err(Error::invalid(
                OF,
                "another assessment is of the same attempt",
            )
            .hint("export one assessment of each attempt")),
            None => Err(
                Error::new(ErrorKind::NotFound, OF, "the attempt is not there any more").hint(
                    "raise `TierPolicy::traces`, or hand over the attempts with `of_assessments`",
                ),
            ),
            Some(attempt) => AnnotatedAttempt::new(assessment, attempt, SplitPart::Train),
        };
        match annotated {
            Ok(annotated) => {
                exported.attempts.push(annotated);
                taken.push(assessment);
            }
            Err(error) => exported.refused.push(RefusedAssessment {
                attempt: id.clone(),
                error: error.with("attempt", id),
            }),
        }
    }
    let test = split.test_part(taken.iter().map(|one| split.key(one)));
    for (annotated, assessment) in exported.attempts.iter_mut().zip(taken) {
        if test.contains(split.key(assessment)) {
            annotated.split = SplitPart::Test;
        }
    }
    Ok(exported)
}

/// Writes annotated attempts, one a line.
///
/// # Errors
/// As [`AnnotatedAttempt::validate`]; `Internal` where one cannot be written as JSON.
pub fn write(attempts: &[AnnotatedAttempt]) -> Result<String> {
    attempts.iter().try_for_each(|attempt| {
        attempt
            .validate()
            .map_err(|error| error.with("attempt", &attempt.attempt))
    })?;
    lines(attempts)
}

/// A prototype as a line.
#[derive(Debug, Serialize)]
struct PrototypeLine<'a> {
    schema: &'static str,
    version: u32,
    #[serde(flatten)]
    prototype: &'a Prototype,
}

/// Writes the prototypes that annotated attempts name, one a line: a [`Prototype`] with `"schema": "journeyman.prototype"` and
/// `"version": 1`.
///
/// # Errors
/// `Internal` where one cannot be written as JSON.
pub fn prototypes(prototypes: &[Prototype]) -> Result<String> {
    let named = prototypes.iter().map(|prototype| PrototypeLine {
        schema: "journeyman.prototype",
        version: 1,
        prototype,
    });
    lines(&named.collect::<Vec<_>>())
}

fn lines(values: &[impl Serialize]) -> Result<String> {
    let mut lines = String::new();
    for value in values {
        let line = serde_json::to_string(value).map_err(|error| {
            let message = "a line cannot be written as JSON";
            Error::new(ErrorKind::Internal, WRITE, message).source_from(error)
        })?;
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(lines)
}

/// Reads and validates annotated attempts, one a line; blank lines are passed over.
///
/// # Errors
/// `Invalid` for a line that is no annotated attempt and for an attempt on two lines, `Unsupported` for another form or version;
/// with the line's number from 1 under `line`. The error never repeats the text.
pub fn read(lines: &str) -> Result<Vec<AnnotatedAttempt>> {
    let mut attempts = Vec::new();
    let mut seen: BTreeMap<AttemptId, usize> = BTreeMap::new();
    for (number, line) in (1..).zip(lines.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let attempt: AnnotatedAttempt = serde_json::from_str(line).map_err(|error| {
            Error::invalid(READ, "the line is no annotated attempt")
                .with("line", number)
                .with("column", error.column())
                .hint("docs/reference/exports.md has the JSON Schema of a line")
        })?;
        attempt
            .validate()
            .map_err(|error| error.with("line", number))?;
        if let Some(before) = seen.insert(attempt.attempt.clone(), number) {
            return Err(Error::invalid(READ, "the attempt has two lines")
                .with("line", number)
                .with("before", before)
                .hint("an attempt belongs to one part of the split: leave out one of the lines"));
        }
        attempts.push(attempt);
    }
    Ok(attempts)
}
