//! The score of each decision is kept with its attempt, and a gate's threshold is fitted on pairs of attempts.

use journeyman::{
    SkillId,
    agent::AdaptedModel,
    contract::Scorer,
    domain::{ComparedPair, Trace, Withhold},
    run::ThresholdBy,
    stations::{
        proof::ComparePolicy,
        select::{ByOutcomes, HarmBound},
    },
};

use super::{
    proven::{With, with_skills},
    *,
};

/// Seven tasks show it at least.
const BOUND: HarmBound = HarmBound {
    most: 0.3,
    error: 0.1,
};

/// How likely any skill is: behind tasks of `w` with a number more or less, behind those of `v` a quarter of that, and behind none less.
fn likelihood(prompt: &Prompt, _: &str) -> Play<f64> {
    let text = prompt.text();
    let words = text.split("say ").nth(1);
    let word = words.and_then(|rest| rest.split(' ').next());
    let number = |letter: char| -> Option<u32> {
        let digits = word.and_then(|word| word.strip_prefix(letter));
        digits.and_then(|digits| digits.parse().ok())
    };
    let place = |number: u32| f64::from(number * 37 % 100);
    Play::Give(match (number('w'), number('v')) {
        (Some(number), _) => -2.9 + 0.01 * place(number),
        (_, Some(number)) => -2.9 + 0.0025 * place(number),
        _ => -3.0,
    })
}

pub(super) fn scorer() -> Arc<ScriptedScorer> {
    Arc::new(ScriptedScorer::by(likelihood).with_adapter("own", likelihood))
}

/// Tasks with a letter and a number as their first word.
pub(super) fn numbered(letter: char, numbers: std::ops::Range<usize>) -> Vec<Task> {
    let task = |number| {
        let word = format!("{letter}{number}");
        sample::task(&format!("{word}-{number}"), &[word.as_str(), "end"])
    };
    numbers.map(task).collect()
}

/// A gate that lets each skill through that is a little likelier behind the task, and nothing is written.
pub(super) fn gated() -> Recipe {
    let mut recipe = recipe();
    change_gate(&mut recipe, |gate| gate.epsilon = 0.0);
    recipe.write.when = WriteWhen::Never;
    recipe.tiers.traces = 200;
    recipe.attempts.group = n32(1);
    recipe
}

/// The parts of a session in which all skills are candidates.
pub(super) fn parts(store: &Arc<MemoryStore>, scorer: Arc<dyn Scorer>, model: &str) -> Components {
    let mut parts = components();
    parts.store = Some(Arc::clone(store) as _);
    parts.retriever = None;
    parts.scorer = Some(scorer);
    parts.executor = Some(With::model(model));
    parts
}

/// A session with this skill in its library.
async fn session(skill: &str, recipe: Recipe) -> (Arc<MemoryStore>, Journeyman) {
    let store = Arc::new(MemoryStore::new());
    let parts = parts(&store, scorer(), "first");
    let journeyman = open_as("test", &parts, recipe).await;
    with_skills(&journeyman, &[skill]).await;
    (store, journeyman)
}

/// Learns from tasks, and compares the skills at them; the pairs of the one skill.
async fn compared(journeyman: &Journeyman, skill: &str, tasks: Vec<Task>) -> Vec<ComparedPair> {
    journeyman.learn(tasks).await.expect("it learns");
    let certificate = journeyman.certify(ComparePolicy::default()).await;
    certificate.expect("it is compared");
    let library = journeyman.library().await.expect("read");
    let entry = library.get(&SkillId::new(skill)).expect("there");
    entry.life.pairs(entry.skill.version).cloned().collect()
}

fn kept<'a>(library: &'a SkillLibrary, task: &TaskId) -> &'a Trace {
    let mut kept = library.traces();
    kept.find(|trace| trace.task.id == *task).expect("kept")
}

