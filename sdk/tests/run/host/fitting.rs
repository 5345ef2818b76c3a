//! A gate whose threshold is fitted to the model that scores, where nobody calibrated it.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
    time::Duration,
};

use async_trait::async_trait;
use journeyman::{
    ModelId, Result,
    agent::{ForkStore, FrozenStore, SystemClock},
    contract::{ModelSpeed, ScoreRequest, Scorer, SkillStore, TokenScores},
    run::ThresholdBy,
    stations::select::{GateCalibration, null_tasks},
    testing::ScriptedFormat,
};

use super::*;

/// A log-probability between 0 and -1 that follows from two texts.
pub(super) fn drawn(prompt: &str, text: &str) -> f64 {
    let mut hasher = DefaultHasher::new();
    (prompt, text).hash(&mut hasher);
    -((hasher.finish() % 1_000) as f64) / 1_000.0
}

/// A model that makes a skill likelier behind tasks that say something, and by chance a little behind all others.
fn untrained() -> ScriptedScorer {
    ScriptedScorer::by(|prompt, text| {
        let prompt = prompt.text();
        Play::Give(
            match (prompt.contains("say one"), prompt.trim() == "skill:") {
                (true, _) if text.contains("How to do right") => -0.5,
                (_, true) => -3.0,
                _ => -3.0 + 0.05 * (1.0 + drawn(&prompt, text)),
            },
        )
    })
    .untrained()
}

pub(super) fn parts(scorer: Arc<dyn Scorer>, store: Arc<dyn SkillStore>) -> Components {
    let mut components = own_loop();
    (components.scorer, components.store) = (Some(scorer), Some(store));
    // All skills are candidates.
    components.retriever = None;
    components
}

pub(super) async fn opened(scorer: Arc<dyn Scorer>, store: Arc<dyn SkillStore>) -> Journeyman {
    let mut recipe = recipe::standard();
    change_gate(&mut recipe, |gate| gate.epsilon = 0.0);
    let options = Options::new("test", Seed(7));
    let opened = Journeyman::open(parts(scorer, store), recipe, options).await;
    opened.expect("it opens")
}

pub(super) fn memory() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new())
}

pub(super) async fn with_skills(journeyman: &Journeyman, names: &[&str]) {
    let skills = names.iter().map(|name| sample::skill(name)).collect();
    journeyman.add(skills, "a start").await.expect("added");
}

/// The selection for a task with these words.
pub(super) async fn decided(journeyman: &Journeyman, id: &str) -> journeyman::domain::Selection {
    let handle = journeyman.begin(sample::task(id, &["one", "two"])).await;
    let report = handle.expect("begun").finish(sample::outcome(true)).await;
    let report = report.expect("finished").expect("a group of one");
    report.selections[0].clone()
}

#[test]
fn a_right_skill_is_injected_by_a_threshold_that_was_fitted_to_the_model() {
    block_on(async {
        let scorer = Arc::new(untrained());
        let journeyman = opened(scorer.clone(), memory()).await;
        with_skills(&journeyman, &["right", "other"]).await;
        // Nothing is asked of the model before it is needed.
        assert_eq!(scorer.calls(), 0);
        let selection = decided(&journeyman, "first").await;
        assert_eq!(selection.skill().expect("injected").id.as_str(), "right");
        let fitted = selection.fitted.clone().expect("fitted");
        assert_eq!(fitted.tasks as usize, null_tasks().len());
        assert!(fitted.threshold > 0.0, "{fitted:?}");
        let best = selection.best().expect("scored").value;
        assert!(best > fitted.threshold, "{best} {fitted:?}");
        // What another skill has by chance stays below.
        let other = selection.candidates.last().expect("scored");
        assert!(other.value < fitted.threshold, "{selection:?}");

        // The second decision costs one request, and the session says how it decides.
        let calls = scorer.calls();
        assert_eq!(
            decided(&journeyman, "second").await.fitted,
            Some(fitted.clone())
        );
        assert_eq!(scorer.calls(), calls + 1);
        let gate = journeyman.gate().await.expect("fitted").expect("a gate");
        assert_eq!(gate.threshold, Some(fitted.threshold));
        assert!(gate.to_string().contains("24 tasks"), "{gate}");
        assert_eq!(gate.by, ThresholdBy::Fitted(fitted));
        assert_eq!(scorer.calls(), calls + 1);
    });
}

