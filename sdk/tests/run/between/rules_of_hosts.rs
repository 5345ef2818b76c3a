//! Writers, rewards, credits and admission of a host's own: named by a recipe, held to their rules, replayed.

use std::collections::BTreeSet;

use journeyman::{
    SkillId,
    domain::{SkillDraft, Trace},
    papers::scribe::{AssessPolicy, ProcessReward},
    policy::{
        AdmitRule, Ask, AssessProgram, Assessed, CreditRule, GroupAttempt, JudgedAttempt, Policies,
        Policy, RewardRule, SkillCredit, View, WriteGroup, WriteProgram, Written,
    },
    stations::propose::Summarize,
};
use serde_json::json;

use super::*;

/// What a policy does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Right,
    Wrong,
    Fails,
    Panics,
}

impl Does {
    fn or_else<T>(self, right: T, wrong: T) -> Result<T> {
        match self {
            Self::Right => Ok(right),
            Self::Wrong => Ok(wrong),
            Self::Fails => Err(Error::invalid("a host's policy", "it does not want to")),
            Self::Panics => panic!("a policy that panics"),
        }
    }
}

#[async_trait]
impl WriteProgram for Does {
    async fn write(&self, ask: &mut Ask, view: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let attempts = group.attempts;
        assert_eq!(attempts.len(), group.reports.len());
        ask.embed(vec![attempts[0].task.instruction.clone()]).await;
        let draft = |description: &str| {
            let title = format!("written at {}", view.step());
            SkillDraft::new(title, description, format!("{} attempts", attempts.len()))
        };
        let drafts = self.or_else(vec![draft("By a host's writer.")], vec![draft("")])?;
        Ok(drafts.into())
    }
}

impl RewardRule for Does {
    fn reward(&self, attempt: &JudgedAttempt<'_>) -> Result<Option<f64>> {
        assert_eq!(attempt.report.reward, None);
        let ours = LevelReward::default().reward(attempt)?;
        let ours = ours.expect("it has a verdict");
        let right = 10.0 * attempt.verdict.score() + ours;
        self.or_else(Some(right), Some(f64::NAN))
    }
}

impl CreditRule for Does {
    fn credits(&self, group: &[GroupAttempt]) -> Result<Vec<SkillCredit>> {
        let credit = |one: &GroupAttempt, skill: SkillRef| {
            SkillCredit::new(skill, one.report.attempt.clone(), 3.0)
        };
        let given = group
            .iter()
            .flat_map(|one| (one.credited.iter()).map(move |skill| credit(one, skill.clone())));
        let elsewhere = SkillRef {
            id: "elsewhere".into(),
            version: journeyman::Version(1),
        };
        let wrong = group.iter().map(|one| credit(one, elsewhere.clone()));
        self.or_else(given.collect(), wrong.collect())
    }
}

#[async_trait]
impl AssessProgram for Does {
    async fn assess(&self, _: &mut Ask, _: &View, _: &Trace) -> Result<Option<Assessed>> {
        self.or_else(None, None)
    }
}

impl AdmitRule for Does {
    fn admit(&self, _: &SkillLibrary, skill: &Skill) -> Result<()> {
        let refused = Error::invalid("a host's policy", format!("no {}", skill.name));
        self.or_else(Ok(()), Err(refused))?
    }
}

fn policies(does: Does) -> Policies {
    Policies::new()
        .with_writer("own", move |_| Ok(Arc::new(does)))
        .with_reward("own", move |_| Ok(Arc::new(does)))
        .with_credit("own", move |_| Ok(Arc::new(does)))
        .with_admission("own", move |_| Ok(Arc::new(does)))
        .with_assessor("own", move |_| Ok(Arc::new(does)))
}

fn named() -> Policy {
    Policy::new("own").with_options(json!({"strict": true}))
}

/// Learns from nine tasks with a policy in a place of the recipe.
fn learned(does: Does, name: fn(&mut Recipe)) -> (Option<RunReport>, SkillLibrary, Vec<Event>) {
    let mut recipe = hisme();
    name(&mut recipe);
    let (components, _) = parts(Script::default());
    let options = Options::new("rules", Seed(7)).with_policies(policies(does));
    block_on(async {
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let events = journeyman.events();
        let report = journeyman.learn(tasks(9)).await.ok();
        let library = journeyman.library().await.expect("a library");
        drop(journeyman);
        (report, library, events.collect().await)
    })
}