#[test]
fn the_score_of_a_decision_is_kept_with_its_attempt_and_with_the_pair_that_is_made_of_it() {
    block_on(async {
        let (_, journeyman) = session("good", gated()).await;
        let tasks = numbered('w', 0..20);
        let report = journeyman.learn(tasks).await.expect("it learns");
        let library = journeyman.library().await.expect("read");
        for task in &report.tasks {
            let trace = kept(&library, &task.task);
            let score = trace.gate_score.clone().expect("a gate decided");
            let best = task.selections[0].best().expect("scored");
            assert_eq!((&score.skill, score.value), (&best.skill, best.value));
            assert_eq!((score.score, score.found), (ScoreKind::Pmi, None));
            assert_eq!(score.by.model.as_str(), "scripted");

            let mut json = serde_json::to_value(trace).expect("JSON");
            let read: Trace = serde_json::from_value(json.clone()).expect("it is read");
            assert_eq!(&read, trace);
            // What an earlier version kept has none.
            json.as_object_mut().expect("fields").remove("gate_score");
            let old: Trace = serde_json::from_value(json).expect("it is read");
            assert_eq!(old.gate_score, None);
        }
        let pairs = compared(&journeyman, "good", numbered('w', 20..21)).await;
        let library = journeyman.library().await.expect("read");
        assert!(pairs.len() >= 8, "{}", pairs.len());
        for pair in pairs {
            assert!(pair.gate_score.is_some());
            assert_eq!(pair.gate_score, kept(&library, &pair.task).gate_score);
        }
    });
}

#[test]
fn what_chance_left_out_has_its_score_and_is_no_pair() {
    block_on(async {
        let mut recipe = gated();
        recipe.select.withhold = Some(Withhold { share: 0.5 });
        let (_, journeyman) = session("good", recipe).await;
        let report = journeyman.learn(numbered('w', 0..20)).await;
        let report = report.expect("it learns");
        let library = journeyman.library().await.expect("read");
        let without = report.tasks.iter().filter(|task| {
            task.selections[0].decision == Decision::Nothing(NothingReason::Withheld)
        });
        let without: Vec<&TaskId> = without.map(|task| &task.task).collect();
        assert!((1..20).contains(&without.len()), "{without:?}");
        for task in without {
            let score = kept(&library, task).gate_score.as_ref();
            assert_eq!(score.expect("a gate chose it").skill.id.as_str(), "good");
        }
        let calibration = journeyman.calibrate_by_outcomes(BOUND).await;
        let calibration = calibration.expect("it is counted");
        assert_eq!((calibration.tasks, calibration.left_out), (0, 0));
    });
}

#[test]
fn a_skill_that_no_gate_chose_has_no_score() {
    block_on(async {
        let mut closed = gated();
        change_gate(&mut closed, |gate| gate.absolute = Some(1e6));
        let mut without_a_gate = gated();
        without_a_gate.select.selector = top(1);
        for recipe in [closed, without_a_gate] {
            let (_, journeyman) = session("good", recipe).await;
            let report = journeyman.learn(numbered('w', 0..3)).await;
            report.expect("it learns");
            let library = journeyman.library().await.expect("read");
            assert_eq!(library.traces().count(), 3);
            assert!(library.traces().all(|trace| trace.gate_score.is_none()));
        }
    });
}

#[test]
fn a_threshold_is_fitted_on_the_pairs_and_too_few_say_how_many_are_needed() {
    block_on(async {
        let (store, journeyman) = session("good", gated()).await;
        let few = compared(&journeyman, "good", numbered('w', 0..4)).await;
        assert_eq!(few.len(), 4);
        let calibration = journeyman.calibrate_by_outcomes(HarmBound::default()).await;
        let calibration = calibration.expect("it is counted");
        assert_eq!(calibration.fit, ByOutcomes::NotYet { more: 41 });
        let told = "not yet fitted: 4 tasks with pairs, at least 45 needed";
        assert_eq!(calibration.to_string(), told);

        let pairs = compared(&journeyman, "good", numbered('w', 4..40)).await;
        let calibration = journeyman.calibrate_by_outcomes(BOUND).await;
        let calibration = calibration.expect("it is fitted");
        assert_eq!(calibration.tasks as usize, pairs.len());
        let model = calibration.model.as_ref().map(ToString::to_string);
        assert_eq!(model.as_deref(), Some("first"));
        let told = calibration.to_string();
        let ByOutcomes::Fitted(fitted) = calibration.fit else {
            panic!("{told}");
        };
        assert_eq!(fitted.fitted_for.model.as_str(), "scripted");
        let scores = pairs.iter().filter_map(|pair| pair.gate_score.as_ref());
        let lowest = scores.fold(f64::INFINITY, |low, one| low.min(one.value));
        // No task goes worse, and below the lowest score nothing was tried.
        let outcomes = fitted.outcomes.expect("fitted on them");
        assert_eq!(outcomes.fitted.harmed.count, 0);
        assert_eq!(fitted.threshold, lowest);
        let scores = fitted.scores.as_ref().expect("they are kept");
        assert_eq!(
            (scores.above, scores.values.len()),
            (Some(lowest), pairs.len() - 1)
        );

        let mut recipe = gated();
        recipe.calibrate(&fitted).expect("it is for this score");
        let parts = parts(&store, scorer(), "first");
        let calibrated = open_as("calibrated", &parts, recipe).await;
        let gate = calibrated.gate().await.expect("known").expect("a gate");
        assert_eq!(gate.by, ThresholdBy::Calibration);
        assert_eq!(gate.threshold, Some(lowest));
    });
}

