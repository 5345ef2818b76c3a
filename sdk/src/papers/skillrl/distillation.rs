//! Distillation: attempts become patterns and lessons, and these become the skills of the bank (SkillRL 3.1, 3.2; rows R1, R4).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    contract::{BankDraft, Finding, RoleAnswer, RoleTask, Taught},
    domain::{Origin, Provenance, Role, Scope, Skill, SkillDraft, SkillRef, Taint, Trace, Verdict},
    error::{ErrorKind, Result},
    id::{AttemptId, Category, SkillId, TaskId, Version},
    papers::skillrl::{
        BankPolicy, Failure,
        lessons::{joined, lesson_draft},
    },
    policy::{Ask, Played, RoleReply},
    stations::{
        admit::{Admittance, to_skill},
        maintain::{MaintenanceContext, outcomes::is_temporary},
    },
};

/// Greatest number of refusals of an attempt that give lessons.
const REFUSALS: usize = 3;

/// What an attempt taught: its pattern, or its lessons.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Teaching {
    pub(crate) attempt: AttemptId,
    task: TaskId,
    category: Option<Category>,
    taint: Taint,
    pub(super) finding: Finding,
    /// The skill that it makes by itself, where no role distils skills from several.
    draft: SkillDraft,
    /// The role that taught it.
    role: Role,
}

/// A skill that is to enter the bank.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DraftedSkill {
    /// The skill of the bank that it refines.
    pub(crate) refines: Option<SkillRef>,
    pub(crate) draft: SkillDraft,
    /// The role that wrote it.
    pub(crate) role: Role,
    /// The tasks that it was distilled from.
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) taint: Taint,
}

/// The skills that were distilled, and the attempts whose teachings have to be distilled again after a temporary error.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Distilled {
    pub(crate) skills: Vec<DraftedSkill>,
    pub(crate) missed: BTreeSet<AttemptId>,
}

/// The tasks of `extract` and `lesson`: what each judged attempt teaches (Eq. 2, 3). With `patterns` the successes are asked
/// about too.
pub(crate) fn teaching_tasks(
    context: &MaintenanceContext<'_, BankPolicy>,
    attempts: &[Trace],
    patterns: bool,
) -> Vec<RoleTask> {
    let mut tasks = Vec::new();
    for attempt in attempts {
        let success = attempt.verdict.as_ref().and_then(Verdict::success);
        match success {
            Some(true) => {
                tasks.extend(patterns.then(|| RoleTask::Extract {
                    attempt: Box::new(attempt.clone()),
                    candidate: 0,
                    rules: context.library.rules(Role::Extract).to_vec(),
                }));
                let refusals = match context.policy.failure {
                    Failure::Refusal => cut_at_refusals(attempt),
                    Failure::Verdict => Vec::new(),
                };
                tasks.extend(refusals.into_iter().map(|attempt| RoleTask::Lesson {
                    attempt: Box::new(attempt),
                }));
            }
            Some(false) => tasks.push(RoleTask::Lesson {
                attempt: Box::new(attempt.clone()),
            }),
            None => {}
        }
    }
    tasks
}

/// An attempt up to and including each of its first refusals with different texts, as attempts that failed there.
fn cut_at_refusals(attempt: &Trace) -> Vec<Trace> {
    let mut texts = BTreeSet::new();
    let steps = attempt.trajectory.steps.iter().enumerate();
    let refused = steps.filter(|(_, step)| step.result.is_error && texts.insert(&step.result.text));
    let cut = |(place, _): (usize, _)| {
        let mut cut = attempt.clone();
        cut.trajectory.steps.truncate(place + 1);
        cut.trajectory.outcome = None;
        cut.verdict = Some(Verdict::binary(false).with_evidence(
            "the last action was refused; what the agent did afterwards is left out",
        ));
        cut
    };
    refused.take(REFUSALS).map(cut).collect()
}

