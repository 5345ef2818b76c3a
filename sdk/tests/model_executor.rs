//! The agent that a language model drives.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Result, Seed,
    agent::{ModelExecutor, ModelExecutorOptions},
    contract::{
        Attempt, Environment, Executor, FixedGuidance, GenerateRequest, Guidance, LanguageModel,
        PromptFormat, TurnContext, TurnMove, TurnView,
    },
    domain::{Action, EndReason, Injection, Prompt, Skill, SkillRef, SkillUse, Task, Trajectory},
    testing::{Play, ScriptedEnvironment, ScriptedFormat, ScriptedModel, sample},
};

fn executor(model: ScriptedModel, options: ModelExecutorOptions) -> ModelExecutor {
    ModelExecutor::new(Arc::new(model), Arc::new(ScriptedFormat), options).unwrap()
}

struct Try<'a> {
    task: Task,
    temperature: f32,
    injection: Injection,
    guidance: Option<&'a dyn Guidance>,
    prefix: Vec<Action>,
    time_limit: Duration,
}

impl Default for Try<'_> {
    fn default() -> Self {
        Self {
            task: sample::task("t", &["one", "two"]),
            temperature: 0.0,
            injection: Injection::NONE,
            guidance: None,
            prefix: Vec::new(),
            time_limit: Duration::from_secs(600),
        }
    }
}

fn attempt(executor: &dyn Executor, of: Try<'_>) -> Result<Trajectory> {
    let fixed = FixedGuidance::new(of.injection.clone());
    block_on(async {
        let environment = ScriptedEnvironment::words();
        let mut episode = environment.reset(&of.task, Seed(1)).await.unwrap();
        let guidance = of.guidance.unwrap_or(&fixed);
        let mut attempt = Attempt::new("a", &of.task, Seed(7), &of.injection, guidance);
        attempt.temperature = of.temperature;
        attempt.time_limit = of.time_limit;
        attempt.prefix = &of.prefix;
        executor.execute(attempt, episode.as_mut()).await
    })
}

fn said(trajectory: &Trajectory) -> Vec<&str> {
    (trajectory.steps.iter())
        .map(|step| match &step.action {
            Action::Message(text) => text.as_str(),
            Action::EndTurn => "(end)",
            _ => "(other)",
        })
        .collect()
}

#[test]
fn acts_until_the_episode_is_over() {
    let model = ScriptedModel::answers(["one", "three", "two"]);
    let trajectory = attempt(&executor(model, Default::default()), Try::default()).unwrap();
    assert_eq!(said(&trajectory), ["one", "three", "two"]);
    assert_eq!(trajectory.end, EndReason::Finished);
    assert!(trajectory.outcome.unwrap().success);
    let refused: Vec<bool> = trajectory.steps.iter().map(|s| s.result.is_error).collect();
    assert_eq!(refused, [false, true, false]);
    assert_eq!(trajectory.usage.output_tokens, 3);
    assert!(trajectory.usage.prompt_tokens > 3);
    assert!(
        trajectory
            .steps
            .iter()
            .all(|step| step.generations.is_empty())
    );
}

#[test]
fn refuses_budgets_that_allow_nothing() {
    let cases: [fn(&mut ModelExecutorOptions); 4] = [
        |options| options.max_steps = 0,
        |options| options.generation_time = Duration::ZERO,
        |options| options.top_p = 0.0,
        |options| options.top_p = f32::NAN,
    ];
    for change in cases {
        let mut options = ModelExecutorOptions::default();
        change(&mut options);
        let model = Arc::new(ScriptedModel::always("one"));
        let error = ModelExecutor::new(model, Arc::new(ScriptedFormat), options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.hint_text().is_some());
    }
}

#[test]
fn stops_at_the_step_budget() {
    let mut options = ModelExecutorOptions::default();
    options.max_steps = 3;
    let trajectory = attempt(
        &executor(ScriptedModel::always("no"), options),
        Try::default(),
    );
    let trajectory = trajectory.unwrap();
    assert_eq!(
        (trajectory.steps.len(), trajectory.end),
        (3, EndReason::StepBudget)
    );
}

#[test]
fn ends_where_the_model_writes_what_cannot_be_read() {
    let model = ScriptedModel::answers(["one", "  "]);
    let trajectory = attempt(&executor(model, Default::default()), Try::default()).unwrap();
    assert_eq!(
        (trajectory.steps.len(), trajectory.end),
        (1, EndReason::Unreadable)
    );
}

#[test]
fn an_error_before_the_first_action_is_an_error_and_later_ends_the_trajectory() {
    let none = ScriptedModel::answers(Vec::<String>::new());
    let error = attempt(&executor(none, Default::default()), Try::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);

    let one = ScriptedModel::answers(["one"]);
    let trajectory = attempt(&executor(one, Default::default()), Try::default()).unwrap();
    assert_eq!(said(&trajectory), ["one"]);
    assert!(
        matches!(trajectory.end, EndReason::Failed(error) if error.kind() == ErrorKind::Unavailable)
    );
}

