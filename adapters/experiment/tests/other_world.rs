//! An experiment in an environment other than toolworld: words that are to be said in order, by scripted parts.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking"
)]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use journeyman::{
    Error, ErrorKind, Result,
    agent::EnvironmentJudge,
    contract::{Attempt, Components, EnvironmentCapabilities},
    domain::{Action, Step, Task},
    recipe,
    stations::{propose::WriteWhen, select::First},
    testing::{
        Play, ScriptedEnvironment, ScriptedExecutor, ScriptedFormat, ScriptedModel,
        ScriptedRetriever, ScriptedRoles, sample,
    },
};
use journeyman_experiment::{
    Arm, Conditions, Event, Experiment, Host, Metric, Options, Outcome, Plan, Stale, Tasks,
};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// A world of words. Tasks with the tag `hidden` are those that the agent needs a skill for.
#[derive(Debug)]
struct Words {
    settings: BTreeMap<&'static str, String>,
    /// Whether the tasks of seed 2 cannot be made.
    fails: bool,
}

impl Words {
    fn saying(word: &str) -> Self {
        Self {
            settings: BTreeMap::from([("word", word.to_owned())]),
            fails: false,
        }
    }
}

impl Host for Words {
    type World = BTreeMap<&'static str, String>;
    /// The engine's number.
    type Engine = usize;

    fn world(&self) -> &Self::World {
        &self.settings
    }

    fn engines(&self, _plan: &Plan, _cells: usize) -> Result<Vec<usize>> {
        Ok(vec![0, 1])
    }

    fn tasks(&self, plan: &Plan, seed: u64) -> Result<Tasks> {
        if self.fails && seed == 2 {
            return Err(Error::invalid("Words::tasks", "the words are lost"));
        }
        let task = |kind: &str, at: usize| -> Task {
            let (words, tag) = match at.is_multiple_of(2) {
                true => (["good", self.settings["word"].as_str()], "hidden"),
                false => (["hello", "again"], "plain"),
            };
            sample::task(&format!("{kind}-{seed}-{at}"), &words).with_tags([tag])
        };
        Ok(Tasks::new(
            (0..plan.stream).map(|at| task("stream", at)).collect(),
            (0..plan.held_out).map(|at| task("held-out", at)).collect(),
        ))
    }

    fn components(&self, _engine: &usize, _arm: &Arm) -> Result<Components> {
        let mut components = Components::new(
            Arc::new(ScriptedExecutor::acting(next_word)),
            Arc::new(ScriptedEnvironment::words()),
            Arc::new(EnvironmentJudge),
        );
        components.retriever = Some(Arc::new(ScriptedRetriever::new()));
        components.prompt_format = Some(Arc::new(ScriptedFormat));
        let writing = "say-good: How to say good first.\nSay good, then the next word.";
        components.model = Some(Arc::new(ScriptedModel::always(writing)));
        components.roles = Some(Arc::new(ScriptedRoles::default()));
        Ok(components)
    }
}

/// The next word of a plain task. Of a hidden one it is known with a skill, and in the stream half of the time.
fn next_word(attempt: &Attempt<'_>, steps: &[Step]) -> Play<Option<Action>> {
    let is_plain = attempt.task.tags.iter().any(|tag| tag == "plain");
    let is_lucky = attempt.temperature > 0.0 && attempt.seed.0.is_multiple_of(2);
    let knows = is_plain || is_lucky || !attempt.injection.skills.is_empty();
    let word = attempt.task.payload[steps.len()].as_str();
    let word = word.filter(|_| knows).map(str::to_owned);
    Play::Give(word.map(Action::Message))
}

fn plan() -> Plan {
    let mut recipe = recipe::standard();
    recipe.select.selector = First.into();
    recipe.write.when = WriteWhen::Always;
    let arms = vec![
        Arm::without_skills("no skills"),
        Arm::new("learning", recipe),
    ];
    let conditions = Conditions::new("a scripted agent", "words to say in order");
    let mut plan = Plan::new("words", conditions, arms);
    (plan.stream, plan.held_out, plan.checkpoints) = (6, 8, 2);
    plan
}

