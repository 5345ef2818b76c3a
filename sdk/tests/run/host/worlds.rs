//! Findings about parts that block their thread, and about worlds that cannot play test cases.

use async_trait::async_trait;
use journeyman::{
    contract::{Environment, EnvironmentCapabilities},
    domain::{Observation, Transition},
};

use super::{
    findings::{calibrated, complete},
    *,
};

/// How often a judge that keeps its thread for so long is said to block.
fn check_blocking(ms: u64, expect: usize) {
    let clock = Arc::new(ManualClock::default());
    let mut parts = components().with_clock(Arc::clone(&clock) as _);
    let judge = Arc::new(ScriptedJudge::by(move |request, _| {
        clock.advance(ms);
        let outcome = request.trajectory.outcome.as_ref();
        Play::Give(Verdict::binary(
            outcome.is_some_and(|outcome| outcome.success),
        ))
    }));
    parts.judge = Some(Arc::clone(&judge) as _);
    block_on(async {
        let mut recipe = recipe();
        calibrated(&mut recipe);
        let journeyman = open_as("test", &parts, recipe).await;
        assert_eq!(journeyman.findings(), []);
        let report = journeyman.learn(tasks(3)).await.expect("it learns");
        assert_eq!(judge.calls(), 12);
        assert!(report.errors().next().is_none(), "its verdicts count");
        let blocking = report.findings.iter();
        let blocking: Vec<&Finding> = blocking
            .filter(|finding| finding.kind == FindingKind::BlockingPart)
            .collect();
        assert_eq!(blocking.len(), expect, "{ms} ms: {blocking:?}");
        assert_eq!(report.findings.len(), expect, "and nothing else");
        for finding in blocking {
            assert_eq!(finding.about.as_deref(), Some("Judge::judge"));
            assert!(finding.to_string().contains("Judge::judge"), "{finding}");
            assert!(finding.hint.contains("OnThread"), "{finding}");
        }
    });
}

#[test]
fn a_part_that_blocks_its_thread_is_found_once() {
    check_blocking(1_500, 1);
    check_blocking(1_000, 1);
    check_blocking(999, 0);
}

/// A world whose steps keep their thread for so long, and which promises to repeat or does not.
#[derive(Debug)]
struct Slow {
    clock: Arc<ManualClock>,
    ms: u64,
    repeats: bool,
    /// Whether its episodes are slow to be looked at, and not to act in.
    observing: bool,
}

#[derive(Debug)]
struct SlowEpisode {
    inner: Box<dyn Episode>,
    clock: Arc<ManualClock>,
    ms: u64,
    observing: bool,
}

#[async_trait]
impl Environment for Slow {
    fn capabilities(&self) -> EnvironmentCapabilities {
        match self.repeats {
            true => EnvironmentCapabilities::deterministic(),
            false => EnvironmentCapabilities::resettable(),
        }
    }

    async fn reset(&self, task: &Task, seed: Seed) -> journeyman::Result<Box<dyn Episode>> {
        Ok(Box::new(SlowEpisode {
            inner: ScriptedEnvironment::words().reset(task, seed).await?,
            clock: Arc::clone(&self.clock),
            ms: self.ms,
            observing: self.observing,
        }))
    }
}

#[async_trait]
impl Episode for SlowEpisode {
    fn observation(&self) -> &Observation {
        if self.observing {
            self.clock.advance(self.ms);
        }
        self.inner.observation()
    }

    async fn step(&mut self, action: &Action) -> journeyman::Result<Transition> {
        if !self.observing {
            self.clock.advance(self.ms);
        }
        self.inner.step(action).await
    }

    async fn close(self: Box<Self>) -> journeyman::Result<()> {
        self.inner.close().await
    }
}

fn slow(ms: u64, repeats: bool, observing: bool) -> Components {
    let clock = Arc::new(ManualClock::default());
    let mut parts = components().with_clock(Arc::clone(&clock) as _);
    parts.environment = Some(Arc::new(Slow {
        clock,
        ms,
        repeats,
        observing,
    }));
    parts
}

#[test]
fn a_world_that_blocks_is_named_and_not_the_executor() {
    let check = |observing: bool, named: &str| {
        block_on(async {
            let journeyman = open_as("test", &slow(1_200, true, observing), recipe()).await;
            let report = journeyman.learn(tasks(2)).await.expect("it learns");
            let blocking = report.findings.iter();
            let blocking: Vec<_> = blocking
                .filter(|finding| finding.kind == FindingKind::BlockingPart)
                .map(|finding| (finding.about.as_deref(), finding.hint.contains("OnThread")))
                .collect();
            assert_eq!(blocking, [(Some(named), true)]);
        })
    };
    check(false, "Episode::step");
    check(true, "Episode::observation");
}

#[test]
fn a_world_that_does_not_promise_to_repeat_plays_no_fragments() {
    let of = |repeats: bool| {
        block_on(async {
            let journeyman =
                open_as("test", &slow(0, repeats, false), recipe::hisme_robust()).await;
            let findings = journeyman.findings();
            let replays = findings.iter();
            let replays = replays.filter(|one| one.kind == FindingKind::NothingReplays);
            replays.map(|one| one.about.clone()).collect::<Vec<_>>()
        })
    };
    assert_eq!(of(true), []);
    assert_eq!(of(false), [Some("fragments".to_owned())]);
}

/// A world that was set up once for an attempt and then never again, as a stub that a host wrote to satisfy a
/// constructor.
#[derive(Debug)]
struct NeverAgain(std::sync::Mutex<std::collections::BTreeSet<String>>);

#[async_trait]
impl Environment for NeverAgain {
    fn capabilities(&self) -> EnvironmentCapabilities {
        EnvironmentCapabilities::deterministic()
    }

    async fn reset(&self, task: &Task, seed: Seed) -> journeyman::Result<Box<dyn Episode>> {
        let first = self.0.lock().expect("no panic").insert(task.id.to_string());
        match first {
            true => ScriptedEnvironment::words().reset(task, seed).await,
            false => Err(Error::invalid("NeverAgain::reset", "only once")),
        }
    }
}

#[test]
fn a_world_that_cannot_play_test_cases_is_found() {
    block_on(async {
        let mut parts = complete();
        parts.environment = Some(Arc::new(NeverAgain(Default::default())));
        let journeyman = open_as("test", &parts, recipe::hisme_robust()).await;
        let report = journeyman.learn(tasks(30)).await.expect("it learns");
        let cases = report.findings.iter();
        let cases: Vec<_> = cases
            .filter(|one| one.about.as_deref() == Some("cases"))
            .collect();
        let [cases] = cases.as_slice() else {
            panic!("one finding, not {cases:?}");
        };
        assert_eq!(cases.kind, FindingKind::NothingReplays);
        assert!(cases.reason.contains("only once"), "{cases}");
    });
}
