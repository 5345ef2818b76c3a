//! ARISE's sweeps over exploration, cache size and warm-up, and its ablation without generation (Tables 7 and 2 c, row A12).
//!
//! Each setting learns from the same streams with the same seeds and differs from the default in one value. All begin with
//! seed skills, as in the paper: the right skills of two of the eight hidden contracts, since the paper's own are about
//! mathematics. The policy's weights are fixed here, so what the paper explains by training has no bound.

use std::{
    num::{NonZeroU32, NonZeroU64},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::{
    Result,
    agent::MemoryStore,
    domain::Skill,
    papers::arise::GainsPolicy,
    recipe::Recipe,
    run::report::{AttemptReport, RunReport, TaskReport},
    stations::{propose::WriteWhen, select::GatePolicy},
};
use journeyman_toolworld::stream::StreamTask;
use quickstart::{Parts, spoken};
use serde::{Deserialize, Serialize};

use super::{
    arise::{Arm, Place, RESAMPLES, STREAM, WARM_UP, place, task_by_task, universe},
    key,
};
use crate::{
    figures::{Bound, Figures, Outcome, stats},
    main_job::library::true_skills,
};

const WORLDS: u64 = 3;
/// Attempts at a task. The paper: 8; half of them keep a seed short.
const GROUP: NonZeroU32 = NonZeroU32::new(4).unwrap();
/// Of the tools with a hidden contract, those whose skill is there from the start.
const SEEDS: usize = 2;

/// The paper's values (Table 7).
const EPSILONS: [f64; 5] = [0.0, 0.05, 0.1, 0.2, 0.3];
const CACHES: [usize; 4] = [5, 10, 20, 50];
/// Tasks of a stream of 40, the same shares as the paper's 200, 350, 500, 750 and 1,000 of 2,000 steps.
const WARM_UPS: [u64; 5] = [4, 7, 10, 15, 20];

/// Tasks that are one step: they select on one state of the library. The paper: 64 queries, and 2,000 steps.
const BATCHES: [NonZeroU64; 2] = [NonZeroU64::new(5).unwrap(), NonZeroU64::new(10).unwrap()];

/// How far an arm may be from another, in the worst case that its tools leave open, and still be alike: a tenth of the tasks.
const MARGIN: f64 = 0.1;

/// What is other than by default: epsilon 0.1, a cache of 10, a quarter of the stream as warm-up, steps of one task.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Setting {
    Default,
    Epsilon(f64),
    Cache(usize),
    WarmUp(u64),
    /// Tasks of a step. The warm-up is as many tasks as by default.
    Batch(NonZeroU64),
    /// The library stays at its seed skills.
    NoGeneration,
}

/// What came of a setting, in one world or in all of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Swept {
    /// The stream's tasks; of each the share of its attempts.
    stream: Arm,
    held_out: Arm,
    /// How many skills were scored for each task of the stream after the warm-up.
    scored: Vec<f64>,
    /// Skills in cache and reservoir at the end, by world.
    skills: Vec<f64>,
}

/// Over which tasks two settings are compared.
#[derive(Clone, Copy, Debug)]
enum Over {
    HeldOut,
    Stream,
    /// The stream's tasks after the default's warm-up, in each world.
    AfterWarmUp,
}

/// A claim about the difference in first attempts of one setting over another: bounds of its mean and of the ends of its 95%
/// interval over tools.
struct Claim(Setting, Setting, Over, [Bound; 3]);

/// The directions that the paper reports and that do not depend on training the model have bounds; the other pairs have none.
const CLAIMS: [Claim; 9] = {
    use Bound::{Above, AtLeast, AtMost, None};
    [
        // Table 2 (c): without generation a frozen library does not cover what is asked.
        Claim(
            Setting::Default,
            Setting::NoGeneration,
            Over::HeldOut,
            [None, Above(0.0), None],
        ),
        // E.1: without exploration skills that entered the cache lately are not tried, and so get no utility.
        Claim(
            Setting::Default,
            Setting::Epsilon(0.0),
            Over::HeldOut,
            [Above(0.0), None, None],
        ),
        // E.1: robust from 0.05 to 0.15.
        Claim(
            Setting::Epsilon(0.05),
            Setting::Default,
            Over::HeldOut,
            [None, AtLeast(-MARGIN), AtMost(MARGIN)],
        ),
        // E.1: beyond 0.2 random skills corrupt the context. Exploration is off in evaluation, so it is the stream's attempts
        // that they are given to.
        Claim(
            Setting::Epsilon(0.3),
            Setting::Default,
            Over::AfterWarmUp,
            [AtMost(0.0), None, None],
        ),
        // E.1: a cache of 5 limits the repertoire; here eight contracts are hidden.
        Claim(
            Setting::Default,
            Setting::Cache(5),
            Over::HeldOut,
            [Above(0.0), None, None],
        ),
        // E.1: a cache of 50 dilutes the pool; this bound was set after a development seed had been seen.
        Claim(
            Setting::Default,
            Setting::Cache(50),
            Over::HeldOut,
            [Above(0.0), None, None],
        ),
        // E.1: a long warm-up delays what skills bring.
        Claim(
            Setting::WarmUp(20),
            Setting::Default,
            Over::Stream,
            [AtMost(0.0), None, None],
        ),
        // A.1: a step's queries select on one state of the library. What the stream teaches is the same in the end.
        Claim(
            Setting::Batch(BATCHES[0]),
            Setting::Default,
            Over::HeldOut,
            [None, AtLeast(-MARGIN), AtMost(MARGIN)],
        ),
        Claim(
            Setting::Batch(BATCHES[1]),
            Setting::Default,
            Over::HeldOut,
            [None, AtLeast(-MARGIN), AtMost(MARGIN)],
        ),
    ]
};

