//! The decisions about a curator's calls, one after the other: each is checked against the library as the calls before it leave
//! it (SkillOS, architecture; row K2).

use crate::{
    contract::{RoleAnswer, RoleTask},
    domain::{
        Cause, LibraryChange, Origin, Role, Skill, SkillDraft, SkillRef, State, Taint, ToolCall,
    },
    error::{ErrorKind, Result},
    id::{SkillId, TaskId, Version},
    library::{Entry, Fork, SkillLibrary, format::SkillMd},
    policy::{Context, RoleReply},
    run::report::{
        CallKind, CallOutcome, CallRefusal, CuratedCall, CurationReport, NoAnswer, WriteReport,
    },
    stations::{
        admit::{
            AdmitPolicy, Terms,
            admission::{self, Admission},
            draft::{self, DraftSources},
            identity::{Compared, Meanings},
        },
        propose::{CurateCall, curate},
    },
    text::brief,
};

/// The inputs of a decision about a curator's answer.
#[derive(Debug)]
pub(crate) struct Curating<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) policy: &'a AdmitPolicy,
    /// Whether skills are tested before they are released: an update of a skill in use is held as a draft until then.
    pub(crate) tests: bool,
    pub(crate) step: u64,
    pub(crate) task: &'a TaskId,
    /// Whether the attempt that the curator was shown has untrusted text.
    pub(crate) taint: Taint,
    /// The curator's task and answer.
    pub(crate) curator: &'a RoleReply,
    /// The embeddings of the skills that it inserts.
    pub(crate) meanings: &'a Meanings,
}

type Changed = std::result::Result<LibraryChange, CallRefusal>;

/// Decides about the calls of a curator's answer, in order. An answer without calls gives no decision, and no answer a
/// refused draft. `rule` is the host's own admission rule, which is asked about the skills that enter.
pub(crate) fn decide(
    curating: &Curating<'_>,
    rule: &dyn Fn(&SkillLibrary, &Skill) -> Result<()>,
) -> Vec<Admission> {
    let calls = match calls(curating.curator) {
        Ok(calls) => calls,
        Err(NoAnswer::NotPlayed(why) | NoAnswer::Unreadable(why)) => {
            return vec![Admission::refused(None, false, why)];
        }
    };
    let mut fork = curating.context.library.fork();
    let decided = (0..).zip(calls).map(|(number, call)| {
        let changed = curating.change(fork.library(), number, call);
        let changed = changed.and_then(|change| {
            let ruled = change.skill().map(|skill| rule(fork.library(), skill));
            let refused = ruled.and_then(Result::err);
            match refused {
                Some(error) => Err(CallRefusal::NotAdmitted(error.to_string())),
                None => curating.apply(&mut fork, change),
            }
        });
        decided(fork.library(), call, changed)
    });
    decided.collect()
}

/// The skills that a curator's answer inserts, to be compared with known ones.
pub(crate) fn compared(curator: &RoleReply) -> Vec<Compared> {
    let terms = Terms::of(curator.task.attempts());
    let calls = calls(curator).unwrap_or_default().iter();
    let inserts = calls.filter_map(|call| match CurateCall::read(call) {
        Ok(CurateCall::Insert {
            name,
            description,
            body,
        }) => Some(SkillDraft::new(name, description, body)),
        _ => None,
    });
    let compared = inserts.map(|draft| Compared::of_draft(&draft, terms.clone()));
    compared.collect()
}

/// The report of a curator's answer and the decisions about it.
pub(crate) fn report(curator: &RoleReply, decided: &[Admission]) -> CurationReport {
    let context_tokens = match &curator.reply {
        Ok(Some(played)) => {
            let prompts = 1 + played.unreadable.len() as u64;
            played.usage.prompt_tokens / prompts
        }
        _ => 0,
    };
    CurationReport {
        calls: decided.iter().filter_map(|one| one.call.clone()).collect(),
        no_answer: calls(curator).err(),
        context_tokens,
    }
}