/// What the roles' answers teach, one for the pattern and one for the lessons of each attempt, in order; and the attempts that
/// have to be asked about again after a temporary error.
pub(crate) fn taught(replies: &[RoleReply]) -> (Vec<Teaching>, BTreeSet<AttemptId>) {
    let mut missed = BTreeSet::new();
    let mut patterns = Vec::new();
    let mut lessons: BTreeMap<(usize, &AttemptId), (&Trace, Vec<_>)> = BTreeMap::new();
    for (place, RoleReply { task, reply }) in replies.iter().enumerate() {
        let [attempt] = task.attempts() else { continue };
        let id = &attempt.trajectory.attempt;
        match reply {
            Err(error) if is_temporary(error) => drop(missed.insert(id.clone())),
            Ok(Some(Played {
                answer: RoleAnswer::Draft(draft),
                ..
            })) => patterns.push((place, {
                let text = format!("{}: {}\n{}", draft.title, draft.description, draft.body);
                teaching(attempt, Role::Extract, draft, Taught::Pattern(text))
            })),
            Ok(Some(Played {
                answer: RoleAnswer::Lesson(lesson),
                ..
            })) => {
                // The lessons of an attempt stand side by side, at the place of the first.
                let known = lessons
                    .keys()
                    .find(|(_, known)| *known == id)
                    .map(|key| key.0);
                let key = (known.unwrap_or(place), id);
                let (_, all) = lessons.entry(key).or_insert((attempt, Vec::new()));
                all.push(lesson.clone());
            }
            _ => {}
        }
    }
    let of_lessons = lessons
        .into_iter()
        .filter_map(|((place, _), (attempt, lessons))| {
            let draft = lesson_draft(&lessons)?;
            let taught = Taught::Lesson(joined(&lessons)?);
            Some((place, teaching(attempt, Role::Lesson, &draft, taught)))
        });
    let mut all: Vec<(usize, Teaching)> = patterns.into_iter().chain(of_lessons).collect();
    all.sort_by_key(|(place, _)| *place);
    (
        all.into_iter().map(|(_, teaching)| teaching).collect(),
        missed,
    )
}

fn teaching(attempt: &Trace, role: Role, draft: &SkillDraft, taught: Taught) -> Teaching {
    let task = &attempt.task;
    Teaching {
        attempt: attempt.trajectory.attempt.clone(),
        task: task.id.clone(),
        category: task.category.clone(),
        taint: attempt.taint(),
        finding: Finding {
            task: task.instruction.clone(),
            taught,
        },
        draft: draft.clone(),
        role,
    }
}

/// The material of one scope of the bank. Clean and tainted attempts are distilled apart: a skill is tainted if any of its
/// sources is, and one untrusted text would put the whole bank in quarantine.
#[derive(Clone, Debug)]
struct Material {
    category: Option<Category>,
    taint: Taint,
    taught: Vec<Teaching>,
}

/// General skills from everything that was taught, and skills of each category from what its tasks taught (3.2). If the host's
/// model does not play `distil-bank`, each pattern is a skill, and so are the lessons of each attempt.
pub(crate) async fn distil_bank(
    ask: &mut Ask,
    context: &MaintenanceContext<'_, BankPolicy>,
    taught: &[Teaching],
) -> Distilled {
    let materials = materials(taught);
    let each = ask.each(materials, async |mut ask, material| {
        distil_scope(&mut ask, context, &material).await
    });
    let scopes: Option<Vec<Distilled>> = each.await.into_iter().collect();
    let Some(scopes) = scopes else {
        return Distilled {
            skills: taught.iter().map(by_itself).collect(),
            missed: BTreeSet::new(),
        };
    };
    let mut all = Distilled::default();
    for scope in scopes {
        all.skills.extend(scope.skills);
        all.missed.extend(scope.missed);
    }
    all
}

/// The general material first, then that of each category by name; of each the clean part before the tainted one.
fn materials(taught: &[Teaching]) -> Vec<Material> {
    let mut categories: Vec<Option<Category>> = vec![None];
    let named: BTreeSet<&Category> = taught
        .iter()
        .filter_map(|one| one.category.as_ref())
        .collect();
    categories.extend(named.into_iter().cloned().map(Some));
    let mut materials = Vec::new();
    for category in categories {
        for taint in [Taint::Clean, Taint::Tainted] {
            let belongs = |one: &&Teaching| {
                one.taint == taint && (category.is_none() || one.category == category)
            };
            let taught: Vec<Teaching> = taught.iter().filter(belongs).cloned().collect();
            if !taught.is_empty() {
                let category = category.clone();
                materials.push(Material {
                    category,
                    taint,
                    taught,
                });
            }
        }
    }
    materials
}

