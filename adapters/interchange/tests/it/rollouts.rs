//! Rollout groups for a trainer: what a run's journal gives, what is refused, and what the validator finds.

use std::{
    collections::BTreeMap,
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, RunId, Seed,
    agent::{EnvironmentJudge, MemoryJournal, ModelExecutor, ModelExecutorOptions},
    contract::{Components, Journal, JournalEntry},
    domain::{AttemptId, EndReason, GenerationRecord, Revision, Role, Trajectory},
    papers::scribe::{AssessBy, AssessPolicy, ProcessReward},
    recipe::{self, Recipe},
    run::{Journeyman, Options, report::RunReport},
    stations::{propose::WriteWhen, reward::advantages, select::Top},
    testing::{
        Play, ScriptedEnvironment, ScriptedExecutor, ScriptedFormat, ScriptedJudge, ScriptedModel,
        ScriptedRetriever, ScriptedRoles, sample,
    },
    text::JsonSchema,
};
use journeyman_interchange::rollouts::{
    self, ExportedRollouts, JSON_SCHEMA, RewardPart, Rollout, RolloutAttempt, RolloutEnd,
    RolloutGroup, RolloutKind, StepGeneration, Validator,
};

const EXAMPLE: &str = include_str!("../../src/rollouts/example.jsonl");

/// Says the two words; at every third seed it stops, and at every fifth it writes nothing.
fn model() -> ScriptedModel {
    ScriptedModel::by(|request, _| {
        let seed = request.sampling.seed.0;
        let text = request.prompt.text();
        Play::Give(
            match () {
                () if seed.is_multiple_of(5) => " ",
                () if seed.is_multiple_of(3) => "done",
                () if text.contains("go on") => "day",
                () => "good",
            }
            .to_owned(),
        )
    })
}

fn agent(model: ScriptedModel, record: bool) -> Arc<ModelExecutor> {
    let mut options = ModelExecutorOptions::default();
    options.record = record;
    Arc::new(ModelExecutor::new(Arc::new(model), Arc::new(ScriptedFormat), options).unwrap())
}

fn components(journal: &Arc<MemoryJournal>) -> Components {
    let mut components = Components::new(
        agent(model(), true),
        Arc::new(ScriptedEnvironment::words()),
        Arc::new(EnvironmentJudge),
    );
    components.journal = Some(journal.clone());
    components.retriever = Some(Arc::new(ScriptedRetriever::new()));
    components.prompt_format = Some(Arc::new(ScriptedFormat));
    // Writes a skill from the attempts of each task.
    components.model = Some(Arc::new(ScriptedModel::by(|_, call| {
        Play::Give(format!("greet-{call}: How to greet.\nSay both words."))
    })));
    components.roles = Some(Arc::new(ScriptedRoles::default()));
    components
}

fn recipe() -> Recipe {
    let mut recipe = recipe::standard();
    recipe.attempts.group = NonZeroU32::new(6).unwrap();
    recipe.select.selector = Top::new(NonZeroUsize::MIN).into();
    recipe.write.when = WriteWhen::Always;
    recipe
}

/// Learns from so many tasks; the report and the journal.
fn learn(
    change: impl FnOnce(&mut Components, &mut Recipe),
    tasks: usize,
) -> (RunReport, Vec<JournalEntry>) {
    let journal = Arc::new(MemoryJournal::new());
    let (mut components, mut recipe) = (components(&journal), recipe());
    change(&mut components, &mut recipe);
    let tasks = (0..tasks).map(|n| sample::task(&format!("t-{n}"), &["good", "day"]));
    block_on(async {
        let journeyman =
            Journeyman::open(components, recipe, Options::new("desk", Seed(7))).await?;
        let report = journeyman.learn(tasks.collect()).await?;
        let entries = journal.read(&report.run).await?;
        Ok::<_, Error>((report, entries))
    })
    .unwrap()
}

fn exported(
    change: impl FnOnce(&mut Components, &mut Recipe),
    tasks: usize,
) -> (RunReport, ExportedRollouts) {
    let (report, entries) = learn(change, tasks);
    (report, rollouts::of_journal(&entries).unwrap())
}

/// Reasons of the refused attempts, each with its number.
fn reasons(exported: &ExportedRollouts) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for refused in &exported.refused {
        assert!(!refused.attempt.as_str().is_empty());
        *reasons
            .entry(refused.error.message().to_owned())
            .or_default() += 1;
    }
    reasons
}

