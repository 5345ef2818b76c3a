//! A world, an agent, a dialect or a writer that breaks one rule fails the case of that rule.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Result, Seed,
    conformance::{self, Report},
    contract::{
        Attempt, Dialect, Environment, EnvironmentCapabilities, Episode, Executor, GenerateRequest,
        SkillWriter, TurnMove, TurnView, WriteRequest,
    },
    domain::{
        Action, EndReason, Observation, Prompt, Skill, SkillDraft, Span, Task, Trajectory,
        Transition,
    },
    testing::{
        Play, ScriptedDialect, ScriptedEnvironment, ScriptedExecutor, ScriptedWriter, sample,
    },
};

fn failed(report: &Report) -> Vec<&'static str> {
    report.failures().map(|case| case.name).collect()
}

fn say(word: &str) -> Action {
    Action::Message(word.to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum WorldFlaw {
    Wavers,
    TakesAnyTask,
    OutcomeEachTime,
    RefusalIsErr,
    GoesOn,
}

#[derive(Debug)]
struct FlawedWorld {
    inner: ScriptedEnvironment,
    flaw: WorldFlaw,
    calls: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct FlawedEpisode {
    inner: Box<dyn Episode>,
    flaw: WorldFlaw,
    calls: Arc<AtomicUsize>,
    last: Option<Transition>,
}

#[async_trait]
impl Environment for FlawedWorld {
    fn capabilities(&self) -> EnvironmentCapabilities {
        self.inner.capabilities()
    }

    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>> {
        let known = sample::task("t", &["one"]);
        let set_up = self.inner.reset(task, seed).await;
        let inner = match (set_up, self.flaw) {
            (Err(_), WorldFlaw::TakesAnyTask) => self.inner.reset(&known, seed).await?,
            (set_up, _) => set_up?,
        };
        Ok(Box::new(FlawedEpisode {
            inner,
            flaw: self.flaw,
            calls: Arc::clone(&self.calls),
            last: None,
        }))
    }
}

#[async_trait]
impl Episode for FlawedEpisode {
    fn observation(&self) -> &Observation {
        self.inner.observation()
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        let mut transition = match (self.inner.step(action).await, &self.last) {
            (Err(_), Some(last)) if self.flaw == WorldFlaw::GoesOn => last.clone(),
            (stepped, _) => stepped?,
        };
        match self.flaw {
            WorldFlaw::Wavers => {
                let number = self.calls.fetch_add(1, Ordering::SeqCst);
                transition.observation.text.push_str(&number.to_string());
            }
            WorldFlaw::OutcomeEachTime => transition.outcome = Some(sample::outcome(true)),
            WorldFlaw::RefusalIsErr if transition.is_error && self.last.is_none() => {
                return Err(Error::invalid("Episode::step", "refused"));
            }
            _ => {}
        }
        self.last = Some(transition.clone());
        Ok(transition)
    }

    async fn close(self: Box<Self>) -> Result<()> {
        self.inner.close().await
    }
}

#[test]
fn environments() {
    let fixture = conformance::environment::EnvironmentFixture {
        task: sample::task("t", &["one", "two"]),
        seed: Seed(3),
        actions: vec![say("one"), say("no"), say("two")],
        other: None,
        refused: Some(say("no")),
        unknown: Some(Task::new("v", "no words")),
    };
    let cases: [(WorldFlaw, &[&str]); 5] = [
        (WorldFlaw::Wavers, &["repeats", "apart"]),
        (WorldFlaw::TakesAnyTask, &["unknown task"]),
        (WorldFlaw::OutcomeEachTime, &["outcome"]),
        (WorldFlaw::RefusalIsErr, &["refusal"]),
        (WorldFlaw::GoesOn, &["over"]),
    ];
    for (flaw, expected) in cases {
        let world = FlawedWorld {
            inner: ScriptedEnvironment::words(),
            flaw,
            calls: Arc::default(),
        };
        let report = block_on(conformance::environment::check(&world, &fixture));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum AgentFlaw {
    ErrWhenTheWorldFails,
    CountsFromOne,
    LosesAStep,
    InventsAnOutcome,
    ForgetsThePrefix,
    ForgetsExposures,
    HidesUse,
}

#[derive(Debug)]
struct FlawedAgent {
    inner: ScriptedExecutor,
    flaw: AgentFlaw,
}

#[async_trait]
impl Executor for FlawedAgent {
    async fn execute(
        &self,
        mut attempt: Attempt<'_>,
        episode: &mut dyn Episode,
    ) -> Result<Trajectory> {
        if self.flaw == AgentFlaw::ForgetsThePrefix {
            attempt.prefix = &[];
        }
        let mut made = self.inner.execute(attempt, episode).await?;
        match self.flaw {
            AgentFlaw::ErrWhenTheWorldFails => {
                if let EndReason::Failed(error) = made.end {
                    return Err(error);
                }
            }
            AgentFlaw::CountsFromOne => made.steps.iter_mut().for_each(|step| step.index += 1),
            AgentFlaw::LosesAStep => drop(made.steps.pop()),
            AgentFlaw::InventsAnOutcome => {
                made.outcome = made.outcome.map(|_| sample::outcome(true))
            }
            AgentFlaw::ForgetsExposures => made.exposures.clear(),
            AgentFlaw::HidesUse => made.exposures.iter_mut().for_each(|e| e.used = false),
            AgentFlaw::ForgetsThePrefix => {}
        }
        Ok(made)
    }
}

#[test]
fn executors() {
    let fixture = conformance::executor::ExecutorFixture {
        environment: Arc::new(ScriptedEnvironment::words()),
        task: sample::task("t", &["one", "two"]),
        seed: Seed(3),
        injection: sample::injection(&[sample::skill("saying")]),
        prefix: vec![say("no"), say("one")],
        time_limit: Duration::from_secs(60),
    };
    let cases: [(AgentFlaw, &[&str]); 7] = [
        (AgentFlaw::ErrWhenTheWorldFails, &["trajectory"]),
        (AgentFlaw::CountsFromOne, &["steps"]),
        (AgentFlaw::LosesAStep, &["steps"]),
        (AgentFlaw::InventsAnOutcome, &["outcome"]),
        (AgentFlaw::ForgetsThePrefix, &["prefix"]),
        (AgentFlaw::ForgetsExposures, &["exposures"]),
        (AgentFlaw::HidesUse, &["exposures"]),
    ];
    for (flaw, expected) in cases {
        let inner = ScriptedExecutor::acting(|_, steps| {
            let done = steps.iter().filter(|step| !step.result.is_error).count();
            Play::Give(["one", "two"].get(done).map(|word| say(word)))
        });
        let report = block_on(conformance::executor::check(
            &FlawedAgent { inner, flaw },
            &fixture,
        ));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum DialectFlaw {
    NeverEnds,
    Wavers,
    NoSkillText,
    ShortensSkills,
    AnotherTemplate,
}

#[derive(Debug)]
struct FlawedDialect(DialectFlaw, AtomicUsize);

impl Dialect for FlawedDialect {
    fn turn(&self, view: &TurnView<'_>) -> Result<TurnMove> {
        let again = match self.0 {
            DialectFlaw::NeverEnds => ScriptedDialect.turn(&TurnView {
                replies: &[],
                ..*view
            }),
            _ => ScriptedDialect.turn(view),
        };
        match again? {
            TurnMove::Act { action, used, .. } if self.0 == DialectFlaw::Wavers => {
                let transcript = self.1.fetch_add(1, Ordering::SeqCst).to_string();
                Ok(TurnMove::Act {
                    action,
                    transcript,
                    used,
                })
            }
            TurnMove::Generate {
                mut prompt,
                stop,
                max_tokens,
            } if self.0 == DialectFlaw::ShortensSkills => {
                prompt.messages.iter_mut().for_each(|message| {
                    if let Some(Span::Data(text)) = message.content.first_mut() {
                        text.truncate(5);
                    }
                });
                Ok(TurnMove::Generate {
                    prompt,
                    stop,
                    max_tokens,
                })
            }
            other => Ok(other),
        }
    }

    fn skill_text(&self, skill: &Skill) -> String {
        match self.0 {
            DialectFlaw::NoSkillText => String::new(),
            _ => ScriptedDialect.skill_text(skill),
        }
    }

    fn score_prompt(&self, query: &str) -> Prompt {
        match self.0 {
            DialectFlaw::AnotherTemplate if query.is_empty() => Prompt::default(),
            _ => ScriptedDialect.score_prompt(query),
        }
    }
}

#[test]
fn dialects() {
    let fixture = conformance::dialect::DialectFixture {
        task: sample::task("t", &["one"]),
        observation: sample::observation("say one"),
        skills: vec![sample::skill("saying")],
        replies: vec!["one".to_owned()],
    };
    let cases: [(DialectFlaw, &[&str]); 5] = [
        (DialectFlaw::NeverEnds, &["ends", "pure"]),
        (DialectFlaw::Wavers, &["pure"]),
        (DialectFlaw::NoSkillText, &["skill text"]),
        (DialectFlaw::ShortensSkills, &["skill text"]),
        (DialectFlaw::AnotherTemplate, &["empty query"]),
    ];
    for (flaw, expected) in cases {
        let dialect = FlawedDialect(flaw, AtomicUsize::new(0));
        let report = block_on(conformance::dialect::check(&dialect, &fixture));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum WriterFlaw {
    Wavers,
    Panics,
    WrongKind,
    LongDescription,
    EmptyFallback,
}

#[derive(Debug)]
struct FlawedWriter(WriterFlaw, AtomicUsize);

impl SkillWriter for FlawedWriter {
    fn prompt(&self, request: &WriteRequest<'_>) -> GenerateRequest {
        let mut ask = ScriptedWriter.prompt(request);
        if self.0 == WriterFlaw::Wavers {
            ask.max_tokens += self.1.fetch_add(1, Ordering::SeqCst);
        }
        ask
    }

    fn read(&self, request: &WriteRequest<'_>, text: &str) -> Result<SkillDraft> {
        assert!(
            self.0 != WriterFlaw::Panics || text.is_ascii(),
            "only plain letters"
        );
        let mut draft = ScriptedWriter
            .read(request, text)
            .map_err(|error| match self.0 {
                WriterFlaw::WrongKind => Error::new(ErrorKind::Internal, "read", "oh"),
                _ => error,
            })?;
        if self.0 == WriterFlaw::LongDescription {
            draft.description = "long ".repeat(1_000);
        }
        Ok(draft)
    }

    fn fallback(&self, request: &WriteRequest<'_>) -> SkillDraft {
        let mut draft = ScriptedWriter.fallback(request);
        if self.0 == WriterFlaw::EmptyFallback {
            draft.body.clear();
        }
        draft
    }
}

#[test]
fn skill_writers() {
    let task = sample::task("t", &["one"]);
    let fixture = conformance::skill_writer::SkillWriterFixture {
        attempts: vec![sample::trajectory("a", &task, &["one"], true)],
        task,
        readable: vec!["saying: says a word\nSay it.".to_owned()],
        unreadable: vec!["no body".to_owned()],
    };
    let cases: [(WriterFlaw, &[&str]); 5] = [
        (WriterFlaw::Wavers, &["pure"]),
        (WriterFlaw::Panics, &["garbage"]),
        (WriterFlaw::WrongKind, &["garbage"]),
        (WriterFlaw::LongDescription, &["bounded"]),
        (WriterFlaw::EmptyFallback, &["fallback"]),
    ];
    for (flaw, expected) in cases {
        let writer = FlawedWriter(flaw, AtomicUsize::new(0));
        let report = block_on(conformance::skill_writer::check(&writer, &fixture));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}