fn reasons(events: &[Event]) -> Vec<&str> {
    let reasons = events.iter().filter_map(|event| match &event.kind {
        EventKind::Refused { reason } | EventKind::TaskFailed { reason } => Some(reason.as_str()),
        _ => None,
    });
    reasons.collect()
}

fn failed(events: &[Event]) -> usize {
    let failed = |event: &&Event| matches!(event.kind, EventKind::TaskFailed { .. });
    events.iter().filter(failed).count()
}

/// Nothing was learned, every task failed, and this is why.
fn check_failed(does: Does, name: fn(&mut Recipe), why: &str) {
    let (_, library, events) = learned(does, name);
    assert!(failed(&events) > 0, "{does:?}");
    let told = reasons(&events);
    assert!(told.iter().any(|reason| reason.contains(why)), "{told:?}");
    assert!(library.entries().all(|entry| entry.credits == 0));
}

#[test]
fn a_writer_of_the_hosts_own_writes() {
    let write = |recipe: &mut Recipe| recipe.write.by = named();
    let (report, library, events) = learned(Does::Right, write);
    let report = report.expect("it learns");
    let written: Vec<_> = report.written().collect();
    assert_eq!(written.len(), 9, "one for each task");
    assert!(
        written
            .iter()
            .all(|one| one.admitted.is_some() || one.refused.is_some())
    );
    let mut entries = library.entries();
    assert!(entries.any(|entry| entry.skill.description == "By a host's writer."));
    assert_eq!(failed(&events), 0);

    let (report, library, events) = learned(Does::Wrong, write);
    assert!(
        report
            .expect("it learns")
            .written()
            .all(|one| one.refused.is_some())
    );
    assert_eq!(library.entries().count(), 0, "no file can hold it");
    assert!(!reasons(&events).is_empty());

    let (report, _, events) = learned(Does::Fails, write);
    assert!(report.is_some() && failed(&events) == 0, "the tasks go on");
    let told = reasons(&events);
    assert!(
        told.iter()
            .any(|reason| reason.contains("it does not want to")),
        "{told:?}"
    );

    check_failed(Does::Panics, write, "a policy that panics");
}

#[test]
fn a_reward_of_the_hosts_own_rewards() {
    let reward = |recipe: &mut Recipe| recipe.reward.by = named();
    let (report, library, _) = learned(Does::Right, reward);
    let report = report.expect("it learns");
    let rewards: Vec<f64> = report.attempts().filter_map(|one| one.reward).collect();
    assert!(rewards.iter().any(|reward| *reward >= 10.0), "{rewards:?}");
    assert!(
        library.entries().any(|entry| entry.utility > 0.2),
        "it is credited"
    );
    check_failed(Does::Wrong, reward, "the reward is not finite");
    check_failed(Does::Fails, reward, "it does not want to");
    check_failed(Does::Panics, reward, "a policy that panics");
}

#[test]
fn a_credit_rule_of_the_hosts_own_credits() {
    let credit = |recipe: &mut Recipe| recipe.credit.by = named();
    let (report, _, events) = learned(Does::Right, credit);
    assert!(report.is_some());
    let credits = events.iter().filter_map(|event| match &event.kind {
        EventKind::Credited { reward, .. } => Some(*reward),
        _ => None,
    });
    let credits: Vec<f64> = credits.collect();
    assert!(
        !credits.is_empty() && credits.iter().all(|reward| *reward == 3.0),
        "{credits:?}"
    );
    check_failed(Does::Wrong, credit, "the attempt was not given this skill");
    check_failed(Does::Fails, credit, "it does not want to");
    check_failed(Does::Panics, credit, "a policy that panics");
}

#[test]
fn an_admission_rule_of_the_hosts_own_admits() {
    let admit = |recipe: &mut Recipe| recipe.admit.rules = vec![named()];
    let (_, library, _) = learned(Does::Right, admit);
    assert!(library.entries().count() > 0);
    for (does, why) in [
        (Does::Wrong, "no skill-one-two"),
        (Does::Fails, "it does not want to"),
        (Does::Panics, "admission rule panicked"),
    ] {
        let (report, library, events) = learned(does, admit);
        assert!(report.is_some() && failed(&events) == 0, "{does:?}");
        assert_eq!(library.entries().count(), 0, "{does:?}");
        let told = reasons(&events);
        assert!(told.iter().any(|reason| reason.contains(why)), "{told:?}");
    }
}