impl Setting {
    /// All of them, the default once.
    fn all() -> Vec<Self> {
        let epsilons = EPSILONS.into_iter().map(Self::Epsilon);
        let caches = CACHES.into_iter().map(Self::Cache);
        let warm_ups = WARM_UPS.into_iter().map(Self::WarmUp);
        let batches = BATCHES.into_iter().map(Self::Batch);
        let swept = epsilons.chain(caches).chain(warm_ups).chain(batches);
        let own = recipe_of(Self::Default);
        let others = swept.filter(|setting| recipe_of(*setting) != own);
        let ends = [Self::NoGeneration];
        [Self::Default]
            .into_iter()
            .chain(others)
            .chain(ends)
            .collect()
    }

    fn name(self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::Epsilon(epsilon) => format!("epsilon {epsilon}"),
            Self::Cache(size) => format!("cache {size}"),
            Self::WarmUp(tasks) => format!("warm-up {tasks} of {STREAM}"),
            Self::Batch(tasks) => format!("steps of {tasks} tasks"),
            Self::NoGeneration => "no generation".to_owned(),
        }
    }
}

fn recipe_of(setting: Setting) -> Recipe {
    let mut recipe = task_by_task();
    recipe.attempts.group = GROUP;
    recipe.attempts.warm_up = WARM_UP;
    recipe.maintenance.remove::<GainsPolicy>();
    match setting {
        Setting::Default => {}
        Setting::Epsilon(epsilon) => {
            let mut gate = GatePolicy::paper();
            gate.epsilon = epsilon;
            recipe.select.selector = gate.into();
        }
        Setting::Cache(size) => recipe.tiers.cache = size,
        Setting::WarmUp(tasks) => recipe.attempts.warm_up = tasks,
        Setting::Batch(tasks) => {
            recipe.batch = tasks;
            recipe.attempts.warm_up = WARM_UP / tasks;
        }
        Setting::NoGeneration => recipe.write.when = WriteWhen::Never,
    }
    recipe
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed.derive("arise-sweeps", 0);
    let places: Vec<Place> = (0..WORLDS)
        .map(|world| place(seed.derive("world", world)))
        .collect::<Result<_>>()?;
    let mut all = Vec::new();
    for setting in Setting::all() {
        let name = setting.name();
        let mut swept = Swept::default();
        for (world, place) in places.iter().enumerate() {
            let key = key(parts, &format!("arise-sweeps, {name}, world {world}"));
            let one = figures.once(&key, || Ok(block_on(sweep(parts, place, setting))?))?;
            swept.add(one, world);
        }
        swept.record(figures, &name);
        all.push((setting, swept));
    }
    let of = |wanted: Setting| {
        let found = all.iter().find(|(setting, _)| *setting == wanted);
        let swept = found.map(|(_, swept)| swept);
        swept.ok_or_else(|| format!("{} was not measured", wanted.name()))
    };
    let seed = seed.derive("tools", 0);
    for Claim(one, other, over, [mean, low, high]) in CLAIMS {
        let (with, without) = (of(one)?.over(over), of(other)?.over(over));
        if with.tools != without.tools {
            return Err("two settings attempted other tasks".into());
        }
        let gain = stats::clustered(&without.first, &with.first, &with.tools, seed, RESAMPLES)?;
        let name = format!("{} over {}, {}", one.name(), other.name(), over.name());
        figures.record(&name, gain.mean, mean);
        figures.record(&format!("{name}.low"), gain.low, low);
        figures.record(&format!("{name}.high"), gain.high, high);
    }
    // E.1: a greater cache costs more scores a choice.
    let scored = |setting| Ok::<f64, String>(stats::mean(&of(setting)?.scored));
    let ratio = scored(Setting::Cache(50))? / scored(Setting::Default)?;
    figures.record(
        "cache 50 over default, skills scored for a task, ratio",
        ratio,
        Bound::Above(1.0),
    );
    // Table 2 (c): the library is frozen at its seed skills.
    let frozen = &of(Setting::NoGeneration)?.skills;
    figures.record(
        "no generation, skills beyond the seed skills",
        stats::mean(frozen) - SEEDS as f64,
        Bound::AtMost(0.0),
    );
    Ok(())
}