struct Lab(TempDir);

impl Lab {
    fn new() -> Self {
        Self(tempdir().unwrap())
    }

    /// Performs the experiment, and checks how it ended; gives the reasons of stale cells.
    fn perform(
        &self,
        host: Words,
        build: &str,
        options: Options,
        check: impl FnOnce(&Outcome<'_>),
    ) -> Vec<Stale> {
        let experiment = Experiment::open(plan(), host, self.0.path(), build).unwrap();
        let mut stale = Vec::new();
        let outcome = experiment
            .perform(&options, &mut |event| {
                if let Event::Stale { reason, .. } = event {
                    stale.push(reason);
                }
            })
            .unwrap();
        check(&outcome);
        stale
    }

    fn report(&self) -> String {
        fs::read_to_string(self.0.path().join("report.md")).unwrap()
    }
}

#[test]
fn two_arms_are_compared_by_task_and_seed() {
    let lab = Lab::new();
    lab.perform(
        Words::saying("day"),
        "build 1",
        Options::default(),
        |outcome| {
            assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
            let results = &outcome.results;
            assert_eq!((results.count(), outcome.kept), (6, 0));
            let difference = |metric| {
                let spread = results.difference(1, metric).unwrap();
                (spread.mean, spread.interval(), spread.n)
            };
            // Without skills the agent does the plain half; with what it learned it does all.
            assert_eq!(results.last(0, Metric::First).unwrap().mean, 0.5);
            assert_eq!(difference(Metric::First), (0.5, Some((0.5, 0.5)), 3));
            assert_eq!(difference(Metric::Hidden).0, 1.0);
            assert_eq!(difference(Metric::Plain).0, 0.0);
            let json = outcome.report().json();
            assert_eq!(json["arms"][1]["difference"]["first_attempt"]["mean"], 0.5);
            assert_eq!(json["without_skills"], "no skills");
        },
    );
    let report = lab.report();
    assert!(
        report.contains("- World: words to say in order\n"),
        "{report}"
    );
    assert!(
        report.contains("| learning | +50.0 [+50.0, +50.0] | +100.0 [+100.0, +100.0] | +0.0"),
        "{report}"
    );
    assert!(lab.0.path().join("report.svg").is_file());
}

#[test]
fn stored_cells_are_kept_until_the_world_or_the_build_is_another() {
    let lab = Lab::new();
    let perform = |word: &str, build: &str, options: Options, run: usize, kept: usize| {
        lab.perform(Words::saying(word), build, options, |outcome| {
            let counts = (outcome.results.count() - outcome.kept, outcome.kept);
            assert_eq!(counts, (run, kept));
        })
    };
    let options = Options::default();
    assert_eq!(perform("day", "build 1", options, 6, 0), []);
    assert_eq!(perform("day", "build 1", options, 0, 6), []);
    let mut any_build = options;
    any_build.any_build = true;
    assert_eq!(perform("day", "build 2", any_build, 0, 6), []);
    let mut report_only = options;
    report_only.report_only = true;
    assert_eq!(
        perform("day", "build 2", report_only, 0, 0),
        [Stale::Build; 6]
    );
    assert!(
        lab.report()
            .contains("- Missing: learning, seed 3: not run yet")
    );
    let stale = perform("night", "build 1", options, 6, 0);
    assert_eq!(stale, [Stale::Configuration; 6]);
}

#[test]
fn a_cell_that_fails_keeps_no_other_from_being_a_result() {
    let lab = Lab::new();
    let host = Words {
        fails: true,
        ..Words::saying("day")
    };
    lab.perform(host, "build 1", Options::default(), |outcome| {
        assert_eq!(outcome.results.count(), 4);
        assert_eq!(outcome.results.missing().len(), 2);
        let error = &outcome.failed[0].error;
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.fact("seed"), Some("2"));
        assert_eq!(outcome.results.difference(1, Metric::First).unwrap().n, 2);
    });
    let missing = "- Missing: learning, seed 2: the words are lost";
    assert!(lab.report().contains(missing), "{}", lab.report());
}

