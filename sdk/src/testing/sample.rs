//! Sample values for tests.

use std::collections::BTreeMap;

use crate::{
    contract::{Experience, Finding, RoleTask, SegmentPrompt, SubgoalInAttempt, Taught},
    domain::{
        Action, Cause, Commit, Committed, EndReason, InjectedSkill, Injection, Kind, LibraryChange,
        Observation, Origin, Outcome, Prototype, Provenance, Role, Rubric, Scope, Skill, SkillName,
        SkillUse, Source, State, Step, StepResult, Subgoal, Taint, Task, Trace, Trajectory, Trust,
        Usage, Verdict,
    },
    id::{
        AttemptId, Category, CommitKey, PrototypeId, Revision, RunId, Seed, SkillId, TaskId,
        Version,
    },
    run::report::{AttemptReport, MaintenanceUsage, RunReport, TaskReport, WriteReport},
};

/// A task of [`ScriptedEnvironment::words`](super::ScriptedEnvironment::words): the agent must say these words.
pub fn task(id: &str, words: &[&str]) -> Task {
    Task {
        payload: words.to_vec().into(),
        ..Task::new(id, format!("say {}", words.join(" and then ")))
    }
}

/// A trusted observation without tools.
pub fn observation(text: &str) -> Observation {
    Observation::new(text, source(Trust::Trusted))
}

/// A source of this trust.
pub fn source(trust: Trust) -> Source {
    Source {
        name: "scripted".to_owned(),
        trust,
    }
}