#[test]
fn a_generation_that_took_the_attempts_own_time_is_its_deadline() {
    let late = || {
        ScriptedModel::by(|request: &GenerateRequest, call| match call {
            0 => Play::Give("one".to_owned()),
            _ => Play::Fail(Error::new(
                ErrorKind::Timeout,
                "LanguageModel::generate",
                format!("took over {:?}", request.time_limit),
            )),
        })
    };
    let short = Try {
        time_limit: Duration::from_secs(1),
        ..Try::default()
    };
    let trajectory = attempt(&executor(late(), Default::default()), short).unwrap();
    assert_eq!(trajectory.end, EndReason::Deadline);
    let trajectory = attempt(&executor(late(), Default::default()), Try::default()).unwrap();
    assert!(
        matches!(trajectory.end, EndReason::Failed(error) if error.message() == "took over 60s")
    );
}

#[test]
fn replays_the_prefix_first_and_counts_it() {
    let mut options = ModelExecutorOptions::default();
    options.max_steps = 2;
    let agent = executor(ScriptedModel::answers(["two"]), options);
    let prefix = vec![Action::Message("one".to_owned())];
    let trajectory = attempt(
        &agent,
        Try {
            prefix,
            ..Try::default()
        },
    )
    .unwrap();
    assert_eq!(said(&trajectory), ["one", "two"]);
    assert_eq!(trajectory.end, EndReason::Finished);
    assert_eq!(
        (trajectory.steps[0].index, trajectory.steps[1].index),
        (0, 1)
    );
}

#[test]
fn every_generation_has_a_seed_of_its_own() {
    let agent = |record| {
        let model = ScriptedModel::answers(["one", "two"]);
        let mut options = ModelExecutorOptions::default();
        options.record = record;
        executor(model, options)
    };
    let trajectory = attempt(
        &agent(true),
        Try {
            temperature: 0.8,
            ..Try::default()
        },
    )
    .unwrap();
    let records: Vec<_> = trajectory
        .steps
        .iter()
        .flat_map(|s| &s.generations)
        .collect();
    assert_eq!(records.len(), 2);
    assert_ne!(records[0].sampling.seed, records[1].sampling.seed);
    assert_eq!(
        (records[0].sampling.temperature, records[0].sampling.top_p),
        (0.8, 0.95)
    );
    assert_eq!(records[0].mask, [true]);
    let greedy = attempt(&agent(true), Try::default()).unwrap();
    assert_eq!(greedy.steps[0].generations[0].sampling.top_p, 1.0);
}

#[test]
fn what_could_not_be_read_is_kept_and_its_generations_where_they_are_recorded() {
    for record in [true, false] {
        let model = ScriptedModel::answers(["one", " "]);
        let mut options = ModelExecutorOptions::default();
        options.record = record;
        let trajectory = attempt(&executor(model, options), Try::default()).unwrap();
        assert_eq!(trajectory.end, EndReason::Unreadable);
        assert_eq!(said(&trajectory), ["one"]);
        let unread = trajectory.unread.unwrap();
        assert_eq!(
            (unread.transcript.as_str(), unread.generations.len()),
            (" ", usize::from(record))
        );
        assert_eq!(unread.observation.text, "go on");
    }
}

#[test]
fn says_which_skills_it_had_and_used() {
    let injection = sample::injection(&[sample::skill("saying"), sample::skill("singing")]);
    let guidance = FixedGuidance::new(injection.clone());
    let model = ScriptedModel::answers(["one", "[skill] two"]);
    let of = Try {
        injection: injection.clone(),
        guidance: Some(&guidance),
        ..Try::default()
    };
    let trajectory = attempt(&executor(model, Default::default()), of).unwrap();
    assert_eq!(trajectory.exposures.len(), 2);
    assert_eq!(used(&trajectory), [SkillUse::Followed; 2]);
    assert_eq!(guidance.reported().len(), 2);

    // Over the turns followed beats not followed, and both beat silence.
    let check = |answers: [&str; 2], expect| {
        let model = ScriptedModel::answers(answers);
        let guidance = FixedGuidance::new(injection.clone());
        let of = Try {
            injection: injection.clone(),
            guidance: Some(&guidance),
            ..Try::default()
        };
        let trajectory = attempt(&executor(model, Default::default()), of).unwrap();
        assert_eq!(used(&trajectory), [expect; 2], "{answers:?}");
        let reported = guidance.reported();
        let reported = injection.skills.iter().map(|one| reported.get(&one.skill));
        let reported: Vec<SkillUse> = reported
            .map(|one| one.copied().unwrap_or_default())
            .collect();
        assert_eq!(reported, [expect; 2], "{answers:?}");
    };
    check(["one", "two"], SkillUse::Unknown);
    check(["[no skill] one", "two"], SkillUse::NotFollowed);
    check(["[skill] one", "[no skill] two"], SkillUse::Followed);
    check(["[no skill] one", "[skill] two"], SkillUse::Followed);
}

