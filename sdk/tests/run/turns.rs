//! Skills chosen anew at each turn, and ranked by meaning (HiSME appendix B, Eq. 20; row H12).

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use journeyman::testing::Edited as _;
use journeyman::{
    Result,
    agent::{ModelExecutor, ModelExecutorOptions},
    async_trait,
    contract::{
        Embedder, Embedding, EmbeddingSpace, Episode, Executor, Journal, JournalEntry,
        LanguageModel, Retriever, TurnContext,
    },
    domain::{
        BundleCase, Candidate, CaseKind, IndexUpdate, Query, Selection, Skill, SkillRef, SkillUse,
        Trajectory, TurnQuery, Withhold,
    },
    policy::{Ask, Case, Policies, Policy, SelectProgram, View},
    run::{RunEntry, Station},
    stations::{
        proof::{LiftOf, LiftPolicy, LiftVerdict},
        retrieve::RankWeights,
        select::Candidates,
    },
};

use super::*;

/// Two skills: what the task asks for, and what to do when a word was refused.
fn skills() -> Vec<Skill> {
    let skill = |name: &str, description: &str, body: &str| {
        sample::skill(name)
            .with_description(description.to_owned())
            .with_body(body.to_owned())
    };
    vec![
        skill("opening", "How to say alpha beta.", "Begin with alpha."),
        skill(
            "recovering",
            "When that is not the next word.",
            "Then beta.",
        ),
    ]
}

/// A model that says the first word, then a wrong one until it is told better.
fn model() -> ScriptedModel {
    ScriptedModel::by(|request, _| {
        let text = request.prompt.text();
        let told = |words: &str| text.contains(words);
        let word = match () {
            () if told("Then beta.") => "[skill] beta",
            () if told("go on") => "gamma",
            () if told("Begin with alpha.") => "[skill] alpha",
            () => "alpha",
        };
        Play::Give(word.to_owned())
    })
}

fn per(select_per: SelectPer) -> Recipe {
    let mut recipe = recipe::standard();
    recipe.select.candidates = Candidates::Search {
        limit: NonZeroUsize::new(10).expect("not 0"),
    };
    recipe.select.selector = top(1);
    recipe.select.per = select_per;
    recipe.write.when = WriteWhen::Never;
    recipe.attempts.group = n32(1);
    recipe
}

async fn with_skills(components: Components, recipe: Recipe) -> Journeyman {
    let journeyman = Journeyman::open(components, recipe, Options::new("test", Seed(7))).await;
    let journeyman = journeyman.expect("it opens");
    let added = journeyman.add(skills(), "a start").await;
    added.expect("they are added");
    journeyman
}

fn acting() -> Components {
    let mut components = components();
    let options = ModelExecutorOptions::default();
    let agent = ModelExecutor::new(Arc::new(model()), Arc::new(ScriptedFormat), options);
    components.executor = Some(Arc::new(agent.expect("an agent")));
    components
}

#[test]
fn a_refusal_brings_the_skill_that_is_about_it() {
    let task = || sample::task("t", &["alpha", "beta"]);
    let ids = |skills: &[SkillRef]| -> Vec<String> {
        skills.iter().map(|skill| skill.id.to_string()).collect()
    };
    let learn = |select_per| {
        block_on(async {
            let journeyman = with_skills(acting(), per(select_per)).await;
            let report = journeyman.learn(vec![task()]).await.expect("it learns");
            let frozen = journeyman.evaluate(vec![task()]).await;
            let library = journeyman.library().await.expect("a library");
            (report, frozen.expect("it evaluates"), library)
        })
    };
    let (report, frozen, _) = learn(SelectPer::Query);
    for report in [&report, &frozen] {
        let attempt = &report.tasks[0].attempts[0];
        assert_eq!(attempt.success, Some(false));
        assert_eq!(ids(&attempt.injected), ["opening"]);
    }
    let (report, frozen, library) = learn(SelectPer::Turn);
    for report in [&report, &frozen] {
        let attempt = &report.tasks[0].attempts[0];
        assert_eq!(attempt.success, Some(true), "{attempt:?}");
        assert_eq!(ids(&attempt.injected), ["opening", "recovering"]);
        assert_eq!(attempt.steps, 3);
    }
    // Both were given, so both are credited.
    let credits: Vec<u64> = library.entries().map(|entry| entry.credits).collect();
    assert_eq!(credits, [1, 1]);
}

