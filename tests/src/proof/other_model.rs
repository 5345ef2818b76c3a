//! A library that is proven on one model, under another one: what is proven there anew, and that nothing is in use there before.

use std::{collections::BTreeMap, iter::repeat_n, num::NonZeroU64, path::PathBuf, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    ErrorKind, Result, Seed,
    agent::{ChatFormat, MemoryStore},
    contract::{LanguageModel, SkillStore},
    domain::{Committed, Skill, SkillRef, State, Task},
    recipe::{Recipe, ScheduledProgram},
    run::{CertifiedSkill, Journeyman, report::RunReport},
    stations::{
        proof::{ComparePolicy, Comparison, Conclusion, ProvenRelease},
        select::Nothing,
    },
};
use journeyman_llama_cpp::PublicModel;
use journeyman_toolworld::{
    stream::{Member, StreamTask, Universe, UniverseSpec},
    world::WorldSpec,
};
use quickstart::{Parts, spoken};
use serde::{Deserialize, Serialize};

use super::{
    attempts::Acting,
    percent,
    services::{admitted, id, outcomes, taking_the_best, wrong},
};
use crate::{
    figures::{Bound, Figures, Outcome, recalling, stats},
    real_models::told,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Services, all with a hidden contract.
const SERVICES: usize = 4;
/// Tools of a task: the service's, those that its contract calls for, and another one where it calls for none. Each takes some eighty
/// tokens of a prompt, and prompts take most of the time.
const TOOLS: usize = 2;
/// Tasks of each service that the library is proven at, and that say the truth.
const TRIED: usize = 10;
const TRUTH: usize = 6;
/// No contract takes more than three calls: what is done at once is done in so many.
const STEPS: usize = 3;
/// More tasks than there are: no maintenance is due while the library learns.
const NEVER: NonZeroU64 = const { NonZeroU64::new(1_000).expect("not 0") };

/// Tokens of an answer of the other model, and further answers after one that cannot be read. A call has some forty tokens; a model of
/// this size often writes on to the greatest length, in each of its answers.
const ANSWER: usize = 64;
const ASKS: usize = 1;

/// What a proof may cost: as many pairs a skill as there are tasks.
fn budget() -> ComparePolicy {
    let mut budget = ComparePolicy::default();
    budget.error = 0.05;
    budget.margin = 0.0;
    budget.least = 8;
    budget.most = TRIED as u64;
    budget
}

/// The first half of these pairs. With such an error they conclude nothing. They are kept, so that a run that was killed goes on after
/// them, and the other half is made where it can prove something.
fn half() -> ComparePolicy {
    let mut half = budget();
    half.error = 1e-6;
    half.least = 1;
    half.most /= 2;
    half
}

/// What a task came to without a skill and with it.
type Pair = (f64, f64);

/// What came of the library under a model.
#[derive(Debug, Serialize, Deserialize)]
struct Certified {
    skills: Vec<CertifiedSkill>,
    /// Those that are proven to help the model.
    proven: Vec<SkillRef>,
    /// The model's pairs, in the order of the skills.
    pairs: Vec<Vec<Pair>>,
    library: Vec<Committed>,
}

impl Certified {
    fn is_proven(&self, service: usize) -> bool {
        self.proven.iter().any(|one| one.id == id(service))
    }

    /// The number of skills that the pairs say this of.
    fn said(&self, is: fn(&Conclusion) -> bool) -> f64 {
        let skills = self.skills.iter();
        skills.filter(|one| is(&one.conclusion)).count() as f64
    }

    /// Whether the second half of the pairs could prove of a skill that it helps or harms. A skill with less than the first half has no
    /// more tasks.
    fn is_open(&self) -> Result<bool> {
        let mut is_open = false;
        let go_on = |pairs: &&Vec<Pair>| pairs.len() as u64 >= half().most;
        for pairs in self.pairs.iter().filter(go_on) {
            is_open |= decides(pairs, (0.0, 1.0))? || decides(pairs, (1.0, 0.0))?;
        }
        Ok(is_open)
    }
}

/// Whether these pairs prove something, if each of those that are missing is like this.
fn decides(pairs: &[Pair], missing: Pair) -> Result<bool> {
    let mut comparison = Comparison::new(budget())?;
    let missing = repeat_n(missing, TRIED.saturating_sub(pairs.len()));
    for (without, with) in pairs.iter().copied().chain(missing) {
        comparison.add(without, with);
    }
    let is_open = matches!(comparison.conclusion(), Conclusion::NotYet { .. });
    Ok(!is_open)
}

/// The held-out tasks with the library as it is: their number, and those with a skill in the prompt that is not proven there, and those
/// that are done at once, %.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Evaluated {
    tasks: usize,
    unproven: f64,
    done: f64,
}

