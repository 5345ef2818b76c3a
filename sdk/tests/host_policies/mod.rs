//! Policies of a host's own that keep their rules, or break one, and the reports of their suites.
#![allow(
    clippy::panic,
    dead_code,
    reason = "a policy that panics is a flaw; each of the two binaries that include this uses a part of it"
)]

use std::{
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use futures::executor::block_on;
use journeyman::{
    Error, Result, Seed, Version,
    agent::EnvironmentJudge,
    async_trait,
    contract::Components,
    domain::{
        Action, AssessedSubgoal, Assessment, Decision, LibraryChange, NothingReason, Query,
        Selection, Skill, SkillDraft, SkillRef, State, Subgoal, Trace, TurnQuery, Verdict,
    },
    library::SkillLibrary,
    policy::{
        AdmitRule, Ask, AssessProgram, Assessed, CreditRule, GroupAttempt, JudgedAttempt,
        MaintenanceProgram, Policies, Policy, RewardRule, SelectProgram, SkillCredit, View,
        WriteGroup, WriteProgram, Written,
    },
    recipe,
    stations::{
        propose::{Summarize, WriteWhen},
        select::{Nothing, Selected},
    },
    testing::{
        Play, ScriptedEnvironment, ScriptedExecutor, ScriptedFormat, ScriptedModel,
        ScriptedRetriever, ScriptedRoles, ScriptedScorer,
        conformance::{
            self, LearningFixture, Report,
            admit_rule::AdmitRuleFixture,
            credit_rule::CreditRuleFixture,
            reward_rule::{AttemptWithVerdict, RewardRuleFixture},
        },
        sample,
    },
};

/// What a policy does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Flaw {
    None,
    /// It asks something else at each call.
    AsksOtherwise,
    /// It decides otherwise at each call, by asking the same.
    DecidesOtherwise,
    /// It decides the same when the run is replayed, and otherwise when it is made a second time.
    KnowsOfOtherRuns,
    Panics,
    /// It awaits what is no answer.
    Waits,
    /// Its calls fail.
    Fails,
    /// It decides on nothing.
    DoesNothing,
    /// It chooses a skill that is not offered, credits one that was not given, changes one that is not there, or assesses another
    /// attempt.
    Elsewhere,
    /// It gives a draft, a number or a change that breaks a rule.
    Invalid,
    /// It makes a change that a program may not make.
    Forbidden,
    /// It credits twice.
    Twice,
    /// It credits for more attempts than were given the skill.
    Miscounts,
}

/// A policy with this flaw, and the number of its calls.
#[derive(Debug)]
struct Flawed(Flaw, AtomicU32);

impl Flawed {
    fn new(flaw: Flaw) -> Arc<Self> {
        Arc::new(Self(flaw, AtomicU32::new(0)))
    }

    fn count(&self) -> u32 {
        self.1.fetch_add(1, Ordering::SeqCst)
    }

    /// A text that is the same at each call, unless the policy has the flaw that is about it.
    fn text(&self, flaw: Flaw) -> String {
        match self.0 {
            of if of == flaw => self.count().to_string(),
            // Three calls in the run, three in its replay.
            Flaw::KnowsOfOtherRuns if flaw == Flaw::DecidesOtherwise => {
                (self.count() / 6).to_string()
            }
            _ => "the same".to_owned(),
        }
    }

    /// Asks something, and breaks the rules about that.
    async fn asks(&self, ask: &mut Ask, view: &View) -> Result<()> {
        let query = Query::new(self.text(Flaw::AsksOtherwise), 3);
        ask.retrieve(query).await?;
        // The first task is left alone, so that something is learned in each run.
        if view.step() == 0 {
            return Ok(());
        }
        match self.0 {
            Flaw::Panics => panic!("a policy that panics"),
            Flaw::Waits => std::future::pending().await,
            Flaw::Fails => Err(Error::invalid("Flawed", "it does not want to")),
            _ => Ok(()),
        }
    }
}

fn elsewhere() -> SkillRef {
    SkillRef {
        id: "elsewhere".into(),
        version: Version(1),
    }
}