#[test]
fn a_plan_that_contradicts_itself_and_a_wrong_number_of_tasks_are_refused() {
    let lab = Lab::new();
    let mut wrong = plan();
    wrong.baseline = 2;
    let refused = Experiment::open(wrong, Words::saying("day"), lab.0.path(), "build 1");
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);

    /// Gives one task too few.
    #[derive(Debug)]
    struct Short(Words);
    impl Host for Short {
        type World = BTreeMap<&'static str, String>;
        type Engine = usize;
        fn world(&self) -> &Self::World {
            self.0.world()
        }
        fn engines(&self, plan: &Plan, cells: usize) -> Result<Vec<usize>> {
            self.0.engines(plan, cells)
        }
        fn tasks(&self, plan: &Plan, seed: u64) -> Result<Tasks> {
            let mut tasks = self.0.tasks(plan, seed)?;
            tasks.held_out.pop();
            Ok(tasks)
        }
        fn components(&self, engine: &usize, arm: &Arm) -> Result<Components> {
            self.0.components(engine, arm)
        }
    }
    let host = Short(Words::saying("day"));
    let experiment = Experiment::open(plan(), host, lab.0.path(), "build 1").unwrap();
    let outcome = experiment
        .perform(&Options::default(), &mut |_| {})
        .unwrap();
    assert_eq!((outcome.results.count(), outcome.failed.len()), (0, 6));
    assert_eq!(outcome.failed[0].error.fact("held_out"), Some("7"));
}

#[test]
fn a_cell_with_another_model_for_a_job_is_another_cell() {
    let lab = Lab::new();
    let kept = |models: &[(&str, &str)]| {
        let mut plan = plan();
        plan.seeds = vec![1];
        let models = models
            .iter()
            .map(|(job, id)| ((*job).to_owned(), (*id).to_owned()));
        plan.arms[1].models = models.collect();
        let host = Words::saying("day");
        let experiment = Experiment::open(plan, host, lab.0.path(), "one").unwrap();
        let outcome = experiment.perform(&Options::default(), &mut |_| ());
        outcome.unwrap().kept
    };
    let cells = || -> String {
        let files = lab.0.path().join("cells").read_dir().unwrap();
        files
            .map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
            .collect()
    };
    assert_eq!((kept(&[]), kept(&[])), (0, 2));
    // The key of a cell without them is that of before there were any.
    assert!(!cells().contains("models"));
    let writer = [("writers", "one")];
    assert_eq!((kept(&writer), kept(&writer)), (1, 2));
    assert!(cells().contains("models"));
    assert_eq!(kept(&[("writers", "two")]), 1);
}

/// Words that cannot be set up again, and how many cells have begun and ended in them.
struct Live(Words, Arc<[AtomicUsize; 2]>);

impl Host for Live {
    type World = BTreeMap<&'static str, String>;
    /// Whether a cell is under way.
    type Engine = bool;

    fn world(&self) -> &Self::World {
        self.0.world()
    }

    fn engines(&self, _plan: &Plan, _cells: usize) -> Result<Vec<bool>> {
        Ok(vec![false, false])
    }

    fn begin(&self, engine: &mut bool) -> Result<()> {
        assert!(!std::mem::replace(engine, true));
        if self.1[0].fetch_add(1, Ordering::SeqCst) == 0 {
            *engine = false;
            return Err(Error::invalid("Live::begin", "the world is not there"));
        }
        Ok(())
    }

    fn end(&self, engine: &mut bool) {
        assert!(std::mem::replace(engine, false));
        self.1[1].fetch_add(1, Ordering::SeqCst);
    }

    fn tasks(&self, plan: &Plan, seed: u64) -> Result<Tasks> {
        self.0.tasks(plan, seed)
    }

    fn components(&self, engine: &bool, arm: &Arm) -> Result<Components> {
        assert!(*engine);
        let mut components = self.0.components(&0, arm)?;
        let world = ScriptedEnvironment::words().declaring(EnvironmentCapabilities::default());
        components.environment = Some(Arc::new(world));
        Ok(components)
    }
}

