//! Runs every suite against the built-in parts and the doubles, and sees that no rule of a contract is without a
//! case.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "a test reads the sources that it checks"
)]

mod host_policies;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::executor::block_on;
use host_policies::{
    Flaw, admit_rule, assess_program, check_assessing, check_credit, check_reward, credit_rule,
    maintenance_program, reward_rule, select_program, write_program,
};
use journeyman::{
    Error, ErrorKind, Seed,
    agent::{
        AdaptedModel, EnvironmentJudge, ForkStore, JsonLinesJournal, MemoryJournal, MemoryStore,
        ModelExecutor, ModelExecutorOptions, ObservedExecutor, SystemClock, VectorRetriever,
    },
    contract::{
        Clock, FixedGuidance, GenerateRequest, Journal, PromptFormat, Retriever, SkillFiles,
        SkillStore, ToolChoice,
    },
    domain::{Action, EndReason, Message, Prompt, Role, SkillUse, Speaker, Timestamp},
    papers::scribe::{AssessBy, AssessPolicy, ProcessReward},
    stations::{
        credit::{PerRollout, PerStep},
        reward::LevelReward,
    },
    testing::{
        ManualClock, Play, ScriptedEnvironment, ScriptedExecutor, ScriptedFormat, ScriptedJudge,
        ScriptedModel, ScriptedRetriever, ScriptedRoles, ScriptedScorer, WordEmbedder,
        WordTokenizer,
        conformance::{self, Outcome, Report, prompt_format::UseSample},
        sample,
    },
};

fn clock() -> Report {
    let manual = ManualClock::at(Timestamp(5_000));
    let advance = |milliseconds| manual.advance(milliseconds);
    block_on(conformance::clock::check(&manual, Some(&advance)))
}

fn prompt_format() -> Report {
    let fixture = conformance::prompt_format::PromptFormatFixture::new(
        sample::task("t", &["one"]),
        sample::observation("say one"),
    )
    .with_skills(vec![sample::skill("saying"), sample::skill("singing")])
    .with_replies(vec![
        "one".to_owned(),
        "[skill] one".to_owned(),
        "done".to_owned(),
    ])
    .with_uses(
        [
            ("one", SkillUse::Unknown),
            ("[skill] one", SkillUse::Followed),
            ("[no skill] one", SkillUse::NotFollowed),
        ]
        .map(|(reply, used)| UseSample::new(vec![reply.to_owned()], vec![used; 2]))
        .into(),
    );
    block_on(conformance::prompt_format::check(&ScriptedFormat, &fixture))
}

fn embedder() -> Report {
    block_on(conformance::embedder::check(&WordEmbedder::new(64)))
}

fn environment() -> Report {
    let say = |word: &str| Action::Message(word.to_owned());
    let fixture = conformance::environment::EnvironmentFixture::new(
        sample::task("t", &["one", "two"]),
        Seed(3),
        vec![say("one"), say("no"), say("two")],
    )
    .with_other((
        sample::task("u", &["six"]),
        Seed(4),
        vec![say("no"), Action::EndTurn],
    ))
    .with_refused(say("no"))
    .with_unknown(journeyman::domain::Task::new("v", "no words"));
    block_on(conformance::environment::check(
        &ScriptedEnvironment::words(),
        &fixture,
    ))
}

fn executor_fixture() -> conformance::executor::ExecutorFixture {
    let skills = [sample::skill("saying"), sample::skill("singing")];
    conformance::executor::ExecutorFixture::new(
        Arc::new(ScriptedEnvironment::words()),
        sample::task("t", &["one", "two", "three"]),
        Seed(3),
    )
    .with_injection(sample::injection(&skills))
    .with_prefix(vec![
        Action::Message("one".to_owned()),
        Action::Message("no".to_owned()),
    ])
}

/// A model that says the next word of the task, and that it follows a skill.
fn speaking() -> ScriptedModel {
    ScriptedModel::by(|request: &GenerateRequest, _| {
        let said = |word: &str| {
            let mut messages = request.prompt.messages.iter();
            messages.any(|m| m.speaker == Speaker::Assistant && m.text().ends_with(word))
        };
        let next = ["one", "two", "three"].into_iter().find(|word| !said(word));
        Play::Give(format!("[skill] {}", next.unwrap_or("done")))
    })
}

