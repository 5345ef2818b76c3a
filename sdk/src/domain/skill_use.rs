//! Whether an agent followed a skill that stood in its prompt.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

/// The use of a skill that stood in an agent's prompt. An injected skill is not for that reason a used one: its use is known
/// where the agent says so, or where a role judges it, and unknown everywhere else.
///
/// The order is that of the evidence: over the turns of an attempt the greatest counts.
///
/// ```
/// use journeyman::domain::{Judgement, SkillUse};
///
/// // The agent said nothing at first, then that it follows no skill, then that it follows this one.
/// let turns = [SkillUse::Unknown, SkillUse::NotFollowed, SkillUse::Followed];
/// assert_eq!(turns.into_iter().max(), Some(SkillUse::Followed));
/// // A role that is asked settles only what the agent left open.
/// assert_eq!(SkillUse::Unknown.judged(Some(Judgement::Harmful)), SkillUse::Followed);
/// assert_eq!(SkillUse::NotFollowed.judged(Some(Judgement::Harmful)), SkillUse::NotFollowed);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum SkillUse {
    /// Nobody said whether the agent followed it.
    #[default]
    Unknown,
    /// The agent said that it did not follow it.
    NotFollowed,
    /// The agent said that it followed it.
    Followed,
}

impl SkillUse {
    /// The use of several skills as that of one: followed if one was followed; not followed only if that is known of each. No
    /// skill at all is not followed.
    pub fn of_any(skills: impl IntoIterator<Item = Self>) -> Self {
        skills
            .into_iter()
            .max_by_key(|used| match used {
                Self::NotFollowed => 0,
                Self::Unknown => 1,
                Self::Followed => 2,
            })
            .unwrap_or(Self::NotFollowed)
    }

    /// Whether the agent is known to have followed it.
    pub fn is_followed(self) -> bool {
        self == Self::Followed
    }
}

impl fmt::Display for SkillUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::NotFollowed => "not followed",
            Self::Followed => "followed",
        })
    }
}

/// Reads the use in a change that a library keeps. An earlier version wrote `true` or `false`, and `true` of every injected
/// skill where the agent could not say more. So neither tells what the agent did, and both are read as unknown.
pub(super) fn stored<'de, D: Deserializer<'de>>(from: D) -> Result<SkillUse, D::Error> {
    struct Stored;

    impl de::Visitor<'_> for Stored {
        type Value = SkillUse;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("`followed`, `not_followed` or `unknown`")
        }

        fn visit_bool<E: de::Error>(self, _: bool) -> Result<SkillUse, E> {
            Ok(SkillUse::Unknown)
        }

        fn visit_str<E: de::Error>(self, word: &str) -> Result<SkillUse, E> {
            SkillUse::deserialize(de::value::StrDeserializer::new(word))
        }
    }

    from.deserialize_any(Stored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Exposure, Judgement, LibraryChange};

    #[test]
    fn several_skills_are_not_followed_only_if_that_is_known_of_each() {
        use SkillUse::{Followed, NotFollowed, Unknown};
        let check = |skills: &[SkillUse], expect| {
            assert_eq!(
                SkillUse::of_any(skills.iter().copied()),
                expect,
                "{skills:?}"
            );
        };
        check(&[], NotFollowed);
        check(&[NotFollowed, NotFollowed], NotFollowed);
        check(&[NotFollowed, Unknown], Unknown);
        check(&[Unknown, Followed, NotFollowed], Followed);
    }

    #[test]
    fn a_judgement_settles_what_the_agent_left_open() {
        use SkillUse::{Followed, NotFollowed, Unknown};
        let check = |judgement, expect| {
            assert_eq!(Unknown.judged(judgement), expect);
            assert_eq!(Followed.judged(judgement), Followed);
            assert_eq!(NotFollowed.judged(judgement), NotFollowed);
        };
        check(None, Unknown);
        check(Some(Judgement::Helpful), Followed);
        check(Some(Judgement::Harmful), Followed);
        check(Some(Judgement::Neutral), NotFollowed);
        check(Some(Judgement::Uncertain), Unknown);
    }

    #[test]
    fn the_json_forms_are_words_and_earlier_ones_are_unknown() {
        let exposure = |used: &str| {
            let json = format!(r#"{{"skill":{{"id":"brew","version":1}},"used":{used}}}"#);
            serde_json::from_str::<Exposure>(&json).map(|exposure| exposure.used)
        };
        for used in [SkillUse::Unknown, SkillUse::NotFollowed, SkillUse::Followed] {
            let json = serde_json::to_string(&used).expect("it is JSON");
            assert_eq!(serde_json::from_str::<SkillUse>(&json).ok(), Some(used));
            assert_eq!(exposure(&json).ok(), Some(used));
        }
        assert_eq!(exposure("true").ok(), Some(SkillUse::Unknown));
        assert_eq!(exposure("false").ok(), Some(SkillUse::Unknown));
        for wrong in ["null", "1", "\"yes\"", "\"Followed\""] {
            assert!(exposure(wrong).is_err(), "{wrong}");
        }
        // Elsewhere a truth value is refused.
        assert!(serde_json::from_str::<SkillUse>("true").is_err());

        let change = r#"{"expose":{"skill":{"id":"brew","version":1},"attempt":"a","injected":true,"used":true}}"#;
        let change: LibraryChange = serde_json::from_str(change).expect("it is read");
        assert!(matches!(
            change,
            LibraryChange::Expose {
                used: SkillUse::Unknown,
                ..
            }
        ));
    }
}