#[async_trait]
impl SelectProgram for Flawed {
    async fn select(&self, ask: &mut Ask, view: &View, _: &TurnQuery) -> Result<Selected> {
        self.asks(ask, view).await?;
        let first = view.offered().next().map(|entry| entry.skill.reference());
        let because = |text| Selection::nothing(NothingReason::SelectorFailed(text));
        let selection = match (self.0, first) {
            (Flaw::DoesNothing, _) | (_, None) => Selection::nothing(NothingReason::Disabled),
            (Flaw::DecidesOtherwise | Flaw::KnowsOfOtherRuns, _) => {
                because(self.text(Flaw::DecidesOtherwise))
            }
            (flaw, Some(first)) => Selection::unscored(Decision::Inject {
                skills: vec![match flaw {
                    Flaw::Elsewhere => elsewhere(),
                    _ => first,
                }],
                explored: false,
            }),
        };
        Ok(match self.0 {
            Flaw::Twice => Selected::new(Vec::new(), vec![selection; 2]),
            _ => selection.into(),
        })
    }
}

#[async_trait]
impl WriteProgram for Flawed {
    async fn write(&self, ask: &mut Ask, view: &View, _: &WriteGroup<'_>) -> Result<Written> {
        self.asks(ask, view).await?;
        let title = format!("written at {}", view.step());
        let description = match self.0 {
            Flaw::Invalid => "",
            _ => "By a host's writer.",
        };
        let draft = SkillDraft::new(title, description, self.text(Flaw::DecidesOtherwise));
        let drafts = match self.0 {
            Flaw::DoesNothing => Vec::new(),
            _ => vec![draft],
        };
        Ok(drafts.into())
    }
}

#[async_trait]
impl MaintenanceProgram for Flawed {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        self.asks(ask, view).await?;
        let first = view.library().entries().next();
        let Some(first) = first.filter(|_| self.0 != Flaw::DoesNothing) else {
            return Ok(Vec::new());
        };
        let skill = match self.0 {
            Flaw::Elsewhere => elsewhere().id,
            _ => first.skill.id.clone(),
        };
        Ok(vec![match self.0 {
            Flaw::Forbidden => LibraryChange::Maintain,
            Flaw::Invalid => LibraryChange::Add(Box::new(
                sample::skill("new").with_description(String::new()),
            )),
            _ => LibraryChange::SetState {
                skill,
                state: State::Archived,
                reason: self.text(Flaw::DecidesOtherwise),
            },
        }])
    }
}

#[async_trait]
impl AssessProgram for Flawed {
    async fn assess(
        &self,
        ask: &mut Ask,
        view: &View,
        attempt: &Trace,
    ) -> Result<Option<Assessed>> {
        self.asks(ask, view).await?;
        if self.0 == Flaw::DoesNothing {
            return Ok(None);
        }
        let whole = Subgoal::new(
            self.text(Flaw::DecidesOtherwise),
            String::new(),
            0,
            attempt.trajectory.steps.len() - 1,
        );
        let mut assessment = Assessment::new(
            match self.0 {
                Flaw::Elsewhere => "elsewhere".into(),
                _ => attempt.trajectory.attempt.clone(),
            },
            attempt.task.id.clone(),
        )
        .with_success(attempt.verdict.as_ref().and_then(Verdict::success))
        .with_subgoals(vec![AssessedSubgoal::new(whole)]);
        assessment.category = attempt.task.category.clone();
        let process = match self.0 {
            Flaw::Invalid => 2.0,
            _ => 0.5,
        };
        Ok(Some(Assessed::new(assessment, Some(process))))
    }
}

impl Flawed {
    /// A number of a rule.
    fn number(&self, right: f64) -> Result<f64> {
        match self.0 {
            Flaw::Panics => panic!("a rule that panics"),
            Flaw::Fails => Err(Error::invalid("Flawed", "it does not want to")),
            Flaw::Invalid => Ok(f64::NAN),
            Flaw::DecidesOtherwise => Ok(right + f64::from(self.count())),
            _ => Ok(right),
        }
    }
}

