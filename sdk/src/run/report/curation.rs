//! The calls of a curator, and the result of each (SkillOS, architecture; row K2).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::SkillRef;

/// The result of the curator's answer about one task.
///
/// ```
/// use journeyman::run::report::{CallKind, CallOutcome, CallRefusal, CuratedCall, CurationReport};
///
/// let call = |kind, outcome| CuratedCall::new(kind, "open-jar", outcome);
/// let mut report = CurationReport::default();
/// report.calls = vec![
///     call(CallKind::Delete, CallOutcome::Refused(CallRefusal::NotFound)),
///     call(CallKind::Insert, CallOutcome::Refused(CallRefusal::NameTaken)),
/// ];
/// assert_eq!((report.counts().all(), report.counts().valid), (2, 0));
/// assert_eq!(report.counts().validity(), 0.0);
/// // A curator that leaves the library as it is made no invalid call.
/// assert_eq!(CurationReport::default().counts().validity(), 1.0);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurationReport {
    /// The calls, in order; none where the curator left the library as it is.
    pub calls: Vec<CuratedCall>,
    /// Why there is no answer; `None` where the curator answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_answer: Option<NoAnswer>,
    /// Number of tokens of the curator's prompt; of an answer that had to be repaired, the mean of both prompts. 0 where the
    /// model does not count them.
    #[serde(default)]
    pub context_tokens: u64,
}

/// Why a curator that was asked gave no calls.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAnswer {
    /// The role could not be played: the host gave no model or no roles, or the model failed; in words.
    NotPlayed(String),
    /// The model's answer could not be read as calls, such as prose; in words.
    Unreadable(String),
}

/// A call of a curator, and its result.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CuratedCall {
    /// The kind of the call.
    pub kind: CallKind,
    /// The skill's name as the model wrote it, at most 64 characters; of an unknown tool the tool's name.
    pub about: String,
    /// The result.
    pub outcome: CallOutcome,
}

impl CuratedCall {
    /// A call, what it was about, and how it went.
    pub fn new(kind: CallKind, about: impl Into<String>, outcome: CallOutcome) -> Self {
        Self {
            kind,
            about: about.into(),
            outcome,
        }
    }
}

/// The kind of a curator's call.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// `insert_skill`.
    Insert,
    /// `update_skill`.
    Update,
    /// `delete_skill`.
    Delete,
    /// A tool that the curator does not have.
    Unknown,
}

impl CallKind {
    /// The kind of a call of this tool.
    pub fn of(tool: &str) -> Self {
        let known = [Self::Insert, Self::Update, Self::Delete];
        let mut known = known.into_iter();
        known
            .find(|kind| kind.to_string() == tool)
            .unwrap_or(Self::Unknown)
    }
}

/// The tool's name.
impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Insert => "insert_skill",
            Self::Update => "update_skill",
            Self::Delete => "delete_skill",
            Self::Unknown => "an unknown tool",
        })
    }
}

/// The result of a curator's call.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The library was changed: the skill that was inserted, the new version of an updated one, the version that was put away.
    /// Where the recipe tests skills before their release, an update of a skill in use is a draft until it has passed, and this
    /// is the draft.
    Applied(SkillRef),
    /// The library was not changed.
    Refused(CallRefusal),
}

/// Why a curator's call was refused.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallRefusal {
    /// The curator has no such tool.
    UnknownTool,
    /// The arguments do not fit the tool's schema; in words.
    Arguments(String),
    /// The name has no letter or digit.
    NotAName,
    /// A skill in use has the name of the new one.
    NameTaken,
    /// There is no such skill.
    NotFound,
    /// The skill is not in use: no run changes a skill that is disabled, archived or in quarantine.
    NotOffered,
    /// The skill would stay as it is.
    Unchanged,
    /// The library would have no skill in use left. Earlier runs refused such a call; their journals have it.
    LastSkill,
    /// Untrusted text went into the call, and the skill is free of it: no run replaces or puts away a skill on such grounds.
    Untrusted,
    /// The recipe's admission or the host's own rule refused the skill; in words.
    NotAdmitted(String),
    /// Another writer changed the skill first.
    Overtaken,
}