fn executor() -> Report {
    let options = ModelExecutorOptions::default();
    let agent = ModelExecutor::new(Arc::new(speaking()), Arc::new(ScriptedFormat), options);
    block_on(conformance::executor::check(
        &agent.unwrap(),
        &executor_fixture(),
    ))
}

fn guidance() -> Report {
    let task = sample::task("t", &["one"]);
    let fixture = conformance::guidance::GuidanceFixture::new(
        sample::observation("say one"),
        sample::trajectory("a", &task, &["one", "two", "three"], true).steps,
    );
    let guidance = FixedGuidance::new(sample::injection(&[sample::skill("saying")]));
    block_on(conformance::guidance::check(&guidance, &fixture))
}

fn journal() -> Report {
    block_on(conformance::journal::check(async || {
        Ok(Arc::new(MemoryJournal::new()) as Arc<dyn Journal>)
    }))
}

fn judge_fixture() -> conformance::judge::JudgeFixture {
    let task = sample::task("t", &["one"]);
    let gone = Error::new(ErrorKind::Unavailable, "Episode::step", "gone");
    conformance::judge::JudgeFixture::new(
        task.clone(),
        vec![
            sample::trajectory("good", &task, &["one"], true),
            sample::trajectory("bad", &task, &["two"], false),
            sample::ended("short", &task, EndReason::StepBudget),
        ],
    )
    .with_undecidable(vec![sample::ended(
        "failed",
        &task,
        EndReason::Failed(gone),
    )])
}

fn judge() -> Report {
    block_on(conformance::judge::check(
        &EnvironmentJudge,
        &judge_fixture(),
    ))
}

fn model_fixture() -> conformance::language_model::LanguageModelFixture {
    conformance::language_model::LanguageModelFixture::new(Prompt::new(vec![Message::data(
        Speaker::User,
        "say something",
    )]))
    .with_max_tokens(16)
    .with_time_limit(Duration::from_secs(10))
    .with_clock(Arc::new(SystemClock::new()))
}