#[test]
fn a_run_is_exported_validated_and_says_what_the_report_says() {
    let (report, exported) = exported(|_, _| {}, 4);
    assert_eq!((exported.rollouts.len(), exported.refused.len()), (24, 0));
    let lines = rollouts::write(&exported.rollouts).unwrap();
    assert_eq!(rollouts::read(&lines).unwrap(), exported.rollouts);
    let schema = JsonSchema::new(serde_json::from_str(JSON_SCHEMA).unwrap()).unwrap();
    let mut validator = Validator::of_size(NonZeroU32::new(6).unwrap());
    for line in lines.lines() {
        validator.line(line).unwrap().unwrap();
        let faults = schema.faults(&serde_json::from_str(line).unwrap());
        assert!(faults.is_empty(), "{faults:?}");
    }
    let summary = validator.finish().unwrap();
    assert_eq!((summary.rollouts, summary.groups.get(&6)), (24, Some(&4)));

    let mut revision = Revision(0);
    let mut ends = BTreeMap::new();
    for (task, group) in report.tasks.iter().zip(exported.rollouts.chunks(6)) {
        for (number, (attempt, rollout)) in task.attempts.iter().zip(group).enumerate() {
            assert_eq!(rollout.attempt, attempt.attempt);
            assert_eq!(rollout.tasks, std::slice::from_ref(&task.task));
            assert_eq!(rollout.skills, attempt.injected);
            assert_eq!(Some(rollout.reward), attempt.reward);
            let advantage = task.advantages.as_ref().map(|all| all[number]);
            assert_eq!(rollout.advantage, advantage);
            // The library as it was when the skills were selected.
            assert_eq!(rollout.library, revision);
            assert_eq!(rollout.steps, attempt.steps);
            *ends.entry(rollout.end).or_insert(0) += 1;
        }
        revision = task.revision;
    }
    assert!(exported.rollouts.iter().any(|one| !one.skills.is_empty()));
    // Attempts of each kind of end were made: what could not be read is there too.
    let kinds = [RolloutEnd::Finished, RolloutEnd::Unreadable];
    assert!(kinds.iter().all(|end| ends.contains_key(end)), "{ends:?}");
}

#[test]
fn each_generation_is_a_segment_and_the_unread_one_is_the_last() {
    let (_, exported) = exported(|_, _| {}, 4);
    let of = |end| {
        let mut found = exported.rollouts.iter().filter(move |one| one.end == end);
        found.next().unwrap()
    };
    let unread = of(RolloutEnd::Unreadable);
    let last = unread.segments.last().unwrap();
    assert_eq!((last.step, last.ids.len()), (unread.steps, 1));
    let whole = of(RolloutEnd::Finished);
    let steps: Vec<u32> = whole.segments.iter().map(|segment| segment.step).collect();
    assert_eq!(steps, (0..whole.steps).collect::<Vec<_>>());
    // The scripted prompt format writes the prompt anew: it repeats the beginning of the first alone.
    if let [first, second, ..] = whole.segments.as_slice() {
        assert!(0 < second.shared && second.shared < first.prompt_ids.len() + first.ids.len());
        assert_eq!(whole.sequences().len(), whole.segments.len());
    }
}

#[test]
fn sequences_have_every_segment_at_its_place() {
    let rollout = &rollouts::read(EXAMPLE).unwrap()[0];
    let check = |rollout: &Rollout, lengths: &[usize]| {
        let sequences = rollout.sequences();
        let found: Vec<usize> = sequences.iter().map(|one| one.ids.len()).collect();
        assert_eq!(found, lengths);
        // In each sequence the tokens that the model chose are those of its segments, in order, with their log-probabilities.
        let chosen = sequences.iter().flat_map(|one| {
            let tokens = one.ids.iter().zip(&one.mask).zip(&one.logprobs);
            tokens.filter(|((_, chosen), _)| **chosen)
        });
        let chosen: Vec<_> = chosen.map(|((id, _), logprob)| (*id, *logprob)).collect();
        let expect = rollout.segments.iter().flat_map(|segment| {
            let tokens = segment.ids.iter().zip(&segment.mask).zip(&segment.logprobs);
            tokens.filter(|((_, chosen), _)| **chosen)
        });
        let expect: Vec<_> = expect.map(|((id, _), logprob)| (*id, *logprob)).collect();
        assert_eq!(chosen, expect);
        for sequence in &sequences {
            assert_eq!(sequence.mask.len(), sequence.ids.len());
            assert_eq!(sequence.logprobs.len(), sequence.ids.len());
        }
    };
    check(rollout, &[12]);
    // A prompt that was written anew begins another sequence.
    let mut anew = rollout.clone();
    anew.segments[1].prompt_ids[4] = 30;
    anew.segments[1].shared = 4;
    anew.validate().unwrap();
    check(&anew, &[7, 12]);
    // A token of the harness is context.
    let mut harness = rollout.clone();
    harness.segments[0].mask[1] = false;
    check(&harness, &[12]);
}

