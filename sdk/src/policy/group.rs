//! The attempts at a task as writers, reward rules and credit rules get them, and the results of these policies.

use serde::{Deserialize, Serialize};

use super::RoleReply;
use crate::{
    contract::RoleAnswer,
    domain::{Candidate, SkillDraft, SkillRef, Trace, Verdict},
    id::AttemptId,
    report::AttemptReport,
};

/// The attempts that a writer writes from.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct WriteGroup<'a> {
    /// The attempts, the best first; at least one in a run.
    pub attempts: &'a [Trace],
    /// The reports of these attempts, in the same order.
    pub reports: &'a [AttemptReport],
    /// The candidates that the task's selection found, the best first.
    pub candidates: &'a [Candidate],
}

impl<'a> WriteGroup<'a> {
    /// Attempts, the best first, with their reports in the same order, and the candidates of the selection.
    pub fn new(
        attempts: &'a [Trace],
        reports: &'a [AttemptReport],
        candidates: &'a [Candidate],
    ) -> Self {
        Self {
            attempts,
            reports,
            candidates,
        }
    }
}

/// The result of a writer: drafts, and answers of roles that hold drafts or a curator's calls.
///
/// Drafts that a writer made by itself come from a list of them, `Ok(drafts.into())`. The answers of [`Ask::roles`] are handed on
/// as they are, so that the report tells which of them are fallbacks or could not be read; answers of roles that write no skill
/// are left out.
///
/// [`Ask::roles`]: crate::policy::Ask::roles
///
/// ```
/// use journeyman::policy::Written;
///
/// assert_eq!(Written::from(Vec::new()).drafts().count(), 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The answers of roles.
    replies: Vec<RoleReply>,
    /// The writer's own drafts.
    drafts: Vec<SkillDraft>,
}

impl Written {
    /// The answers of roles that write skills.
    pub fn of_roles(replies: Vec<RoleReply>) -> Self {
        Self {
            replies,
            drafts: Vec::new(),
        }
    }

    /// All drafts: those in the answers of roles, then the writer's own.
    pub fn drafts(&self) -> impl Iterator<Item = &SkillDraft> {
        let played = self.replies.iter();
        let played = played.filter_map(|one| one.reply.as_ref().ok()?.as_ref());
        let of_roles = played.filter_map(|played| match &played.answer {
            RoleAnswer::Draft(draft) => Some(draft.as_ref()),
            _ => None,
        });
        of_roles.chain(&self.drafts)
    }

    /// The answers of roles.
    pub fn replies(&self) -> &[RoleReply] {
        &self.replies
    }

    /// The answers of roles, and the writer's own drafts.
    pub(crate) fn into_parts(self) -> (Vec<RoleReply>, Vec<SkillDraft>) {
        (self.replies, self.drafts)
    }
}

impl From<Vec<SkillDraft>> for Written {
    fn from(drafts: Vec<SkillDraft>) -> Self {
        Self {
            replies: Vec::new(),
            drafts,
        }
    }
}

/// An attempt that a reward rule rewards.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct JudgedAttempt<'a> {
    /// The attempt's report, with its process score where the recipe assesses attempts, and without a reward.
    pub report: &'a AttemptReport,
    /// The verdict on it.
    pub verdict: &'a Verdict,
    /// Whether the run is in its warm-up, in which no skill is selected (ARISE 3.2).
    pub warming_up: bool,
    /// Whether the attempt counts as one that used a skill ([`RewardPolicy::skill_use`](crate::reward::RewardPolicy::skill_use)).
    pub used: bool,
}

impl<'a> JudgedAttempt<'a> {
    /// An attempt after the warm-up, which used a skill if one was injected.
    pub fn new(report: &'a AttemptReport, verdict: &'a Verdict) -> Self {
        Self {
            report,
            verdict,
            warming_up: false,
            used: !report.injected.is_empty(),
        }
    }
}

/// An attempt of a group, for a credit rule.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupAttempt {
    /// The attempt's report, with its reward; without a verdict there is none.
    pub report: AttemptReport,
    /// The injected skills that get credit for the attempt by what the agent said of their use
    /// ([`CreditPolicy::used_when`](crate::credit::CreditPolicy::used_when)).
    pub credited: Vec<SkillRef>,
}

impl GroupAttempt {
    /// An attempt for which every injected skill gets credit.
    pub fn new(report: AttemptReport) -> Self {
        Self {
            credited: report.injected.clone(),
            report,
        }
    }
}

/// The credit of a skill for an attempt, or for a whole group of attempts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillCredit {
    /// The skill, in the version that was injected.
    pub skill: SkillRef,
    /// The attempt; for a credit for the whole group the group's first attempt, whether or not it was given the skill.
    pub attempt: AttemptId,
    /// The reward that the skill is credited with, finite.
    pub reward: f64,
    /// Number of attempts that the credit is for: 1, or for a credit for the whole group up to the number of attempts that get credit
    /// for the skill ([`GroupAttempt::credited`]). All credits of a skill together are for no more.
    pub uses: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::RoleTask,
        domain::{Kind, Scope},
        policy::Played,
    };

    fn draft(title: &str) -> SkillDraft {
        SkillDraft {
            title: title.to_owned(),
            description: "How to.".to_owned(),
            kind: Kind::Workflow,
            scope: Scope::General,
            trigger: None,
            body: "Do it.".to_owned(),
            metadata: Default::default(),
        }
    }

    #[test]
    fn the_drafts_of_roles_come_before_the_writer_s_own() {
        let task = RoleTask::Summarize {
            attempts: Vec::new(),
            shown_chars: None,
            keeps_reasoning: false,
        };
        let answer = RoleAnswer::Draft(Box::new(draft("one")));
        let reply = RoleReply {
            task,
            reply: Ok(Some(Played::of(answer))),
        };
        let none = RoleReply {
            reply: Ok(None),
            ..reply.clone()
        };
        let mut written = Written::of_roles(vec![none, reply]);
        written.drafts.push(draft("two"));
        let titles: Vec<&str> = written.drafts().map(|one| one.title.as_str()).collect();
        assert_eq!(titles, ["one", "two"]);
        assert_eq!(written.replies().len(), 2);
    }
}
