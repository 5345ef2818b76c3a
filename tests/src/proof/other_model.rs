//! A library that is proven on one model, under another one: what is proven there anew, and that nothing is in use there before.

use std::{num::NonZeroU64, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    ErrorKind, Result, Seed,
    agent::{ChatFormat, MemoryStore, ModelExecutor, ModelExecutorOptions},
    contract::{LanguageModel, PromptFormat, SkillStore},
    domain::{Committed, Skill, SkillRef, State, Task},
    library::SkillLibrary,
    recipe::{Recipe, ScheduledProgram},
    run::{CertifiedSkill, Journeyman, report::RunReport},
    stations::{
        proof::{ComparePolicy, Conclusion, ProvenRelease},
        select::Nothing,
    },
};
use journeyman_llama_cpp::PublicModel;
use journeyman_toolworld::stream::{Member, StreamTask, Universe, UniverseSpec};
use quickstart::{Parts, spoken};
use serde::{Deserialize, Serialize};

use super::{
    percent,
    services::{admitted, components, id, outcomes, session, taking_the_best, wrong},
};
use crate::{
    figures::{Bound, Figures, Outcome, attempted, key, recalling, stats},
    real_models::told,
};

/// Services, all with a hidden contract.
const SERVICES: usize = 4;
/// Tasks of each service that the library is proven at, and that say the truth.
const TRIED: usize = 10;
const TRUTH: usize = 6;
/// No contract takes more than three calls: what is done at once is done in so many.
const STEPS: usize = 4;

/// Tokens of an answer of the other model, and further answers after one that cannot be read. A call has some forty tokens; a model of
/// this size often writes on to the greatest length, in each of its answers.
const ANSWER: usize = 64;
const ASKS: usize = 1;

/// What the other model may cost: as many pairs a skill as there are tasks.
fn budget() -> ComparePolicy {
    let mut budget = ComparePolicy::default();
    budget.error = 0.05;
    budget.margin = 0.0;
    budget.least = 8;
    budget.most = TRIED as u64;
    budget
}

/// The first half of these pairs. With such an error they conclude nothing; they are kept, so that a run that was killed goes on after
/// them.
fn half() -> ComparePolicy {
    let mut half = budget();
    half.error = 1e-6;
    half.least = 1;
    half.most /= 2;
    half
}

/// What came of the library under the other model.
#[derive(Debug, Serialize, Deserialize)]
struct Certified {
    skills: Vec<CertifiedSkill>,
    /// Those that are proven to help it.
    proven: Vec<SkillRef>,
    library: Vec<Committed>,
}

