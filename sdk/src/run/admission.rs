//! Whether a written draft becomes a skill.

use serde::{Deserialize, Serialize};

use super::{Event, WriteReport, Written, context::Context};
use crate::{
    admit::{self, Admittance},
    domain::{LibraryChange, Origin, Provenance, Skill, SkillName, Taint, Task},
    error::Result,
    id::{SkillId, Version, sha256_hex},
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
    let identity = sha256_hex(&format!("{}/{step}/{}", context.run, written.draft.title));
    let admittance = Admittance {
        id: SkillId::new(format!("sk-{}", &identity[..16])),
        version: Version(1),
        provenance,
        taint,
        parents: Vec::new(),
    };
    let mut skill = admit::to_skill(&written.draft, admittance)?;
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
    skill.id = known.id.clone();
    skill.version = known.version.next();
    skill.parents = vec![known.reference()];
    Ok(Some((skill, true)))
}

fn same_title<'a>(context: &Context<'a>, name: &SkillName) -> Option<&'a Skill> {
    context.library.by_name(name).map(|entry| &entry.skill)
}