#[test]
fn a_skill_that_harms_raises_the_threshold() {
    block_on(async {
        let (_, journeyman) = session("bad", gated()).await;
        let pairs = compared(&journeyman, "bad", numbered('w', 0..30)).await;
        let calibration = journeyman.calibrate_by_outcomes(BOUND).await;
        let ByOutcomes::Fitted(fitted) = calibration.expect("it is fitted").fit else {
            panic!("{} pairs are enough", pairs.len());
        };
        let worse = pairs.iter().filter(|pair| pair.with < pair.before);
        let scores: Vec<f64> = worse
            .filter_map(|pair| pair.gate_score.as_ref())
            .map(|score| score.value)
            .collect();
        let injected = scores.iter().filter(|score| **score > fitted.threshold);
        let harmed = fitted.outcomes.expect("fitted on them").fitted.harmed;
        assert_eq!(injected.count(), harmed.count as usize);
        assert!((harmed.count as usize) < scores.len(), "{harmed}");
        assert!(scores.contains(&fitted.threshold), "{scores:?}");
    });
}

#[test]
fn pairs_of_another_scorer_or_of_another_agent_do_not_count() {
    block_on(async {
        let (store, journeyman) = session("good", gated()).await;
        let pairs = compared(&journeyman, "good", numbered('w', 0..20)).await;
        let adapted: Arc<dyn Scorer> = Arc::new(AdaptedModel::new(scorer(), "own"));
        for (name, scorer, model) in [
            ("adapted", adapted, "first"),
            ("other", scorer() as Arc<dyn Scorer>, "second"),
        ] {
            let journeyman = open_as(name, &parts(&store, scorer, model), gated()).await;
            let calibration = journeyman.calibrate_by_outcomes(BOUND).await;
            let calibration = calibration.expect("it is counted");
            assert_eq!(calibration.fit, ByOutcomes::NotYet { more: 7 }, "{name}");
            let counted = (calibration.tasks, calibration.left_out as usize);
            assert_eq!(counted, (0, pairs.len()), "{name}");
        }
        // An agent of which nobody knows the model counts those that there are.
        let mut unnamed = parts(&store, scorer(), "first");
        unnamed.executor = None;
        let journeyman = open_as("unnamed", &unnamed, gated()).await;
        let calibration = journeyman.calibrate_by_outcomes(BOUND).await;
        assert_eq!(
            calibration.expect("it is fitted").tasks as usize,
            pairs.len()
        );
    });
}

#[test]
fn without_a_scorer_or_with_a_bound_that_is_none_nothing_is_fitted() {
    block_on(async {
        let mut parts = own_loop();
        parts.scorer = None;
        let journeyman = open_as("test", &parts, gated()).await;
        let error = journeyman.calibrate_by_outcomes(BOUND).await;
        let error = error.expect_err("nothing scores");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.hint_text().is_some(), "{error}");
        let none = HarmBound { most: 0.0, ..BOUND };
        let error = journeyman.calibrate_by_outcomes(none).await;
        let error = error.expect_err("it is no bound");
        assert_eq!(error.kind(), ErrorKind::Invalid);
    });
}
