//! A library that is proven on one model, under another one: what is proven there anew, and that nothing is in use there before.

use std::{num::NonZeroU64, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::MemoryStore,
    contract::{LanguageModel, SkillStore},
    domain::{Committed, Skill, SkillRef, State, Task},
    library::SkillLibrary,
    recipe::{Recipe, ScheduledProgram},
    run::{CertifiedSkill, report::RunReport},
    stations::proof::{ComparePolicy, Conclusion, ProvenRelease},
};
use journeyman_llama_cpp::PublicModel;
use journeyman_toolworld::stream::{Member, StreamTask, Universe, UniverseSpec};
use quickstart::{Parts, spoken};
use serde::{Deserialize, Serialize};

use super::{
    percent,
    services::{admitted, evaluated, id, session, taking_the_best, wrong},
};
use crate::{
    figures::{Bound, Figures, Outcome, stats},
    real_models::told,
};

/// Services, all with a hidden contract.
const SERVICES: usize = 4;
/// Tasks of each service that the library is proven at, and that say the truth.
const TRIED: usize = 16;
const TRUTH: usize = 10;
/// No contract takes more than three calls: what is done at once is done in so many.
const STEPS: usize = 4;
/// What the other model may cost: as many pairs a skill as there are tasks.
const BUDGET: ComparePolicy = ComparePolicy {
    error: 0.05,
    margin: 0.0,
    least: 8,
    most: TRIED as u64,
};

/// What came of the library under the other model.
#[derive(Debug, Serialize, Deserialize)]
struct Certified {
    skills: Vec<CertifiedSkill>,
    /// Those that are proven to help it.
    proven: Vec<SkillRef>,
    /// Of evaluated tasks those with a skill in the prompt before anything is proven there, and with one that is not proven there
    /// after it, %.
    early: f64,
    unproven: f64,
}

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let smollm2 = PublicModel::named("smollm2").ok_or("smollm2 is not known")?;
    let path = match smollm2.fetch(&mut |line| told(line)) {
        Ok(path) => path,
        Err(error) => {
            figures.skip("other model: all", &error.to_string());
            return Ok(());
        }
    };
    let parts = figures.parts(STEPS)?;
    let other = Parts::deterministic(&path, STEPS)?;
    let name = |parts: &Parts| parts.model.capabilities().model.to_string();
    let (of, under) = (name(&parts), name(&other));
    figures.subject("the other model", &under);
    let seed = figures.options().seed.derive("other model", 0);
    let tasks = Tasks::of(seed)?;
    let key = format!("library, proven on {of}");
    let library: Vec<Committed> =
        figures.once(&key, || Ok(block_on(proven(&parts, seed, &tasks))?))?;
    let key = format!("that of {of} under {under}");
    let certified: Certified = figures.once(&key, || {
        Ok(block_on(certified(&other, seed, &tasks, &library))?)
    })?;
    let mut truth = Vec::new();
    for service in 0..SERVICES {
        let key = format!("truth of skill {service} under {under}");
        let of_skill: Truth = figures.once(&key, || {
            Ok(block_on(of_skill(&other, seed, &tasks, service))?)
        })?;
        truth.push(of_skill);
    }
    let before = SkillLibrary::replay(&library)?;
    let in_use = before.entries().map(|entry| entry.skill.state);
    let in_use = in_use.filter(|state| *state == State::Active).count();
    figures.record(
        "other model: skills proven on the first one",
        in_use as f64,
        Bound::None,
    );
    for (name, value, bound) in rows(&certified, &truth) {
        figures.record(&format!("other model: {name}"), value, bound);
    }
    Ok(())
}