fn calls(curator: &RoleReply) -> std::result::Result<&[ToolCall], NoAnswer> {
    let played = match &curator.reply {
        Ok(Some(played)) => played,
        Ok(None) => {
            let why = "the run cannot ask its roles: the host gave no model, or no roles";
            return Err(NoAnswer::NotPlayed(why.to_owned()));
        }
        Err(error) if error.kind() == ErrorKind::Model => {
            return Err(NoAnswer::Unreadable(error.to_string()));
        }
        Err(error) => return Err(NoAnswer::NotPlayed(error.to_string())),
    };
    match &played.answer {
        RoleAnswer::Calls(calls) => Ok(calls),
        // A role may say in words why the library stays as it is.
        RoleAnswer::Nothing(_) => Ok(&[]),
        _ => Err(NoAnswer::Unreadable(
            "the role's answer has no calls".to_owned(),
        )),
    }
}

impl Curating<'_> {
    /// The change that a call asks for, if the library permits it.
    fn change(&self, library: &SkillLibrary, number: u64, call: &ToolCall) -> Changed {
        let call = CurateCall::read(call)?;
        call.check(library)?;
        match call {
            CurateCall::Insert {
                name,
                description,
                body,
            } => self.insert(library, number, (name, description, body)),
            CurateCall::Update {
                skill,
                description,
                body,
            } => {
                let known = &curate::offered(library, &skill)?.skill;
                self.update(library, number, known, (description, body))
            }
            CurateCall::Delete { skill, reason } => {
                let known = &curate::offered(library, &skill)?.skill;
                match self.shown_taint() > known.taint {
                    true => Err(CallRefusal::Untrusted),
                    false => Ok(LibraryChange::SetState {
                        skill: known.id.clone(),
                        state: State::Archived,
                        reason,
                    }),
                }
            }
        }
    }

    /// A new skill, admitted as a draft is.
    fn insert(
        &self,
        library: &SkillLibrary,
        number: u64,
        (name, description, body): (String, String, String),
    ) -> Changed {
        let draft = SkillDraft::new(name, description, body);
        let context = self.on(library);
        let sources = self.sources(number, Vec::new());
        let entered = admission::admitted(&context, self.policy, &sources, &draft, false, &[]);
        entered
            .change
            .ok_or_else(|| CallRefusal::NotAdmitted(entered.report.refused.unwrap_or_default()))
    }

    /// The next version of a skill. What a call cannot give stays: name, trigger, kind, scope, metadata, files.
    fn update(
        &self,
        library: &SkillLibrary,
        number: u64,
        known: &Skill,
        (description, body): (Option<String>, Option<String>),
    ) -> Changed {
        let mut draft = SkillDraft::from(known);
        draft.description = description.unwrap_or(draft.description);
        draft.body = body.unwrap_or(draft.body);
        // A version in quarantine would take the place of one in use.
        if self.shown_taint().max(known.taint) == Taint::Tainted {
            return Err(CallRefusal::Untrusted);
        }
        let context = self.on(library);
        let update = self.sources(number, vec![known.reference()]);
        let new = draft::skill_of(&context, self.policy, &update, &draft, false)
            .map_err(|error| CallRefusal::NotAdmitted(error.to_string()))?;
        let mut skill = draft::revision_of(known, new);
        skill.name = known.name.clone();
        skill.original_name.clone_from(&known.original_name);
        skill.files.clone_from(&known.files);
        // On trial it would take the place of the version in use.
        if self.tests && known.state == State::Active && skill.state == State::Trial {
            return hold(library, skill).ok_or_else(|| {
                CallRefusal::NotAdmitted(
                    "a skill that is no waiting draft has the id of this skill's draft".to_owned(),
                )
            });
        }
        Ok(LibraryChange::Revise(Box::new(skill)))
    }

    /// Applies a change to the library as the calls before leave it.
    fn apply(&self, fork: &mut Fork, change: LibraryChange) -> Changed {
        let cause = Cause {
            run: Some(self.context.run.clone()),
            task: Some(self.task.clone()),
            reason: "a curator's call".to_owned(),
            at: None,
        };
        match fork.apply(&cause, vec![change.clone()]) {
            Ok(applied) if applied.passed_over.is_empty() => Ok(change),
            Ok(_) => Err(CallRefusal::Overtaken),
            Err(error) => Err(CallRefusal::NotAdmitted(error.to_string())),
        }
    }

    fn on<'a>(&'a self, library: &'a SkillLibrary) -> Context<'a> {
        Context {
            library,
            ..*self.context
        }
    }

    fn sources(&self, number: u64, parents: Vec<SkillRef>) -> DraftSources<'_> {
        DraftSources {
            key: format!("{}/curate.{number}", self.step),
            role: Role::Curate,
            tasks: vec![self.task.clone()],
            taint: self.shown_taint(),
            parents,
            terms: Terms::of(self.curator.task.attempts()),
            meanings: self.meanings,
        }
    }

    /// The taint of what the curator was shown: of the attempt and of the skills.
    fn shown_taint(&self) -> Taint {
        let skills = match &self.curator.task {
            RoleTask::Curate { skills, .. } => skills.as_slice(),
            _ => &[],
        };
        let taints = skills.iter().map(|skill| skill.taint);
        taints.fold(self.taint, Taint::max)
    }
}