/// The skills of one scope. The findings are shown in parts of [`BankPolicy::shown`], each with the skills that the bank has
/// for the scope and those that the parts before gave. Of a part whose answer cannot be read, each pattern is a skill, and so are
/// the lessons of each attempt. `None` if the host's model does not play the role.
async fn distil_scope(
    ask: &mut Ask,
    context: &MaintenanceContext<'_, BankPolicy>,
    material: &Material,
) -> Option<Distilled> {
    let known = bank_of(context, material.category.as_ref());
    let mut distilled = Distilled::default();
    for part in material.taught.chunks(context.policy.shown.get() as usize) {
        let (shown, drafted) = shown(&known, &distilled.skills);
        let task = RoleTask::DistilBank {
            category: material.category.clone(),
            findings: part.iter().map(|one| one.finding.clone()).collect(),
            skills: shown,
        };
        let reply = ask.roles(vec![task]).await.pop()?.reply;
        match drafts(&reply)? {
            Ok(drafts) => {
                for draft in drafts {
                    take(
                        &mut distilled.skills,
                        &known,
                        &drafted,
                        draft,
                        material,
                        part,
                    );
                }
            }
            Err(error) => {
                ask.tell(crate::run::report::EventKind::RoleFailed {
                    role: Role::DistilBank,
                    reason: error.to_string(),
                });
                if is_temporary(&error) {
                    let attempts = part.iter().map(|one| one.attempt.clone());
                    distilled.missed.extend(attempts);
                } else {
                    // What was taught is not lost. In the general scope the others come to their own category's turn.
                    let own = part.iter().filter(|one| one.category == material.category);
                    distilled.skills.extend(own.map(by_itself));
                }
            }
        }
    }
    Some(distilled)
}

/// The offered skills of the library that belong to a scope.
fn bank_of(
    context: &MaintenanceContext<'_, BankPolicy>,
    category: Option<&Category>,
) -> Vec<Skill> {
    let belongs = |skill: &&Skill| match (&skill.scope, category) {
        (Scope::General, None) => true,
        (Scope::Category(of_skill), Some(category)) => of_skill == category,
        _ => false,
    };
    let entries = context.library.entries().map(|entry| &entry.skill);
    let offered = entries.filter(|skill| skill.state.is_offered());
    offered.filter(belongs).cloned().collect()
}

/// The skills that a request shows: the bank's, then those that were drafted for it so far, with the places of the latter.
fn shown(known: &[Skill], drafted: &[DraftedSkill]) -> (Vec<Skill>, Vec<usize>) {
    let mut skills = known.to_vec();
    let mut places = Vec::new();
    for (place, one) in drafted
        .iter()
        .enumerate()
        .filter(|(_, one)| one.refines.is_none())
    {
        let admittance = Admittance {
            id: SkillId::new(format!("draft-{place}")),
            version: Version(1),
            provenance: Provenance {
                origin: Origin::Distilled,
                runs: Vec::new(),
                tasks: one.tasks.clone(),
            },
            taint: one.taint,
            parents: Vec::new(),
        };
        if let Ok(skill) = to_skill(&one.draft, admittance) {
            skills.push(skill);
            places.push(place);
        }
    }
    (skills, places)
}

/// The drafts of an answer; `None` if the role is not played.
fn drafts(reply: &Result<Option<Played>>) -> Option<Result<Vec<BankDraft>>> {
    match reply {
        Ok(None) => None,
        Err(error) if error.kind() == ErrorKind::Unsupported => None,
        Err(error) => Some(Err(error.clone())),
        Ok(Some(played)) => match &played.answer {
            RoleAnswer::Bank(drafts) => Some(Ok(drafts.clone())),
            _ => Some(Ok(Vec::new())),
        },
    }
}

/// Adds a draft: a new skill, a refined one of the bank, or another wording of one that was drafted before.
fn take(
    skills: &mut Vec<DraftedSkill>,
    known: &[Skill],
    drafted: &[usize],
    BankDraft { refines, mut draft }: BankDraft,
    material: &Material,
    part: &[Teaching],
) {
    // The request says where the skills apply, not the model.
    draft.scope = scope_of(material.category.as_ref());
    let tasks: BTreeSet<TaskId> = part.iter().map(|one| one.task.clone()).collect();
    let before = refines.and_then(|index| drafted.get(index.checked_sub(known.len())?));
    if let Some(before) = before.and_then(|place| skills.get_mut(*place)) {
        before.draft = draft;
        let all: BTreeSet<TaskId> = before.tasks.drain(..).chain(tasks).collect();
        before.tasks = all.into_iter().collect();
        return;
    }
    let of_bank = refines.and_then(|index| known.get(index));
    skills.push(DraftedSkill {
        refines: of_bank.map(Skill::reference),
        draft,
        role: Role::DistilBank,
        tasks: tasks.into_iter().collect(),
        taint: material.taint,
    });
}

fn scope_of(category: Option<&Category>) -> Scope {
    category.map_or(Scope::General, |category| Scope::Category(category.clone()))
}

/// What an attempt taught, as a skill of its task's category, or a general one where the task has none.
fn by_itself(one: &Teaching) -> DraftedSkill {
    DraftedSkill {
        refines: None,
        draft: SkillDraft {
            scope: scope_of(one.category.as_ref()),
            ..one.draft.clone()
        },
        role: one.role,
        tasks: vec![one.task.clone()],
        taint: one.taint,
    }
}