#[test]
fn the_admission_rule_is_asked_about_what_maintenance_makes_too() {
    let made = |does| {
        let mut recipe = hisme();
        recipe.write.when = WriteWhen::Never;
        recipe.admit.rules = vec![named()];
        let (components, _) = parts(Script {
            refactor: "shared: Says one two.\nsay: one two",
            ..Script::default()
        });
        let options = Options::new("rules", Seed(7)).with_policies(policies(does));
        let same = |number| sample::task(&format!("task-{number}"), &["one", "two"]);
        block_on(async {
            let journeyman = Journeyman::open(components, recipe, options).await;
            let journeyman = journeyman.expect("it opens");
            let events = journeyman.events();
            let report = journeyman.learn((0..6).map(same).collect()).await;
            report.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            drop(journeyman);
            let events: Vec<Event> = events.collect().await;
            (library.entries().count(), events)
        })
    };
    assert_eq!(made(Does::Right).0, 1);
    let (count, events) = made(Does::Wrong);
    assert_eq!(count, 0);
    assert!(
        reasons(&events)
            .iter()
            .any(|reason| reason.contains("no shared"))
    );
    let admitted = |event: &Event| matches!(event.kind, EventKind::Admitted { .. });
    assert!(!events.iter().any(admitted));
}

/// How a recipe names a policy.
type Names = fn(&mut Recipe, Policy);

/// The kinds of policies of these tests: how a recipe names one, and how a message names the kind.
const KINDS: [(Names, &str); 5] = [
    (|recipe, policy| recipe.write.by = policy, "writer"),
    (|recipe, policy| recipe.reward.by = policy, "reward rule"),
    (|recipe, policy| recipe.credit.by = policy, "credit rule"),
    (
        |recipe, policy| recipe.admit.rules = vec![policy],
        "admission rule",
    ),
    (|recipe, policy| recipe.assess = Some(policy), "assessor"),
];

/// The message with which a session of a recipe and policies is refused.
fn refusal(recipe: Recipe, policies: Policies) -> String {
    let (components, _) = parts(Script::default());
    let options = Options::new("rules", Seed(7)).with_policies(policies);
    let opened = block_on(Journeyman::open(components, recipe, options));
    opened.expect_err("it is refused").to_string()
}

#[test]
fn a_policy_that_nobody_registered_is_refused_at_the_start() {
    for (name, what) in KINDS {
        let mut recipe = hisme();
        name(&mut recipe, Policy::new("other"));
        let said = refusal(recipe, policies(Does::Right));
        let registered = said.split("registered are: ").nth(1).unwrap_or_default();
        assert!(said.contains(what) && registered.contains("own"), "{said}");
    }
}

#[test]
fn a_policy_with_a_name_of_ours_is_refused_at_the_start() {
    let does = Does::Right;
    for (twice, what) in [
        (
            Policies::new().with_writer("summarize", move |_| Ok(Arc::new(does))),
            "the writer",
        ),
        (
            Policies::new().with_reward("levels", move |_| Ok(Arc::new(does))),
            "the reward rule",
        ),
        (
            Policies::new().with_credit("step", move |_| Ok(Arc::new(does))),
            "the credit rule",
        ),
        (
            Policies::new().with_assessor("subgoals", move |_| Ok(Arc::new(does))),
            "the assessor",
        ),
        (
            policies(does).with_admission("own", move |_| Ok(Arc::new(does))),
            "the admission rule",
        ),
    ] {
        let said = refusal(hisme(), twice);
        assert!(
            said.contains("two policies") && said.contains(what),
            "{said}"
        );
    }
}

#[test]
fn options_of_another_policy_are_refused_at_the_start() {
    for (name, ours) in [
        (KINDS[0].0, &["summarize", "extract", "curate"][..]),
        (KINDS[1].0, &["levels", "process"]),
        (KINDS[2].0, &["step", "rollout"]),
        (KINDS[4].0, &["subgoals"]),
    ] {
        for policy in ours {
            let mut recipe = hisme();
            name(
                &mut recipe,
                Policy::new(*policy).with_options(json!({"litres": 2})),
            );
            let said = refusal(recipe.clone(), Policies::new());
            assert!(said.contains("not the options of this policy"), "{said}");
            assert!(said.contains(policy), "{said}");
            assert!(recipe.resolve(&Policies::new()).is_err());
        }
    }
}