/// The decision about a call. `library` has the change, if there is one.
fn decided(library: &SkillLibrary, call: &ToolCall, changed: Changed) -> Admission {
    let kind = CallKind::of(&call.tool);
    let about = curate::about(call);
    let revised = changed.is_ok() && kind == CallKind::Update;
    let made = changed.as_ref().ok().and_then(|change| match change {
        LibraryChange::SetState { skill, .. } => Some(library.get(skill)?.skill.reference()),
        change => Some(change.skill()?.reference()),
    });
    let refused = changed.as_ref().err().cloned();
    Admission {
        report: WriteReport {
            title: Some(about.clone()),
            fallback: false,
            admitted: made.clone(),
            revised,
            refused: refused.as_ref().map(ToString::to_string),
            duplicate: None,
        },
        call: Some(CuratedCall {
            kind,
            about,
            outcome: match (made, refused) {
                (Some(made), None) => CallOutcome::Applied(made),
                (_, refused) => CallOutcome::Refused(refused.unwrap_or(CallRefusal::NotFound)),
            },
        }),
        change: changed.ok(),
    }
}

// Held updates: where a recipe tests skills before their release, a curator's update of a skill in use is a draft beside it
// until it has passed (HiSME Eq. 13; row H6).

/// Characters of the reason that a refused draft is kept with.
const REASON: usize = 500;

/// The id of the entry that holds the draft of a skill's next version. A skill has at most one: a later update takes the place
/// of one that waits.
fn draft_id(skill: &SkillId) -> SkillId {
    SkillId::new(format!("{skill}-draft"))
}

/// The change that keeps the next version of a skill as a draft; `None` where another skill has the draft's id, or somebody
/// took the draft into use.
pub(crate) fn hold(library: &SkillLibrary, next: Skill) -> Option<LibraryChange> {
    let id = draft_id(&next.id);
    let before = library.get(&id);
    let is_of = |before: &Entry| {
        let parent = before.skill.parents.first();
        let is_out = matches!(before.skill.state, State::Draft | State::Archived);
        is_out && parent.is_some_and(|parent| parent.id == next.id)
    };
    if before.is_some_and(|before| !is_of(before)) {
        return None;
    }
    let draft = Box::new(Skill {
        version: before.map_or(Version(1), |before| before.skill.version.next()),
        id,
        state: State::Draft,
        ..next
    });
    Some(match before {
        Some(_) => LibraryChange::Revise(draft),
        None => LibraryChange::Add(draft),
    })
}