#[test]
fn a_task_that_goes_without_by_chance_goes_without_at_each_later_turn() {
    block_on(async {
        let mut recipe = per(SelectPer::Turn);
        recipe.select.withhold = Some(Withhold::new(0.5));
        let journeyman = with_skills(acting(), recipe).await;
        let task = |number| sample::task(&format!("t-{number}"), &["alpha", "beta"]);
        let report = journeyman.learn((0..40).map(task).collect()).await;
        let report = report.expect("it learns");
        let mut without = 0;
        for task in &report.tasks {
            let withheld = task.selections[0].withheld.as_ref().expect("drawn");
            let attempt = &task.attempts[0];
            // Elsewhere a later turn brings the second skill.
            assert_eq!(attempt.injected.len(), if withheld.all { 0 } else { 2 });
            without += usize::from(withheld.all);
        }
        assert!((10..30).contains(&without), "{without}");
        // It tells of the library alone, and says which model acted.
        let lifts = journeyman
            .lift(LiftPolicy::default())
            .expect("a ledger")
            .lifts;
        assert_eq!(lifts.len(), 1);
        assert_eq!(lifts[0].of, LiftOf::Library);
        assert_eq!(lifts[0].tasks().1 as usize, without);
        assert_eq!(lifts[0].verdict, Some(LiftVerdict::Helps));
        assert_eq!(lifts[0].model.as_ref(), Some(&model().capabilities().model));
    });
}

/// Counts searches, and fails from one of them on.
#[derive(Debug, Default)]
struct Counting {
    retriever: ScriptedRetriever,
    fails_from: Option<usize>,
    searches: Mutex<Vec<String>>,
}

#[async_trait::async_trait]
impl Retriever for Counting {
    async fn watermark(&self) -> Result<Revision> {
        self.retriever.watermark().await
    }

    async fn refresh(&self, update: &IndexUpdate) -> Result<()> {
        self.retriever.refresh(update).await
    }

    async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
        let count = {
            let mut searches = self.searches.lock().unwrap();
            searches.push(query.text.clone());
            searches.len()
        };
        if self.fails_from.is_some_and(|from| count >= from) {
            return Err(Error::new(ErrorKind::Unavailable, "search", "down"));
        }
        self.retriever.search(query).await
    }
}

/// One attempt of a host's own loop over three turns: its skills, and what was searched for.
fn three_turns(fails_from: Option<usize>, refusal: &str) -> (Vec<Vec<String>>, Vec<String>) {
    let retriever = Arc::new(Counting {
        fails_from,
        ..Counting::default()
    });
    let mut components = acting();
    components.retriever = Some(retriever.clone());
    let skills = block_on(async {
        let journeyman = with_skills(components, per(SelectPer::Turn)).await;
        let task = sample::task("t", &["alpha", "beta"]);
        let mut handle = journeyman.begin(task.clone()).await.expect("it begins");
        let mut steps = sample::trajectory("x", &task, &["gamma", "gamma"], false).steps;
        for step in &mut steps {
            step.action = Action::Call(Vec::new());
        }
        steps[1].result.is_error = true;
        steps[1].result.text = refusal.to_owned();
        let observation = sample::observation("go on");
        let mut all = Vec::new();
        for (turn, done) in [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2)] {
            let context = TurnContext::new(turn, &observation, &steps[..done]);
            let injection = handle.turn(&context).await.expect("skills");
            let ids = injection.skills.iter();
            all.push(ids.map(|skill| skill.skill.id.to_string()).collect());
            if let Some(last) = injection.skills.last() {
                handle.used(&last.skill, SkillUse::Followed);
            }
        }
        assert_eq!(handle.injection().skills.len(), 1, "of the first turn");
        for step in steps {
            handle.record(step);
        }
        let report = handle.finish(Some(sample::outcome(true))).await;
        let report = report.expect("it finishes").expect("a report");
        let attempt = &report.attempts[0];
        assert_eq!(attempt.used, SkillUse::Followed);
        let given: std::collections::BTreeSet<&String> = all.iter().flatten().collect();
        assert_eq!(attempt.injected.len(), given.len());
        assert_eq!(
            report.undecided().count(),
            usize::from(fails_from.is_some())
        );
        all
    });
    let searches = retriever.searches.lock().unwrap().clone();
    (skills, searches)
}

#[test]
fn a_turn_that_asks_for_the_same_has_the_same_skills() {
    let (skills, searches) = three_turns(None, "that is not the next word");
    let [opening, recovering] = ["opening", "recovering"];
    assert_eq!(
        skills.concat(),
        [opening, opening, opening, recovering, recovering]
    );
    // For the task, for the turns before the refusal, for those after it.
    assert_eq!(searches.len(), 3, "{searches:?}");
}