#[test]
fn a_cell_begins_and_ends_and_measures_once_where_the_world_cannot_be_set_up_again() {
    let lab = Lab::new();
    let cells = Arc::default();
    let perform = || {
        let host = Live(Words::saying("day"), Arc::clone(&cells));
        let experiment = Experiment::open(plan(), host, lab.0.path(), "build 1").unwrap();
        let outcome = experiment.perform(&Options::default(), &mut |_| {});
        let outcome = outcome.unwrap();
        let report = outcome.report().json();
        (report, outcome.failed)
    };
    let (_, failed) = perform();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].error.message().contains("is not there"));
    let counted = || [0, 1].map(|at: usize| cells[at].load(Ordering::SeqCst));
    assert_eq!(counted(), [6, 5]);
    let (report, failed) = perform();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(counted(), [7, 6]);
    let learned = |arm: usize| -> Vec<f64> {
        let curve = report["arms"][arm]["first_attempt"].as_array().unwrap();
        let points = curve.iter().map(|point| point["learned"].as_f64().unwrap());
        points.collect()
    };
    assert_eq!((learned(0), learned(1)), (vec![0.0, 3.0, 6.0], vec![6.0]));
    let report = lab.report();
    let once = "attempted at the end of the stream alone";
    assert!(report.contains(once), "{report}");
}

/// The cells of [`plan`] with seed 1, by their files, as a program of the first edition wrote them.
fn first_edition() -> BTreeMap<String, Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    cells_in(&root.join("tests/fixtures/first-edition/experiment"))
}

fn cells_in(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = folder.join("cells").read_dir().unwrap();
    files
        .map(|file| {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            (name, fs::read(file.path()).unwrap())
        })
        .collect()
}

/// The number of held-out tasks that were done at the last checkpoint of each cell: those without skills, and those that learned.
fn done(cells: &BTreeMap<String, Vec<u8>>) -> [usize; 2] {
    ["no-skills-seed-1.json", "learning-seed-1.json"].map(|file| {
        let cell: Value = serde_json::from_slice(&cells[file]).unwrap();
        let checkpoints = cell["result"]["checkpoints"].as_array().unwrap();
        let tasks = checkpoints.last().unwrap()["tasks"].as_array().unwrap();
        tasks.iter().filter(|task| task["success"] == true).count()
    })
}

#[test]
fn cells_of_the_first_edition_are_told_apart_and_stay_until_they_are_run_again() {
    let lab = Lab::new();
    let before = first_edition();
    assert_eq!((before.len(), done(&before)), (2, [4, 8]));
    fs::create_dir(lab.0.path().join("cells")).unwrap();
    for (file, bytes) in &before {
        fs::write(lab.0.path().join("cells").join(file), bytes).unwrap();
    }
    let perform = |options: Options| {
        let mut plan = plan();
        plan.seeds = vec![1];
        let host = Words::saying("day");
        let experiment = Experiment::open(plan, host, lab.0.path(), "build 1").unwrap();
        let mut stale = Vec::new();
        let outcome = experiment.perform(&options, &mut |event| {
            if let Event::Stale { reason, .. } = event {
                stale.push(reason);
            }
        });
        let outcome = outcome.unwrap();
        let run = outcome.results.count() - outcome.kept;
        (stale, run, outcome.kept)
    };
    // Recipes have another form now, so that the cells are of no use for the plan of today. Each is named with the reason.
    let of_another_form = vec![Stale::Configuration; 2];
    let mut report_only = Options::default();
    (report_only.report_only, report_only.any_build) = (true, true);
    assert_eq!(perform(report_only), (of_another_form.clone(), 0, 0));
    assert!(
        lab.report()
            .contains("- Missing: learning, seed 1: not run yet")
    );
    assert!(cells_in(lab.0.path()) == before, "a cell was changed");
    assert_eq!(perform(Options::default()), (of_another_form, 2, 0));
    assert_eq!(done(&cells_in(lab.0.path())), [4, 8]);
    assert_eq!(perform(Options::default()), (Vec::new(), 0, 2));
}