#[test]
fn where_no_skill_is_right_none_is_injected() {
    block_on(async {
        let journeyman = opened(Arc::new(untrained()), memory()).await;
        with_skills(&journeyman, &["other", "another"]).await;
        let selection = decided(&journeyman, "first").await;
        assert!(selection.skills().is_empty(), "{selection}");
        assert!(selection.fault().is_none(), "{selection}");
    });
}

#[test]
fn a_later_session_knows_the_scores_and_another_model_does_not() {
    block_on(async {
        let store = memory();
        let first = opened(Arc::new(untrained()), store.clone()).await;
        with_skills(&first, &["right", "other"]).await;
        let before = decided(&first, "first").await;
        // The candidates behind the task, and nothing else.
        let again = Arc::new(untrained());
        let later = opened(again.clone(), store.clone()).await;
        assert_eq!(decided(&later, "second").await.fitted, before.fitted);
        assert_eq!(again.calls(), 1);
        // A model of another name has kept nothing.
        let other = Arc::new(untrained().with_adapter("own", |_, _| Play::Give(-1.0)));
        let adapted = Arc::new(journeyman::agent::AdaptedModel::new(other.clone(), "own"));
        let with_other = opened(adapted, store.clone()).await;
        let selection = decided(&with_other, "third").await;
        assert!(other.calls() > 24, "{}", other.calls());
        // To it all skills are alike everywhere, so none stands out.
        assert!(selection.skills().is_empty(), "{selection}");
        assert_eq!(selection.fitted.expect("fitted").threshold, 0.0);
    });
}

#[test]
fn a_library_that_has_grown_is_fitted_to_again() {
    block_on(async {
        let scorer = Arc::new(untrained());
        let journeyman = opened(scorer.clone(), memory()).await;
        // An empty library has stand-ins alone.
        let gate = journeyman.gate().await.expect("fitted").expect("a gate");
        with_skills(&journeyman, &["right", "other", "third"]).await;
        let calls = scorer.calls();
        let grown = journeyman.gate().await.expect("fitted").expect("a gate");
        assert!(scorer.calls() > calls);
        assert_ne!(gate.threshold, grown.threshold);
    });
}

/// A model whose scores depend on what ran before, by this much, unless they have to be the same each time.
#[derive(Debug)]
struct Drifting(ScriptedScorer, f64);

#[async_trait]
impl Scorer for Drifting {
    fn model(&self) -> &ModelId {
        self.0.model()
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let mut scores = self.0.score(request).await?;
        if !request.repeatable {
            let drawn = drawn("drift", &format!("{} {}", self.0.calls(), self.1));
            let values = scores.iter_mut().flat_map(|one| &mut one.logprobs);
            values.for_each(|value| *value += self.1 * drawn);
        }
        Ok(scores)
    }
}

#[test]
fn a_session_that_learns_fits_the_same_threshold_each_time() {
    block_on(async {
        let mut thresholds = Vec::new();
        for drift in [0.0, 0.1, 0.2] {
            let scorer = Arc::new(Drifting(untrained(), drift));
            let journeyman = opened(scorer, memory()).await;
            with_skills(&journeyman, &["right", "other"]).await;
            let selection = decided(&journeyman, "first").await;
            thresholds.push(selection.fitted.expect("fitted").threshold);
        }
        assert!(thresholds[0] > 0.0, "{thresholds:?}");
        assert_eq!(thresholds, [thresholds[0]; 3]);
    });
}

