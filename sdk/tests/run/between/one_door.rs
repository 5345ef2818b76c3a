//! The one door of maintenance programs: ours and a host's are in one registry, and what they may do depends on what they say.

use std::num::NonZeroU64;

use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind, async_trait,
    domain::HandledMark,
    papers::skillrl::BankPolicy,
    policy::{Ask, MaintenanceProgram, Policies, Policy, View},
    run::{RunMachine, RunPlan},
};

use super::*;

/// Marks a subject as dealt with, and asks a role that none of ours asks.
#[derive(Debug)]
struct Marks {
    records: bool,
}

#[async_trait]
impl MaintenanceProgram for Marks {
    async fn maintain(&self, _: &mut Ask, view: &View) -> journeyman::Result<Vec<LibraryChange>> {
        let fingerprint = HandledMark::done(format!("marked/{}", view.step()));
        Ok(vec![LibraryChange::Handled { fingerprint }])
    }

    fn roles(&self) -> Vec<Role> {
        // One that `hisme` asks too: it is told once.
        vec![Role::Review, Role::Refine]
    }

    fn records(&self) -> bool {
        self.records
    }

    fn reason(&self) -> &'static str {
        "what is dealt with was marked"
    }
}

fn marking(name: &'static str, records: bool) -> (Recipe, Policies) {
    let policies = Policies::new().with_program(name, move |_| Ok(Arc::new(Marks { records })));
    let every = NonZeroU64::new(3).expect("three");
    (hisme().with_program(every, Policy::new(name)), policies)
}

async fn open_with(
    recipe: Recipe,
    policies: Policies,
    store: Arc<MemoryStore>,
) -> journeyman::Result<Journeyman> {
    let (mut components, _) = parts(Script::default());
    components.store = Some(store);
    let options = Options::new("door", Seed(7)).with_policies(policies);
    Journeyman::open(components, recipe, options).await
}

#[test]
fn what_a_program_found_out_is_recorded_where_it_says_so_under_its_reason() {
    for records in [true, false] {
        let store = Arc::new(MemoryStore::new());
        block_on(async {
            let (recipe, policies) = marking("marks", records);
            let opened = open_with(recipe, policies, store.clone()).await;
            let journeyman = opened.expect("it opens");
            let events = journeyman.events();
            journeyman.learn(tasks(3)).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            assert_eq!(library.is_handled("marked/2"), records);
            drop(journeyman);
            let events: Vec<Event> = events.collect().await;
            let failed = events.iter().any(|event| {
                matches!(&event.kind, EventKind::MaintenanceFailed { part, reason }
                    if part == "marks" && reason.contains("where `MaintenanceProgram::records` says so"))
            });
            assert_eq!(failed, !records);
            let committed = store.load().await.expect("commits").committed;
            let named = committed
                .iter()
                .any(|one| one.cause.reason == "what is dealt with was marked");
            assert_eq!(named, records);
        });
    }
}

#[test]
fn a_role_that_a_program_asks_and_nobody_plays_is_found_once() {
    block_on(async {
        let (recipe, policies) = marking("marks", true);
        let (mut components, _) = parts(Script::default());
        let played = Role::ALL.into_iter().filter(|role| *role != Role::Review);
        components.roles = Some(Arc::new(ScriptedRoles::only(played)));
        let options = Options::new("door", Seed(7)).with_policies(policies);
        let opened = Journeyman::open(components, recipe, options).await;
        let findings = opened.expect("it opens").findings();
        let told: Vec<String> = findings
            .iter()
            .map(ToString::to_string)
            .filter(|text| text.contains("review"))
            .collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told.concat().matches("refine").count(), 0, "{told:?}");
    });
}

#[test]
fn a_host_s_program_with_a_name_of_ours_is_refused_wherever_a_run_begins() {
    // HiSME has no bank: the two of this name are in the registry alone.
    let (recipe, policies) = marking("bank", true);
    let refused = [
        block_on(open_with(
            recipe.clone(),
            policies.clone(),
            Arc::new(MemoryStore::new()),
        ))
        .map(drop),
        RunMachine::new(
            RunPlan::new(RunId::new("run"), Seed(7), recipe.clone(), tasks(1)).edited(|it| {
                it.replays = true;
                it.policies = policies.clone();
            }),
        )
        .map(drop),
        recipe.resolve(&policies).map(drop),
    ];
    for refused in refused {
        let error = refused.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let text = error.to_string();
        assert!(
            text.contains("two policies are registered as the maintenance program"),
            "{text}"
        );
        assert!(
            text.contains("bank") && text.contains("give yours another name"),
            "{text}"
        );
    }
}

#[test]
fn a_registry_serves_two_sessions_and_resolves_again() {
    let (recipe, policies) = marking("marks", true);
    for _ in 0..2 {
        let store = Arc::new(MemoryStore::new());
        block_on(open_with(recipe.clone(), policies.clone(), store)).expect("it opens");
    }
    let resolved = recipe.resolve(&policies).expect("it resolves");
    let again = recipe.resolve(&policies).expect("it resolves again");
    assert_eq!(resolved, again);
}

#[test]
fn a_program_with_options_of_another_policy_is_refused() {
    let refused = |program: Policy| {
        let recipe = recipe::standard().with_program(n64(3), program);
        recipe.validate().expect("options are the policy's matter");
        let error = recipe.resolve(&Policies::new()).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let source = std::error::Error::source(&error).expect("what is wrong");
        (error.to_string(), source.to_string())
    };
    for (name, options) in [
        ("micro", serde_json::to_value(MacroPolicy::default())),
        ("macro", serde_json::to_value(MicroPolicy::default())),
        ("bank", serde_json::to_value(MicroPolicy::default())),
        ("gains", serde_json::to_value(BankPolicy::default())),
        ("prototypes", serde_json::to_value(BankPolicy::default())),
    ] {
        let options = options.expect("it is JSON");
        let (said, why) = refused(Policy::new(name).with_options(options));
        assert!(said.contains(name), "{said}");
        assert!(why.contains("unknown field"), "{why}");
    }
}

#[test]
fn a_program_of_ours_without_options_has_its_default_ones() {
    for name in ["micro", "macro", "bank", "gains"] {
        let mut recipe = recipe::standard().with_program(n64(3), Policy::new(name));
        recipe.tiers.traces = 1_000;
        recipe.resolve(&Policies::new()).expect(name);
    }
}

/// Needs so many kept attempts for each attempt at a task.
#[derive(Debug)]
struct Keeps(u64);

#[async_trait]
impl MaintenanceProgram for Keeps {
    async fn maintain(&self, _: &mut Ask, _: &View) -> journeyman::Result<Vec<LibraryChange>> {
        Ok(Vec::new())
    }

    fn kept_attempts(&self, group: NonZeroU32) -> u64 {
        self.0 * u64::from(group.get())
    }
}

#[test]
fn a_host_s_program_says_how_many_attempts_it_needs_to_be_kept() {
    let policies = Policies::new().with_program("keeps", |_| Ok(Arc::new(Keeps(11))));
    let mut recipe = recipe::standard().with_program(n64(3), Policy::new("keeps"));
    recipe.attempts.group = n32(2);
    recipe.tiers.traces = 22;
    recipe.resolve(&policies).expect("it keeps enough");
    recipe.tiers.traces = 21;
    let error = recipe.resolve(&policies).expect_err("too few");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let said = error.to_string();
    for part in ["tiers.traces", "keeps", "22"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