#[test]
fn another_form_is_refused_with_what_is_known() {
    let json = serde_json::to_value(hisme()).expect("JSON");
    for (part, field, value, known) in [
        (
            "write",
            "by",
            json!({"summarize": {}}),
            "a policy is {\"name\": \"top\"",
        ),
        ("reward", "levels", json!([0, 1, 2]), "`by`"),
        ("credit", "per", json!("step"), "`by`"),
        ("admit", "own", json!({"name": "own"}), "`rules`"),
    ] {
        let mut before = json.clone();
        before[part][field] = value;
        let error = serde_json::from_value::<Recipe>(before).expect_err("refused");
        assert!(error.to_string().contains(known), "{error}");
    }
}

#[test]
fn our_policies_need_no_options_where_they_have_defaults() {
    let refused = |name: Names, policy: Policy| {
        let mut recipe = hisme();
        name(&mut recipe, policy);
        recipe
            .validate()
            .and_then(|()| recipe.resolve(&Policies::new()).map(drop))
            .is_err()
    };
    for none in [json!(null), json!({})] {
        for (name, ours) in [
            (KINDS[0].0, &["summarize"][..]),
            (KINDS[1].0, &["levels"]),
            (KINDS[2].0, &["step", "rollout"]),
            (KINDS[4].0, &["subgoals"]),
        ] {
            for policy in ours {
                let policy = Policy::new(*policy).with_options(&none);
                assert!(!refused(name, policy.clone()), "{policy:?}");
            }
        }
        for policy in ["extract", "curate"] {
            let policy = Policy::new(policy).with_options(&none);
            assert!(refused(KINDS[0].0, policy), "it has no default");
        }
    }
    let binary = Policy::new("levels").with_options(json!({"binary": true}));
    let mut expect = LevelReward::default();
    expect.binary = true;
    assert_eq!(binary.read().expect("its options"), Some(expect));
    let half = Policy::new("process").with_options(json!({"process": 0.7}));
    let expect = ProcessReward::new(0.7, 0.7).expect("weights");
    assert_eq!(half.read().expect("its options"), Some(expect));
    let shown = Policy::new("summarize").with_options(json!({"keeps_reasoning": true}));
    let mut expect = Summarize::default();
    expect.keeps_reasoning = true;
    assert_eq!(shown.read().expect("its options"), Some(expect));
}

/// Rewards by the process score alone.
#[derive(Debug)]
struct Process;

impl RewardRule for Process {
    fn reward(&self, attempt: &JudgedAttempt<'_>) -> Result<Option<f64>> {
        Ok(attempt.report.process)
    }

    fn needs_assessment(&self) -> bool {
        true
    }
}

#[test]
fn a_reward_that_needs_an_assessment_is_refused_without_one() {
    let policies = || Policies::new().with_reward("process-alone", |_| Ok(Arc::new(Process)));
    for by in [
        Policy::new("process-alone"),
        ProcessReward::default().into(),
    ] {
        let mut recipe = hisme();
        recipe.reward.by = by;
        let said = refusal(recipe.clone(), policies());
        assert!(said.contains("set `assess`"), "{said}");
        recipe.assess = Some(AssessPolicy::default().into());
        recipe.resolve(&policies()).expect("it has an assessor");
    }
}

/// Writes by asking one of ours.
#[derive(Debug)]
struct Wraps;

#[async_trait]
impl WriteProgram for Wraps {
    async fn write(&self, ask: &mut Ask, view: &View, group: &WriteGroup<'_>) -> Result<Written> {
        EXTRACT.write(ask, view, group).await
    }
}

const EXTRACT: Extract = Extract::new(NonZeroU32::MIN);

#[test]
fn a_writer_that_asks_one_of_ours_writes_the_same() {
    let written = |by: Policy| {
        let mut recipe = hisme();
        recipe.write.by = by;
        let (components, _) = parts(Script::default());
        let wraps = Policies::new().with_writer("wraps", |_| Ok(Arc::new(Wraps)));
        let options = Options::new("rules", Seed(7)).with_policies(wraps);
        block_on(async {
            let journeyman = Journeyman::open(components, recipe, options).await;
            let journeyman = journeyman.expect("it opens");
            let report = journeyman.learn(tasks(6)).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            (report.tasks, bytes(&library))
        })
    };
    let ours = written(EXTRACT.into());
    assert!(ours.0.iter().any(|task| !task.written.is_empty()));
    assert_eq!(written(Policy::new("wraps")), ours);
}

