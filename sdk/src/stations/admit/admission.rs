//! The decision whether a draft becomes a skill, and as what: a new skill, or the next version of one. The admission rules that the
//! recipe names are asked last, about drafts and about what maintenance makes.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    contract::RoleAnswer,
    domain::{LibraryChange, Skill, SkillDraft, SkillRef},
    error::{Error, ErrorKind, Result},
    library::{Applied, SkillLibrary},
    policy::{AdmitRule, Context, Played},
    run::report::{
        CallKind, CallOutcome, CallRefusal, CuratedCall, EventKind, Sameness, WriteReport,
    },
    stations::admit::{
        AdmitPolicy,
        draft::DraftSources,
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
    /// The decision that lets a skill in: as the next version of a known one where the report says so, else as a new one.
    pub(crate) fn entering(skill: Box<Skill>, report: WriteReport) -> Self {
        let change = match report.revised {
            true => LibraryChange::Revise(skill),
            false => LibraryChange::Add(skill),
        };
        Self {
            change: Some(change),
            report,
            call: None,
        }
    }

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
    (sources, reply): (&DraftSources<'_>, &Result<Option<Played>>),
    before: &[Admission],
) -> Admission {
    let played = match reply {
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
    admitted(context, policy, sources, draft, played.fallback, before)
}

/// Decides about a draft.
pub(crate) fn admitted(
    context: &Context<'_>,
    policy: &AdmitPolicy,
    sources: &DraftSources<'_>,
    draft: &SkillDraft,
    fallback: bool,
    before: &[Admission],
) -> Admission {
    let title = draft.title.clone();
    let coming = before.iter().filter_map(|one| one.change.as_ref()?.skill());
    let coming: Vec<&Skill> = coming.collect();
    match place((context, policy), sources, draft, fallback, &coming) {
        Ok(Placement::Enters {
            skill,
            revised,
            revives,
        }) => {
            let report = WriteReport {
                title: Some(title),
                fallback,
                admitted: Some(skill.reference()),
                revised,
                refused: None,
                duplicate: revives.map(Same::report),
            };
            Admission::entering(skill, report)
        }
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

// The rules that the recipe names are asked last.

/// The admission rules that a recipe names, in their order.
type Rules<'a> = &'a [Arc<dyn AdmitRule>];

/// Applies admission rules to a skill, in their order.
///
/// # Errors
/// The reason of the first refusal; `Panicked` if a rule panics.
pub(crate) fn check(rules: Rules<'_>, library: &SkillLibrary, skill: &Skill) -> Result<()> {
    let ask = || rules.iter().try_for_each(|rule| rule.admit(library, skill));
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| {
        let message = "the recipe's admission rule panicked";
        Err(Error::new(ErrorKind::Panicked, "AdmitRule::admit", message))
    })
}

/// Refuses a draft that a rule does not admit.
pub(crate) fn refuse(rules: Rules<'_>, library: &SkillLibrary, admission: &mut Admission) {
    let entering = match &admission.change {
        Some(LibraryChange::Add(skill) | LibraryChange::Revise(skill)) => skill,
        _ => return,
    };
    if let Err(error) = check(rules, library, entering) {
        let title = admission.report.title.take();
        *admission = Admission::refused(title, admission.report.fallback, error.to_string());
    }
}

/// Removes from the changes of maintenance the skills that a rule does not admit, with the changes that depend on them.
pub(crate) fn remove_refused(
    rules: Rules<'_>,
    library: &SkillLibrary,
    changes: &mut Vec<LibraryChange>,
    events: &mut Vec<EventKind>,
) {
    let mut refused: Vec<SkillRef> = Vec::new();
    changes.retain(|change| {
        let entering = change.skill();
        if let Some(skill) = entering
            && let Err(error) = check(rules, library, skill)
        {
            let reason = format!("{}: {error}", skill.name);
            events.push(EventKind::Refused { reason });
            refused.push(skill.reference());
            return false;
        }
        // The changes after a later, admitted version of the skill belong to that version.
        if let Some(skill) = entering {
            refused.retain(|one| one.id != skill.id);
        }
        !refused.iter().any(|one| depends_on(change, one))
    });
}

/// Whether a change makes sense only if the refused skill version enters the library.
pub(crate) fn depends_on(change: &LibraryChange, refused: &SkillRef) -> bool {
    match change {
        LibraryChange::PatchBundle { skill, .. } => *skill == refused.id,
        LibraryChange::Test { skill, .. } | LibraryChange::Release { skill, .. } => {
            *skill == *refused
        }
        _ => false,
    }
}