impl RewardRule for Flawed {
    fn reward(&self, attempt: &JudgedAttempt<'_>) -> Result<Option<f64>> {
        let reward = attempt.verdict.score() - 0.01 * f64::from(attempt.report.steps);
        match self.0 {
            Flaw::DoesNothing => Ok(None),
            _ => self.number(reward).map(Some),
        }
    }
}

impl CreditRule for Flawed {
    fn credits(&self, group: &[GroupAttempt]) -> Result<Vec<SkillCredit>> {
        let mut credits = Vec::new();
        for one in group.iter().map(|one| &one.report) {
            for skill in &one.injected {
                let skill = match self.0 {
                    Flaw::Elsewhere => elsewhere(),
                    _ => skill.clone(),
                };
                let reward = self.number(one.score)?;
                let mut credit = SkillCredit::new(skill, one.attempt.clone(), reward);
                if let Flaw::Miscounts = self.0 {
                    credit.uses = 9;
                }
                credits.push(credit);
            }
        }
        match self.0 {
            Flaw::Twice => credits.extend(credits.clone()),
            Flaw::DoesNothing => credits.clear(),
            _ => {}
        }
        Ok(credits)
    }
}

impl AdmitRule for Flawed {
    fn admit(&self, _: &SkillLibrary, skill: &Skill) -> Result<()> {
        // One that counts refuses in the end what it let in at first.
        let number = self.number(if skill.name.as_str() == "saying" {
            9.0
        } else {
            0.0
        })?;
        match number < 2.0 {
            true => Ok(()),
            false => Err(Error::invalid("Flawed", "it is too much")),
        }
    }
}

async fn components() -> Result<Components> {
    let agent = ScriptedExecutor::acting(|attempt, steps| {
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        Play::Give(words.get(steps.len()).cloned().map(Action::Message))
    });
    let world = Arc::new(ScriptedEnvironment::words());
    let components = Components::new(Arc::new(agent), world, Arc::new(EnvironmentJudge));
    Ok(components.with_retriever(Arc::new(ScriptedRetriever::new())))
}

/// The same, with a scorer for which a skill is likelier behind a task than behind none.
async fn scoring_components() -> Result<Components> {
    let mut components = components().await?;
    components.scorer = Some(Arc::new(ScriptedScorer::by(|prompt, _| {
        Play::Give(match prompt.text().contains("say") {
            true => -0.5,
            false => -2.0,
        })
    })));
    components.prompt_format = Some(Arc::new(ScriptedFormat));
    Ok(components)
}

/// The same, with a model that cuts attempts and scores what it cut.
async fn assessing_components() -> Result<Components> {
    let model = ScriptedModel::by(|request, _| {
        let text = request.prompt.text();
        let answer = match text.lines().next().unwrap_or_default() {
            "role: segment" => "say both words | saying | 0 1",
            _ => "2 almost",
        };
        Play::Give(answer.to_owned())
    });
    let components = components().await?.with_model(Arc::new(model));
    Ok(components.with_roles(Arc::new(ScriptedRoles::default())))
}

/// A run of three tasks with a program of the host's own that selects, writes and maintains.
pub(crate) fn learning(flaw: Flaw) -> LearningFixture {
    let mut recipe = recipe::standard();
    recipe.select.selector = Policy::new("own");
    recipe.write.when = WriteWhen::Always;
    recipe.write.by = Policy::new("own");
    let recipe = recipe.with_program(NonZeroU64::MIN, Policy::new("own"));
    let program = Flawed::new(flaw);
    let (selector, writer) = (Arc::clone(&program), Arc::clone(&program));
    let assessor = Arc::clone(&program);
    LearningFixture::new(
        recipe,
        (0..3)
            .map(|number| sample::task(&format!("task-{number}"), &["one", "two"]))
            .collect(),
        Seed(7),
    )
    .with_policies(
        Policies::new()
            .with_selector("own", move |_| Ok(Arc::clone(&selector) as _))
            .with_writer("own", move |_| Ok(Arc::clone(&writer) as _))
            .with_assessor("own", move |_| Ok(Arc::clone(&assessor) as _))
            .with_program("own", move |_| Ok(Arc::clone(&program) as _)),
    )
    .with_skills(vec![sample::skill("saying"), sample::skill("singing")])
}

