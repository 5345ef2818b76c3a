//! The record that a maintenance step was tried.

use serde::{Deserialize, Serialize};

/// Separates the subject from the number of the miss in the JSON form.
const MISSED: &str = "/missed/";

/// The record of one try of a maintenance step: the step is finished, or the try failed with a temporary error.
///
/// In JSON one string: the subject, and for a miss `/missed/` and its number.
///
/// ```
/// use journeyman::domain::HandledMark;
///
/// let mark = HandledMark::missed("test/close-ticket/1/case-2", 3);
/// assert_eq!(String::from(mark.clone()), "test/close-ticket/1/case-2/missed/3");
/// assert_eq!(HandledMark::from("test/close-ticket/1/case-2/missed/3".to_owned()), mark);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct HandledMark {
    /// The step and its evidence, such as `test/SKILL/VERSION/CASE`; more evidence makes another subject.
    pub subject: String,
    /// The number of the failed try, from 1; the step is tried again. `None` if the step is finished: done or given up.
    pub miss: Option<u32>,
}

impl HandledMark {
    /// The record of a step that is finished: done or given up.
    pub fn done(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            miss: None,
        }
    }

    /// The record of a try that failed with a temporary error; tries are numbered from 1.
    pub fn missed(subject: impl Into<String>, miss: u32) -> Self {
        Self {
            subject: subject.into(),
            miss: Some(miss),
        }
    }
}

impl From<String> for HandledMark {
    fn from(text: String) -> Self {
        let miss = text.rsplit_once(MISSED).and_then(|(subject, digits)| {
            let miss: u32 = digits.parse().ok()?;
            // Every text is written as it was read.
            (miss.to_string() == digits).then(|| Self::missed(subject, miss))
        });
        miss.unwrap_or_else(|| Self::done(text))
    }
}

impl From<HandledMark> for String {
    fn from(mark: HandledMark) -> Self {
        match mark.miss {
            None => mark.subject,
            Some(miss) => format!("{}{MISSED}{miss}", mark.subject),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_a_string_in_json() {
        for (text, mark) in [
            ("group/[1]", HandledMark::done("group/[1]")),
            ("group/missed/2", HandledMark::missed("group", 2)),
            ("a/missed/1/missed/2", HandledMark::missed("a/missed/1", 2)),
            ("group/missed/", HandledMark::done("group/missed/")),
            ("group/missed/02", HandledMark::done("group/missed/02")),
            ("group/missed/+2", HandledMark::done("group/missed/+2")),
        ] {
            let json = format!("{text:?}");
            assert_eq!(serde_json::to_string(&mark).unwrap(), json);
            assert_eq!(serde_json::from_str::<HandledMark>(&json).unwrap(), mark);
        }
        assert!(serde_json::from_str::<HandledMark>("2").is_err());
    }
}