type Row = (&'static str, f64, Bound);

fn rows(certified: &Certified, truth: &[Truth]) -> Vec<Row> {
    let said = |is: fn(&Conclusion) -> bool| {
        let skills = certified.skills.iter();
        skills.filter(|one| is(&one.conclusion)).count() as f64
    };
    let pairs: u64 = certified.skills.iter().map(|one| one.pairs).sum();
    let is_proven = |service: usize| certified.proven.iter().any(|one| one.id == id(service));
    let count = |is: &dyn Fn(usize, &Truth) -> bool| {
        let skills = truth.iter().enumerate();
        skills.filter(|(at, truth)| is(*at, truth)).count() as f64
    };
    let mean = |of: fn(&Truth) -> f64| stats::mean(&truth.iter().map(of).collect::<Vec<f64>>());
    vec![
        (
            "evaluated with a skill before a proof there, %",
            certified.early,
            Bound::AtMost(0.0),
        ),
        (
            "evaluated with a skill that is not proven there, %",
            certified.unproven,
            Bound::AtMost(0.0),
        ),
        (
            "skills said to help",
            said(|one| *one == Conclusion::Better),
            Bound::None,
        ),
        (
            "skills said to harm",
            said(|one| *one == Conclusion::Worse),
            Bound::None,
        ),
        (
            "skills not yet",
            said(|one| matches!(one, Conclusion::NotYet { .. })),
            Bound::None,
        ),
        ("pairs", pairs as f64, Bound::None),
        (
            "skills that help it, by the truth",
            count(&|_, truth| truth.helps()),
            Bound::None,
        ),
        (
            "released that help it",
            count(&|at, truth| is_proven(at) && truth.helps()),
            Bound::None,
        ),
        (
            "released that do not help it",
            count(&|at, truth| is_proven(at) && !truth.helps()),
            Bound::AtMost(0.0),
        ),
        (
            "held-out tasks done at once without a skill, %",
            mean(|truth| truth.without),
            Bound::None,
        ),
        (
            "held-out tasks done at once with their service's, %",
            mean(|truth| truth.with),
            Bound::None,
        ),
    ]
}

/// What a skill does for the other model: held-out tasks of its service that are done at once, %.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Truth {
    without: f64,
    with: f64,
}

impl Truth {
    fn helps(&self) -> bool {
        self.with > self.without
    }
}

/// The library and the tasks of a seed.
struct Tasks {
    /// The last one is wrong about its own service.
    skills: Vec<Skill>,
    stream: Vec<Task>,
    /// By service.
    held_out: Vec<Vec<Task>>,
}

impl Tasks {
    fn of(seed: Seed) -> Result<Self> {
        let universe = Universe::make(UniverseSpec::of(SERVICES, 0), seed.0)?;
        let members = universe.members();
        let skill = |(service, member): (usize, &Member)| {
            let draft = match service + 1 == SERVICES {
                true => wrong(member, &members[0]),
                false => spoken::draft(member),
            };
            admitted(&draft, id(service))
        };
        let stream = universe.stream(SERVICES * TRIED);
        let held_out = universe.held_out(&stream, SERVICES * TRUTH);
        let about = |member: &Member| {
            let name = &member.service.tool.name;
            let own = held_out
                .iter()
                .filter(|task| task.world.goal.target == *name);
            spoken::tasks(&own.cloned().collect::<Vec<StreamTask>>(), seed)
        };
        Ok(Self {
            skills: members
                .iter()
                .enumerate()
                .map(skill)
                .collect::<Result<_>>()?,
            stream: spoken::tasks(&stream, seed)?,
            held_out: members.iter().map(about).collect::<Result<_>>()?,
        })
    }
}

/// Skills are released by proof, once, after all tasks.
fn by_proof() -> Recipe {
    let mut recipe = taking_the_best();
    recipe.tiers.traces = SERVICES * TRIED;
    let every = const { NonZeroU64::new((SERVICES * TRIED) as u64).expect("not 0") };
    let release = ProvenRelease::default();
    recipe.maintenance.programs = vec![ScheduledProgram::new(every, release)];
    recipe
}

