//! What happens between tasks: batches, bundles, mending, filtering, refactoring, rules (HiSME).

mod asked;
mod assessed_again;
mod assessing;
mod assessors_of_hosts;
mod budget;
mod hostile;
mod identical;
mod mending;
mod one_door;
mod own;
mod own_assessor;
mod patience;
mod programs;
mod refactoring;
mod releasing;
mod rules;
mod rules_of_hosts;
mod spending;
mod unknown_use;
mod unresettable;
mod whole;

use std::sync::Mutex;

use journeyman::{
    ModelId, Result, async_trait,
    contract::{
        Episode, FixedGuidance, Journal, ScoreRequest, Scorer, SkillStore, Snapshot, TokenScores,
    },
    domain::{
        Cause, Commit, CommitKey, Committed, Injection, Judgement, LibraryChange, Origin, Role,
        RoleRule, Skill, SkillRef, SkillUse, State,
    },
    papers::hisme::{BundlePolicy, FilterPolicy, Gate, MacroPolicy, MicroPolicy, RefinePolicy},
    recipe::{Maintenance, ScheduledProgram},
    stations::{credit::Attribute, propose::Extract},
};

use super::*;

/// An agent that says what its first skill says, and what is due once that was refused; without a skill it begins with a
/// wrong word.
fn follower() -> ScriptedExecutor {
    ScriptedExecutor::acting(|attempt: &Attempt<'_>, steps: &[Step]| {
        let due: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let told = attempt.injection.skills.first().and_then(|skill| {
            let (_, words) = skill.text.split_once("say: ")?;
            let words = words.lines().next()?;
            Some(words.split(' ').map(str::to_owned).collect::<Vec<_>>())
        });
        let refused = steps.iter().filter(|step| step.result.is_error).count();
        let said = steps.len() - refused;
        let word = match told {
            _ if refused > 0 => due.get(said).cloned(),
            Some(told) => told.get(said).cloned().or(due.get(said).cloned()),
            None => Some("hm".to_owned()),
        };
        Play::Give(word.map(Action::Message))
    })
}

/// What the roles' model is told to say, by role; the prompts are kept. `{of}` is the role whose rules evolve.
struct Script {
    extract: fn(&str) -> String,
    attribute: &'static str,
    refine: &'static str,
    refactor: &'static str,
    evolve: &'static str,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            extract: |words| format!("skill {words}: How to say {words}.\nsay: {words}"),
            attribute: "helpful: it was followed",
            refine: "none: it is as it should be",
            refactor: "none: they share nothing",
            evolve: "Leave out what nobody asked for.",
        }
    }
}

type Prompts = Arc<Mutex<Vec<String>>>;

fn parts(script: Script) -> (Components, Prompts) {
    let prompts = Prompts::default();
    let kept = Arc::clone(&prompts);
    let model = ScriptedModel::by(move |request, _| {
        let text = request.prompt.text();
        kept.lock().unwrap().push(text.clone());
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().to_owned()
        };
        let words = field("task: ")
            .replace("say ", "")
            .replace(" and then ", " ");
        Play::Give(match field("role: ").as_str() {
            "extract" if field("candidate: ") == "0" => (script.extract)(&words),
            "extract" => "none: one is enough".to_owned(),
            "attribute" => script.attribute.to_owned(),
            "bundle" => "integration 0 the whole of it".to_owned(),
            "refine" => script.refine.to_owned(),
            "refactor" => script.refactor.to_owned(),
            "evolve" => script.evolve.replace("{of}", &field("of: ")),
            other => panic!("no such role: {other}"),
        })
    });
    let mut components = components();
    components.executor = Some(Arc::new(follower()));
    components.scorer = None;
    components.model = Some(Arc::new(model));
    (components, prompts)
}

fn hisme() -> Recipe {
    let mut recipe = recipe::hisme_robust();
    recipe.batch = n64(3);
    every(&mut recipe, 3);
    recipe
}

/// Lets maintenance run after so many tasks.
fn every(recipe: &mut Recipe, tasks: u64) {
    for program in ["micro", "macro"] {
        recipe.maintenance.every(program, n64(tasks));
    }
}

/// Micro maintenance of these parts, after each three tasks, and nothing else.
fn micro_alone(parts: MicroPolicy) -> Maintenance {
    let mut maintenance = Maintenance::default();
    maintenance.programs = vec![ScheduledProgram::new(n64(3), parts)];
    maintenance
}

