//! Attempts that are made for somebody, and what a report says of decisions that were not made.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::{executor::block_on, lock::Mutex};
use journeyman::{
    Error, ErrorKind, ModelId, Result, Seed,
    agent::SystemClock,
    contract::{Clock, ModelSpeed, ScoreRequest, Scorer, TokenScores},
    domain::{Decision, NothingReason, Timestamp},
    run::{
        Journeyman, Options,
        report::{RunReport, SkillGain},
    },
    testing::{Play, ScriptedScorer, sample},
};

use crate::{change_gate, components, recipe, tasks};

/// Opens a session on what was learned, whose gate always explores where it may.
async fn exploring(explore_live: bool) -> Journeyman {
    let mut recipe = recipe();
    change_gate(&mut recipe, |gate| gate.epsilon = 1.0);
    let mut options = Options::new("test", Seed(7));
    options.explore_live = explore_live;
    let journeyman = Journeyman::open(components(), recipe, options)
        .await
        .expect("it opens");
    journeyman.learn(tasks(6)).await.expect("it learns");
    journeyman
}

fn explored(decision: &Decision) -> bool {
    matches!(decision, Decision::Inject { explored: true, .. })
}

#[test]
fn what_a_host_begins_never_explores_unless_asked() {
    let begun = |explore_live: bool| {
        block_on(async {
            let journeyman = exploring(explore_live).await;
            let mut all = Vec::new();
            for number in 0..6 {
                let task = sample::task(&format!("live-{number}"), &["one", "two"]);
                let handle = journeyman.begin(task).await.expect("it begins");
                let finished = handle.finish(Some(sample::outcome(true))).await;
                let report = finished.expect("it finishes").expect("a group of one");
                all.push(report.selections[0].decision.clone());
            }
            all
        })
    };
    let live = begun(false);
    assert!(
        live.iter().all(|one| matches!(
            one,
            Decision::Inject {
                explored: false,
                ..
            }
        )),
        "{live:?}"
    );
    assert!(begun(true).iter().all(explored));
    // Learning explores as the recipe says, whatever is live.
    let report = block_on(async {
        let journeyman = exploring(false).await;
        journeyman.learn(tasks(6)).await.expect("it learns")
    });
    let decisions = || report.tasks.iter().flat_map(|task| &task.selections);
    assert!(decisions().any(|one| explored(&one.decision)));
}

/// A scorer on one processor: a request takes its time, and others wait for it.
#[derive(Debug)]
struct OneProcessor {
    scores: ScriptedScorer,
    speed: Option<ModelSpeed>,
    processor: Mutex<()>,
}

const TAKES: Duration = Duration::from_millis(60);

#[async_trait]
impl Scorer for OneProcessor {
    fn model(&self) -> &ModelId {
        self.scores.model()
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let _busy = self.processor.lock().await;
        let clock = SystemClock::default();
        let until = clock.now().0 + TAKES.as_millis() as u64;
        clock.sleep_until(Timestamp(until)).await;
        self.scores.score(request).await
    }

    fn speed(&self) -> Option<ModelSpeed> {
        self.speed
    }

    fn is_trained_to_score(&self) -> bool {
        self.scores.is_trained_to_score()
    }
}

/// Evaluates tasks of which eight are decided at once, with time for one decision or two.
fn evaluated(speed: Option<ModelSpeed>) -> RunReport {
    let mut components = components();
    components.clock = Some(Arc::new(SystemClock::default()));
    let scores = ScriptedScorer::by(|prompt, _| {
        Play::Give(match prompt.text().contains("say") {
            true => -0.5,
            false => -2.0,
        })
    });
    let mut recipe = recipe();
    recipe.limits.score = 3 * TAKES;
    block_on(async {
        let open = |components, recipe| {
            Journeyman::open(components, recipe, Options::new("test", Seed(7)))
        };
        components.scorer = Some(Arc::new(OneProcessor {
            scores,
            speed,
            processor: Mutex::default(),
        }));
        let journeyman = open(components, recipe).await.expect("it opens");
        journeyman.learn(tasks(3)).await.expect("it learns");
        journeyman.evaluate(tasks(16)).await.expect("it evaluates")
    })
}