fn language_model() -> Report {
    let mut slow = GenerateRequest::greedy(Prompt::default(), 16);
    slow.time_limit = Duration::from_millis(50);
    let mut fixture = model_fixture();
    fixture.slow = Some(slow);
    let model = ScriptedModel::by(|request, _| {
        let calls = !request.tools.is_empty() && request.tool_choice != ToolChoice::None;
        match request.prompt.messages.is_empty() {
            false if calls => {
                Play::Give(r#"[{"tool": "look", "arguments": {"place": "mast"}}]"#.to_owned())
            }
            false => Play::Give("these are the words that the model writes".to_owned()),
            true => Play::Fail(Error::new(
                ErrorKind::Timeout,
                "LanguageModel::generate",
                "slow",
            )),
        }
    });
    let model = model.with_tools();
    block_on(conformance::language_model::check(&model, &fixture))
}

fn retriever() -> Report {
    block_on(conformance::retriever::check(async || {
        Ok(Arc::new(ScriptedRetriever::new()) as Arc<dyn Retriever>)
    }))
}

/// Answers of the scripted roles: those that can be read, and those that cannot.
fn answers(role: Role) -> (&'static [&'static str], &'static [&'static str]) {
    match role {
        Role::Summarize | Role::Extract | Role::Refactor | Role::Refine => (
            &["saying: says a word\nSay it.", "none: nothing new"],
            &["saying: no body", "no title\nand a body"],
        ),
        Role::Attribute => (&["harmful: it misled", "neutral"], &["good: yes"]),
        Role::Bundle => (
            &["unit 1 says day\nnegative 0 no harm", "none"],
            &["unit 2 x", "unit x"],
        ),
        Role::Segment => (
            &[
                "say good | saying | 0 0\nsay day | saying | 1 1",
                "all | saying | 1 5",
            ],
            &["say good | saying", "late | saying | 7 8"],
        ),
        Role::DistilPrototype => (
            &["title: greeting\ncheck: both words were said\ntrap 1: one word alone"],
            &["title: greeting", "title: greeting\ncheck: a\ntrap 7: b"],
        ),
        Role::Route => (&["0 0.9", "1 1", "none"], &["2 0.9", "0 1.5", "0 NaN"]),
        Role::Score => (&["3 both words", "0"], &["4 more", "good"]),
        Role::Curate => (
            &[
                r#"{"tool": "delete_skill", "arguments": {"skill": "saying"}}"#,
                "none",
            ],
            &["delete_skill saying", r#"{"tool": "delete_skill"}"#],
        ),
        Role::Tag => (&["greeting\nword order"], &[" \n"]),
        Role::Lesson => (
            &["0 | said day | say good | read first"],
            &["1 | said day | say good | read first", "0 | said day"],
        ),
        Role::DistilBank => (
            &[
                "greet | when words are due | say both",
                "0> greet | when words are due | say both",
                "none",
            ],
            &["1> greet | when | say both", "greet | when"],
        ),
        Role::Review => (&["3 clear", "0"], &["7 excellent", "good", ""]),
        _ => (&["Be exact.\nBe short."], &["a\nb\nc\nd\ne\nf"]),
    }
}

fn samples(roles: &[Role]) -> Vec<conformance::roles::RoleSample> {
    let sample = |role: &Role| {
        let (readable, unreadable) = answers(*role);
        conformance::roles::RoleSample::new(sample::role_task(*role))
            .with_readable(readable.iter().map(|text| (*text).to_owned()).collect())
            .with_unreadable(unreadable.iter().map(|text| (*text).to_owned()).collect())
    };
    roles.iter().map(sample).collect()
}

fn roles() -> Report {
    let unplayed = Role::Evolve;
    let played: Vec<Role> = (Role::ALL.into_iter())
        .filter(|role| *role != unplayed)
        .collect();
    let fixture = conformance::roles::RolesFixture::new(samples(&played))
        .with_unplayed(vec![sample::role_task(unplayed)]);
    let roles = ScriptedRoles::only(played);
    block_on(conformance::roles::check(&roles, &fixture))
}

fn scorer_fixture() -> conformance::scorer::ScorerFixture {
    conformance::scorer::ScorerFixture::new(
        ScriptedFormat.score_prompt("open the vault"),
        vec![
            "first unseal, then open".to_owned(),
            "brew a coffee".to_owned(),
            "sing two songs in a row".to_owned(),
        ],
    )
    .with_special("<| im_end |>")
    .with_context(4_096)
    .with_time_limit(Duration::from_secs(10))
}

fn scorer() -> Report {
    let scorer = ScriptedScorer::table([("unseal", -0.5), ("brew", -3.0)]);
    block_on(conformance::scorer::check(&scorer, &scorer_fixture()))
}

fn skill_files() -> Report {
    block_on(conformance::skill_files::check(async || {
        let store = Arc::new(MemoryStore::new());
        let files = Arc::clone(&store) as Arc<dyn SkillFiles>;
        Ok((files, Some(store as Arc<dyn SkillStore>)))
    }))
}

fn skill_store() -> Report {
    block_on(conformance::skill_store::check(async || {
        Ok(Arc::new(MemoryStore::new()) as Arc<dyn SkillStore>)
    }))
}

/// The same rules hold for a store that begins with the commits of another one.
#[test]
fn a_fork_store_keeps_the_rules_of_a_store() {
    let report = block_on(conformance::skill_store::check(async || {
        let empty = MemoryStore::new().load().await?;
        Ok(Arc::new(ForkStore::new(empty)?) as Arc<dyn SkillStore>)
    }));
    let report = report.into_result().unwrap();
    assert_eq!(report.skipped().count(), 0, "{report}");
}

/// The same rules hold for a model with an adapter, and for a scorer with one.
#[test]
fn a_model_with_an_adapter_keeps_the_rules_of_a_model_and_of_a_scorer() {
    let model = ScriptedModel::always("these are the words").with_adapters(["own"]);
    let model = AdaptedModel::new(Arc::new(model), "own");
    let checked = block_on(conformance::language_model::check(&model, &model_fixture()));
    checked.into_result().unwrap();
    let scorer = ScriptedScorer::table([("unseal", -0.5)]);
    let scorer = scorer.with_adapter("own", |_, _| Play::Give(-3.0));
    let scorer = AdaptedModel::new(Arc::new(scorer), "own");
    let checked = block_on(conformance::scorer::check(&scorer, &scorer_fixture()));
    let checked = checked.into_result().unwrap();
    assert_eq!(checked.skipped().count(), 0, "{checked}");
}

fn tokenizer() -> Report {
    block_on(conformance::tokenizer::check(&WordTokenizer))
}

fn suites() -> BTreeMap<&'static str, Report> {
    let contracts = [
        ("clock", clock()),
        ("prompt_format", prompt_format()),
        ("embedder", embedder()),
        ("environment", environment()),
        ("executor", executor()),
        ("guidance", guidance()),
        ("journal", journal()),
        ("judge", judge()),
        ("language_model", language_model()),
        ("retriever", retriever()),
        ("roles", roles()),
        ("scorer", scorer()),
        ("skill_files", skill_files()),
        ("skill_store", skill_store()),
        ("tokenizer", tokenizer()),
    ];
    contracts.into_iter().collect()
}

