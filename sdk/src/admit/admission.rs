//! Whether a written draft becomes a skill.

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
    report::{EventKind, WriteReport},
};

/// The decision over a draft, made once and kept, since the library it was made on moves on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Admission {
    pub(crate) change: Option<LibraryChange>,
    /// The skill that says the same already.
    pub(crate) same: Option<SkillRef>,
    pub(crate) report: WriteReport,
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
        }
    }

    /// Takes in what the commit did: a change that came too late, another writer being first, let nothing in.
    pub(crate) fn applied(&mut self, own: &Applied, changes: &[LibraryChange]) {
        let late = own.passed_over.iter().find(|passed| {
            self.change.is_some() && changes.get(passed.change) == self.change.as_ref()
        });
        if let Some(passed) = late {
            let reason = format!("another writer was first ({:?})", passed.reason);
            let title = self.report.title.take();
            *self = Self::refused(title, self.report.fallback, reason);
        }
    }

    pub(crate) fn event(&self) -> EventKind {
        match &self.change {
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
        }
    }
}

/// What a draft comes from.
#[derive(Clone, Debug)]
pub(crate) struct Drafted<'a> {
    /// What tells it from every other draft of the run.
    pub(crate) key: String,
    /// Which role wrote it.
    pub(crate) role: Role,
    /// From which tasks.
    pub(crate) tasks: Vec<TaskId>,
    /// Whether anything that it was written from is of an untrusted source.
    pub(crate) taint: Taint,
    /// The versions that it was made from.
    pub(crate) parents: Vec<SkillRef>,
    /// What the role said.
    pub(crate) said: &'a Result<Option<Played>>,
}

/// Decides over what was written, or not written. `before` are the decisions of the same commit so far.
pub(crate) fn decide(
    context: &Context<'_>,
    policy: &AdmitPolicy,
    drafted: &Drafted<'_>,
    before: &[Admission],
) -> Admission {
    let played = match drafted.said {
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
    let title = draft.title.clone();
    let fallback = played.fallback;
    match admitted(context, policy, drafted, draft, fallback, before) {
        Ok(Fate::Enters(skill, revised)) => Admission {
            same: None,
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
        Ok(Fate::Known(same)) => {
            let reason = "the library has this skill already";
            let mut refused = Admission::refused(Some(title), fallback, reason);
            refused.same = Some(same);
            refused
        }
        Err(error) => Admission::refused(Some(title), fallback, error.to_string()),
    }
}

/// The skill that a draft would be, whatever the library has.
///
/// # Errors
/// `Model` for a draft that no file can hold.
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
        _ => Origin::Summary,
    };
    let provenance = Provenance {
        origin,
        runs: vec![context.run.clone()],
        tasks: drafted.tasks.clone(),
    };
    // Ids grow with time, so that among equal utilities the newcomer stays.
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
        // What no model wrote has to prove itself, whatever the recipe does with newcomers.
        skill.state = match fallback {
            true => State::Trial,
            false => policy.initial_state,
        };
    }
    Ok(skill)
}

/// What becomes of a skill.
enum Fate {
    /// It comes in, or is the next version of one that is there.
    Enters(Box<Skill>, bool),
    /// One that is there, or on its way, says the same.
    Known(SkillRef),
}

/// What becomes of the skill that a draft would be.
fn admitted(
    context: &Context<'_>,
    policy: &AdmitPolicy,
    drafted: &Drafted<'_>,
    draft: &SkillDraft,
    fallback: bool,
    before: &[Admission],
) -> Result<Fate> {
    let skill = skill_of(context, policy, drafted, draft, fallback)?;
    // All abstracted traces have one title, which therefore says nothing.
    if fallback && policy.duplicates != Duplicates::Distinct {
        return Ok(beside(context, skill, before));
    }
    let known = match policy.duplicates {
        Duplicates::Add => None,
        Duplicates::Distinct => return Ok(distinct(context, policy, skill, before)),
        Duplicates::Revise => same_title(context, &skill.name),
    };
    let Some(known) = known else {
        return Ok(Fate::Enters(Box::new(skill), false));
    };
    if says_the_same(known, &skill) {
        return Ok(Fate::Known(known.reference()));
    }
    if matches!(known.state, State::Disabled | State::Archived) {
        return Err(Error::new(
            ErrorKind::Conflict,
            "admission::admitted",
            "a skill of this title was taken out of use, and is not brought back by a run",
        ));
    }
    // What a person wrote, what is cleaner, and what is about something else is not overwritten: the new one stands beside
    // it.
    let keeps = matches!(
        known.provenance.origin,
        Origin::Human | Origin::TraceAbstract
    );
    if keeps || drafted.taint > known.taint {
        return Ok(beside(context, skill, before));
    }
    Ok(Fate::Enters(Box::new(revision_of(known, skill)), true))
}

/// A skill that enters beside others of its title, unless one that is there or on its way says the same. One that is held back
/// for its source does not stand in the way of a clean one.
fn beside(context: &Context<'_>, skill: Skill, before: &[Admission]) -> Fate {
    let coming = before.iter().filter_map(|one| one.change.as_ref()?.skill());
    let entries = context.library.entries().map(|entry| &entry.skill);
    let mut known = coming.chain(entries);
    let same = known.find(|known| says_the_same(known, &skill) && known.taint <= skill.taint);
    match same {
        Some(same) => Fate::Known(same.reference()),
        None => Fate::Enters(Box::new(skill), false),
    }
}

/// The skill, unless one that is there or on its way says the same. One that a run disabled may be written anew from other
/// tasks: it begins again as its own next version. What the host took out of use stays out.
fn distinct(
    context: &Context<'_>,
    policy: &AdmitPolicy,
    skill: Skill,
    before: &[Admission],
) -> Fate {
    let mut coming = before.iter().filter_map(|one| one.change.as_ref()?.skill());
    if let Some(same) = coming.find(|known| says_the_same(known, &skill)) {
        return Fate::Known(same.reference());
    }
    let entries = context.library.entries();
    let known: Vec<_> = entries
        .filter(|entry| says_the_same(&entry.skill, &skill))
        .collect();
    let in_use = known.iter().find(|entry| entry.skill.state.is_offered());
    let Some(known) = in_use.or(known.first()) else {
        return Fate::Enters(Box::new(skill), false);
    };
    let earlier = &known.skill.provenance.tasks;
    let mut tasks = skill.provenance.tasks.iter();
    let again = policy.revive && may_come_back(known) && skill.taint == Taint::Clean;
    if !again || tasks.all(|task| earlier.contains(task)) {
        return Fate::Known(known.skill.reference());
    }
    let mut again = revision_of(&known.skill, skill);
    let mut tasks = earlier.clone();
    tasks.append(&mut again.provenance.tasks);
    again.provenance.tasks = tasks;
    Fate::Enters(Box::new(again), true)
}

/// Whether a run took it out of use that may bring it back: what a person wrote or another host, and what was written from
/// untrusted words, is for people to decide on.
fn may_come_back(entry: &Entry) -> bool {
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

pub(crate) fn says_the_same(known: &Skill, new: &Skill) -> bool {
    known.description == new.description && known.body == new.body
}

/// The next version of a known skill, with what only its owner could give.
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