/// The held-out tasks with the library as it is: their number, and those with a skill in the prompt that is not proven there, %.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Evaluated {
    tasks: usize,
    unproven: f64,
}

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let smollm2 = PublicModel::named("smollm2").ok_or("smollm2 is not known")?;
    let path = match smollm2.fetch(&mut |line| told(line)) {
        Ok(path) => path,
        // A file with another hash is no reason to go without.
        Err(error) if error.kind() == ErrorKind::Unavailable => {
            figures.skip("other model: all", &error.to_string());
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let parts = figures.parts(STEPS)?;
    let other = recalling(&Parts::deterministic(&path, STEPS)?)?;
    let under = other.model.capabilities().model.to_string();
    figures.subject("the other model", &under);
    let seed = figures.options().seed.derive("other model", 0);
    let tasks = Tasks::of(seed)?;
    let first = key(&parts, "a library, proven");
    let library: Vec<Committed> =
        figures.once(&first, || Ok(block_on(proven(&parts, seed, &tasks))?))?;
    // Each of these takes some minutes, so that little is lost of a run that is killed.
    let key = |what: &str| key(&parts, &format!("that library under {under}, {what}"));
    let early: Evaluated = figures.once(&key("evaluation before a proof"), || {
        Ok(block_on(evaluated(
            &other,
            seed,
            &tasks,
            (library.as_slice(), &[]),
        ))?)
    })?;
    let half: Certified = figures.once(&key("half of the pairs"), || {
        Ok(block_on(certified(&other, seed, &library, half()))?)
    })?;
    let certified: Certified = figures.once(&key("all pairs"), || {
        Ok(block_on(certified(&other, seed, &half.library, budget()))?)
    })?;
    let late: Evaluated = figures.once(&key("evaluation after the proof"), || {
        let of = (certified.library.as_slice(), certified.proven.as_slice());
        Ok(block_on(evaluated(&other, seed, &tasks, of))?)
    })?;
    let mut truth = Vec::new();
    for service in 0..SERVICES {
        let key = key(&format!("truth of skill {service}"));
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
        Bound::AtLeast(1.0),
    );
    for (name, value, bound) in rows(&certified, &[early, late], &truth) {
        figures.record(&format!("other model: {name}"), value, bound);
    }
    Ok(())
}

type Row = (&'static str, f64, Bound);

fn rows(certified: &Certified, [early, late]: &[Evaluated; 2], truth: &[Truth]) -> Vec<Row> {
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
    let mut rows = evaluations(early, late).to_vec();
    rows.extend([
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
    ]);
    rows
}

/// The rows of the evaluations before and after a proof.
fn evaluations(early: &Evaluated, late: &Evaluated) -> [Row; 3] {
    [
        (
            "tasks evaluated before and after a proof there",
            early.tasks.min(late.tasks) as f64,
            Bound::AtLeast((SERVICES * TRUTH) as f64),
        ),
        (
            "evaluated with a skill before a proof there, %",
            early.unproven,
            Bound::AtMost(0.0),
        ),
        (
            "evaluated with a skill that is not proven there, %",
            late.unproven,
            Bound::AtMost(0.0),
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

/// A session of the other model on a library, with short answers.
async fn under(
    other: &Parts,
    store: Arc<MemoryStore>,
    recipe: Recipe,
    (name, seed): (&str, Seed),
) -> Result<Journeyman> {
    let mut format = ChatFormat::of(other.model.capabilities());
    format.max_tokens = ANSWER;
    format.asks = ASKS;
    let format: Arc<dyn PromptFormat> = Arc::new(format);
    let options = ModelExecutorOptions::default();
    let executor = ModelExecutor::new(other.asked(), Arc::clone(&format), options)?;
    let mut components = components(other, store)?;
    components.executor = Some(Arc::new(executor));
    components.prompt_format = Some(format);
    Journeyman::open(components, recipe, other.options(name, seed)).await
}

/// The held-out tasks under the other model with a library, of which these skills are proven there.
async fn evaluated(
    other: &Parts,
    seed: Seed,
    tasks: &Tasks,
    (library, proven): (&[Committed], &[SkillRef]),
) -> Result<Evaluated> {
    let store = Arc::new(MemoryStore::from_committed(library.to_vec())?);
    let session = under(other, store, by_proof(), ("evaluated", seed)).await?;
    let report = session.evaluate(tasks.held_out.concat()).await?;
    let report = attempted(&report)?;
    Ok(Evaluated {
        tasks: report.tasks.len(),
        unproven: with(report, &|skill| !proven.contains(skill)),
    })
}

/// The library after its skills were compared under the other model, with so many pairs at most.
async fn certified(
    other: &Parts,
    seed: Seed,
    library: &[Committed],
    budget: ComparePolicy,
) -> Result<Certified> {
    let store = Arc::new(MemoryStore::from_committed(library.to_vec())?);
    // Each budget has a session of its own name, whose runs are others.
    let name = format!("certified-{}", budget.most);
    let named = (name.as_str(), seed);
    let session = under(other, Arc::clone(&store), by_proof(), named).await?;
    let certificate = session.certify(budget).await?;
    let library = session.library().await?;
    let is_proven = |skill: &SkillRef| {
        let entry = library.get(&skill.id).zip(certificate.model.as_ref());
        entry.and_then(|(entry, model)| entry.life.proven(skill.version, model)) == Some(true)
    };
    let skills = certificate.skills.iter().map(|one| one.skill.clone());
    Ok(Certified {
        proven: skills.filter(|skill| is_proven(skill)).collect(),
        skills: certificate.skills,
        library: store.load().await?.committed,
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
async fn of_skill(other: &Parts, seed: Seed, tasks: &Tasks, service: usize) -> Result<Truth> {
    let own = &tasks.held_out[service];
    let mut unaided = taking_the_best();
    unaided.select.selector = Nothing.into();
    let store = Arc::new(MemoryStore::new());
    let without = under(other, store, unaided, ("truth", seed)).await?;
    let without = outcomes(&without.evaluate(own.clone()).await?)?;
    let store = Arc::new(MemoryStore::new());
    let with = under(other, store, taking_the_best(), ("truth", seed)).await?;
    let skill = vec![tasks.skills[service].clone()];
    with.add(skill, "the figures").await?;
    let with = outcomes(&with.evaluate(own.clone()).await?)?;
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
            library: Vec::new(),
        };
        let evaluated = Evaluated {
            tasks: SERVICES * TRUTH,
            unproven: 0.0,
        };
        let truth = [truth(0.0, 50.0), truth(10.0, 10.0), truth(0.0, 20.0)];
        let rows = rows(&certified, &[evaluated; 2], &truth);
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