/// An active skill in version 1, whose id is its name.
pub fn skill(name: &str) -> Skill {
    Skill {
        id: SkillId::new(name),
        version: Version(1),
        name: SkillName::slug(name).unwrap_or_default(),
        original_name: None,
        description: format!("How to do {name}."),
        kind: Kind::Workflow,
        scope: Scope::General,
        state: State::Active,
        trigger: None,
        body: format!("To do {name}, say {name}."),
        allowed_tools: Vec::new(),
        license: None,
        compatibility: None,
        metadata: BTreeMap::new(),
        files: BTreeMap::new(),
        parents: Vec::new(),
        provenance: Provenance {
            origin: Origin::Human,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        taint: Taint::Clean,
    }
}

/// An injection of these skills, each with its body as its text.
pub fn injection(skills: &[Skill]) -> Injection {
    Injection {
        skills: (skills.iter())
            .map(|skill| InjectedSkill::new(skill, skill.body.clone()))
            .collect(),
    }
}

/// A commit on a base.
pub fn commit(base: u64, key: &str, changes: Vec<LibraryChange>) -> Commit {
    Commit {
        base: Revision(base),
        key: CommitKey::new(key),
        cause: Cause {
            run: None,
            task: None,
            reason: "a sample".to_owned(),
            at: None,
        },
        changes,
    }
}

/// A commit as a store returns it.
pub fn committed(revision: u64, changes: Vec<LibraryChange>) -> Committed {
    let commit = commit(
        revision.saturating_sub(1),
        &format!("key-{revision}"),
        changes,
    );
    Committed {
        revision: Revision(revision),
        key: commit.key,
        cause: commit.cause,
        changes: commit.changes,
    }
}

/// An attempt that said these words and ended with success or failure.
pub fn trajectory(attempt: &str, task: &Task, words: &[&str], success: bool) -> Trajectory {
    let steps = (0_u32..)
        .zip(words)
        .map(|(index, word)| Step {
            index,
            turn: 0,
            actor: "agent".to_owned(),
            observation: observation(&task.instruction),
            action: Action::Message((*word).to_owned()),
            result: StepResult::new("go on", source(Trust::Trusted)),
            transcript: (*word).to_owned(),
            generations: Vec::new(),
            notes: Vec::new(),
        })
        .collect();
    Trajectory {
        schema: Trajectory::SCHEMA,
        attempt: AttemptId::new(attempt),
        task: task.id.clone(),
        seed: Seed(0),
        model: None,
        steps,
        exposures: Vec::new(),
        injection: Injection::NONE,
        left_out: Vec::new(),
        undecided: None,
        unread: None,
        compaction: crate::domain::Compaction::NONE,
        outcome: Some(outcome(success)),
        end: EndReason::Finished,
        usage: Usage::default(),
    }
}

/// An attempt that said these words, with its verdict.
pub fn trace(attempt: &str, task: &Task, words: &[&str], success: bool) -> Trace {
    Trace {
        task: task.clone(),
        trajectory: trajectory(attempt, task, words, success),
        verdict: Some(Verdict::binary(success)),
        world_seed: Seed(0),
    }
}

/// A task of a role: attempts `a-1` (a success) and `a-2` (a failure) with the skill `saying` in their prompts, and no
/// rules.
pub fn role_task(role: Role) -> RoleTask {
    let skill = skill("saying");
    let attempt = |id: &str, words: &[&str], success| {
        let mut trace = trace(id, &task(id, &["good", "day"]), words, success);
        trace.trajectory.injection = injection(std::slice::from_ref(&skill));
        trace
    };
    let (first, second) = (
        attempt("a-1", &["good", "day"], true),
        attempt("a-2", &["day"], false),
    );
    let rules = Vec::new();
    match role {
        Role::Summarize => RoleTask::Summarize {
            attempts: vec![first],
            shown_chars: None,
            keeps_reasoning: false,
        },
        Role::Extract => RoleTask::Extract {
            attempt: Box::new(first),
            candidate: 0,
            rules,
        },
        Role::Refactor => RoleTask::Refactor {
            attempts: vec![first, second],
            skills: vec![skill],
            reason: "the same words".to_owned(),
            group: "a-1 and a-2".to_owned(),
            rules,
        },
        Role::Refine => RoleTask::Refine {
            skill: Box::new(skill),
            attempts: vec![second],
            failures: vec!["case one: the task was not done".to_owned()],
            rules,
            whole: false,
        },
        Role::Attribute => RoleTask::Attribute {
            attempt: Box::new(second),
            skill: 0,
        },
        Role::Bundle => RoleTask::Bundle {
            skill: Box::new(skill),
            attempt: Box::new(first),
        },
        Role::Evolve => RoleTask::Evolve {
            role: Role::Extract,
            rules,
            rows: vec![Experience {
                skill,
                helpful: 1,
                harmful: 2,
                other: 0,
                bundle: Some((1, 2).into()),
                before: Some((0, 1).into()),
                fate: "disabled".to_owned(),
            }],
        },
        other => assessing_task(other, skill, first, second),
    }
}

/// A task of one of the roles of SCRIBE, SkillOS and SkillRL.
fn assessing_task(role: Role, skill: Skill, first: Trace, second: Trace) -> RoleTask {
    let of_first = Box::new(SubgoalInAttempt {
        subgoal: subgoal("greet", 0, 1),
        attempt: first.clone(),
    });
    match role {
        Role::DistilPrototype => RoleTask::DistilPrototype {
            members: vec![*of_first],
        },
        Role::Route => RoleTask::Route {
            subgoal: of_first,
            prototypes: vec![prototype("greeting"), prototype("leaving")],
        },
        Role::Score => RoleTask::Score {
            subgoal: of_first,
            rubric: Some(Box::new(prototype("greeting").rubric)),
            repeat: 0,
        },
        Role::Curate => RoleTask::Curate {
            attempt: Box::new(first),
            correct: Some(true),
            skills: vec![skill],
        },
        Role::Tag => RoleTask::Tag {
            task: Box::new(first.task),
        },
        Role::Lesson => RoleTask::Lesson {
            attempt: Box::new(second),
        },
        Role::DistilBank => RoleTask::DistilBank {
            category: Some(Category::new("greetings")),
            findings: vec![Finding {
                task: first.task.instruction,
                taught: Taught::Pattern("say both words".to_owned()),
            }],
            skills: vec![skill],
        },
        Role::Review => RoleTask::Review {
            skill: Box::new(skill),
        },
        _ => RoleTask::Segment {
            attempt: Box::new(first),
            prompt: SegmentPrompt::Main,
        },
    }
}

/// A subgoal with the skill `saying`.
pub fn subgoal(subgoal: &str, first: usize, last: usize) -> Subgoal {
    Subgoal {
        subgoal: subgoal.to_owned(),
        skill: "saying".to_owned(),
        first,
        last,
    }
}

/// A prototype of this title and id, with one line in its checklist, and itself as its exemplar.
pub fn prototype(title: &str) -> Prototype {
    Prototype {
        id: PrototypeId::new(title),
        rubric: Rubric {
            title: title.to_owned(),
            use_context: "when words are due".to_owned(),
            objectives: vec!["the words are said".to_owned()],
            pattern: "say each word in turn".to_owned(),
            checklist: vec!["every word was said".to_owned()],
            traps: Vec::new(),
        },
        dense: true,
        members: Vec::new(),
        distilled_from: 0,
        exemplars: vec![format!("{title}\nsaying")],
        taint: Taint::Clean,
    }
}

/// The trajectory of an attempt that ended for this reason, without an outcome.
pub fn ended(attempt: &str, task: &Task, end: EndReason) -> Trajectory {
    Trajectory {
        outcome: None,
        end,
        ..trajectory(attempt, task, &[], false)
    }
}

/// The report of an attempt of one step that was given these skills and followed them, with score and reward 1 or 0.
pub fn attempt_report(attempt: &str, skills: &[Skill], success: bool) -> AttemptReport {
    let score = f64::from(u8::from(success));
    AttemptReport {
        attempt: AttemptId::new(attempt),
        injected: skills.iter().map(Skill::reference).collect(),
        used: match skills {
            [] => SkillUse::NotFollowed,
            _ => SkillUse::Followed,
        },
        success: Some(success),
        score,
        parts: BTreeMap::new(),
        process: None,
        reward: Some(score),
        steps: 1,
        usage: Usage::default(),
        end: Some(EndReason::Finished),
        unread: None,
        undecided: None,
        asked_again: 0,
        repaired: 0,
        error: None,
        compaction: Default::default(),
    }
}

/// The report of a task without attempts.
pub fn task_report(task: &str) -> TaskReport {
    TaskReport {
        step: 0,
        task: TaskId::new(task),
        category: None,
        tags: Vec::new(),
        selections: Vec::new(),
        attempts: Vec::new(),
        advantages: None,
        written: Vec::new(),
        curation: None,
        gains: Vec::new(),
        role_usage: Usage::default(),
        failed_usage: Usage::default(),
        roles: Default::default(),
        revision: Revision(0),
        failed: None,
    }
}

/// The report of a draft that became no skill, with no reason yet.
pub fn write_report(title: &str) -> WriteReport {
    WriteReport {
        title: Some(title.to_owned()),
        fallback: false,
        admitted: None,
        revised: false,
        refused: None,
        duplicate: None,
    }
}

/// The report of a run without tasks.
pub fn run_report() -> RunReport {
    RunReport {
        run: RunId::new("run"),
        seed: Seed(0),
        tasks: Vec::new(),
        revision: Revision(0),
        pool: 0,
        maintenance: MaintenanceUsage::default(),
        roles: Default::default(),
        lifts: Vec::new(),
        findings: Vec::new(),
    }
}

/// An outcome with score 1 or 0.
pub fn outcome(success: bool) -> Outcome {
    Outcome {
        success,
        score: f64::from(u8::from(success)),
        parts: BTreeMap::new(),
    }
}