#[test]
fn a_retriever_that_fails_leaves_the_skills_of_the_turn_before() {
    let (skills, searches) = three_turns(Some(2), "that is not the next word");
    assert_eq!(skills.concat(), ["opening"; 5]);
    assert_eq!(searches.len(), 2, "it is not asked again in this attempt");
}

#[test]
fn a_later_turns_query_holds_no_secret() {
    let secret = "AKIAQ3W7ZK5TXB2MPRLD";
    let (_, searches) = three_turns(None, &format!("not with the key {secret}"));
    assert!(
        searches
            .iter()
            .any(|text| text.contains("not with the key"))
    );
    assert!(searches.iter().all(|text| !text.contains(secret)));
}

#[test]
fn a_run_with_skills_at_each_turn_replays_and_resumes_to_the_same_bytes() {
    let journal = Arc::new(MemoryJournal::new());
    let mut components = acting();
    components.journal = Some(journal.clone());
    block_on(async {
        let journeyman = with_skills(components, per(SelectPer::Turn)).await;
        let tasks = (0..3).map(|n| sample::task(&format!("t-{n}"), &["alpha", "beta"]));
        let report = journeyman.learn(tasks.collect()).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let entries = journal.read(&report.run).await.expect("it reads");
        let replayed = replay(&entries, &journeyman::policy::Policies::new()).expect("it replays");
        assert!(replayed.is_finished());
        assert_eq!(bytes(replayed.library()), bytes(&library));
        let saved = replayed.save().expect("it saves");
        assert_eq!(
            RunMachine::resume(&saved, &journeyman::policy::Policies::new()).expect("it resumes"),
            replayed
        );
    });
}

/// Texts of two meanings: with "beta" or without.
#[derive(Debug)]
struct Meaning {
    space: EmbeddingSpace,
    fails: bool,
    asked: AtomicUsize,
}

#[async_trait::async_trait]
impl Embedder for Meaning {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        self.asked.fetch_add(texts.len(), Ordering::Relaxed);
        if self.fails {
            return Err(Error::new(
                ErrorKind::Unavailable,
                "Embedder::embed",
                "down",
            ));
        }
        let of = |text: &&str| match text.contains("Then beta.") || text.starts_with("say") {
            true => Embedding::new(vec![1.0, 0.0]),
            false => Embedding::new(vec![0.0, 1.0]),
        };
        texts.iter().map(of).collect()
    }
}

#[test]
fn a_text_is_embedded_once() {
    let embedder = Arc::new(Meaning {
        space: EmbeddingSpace::new("two meanings", 2),
        fails: false,
        asked: AtomicUsize::new(0),
    });
    let mut components = acting();
    components.embedder = Some(embedder.clone());
    let mut recipe = per(SelectPer::Query);
    recipe.select.rank = Some(RankWeights::default());
    block_on(async {
        let journeyman = with_skills(components, recipe).await;
        let task = |n: usize| {
            let mut task = sample::task(&format!("t-{n}"), &["alpha", "beta"]);
            task.instruction = "say alpha beta next".to_owned();
            task
        };
        let learnt = journeyman.learn((0..5).map(task).collect()).await;
        learnt.expect("it learns");
    });
    // The tasks ask for the same, of the same two skills.
    assert_eq!(embedder.asked.load(Ordering::Relaxed), 3);
}

#[test]
fn meaning_ranks_where_the_host_has_an_embedder() {
    let first = |embedder: Option<Meaning>| {
        let mut components = acting();
        components.embedder = embedder.map(|embedder| Arc::new(embedder) as Arc<dyn Embedder>);
        let mut recipe = per(SelectPer::Query);
        let mut weights = RankWeights::default();
        (weights.sparse, weights.dense) = (0.1, 0.9);
        recipe.select.rank = Some(weights);
        block_on(async {
            let journeyman = with_skills(components, recipe).await;
            // By words the first skill is found before the second.
            let mut task = sample::task("t", &["alpha", "beta"]);
            task.instruction = "say alpha beta next".to_owned();
            let report = journeyman.learn(vec![task]).await.expect("it learns");
            let selection = &report.tasks[0].selections[0];
            selection.skill().map(|skill| skill.id.to_string())
        })
    };
    let meaning = |fails| {
        Some(Meaning {
            space: EmbeddingSpace::new("two meanings", 2),
            fails,
            asked: AtomicUsize::new(0),
        })
    };
    assert_eq!(first(None).as_deref(), Some("opening"));
    assert_eq!(first(meaning(false)).as_deref(), Some("recovering"));
    assert_eq!(first(meaning(true)).as_deref(), Some("opening"));
}

