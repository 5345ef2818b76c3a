//! Attempts that are made for somebody, and what a report says of decisions that were not made.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::{executor::block_on, lock::Mutex};
use journeyman::{
    ModelId, Result, Seed, Timestamp,
    builtin::SystemClock,
    contract::{Clock, ModelSpeed, ScoreRequest, Scorer, TokenScores},
    domain::{Decision, NothingReason},
    report::RunReport,
    run::{Journeyman, Options},
    testing::{Play, ScriptedScorer, sample},
};

use crate::{backends, recipe, tasks};

/// Opens a session on what was learned, whose gate always explores where it may.
async fn exploring(explore_live: bool) -> Journeyman {
    let mut recipe = recipe();
    recipe.select.selector.gate_mut().expect("a gate").epsilon = 1.0;
    let mut options = Options::new("test", Seed(7));
    options.explore_live = explore_live;
    let journeyman = Journeyman::open(backends(), recipe, options)
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
}

/// Evaluates tasks of which eight are decided at once, with time for one decision or two.
fn evaluated(speed: Option<ModelSpeed>) -> RunReport {
    let mut backends = backends();
    backends.clock = Some(Arc::new(SystemClock::default()));
    let scores = ScriptedScorer::by(|prompt, _| {
        Play::Give(match prompt.text().contains("say") {
            true => -0.5,
            false => -2.0,
        })
    });
    let mut recipe = recipe();
    recipe.limits.score = 3 * TAKES;
    block_on(async {
        let open =
            |backends, recipe| Journeyman::open(backends, recipe, Options::new("test", Seed(7)));
        backends.scorer = Some(Arc::new(OneProcessor {
            scores,
            speed,
            processor: Mutex::default(),
        }));
        let journeyman = open(backends, recipe).await.expect("it opens");
        journeyman.learn(tasks(3)).await.expect("it learns");
        journeyman.evaluate(tasks(16)).await.expect("it evaluates")
    })
}

#[test]
fn a_decision_that_shares_a_slow_processor_has_time_for_it() {
    let token = Duration::from_millis(1);
    let report = evaluated(Some(ModelSpeed {
        read_token: token,
        write_token: token,
    }));
    assert_eq!(report.undecided().count(), 0, "{report}");
    assert_eq!(report.not_measured(), None);
}

#[test]
fn a_report_tells_what_was_not_decided() {
    let report = evaluated(None);
    assert!(report.undecided().count() > 1, "{report}");
    let (_, reason) = report.undecided().next().expect("a reason");
    assert!(
        matches!(reason, NothingReason::ScorerUnavailable(_)),
        "{reason}"
    );
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
        Some(ModelSpeed {
            read_token: token,
            write_token: token,
        })
    }
}

#[test]
fn the_limit_of_a_decision_grows_with_the_scorers_speed() {
    let mut backends = backends();
    backends.scorer = Some(Arc::new(Slow(ScriptedScorer::that(Play::Give(-1.0)))));
    let report = block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(backends, recipe(), options)
            .await
            .expect("it opens");
        journeyman.learn(tasks(3)).await.expect("it learns")
    });
    assert_eq!(report.undecided().count(), 0, "{report}");
}