/// The change that keeps a next version that was refused, with the reason; `None` where a draft waits that was not tested yet, or another
/// skill has the draft's id.
pub(crate) fn refused_draft(
    library: &SkillLibrary,
    next: &Skill,
    reason: &str,
) -> Option<LibraryChange> {
    let before = library.get(&draft_id(&next.id));
    let waits = |before: &Entry| {
        held_for(library, before).is_some() && !library.is_handled(&fingerprint(&before.skill))
    };
    if before.is_some_and(waits) {
        return None;
    }
    let mut next = next.clone();
    let key = SkillMd::REFUSED.to_owned();
    // A host's error may be part of the reason: it is made one line that a SKILL.md can hold.
    let visible: String = reason.chars().filter(|char| !char.is_control()).collect();
    next.metadata.insert(key, brief(&visible, REASON));
    SkillMd::from(&next).write().ok()?;
    hold(library, next)
}

/// The fingerprint of a draft's test.
pub(crate) fn fingerprint(draft: &Skill) -> String {
    format!("draft/{}/{}", draft.id, draft.version)
}

/// The skill in use whose next version an entry holds; `None` for an entry that is no such draft, and where the skill is not
/// in use any more.
pub(crate) fn held_for<'a>(library: &'a SkillLibrary, draft: &Entry) -> Option<&'a Entry> {
    let Skill {
        id,
        state,
        provenance,
        parents,
        ..
    } = &draft.skill;
    let parent = &parents.first()?.id;
    let is_draft =
        *state == State::Draft && provenance.origin == Origin::Curated && *id == draft_id(parent);
    let known = is_draft.then(|| library.get(parent)).flatten()?;
    (known.skill.state == State::Active).then_some(known)
}

#[cfg(test)]
mod held_tests {
    use super::*;
    use crate::{domain::HandledMark, testing::sample};

    fn library(skills: Vec<Skill>, more: Vec<LibraryChange>) -> SkillLibrary {
        let added = skills
            .into_iter()
            .map(|skill| LibraryChange::Add(Box::new(skill)));
        let changes = added.chain(more).collect();
        SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap()
    }

    fn next() -> Skill {
        Skill {
            version: Version(2),
            parents: vec![sample::skill("report").reference()],
            ..sample::skill("report")
        }
    }

    /// The draft that a curator wrote of the skill.
    fn draft() -> Skill {
        let mut draft = Skill {
            id: "report-draft".into(),
            version: Version(1),
            state: State::Draft,
            ..next()
        };
        draft.provenance.origin = Origin::Curated;
        draft
    }

    #[test]
    fn a_refused_version_is_kept_with_its_reason_and_takes_no_other_skills_place() {
        let kept = |library: &SkillLibrary| refused_draft(library, &next(), "a case fails");
        let report = sample::skill("report");
        let Some(LibraryChange::Add(added)) = kept(&library(vec![report.clone()], Vec::new()))
        else {
            panic!("it is added")
        };
        assert_eq!(
            (added.state, added.id.as_str()),
            (State::Draft, "report-draft")
        );
        assert_eq!(added.metadata[SkillMd::REFUSED], "a case fails");
        // A host's own skill of that id, and a draft that somebody took into use.
        let own = sample::skill("report-draft");
        assert_eq!(kept(&library(vec![report.clone(), own], Vec::new())), None);
        let used = Skill {
            state: State::Active,
            ..draft()
        };
        assert_eq!(kept(&library(vec![report.clone(), used], Vec::new())), None);
        // A curator's draft waits for its test, and gives way behind it.
        let waiting = library(vec![report.clone(), draft()], Vec::new());
        assert_eq!(kept(&waiting), None);
        let handled = LibraryChange::Handled {
            fingerprint: HandledMark::done(fingerprint(&draft())),
        };
        let tested = library(vec![report, draft()], vec![handled]);
        assert!(matches!(kept(&tested), Some(LibraryChange::Revise(_))));
    }
}
