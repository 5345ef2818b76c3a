//! The decision whether a draft becomes a skill, and as what: a new skill, or the next version of one.

use serde::{Deserialize, Serialize};

use crate::{
    contract::RoleAnswer,
    domain::{LibraryChange, Skill, SkillDraft, SkillRef},
    library::Applied,
    policy::Context,
    run::report::{
        CallKind, CallOutcome, CallRefusal, CuratedCall, EventKind, Sameness, WriteReport,
    },
    stations::admit::{
        AdmitPolicy,
        drafted::Drafted,
        placement::{Placement, Same, place},
    },
};

/// The decision about one draft. It is made once and kept, since the library changes afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Admission {
    /// The change that lets the skill in; `None` for a refused draft.
    pub(crate) change: Option<LibraryChange>,
    pub(crate) report: WriteReport,
    /// The curator's call that the decision is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<CuratedCall>,
}

impl Admission {
    pub(crate) fn refused(
        title: Option<String>,
        fallback: bool,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            change: None,
            report: WriteReport {
                title,
                fallback,
                admitted: None,
                revised: false,
                refused: Some(reason.into()),
                duplicate: None,
            },
            call: None,
        }
    }

    /// The known skill that the draft is the same as, if it was refused for that.
    pub(crate) fn same(&self) -> Option<&SkillRef> {
        let refused = self.report.duplicate.as_ref();
        let refused = refused.filter(|_| self.report.admitted.is_none());
        Some(&refused?.skill)
    }

    /// Adds the change by which the draft's attempt confirms the skill that it is the same as.
    pub(crate) fn confirm(&mut self, change: LibraryChange) {
        if let Some(duplicate) = &mut self.report.duplicate {
            duplicate.confirms = true;
        }
        self.change = Some(change);
    }

    /// Updates the decision after its commit: if the commit passed the change over, because another writer was first, the
    /// draft is refused.
    pub(crate) fn applied(&mut self, own: &Applied, changes: &[LibraryChange]) {
        let late = own.passed_over.iter().find(|passed| {
            self.change.is_some() && changes.get(passed.change) == self.change.as_ref()
        });
        if let Some(passed) = late {
            let reason = format!("another writer was first: {}", passed.reason);
            let title = self.report.title.take();
            let call = self.call.take().map(|call| CuratedCall {
                outcome: CallOutcome::Refused(CallRefusal::Overtaken),
                ..call
            });
            let refused = Self::refused(title, self.report.fallback, reason);
            *self = Self { call, ..refused };
        }
    }

    /// Whether the decision is about a text for the library: a draft, or a curator's call that inserts or updates a skill.
    pub(crate) fn writes(&self) -> bool {
        let kind = self.call.as_ref().map(|call| call.kind);
        matches!(kind, None | Some(CallKind::Insert | CallKind::Update))
    }

    /// The event of the decision; none for a call that takes a skill out of use, whose new state is an event of its own.
    pub(crate) fn event(&self) -> Option<EventKind> {
        if let Some(CuratedCall {
            kind,
            about,
            outcome: CallOutcome::Refused(refusal),
        }) = &self.call
        {
            return Some(EventKind::CallRefused {
                call: *kind,
                about: about.clone(),
                refusal: refusal.clone(),
            });
        }
        Some(match &self.change {
            Some(LibraryChange::SetState { .. }) => return None,
            Some(LibraryChange::Add(skill)) => EventKind::Admitted {
                skill: skill.clone(),
                // The draft of an update is an entry of its own.
                revised: self.report.revised,
            },
            Some(LibraryChange::Revise(skill)) => EventKind::Admitted {
                skill: skill.clone(),
                revised: true,
            },
            _ => EventKind::Refused {
                reason: self.report.refused.clone().unwrap_or_default(),
            },
        })
    }
}

/// Decides about a role's answer. `before` are the earlier decisions for the same commit.
pub(crate) fn decide(
    context: &Context<'_>,
    policy: &AdmitPolicy,
    drafted: &Drafted<'_>,
    before: &[Admission],
) -> Admission {
    let played = match drafted.reply {
        Ok(Some(played)) => played,
        Ok(None) => {
            let reason = "the run cannot ask its roles: the host gave no model, or no roles";
            return Admission::refused(None, false, reason);
        }
        Err(error) => return Admission::refused(None, false, error.to_string()),
    };
    let draft = match &played.answer {
        RoleAnswer::Draft(draft) => draft,
        RoleAnswer::Nothing(reason) => return Admission::refused(None, false, reason.clone()),
        _ => return Admission::refused(None, false, "the role wrote no skill"),
    };
    admitted(context, policy, drafted, draft, played.fallback, before)
}

/// Decides about a draft.
pub(crate) fn admitted(
    context: &Context<'_>,
    policy: &AdmitPolicy,
    drafted: &Drafted<'_>,
    draft: &SkillDraft,
    fallback: bool,
    before: &[Admission],
) -> Admission {
    let title = draft.title.clone();
    let coming = before.iter().filter_map(|one| one.change.as_ref()?.skill());
    let coming: Vec<&Skill> = coming.collect();
    match place((context, policy), drafted, draft, fallback, &coming) {
        Ok(Placement::Enters {
            skill,
            revised,
            revives,
        }) => Admission {
            call: None,
            report: WriteReport {
                title: Some(title),
                fallback,
                admitted: Some(skill.reference()),
                revised,
                refused: None,
                duplicate: revives.map(Same::report),
            },
            change: Some(if revised {
                LibraryChange::Revise(skill)
            } else {
                LibraryChange::Add(skill)
            }),
        },
        Ok(Placement::Known(same)) => {
            let words = match same.by {
                Sameness::Bytes => "",
                Sameness::Meaning => ", in other words",
            };
            let known = same.known_as(context.library);
            let reason = format!("the library has this skill already{words}: {known}");
            let mut refused = Admission::refused(Some(title), fallback, reason);
            refused.report.duplicate = Some(same.report());
            refused
        }
        Err(error) => Admission::refused(Some(title), fallback, error.to_string()),
    }
}
