//! Which distilled skills enter the bank, and as what (SkillRL 3.3; row R4).

use std::collections::BTreeSet;

use crate::{
    domain::{LibraryChange, Origin, Scope, Skill, SkillName, Taint, Trace},
    error::{Error, ErrorKind, Result},
    id::AttemptId,
    library::{Entry, SkillLibrary},
    papers::skillrl::{BankPolicy, distillation::DraftedSkill},
    run::report::EventKind,
    stations::{
        admit::{
            Terms, Wording,
            draft::{self, DraftSources, has_same_content},
            identity::{Compared, Meanings},
            placement::{is_numbered, known_as, out_by_host},
        },
        maintain::{
            MaintenanceContext,
            retries::{handled, missed},
        },
    },
};

/// Whether the library has no skill, in whatever state, but for those that went with their retired run.
pub(crate) fn is_empty(library: &SkillLibrary) -> bool {
    library.entries().all(Entry::is_out_by_retirement)
}

/// The attempts to distil: the kept ones that a temporary error kept from being distilled, then those of `attempts`; none that
/// was distilled before.
pub(crate) fn undistilled<'a>(
    library: &SkillLibrary,
    attempts: impl IntoIterator<Item = &'a Trace>,
) -> Vec<Trace> {
    let missed = library.handled().filter(|mark| mark.miss.is_some());
    let missed: BTreeSet<&str> = missed.map(|mark| mark.subject.as_str()).collect();
    let was_missed = |trace: &&Trace| missed.contains(mark(&trace.trajectory.attempt).as_str());
    let again = library.traces().filter(was_missed).cloned();
    let mut known = BTreeSet::new();
    let is_new = |trace: &Trace| {
        let attempt = &trace.trajectory.attempt;
        known.insert(attempt.clone()) && !library.is_handled(&mark(attempt))
    };
    let all = again.chain(attempts.into_iter().cloned());
    all.filter(is_new).collect()
}

/// The subject of the mark of an attempt that was distilled.
fn mark(attempt: &AttemptId) -> String {
    format!("bank/{attempt}")
}

/// The changes that mark attempts as distilled, or as missed after a temporary error.
pub(crate) fn marked(
    context: &MaintenanceContext<'_, BankPolicy>,
    attempts: &[Trace],
    is_missed: impl Fn(&AttemptId) -> bool,
    events: &mut Vec<EventKind>,
) -> Vec<LibraryChange> {
    let mark = |trace: &Trace| {
        let attempt = &trace.trajectory.attempt;
        match is_missed(attempt) {
            true => missed(
                context,
                &format!("distilling {attempt}"),
                &mark(attempt),
                events,
            ),
            false => handled(&mark(attempt)),
        }
    };
    attempts.iter().map(mark).collect()
}

/// The changes by which drafted skills enter the bank: a new skill is added, a refined one becomes the next version of its
/// skill. A skill that the bank has already stays out, with an event that says so.
pub(crate) fn entering(
    context: &MaintenanceContext<'_, BankPolicy>,
    step: u64,
    drafted: &[DraftedSkill],
    events: &mut Vec<EventKind>,
) -> Vec<LibraryChange> {
    let mut bank = Known::of(context.library);
    let mut changes = Vec::new();
    for (number, one) in drafted.iter().enumerate() {
        let entered = skill_of(context, step, number, one)
            .and_then(|skill| placed(context, &bank, one, skill));
        match entered {
            Ok((skill, revised)) => {
                bank.add(&skill);
                let skill = Box::new(skill);
                events.push(EventKind::Admitted {
                    skill: skill.clone(),
                    revised,
                });
                changes.push(match revised {
                    true => LibraryChange::Revise(skill),
                    false => LibraryChange::Add(skill),
                });
            }
            Err(error) => {
                let reason = format!("{}: {}", one.draft.title, error.message());
                events.push(EventKind::Refused { reason });
            }
        }
    }
    changes
}

fn skill_of(
    context: &MaintenanceContext<'_, BankPolicy>,
    step: u64,
    number: usize,
    one: &DraftedSkill,
) -> Result<Skill> {
    let sources = DraftSources {
        key: format!("{step}/bank/{number}"),
        role: one.role,
        tasks: one.tasks.clone(),
        taint: one.taint,
        parents: one.refines.iter().cloned().collect(),
        terms: Terms::default(),
        meanings: &Meanings::default(),
    };
    draft::skill_of(
        context,
        &context.standing.admit,
        &sources,
        &one.draft,
        false,
    )
}

