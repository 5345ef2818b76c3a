//! A world, an agent, a prompt format or roles that break one rule fail the case of that rule.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Error, ErrorKind, Result, Seed,
    contract::{
        Attempt, Environment, EnvironmentCapabilities, Episode, Executor, FitQuestion,
        GenerateRequest, PromptFormat, RoleAnswer, RoleRequest, RoleTask, Roles, TurnMove,
        TurnView,
    },
    domain::{
        Action, EndReason, Observation, Prompt, Role, RoleRule, Segmentation, Skill, SkillUse,
        Span, Task, Trajectory, Transition,
    },
    testing::{
        Play, ScriptedEnvironment, ScriptedExecutor, ScriptedFormat, ScriptedRoles,
        conformance::{self, Report, prompt_format::UseSample},
        sample,
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
    let fixture = conformance::environment::EnvironmentFixture::new(
        sample::task("t", &["one", "two"]),
        Seed(3),
        vec![say("one"), say("no"), say("two")],
    )
    .with_refused(say("no"))
    .with_unknown(Task::new("v", "no words"));
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
            AgentFlaw::HidesUse => {
                let exposures = made.exposures.iter_mut();
                exposures.for_each(|e| e.used = SkillUse::Unknown);
            }
            AgentFlaw::ForgetsThePrefix => {}
        }
        Ok(made)
    }
}