#[test]
fn a_decision_that_shares_a_slow_processor_has_time_for_it() {
    let token = Duration::from_millis(1);
    let report = evaluated(Some(ModelSpeed::new(token, token)));
    assert_eq!(report.undecided().count(), 0, "{report}");
    assert_eq!(report.not_measured(), None);
}

#[test]
fn a_report_tells_what_was_not_decided() {
    let report = evaluated(None);
    assert!(report.undecided().count() > 1, "{report}");
    let (_, reason) = report.undecided().next().expect("a reason");
    assert!(reason.contains("scor"), "{reason}");
    let why = report.not_measured().expect("too few decisions");
    assert!(why.contains("of 16 tasks"), "{why}");
    assert!(report.to_string().contains("not measured: "), "{report}");
}

/// A scorer of which one token takes so long.
#[derive(Debug)]
struct Slow(ScriptedScorer);

#[async_trait]
impl Scorer for Slow {
    fn model(&self) -> &ModelId {
        self.0.model()
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        // What a decision reads at 20 tokens a second.
        assert!(
            request.time_limit > Duration::from_secs(400),
            "{:?}",
            request.time_limit
        );
        self.0.score(request).await
    }

    fn speed(&self) -> Option<ModelSpeed> {
        let token = Duration::from_millis(50);
        Some(ModelSpeed::new(token, token))
    }

    fn is_trained_to_score(&self) -> bool {
        self.0.is_trained_to_score()
    }
}

#[test]
fn the_limit_of_a_decision_grows_with_the_scorers_speed() {
    let mut components = components();
    components.scorer = Some(Arc::new(Slow(ScriptedScorer::that(Play::Give(-1.0)))));
    let report = block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe(), options)
            .await
            .expect("it opens");
        journeyman.learn(tasks(3)).await.expect("it learns")
    });
    assert_eq!(report.undecided().count(), 0, "{report}");
}

/// What a decision took, and whether a skill was given, where the processor takes its time for each request.
fn decided(within: Option<Duration>) -> (journeyman::run::DecisionCost, Decision) {
    let mut components = components();
    components.clock = Some(Arc::new(SystemClock::default()));
    let open = |components: &journeyman::contract::Components, within| {
        let mut options = Options::new("test", Seed(7));
        options.decide_within = within;
        Journeyman::open(components.clone(), recipe(), options)
    };
    block_on(async {
        let journeyman = open(&components, None).await.expect("it opens");
        journeyman.learn(tasks(3)).await.expect("it learns");
        components.scorer = Some(Arc::new(OneProcessor {
            scores: ScriptedScorer::that(Play::Give(-0.5)),
            speed: None,
            processor: Mutex::default(),
        }));
        let journeyman = open(&components, within).await.expect("it opens");
        let task = sample::task("live", &["one", "two"]);
        let handle = journeyman.begin(task).await.expect("it begins");
        let cost = handle.decision_cost();
        let report = handle.finish(Some(sample::outcome(true))).await;
        let report = report.expect("it finishes").expect("a group of one");
        (cost, report.selections[0].decision.clone())
    })
}

#[test]
fn a_decision_says_what_it_took_and_keeps_its_budget() {
    let (cost, _) = decided(None);
    assert!(cost.gate >= TAKES, "{cost:?}");
    assert!(cost.took >= cost.gate, "{cost:?}");
    assert!(cost.retrieval < cost.gate, "{cost:?}");
    let (cost, decision) = decided(Some(TAKES / 3));
    assert!(cost.gate < TAKES, "{cost:?}");
    let Decision::Nothing(NothingReason::ScorerUnavailable(why)) = decision else {
        panic!("{decision:?}");
    };
    assert!(why.contains("no answer within"), "{why}");
    assert!(why.contains("decide_within"), "{why}");
}

/// A scorer whose answers differ from one time to the next, unless they have to be the same.
#[derive(Debug)]
struct Noisy {
    model: ModelId,
    noise: std::sync::atomic::AtomicU32,
    /// How much likelier a task makes a skill's text, in nats a token.
    gain: f64,
    /// Whether it can give the answer that is the same each time.
    repeats: bool,
}