/// What a retriever was asked in a run that is resumed from the first so many entries of a whole run's journal.
async fn resumed(entries: &[JournalEntry]) -> (RunReport, Vec<String>) {
    let retriever = Arc::new(Counting::default());
    let journal = Arc::new(MemoryJournal::new());
    journal.append(entries).await.expect("it is kept");
    let components = acting().with_retriever(retriever.clone());
    let components = components.with_journal(journal);
    let journeyman = with_skills(components, per(SelectPer::Turn)).await;
    let report = journeyman.resume(&entries[0].run).await;
    let searches = retriever.searches.lock().unwrap().clone();
    (report.expect("it resumes"), searches)
}

#[test]
fn answers_for_later_turns_are_in_the_journal_and_are_not_asked_for_again() {
    let journal = Arc::new(MemoryJournal::new());
    let components = acting().with_journal(journal.clone());
    block_on(async {
        let journeyman = with_skills(components, per(SelectPer::Turn)).await;
        let task = sample::task("t", &["alpha", "beta"]);
        let report = journeyman.learn(vec![task]).await.expect("it learns");
        let entries = journal.read(&report.run).await.expect("it reads");
        let at = |found: fn(&RunEntry) -> bool| {
            let mut read = entries.iter().map(|one| RunEntry::from_entry(one).unwrap());
            read.position(|entry| found(&entry)).expect("it is there")
        };
        let is = |entry: &RunEntry, station: Station| matches!(entry, RunEntry::Answered { id, .. } if id.station == station);
        let turn = at(|entry| matches!(entry, RunEntry::TurnAsked { .. }));
        let answered = (0..)
            .zip(&entries)
            .filter(|(_, one)| is(&RunEntry::from_entry(one).unwrap(), Station::Turn));
        let answered: Vec<usize> = answered.map(|(place, _)| place).collect();
        assert_eq!(answered.len(), 2, "two queries of later turns");
        // Before the turn is asked about, behind the first answer, and behind the second.
        for (cut, searches) in [(turn, 2), (answered[0] + 1, 1), (answered[1] + 1, 0)] {
            let (again, asked) = resumed(&entries[..cut]).await;
            assert_eq!(asked.len(), searches, "cut at {cut}: {asked:?}");
            assert_eq!(again.tasks, report.tasks, "cut at {cut}");
        }
    });
}

/// A selector that plays a test case for each query, and chooses nothing.
#[derive(Debug)]
struct PlaysACase;

#[async_trait]
impl SelectProgram for PlaysACase {
    async fn select(&self, ask: &mut Ask, _: &View, _: &TurnQuery) -> Result<Selected> {
        let task = sample::task("case", &["alpha"]);
        let case = Box::new(
            BundleCase::new("whole", CaseKind::Integration, task, "kept", Seed(1))
                .edited(|it| it.least_score = 1.0),
        );
        ask.play(vec![Case::new(case)]).await;
        Ok(Selection::nothing(NothingReason::Disabled).into())
    }
}

/// An agent that keeps the ids of its attempts.
#[derive(Debug)]
struct Named {
    inner: Arc<dyn Executor>,
    attempts: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Executor for Named {
    async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory> {
        self.attempts.lock().unwrap().push(attempt.id.to_string());
        self.inner.execute(attempt, episode).await
    }
}

#[test]
fn test_cases_of_later_turns_have_ids_of_their_own() {
    let mut recipe = per(SelectPer::Turn);
    recipe.select.selector = Policy::new("plays");
    let policies = Policies::new().with_selector("plays", |_| Ok(Arc::new(PlaysACase)));
    let mut components = acting();
    let attempts: Arc<Mutex<Vec<String>>> = Arc::default();
    let inner = components.executor.take().expect("an agent");
    let kept = Arc::clone(&attempts);
    components.executor = Some(Arc::new(Named {
        inner,
        attempts: kept,
    }));
    block_on(async {
        let options = Options::new("test", Seed(7)).with_policies(policies);
        let journeyman = Journeyman::open(components, recipe, options).await?;
        journeyman.add(skills(), "a start").await?;
        let task = |name: &str| sample::task(name, &["alpha", "beta"]);
        journeyman.learn(vec![task("s"), task("t")]).await
    })
    .expect("it learns");
    let attempts = attempts.lock().unwrap();
    let of_turns = attempts.iter().filter(|id| id.contains("/t"));
    assert!(of_turns.count() >= 2, "{attempts:?}");
    let different: BTreeSet<&String> = attempts.iter().collect();
    assert_eq!(different.len(), attempts.len(), "{attempts:?}");
}