/// The same, with the program in one station alone.
fn alone(flaw: Flaw, station: &str) -> LearningFixture {
    let mut fixture = learning(flaw);
    let recipe = &mut fixture.recipe;
    if station != "select" {
        recipe.select.selector = Nothing.into();
    }
    if station != "write" {
        recipe.write.when = WriteWhen::Never;
        recipe.write.by = Summarize::default().into();
    }
    if station != "maintain" {
        recipe.maintenance.programs.clear();
    }
    fixture
}

pub(crate) fn select_program(flaw: Flaw) -> Report {
    check_selector(&alone(flaw, "select"))
}

pub(crate) fn check_selector(fixture: &LearningFixture) -> Report {
    block_on(conformance::select_program::check(components, fixture))
}

/// The same, with a scorer.
pub(crate) fn check_scoring_selector(fixture: &LearningFixture) -> Report {
    block_on(conformance::select_program::check(
        scoring_components,
        fixture,
    ))
}

pub(crate) fn write_program(flaw: Flaw) -> Report {
    let fixture = alone(flaw, "write");
    block_on(conformance::write_program::check(components, &fixture))
}

pub(crate) fn assess_program(flaw: Flaw) -> Report {
    check_assessing(Policy::new("own"), flaw)
}

/// A run that assesses by this policy alone.
pub(crate) fn check_assessing(assess: Policy, flaw: Flaw) -> Report {
    let mut fixture = alone(flaw, "assess");
    fixture.recipe.assess = Some(assess);
    // Ours needs kept attempts, from which prototypes are distilled.
    fixture.recipe.tiers.traces = 20;
    block_on(conformance::assess_program::check(
        assessing_components,
        &fixture,
    ))
}

pub(crate) fn maintenance_program(flaw: Flaw) -> Report {
    check_maintenance(&alone(flaw, "maintain"))
}

pub(crate) fn check_maintenance(fixture: &LearningFixture) -> Report {
    block_on(conformance::maintenance_program::check(components, fixture))
}

pub(crate) fn reward_rule(flaw: Flaw) -> Report {
    check_reward(&*Flawed::new(flaw))
}

pub(crate) fn check_reward(rule: &dyn RewardRule) -> Report {
    let attempt = |name: &str, success| {
        AttemptWithVerdict::new(
            sample::attempt_report(name, &[], success),
            Verdict::binary(success),
        )
    };
    let attempts = vec![attempt("run/0/0", true), attempt("run/0/1", false)];
    let fixture = RewardRuleFixture::new(attempts);
    block_on(conformance::reward_rule::check(rule, &fixture))
}

pub(crate) fn credit_rule(flaw: Flaw) -> Report {
    check_credit(&*Flawed::new(flaw))
}

pub(crate) fn check_credit(rule: &dyn CreditRule) -> Report {
    let skills = [sample::skill("saying"), sample::skill("singing")];
    let group = |task: u32| {
        [
            sample::attempt_report(&format!("run/{task}/0"), &skills, true),
            sample::attempt_report(&format!("run/{task}/1"), &skills[1..], false),
        ]
        .map(GroupAttempt::new)
        .to_vec()
    };
    let groups = vec![group(0), group(1)];
    let fixture = CreditRuleFixture::new(groups);
    block_on(conformance::credit_rule::check(rule, &fixture))
}

pub(crate) fn admit_rule(flaw: Flaw) -> Report {
    let fixture = AdmitRuleFixture::new(
        SkillLibrary::new(),
        vec![sample::skill("singing"), sample::skill("saying")],
    );
    block_on(conformance::admit_rule::check(
        &*Flawed::new(flaw),
        &fixture,
    ))
}
