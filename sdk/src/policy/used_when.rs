//! When a skill counts as used by an attempt. The public path is that of [`reward`](crate::stations::reward).

use serde::{Deserialize, Serialize};

use crate::{domain::SkillUse, run::report::AttemptReport};

/// When a recipe counts a skill as used by an attempt: for its reward, for its credit, and for the live attempts that release a
/// skill on trial.
/// Each variant says what becomes of an attempt of which nobody knows whether it followed the skill
/// ([`SkillUse::Unknown`]).
///
/// ```
/// use journeyman::{domain::SkillUse, stations::reward::UsedWhen, testing::sample};
///
/// let mut report = sample::attempt_report("a-1", &[sample::skill("close-ticket")], true);
/// report.used = SkillUse::Unknown;
/// assert!(UsedWhen::Injected.counts(&report) && UsedWhen::FollowedOrUnknown.counts(&report));
/// assert!(!UsedWhen::Followed.counts(&report));
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsedWhen {
    /// When it was injected, whatever is known of its use (ARISE 3.1: an attempt uses the skill that the policy selected for it).
    #[default]
    Injected,
    /// When it is known to have been followed. Unknown counts as not used.
    Followed,
    /// When it was injected and is not known to have been left aside. Unknown counts as used.
    FollowedOrUnknown,
}

impl UsedWhen {
    /// Whether an attempt used a skill: whether one was injected, and its use counts.
    pub fn counts(self, attempt: &AttemptReport) -> bool {
        !attempt.injected.is_empty() && self.counts_injected(attempt.used)
    }

    pub(crate) fn counts_injected(self, used: SkillUse) -> bool {
        match self {
            Self::Injected => true,
            Self::Followed => used.is_followed(),
            Self::FollowedOrUnknown => used != SkillUse::NotFollowed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    #[test]
    fn each_way_of_counting_says_what_becomes_of_unknown() {
        use SkillUse::{Followed, NotFollowed, Unknown};
        let check = |when: UsedWhen, expect: [bool; 3]| {
            let counts = [Followed, NotFollowed, Unknown].map(|used| {
                let mut attempt = sample::attempt_report("a", &[sample::skill("one")], true);
                attempt.used = used;
                when.counts(&attempt)
            });
            assert_eq!(counts, expect, "{when:?}");
            let none = sample::attempt_report("a", &[], true);
            assert!(!when.counts(&none), "no skill, no use");
        };
        check(UsedWhen::Injected, [true, true, true]);
        check(UsedWhen::Followed, [true, false, false]);
        check(UsedWhen::FollowedOrUnknown, [true, false, true]);
    }
}
