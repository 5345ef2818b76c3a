//! Writers, rewards, credits and admission of a host's own: named by a recipe, held to their rules, replayed.

use journeyman::{
    SkillId,
    domain::{Kind, Scope, SkillDraft, Trace},
    policy::{
        AdmitRule, Ask, CreditRule, OwnPolicy, Policies, RewardRule, SkillCredit, View,
        WriteProgram,
    },
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
    async fn write(
        &self,
        ask: &mut Ask,
        view: &View,
        attempts: &[Trace],
    ) -> Result<Vec<SkillDraft>> {
        ask.embed(vec![attempts[0].task.instruction.clone()]).await;
        let draft = |description: &str| SkillDraft {
            title: format!("written at {}", view.step()),
            description: description.to_owned(),
            kind: Kind::Workflow,
            scope: Scope::General,
            trigger: None,
            body: format!("{} attempts", attempts.len()),
            metadata: Default::default(),
        };
        self.or_else(vec![draft("By a host's writer.")], vec![draft("")])
    }
}

impl RewardRule for Does {
    fn reward(&self, attempt: &AttemptReport, verdict: &Verdict) -> Result<f64> {
        let built_in = attempt.reward.expect("it has a verdict");
        self.or_else(10.0 * verdict.score() + built_in, f64::NAN)
    }
}

impl CreditRule for Does {
    fn credits(&self, group: &[AttemptReport]) -> Result<Vec<SkillCredit>> {
        let credit = |one: &AttemptReport, skill: SkillRef| SkillCredit {
            skill,
            attempt: one.attempt.clone(),
            reward: 3.0,
        };
        let given = group
            .iter()
            .flat_map(|one| (one.injected.iter()).map(move |skill| credit(one, skill.clone())));
        let elsewhere = SkillRef {
            id: "elsewhere".into(),
            version: journeyman::Version(1),
        };
        let wrong = group.iter().map(|one| credit(one, elsewhere.clone()));
        self.or_else(given.collect(), wrong.collect())
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
}

fn named() -> OwnPolicy {
    OwnPolicy::new("own").with_parameters(json!({"strict": true}))
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
    let write = |recipe: &mut Recipe| recipe.write.by = Writer::Own(named());
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
    let reward = |recipe: &mut Recipe| recipe.reward.own = Some(named());
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
    let credit = |recipe: &mut Recipe| recipe.credit.own = Some(named());
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
    let admit = |recipe: &mut Recipe| recipe.admit.own = Some(named());
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
        recipe.admit.own = Some(named());
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

#[test]
fn a_policy_that_nobody_registered_is_refused_at_the_start() {
    type Name = fn(&mut Recipe);
    let places: [(Name, &str); 4] = [
        (
            |recipe| recipe.write.by = Writer::Own(OwnPolicy::new("other")),
            "writer",
        ),
        (
            |recipe| recipe.reward.own = Some(OwnPolicy::new("other")),
            "reward rule",
        ),
        (
            |recipe| recipe.credit.own = Some(OwnPolicy::new("other")),
            "credit rule",
        ),
        (
            |recipe| recipe.admit.own = Some(OwnPolicy::new("other")),
            "admission rule",
        ),
    ];
    for (name, what) in places {
        let mut recipe = hisme();
        name(&mut recipe);
        let (components, _) = parts(Script::default());
        let options = Options::new("rules", Seed(7)).with_policies(policies(Does::Right));
        let error = block_on(Journeyman::open(components, recipe, options)).expect_err("unknown");
        let said = error.to_string();
        assert!(
            said.contains(what) && said.contains("registered are: own"),
            "{said}"
        );
    }
}

#[test]
fn a_run_with_rules_of_the_hosts_own_replays_to_the_same_bytes() {
    let journal = Arc::new(MemoryJournal::new());
    let mut recipe = hisme();
    recipe.write.by = Writer::Own(named());
    recipe.reward.own = Some(named());
    recipe.credit.own = Some(named());
    recipe.admit.own = Some(named());
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