#[test]
fn a_frozen_library_is_fitted_to_and_keeps_nothing() {
    block_on(async {
        let store = memory();
        let writing = opened(Arc::new(untrained()), store.clone()).await;
        with_skills(&writing, &["right", "other"]).await;
        let snapshot = store.load().await.expect("loaded");
        let frozen = opened(Arc::new(untrained()), Arc::new(FrozenStore::new(snapshot))).await;
        let kept = store.kept_scores().await.expect("read");
        let handle = frozen.begin(sample::task("one", &["one", "two"])).await;
        assert!(handle.expect("begun").prompt().contains("right"));
        assert_eq!(store.kept_scores().await.expect("read"), kept);
    });
}

#[test]
fn a_fork_of_a_library_knows_its_scores_and_gives_it_new_ones() {
    block_on(async {
        let store = memory();
        let first = opened(Arc::new(untrained()), store.clone()).await;
        with_skills(&first, &["right", "other"]).await;
        first.gate().await.expect("fitted");
        let snapshot = store.load().await.expect("loaded");
        let fork = ForkStore::new(snapshot)
            .expect("a fork")
            .with_scores_of(store.clone());
        let scorer = Arc::new(untrained());
        let forked = opened(scorer.clone(), Arc::new(fork.another())).await;
        forked.gate().await.expect("fitted");
        assert_eq!(scorer.calls(), 0);
        let before = store.kept_scores().await.expect("read").len();
        with_skills(&forked, &["third"]).await;
        forked.gate().await.expect("fitted");
        assert!(store.kept_scores().await.expect("read").len() > before);
    });
}

#[test]
fn a_scorer_that_fails_while_it_is_fitted_costs_the_injection_and_no_task() {
    block_on(async {
        let scorer = ScriptedScorer::by(|_, text| match text.contains("How to do other") {
            true => Play::Fail(journeyman::Error::invalid("test", "it has no such token")),
            false => Play::Give(-1.0),
        });
        let journeyman = opened(Arc::new(scorer.untrained()), memory()).await;
        with_skills(&journeyman, &["right", "other"]).await;
        let selection = decided(&journeyman, "first").await;
        let Decision::Nothing(NothingReason::Uncalibrated(why)) = &selection.decision else {
            panic!("{selection}");
        };
        assert!(why.contains("it has no such token"), "{why}");
        assert!(selection.fault().is_some());
        let reasons = not_fitted(&journeyman);
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        assert!(reasons[0].contains("it has no such token"), "{reasons:?}");
        assert!(
            reasons[0].contains("journeyman model calibrate"),
            "{reasons:?}"
        );
    });
}

/// What the session says of a gate that is not fitted.
fn not_fitted(journeyman: &Journeyman) -> Vec<String> {
    let findings = journeyman.findings().into_iter();
    let of_it = findings.filter(|one| one.kind == FindingKind::Uncalibrated);
    of_it.map(|one| one.to_string()).collect()
}

#[test]
fn a_fit_that_failed_is_said_until_a_decision_has_a_threshold() {
    block_on(async {
        let fails = Arc::new(AtomicBool::new(true));
        let still = Arc::clone(&fails);
        let scorer = ScriptedScorer::by(move |prompt, text| match still.load(Ordering::SeqCst) {
            true => Play::Fail(journeyman::Error::invalid("test", "it is away")),
            false => Play::Give(-3.0 + 0.05 * (1.0 + drawn(&prompt.text(), text))),
        });
        let journeyman = opened(Arc::new(scorer.untrained()), memory()).await;
        with_skills(&journeyman, &["right", "other"]).await;
        decided(&journeyman, "first").await;
        assert_eq!(not_fitted(&journeyman).len(), 1);
        fails.store(false, Ordering::SeqCst);
        decided(&journeyman, "second").await;
        assert_eq!(not_fitted(&journeyman), [""; 0]);
    });
}