/// Changes the parts of micro maintenance.
fn micro(recipe: &mut Recipe, change: impl FnOnce(&mut MicroPolicy)) {
    recipe.maintenance.edit(change);
}

/// Changes the parts of macro maintenance.
fn across(recipe: &mut Recipe, change: impl FnOnce(&mut MacroPolicy)) {
    recipe.maintenance.edit(change);
}

/// A role learns rules from a single mature skill.
fn learns_rules_at_once(recipe: &mut Recipe) {
    across(recipe, |parts| {
        let evolve = parts.evolve.as_mut();
        evolve.expect("rules evolve").rows = n32(1);
    });
}

/// Learns from so many tasks, of which each third is the same.
fn learn_with(
    recipe: Recipe,
    script: Script,
    n: usize,
) -> (RunReport, SkillLibrary, Prompts, Vec<Event>) {
    learn_from(recipe, script, tasks(n))
}

fn learn_from(
    recipe: Recipe,
    script: Script,
    tasks: Vec<Task>,
) -> (RunReport, SkillLibrary, Prompts, Vec<Event>) {
    learn_by(parts(script), recipe, tasks)
}

fn learn_by(
    (components, prompts): (Components, Prompts),
    recipe: Recipe,
    tasks: Vec<Task>,
) -> (RunReport, SkillLibrary, Prompts, Vec<Event>) {
    let options = Options::new("test", Seed(7));
    let (report, library, events) = block_on(async {
        let journeyman = Journeyman::open(components, recipe, options)
            .await
            .expect("it opens");
        let events = journeyman.events();
        let report = journeyman.learn(tasks).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        drop(journeyman);
        (report, library, events.collect::<Vec<_>>().await)
    });
    (report, library, prompts, events)
}

#[test]
fn a_batch_selects_on_one_state_of_the_library() {
    let (report, library, ..) = learn_with(hisme(), Script::default(), 6);
    let nothing = |task: usize| report.tasks[task].selections[0].skills().is_empty();
    assert!(
        (0..3).all(nothing),
        "nothing was there before the first batch"
    );
    assert!(
        (3..6).all(|task| !nothing(task)),
        "what it brought is there for the second"
    );
    assert_eq!(library.entries().count(), 3);
    assert_eq!(library.tasks_learned(), 6);
}

#[test]
fn exposures_and_judgements_are_kept_with_the_skill() {
    let (_, library, ..) = learn_with(hisme(), Script::default(), 9);
    for entry in library.entries() {
        let counts = entry.life.counts(entry.skill.version);
        let lifetime = entry.life.lifetime();
        assert_eq!(counts.helpful, counts.total());
        assert_eq!(
            u64::from(counts.total()),
            lifetime.injected,
            "{}",
            entry.skill.name
        );
        assert!(lifetime.retrieved >= lifetime.injected && lifetime.used <= lifetime.injected);
    }
    let judged = library.entries().flat_map(|entry| &entry.life.judged);
    let judged: Vec<_> = judged.collect();
    assert!(judged.len() >= 6);
    assert!(
        judged
            .iter()
            .all(|one| one.attribution.judgement == Judgement::Helpful)
    );
}

/// Follows the first skill that it is given, and says this of the first one and of the others.
#[derive(Debug)]
struct Says(ScriptedExecutor, [SkillUse; 2]);

#[async_trait::async_trait]
impl Executor for Says {
    async fn execute(
        &self,
        mut attempt: Attempt<'_>,
        episode: &mut dyn Episode,
    ) -> Result<Trajectory> {
        // The double would tell the run's guidance that it used all of them.
        let silent = FixedGuidance::new(Injection::NONE);
        attempt.guidance = &silent;
        let mut trajectory = self.0.execute(attempt, episode).await?;
        let [first, others] = self.1;
        for (place, exposure) in trajectory.exposures.iter_mut().enumerate() {
            exposure.used = if place == 0 { first } else { others };
        }
        Ok(trajectory)
    }
}