/// The suites of the traits of a host's own policies.
fn suites_of_policies() -> BTreeMap<&'static str, Report> {
    let policies = [
        ("SelectProgram", select_program(Flaw::None)),
        ("AssessProgram", assess_program(Flaw::None)),
        ("RewardRule", reward_rule(Flaw::None)),
        ("CreditRule", credit_rule(Flaw::None)),
        ("WriteProgram", write_program(Flaw::None)),
        ("AdmitRule", admit_rule(Flaw::None)),
        ("MaintenanceProgram", maintenance_program(Flaw::None)),
    ];
    policies.into_iter().collect()
}

#[test]
fn the_parts_of_the_sdk_keep_every_rule_and_none_is_skipped() {
    for (_, report) in suites().into_iter().chain(suites_of_policies()) {
        let other: Vec<_> = (report.cases().iter())
            .filter(|case| case.outcome != Outcome::Passed)
            .collect();
        assert!(other.is_empty(), "{report}");
    }
}

#[test]
fn the_rules_of_ours_keep_the_rules_of_their_traits() {
    let rules = [
        check_reward(&LevelReward::default()),
        check_reward(&ProcessReward::default()),
        check_credit(&PerStep),
        check_credit(&PerRollout),
    ];
    for report in rules {
        assert_eq!(report.skipped().count(), 0, "{report}");
        report.into_result().unwrap();
    }
}

#[test]
fn the_assessor_of_ours_keeps_the_rules_of_its_trait() {
    for by in [AssessPolicy::default().by, AssessBy::Steps] {
        // Without prototypes a subgoal is scored by an open judgement.
        let mut assess = AssessPolicy::default();
        assess.by = by;
        assess.open = true;
        let report = check_assessing(assess.into(), Flaw::None);
        assert_eq!(report.skipped().count(), 0, "{report}");
        report.into_result().unwrap();
    }
}

#[test]
fn other_parts_keep_the_rules_too() {
    let lines = block_on(conformance::journal::check(async || {
        Ok(Arc::new(JsonLinesJournal::new(Vec::new())) as Arc<dyn Journal>)
    }));
    lines.into_result().unwrap();
    let fixture = conformance::roles::RolesFixture::new(samples(&Role::ALL));
    let all = block_on(conformance::roles::check(
        &ScriptedRoles::default(),
        &fixture,
    ));
    all.into_result().unwrap();
    let system = block_on(conformance::clock::check(&SystemClock::new(), None));
    system.into_result().unwrap();
    let vectors = block_on(conformance::retriever::check(async || {
        let embedder = Arc::new(WordEmbedder::new(4_096));
        Ok(Arc::new(VectorRetriever::new(embedder)) as Arc<dyn Retriever>)
    }));
    vectors.into_result().unwrap();
    let acting = ScriptedExecutor::acting(|attempt, steps| {
        let words: Vec<String> = serde_json::from_value(attempt.task.payload.clone()).unwrap();
        let done = steps.iter().filter(|step| !step.result.is_error).count();
        Play::Give(words.get(done).cloned().map(Action::Message))
    });
    let report = block_on(conformance::executor::check(&acting, &executor_fixture()));
    report.into_result().unwrap();
    let seen = Arc::new(AtomicUsize::new(0));
    let sees = seen.clone();
    let observed = ObservedExecutor::new(acting, move |_, _, _| {
        sees.fetch_add(1, Ordering::Relaxed);
    });
    let report = block_on(conformance::executor::check(&observed, &executor_fixture()));
    report.into_result().unwrap();
    assert!(seen.load(Ordering::Relaxed) > 0);
    let judge = ScriptedJudge::by(|request, _| {
        let verdict = match &request.trajectory.outcome {
            Some(outcome) => journeyman::domain::Verdict::binary(outcome.success),
            None => journeyman::domain::Verdict::undecided(),
        };
        Play::Give(verdict)
    });
    let report = block_on(conformance::judge::check(&judge, &judge_fixture()));
    report.into_result().unwrap();
}