#[test]
fn what_a_reward_consists_of_is_told_where_it_is_known() {
    let mut steps = AssessPolicy::default();
    steps.by = AssessBy::Steps;
    steps.anchors = None;
    let (report, exported) = exported(
        |components, recipe| {
            recipe.reward.by = ProcessReward::default().into();
            recipe.assess = Some(steps.into());
            recipe.tiers.traces = 20;
            recipe.write.when = WriteWhen::Never;
            components.model = Some(Arc::new(ScriptedModel::always("2 almost")));
            components.roles = Some(Arc::new(ScriptedRoles::only([Role::Score])));
        },
        2,
    );
    let attempts = report.attempts();
    let mut processes = 0;
    for (attempt, rollout) in attempts.zip(&exported.rollouts) {
        let part = |name: &str| rollout.parts.get(name).copied();
        let outcome = f64::from(u8::from(attempt.success == Some(true)));
        let expect = match attempt.process {
            Some(process) => {
                processes += 1;
                [(outcome, Some(0.7)), (process, Some(0.3))]
            }
            // An attempt without a step has no process score: the outcome counts for both.
            None => [(outcome, Some(1.0)), (outcome, None)],
        };
        let [outcome, process] =
            expect.map(|(value, weight)| RewardPart::new(value).with_weight(weight));
        assert_eq!(part("outcome"), Some(outcome));
        assert_eq!(part("process"), process.weight.map(|_| process));
    }
    assert!(processes > 3);

    // A reward in three levels has no weights; in a warm-up a process reward has none either.
    let (_, levels) = self::exported(|_, _| {}, 2);
    let used = |one: &Rollout| one.parts.get("skill").map(|part| part.value);
    assert!(
        levels
            .rollouts
            .iter()
            .all(|one| used(one) == Some(f64::from(u8::from(!one.skills.is_empty()))))
    );
    assert!(
        levels
            .rollouts
            .iter()
            .flat_map(|one| one.parts.values())
            .all(|part| part.weight.is_none())
    );
}

#[test]
fn attempts_of_a_batch_have_the_revision_that_they_began_with() {
    let (report, exported) = exported(|_, recipe| recipe.batch = NonZeroU64::new(2).unwrap(), 4);
    let revisions: Vec<Revision> = exported
        .rollouts
        .chunks(6)
        .map(|group| group[0].library)
        .collect();
    let after = report.tasks[1].revision;
    assert!(after > Revision(0));
    assert_eq!(revisions, [Revision(0), Revision(0), after, after]);
}