#[test]
fn a_skill_that_was_passed_over_is_not_blamed() {
    let (mut components, prompts) = parts(Script {
        attribute: "harmful: it was refused",
        ..Script::default()
    });
    let uses = [SkillUse::Followed, SkillUse::NotFollowed];
    components.executor = Some(Arc::new(Says(follower(), uses)));
    let mut recipe = hisme();
    recipe.maintenance = Maintenance::default();
    let library = block_on(async {
        let journeyman = Journeyman::open(components, recipe, Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.learn(tasks(6)).await.expect("it learns");
        journeyman.library().await.expect("a library")
    });
    let of = |judgement| {
        let judged = library.entries().flat_map(|entry| &entry.life.judged);
        judged
            .filter(|one| one.attribution.judgement == judgement)
            .count()
    };
    // Each of three attempts was given two skills and followed one.
    assert_eq!((of(Judgement::Harmful), of(Judgement::Neutral)), (3, 3));
    let prompts = prompts.lock().unwrap();
    let asked = prompts
        .iter()
        .filter(|prompt| prompt.starts_with("role: attribute"));
    assert_eq!(asked.count(), 3);
}

#[test]
fn each_part_can_be_switched_off() {
    let check = |change: fn(&mut Recipe), role: &str| {
        let asked = |off: bool| {
            let mut recipe = hisme();
            learns_rules_at_once(&mut recipe);
            if off {
                change(&mut recipe);
            }
            let script = Script {
                attribute: "harmful: it was refused",
                ..Script::default()
            };
            let (_, _, prompts, _) = learn_with(recipe, script, 12);
            let prompts = prompts.lock().unwrap();
            let opening = format!("role: {role}");
            prompts.iter().any(|prompt| prompt.starts_with(&opening))
        };
        assert!(asked(false), "{role} is never asked");
        assert!(!asked(true), "{role}");
    };
    check(|recipe| recipe.write.when = WriteWhen::Never, "extract");
    check(
        |recipe| recipe.credit.attribute = Attribute::Never,
        "attribute",
    );
    check(
        |recipe| micro(recipe, |parts| parts.bundles = None),
        "bundle",
    );
    check(
        |recipe| micro(recipe, |parts| parts.refine = None),
        "refine",
    );
    check(
        |recipe| across(recipe, |parts| parts.refactor = None),
        "refactor",
    );
    check(
        |recipe| across(recipe, |parts| parts.evolve = None),
        "evolve",
    );
    // A program is taken out with all of its parts.
    check(
        |recipe| recipe.maintenance.remove::<MicroPolicy>(),
        "bundle",
    );
    check(
        |recipe| recipe.maintenance.remove::<MacroPolicy>(),
        "evolve",
    );
}

#[test]
fn a_model_that_fails_in_its_roles_costs_nothing_but_skills() {
    let (mut components, _) = parts(Script::default());
    components.model = Some(Arc::new(ScriptedModel::by(
        |_, _| Play::Give(String::new()),
    )));
    block_on(async {
        let journeyman = Journeyman::open(components, hisme(), Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        let report = journeyman.learn(tasks(6)).await.expect("it learns");
        assert!(
            report
                .tasks
                .iter()
                .all(|task| task.attempts[0].success == Some(true))
        );
        let library = journeyman.library().await.expect("a library");
        assert_eq!(library.entries().count(), 0);
    });
}

#[test]
fn a_run_with_maintenance_replays_and_resumes_to_the_same_bytes() {
    let journal = Arc::new(MemoryJournal::new());
    let (mut components, _) = parts(Script::default());
    components.journal = Some(journal.clone());
    let store = components.store.clone().expect("a store");
    block_on(async {
        let journeyman = Journeyman::open(components, hisme(), Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        let report = journeyman.learn(tasks(9)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let entries = journal.read(&report.run).await.expect("it reads");
        let replayed = replay(&entries, &journeyman::policy::Policies::new()).expect("it replays");
        let json = library.to_json().expect("it is written");
        assert_eq!(replayed.library().to_json().expect("it is written"), json);
        assert!(replayed.is_finished());
        // Another version may have asked otherwise, and its answers would fit other questions.
        let mut other = entries;
        let schema = other[0].event.pointer_mut("/started/machine/schema");
        *schema.expect("it begins with the machine") = (RunMachine::SCHEMA - 1).into();
        // Whatever its form was.
        let library = other[0].event.pointer_mut("/started/machine/library");
        *library.expect("it begins with a library") = "another form".into();
        let error = replay(&other, &journeyman::policy::Policies::new()).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let hint = error.hint_text().unwrap_or_default();
        assert!(
            hint.contains("the library is no part of the journal"),
            "{hint}"
        );
        // As the hint says, the library of the run is there.
        let folded = SkillLibrary::replay(&store.load().await.expect("it loads").committed);
        assert_eq!(
            folded.expect("it folds").to_json().expect("it is written"),
            json
        );
        let saved = replayed.save().expect("it saves");
        assert_eq!(
            RunMachine::resume(&saved, &journeyman::policy::Policies::new()).expect("it resumes"),
            replayed
        );
    });
}

#[test]
fn extractors_write_as_many_candidates_as_the_recipe_says() {
    let mut recipe = hisme();
    recipe.write.by = Extract::new(n32(2)).into();
    let (report, _, prompts, _) = learn_with(recipe, Script::default(), 3);
    let asked = prompts
        .lock()
        .unwrap()
        .iter()
        .filter(|p| p.starts_with("role: extract"))
        .count();
    assert_eq!(asked, 6);
    assert!(report.tasks.iter().all(|task| task.written.len() == 2));
}

#[test]
fn failed_attempts_are_extracted_from_as_the_recipe_says() {
    let asked = |failures| {
        let mut recipe = hisme();
        let mut extract = Extract::new(n32(1));
        extract.failures = failures;
        recipe.write.by = extract.into();
        let (mut components, prompts) = parts(Script::default());
        components.executor = Some(Arc::new(ScriptedExecutor::acting(|_, steps| {
            Play::Give(steps.is_empty().then(|| Action::Message("hm".to_owned())))
        })));
        let opened = Journeyman::open(components, recipe, Options::new("test", Seed(7)));
        let report = block_on(async { opened.await.expect("it opens").learn(tasks(3)).await });
        let report = report.expect("it learns");
        assert!(report.attempts().all(|one| one.success == Some(false)));
        let prompts = prompts.lock().unwrap();
        let asked = prompts.iter().filter(|p| p.starts_with("role: extract"));
        asked.count()
    };
    assert_eq!((asked(true), asked(false)), (3, 0));
}

/// A scorer that keeps how many tokens it was to score, and scores nothing.
#[derive(Debug)]
struct Cut(ModelId, Mutex<Vec<usize>>);

#[async_trait]
impl Scorer for Cut {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        self.1.lock().unwrap().push(request.max_continuation_tokens);
        Err(Error::invalid("Cut::score", "it scores nothing"))
    }

    fn is_trained_to_score(&self) -> bool {
        true
    }
}

#[test]
fn as_many_tokens_are_scored_as_the_recipe_says() {
    let cut = |tokens: Option<usize>| {
        let scorer = Arc::new(Cut(ModelId::new("cut"), Mutex::default()));
        let mut recipe = super::recipe();
        if let Some(tokens) = tokens {
            recipe.limits.scored_tokens = NonZeroUsize::new(tokens).expect("not 0");
        }
        let mut components = components();
        components.scorer = Some(Arc::clone(&scorer) as _);
        block_on(async {
            let opened = Journeyman::open(components, recipe, Options::new("test", Seed(7))).await;
            let journeyman = opened.expect("it opens");
            let skills = vec![sample::skill("one")];
            journeyman.add(skills, "a start").await.expect("added");
            let _ = journeyman.learn(tasks(1)).await;
        });
        let seen = scorer.1.lock().unwrap();
        seen.first().copied().expect("it was asked")
    };
    assert_eq!((cut(None), cut(Some(7))), (128, 7));
}

#[test]
fn a_host_that_begins_task_by_task_has_maintenance_too() {
    let (components, prompts) = parts(Script::default());
    block_on(async {
        let journeyman = Journeyman::open(components, hisme(), Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        for task in tasks(3) {
            let words: Vec<String> = serde_json::from_value(task.payload.clone()).expect("words");
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let mut handle = journeyman.begin(task.clone()).await.expect("it begins");
            for step in sample::trajectory("x", &task, &words, true).steps {
                handle.record(step);
            }
            handle
                .finish(Some(sample::outcome(true)))
                .await
                .expect("it finishes");
        }
        let library = journeyman.library().await.expect("a library");
        assert_eq!(library.tasks_learned(), 3);
        assert!(library.entries().count() > 0);
    });
    let prompts = prompts.lock().unwrap();
    assert!(
        prompts
            .iter()
            .any(|prompt| prompt.starts_with("role: bundle")),
        "after the third"
    );
}