/// Learns from a stream with the seed skills, and attempts the held-out tasks with the frozen library.
async fn sweep(parts: &Parts, place: &Place, setting: Setting) -> Result<Swept> {
    let store = Arc::new(MemoryStore::new());
    let recipe = recipe_of(setting);
    let warm_up = (recipe.attempts.warm_up * recipe.batch.get()) as usize;
    let opened = parts.open(recipe, "sweep", place.seed, store, None);
    let journeyman = opened.await?;
    let mut seeds: Vec<Skill> = true_skills(&universe(place.seed)?)?;
    seeds.truncate(SEEDS);
    journeyman.add(seeds, "seed skills").await?;
    let learned = journeyman
        .learn(spoken::tasks(&place.stream, place.seed)?)
        .await?;
    let held_out = journeyman
        .evaluate(spoken::tasks(&place.held_out, place.seed)?)
        .await?;
    let after = learned.tasks.iter().skip(warm_up);
    let scored = after.flat_map(|task| &task.selections);
    Ok(Swept {
        scored: scored.map(|one| one.candidates.len() as f64).collect(),
        stream: of_stream(&learned, &place.stream),
        held_out: Arm::of(&held_out, &place.held_out)?,
        skills: vec![journeyman.library().await?.entries().count() as f64],
    })
}

/// A stream's tasks: of each the means over its attempts.
fn of_stream(report: &RunReport, stream: &[StreamTask]) -> Arm {
    let mean = |value: fn(&AttemptReport) -> f64| {
        let of = |task: &TaskReport| {
            let values: Vec<f64> = task.attempts.iter().map(value).collect();
            stats::mean(&values)
        };
        report.tasks.iter().map(of).collect::<Vec<f64>>()
    };
    Arm {
        first: mean(|attempt| {
            let first = attempt.parts.get("first_attempt") == Some(&1.0);
            f64::from(u8::from(first))
        }),
        tools: Arm::tools_of(stream),
        tokens: mean(|attempt| attempt.usage.total() as f64),
        used: mean(|attempt| f64::from(u8::from(!attempt.injected.is_empty()))),
    }
}

impl Over {
    fn name(self) -> &'static str {
        match self {
            Self::HeldOut => "held-out tasks",
            Self::Stream => "stream",
            Self::AfterWarmUp => "stream after the warm-up",
        }
    }
}

impl Swept {
    fn add(&mut self, other: Self, world: usize) {
        self.stream.add(other.stream, world);
        self.held_out.add(other.held_out, world);
        self.scored.extend(other.scored);
        self.skills.extend(other.skills);
    }

    fn over(&self, over: Over) -> Arm {
        match over {
            Over::HeldOut => self.held_out.clone(),
            Over::Stream => self.stream.clone(),
            Over::AfterWarmUp => self.stream.after(STREAM, WARM_UP as usize),
        }
    }

    fn record(&self, figures: &mut Figures<'_>, name: &str) {
        for (over, arm) in [("held-out", &self.held_out), ("stream", &self.stream)] {
            for (what, values) in [("first attempt", &arm.first), ("skill use", &arm.used)] {
                let name = format!("{name}.{over}, {what}");
                figures.record(&name, stats::mean(values), Bound::None);
            }
        }
        for (what, values) in [
            ("skills scored for a task", &self.scored),
            ("skills in the library", &self.skills),
        ] {
            let name = format!("{name}.{what}");
            figures.record(&name, stats::mean(values), Bound::None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_differ_and_those_of_claims_are_measured() {
        let all = Setting::all();
        // The default, 4 others of epsilon, 3 of the cache, 4 of the warm-up, 2 of the step, and no generation.
        assert_eq!(all.len(), 15);
        for (number, one) in all.iter().enumerate() {
            let others = all.iter().skip(number + 1);
            let mut same = others.filter(|other| recipe_of(**other) == recipe_of(*one));
            assert_eq!(same.next(), None, "{one:?}");
            let recipe = recipe_of(*one);
            recipe.validate().unwrap();
            let warm_up = recipe.attempts.warm_up * recipe.batch.get();
            let swept = matches!(one, Setting::WarmUp(_));
            assert!(swept || warm_up == WARM_UP, "{one:?}");
        }
        for Claim(one, other, ..) in CLAIMS {
            assert!(
                all.contains(&one) && all.contains(&other),
                "{one:?} {other:?}"
            );
        }
        assert!(all.contains(&Setting::Cache(50)) && all.contains(&Setting::NoGeneration));
    }

    #[test]
    fn the_tasks_after_the_warm_up_are_those_of_each_world() {
        let one = |from: u8| Arm {
            first: (from..from + 3).map(f64::from).collect(),
            tools: vec!["a".to_owned(); 3],
            tokens: vec![0.0; 3],
            used: vec![0.0; 3],
        };
        let mut both = Arm::default();
        both.add(one(0), 0);
        both.add(one(10), 1);
        let after = both.after(3, 2);
        assert_eq!(after.first, [2.0, 12.0]);
        assert_eq!(after.tools, ["0 a", "1 a"]);
    }
}