/// Keeps how many attempts it was given, and writes nothing.
#[derive(Clone, Debug)]
struct Takes {
    failures: bool,
    most: usize,
    given: Arc<Mutex<BTreeSet<usize>>>,
}

#[async_trait]
impl WriteProgram for Takes {
    async fn write(&self, _: &mut Ask, _: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let failed = |one: &AttemptReport| one.success == Some(false);
        assert!(group.reports.iter().all(failed));
        self.given.lock().unwrap().insert(group.attempts.len());
        Ok(Written::default())
    }

    fn takes_failures(&self) -> bool {
        self.failures
    }

    fn most_attempts(&self) -> usize {
        self.most
    }
}

#[test]
fn a_writer_of_the_hosts_own_gets_as_many_and_such_attempts_as_it_takes() {
    let given = |failures, most| {
        let takes = Takes {
            failures,
            most,
            given: Arc::default(),
        };
        let given = Arc::clone(&takes.given);
        let policies = Policies::new();
        let policies = policies.with_writer("takes", move |_| Ok(Arc::new(takes.clone())));
        let mut recipe = hisme();
        recipe.attempts.group = NonZeroU32::new(4).expect("not 0");
        recipe.write.when = WriteWhen::Always;
        recipe.write.by = Policy::new("takes");
        let (mut components, _) = parts(Script::default());
        components.executor = Some(Arc::new(ScriptedExecutor::acting(|_, steps| {
            Play::Give(steps.is_empty().then(|| Action::Message("hm".to_owned())))
        })));
        let options = Options::new("rules", Seed(7)).with_policies(policies);
        block_on(async {
            let journeyman = Journeyman::open(components, recipe, options).await;
            let journeyman = journeyman.expect("it opens");
            journeyman.learn(tasks(3)).await.expect("it learns");
        });
        let given = given.lock().unwrap();
        given.iter().copied().collect::<Vec<usize>>()
    };
    assert_eq!(given(true, 3), [3]);
    assert_eq!(given(true, 9), [4]);
    assert!(given(false, 3).is_empty());
}

#[test]
fn each_admission_rule_is_asked_until_one_refuses() {
    let admits = |rules: [&str; 2]| {
        let mut recipe = hisme();
        recipe.admit.rules = rules.map(Policy::new).to_vec();
        let policies = Policies::new()
            .with_admission("yes", |_| Ok(Arc::new(Does::Right)))
            .with_admission("no", |_| Ok(Arc::new(Does::Wrong)));
        let (components, _) = parts(Script::default());
        let options = Options::new("rules", Seed(7)).with_policies(policies);
        block_on(async {
            let journeyman = Journeyman::open(components, recipe, options).await;
            let journeyman = journeyman.expect("it opens");
            journeyman.learn(tasks(6)).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            library.entries().count() > 0
        })
    };
    assert!(admits(["yes", "yes"]));
    assert!(!admits(["yes", "no"]) && !admits(["no", "yes"]));
}

#[test]
fn a_run_with_rules_of_the_hosts_own_replays_to_the_same_bytes() {
    let journal = Arc::new(MemoryJournal::new());
    let mut recipe = hisme();
    recipe.write.by = named();
    recipe.reward.by = named();
    recipe.credit.by = named();
    recipe.admit.rules = vec![named()];
    let (components, _) = parts(Script::default());
    let components = components.with_journal(journal.clone());
    let policies = policies(Does::Right);
    let options = Options::new("rules", Seed(7)).with_policies(policies.clone());
    block_on(async {
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let report = journeyman.learn(tasks(6)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let entries = journal.read(&report.run).await.expect("it reads");
        let replayed = replay(&entries, &policies).expect("it replays");
        assert!(replayed.is_finished());
        assert_eq!(bytes(replayed.library()), bytes(&library));
        let ids: Vec<&SkillId> = library.entries().map(|entry| &entry.skill.id).collect();
        assert!(!ids.is_empty());
    });
}
