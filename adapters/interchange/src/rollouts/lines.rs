//! Rollouts as JSON Lines.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
};

use journeyman::{
    Error, ErrorKind, Result,
    stations::reward::{ADVANTAGE_EPSILON, advantages},
};

use super::{group::differs, rollout::Rollout};

const READ: &str = "rollouts::read";
const WRITE: &str = "rollouts::write";
/// The greatest difference between an advantage and the one that follows from the rewards, relative to it and at least to 1.
const ADVANTAGE_TOLERANCE: f64 = 1e-6;

/// Writes rollouts, one a line.
///
/// # Errors
/// As [`Rollout::validate`]; `Internal` where one cannot be written as JSON.
pub fn write(rollouts: &[Rollout]) -> Result<String> {
    let mut lines = String::new();
    for rollout in rollouts {
        rollout
            .validate()
            .map_err(|error| error.with("attempt", &rollout.attempt))?;
        let line = serde_json::to_string(rollout).map_err(|error| {
            let message = "a rollout cannot be written as JSON";
            Error::new(ErrorKind::Internal, WRITE, message).source_from(error)
        })?;
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(lines)
}

/// Reads and validates rollouts, one a line; blank lines are passed over.
///
/// # Errors
/// As [`Validator::line`] and [`Validator::finish`].
pub fn read(lines: &str) -> Result<Vec<Rollout>> {
    let mut validator = Validator::default();
    let mut rollouts = Vec::new();
    for line in lines.lines() {
        rollouts.extend(validator.line(line)?);
    }
    validator.finish()?;
    Ok(rollouts)
}

/// What an export has.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RolloutSummary {
    /// Number of rollouts.
    pub rollouts: usize,
    /// Number of groups, by their sizes.
    pub groups: BTreeMap<u32, usize>,
    /// Number of groups of equal rewards, which have no advantages.
    pub without_advantage: usize,
    /// Number of tokens that the model chose.
    pub chosen: usize,
}

/// Validates an export line by line. It keeps the lines of one group and the ids of the others, so that an export can be larger
/// than the memory.
///
/// ```
/// use journeyman_interchange::rollouts::Validator;
///
/// let lines = include_str!("example.jsonl");
/// let mut validator = Validator::default();
/// for line in lines.lines() {
///     validator.line(line)?;
/// }
/// assert_eq!(validator.finish()?.groups.get(&2), Some(&1), "one group of two");
///
/// // A reward that does not agree with the advantages is found at the end of its group.
/// let mut validator = Validator::default();
/// for line in lines.lines() {
///     validator.line(&line.replace(r#""reward":1.0"#, r#""reward":0.0"#).replace(r#""value":1.0"#, r#""value":0.0"#))?;
/// }
/// let error = validator.finish().unwrap_err();
/// assert_eq!((error.fact("line"), error.fact("field")), (Some("1"), Some("advantage")));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Validator {
    /// The number of the latest line, from 1.
    line: usize,
    /// The size that every group must have.
    size: Option<u32>,
    /// The lines of the present group, each with its number.
    group: Vec<(usize, Rollout)>,
    /// The ids of the groups before.
    known: BTreeSet<String>,
    summary: RolloutSummary,
}

impl Validator {
    /// A validator that refuses groups of another size: for a trainer whose batches need groups of one size.
    pub fn of_size(size: NonZeroU32) -> Self {
        Self {
            size: Some(size.get()),
            ..Self::default()
        }
    }

    /// Reads and checks the next line; `None` for a blank one. The lines of a group stand together, in the order of their numbers,
    /// and are of one kind, policy and library. Once a line is refused, what follows is not checked reliably.
    ///
    /// # Errors
    /// `Invalid` for a line that is no rollout or breaks a rule of its group, `Unsupported` for another form or version; with the
    /// line's number from 1 under `line`. The error never repeats the text.
    pub fn line(&mut self, text: &str) -> Result<Option<Rollout>> {
        self.line += 1;
        let line = self.line;
        if text.trim().is_empty() {
            return Ok(None);
        }
        let rollout: Rollout = serde_json::from_str(text).map_err(|error| {
            Error::invalid(READ, "the line is no rollout")
                .with("line", line)
                .with("column", error.column())
                .hint("docs/reference/exports.md has the JSON Schema of a line")
        })?;
        rollout
            .validate()
            .map_err(|error| error.with("line", line))?;
        if let Some((_, first)) = self.group.first()
            && first.group != rollout.group
        {
            self.end_group()?;
        }
        self.check_place(line, &rollout)?;
        self.summary.rollouts += 1;
        self.summary.chosen += rollout.chosen();
        self.group.push((line, rollout.clone()));
        Ok(Some(rollout))
    }

    /// Checks the last group, and gives the summary.
    ///
    /// # Errors
    /// As [`line`](Self::line).
    pub fn finish(mut self) -> Result<RolloutSummary> {
        self.end_group()?;
        Ok(self.summary)
    }

    /// Checks a line against the lines of its group so far.
    fn check_place(&self, line: usize, rollout: &Rollout) -> Result<()> {
        if self.known.contains(&rollout.group) {
            return Err(broken(line, "group", "the lines of a group stand together"));
        }
        if self.size.is_some_and(|size| size != rollout.size) {
            return Err(broken(line, "size", "the group is not of the size that is asked for")
                .hint("leave out the group, or export with `record` and a judge so that no attempt is refused"));
        }
        if usize::try_from(rollout.number) != Ok(self.group.len()) {
            let rule = "the numbers of a group's lines are 0, 1, 2 and so on";
            return Err(broken(line, "number", rule));
        }
        let Some((_, first)) = self.group.first() else {
            return Ok(());
        };
        if first.size != rollout.size {
            return Err(broken(line, "size", "the lines of a group say one size"));
        }
        match differs(first, rollout) {
            Some(field) => Err(broken(
                line,
                field,
                "the lines of a group have this in common",
            )),
            None => Ok(()),
        }
    }

    /// Checks the number of lines and the advantages of the present group.
    fn end_group(&mut self) -> Result<()> {
        let group = std::mem::take(&mut self.group);
        let Some((first, rollout)) = group.first() else {
            return Ok(());
        };
        if usize::try_from(rollout.size) != Ok(group.len()) {
            return Err(
                broken(*first, "size", "the group has another number of lines")
                    .with("lines", group.len()),
            );
        }
        let rewards: Vec<f64> = group.iter().map(|(_, one)| one.reward).collect();
        let expected = advantages(&rewards, ADVANTAGE_EPSILON);
        for (place, (line, one)) in group.iter().enumerate() {
            let expected = expected.as_ref().and_then(|all| all.get(place));
            let agrees = match (one.advantage, expected) {
                (None, None) => true,
                (Some(found), Some(expected)) => {
                    (found - expected).abs() <= ADVANTAGE_TOLERANCE * expected.abs().max(1.0)
                }
                _ => false,
            };
            if !agrees {
                let rule = "the advantage does not follow from the rewards of the group";
                return Err(broken(*line, "advantage", rule));
            }
        }
        *self.summary.groups.entry(rollout.size).or_default() += 1;
        self.summary.without_advantage += usize::from(expected.is_none());
        self.known.insert(rollout.group.clone());
        Ok(())
    }
}

fn broken(line: usize, field: &'static str, rule: &'static str) -> Error {
    Error::invalid(READ, rule)
        .with("line", line)
        .with("field", field)
}