/// The skill as it enters, and whether it is the next version of a skill of the bank.
///
/// # Errors
/// `Conflict`, with the reason why it stays out.
fn placed(
    context: &MaintenanceContext<'_, BankPolicy>,
    bank: &Known<'_>,
    one: &DraftedSkill,
    skill: Skill,
) -> Result<(Skill, bool)> {
    let out = |why: String| Err(Error::new(ErrorKind::Conflict, "bank::placed", why));
    let before = one
        .refines
        .as_ref()
        .and_then(|skill| context.library.get(&skill.id));
    // A person's skill is not overwritten: the refinement becomes a skill of its own.
    let before = before.filter(|entry| entry.skill.provenance.origin != Origin::Human);
    if let Some(before) = before {
        let before = &before.skill;
        if bank.is_revised(before) {
            return out("another refinement of the same skill comes first".to_owned());
        }
        if has_same_content(before, &skill) {
            return out("nothing was changed".to_owned());
        }
        // A quarantined version would take the place of one that is offered.
        if skill.taint > before.taint {
            return out(
                "it has untrusted sources, and the skill that it refines has none".to_owned(),
            );
        }
        if before.taint == Taint::Tainted && before.state.is_offered() {
            return out(
                "the skill that it refines has untrusted sources, and is in use".to_owned(),
            );
        }
        let mut next = draft::revision_of(before, skill);
        // The name stays: with another one it would look like another skill.
        next.name = before.name.clone();
        next.original_name.clone_from(&before.original_name);
        return Ok((next, true));
    }
    let (library, identity) = (context.library, &context.standing.admit.identity);
    let compared = Compared::of_skill(&skill, Terms::default());
    if let Some(same) = out_by_host(library, identity, &compared, &Meanings::default()) {
        let known = same.known_as(library);
        return out(format!("the bank has this skill already: {known}"));
    }
    let Some((known, what)) = bank.duplicate(&skill, context.policy.near) else {
        return Ok((skill, false));
    };
    let is_retired = |entry: &Entry| entry.skill == *known && entry.is_out_by_retirement();
    if library.get(&known.id).is_some_and(is_retired) {
        return Ok((draft::revision_of(known, skill), true));
    }
    let known = known_as(library, &known.reference(), &known.name);
    out(format!("the bank has a skill with this {what}: {known}"))
}

/// The skills that a new one may be a duplicate of: the library's in every state, so that a disabled skill does not come back,
/// and those that entered before it.
struct Known<'a> {
    skills: Vec<(std::borrow::Cow<'a, Skill>, Wording)>,
    added: usize,
    /// The names of what the host or a person took out of use: it keeps no other skill of its title out.
    out: BTreeSet<SkillName>,
}

impl<'a> Known<'a> {
    fn of(library: &'a SkillLibrary) -> Self {
        let entries = library.entries().map(|entry| &entry.skill);
        let known =
            entries.map(|skill| (std::borrow::Cow::Borrowed(skill), Wording::of_skill(skill)));
        let skills: Vec<_> = known.collect();
        let out = library.entries().filter(|entry| entry.is_out_by_host());
        Self {
            added: skills.len(),
            skills,
            out: out.map(|entry| entry.skill.name.clone()).collect(),
        }
    }

    fn add(&mut self, skill: &Skill) {
        let wording = Wording::of_skill(skill);
        self.skills
            .push((std::borrow::Cow::Owned(skill.clone()), wording));
    }

    /// Whether a version of this skill entered before.
    fn is_revised(&self, skill: &Skill) -> bool {
        let mut new = self.skills.iter().skip(self.added);
        new.any(|(known, _)| known.id == skill.id)
    }

    /// The skill whose duplicate a new one is, and what both have in common: one of its scope, or a general one, has its title,
    /// its content or nearly its wording. A tainted skill keeps no clean one out.
    fn duplicate(&self, skill: &Skill, near: f64) -> Option<(&Skill, &'static str)> {
        let wording = Wording::of_skill(skill);
        let is_out = self.out.contains(&skill.name);
        let has_title = |known: &Skill| match is_out {
            true => is_numbered(known, skill),
            false => known.name == skill.name,
        };
        let comparable = |known: &Skill| {
            (known.scope == skill.scope || known.scope == Scope::General)
                && known.taint <= skill.taint
        };
        let found = self.skills.iter().filter_map(|(known, of_known)| {
            let what = match () {
                () if !comparable(known) => return None,
                () if has_title(known) => "title",
                () if has_same_content(known, skill) => "content",
                () if of_known.similarity(&wording) >= near => "wording",
                () => return None,
            };
            Some((known.as_ref(), what))
        });
        // Of several, one that is in use.
        found.max_by_key(|(known, _)| known.state.is_offered())
    }
}