#[test]
fn a_part_that_cannot_be_tried_is_skipped_with_the_reason() {
    let model = ScriptedModel::always("these are the words").without_records();
    let report = block_on(conformance::language_model::check(&model, &model_fixture()));
    let skipped: Vec<&str> = report.skipped().map(|case| case.name).collect();
    assert_eq!(skipped, ["records", "deadline"], "{report}");
    assert!(
        report
            .to_string()
            .contains("skipped  LanguageModel: records: the model says")
    );
    report.into_result().unwrap();
}

/// The names of the rules in a contract's documentation: the italic word of each bullet.
fn rules(source: &str) -> Vec<&str> {
    (source.lines())
        .filter_map(|line| line.trim().strip_prefix("/// - *"))
        .filter_map(|bullet| bullet.split_once("*:"))
        .map(|(name, _)| name)
        .collect()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name)
}

#[test]
fn every_rule_of_a_contract_has_a_case_and_every_case_a_rule() {
    let suites = suites();
    let mut seen = 0;
    for file in std::fs::read_dir(folder("contract")).unwrap() {
        let path = file.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let source = std::fs::read_to_string(&path).unwrap();
        let rules = rules(&source);
        if rules.is_empty() {
            assert!(
                !source.contains("# Behavior"),
                "{stem}: rules that are not read"
            );
            continue;
        }
        seen += 1;
        let Some(report) = suites.get(stem.as_str()) else {
            panic!("the contract {stem} has rules and no suite: {rules:?}");
        };
        let cases: Vec<&str> = report.cases().iter().map(|case| case.name).collect();
        assert_eq!(cases, rules, "{stem}");
        let suite = folder("testing/conformance").join(format!("{stem}.rs"));
        assert!(suite.is_file(), "{} is not there", suite.display());
    }
    assert_eq!(seen, suites.len());
}

/// The rules of the traits of a file, below `# Behavior` and below `# What the run does`.
fn rules_of_traits(source: &str) -> BTreeMap<&str, [Vec<&str>; 2]> {
    let mut traits = BTreeMap::new();
    let mut section = "";
    let mut found: [Vec<&str>; 2] = Default::default();
    for line in source.lines() {
        if let Some(heading) = line.strip_prefix("/// # ") {
            section = heading;
        }
        match section {
            "Behavior" => found[0].extend(rules(line)),
            "What the run does" => found[1].extend(rules(line)),
            _ => assert_eq!(rules(line), [""; 0], "a rule that is not read"),
        }
        let item = ["pub trait ", "pub struct ", "impl "].map(|item| line.strip_prefix(item));
        if let Some(rest) = item.into_iter().flatten().next() {
            let name = rest.split(|c: char| !c.is_alphanumeric()).next();
            let rules = std::mem::take(&mut found);
            section = "";
            if rules.iter().any(|rules| !rules.is_empty()) {
                traits.insert(name.unwrap_or_default(), rules);
            }
        }
    }
    traits
}