impl fmt::Display for CallRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Arguments(why) => return write!(f, "the arguments do not fit: {why}"),
            Self::NotAdmitted(why) => why,
            Self::UnknownTool => "the curator has no such tool",
            Self::NotAName => "the name has no letter or digit",
            Self::NameTaken => "a skill in use has this name",
            Self::NotFound => "the library has no such skill",
            Self::NotOffered => "the skill is not in use",
            Self::Unchanged => "the skill would stay as it is",
            Self::LastSkill => "the library would have no skill in use left",
            Self::Untrusted => {
                "the attempt or a skill beside it has untrusted text, and the skill has none"
            }
            Self::Overtaken => "another writer was first",
        };
        f.write_str(words)
    }
}

impl CurationReport {
    /// The calls by kind, and how many of them were valid. An answer that could not be read counts as one call of an unknown
    /// tool; a curator that could not be asked made no call.
    pub fn counts(&self) -> CallCounts {
        let mut counts = CallCounts::default();
        for call in &self.calls {
            *counts.of_mut(call.kind) += 1;
            counts.valid += u32::from(matches!(call.outcome, CallOutcome::Applied(_)));
        }
        if let Some(NoAnswer::Unreadable(_)) = self.no_answer {
            counts.unknown += 1;
        }
        counts
    }
}

/// Numbers of a curator's calls.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCounts {
    /// Calls of `insert_skill`.
    pub insert: u32,
    /// Calls of `update_skill`.
    pub update: u32,
    /// Calls of `delete_skill`.
    pub delete: u32,
    /// Calls of other tools, and answers that could not be read as calls.
    pub unknown: u32,
    /// Of all of them, those that changed the library.
    pub valid: u32,
}

impl CallCounts {
    /// All calls.
    pub fn all(&self) -> u32 {
        self.insert + self.update + self.delete + self.unknown
    }

    /// r_fc, the share of valid calls, in [0, 1]; 1 where there were none: a curator that leaves the library as it is made no
    /// invalid call. The paper does not say what it counts there.
    pub fn validity(&self) -> f64 {
        match self.all() {
            0 => 1.0,
            all => f64::from(self.valid) / f64::from(all),
        }
    }

    /// Adds the calls of another task.
    pub fn add(&mut self, more: Self) {
        self.insert += more.insert;
        self.update += more.update;
        self.delete += more.delete;
        self.unknown += more.unknown;
        self.valid += more.valid;
    }

    fn of_mut(&mut self, kind: CallKind) -> &mut u32 {
        match kind {
            CallKind::Insert => &mut self.insert,
            CallKind::Update => &mut self.update,
            CallKind::Delete => &mut self.delete,
            CallKind::Unknown => &mut self.unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    fn report(kinds: &[(CallKind, bool)], no_answer: Option<NoAnswer>) -> CurationReport {
        let call = |(kind, valid): &(CallKind, bool)| CuratedCall {
            kind: *kind,
            about: "s".to_owned(),
            outcome: match valid {
                true => CallOutcome::Applied(sample::skill("s").reference()),
                false => CallOutcome::Refused(CallRefusal::NotFound),
            },
        };
        CurationReport {
            calls: kinds.iter().map(call).collect(),
            no_answer,
            context_tokens: 0,
        }
    }

    #[test]
    fn an_unreadable_answer_is_an_invalid_call_and_one_that_was_never_asked_for_is_none() {
        let check = |kinds: &[(CallKind, bool)], no_answer, all, validity| {
            let counts = report(kinds, no_answer).counts();
            assert_eq!((counts.all(), counts.validity()), (all, validity));
        };
        use CallKind::{Delete, Insert, Unknown, Update};
        check(&[], None, 0, 1.0);
        check(&[(Insert, true)], None, 1, 1.0);
        let mixed = [
            (Insert, true),
            (Update, false),
            (Delete, true),
            (Unknown, false),
        ];
        check(&mixed, None, 4, 0.5);
        check(&[], Some(NoAnswer::Unreadable("prose".to_owned())), 1, 0.0);
        check(
            &[],
            Some(NoAnswer::NotPlayed("no model".to_owned())),
            0,
            1.0,
        );
    }

    #[test]
    fn a_kind_is_read_from_its_tools_name() {
        for kind in [CallKind::Insert, CallKind::Update, CallKind::Delete] {
            assert_eq!(CallKind::of(&kind.to_string()), kind);
        }
        for other in ["", "insert", "Insert_skill", "an unknown tool"] {
            assert_eq!(CallKind::of(other), CallKind::Unknown, "{other}");
        }
    }

    #[test]
    fn each_refusal_says_why() {
        let said = CallRefusal::NotAdmitted("the rule says no".to_owned()).to_string();
        assert_eq!(said, "the rule says no");
        assert!(CallRefusal::Untrusted.to_string().contains("untrusted"));
    }
}