/// A model that reads ten tokens a second.
#[derive(Debug)]
struct Slow(ScriptedScorer);

#[async_trait]
impl Scorer for Slow {
    fn model(&self) -> &journeyman::ModelId {
        self.0.model()
    }

    async fn score(&self, request: &ScoreRequest) -> journeyman::Result<Vec<TokenScores>> {
        self.0.score(request).await
    }

    fn speed(&self) -> Option<ModelSpeed> {
        let token = Duration::from_millis(100);
        Some(ModelSpeed::new(token, token))
    }
}

#[test]
fn a_model_that_is_too_slow_to_be_fitted_injects_nothing_and_says_what_to_do() {
    block_on(async {
        let scorer = Arc::new(Slow(untrained()));
        let journeyman = opened(scorer, memory()).await;
        with_skills(&journeyman, &["right", "other"]).await;
        let found = not_fitted(&journeyman);
        assert_eq!(found.len(), 1, "{found:?}");
        for part in [
            "minutes",
            "300 seconds",
            "`recipe.limits.fit`",
            "journeyman model calibrate",
        ] {
            assert!(found[0].contains(part), "{part} in {found:?}");
        }
        assert!(FindingKind::Uncalibrated.is_warning());
        let selection = decided(&journeyman, "first").await;
        assert!(
            matches!(
                &selection.decision,
                Decision::Nothing(NothingReason::Uncalibrated(_))
            ),
            "{selection}"
        );
        // What the decision says is known already.
        assert_eq!(not_fitted(&journeyman), found);
    });
}