fn used(trajectory: &Trajectory) -> Vec<SkillUse> {
    trajectory.exposures.iter().map(|e| e.used).collect()
}

/// Says of the second skill, and of one that is not there, that the agent follows it.
#[derive(Debug)]
struct FollowsTheSecond;

impl PromptFormat for FollowsTheSecond {
    fn turn(&self, view: &TurnView<'_>) -> Result<TurnMove> {
        let mut next = ScriptedFormat.turn(view)?;
        if let TurnMove::Act { used, .. } = &mut next {
            *used = vec![
                SkillUse::NotFollowed,
                SkillUse::Followed,
                SkillUse::Followed,
            ];
        }
        Ok(next)
    }

    fn skill_text(&self, skill: &Skill) -> String {
        ScriptedFormat.skill_text(skill)
    }

    fn score_prompt(&self, query: &str) -> Prompt {
        ScriptedFormat.score_prompt(query)
    }
}

#[test]
fn of_two_skills_only_the_followed_one_counts_as_used() {
    let injection = sample::injection(&[sample::skill("saying"), sample::skill("singing")]);
    let guidance = FixedGuidance::new(injection.clone());
    let model = Arc::new(ScriptedModel::answers(["one", "two"]));
    let agent = ModelExecutor::new(model, Arc::new(FollowsTheSecond), Default::default()).unwrap();
    let of = Try {
        injection: injection.clone(),
        guidance: Some(&guidance),
        ..Try::default()
    };
    let trajectory = attempt(&agent, of).unwrap();
    let expect = [SkillUse::NotFollowed, SkillUse::Followed];
    assert_eq!(used(&trajectory), expect);
    let skills = injection.skills.iter().map(|one| one.skill.clone());
    assert_eq!(guidance.reported(), skills.zip(expect).collect());
}

#[derive(Debug)]
struct LaterGuidance(Result<Injection>);

#[async_trait]
impl Guidance for LaterGuidance {
    async fn for_turn(&self, context: &TurnContext<'_>) -> Result<Injection> {
        assert_eq!(context.turn as usize, context.steps.len());
        assert!(
            context.turn > 0,
            "the first turn's skills are the attempt's"
        );
        self.0.clone()
    }

    fn used(&self, _skill: &SkillRef, _used: SkillUse) {}
}

#[test]
fn asks_for_skills_at_each_later_turn() {
    let later = LaterGuidance(Ok(sample::injection(&[sample::skill("later")])));
    let model = ScriptedModel::by(|request, _| {
        let sees = request.prompt.text().contains("To do later");
        Play::Give(if sees { "[skill] two" } else { "one" }.to_owned())
    });
    let of = Try {
        guidance: Some(&later),
        ..Try::default()
    };
    let trajectory = attempt(&executor(model, Default::default()), of).unwrap();
    assert_eq!(said(&trajectory), ["one", "two"]);
    assert_eq!(used(&trajectory), [SkillUse::Followed]);
}

#[test]
fn goes_on_without_skills_when_guidance_fails() {
    let fails = LaterGuidance(Err(Error::new(
        ErrorKind::Unavailable,
        "Guidance::for_turn",
        "no",
    )));
    let of = Try {
        guidance: Some(&fails),
        ..Try::default()
    };
    let model = ScriptedModel::answers(["one", "two"]);
    let trajectory = attempt(&executor(model, Default::default()), of).unwrap();
    assert_eq!(trajectory.end, EndReason::Finished);
}

#[test]
fn declines_a_temperature_that_is_no_number() {
    let agent = executor(ScriptedModel::always("one"), Default::default());
    let hot = attempt(
        &agent,
        Try {
            temperature: f32::NAN,
            ..Try::default()
        },
    );
    assert_eq!(hot.unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn a_turn_counts_from_what_the_agent_ended() {
    let model = ScriptedModel::answers(["one", "done"]);
    let trajectory = attempt(&executor(model, Default::default()), Try::default()).unwrap();
    let turns: Vec<u32> = trajectory.steps.iter().map(|step| step.turn).collect();
    assert_eq!(turns, [0, 1]);
    assert!(!trajectory.outcome.unwrap().success);
}

#[test]
fn the_scripted_model_counts_its_calls() {
    let model = ScriptedModel::always("one");
    assert_eq!(model.calls(), 0);
    let prompt = journeyman::domain::Prompt::default();
    block_on(model.generate(&GenerateRequest::greedy(prompt, 1))).unwrap();
    assert_eq!(model.calls(), 1);
}
