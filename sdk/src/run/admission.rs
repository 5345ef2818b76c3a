//! Whether a written draft becomes a skill.

use serde::{Deserialize, Serialize};

use super::{Event, WriteReport, Written, context::Context};
use crate::{
    admit::{self, Admittance},
    domain::{LibraryChange, Origin, Provenance, Skill, SkillName, State, Taint, Task},
    error::{Error, ErrorKind, Result},
    id::{SkillId, Version, sha256_hex},
    library::Applied,
    recipe::Duplicates,
};

/// The decision over a draft, made once and kept, since the library it was made on moves on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Admission {
    pub(super) change: Option<LibraryChange>,
    pub(super) report: WriteReport,
}

impl Admission {
    fn refused(title: Option<String>, fallback: bool, reason: impl Into<String>) -> Self {
        Self {
            change: None,
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
    pub(super) fn applied(&mut self, own: &Applied, changes: &[LibraryChange]) {
        let late = own.passed_over.iter().find(|passed| {
            matches!(
                changes.get(passed.change),
                Some(LibraryChange::Add(_) | LibraryChange::Revise(_))
            )
        });
        if let Some(passed) = late {
            let reason = format!("another writer was first ({:?})", passed.reason);
            let title = self.report.title.take();
            *self = Self::refused(title, self.report.fallback, reason);
        }
    }

    pub(super) fn event(&self, step: u64) -> Event {
        match &self.change {
            Some(LibraryChange::Add(skill)) => Event::Admitted {
                step,
                skill: skill.clone(),
                revised: false,
            },
            Some(LibraryChange::Revise(skill)) => Event::Admitted {
                step,
                skill: skill.clone(),
                revised: true,
            },
            _ => Event::Refused {
                step,
                reason: self.report.refused.clone().unwrap_or_default(),
            },
        }
    }
}

/// Decides over what was written, or not written.
pub(super) fn decide(
    context: &Context<'_>,
    step: u64,
    task: &Task,
    taint: Taint,
    written: &Result<Option<Written>>,
) -> Admission {
    let written = match written {
        Ok(Some(written)) => written,
        Ok(None) => return Admission::refused(None, false, "the run has no skill writer"),
        Err(error) => return Admission::refused(None, false, error.to_string()),
    };
    let title = written.draft.title.clone();
    match admitted(context, step, task, taint, written) {
        Ok(Some((skill, revised))) => Admission {
            report: WriteReport {
                title: Some(title),
                fallback: written.fallback,
                admitted: Some(skill.reference()),
                revised,
                refused: None,
            },
            change: Some(if revised {
                LibraryChange::Revise(Box::new(skill))
            } else {
                LibraryChange::Add(Box::new(skill))
            }),
        },
        Ok(None) => Admission::refused(
            Some(title),
            written.fallback,
            "the library has this skill already",
        ),
        Err(error) => Admission::refused(Some(title), written.fallback, error.to_string()),
    }
}

/// The skill, and whether it is a new version; `None` when the library has the same already.
fn admitted(
    context: &Context<'_>,
    step: u64,
    task: &Task,
    taint: Taint,
    written: &Written,
) -> Result<Option<(Skill, bool)>> {
    let origin = if written.fallback {
        Origin::TraceAbstract
    } else {
        Origin::Summary
    };
    let provenance = Provenance {
        origin,
        runs: vec![context.run.clone()],
        tasks: vec![task.id.clone()],
    };
    // Ids grow with time, so that among equal utilities the newcomer stays.
    let identity = sha256_hex(format!("{}/{step}/{}", context.run, written.draft.title));
    let revision = context.library.revision();
    let admittance = Admittance {
        id: SkillId::new(format!("sk-{revision:08}-{}", &identity[..8])),
        version: Version(1),
        provenance,
        taint,
        parents: Vec::new(),
    };
    let skill = admit::to_skill(&written.draft, admittance)?;
    let known = match context.recipe.duplicates {
        Duplicates::Add => None,
        Duplicates::Revise => same_title(context, &skill.name),
    };
    let Some(known) = known else {
        return Ok(Some((skill, false)));
    };
    if known.description == skill.description && known.body == skill.body {
        return Ok(None);
    }
    if matches!(known.state, State::Disabled | State::Archived) {
        return Err(Error::new(
            ErrorKind::Conflict,
            "admission::admitted",
            "a skill of this title was taken out of use, and is not brought back by a run",
        ));
    }
    // What a person wrote, what is cleaner, and what is about something else (every trace abstraction has one title)
    // is not overwritten: the new one stands beside it.
    let keeps = known.provenance.origin == Origin::Human
        || taint > known.taint
        || written.fallback
        || known.provenance.origin == Origin::TraceAbstract;
    if keeps {
        return Ok(Some((skill, false)));
    }
    Ok(Some((revision_of(known, skill), true)))
}

/// The next version of a known skill, with what only its owner could give.
fn revision_of(known: &Skill, new: Skill) -> Skill {
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