#[test]
fn decisions_among_more_skills_have_a_threshold_for_as_many() {
    block_on(async {
        let names: Vec<String> = (0..25).map(|number| format!("skill-{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut thresholds = Vec::new();
        // With ten at least; and with ten that stand in for later ones.
        for (skills, scored) in [(5, 10), (25, 35)] {
            let scorer = Arc::new(untrained());
            let journeyman = opened(scorer.clone(), memory()).await;
            with_skills(&journeyman, &names[..skills]).await;
            let gate = journeyman.gate().await.expect("fitted").expect("a gate");
            let calls = scorer.calls();
            assert!(calls >= 24 * scored, "{calls} of {scored}");
            assert!(calls <= 25 * scored, "{calls} of {scored}");
            let selection = decided(&journeyman, "first").await;
            // The decision is by the same fit.
            assert_eq!(scorer.calls(), calls + 1);
            assert_eq!(selection.candidates.len(), skills);
            assert_eq!(selection.fitted.map(|one| one.threshold), gate.threshold);
            thresholds.push(gate.threshold.expect("one"));
        }
        assert_ne!(thresholds[0], thresholds[1]);
    });
}

/// A session with a search, and a model that finds `one` likelier behind tasks that say it, and `other` still more.
async fn searching(scorer: Arc<ScriptedScorer>) -> Journeyman {
    let mut recipe = recipe::standard();
    change_gate(&mut recipe, |gate| gate.epsilon = 0.0);
    searching_by(scorer, recipe).await
}

async fn searching_by(scorer: Arc<ScriptedScorer>, recipe: Recipe) -> Journeyman {
    let mut components = parts(scorer, memory());
    components.retriever = Some(Arc::new(ScriptedRetriever::new()));
    let options = Options::new("test", Seed(7));
    let opened = Journeyman::open(components, recipe, options).await;
    let journeyman = opened.expect("it opens");
    with_skills(&journeyman, &["one", "other"]).await;
    journeyman
}

fn likes(one: f64) -> Arc<ScriptedScorer> {
    let scorer = ScriptedScorer::by(move |prompt, text| {
        let prompt = prompt.text();
        let by_chance = -3.0 + 0.05 * (1.0 + drawn(&prompt, text));
        Play::Give(match prompt.contains("say one") {
            true if text.contains("How to do other") => -0.2,
            true => one,
            false if prompt.trim() == "skill:" => -3.0,
            false => by_chance,
        })
    });
    Arc::new(scorer.untrained())
}

#[test]
fn with_a_search_its_first_skill_is_decided_about_by_both_scores() {
    block_on(async {
        let scorer = likes(-0.5);
        let journeyman = searching(scorer.clone()).await;
        let gate = journeyman.gate().await.expect("fitted").expect("a gate");
        // Of each task one skill, behind it and by itself: one of the two, or one of ten that stand in where the search finds none.
        assert!(scorer.calls() <= 24 + 2 + 10, "{}", scorer.calls());
        let selection = decided(&journeyman, "first").await;
        assert_eq!(selection.skill().expect("injected").id.as_str(), "one");
        // The other one is not asked about, though the model likes it better.
        assert_eq!(selection.candidates.len(), 1);
        let fitted = selection.fitted.expect("fitted");
        assert_eq!(gate.threshold, Some(fitted.threshold));
        let found = fitted.found.expect("a search");
        assert!(
            found.nats > 0.0 && (0.0..=1.0).contains(&found.words_power),
            "{found:?}"
        );
        let said = gate.to_string();
        assert!(said.contains("the search finds first"), "{said}");
    });
}

#[test]
fn a_calibration_of_a_sessions_fit_decides_as_that_session_and_fits_nothing() {
    block_on(async {
        let session = searching(likes(-0.5)).await;
        let before = decided(&session, "first").await;
        let fitted = before.fitted.clone().expect("fitted");
        let calibration = GateCalibration::of_session(&fitted, &ScriptedFormat);
        // As a file keeps it.
        let text = serde_json::to_string(&calibration).expect("JSON");
        let calibration = GateCalibration::from_json(&text).expect("read");
        let mut recipe = recipe::standard();
        recipe.calibrate(&calibration).expect("a gate");
        change_gate(&mut recipe, |gate| gate.epsilon = 0.0);
        recipe.validate().expect("valid");

        let scorer = likes(-0.5);
        let session = searching_by(scorer.clone(), recipe.clone()).await;
        let gate = session.gate().await.expect("known").expect("a gate");
        assert_eq!(gate.by, ThresholdBy::Calibration);
        assert_eq!(
            (gate.threshold, gate.found),
            (Some(fitted.threshold), fitted.found)
        );
        assert!(
            gate.to_string().contains("the search finds first"),
            "{gate}"
        );
        let found = session.findings();
        let other = |one: &Finding| one.kind == FindingKind::OtherModel;
        assert!(!found.iter().any(other), "{found:?}");
        let after = decided(&session, "first").await;
        assert_eq!(after.decision, before.decision);
        assert_eq!(after.candidates, before.candidates);
        // Behind the task, and by itself.
        assert_eq!(scorer.calls(), 2);

        // Without a search whose scores compare it does not open; a ranking by weights is refused.
        let session = parts(likes(-0.5), memory());
        let session = Journeyman::open(session, recipe.clone(), Options::new("test", Seed(7)));
        let error = session.await.expect_err("no search");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(
            error.to_string().contains("Components::retriever"),
            "{error}"
        );
        recipe.select.rank = Some(Default::default());
        let error = recipe.validate().expect_err("two scales");
        assert!(error.message().contains("the score of a search"), "{error}");
    });
}

#[test]
fn a_host_may_give_a_fit_more_time() {
    block_on(async {
        let mut recipe = recipe::standard();
        recipe.limits.fit = Duration::from_secs(24 * 3_600);
        let store = memory();
        let options = Options::new("test", Seed(7));
        let components = parts(Arc::new(Slow(untrained())), store);
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        with_skills(&journeyman, &["right", "other"]).await;
        let found = journeyman.findings();
        assert!(
            found
                .iter()
                .all(|one| one.kind != FindingKind::Uncalibrated),
            "{found:?}"
        );
        let gate = journeyman.gate().await.expect("fitted").expect("a gate");
        assert!(matches!(gate.by, ThresholdBy::Fitted(_)), "{gate}");
    });
}

#[test]
fn a_relative_test_compares_all_candidates_also_with_a_search() {
    block_on(async {
        let mut recipe = recipe::standard();
        change_gate(&mut recipe, |gate| {
            (gate.epsilon, gate.relative) = (0.0, Some(0.99));
        });
        let journeyman = searching_by(likes(-0.5), recipe).await;
        let selection = decided(&journeyman, "first").await;
        assert_eq!(selection.candidates.len(), 2, "{selection}");
        assert_eq!(selection.fitted.expect("fitted").found, None);
    });
}

#[test]
fn a_library_of_none_or_one_skill_is_fitted_to_with_a_search_and_again_with_each_skill() {
    block_on(async {
        let scorer = likes(-0.5);
        let journeyman = searching(scorer.clone()).await;
        journeyman.gate().await.expect("fitted").expect("a gate");
        for (names, expect_more) in [(&["third"][..], true), (&[], false), (&["fourth"], true)] {
            let calls = scorer.calls();
            with_skills(&journeyman, names).await;
            let gate = journeyman.gate().await.expect("fitted").expect("a gate");
            assert_eq!(scorer.calls() > calls, expect_more, "{names:?}");
            assert!(gate.threshold.expect("one").is_finite());
        }
        for names in [&[][..], &["one"]] {
            let mut components = parts(likes(-0.5), memory());
            components.retriever = Some(Arc::new(ScriptedRetriever::new()));
            let options = Options::new("test", Seed(7));
            let opened = Journeyman::open(components, recipe::standard(), options).await;
            let journeyman = opened.expect("it opens");
            if !names.is_empty() {
                with_skills(&journeyman, names).await;
            }
            let gate = journeyman.gate().await.expect("fitted").expect("a gate");
            let ThresholdBy::Fitted(fitted) = gate.by else {
                panic!("{gate}");
            };
            let found = fitted.found.expect("a search");
            // Without a skill the search finds nothing, and counts nothing.
            assert!(!names.is_empty() || found.nats == 0.0, "{found:?}");
            assert!(
                found.nats.is_finite() && found.most.is_finite(),
                "{found:?}"
            );
            assert!(fitted.threshold.is_finite());
        }
    });
}

#[test]
fn a_skill_that_the_search_finds_and_the_model_does_not_want_is_not_injected() {
    block_on(async {
        let journeyman = searching(likes(-8.0)).await;
        let selection = decided(&journeyman, "first").await;
        let Decision::Nothing(NothingReason::BelowAbsolute { best, threshold }) =
            selection.decision
        else {
            panic!("{selection}");
        };
        let fitted = selection.fitted.expect("fitted");
        assert_eq!(threshold, fitted.threshold);
        // The model's score is among what is compared, and so is the search's.
        let counts = fitted
            .found
            .expect("a search")
            .counts(1.0, "say one and then two");
        assert!(counts > 0.0 && best < counts, "{best} {threshold} {counts}");
    });
}

/// A model that takes its time.
#[derive(Debug)]
struct Waiting(ScriptedScorer);

#[async_trait]
impl Scorer for Waiting {
    fn model(&self) -> &journeyman::ModelId {
        self.0.model()
    }

    async fn score(&self, request: &ScoreRequest) -> journeyman::Result<Vec<TokenScores>> {
        futures_timer::Delay::new(Duration::from_millis(2)).await;
        self.0.score(request).await
    }
}

#[test]
fn a_fit_that_a_decision_has_no_time_for_goes_on_at_the_next_ones() {
    block_on(async {
        let scorer = Arc::new(Waiting(untrained()));
        let mut components = parts(scorer.clone(), memory());
        components.clock = Some(Arc::new(SystemClock::default()));
        let mut options = Options::new("test", Seed(7));
        options.decide_within = Some(Duration::from_millis(20));
        let opened = Journeyman::open(components, recipe::standard(), options).await;
        let journeyman = opened.expect("it opens");
        with_skills(&journeyman, &["right", "other"]).await;
        let mut without = 0;
        let fitted = loop {
            let selection = decided(&journeyman, &format!("task-{without}")).await;
            match selection.fitted {
                Some(fitted) => break fitted,
                None => without += 1,
            }
            assert!(without < 400, "it is never fitted: {}", scorer.0.calls());
        };
        assert!(without > 0);
        assert_eq!(fitted.tasks, 24);
    });
}

/// The decision about a task, and what the attempt is given.
pub(super) async fn begun(
    journeyman: &Journeyman,
    task: Task,
) -> (journeyman::domain::Selection, String) {
    let events = journeyman.events();
    let handle = journeyman.begin(task).await.expect("begun");
    let selection = told(events).into_iter().find_map(|event| match event.kind {
        EventKind::Selected { selection, .. } => Some(selection),
        _ => None,
    });
    (selection.expect("decided"), handle.prompt())
}

/// A model that keeps the greatest number of tokens that a request wants of a text.
#[derive(Debug)]
struct Watched {
    inner: ScriptedScorer,
    most: AtomicUsize,
}

#[async_trait]
impl Scorer for Watched {
    fn model(&self) -> &journeyman::ModelId {
        self.inner.model()
    }

    async fn score(&self, request: &ScoreRequest) -> journeyman::Result<Vec<TokenScores>> {
        let wanted = request.max_continuation_tokens;
        self.most.fetch_max(wanted, Ordering::SeqCst);
        self.inner.score(request).await
    }
}

#[test]
fn of_a_skill_of_thirty_thousand_words_no_more_is_scored_than_of_a_short_one() {
    block_on(async {
        for has_search in [false, true] {
            let scorer = Arc::new(Watched {
                inner: untrained(),
                most: AtomicUsize::new(0),
            });
            let mut components = parts(scorer.clone(), memory());
            if has_search {
                components.retriever = Some(Arc::new(ScriptedRetriever::new()));
            }
            let options = Options::new("test", Seed(7));
            let opened = Journeyman::open(components, recipe::standard(), options).await;
            let journeyman = opened.expect("it opens");
            let long =
                sample::skill("right").with_body("say ".repeat(30_000).trim_end().to_owned());
            let added = journeyman.add(vec![long, sample::skill("other")], "a start");
            added.await.expect("added");
            let (selection, prompt) = begun(&journeyman, sample::task("t", &["one", "two"])).await;
            assert!(selection.fault().is_none(), "{selection}");
            assert!(selection.fitted.is_some(), "{selection}");
            assert_eq!(scorer.most.load(Ordering::SeqCst), 32);
            // Without a search the model alone decides.
            if !has_search {
                assert_eq!(selection.skill().expect("injected").id.as_str(), "right");
                assert!(prompt.contains("say say"));
            }
        }
    });
}

#[test]
fn of_five_skills_of_one_text_none_is_injected_and_nothing_fails() {
    block_on(async {
        // All texts are alike to it, and behind this task less likely than behind most others.
        let scorer = ScriptedScorer::by(|prompt, _| {
            let prompt = prompt.text();
            Play::Give(
                match (prompt.contains("say one"), prompt.trim() == "skill:") {
                    (true, _) => -2.99,
                    (_, true) => -3.0,
                    _ => -3.0 + 0.05 * (1.0 + drawn(&prompt, "")),
                },
            )
        });
        let scorer = Arc::new(scorer.untrained());
        for has_search in [false, true] {
            let mut components = parts(scorer.clone(), memory());
            if has_search {
                components.retriever = Some(Arc::new(ScriptedRetriever::new()));
            }
            let options = Options::new("test", Seed(7));
            let opened = Journeyman::open(components, recipe::standard(), options).await;
            let journeyman = opened.expect("it opens");
            let skills = (1..=5).map(|number| {
                sample::skill(&format!("it-{number}"))
                    .with_description("How to do it.")
                    .with_body("To do it, say it.")
            });
            let added = journeyman.add(skills.collect(), "a start").await;
            assert_eq!(added.expect("added").changed(), 5);
            let (selection, _) = begun(&journeyman, sample::task("t", &["one", "two"])).await;
            assert!(selection.skills().is_empty(), "{selection}");
            assert!(selection.fault().is_none(), "{selection}");
            assert!(
                matches!(
                    selection.decision,
                    Decision::Nothing(NothingReason::BelowAbsolute { .. })
                ),
                "{selection}"
            );
            // With a search the first one alone is scored.
            let scored = if has_search { 1 } else { 5 };
            assert_eq!(selection.candidates.len(), scored, "{selection}");
            let first = selection.candidates[0].value;
            assert!(selection.candidates.iter().all(|one| one.value == first));
        }
    });
}

#[test]
fn a_scorer_that_fails_for_one_of_two_candidates_costs_the_injection_and_no_task() {
    block_on(async {
        // The recipe's threshold holds for it, and it knows the skills.
        let scorer = Arc::new(ScriptedScorer::by(|prompt, text| {
            match (
                prompt.text().contains("say one"),
                text.contains("How to do other"),
            ) {
                (true, true) => Play::Fail(Error::invalid("test", "it has no such token")),
                (true, false) => Play::Give(-0.5),
                (false, _) => Play::Give(-3.0),
            }
        }));
        assert!(scorer.is_trained_to_score());
        let journeyman = opened(scorer, memory()).await;
        with_skills(&journeyman, &["right", "other"]).await;
        let handle = journeyman.begin(sample::task("t", &["one", "two"])).await;
        let handle = handle.expect("begun");
        assert!(handle.injection().skills.is_empty());
        let report = handle.finish(sample::outcome(true)).await;
        let report = report.expect("finished").expect("a group of one");
        let Decision::Nothing(NothingReason::ScorerUnavailable(why)) =
            &report.selections[0].decision
        else {
            panic!("{}", report.selections[0]);
        };
        assert!(why.contains("it has no such token"), "{why}");
        assert_eq!(report.attempts[0].success, Some(true));
        assert_eq!(report.attempts[0].error, None);
        assert_eq!(report.failed, None);
    });
}

#[test]
fn a_task_longer_than_the_scorers_context_is_decided_or_says_why_it_is_not() {
    let long = || {
        let mut task = sample::task("long", &["one", "two"]);
        task.instruction = "say one and then two ".repeat(3_000);
        task
    };
    block_on(async {
        // It loses its middle.
        let journeyman = opened(Arc::new(untrained()), memory()).await;
        with_skills(&journeyman, &["right", "other"]).await;
        let (selection, _) = begun(&journeyman, long()).await;
        assert!(selection.fault().is_none(), "{selection}");
        assert_eq!(selection.skill().expect("injected").id.as_str(), "right");

        // A scorer that does not say how much it has room for.
        let scorer = ScriptedScorer::by(|prompt, _| match prompt.text().len() {
            0..10_000 => Play::Give(-1.0),
            _ => Play::Fail(Error::invalid("test", "the prompt is too long")),
        });
        let journeyman = opened(Arc::new(scorer.untrained()), memory()).await;
        with_skills(&journeyman, &["right", "other"]).await;
        let (selection, _) = begun(&journeyman, long()).await;
        assert!(selection.skills().is_empty(), "{selection}");
        let Decision::Nothing(NothingReason::ScorerUnavailable(why)) = &selection.decision else {
            panic!("{selection}");
        };
        assert!(why.contains("the prompt"), "{why}");
    });
}