/// The library, with what is proven of it on the first model.
async fn proven(parts: &Parts, seed: Seed, tasks: &Tasks) -> Result<Vec<Committed>> {
    let store = Arc::new(MemoryStore::new());
    let session = session(parts, Arc::clone(&store), by_proof(), ("proof", seed)).await?;
    let on_trial = tasks.skills.iter().cloned().map(|skill| Skill {
        state: State::Trial,
        ..skill
    });
    session.add(on_trial.collect(), "the figures").await?;
    session.learn(tasks.stream.clone()).await?;
    Ok(store.load().await?.committed)
}

/// The library under the other model: before anything is proven there, and after its skills were compared.
async fn certified(
    parts: &Parts,
    seed: Seed,
    tasks: &Tasks,
    library: &[Committed],
) -> Result<Certified> {
    let store = Arc::new(MemoryStore::from_committed(library.to_vec())?);
    let session = session(parts, store, by_proof(), ("proof-other", seed)).await?;
    let each = tasks.held_out.iter().filter_map(|own| own.first());
    let each: Vec<Task> = each.cloned().collect();
    let early = session.evaluate(each.clone()).await?;
    let certificate = session.certify(BUDGET).await?;
    let library = session.library().await?;
    let is_proven = |skill: &SkillRef| {
        let entry = library.get(&skill.id).zip(certificate.model.as_ref());
        entry.and_then(|(entry, model)| entry.life.proven(skill.version, model)) == Some(true)
    };
    let late = session.evaluate(each).await?;
    let skills = certificate.skills.iter().map(|one| one.skill.clone());
    Ok(Certified {
        proven: skills.filter(|skill| is_proven(skill)).collect(),
        early: with(&early, &|_| true),
        unproven: with(&late, &|skill| !is_proven(skill)),
        skills: certificate.skills,
    })
}

/// The share of attempts that had such a skill in the prompt, %.
fn with(report: &RunReport, is_it: &dyn Fn(&SkillRef) -> bool) -> f64 {
    let all = report.attempts().count();
    let with = report
        .attempts()
        .filter(|one| one.injected.iter().any(is_it));
    percent(with.count(), all)
}

/// What a skill does for the other model at the held-out tasks of its service.
async fn of_skill(parts: &Parts, seed: Seed, tasks: &Tasks, service: usize) -> Result<Truth> {
    let own = &tasks.held_out[service];
    let skill = vec![tasks.skills[service].clone()];
    let without = evaluated(parts, seed, Vec::new(), own).await?;
    let with = evaluated(parts, seed, skill, own).await?;
    Ok(Truth {
        without: 100.0 * stats::mean(&without),
        with: 100.0 * stats::mean(&with),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_does_not_help_the_other_model_is_counted() {
        let truth = |without, with| Truth { without, with };
        let one = Tasks::of(Seed(101)).unwrap();
        let certified = Certified {
            skills: Vec::new(),
            proven: [0, 1].map(|at: usize| one.skills[at].reference()).into(),
            early: 0.0,
            unproven: 0.0,
        };
        let truth = [truth(0.0, 50.0), truth(10.0, 10.0), truth(0.0, 20.0)];
        let rows = rows(&certified, &truth);
        let value = |name: &str| {
            let row = rows.iter().find(|(known, ..)| *known == name);
            row.map(|(_, value, _)| *value)
        };
        assert_eq!(value("skills that help it, by the truth"), Some(2.0));
        assert_eq!(value("released that help it"), Some(1.0));
        assert_eq!(value("released that do not help it"), Some(1.0));
    }

    #[test]
    fn each_service_has_its_tasks_and_a_skill_of_which_the_last_is_wrong() {
        let tasks = Tasks::of(Seed(101)).unwrap();
        assert_eq!(tasks.skills.len(), SERVICES);
        assert_eq!(tasks.stream.len(), SERVICES * TRIED);
        let counts: Vec<usize> = tasks.held_out.iter().map(Vec::len).collect();
        assert_eq!(counts, [TRUTH; SERVICES]);
    }
}