#[test]
fn what_cannot_be_exported_is_refused_with_the_reason_and_the_others_stay() {
    // No records at all.
    let (_, none) = exported(
        |components, _| components.executor = Some(agent(model(), false)),
        1,
    );
    assert!(none.rollouts.is_empty());
    let reason = "no generation of the attempt was recorded";
    assert_eq!(reasons(&none), BTreeMap::from([(reason.to_owned(), 6)]));
    assert!(
        none.refused[0]
            .error
            .hint_text()
            .unwrap()
            .contains("ModelExecutorOptions::record")
    );

    // A judge that fails at some attempts: advantages are those of the others.
    let (report, some) = exported(
        |components, _| {
            components.judge = Some(Arc::new(ScriptedJudge::by(|request, call| {
                match call % 3 {
                    0 => Play::Fail(Error::new(
                        ErrorKind::Unavailable,
                        "Judge::judge",
                        "not now",
                    )),
                    _ => Play::Give(journeyman::domain::Verdict::binary(
                        request
                            .trajectory
                            .outcome
                            .as_ref()
                            .is_some_and(|outcome| outcome.success),
                    )),
                }
            })));
        },
        3,
    );
    assert_eq!((some.rollouts.len(), some.refused.len()), (12, 6));
    assert_eq!(reasons(&some), BTreeMap::from([("not now".to_owned(), 6)]));
    assert!(report.tasks.iter().all(|task| task.advantages.is_none()));
    let lines = rollouts::write(&some.rollouts).unwrap();
    let mut with_advantage = 0;
    for group in rollouts::read(&lines).unwrap().chunks(4) {
        assert!(group.iter().all(|one| (one.size, one.attempts) == (4, 6)));
        let rewards: Vec<f64> = group.iter().map(|one| one.reward).collect();
        let expect = advantages(&rewards, journeyman::stations::reward::ADVANTAGE_EPSILON);
        let found: Option<Vec<f64>> = group.iter().map(|one| one.advantage).collect();
        assert_eq!(found, expect);
        with_advantage += usize::from(expect.is_some());
    }
    assert!(with_advantage > 0);

    // A judge that cannot tell gives no reward.
    let (_, unsure) = exported(
        |components, _| {
            let unsure = Play::Give(journeyman::domain::Verdict::undecided());
            components.judge = Some(Arc::new(ScriptedJudge::that(unsure)));
        },
        1,
    );
    let reason = "the attempt has no reward".to_owned();
    assert_eq!(reasons(&unsure), BTreeMap::from([(reason, 6)]));
}

fn record(model: &str, prompt: &[i32], ids: &[i32]) -> GenerationRecord {
    GenerationRecord::new(model, prompt.to_vec(), ids.to_vec(), vec![-0.5; ids.len()])
}

