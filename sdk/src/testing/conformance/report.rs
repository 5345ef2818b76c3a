//! The report of a suite.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::error::{Error, ErrorKind, Result};

/// The outcome of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The rule held.
    Passed,
    /// The rule was broken; the text gives the expected and the found behavior.
    Failed(String),
    /// The rule could not be checked; the text gives the reason.
    Skipped(String),
}

/// One rule and its result.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The rule's name in the trait's documentation.
    pub name: &'static str,
    /// The result.
    pub outcome: Outcome,
}

/// The results of a suite. `Display` prints a line for each case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    contract: &'static str,
    cases: Vec<Case>,
}

impl Report {
    pub(super) fn new(contract: &'static str) -> Self {
        Self {
            contract,
            cases: Vec::new(),
        }
    }

    pub(super) fn case(&mut self, name: &'static str, tried: Tried) {
        let outcome = match tried {
            Ok(()) => Outcome::Passed,
            Err(Shortfall::Failed(how)) => Outcome::Failed(how),
            Err(Shortfall::Skipped(why)) => Outcome::Skipped(why),
        };
        self.cases.push(Case { name, outcome });
    }

    /// The trait that was checked.
    pub fn contract(&self) -> &'static str {
        self.contract
    }

    /// Every case, in the order of the rules.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The cases whose rule was broken.
    pub fn failures(&self) -> impl Iterator<Item = &Case> {
        (self.cases.iter()).filter(|case| matches!(case.outcome, Outcome::Failed(_)))
    }

    /// The cases that could not be checked.
    pub fn skipped(&self) -> impl Iterator<Item = &Case> {
        (self.cases.iter()).filter(|case| matches!(case.outcome, Outcome::Skipped(_)))
    }

    /// The report, if no rule was broken.
    ///
    /// # Errors
    /// `Invalid` if a rule was broken; the message contains the whole report.
    pub fn into_result(self) -> Result<Self> {
        if self.failures().next().is_none() {
            return Ok(self);
        }
        Err(Error::new(
            ErrorKind::Invalid,
            "conformance",
            format!("rules of the contract are broken\n{self}"),
        ))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for case in &self.cases {
            let (contract, name) = (self.contract, case.name);
            match &case.outcome {
                Outcome::Passed => writeln!(f, "passed   {contract}: {name}")?,
                Outcome::Failed(how) => writeln!(f, "FAILED   {contract}: {name}: {how}")?,
                Outcome::Skipped(why) => writeln!(f, "skipped  {contract}: {name}: {why}")?,
            }
        }
        Ok(())
    }
}

/// Why a case did not pass.
#[derive(Clone, Debug)]
pub(super) enum Shortfall {
    Failed(String),
    Skipped(String),
}

/// The result of checking a rule.
pub(super) type Tried<T = ()> = std::result::Result<T, Shortfall>;

impl From<Error> for Shortfall {
    fn from(error: Error) -> Self {
        Self::Failed(format!("an unexpected error: {error}"))
    }
}

/// Fails the case with the text of `otherwise` unless `holds`. The text says what was expected and what was found.
pub(super) fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Tried {
    if holds {
        Ok(())
    } else {
        Err(Shortfall::Failed(otherwise()))
    }
}

/// Calls a part; a panic fails the case.
pub(super) fn contained<T>(what: impl FnOnce() -> String, call: impl FnOnce() -> T) -> Tried<T> {
    // After a panic the case ends, so no inconsistent state is observed.
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| {
        Shortfall::Failed(format!(
            "{}: expected an answer or an error, found a panic",
            what()
        ))
    })
}

/// Skips the case, which cannot be checked.
pub(super) fn skip<T>(why: &str) -> Tried<T> {
    Err(Shortfall::Skipped(why.to_owned()))
}

/// Fails the case unless the result is an error of one of these kinds; returns that error. `what` names the call.
pub(super) fn require_error<T>(result: Result<T>, kinds: &[ErrorKind], what: &str) -> Tried<Error> {
    match result {
        Ok(_) => Err(Shortfall::Failed(format!(
            "{what}: expected an error of the kind {kinds:?}, found success"
        ))),
        Err(error) if kinds.contains(&error.kind()) => Ok(error),
        Err(error) => Err(Shortfall::Failed(format!(
            "{what}: expected an error of the kind {kinds:?}, found: {error}"
        ))),
    }
}