#[test]
fn executors() {
    let fixture = conformance::executor::ExecutorFixture::new(
        Arc::new(ScriptedEnvironment::words()),
        sample::task("t", &["one", "two"]),
        Seed(3),
    )
    .with_injection(sample::injection(&[sample::skill("saying")]))
    .with_prefix(vec![say("no"), say("one")]);
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
enum PromptFormatFlaw {
    NeverEnds,
    Wavers,
    NoSkillText,
    ShortensSkills,
    AnotherTemplate,
    SameAnswers,
    AsksWithoutTheSkill,
    AsksOnlyOfNothing,
    CountsInjected,
    CountsAbsent,
}

#[derive(Debug)]
struct FlawedFormat(PromptFormatFlaw, AtomicUsize);

impl PromptFormat for FlawedFormat {
    fn turn(&self, view: &TurnView<'_>) -> Result<TurnMove> {
        let again = match self.0 {
            PromptFormatFlaw::NeverEnds => {
                ScriptedFormat.turn(&(*view).edited(|it| it.replies = &[]))
            }
            _ => ScriptedFormat.turn(view),
        };
        match again? {
            TurnMove::Act {
                action,
                transcript,
                notes,
                ..
            } if self.0 == PromptFormatFlaw::CountsInjected => Ok(TurnMove::Act {
                action,
                transcript,
                used: vec![SkillUse::Followed; view.injection.skills.len()],
                notes,
            }),
            TurnMove::Act {
                action,
                transcript,
                notes,
                ..
            } if self.0 == PromptFormatFlaw::CountsAbsent => Ok(TurnMove::Act {
                action,
                transcript,
                used: vec![SkillUse::Unknown],
                notes,
            }),
            TurnMove::Act {
                action,
                used,
                notes,
                ..
            } if self.0 == PromptFormatFlaw::Wavers => {
                let transcript = self.1.fetch_add(1, Ordering::SeqCst).to_string();
                Ok(TurnMove::Act {
                    action,
                    transcript,
                    used,
                    notes,
                })
            }
            TurnMove::Generate {
                mut prompt,
                tools,
                stop,
                max_tokens,
                json_schema,
            } if self.0 == PromptFormatFlaw::ShortensSkills => {
                prompt.messages.iter_mut().for_each(|message| {
                    if let Some(Span::Data(text)) = message.content.first_mut() {
                        text.truncate(5);
                    }
                });
                Ok(TurnMove::Generate {
                    prompt,
                    tools,
                    stop,
                    max_tokens,
                    json_schema,
                })
            }
            other => Ok(other),
        }
    }

    fn skill_text(&self, skill: &Skill) -> String {
        match self.0 {
            PromptFormatFlaw::NoSkillText => String::new(),
            _ => ScriptedFormat.skill_text(skill),
        }
    }

    fn score_prompt(&self, query: &str) -> Prompt {
        match self.0 {
            PromptFormatFlaw::AnotherTemplate if query.is_empty() => Prompt::default(),
            _ => ScriptedFormat.score_prompt(query),
        }
    }

    fn fit_question(&self, query: &str, skill_text: &str) -> Result<FitQuestion> {
        let skill_text = match self.0 {
            PromptFormatFlaw::AsksOnlyOfNothing if !skill_text.is_empty() => {
                return Err(Error::unsupported(
                    "PromptFormat::fit_question",
                    "not of this one",
                ));
            }
            PromptFormatFlaw::AsksWithoutTheSkill => "",
            _ => skill_text,
        };
        let mut question = ScriptedFormat.fit_question(query, skill_text)?;
        if self.0 == PromptFormatFlaw::SameAnswers {
            question.does_not.clone_from(&question.fits);
        }
        Ok(question)
    }
}

#[test]
fn prompt_formats() {
    let fixture = conformance::prompt_format::PromptFormatFixture::new(
        sample::task("t", &["one"]),
        sample::observation("say one"),
    )
    .with_skills(vec![sample::skill("saying")])
    .with_replies(vec!["one".to_owned()])
    .with_uses(vec![UseSample::new(
        vec!["one".to_owned()],
        vec![SkillUse::Unknown],
    )]);
    let cases: [(PromptFormatFlaw, &[&str]); 10] = [
        (PromptFormatFlaw::NeverEnds, &["ends", "pure", "used"]),
        (PromptFormatFlaw::Wavers, &["pure"]),
        (PromptFormatFlaw::NoSkillText, &["skill text"]),
        (PromptFormatFlaw::ShortensSkills, &["skill text"]),
        (PromptFormatFlaw::AnotherTemplate, &["empty query"]),
        (PromptFormatFlaw::SameAnswers, &["fit question"]),
        (PromptFormatFlaw::AsksWithoutTheSkill, &["fit question"]),
        (PromptFormatFlaw::AsksOnlyOfNothing, &["fit question"]),
        (PromptFormatFlaw::CountsInjected, &["used"]),
        (PromptFormatFlaw::CountsAbsent, &["used"]),
    ];
    for (flaw, expected) in cases {
        let prompt_format = FlawedFormat(flaw, AtomicUsize::new(0));
        let report = block_on(conformance::prompt_format::check(&prompt_format, &fixture));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum RolesFlaw {
    Wavers,
    Panics,
    WrongKind,
    LongDescription,
    AnotherRole,
    ArchivesUnasked,
    StepBeyond,
    SixRules,
    LosesAStep,
    NoChecklist,
    AnotherPrototype,
    TooSure,
    NeverSure,
    LessonBeyond,
    RefinesAnother,
    LongBankDescription,
    EmptyBankBody,
    TooGood,
    NoQuality,
    AsksTheSame,
    NoFallback,
    EmptyFallback,
    PlaysAll,
    SaysThatItPlaysAll,
    GrowsInASmallRoom,
}

#[derive(Debug)]
struct FlawedRoles(RolesFlaw, AtomicUsize);

impl Roles for FlawedRoles {
    fn plays(&self, role: Role) -> bool {
        self.0 == RolesFlaw::SaysThatItPlaysAll || PLAYED.contains(&role)
    }

    fn prompt(&self, request: &RoleRequest<'_>) -> Result<GenerateRequest> {
        let inner = match self.0 {
            RolesFlaw::PlaysAll => ScriptedRoles::default(),
            _ => ScriptedRoles::only(PLAYED),
        };
        let mut asked = *request;
        asked.failed = request.failed.filter(|_| self.0 != RolesFlaw::AsksTheSame);
        let mut ask = inner.prompt(&asked)?;
        if self.0 == RolesFlaw::GrowsInASmallRoom && request.room.is_some() {
            let words = "in a room that is as small as this one is".to_owned();
            ask.prompt.open.push(journeyman::domain::Span::Data(words));
        }
        if self.0 == RolesFlaw::Wavers {
            ask.max_tokens += self.1.fetch_add(1, Ordering::SeqCst);
        }
        Ok(ask)
    }

    fn read(&self, request: &RoleRequest<'_>, text: &str) -> Result<RoleAnswer> {
        assert!(
            self.0 != RolesFlaw::Panics || text.is_ascii(),
            "only plain letters"
        );
        let answer = ScriptedRoles::default().read(request, text);
        let mut answer = answer.map_err(|error| match self.0 {
            RolesFlaw::WrongKind => Error::new(ErrorKind::Internal, "read", "oh"),
            _ => error,
        })?;
        match (&mut answer, self.0) {
            (RoleAnswer::Draft(draft), RolesFlaw::LongDescription) => {
                draft.description = "long ".repeat(1_000);
            }
            (RoleAnswer::Draft(_), RolesFlaw::ArchivesUnasked)
                if request.task.role() == Role::Refine =>
            {
                return Ok(RoleAnswer::Archive("it is of no use".to_owned()));
            }
            (RoleAnswer::Draft(_), RolesFlaw::AnotherRole) => {
                return Ok(RoleAnswer::Cases(Vec::new()));
            }
            (RoleAnswer::Cases(cases), RolesFlaw::StepBeyond) => {
                cases.iter_mut().for_each(|case| case.from += 2);
            }
            (RoleAnswer::Rules(rules), RolesFlaw::SixRules) => {
                rules.extend((0..6).map(|n| RoleRule::new(n.to_string()).unwrap()));
            }
            (answer, flaw) => spoil(answer, flaw),
        }
        Ok(answer)
    }

    fn fallback(&self, task: &RoleTask) -> Option<RoleAnswer> {
        let mut answer = ScriptedRoles::default().fallback(task)?;
        match (&mut answer, self.0) {
            (_, RolesFlaw::NoFallback) => return None,
            (RoleAnswer::Draft(draft), RolesFlaw::EmptyFallback) => draft.body.clear(),
            _ => {}
        }
        Some(answer)
    }
}

/// Spoils an answer of the roles that assess attempts and keep a bank.
fn spoil(answer: &mut RoleAnswer, flaw: RolesFlaw) {
    match (answer, flaw) {
        (RoleAnswer::Segments { segmentation, .. }, RolesFlaw::LosesAStep) => {
            let first = segmentation.subgoals()[0].clone();
            *segmentation = Segmentation::new(vec![first], 1).unwrap();
        }
        (RoleAnswer::Rubric(rubric), RolesFlaw::NoChecklist) => rubric.checklist.clear(),
        (RoleAnswer::Routed { prototype, .. }, RolesFlaw::AnotherPrototype) => *prototype = Some(2),
        (RoleAnswer::Routed { confidence, .. }, RolesFlaw::TooSure) => *confidence = 1.1,
        (RoleAnswer::Routed { confidence, .. }, RolesFlaw::NeverSure) => *confidence = f64::NAN,
        (RoleAnswer::Lesson(lesson), RolesFlaw::LessonBeyond) => lesson.step += 1,
        (RoleAnswer::Bank(drafts), RolesFlaw::RefinesAnother) => drafts[0].refines = Some(1),
        (RoleAnswer::Bank(drafts), RolesFlaw::LongBankDescription) => {
            drafts[0].draft.description = "long ".repeat(1_000);
        }
        (RoleAnswer::Bank(drafts), RolesFlaw::EmptyBankBody) => drafts[0].draft.body.clear(),
        (RoleAnswer::Reviewed { quality, .. }, RolesFlaw::TooGood) => *quality = 3.0,
        (RoleAnswer::Reviewed { quality, .. }, RolesFlaw::NoQuality) => *quality = f64::NAN,
        _ => {}
    }
}

const PLAYED: [Role; 10] = [
    Role::Summarize,
    Role::Refine,
    Role::Bundle,
    Role::Evolve,
    Role::Segment,
    Role::DistilPrototype,
    Role::Route,
    Role::Lesson,
    Role::DistilBank,
    Role::Review,
];

#[test]
fn roles() {
    let answers = [
        "saying: says a word\nSay it.",
        "saying: says a word well\nSay it.",
        "unit 1 says day",
        "Be exact.",
        "say good | saying | 0 0\nsay day | saying | 1 1",
        "title: greeting\ncheck: both words were said",
        "0 0.9",
        "0 | said day | say good | read first",
        "0> greet | when words are due | say both",
        "3 clear",
    ];
    let unreadable = [
        "no body",
        "no description",
        "no case",
        "a\nb\nc\nd\ne\nf",
        "no subgoal",
        "title: no check",
        "9 0.9",
        "9 | a | b | c",
        "9> a | b | c",
        "7 excellent",
    ];
    let sample = |index: usize| {
        conformance::roles::RoleSample::new(sample::role_task(PLAYED[index]))
            .with_readable(vec![answers[index].to_owned()])
            .with_unreadable(vec![unreadable[index].to_owned()])
    };
    let mut played: Vec<_> = (0..PLAYED.len()).map(sample).collect();
    for one in &mut played {
        // A fallback is made of calls.
        if let RoleTask::Summarize { attempts, .. } = &mut one.task {
            let steps = attempts
                .iter_mut()
                .flat_map(|one| &mut one.trajectory.steps);
            steps.for_each(|step| step.action = Action::call("say", serde_json::json!({})));
        }
    }
    let fixture = conformance::roles::RolesFixture::new(played)
        .with_unplayed(vec![sample::role_task(Role::Extract)]);
    let cases: [(RolesFlaw, &[&str]); 25] = [
        (RolesFlaw::Wavers, &["pure"]),
        (RolesFlaw::Panics, &["garbage"]),
        (RolesFlaw::WrongKind, &["garbage"]),
        (RolesFlaw::LongDescription, &["fits"]),
        (RolesFlaw::AnotherRole, &["fits"]),
        (RolesFlaw::ArchivesUnasked, &["fits"]),
        (RolesFlaw::StepBeyond, &["fits"]),
        (RolesFlaw::SixRules, &["garbage", "fits"]),
        (RolesFlaw::LosesAStep, &["fits"]),
        (RolesFlaw::NoChecklist, &["fits"]),
        (RolesFlaw::AnotherPrototype, &["fits"]),
        (RolesFlaw::TooSure, &["fits"]),
        (RolesFlaw::NeverSure, &["pure", "fits"]),
        (RolesFlaw::LessonBeyond, &["fits"]),
        (RolesFlaw::RefinesAnother, &["fits"]),
        (RolesFlaw::LongBankDescription, &["fits"]),
        (RolesFlaw::EmptyBankBody, &["fits"]),
        (RolesFlaw::TooGood, &["fits"]),
        (RolesFlaw::NoQuality, &["pure", "fits"]),
        (RolesFlaw::AsksTheSame, &["repair"]),
        (RolesFlaw::GrowsInASmallRoom, &["room"]),
        (RolesFlaw::NoFallback, &["fallback"]),
        (RolesFlaw::EmptyFallback, &["fallback"]),
        (RolesFlaw::PlaysAll, &["unknown"]),
        (RolesFlaw::SaysThatItPlaysAll, &["unknown"]),
    ];
    for (flaw, expected) in cases {
        let roles = FlawedRoles(flaw, AtomicUsize::new(0));
        let report = block_on(conformance::roles::check(&roles, &fixture));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}