#[test]
fn a_record_that_breaks_a_rule_costs_its_attempt_alone() {
    // Each attempt of the group has another fault; the last three have none.
    let faults: [fn(&mut Trajectory); 5] = [
        |one| one.steps[0].generations.clear(),
        |one| one.steps[0].generations[0].mask.clear(),
        |one| one.steps[0].generations[0].logprobs.truncate(1),
        |one| one.steps[0].generations[0].prompt_ids.clear(),
        |one| one.steps[0].generations[0].mask = vec![false, false],
    ];
    let make = move |number: usize, attempt: &str| {
        let task = sample::task("t-0", &["good", "day"]);
        let mut made = sample::trajectory(attempt, &task, &["good"], number.is_multiple_of(2));
        made.steps[0].generations = vec![record("m", &[1, 2], &[3, 4])];
        if let Some(fault) = faults.get(number) {
            fault(&mut made);
        }
        made
    };
    let (_, exported) = exported(
        |components, recipe| {
            recipe.attempts.group = NonZeroU32::new(8).unwrap();
            components.executor = Some(Arc::new(ScriptedExecutor::by(move |attempt, number| {
                Play::Give(make(number, attempt.id.as_str()))
            })));
        },
        1,
    );
    let numbers: Vec<&str> = exported
        .rollouts
        .iter()
        .map(|one| one.attempt.as_str().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(numbers, ["5", "6", "7"]);
    assert!(
        exported
            .rollouts
            .iter()
            .all(|one| (one.size, one.attempts) == (3, 8))
    );
    let messages: Vec<(&str, Option<&str>)> = exported
        .refused
        .iter()
        .map(|one| (one.error.message(), one.error.fact("field")))
        .collect();
    assert_eq!(
        messages,
        [
            ("no generation of the attempt was recorded", None),
            ("the mask is as long as the tokens", Some("mask")),
            (
                "there are as many log-probabilities as tokens",
                Some("logprobs")
            ),
            ("there is no prompt", Some("prompt_ids")),
            ("the model chose no token of the rollout", Some("segments")),
        ]
    );
    assert!(
        exported
            .refused
            .iter()
            .all(|one| one.error.hint_text().is_some())
    );
}

#[test]
fn evaluations_unfinished_tasks_and_other_journals_are_refused() {
    let (_, entries) = learn(|_, _| {}, 2);
    let error = rollouts::of_journal(&entries[1..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    // Cut off after the last attempts of the second task: its events are missing.
    let text = |entry: &JournalEntry| entry.event.to_string();
    let last = entries
        .iter()
        .rposition(|entry| text(entry).contains("attempted\":{\"Ok"));
    let cut = rollouts::of_journal(&entries[..=last.unwrap()]).unwrap();
    assert_eq!(cut.rollouts.len(), 6);
    let reason = "the attempt's task is not finished".to_owned();
    assert_eq!(reasons(&cut), BTreeMap::from([(reason, 6)]));

    let journal = Arc::new(MemoryJournal::new());
    let error = block_on(async {
        let parts = (components(&journal), recipe());
        let journeyman = Journeyman::open(parts.0, parts.1, Options::new("desk", Seed(7))).await?;
        let report = journeyman
            .evaluate(vec![sample::task("t", &["good"])])
            .await?;
        rollouts::of_journal(&journal.read(&report.run).await?)
    });
    assert_eq!(error.unwrap_err().message(), "the run is an evaluation");
}

/// An attempt of a group that is no agent's.
fn decision(number: usize, reward: Option<f64>) -> RolloutAttempt {
    let step = |step: u32| StepGeneration::new(step, record("curator", &[1, 2], &[3, 4]));
    RolloutAttempt::new(
        AttemptId::new(format!("desk/rollouts-0/{number}")),
        RunId::new(format!("desk/rollouts-0/{number}/learn-0")),
        Revision(3),
        RolloutEnd::from(&EndReason::Finished),
    )
    .with_generations(vec![step(0), step(0), step(2)])
    .with_steps(3)
    .with_reward(reward)
    .with_parts(BTreeMap::from([
        (
            "success".to_owned(),
            RewardPart::new(reward.unwrap_or_default() - 0.5).with_weight(1.0),
        ),
        ("validity".to_owned(), RewardPart::new(0.5).with_weight(1.0)),
    ]))
}

fn curators(attempts: Vec<RolloutAttempt>) -> ExportedRollouts {
    rollouts::of_group(
        RolloutGroup::new(
            RolloutKind::Curator,
            "desk/rollouts-0",
            vec!["t-1".into(), "t-2".into()],
            attempts,
        )
        .with_made(0),
    )
}

#[test]
fn a_curators_group_has_the_same_form() {
    let exported = curators(vec![
        decision(0, Some(1.5)),
        decision(1, None),
        decision(2, Some(0.5)),
    ]);
    let lines = rollouts::write(&exported.rollouts).unwrap();
    let read = rollouts::read(&lines).unwrap();
    assert_eq!(read, exported.rollouts);
    assert_eq!(
        (read.len(), read[0].kind, read[0].attempts),
        (2, RolloutKind::Curator, 3)
    );
    assert!((read[0].advantage.unwrap() - 1.0).abs() < 1e-6);
    // Prompts that repeat nothing of what was written.
    let shared: Vec<usize> = read[0].segments.iter().map(|one| one.shared).collect();
    assert_eq!(shared, [0, 2, 2]);
    assert_eq!(
        exported.refused[0].error.message(),
        "the attempt has no reward"
    );
}

#[test]
fn attempts_of_another_policy_are_no_part_of_the_group() {
    let mut other_model = decision(1, Some(0.5));
    other_model
        .generations
        .iter_mut()
        .for_each(|one| one.record.model = "other".into());
    let mut other_library = decision(2, Some(0.5));
    other_library.library = Revision(4);
    let mut mixed = decision(3, Some(0.5));
    mixed.generations[1].record.sampling.temperature = 1.0;
    let mut parts = decision(4, Some(0.5));
    parts
        .parts
        .insert("more".to_owned(), RewardPart::new(1.0).with_weight(1.0));
    let exported = curators(vec![
        decision(0, Some(1.5)),
        other_model,
        other_library,
        mixed,
        parts,
    ]);
    // One rollout alone has no advantage.
    assert_eq!(
        (exported.rollouts.len(), exported.rollouts[0].advantage),
        (1, None)
    );
    let facts: Vec<_> = exported
        .refused
        .iter()
        .map(|one| (one.error.message(), one.error.fact("field")))
        .collect();
    assert_eq!(
        facts,
        [
            (
                "the attempt differs from the first of its group",
                Some("model")
            ),
            (
                "the attempt differs from the first of its group",
                Some("library")
            ),
            (
                "the generations are of several models, adapters or samplings",
                None
            ),
            (
                "the weighted parts do not add up to the reward",
                Some("parts")
            ),
        ]
    );
    let nobody = curators(Vec::new());
    assert!(nobody.rollouts.is_empty() && nobody.refused.is_empty());
}