/// All that is measured.
struct Measured {
    /// With the first model, and the truth of all skills.
    first: Certified,
    of_first: BTreeMap<usize, Truth>,
    /// With the other one, and the truth of the skills that are released there.
    other: Certified,
    of_other: BTreeMap<usize, Truth>,
    early: Evaluated,
    late: Evaluated,
}

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let Some(path) = smollm2(figures)? else {
        return Ok(());
    };
    let parts = recalling(&figures.parts(STEPS)?)?;
    let format = parts.prompt_format();
    let first = Acting::new(parts, format);
    let parts = recalling(&Parts::deterministic(&path, STEPS)?)?;
    let mut format = ChatFormat::of(parts.model.capabilities());
    format.max_tokens = ANSWER;
    format.asks = ASKS;
    let other = Acting::new(parts, Arc::new(format));
    figures.subject("the other model", other.model().as_str());
    let seed = figures.options().seed.derive("other model", 0);
    let measured = measured(figures, (&first, &other), seed)?;
    for (name, value, bound) in rows(&measured) {
        figures.record(&format!("other model: {name}"), value, bound);
    }
    Ok(())
}

/// The file of the other model; `None` where it cannot be had, which is recorded.
fn smollm2(figures: &mut Figures<'_>) -> std::result::Result<Option<PathBuf>, Failure> {
    let smollm2 = PublicModel::named("smollm2").ok_or("smollm2 is not known")?;
    match smollm2.fetch(&mut |line| told(line)) {
        Ok(path) => Ok(Some(path)),
        // A file with another hash is no reason to go without.
        Err(error) if error.kind() == ErrorKind::Unavailable => {
            figures.skip("other model: all", &error.to_string());
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Each piece is kept when it ends, so that little is lost of a run that is killed.
fn measured(
    figures: &mut Figures<'_>,
    (first, other): (&Acting, &Acting),
    seed: Seed,
) -> std::result::Result<Measured, Failure> {
    let tasks = Tasks::of(seed)?;
    let key = |what: &str| format!("{what}, {}", first.model());
    let proven: Certified = figures.once(&key("a library, proven"), || {
        Ok(block_on(proven(first, seed, &tasks))?)
    })?;
    let all = (0..SERVICES).collect();
    let of_first = truths(figures, (first, seed), &tasks, all, &key)?;
    let key = |what: &str| key(&format!("that library under {}, {what}", other.model()));
    let early: Evaluated = figures.once(&key("evaluation before a proof"), || {
        let of = (proven.library.as_slice(), &[] as &[SkillRef]);
        Ok(block_on(evaluated(other, seed, &tasks, of))?)
    })?;
    let half: Certified = figures.once(&key("half of the pairs"), || {
        Ok(block_on(certified(other, seed, &proven.library, half()))?)
    })?;
    let certified: Certified = match half.is_open()? {
        true => figures.once(&key("all pairs"), || {
            Ok(block_on(certified(other, seed, &half.library, budget()))?)
        })?,
        false => {
            figures.progress(format_args!(
                "the other half of the pairs could prove nothing"
            ));
            half
        }
    };
    let late: Evaluated = figures.once(&key("evaluation after the proof"), || {
        let of = (certified.library.as_slice(), certified.proven.as_slice());
        Ok(block_on(evaluated(other, seed, &tasks, of))?)
    })?;
    let released = (0..SERVICES).filter(|service| certified.is_proven(*service));
    let released = released.collect();
    let of_other = truths(figures, (other, seed), &tasks, released, &key)?;
    Ok(Measured {
        first: proven,
        of_first,
        other: certified,
        of_other,
        early,
        late,
    })
}

/// The truth of these services' skills for a model.
fn truths(
    figures: &mut Figures<'_>,
    (acting, seed): (&Acting, Seed),
    tasks: &Tasks,
    services: Vec<usize>,
    key: &dyn Fn(&str) -> String,
) -> std::result::Result<BTreeMap<usize, Truth>, Failure> {
    let mut truths = BTreeMap::new();
    for service in services {
        let key = key(&format!("truth of skill {service}"));
        let truth = figures.once(&key, || {
            Ok(block_on(of_skill(acting, seed, tasks, service))?)
        })?;
        truths.insert(service, truth);
    }
    Ok(truths)
}

type Row = (&'static str, f64, Bound);

fn rows(measured: &Measured) -> Vec<Row> {
    let Measured { other, .. } = measured;
    let pairs: Vec<Pair> = other.pairs.concat();
    let mean = |of: fn(&Pair) -> f64| {
        let done: Vec<f64> = pairs.iter().map(of).collect();
        100.0 * stats::mean(&done)
    };
    let of_no_help = measured.of_other.values().filter(|truth| !truth.helps());
    let mut rows = of_the_first(&measured.first, &measured.of_first).to_vec();
    rows.extend(evaluations(&measured.early, &measured.late));
    rows.extend(verdicts(other));
    rows.extend([
        ("pairs", pairs.len() as f64, Bound::None),
        (
            "tasks of the pairs done at once without the skill, %",
            mean(|pair| pair.0),
            Bound::None,
        ),
        (
            "tasks of the pairs done at once with it, %",
            mean(|pair| pair.1),
            Bound::None,
        ),
        ("released", other.proven.len() as f64, Bound::None),
        (
            "released that do not help it",
            of_no_help.count() as f64,
            Bound::AtMost(0.0),
        ),
        (
            "held-out tasks done at once before a proof there, %",
            measured.early.done,
            Bound::None,
        ),
        (
            "held-out tasks done at once after it, %",
            measured.late.done,
            Bound::None,
        ),
    ]);
    rows
}

/// The rows of the first model.
fn of_the_first(certified: &Certified, truth: &BTreeMap<usize, Truth>) -> [Row; 4] {
    let helpful = truth.iter().filter(|(_, truth)| truth.helps());
    let is_proven = |(service, _): &(&usize, &Truth)| certified.is_proven(**service);
    let of_no_help = truth.iter().filter(|(_, truth)| !truth.helps());
    [
        (
            "skills proven on the first one",
            certified.proven.len() as f64,
            Bound::AtLeast(1.0),
        ),
        (
            "skills that help the first one, by the truth",
            helpful.clone().count() as f64,
            Bound::None,
        ),
        (
            "of these proven on it",
            helpful.filter(is_proven).count() as f64,
            Bound::None,
        ),
        (
            "proven on it that do not help it",
            of_no_help.filter(is_proven).count() as f64,
            Bound::AtMost(0.0),
        ),
    ]
}

/// The rows of what is said of the skills under a model.
fn verdicts(certified: &Certified) -> [Row; 3] {
    [
        (
            "skills said to help",
            certified.said(|one| *one == Conclusion::Better),
            Bound::None,
        ),
        (
            "skills said to harm",
            certified.said(|one| *one == Conclusion::Worse),
            Bound::None,
        ),
        (
            "skills not yet",
            certified.said(|one| matches!(one, Conclusion::NotYet { .. })),
            Bound::None,
        ),
    ]
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

/// What a skill does for a model: held-out tasks of its service that are done at once, %.
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
        let spec = UniverseSpec {
            world: WorldSpec {
                fewest_tools: TOOLS,
                most_tools: TOOLS,
                ..WorldSpec::default()
            },
            ..UniverseSpec::of(SERVICES, 0)
        };
        let universe = Universe::make(spec, seed.0)?;
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

/// Skills are released by proof, which is asked for when all tasks are done.
fn by_proof() -> Recipe {
    let mut recipe = taking_the_best();
    recipe.tiers.traces = SERVICES * TRIED;
    let release = ProvenRelease::default();
    recipe.maintenance.programs = vec![ScheduledProgram::new(NEVER, release)];
    recipe
}

/// The library, with what is proven of it on the first model.
async fn proven(first: &Acting, seed: Seed, tasks: &Tasks) -> Result<Certified> {
    let store = Arc::new(MemoryStore::new());
    let named = ("proof", seed);
    let session = first.session(Arc::clone(&store), by_proof(), named).await?;
    let on_trial = (tasks.skills.iter().cloned()).map(|skill| skill.with_state(State::Trial));
    session.add(on_trial.collect(), "the figures").await?;
    session.learn(tasks.stream.clone()).await?;
    compared(&session, &store, budget()).await
}

/// The library after its skills were compared under the other model, with so many pairs at most.
async fn certified(
    other: &Acting,
    seed: Seed,
    library: &[Committed],
    budget: ComparePolicy,
) -> Result<Certified> {
    let store = Arc::new(MemoryStore::from_committed(library.to_vec())?);
    // Each budget has a session of its own name, whose runs are others.
    let name = format!("certified-{}", budget.most);
    let named = (name.as_str(), seed);
    let session = other.session(Arc::clone(&store), by_proof(), named).await?;
    compared(&session, &store, budget).await
}

async fn compared(
    session: &Journeyman,
    store: &MemoryStore,
    budget: ComparePolicy,
) -> Result<Certified> {
    let certificate = session.certify(budget).await?;
    let library = session.library().await?;
    let model = certificate.model.as_ref();
    let is_proven = |skill: &SkillRef| {
        let entry = library.get(&skill.id).zip(model);
        entry.and_then(|(entry, model)| entry.life.proven(skill.version, model)) == Some(true)
    };
    let pairs = |skill: &SkillRef| -> Vec<Pair> {
        let entry = library.get(&skill.id).into_iter();
        let pairs = entry.flat_map(|entry| entry.life.pairs(skill.version));
        let own = pairs.filter(|pair| pair.model.as_ref() == model);
        own.map(|pair| (pair.before, pair.with)).collect()
    };
    let skills = certificate.skills.iter().map(|one| &one.skill);
    Ok(Certified {
        proven: skills
            .clone()
            .filter(|one| is_proven(one))
            .cloned()
            .collect(),
        pairs: skills.map(pairs).collect(),
        skills: certificate.skills.clone(),
        library: store.load().await?.committed,
    })
}

/// The held-out tasks under the other model with a library, of which these skills are proven there.
async fn evaluated(
    other: &Acting,
    seed: Seed,
    tasks: &Tasks,
    (library, proven): (&[Committed], &[SkillRef]),
) -> Result<Evaluated> {
    let store = Arc::new(MemoryStore::from_committed(library.to_vec())?);
    let session = other
        .session(store, by_proof(), ("evaluated", seed))
        .await?;
    let report = session.evaluate(tasks.held_out.concat()).await?;
    // It refuses a report with a task that was not attempted.
    let done = outcomes(&report)?;
    Ok(Evaluated {
        tasks: report.tasks.len(),
        unproven: with(&report, &|skill| !proven.contains(skill)),
        done: 100.0 * stats::mean(&done),
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

/// What a skill does for a model at the held-out tasks of its service.
async fn of_skill(acting: &Acting, seed: Seed, tasks: &Tasks, service: usize) -> Result<Truth> {
    let own = &tasks.held_out[service];
    let mut unaided = taking_the_best();
    unaided.select.selector = Nothing.into();
    let named = ("truth", seed);
    let store = Arc::new(MemoryStore::new());
    let without = acting.session(store, unaided, named).await?;
    let without = outcomes(&without.evaluate(own.clone()).await?)?;
    let store = Arc::new(MemoryStore::new());
    let with = acting.session(store, taking_the_best(), named).await?;
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
    use journeyman_toolworld::environment::Setup;

    use super::*;

    fn certified(tasks: &Tasks, proven: &[usize], pairs: Vec<Vec<Pair>>) -> Certified {
        Certified {
            skills: Vec::new(),
            proven: (proven.iter())
                .map(|service| tasks.skills[*service].reference())
                .collect(),
            pairs,
            library: Vec::new(),
        }
    }

    #[test]
    fn a_release_that_does_not_help_the_model_is_counted() {
        let truth = |without, with| Truth { without, with };
        let tasks = Tasks::of(Seed(101)).unwrap();
        let evaluated = Evaluated {
            tasks: SERVICES * TRUTH,
            unproven: 0.0,
            done: 0.0,
        };
        let measured = Measured {
            first: certified(&tasks, &[0, 1, 3], Vec::new()),
            of_first: [
                (0, truth(0.0, 50.0)),
                (1, truth(0.0, 50.0)),
                (2, truth(0.0, 20.0)),
                (3, truth(10.0, 10.0)),
            ]
            .into(),
            other: certified(&tasks, &[0, 1], vec![vec![(0.0, 1.0), (1.0, 1.0)]]),
            of_other: [(0, truth(0.0, 50.0)), (1, truth(10.0, 10.0))].into(),
            early: evaluated,
            late: evaluated,
        };
        let rows = rows(&measured);
        let value = |name: &str| {
            let row = rows.iter().find(|(known, ..)| *known == name);
            row.map(|(_, value, _)| *value)
        };
        for (name, expected) in [
            ("skills proven on the first one", 3.0),
            ("skills that help the first one, by the truth", 3.0),
            ("of these proven on it", 2.0),
            ("proven on it that do not help it", 1.0),
            ("pairs", 2.0),
            ("tasks of the pairs done at once without the skill, %", 50.0),
            ("tasks of the pairs done at once with it, %", 100.0),
            ("released", 2.0),
            ("released that do not help it", 1.0),
        ] {
            assert_eq!(value(name), Some(expected), "{name}");
        }
    }

    #[test]
    fn the_other_half_of_the_pairs_is_made_where_it_can_prove_something() {
        let tasks = Tasks::of(Seed(101)).unwrap();
        let is_open = |pairs: Vec<Vec<Pair>>| certified(&tasks, &[], pairs).is_open().unwrap();
        let half = TRIED / 2;
        let (same, gain, loss) = ([(0.0, 0.0)], [(0.0, 1.0)], [(1.0, 0.0)]);
        // Five of ten in which nothing differs leave room for five wins, which prove nothing.
        assert!(!is_open(vec![same.repeat(half); SERVICES]));
        assert!(is_open(vec![same.repeat(half), gain.repeat(half)]));
        assert!(is_open(vec![same.repeat(half), loss.repeat(half)]));
        // Seven wins are needed, and no loss.
        let of = |wins, losses, ties| -> Vec<Pair> {
            [gain.repeat(wins), loss.repeat(losses), same.repeat(ties)].concat()
        };
        assert!(decides(&of(7, 0, 3), (0.0, 0.0)).unwrap());
        assert!(!decides(&of(6, 0, 4), (0.0, 0.0)).unwrap());
        assert!(!decides(&of(9, 1, 0), (0.0, 0.0)).unwrap());
        // A skill that four attempts had in all.
        assert!(!is_open(vec![gain.repeat(half - 1)]));
    }

    #[test]
    fn each_service_has_its_tasks_with_few_tools_and_a_skill_of_which_the_last_is_wrong() {
        let tasks = Tasks::of(Seed(101)).unwrap();
        assert_eq!(tasks.skills.len(), SERVICES);
        assert_eq!(tasks.stream.len(), SERVICES * TRIED);
        let counts: Vec<usize> = tasks.held_out.iter().map(Vec::len).collect();
        assert_eq!(counts, [TRUTH; SERVICES]);
        for task in tasks.stream.iter().chain(tasks.held_out.iter().flatten()) {
            let tools = Setup::of(task).unwrap().world.services.len();
            // A contract calls for two others at most.
            assert!((TOOLS..=3).contains(&tools), "{tools} tools");
        }
    }
}
