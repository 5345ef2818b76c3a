//! The decision whether a draft becomes a skill, and as what: a new skill, or the next version of one.

use serde::{Deserialize, Serialize};

use super::{AdmitPolicy, Admittance, Duplicates};
use crate::{
    admit,
    contract::RoleAnswer,
    domain::{
        LibraryChange, Origin, Provenance, Role, Skill, SkillDraft, SkillName, SkillRef, State,
        Taint,
    },
    error::{Error, ErrorKind, Result},
    id::{SkillId, TaskId, Version, sha256_hex},
    library::{Applied, Entry},
    policy::{Context, Played},
    report::{CallKind, CallOutcome, CallRefusal, CuratedCall, EventKind, WriteReport},
};

/// The decision about one draft. It is made once and kept, since the library changes afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Admission {
    /// The change that lets the skill in; `None` for a refused draft.
    pub(crate) change: Option<LibraryChange>,
    /// The known skill with the same content, if the draft was refused for it.
    pub(crate) same: Option<SkillRef>,
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
            same: None,
            report: WriteReport {
                title,
                fallback,
                admitted: None,
                revised: false,
                refused: Some(reason.into()),
            },
            call: None,
        }
    }

    /// Updates the decision after its commit: if the commit passed the change over, because another writer was first, the
    /// draft is refused.
    pub(crate) fn applied(&mut self, own: &Applied, changes: &[LibraryChange]) {
        let late = own.passed_over.iter().find(|passed| {
            self.change.is_some() && changes.get(passed.change) == self.change.as_ref()
        });
        if let Some(passed) = late {
            let reason = format!("another writer was first ({:?})", passed.reason);
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
                revised: false,
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

/// A role's answer, and the sources of the draft in it.
#[derive(Clone, Debug)]
pub(crate) struct Drafted<'a> {
    /// Unique among the drafts of the run; the skill's id is derived from it.
    pub(crate) key: String,
    /// The role that wrote the draft.
    pub(crate) role: Role,
    /// The tasks that it was written from.
    pub(crate) tasks: Vec<TaskId>,
    /// Whether any of its sources is untrusted.
    pub(crate) taint: Taint,
    /// The versions that it was made from.
    pub(crate) parents: Vec<SkillRef>,
    /// The role's answer.
    pub(crate) reply: &'a Result<Option<Played>>,
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
    match place(context, policy, drafted, draft, fallback, before) {
        Ok(Placement::Enters(skill, revised)) => Admission {
            same: None,
            call: None,
            report: WriteReport {
                title: Some(title),
                fallback,
                admitted: Some(skill.reference()),
                revised,
                refused: None,
            },
            change: Some(if revised {
                LibraryChange::Revise(skill)
            } else {
                LibraryChange::Add(skill)
            }),
        },
        Ok(Placement::Known(same)) => {
            let reason = "the library has this skill already";
            let mut refused = Admission::refused(Some(title), fallback, reason);
            refused.same = Some(same);
            refused
        }
        Err(error) => Admission::refused(Some(title), fallback, error.to_string()),
    }
}

/// The skill that a draft makes, regardless of duplicates.
///
/// # Errors
/// `Model` for a draft that is not [`insert_ready`](admit::insert_ready).
pub(crate) fn skill_of(
    context: &Context<'_>,
    policy: &AdmitPolicy,
    drafted: &Drafted<'_>,
    draft: &SkillDraft,
    fallback: bool,
) -> Result<Skill> {
    let origin = match drafted.role {
        _ if fallback => Origin::TraceAbstract,
        Role::Extract => Origin::Extracted,
        Role::Refactor => Origin::Refactored,
        Role::Refine => Origin::Refined,
        Role::Lesson | Role::DistilBank => Origin::Distilled,
        Role::Curate => Origin::Curated,
        _ => Origin::Summary,
    };
    let provenance = Provenance {
        origin,
        runs: vec![context.run.clone()],
        tasks: drafted.tasks.clone(),
    };
    // Ids grow with time: of equal utilities the skill with the greater id, the later one, stays in its tier.
    let identity = sha256_hex(format!("{}/{}/{}", context.run, drafted.key, draft.title));
    let revision = context.library.revision();
    let admittance = Admittance {
        id: SkillId::new(format!("sk-{revision:08}-{}", &identity[..8])),
        version: Version(1),
        provenance,
        taint: drafted.taint,
        parents: drafted.parents.clone(),
    };
    let mut skill = admit::to_skill(draft, admittance)?;
    if skill.state == State::Active {
        // A skill that no model wrote begins on trial, whatever the recipe's first state is.
        skill.state = match fallback {
            true => State::Trial,
            false => policy.initial_state,
        };
    }
    Ok(skill)
}

/// The place of a drafted skill in the library.
enum Placement {
    /// It enters; `true` if it is the next version of a known skill.
    Enters(Box<Skill>, bool),
    /// It stays out, since this skill of the library, or of the same commit, has the same content.
    Known(SkillRef),
}

/// Places the skill that a draft makes, by the policy for duplicates.
fn place(
    context: &Context<'_>,
    policy: &AdmitPolicy,
    drafted: &Drafted<'_>,
    draft: &SkillDraft,
    fallback: bool,
    before: &[Admission],
) -> Result<Placement> {
    let skill = skill_of(context, policy, drafted, draft, fallback)?;
    // All abstracted traces have the same title, which therefore identifies none of them.
    if fallback && policy.duplicates != Duplicates::Distinct {
        return Ok(enter_unless_known(context, skill, before));
    }
    let known = match policy.duplicates {
        Duplicates::Add => None,
        Duplicates::Distinct => return Ok(enter_or_revive(context, policy, skill, before)),
        Duplicates::Revise => same_title(context, &skill.name),
    };
    let Some(known) = known else {
        return Ok(Placement::Enters(Box::new(skill), false));
    };
    if has_same_content(known, &skill) {
        return Ok(Placement::Known(known.reference()));
    }
    if matches!(known.state, State::Disabled | State::Archived) {
        return Err(Error::new(
            ErrorKind::Conflict,
            "admission::place",
            "a skill of this title was taken out of use, and is not brought back by a run",
        ));
    }
    // A person's skill, a cleaner one and an abstracted trace are not overwritten: the new one becomes a skill of its own.
    let keeps = matches!(
        known.provenance.origin,
        Origin::Human | Origin::TraceAbstract
    );
    if keeps || drafted.taint > known.taint {
        return Ok(enter_unless_known(context, skill, before));
    }
    Ok(Placement::Enters(Box::new(revision_of(known, skill)), true))
}

/// Places a skill as one of its own, unless a skill of the library or of the same commit has the same content. A tainted skill
/// does not keep a clean one with the same content out.
fn enter_unless_known(context: &Context<'_>, skill: Skill, before: &[Admission]) -> Placement {
    let coming = before.iter().filter_map(|one| one.change.as_ref()?.skill());
    let entries = context.library.entries().map(|entry| &entry.skill);
    let mut known = coming.chain(entries);
    let same = known.find(|known| has_same_content(known, &skill) && known.taint <= skill.taint);
    match same {
        Some(same) => Placement::Known(same.reference()),
        None => Placement::Enters(Box::new(skill), false),
    }
}

/// Places a skill as one of its own, unless a skill of the library or of the same commit has the same content. If a run
/// disabled that skill and the draft comes from another task, it is revived as its own next version; if the host disabled it,
/// it stays disabled.
fn enter_or_revive(
    context: &Context<'_>,
    policy: &AdmitPolicy,
    skill: Skill,
    before: &[Admission],
) -> Placement {
    let mut coming = before.iter().filter_map(|one| one.change.as_ref()?.skill());
    if let Some(same) = coming.find(|known| has_same_content(known, &skill)) {
        return Placement::Known(same.reference());
    }
    let entries = context.library.entries();
    let known: Vec<_> = entries
        .filter(|entry| has_same_content(&entry.skill, &skill))
        .collect();
    let in_use = known.iter().find(|entry| entry.skill.state.is_offered());
    let Some(known) = in_use.or(known.first()) else {
        return Placement::Enters(Box::new(skill), false);
    };
    let earlier = &known.skill.provenance.tasks;
    let mut tasks = skill.provenance.tasks.iter();
    let revive = policy.revive && may_be_revived(known) && skill.taint == Taint::Clean;
    if !revive || tasks.all(|task| earlier.contains(task)) {
        return Placement::Known(known.skill.reference());
    }
    let mut revived = revision_of(&known.skill, skill);
    let mut tasks = earlier.clone();
    tasks.append(&mut revived.provenance.tasks);
    revived.provenance.tasks = tasks;
    Placement::Enters(Box::new(revived), true)
}

/// Whether a run disabled the skill and a run may revive it. People decide about skills that a person wrote, that were imported
/// or that are tainted.
fn may_be_revived(entry: &Entry) -> bool {
    let Skill {
        state,
        taint,
        provenance,
        ..
    } = &entry.skill;
    let own = !matches!(provenance.origin, Origin::Human | Origin::Imported);
    let set_by = entry.life.state_set_by.as_ref();
    let by_run = *state == State::Disabled
        && set_by.is_some_and(|setter| setter.version == entry.skill.version);
    by_run && own && *taint == Taint::Clean
}

pub(crate) fn has_same_content(known: &Skill, new: &Skill) -> bool {
    known.description == new.description && known.body == new.body
}

/// The next version of a known skill. The tools, license and compatibility, which only its owner can give, are kept.
pub(crate) fn revision_of(known: &Skill, new: Skill) -> Skill {
    Skill {
        id: known.id.clone(),
        version: known.version.next(),
        parents: vec![known.reference()],
        allowed_tools: known.allowed_tools.clone(),
        license: known.license.clone(),
        compatibility: known.compatibility.clone(),
        ..new
    }
}

fn same_title<'a>(context: &Context<'a>, name: &SkillName) -> Option<&'a Skill> {
    context.library.by_name(name).map(|entry| &entry.skill)
}