/// What a run does with a host's own policies, and the test of each rule: the trait, the rule, the file in
/// `sdk/tests/run/between`, the test.
const RUN_RULES: [(&str, &str, &str, &str); 16] = [
    (
        "SelectProgram",
        "errors",
        "asked.rs",
        "a_selector_that_fails_at_a_later_turn_leaves_the_skills_of_the_turn_before",
    ),
    (
        "SelectProgram",
        "once",
        "asked.rs",
        "a_selector_is_asked_once_for_a_group_and_once_for_each_turn",
    ),
    (
        "MaintenanceProgram",
        "whole",
        "asked.rs",
        "the_changes_of_a_program_are_one_commit_and_none_are_no_commit",
    ),
    (
        "MaintenanceProgram",
        "errors",
        "own.rs",
        "a_program_that_fails_fails_alone_and_says_why",
    ),
    (
        "WriteProgram",
        "due",
        "asked.rs",
        "a_writer_is_asked_where_a_skill_is_due_with_the_best_attempts_first",
    ),
    (
        "WriteProgram",
        "admission",
        "asked.rs",
        "a_writer_without_a_draft_writes_no_skill",
    ),
    (
        "WriteProgram",
        "errors",
        "rules_of_hosts.rs",
        "a_writer_of_the_hosts_own_writes",
    ),
    (
        "AssessProgram",
        "judged",
        "assessors_of_hosts.rs",
        "an_assessor_of_the_hosts_own_assesses_what_is_learned_from",
    ),
    (
        "AssessProgram",
        "errors",
        "assessors_of_hosts.rs",
        "what_an_assessor_cannot_assess_has_no_assessment_and_an_error_is_told",
    ),
    (
        "AssessProgram",
        "errors",
        "assessors_of_hosts.rs",
        "an_assessor_that_panics_fails_the_task",
    ),
    (
        "RewardRule",
        "verdicts",
        "asked.rs",
        "a_reward_rule_is_asked_about_each_attempt_with_a_verdict",
    ),
    (
        "RewardRule",
        "errors",
        "rules_of_hosts.rs",
        "a_reward_of_the_hosts_own_rewards",
    ),
    (
        "CreditRule",
        "errors",
        "rules_of_hosts.rs",
        "a_credit_rule_of_the_hosts_own_credits",
    ),
    (
        "AdmitRule",
        "last",
        "asked.rs",
        "an_admission_rule_is_asked_last_and_not_about_what_was_let_in_before",
    ),
    (
        "AdmitRule",
        "last",
        "rules_of_hosts.rs",
        "the_admission_rule_is_asked_about_what_maintenance_makes_too",
    ),
    (
        "AdmitRule",
        "errors",
        "rules_of_hosts.rs",
        "an_admission_rule_of_the_hosts_own_admits",
    ),
];

#[test]
fn every_rule_of_a_policy_has_a_case_or_a_test_of_the_run() {
    let source = std::fs::read_to_string(folder("policy").join("traits.rs")).unwrap();
    let traits = rules_of_traits(&source);
    let suites = suites_of_policies();
    assert!(traits.keys().eq(suites.keys()), "{traits:?}");
    for (name, [behavior, run]) in &traits {
        let report = &suites[name];
        assert_eq!(report.contract(), *name);
        let cases: Vec<&str> = report.cases().iter().map(|case| case.name).collect();
        assert_eq!(cases, *behavior, "{name}");
        for rule in run {
            let mut tested = RUN_RULES.iter();
            let is_tested = tested.any(|(of, tested, ..)| of == name && tested == rule);
            assert!(is_tested, "{name}: no test is named for *{rule}*");
        }
    }
    for (name, rule, file, test) in RUN_RULES {
        assert!(traits[name][1].contains(&rule), "{name} has no rule {rule}");
        let path = folder("../tests/run/between").join(file);
        let tests = std::fs::read_to_string(path).unwrap();
        assert!(tests.contains(&format!("fn {test}()")), "{file}: {test}");
    }
}

#[test]
fn rules_of_traits_are_read_by_their_sections() {
    let source =
        "/// # Behavior\n/// - *one*: a\n/// # What the run does\n/// - *two*: b\npub trait A: B {";
    let [one, two] = ["one", "two"].map(|rule| vec![rule]);
    assert_eq!(rules_of_traits(source), BTreeMap::from([("A", [one, two])]));
}

#[test]
fn rules_are_read_from_documentation() {
    let source =
        "/// # Behavior\n/// - *one each*: that.\n///   more - *not*: this\n    /// - *two*: it";
    assert_eq!(rules(source), ["one each", "two"]);
}

#[test]
fn waiting_on_a_manual_clock_ends_when_it_is_moved() {
    let clock = Arc::new(ManualClock::default());
    let woken = Mutex::new(Vec::new());
    block_on(async {
        let wait = |until: u64| {
            let (clock, woken) = (Arc::clone(&clock), &woken);
            async move {
                clock.sleep_until(Timestamp(until)).await;
                woken.lock().unwrap().push(until);
            }
        };
        futures::join!(wait(20), wait(10), async {
            assert_eq!(clock.waiting(), 2);
            clock.advance(10);
            clock.advance(10);
        });
    });
    assert_eq!(clock.waiting(), 0);
    assert_eq!(woken.lock().unwrap().len(), 2);
}