#[async_trait]
impl Scorer for Noisy {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let drawn = self
            .noise
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let noise = match request.repeatable {
            true if !self.repeats => {
                return Err(Error::new(ErrorKind::Unavailable, "test", "busy"));
            }
            true => 0.0,
            false => f64::from(drawn * 7 % 5) * 0.1 - 0.2,
        };
        let gain = if request.prompt.text().contains("say") {
            self.gain
        } else {
            0.0
        };
        let scores = request
            .continuations
            .iter()
            .map(|_| TokenScores::new(vec![1], vec![-9.0 + gain + noise]));
        Ok(scores.collect())
    }

    fn is_trained_to_score(&self) -> bool {
        true
    }
}

/// How often a skill was given in each of ten evaluations of a library, and how many decisions were not made.
fn repeated(gain: f64, repeats: bool) -> (Vec<usize>, usize) {
    let components = components();
    block_on(async {
        let journeyman =
            Journeyman::open(components.clone(), recipe(), Options::new("test", Seed(7)));
        let journeyman = journeyman.await.expect("it opens");
        journeyman.learn(tasks(1)).await.expect("it learns");
        let scorer = Noisy {
            model: ModelId::new("noisy"),
            noise: Default::default(),
            gain,
            repeats,
        };
        let noisy = components.with_scorer(Arc::new(scorer));
        let options = Options::new("test", Seed(7)).read_only();
        let journeyman = Journeyman::open(noisy, recipe(), options).await;
        let journeyman = journeyman.expect("it opens");
        let (mut given, mut undecided) = (Vec::new(), 0);
        for _ in 0..10 {
            let report = journeyman.evaluate(tasks(6)).await.expect("it evaluates");
            let selections = report.tasks.iter().flat_map(|task| &task.selections);
            given.push(selections.filter(|one| one.skill().is_some()).count());
            undecided += report.undecided().count();
        }
        (given, undecided)
    })
}

#[test]
fn what_is_evaluated_is_decided_alike_each_time() {
    // The recipe's threshold is 0.5 nats, and the scorer's noise 0.2.
    assert_eq!(repeated(0.51, true), (vec![6; 10], 0));
    assert_eq!(repeated(0.49, true), (vec![0; 10], 0));
    // Where the scorer cannot give such an answer, that is told.
    assert_eq!(repeated(0.6, false), (vec![0; 10], 60));
}

#[test]
fn where_no_candidate_is_found_the_skills_that_wait_are_named() {
    let mut recipe = recipe();
    recipe.admit.initial_state = journeyman::domain::State::Trial;
    let report = block_on(async {
        let journeyman =
            Journeyman::open(components(), recipe, Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.learn(tasks(3)).await.expect("it learns");
        journeyman.evaluate(tasks(1)).await.expect("it evaluates")
    });
    let said = report.tasks[0].selections[0].to_string();
    assert_eq!(
        said,
        "inject nothing: no candidate was found; not offered: say-one (on trial), say-three (on trial), say-two (on trial)"
    );
}

#[test]
fn the_gain_of_skills_goes_over_all_attempts_of_a_session() {
    block_on(async {
        let journeyman = exploring(false).await;
        let of_run = journeyman.gains();
        assert!(!of_run.is_empty(), "a run is counted, too");
        let given = |number: u32| sample::task(&format!("live-{number}"), &["one", "two"]);
        let mut skill = None;
        for (number, done) in [(1, true), (2, false), (3, false)] {
            let handle = journeyman.begin(given(number)).await.expect("it begins");
            let finished = handle.finish(Some(sample::outcome(done))).await;
            let report = finished.expect("it finishes").expect("a group of one");
            skill = report.attempts[0].injected.first().cloned();
            // Of its only attempt, which is all that it is compared with.
            assert_eq!(report.gains[0].proxy, 0.0);
        }
        let of = |gains: &[SkillGain]| {
            let of_skill = |gain: &&SkillGain| Some(&gain.skill) == skill.as_ref();
            gains.iter().find(of_skill).map(|gain| gain.proxy)
        };
        let (before, after) = (of(&of_run), of(&journeyman.gains()));
        assert!(before.is_some() && after.is_some(), "{before:?} {after:?}");
        assert!(after < before, "{before:?} {after:?}");
        // An evaluation teaches nothing.
        journeyman.evaluate(tasks(3)).await.expect("it evaluates");
        assert_eq!(of(&journeyman.gains()), after);
    });
}
