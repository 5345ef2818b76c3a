//! What will not happen with a host's parts, found when it opens and told with each report.

use std::num::NonZeroU64;

use async_trait::async_trait;
use journeyman::{
    ModelId,
    contract::EnvironmentCapabilities,
    domain::Role,
    policy::{Ask, MaintenanceProgram, Policies, Policy, View},
    stations::credit::ByContribution,
    testing::WordEmbedder,
};

use super::{
    proven::{With, session_by, session_with},
    *,
};

pub(super) fn complete() -> Components {
    components().with_clock(Arc::new(ManualClock::default()))
}

type Change<'a> = &'a dyn Fn(&mut Components, &mut Recipe);

async fn found(recipe: Recipe, change: Change<'_>) -> Vec<Finding> {
    let (mut components, mut recipe) = (complete(), recipe);
    calibrated(&mut recipe);
    change(&mut components, &mut recipe);
    let journeyman = open_as("test", &components, recipe).await;
    let findings = journeyman.findings();
    for finding in &findings {
        for text in [&finding.consequence, &finding.reason, &finding.hint] {
            assert!(!text.trim().is_empty(), "{finding:?}");
        }
    }
    findings
}

/// Marks the threshold of the recipe's gate as fitted to the scripted scorer.
pub(super) fn calibrated(recipe: &mut Recipe) {
    let model = complete().scorer.expect("a scorer").model().clone();
    if recipe.gate().is_some() {
        change_gate(recipe, |gate| {
            gate.fitted_for = Some(journeyman::stations::select::ThresholdFor::new(
                gate.score, model,
            ));
        });
    }
}

/// The kinds of what is found where complete parts or their recipe are changed.
fn check(recipe: Recipe, change: Change<'_>, expect: &[FindingKind]) {
    let findings = block_on(found(recipe, change));
    let mut kinds: Vec<FindingKind> = findings.iter().map(|finding| finding.kind).collect();
    let mut expect = expect.to_vec();
    kinds.sort();
    expect.sort();
    assert_eq!(kinds, expect, "{findings:#?}");
}

#[test]
fn complete_parts_want_nothing() {
    check(recipe::standard(), &|_, _| {}, &[]);
    // These are no loss: every skill of the cache is a candidate, and nothing is bounded in tokens.
    check(recipe::standard(), &|b, _| b.retriever = None, &[]);
    check(recipe::standard(), &|b, _| b.tokenizer = None, &[]);
    check(recipe::standard(), &|b, _| b.embedder = None, &[]);
    let embedder = |b: &mut Components, _: &mut Recipe| {
        b.embedder = Some(Arc::new(WordEmbedder::new(16)));
    };
    check(recipe::hisme_robust(), &embedder, &[]);
}

#[test]
fn each_part_that_is_missing_is_found() {
    use FindingKind::*;
    let standard = |change: Change<'_>, expect: &[FindingKind]| {
        check(recipe::standard(), change, expect);
    };
    standard(&|b, _| b.scorer = None, &[NeverInjects]);
    standard(&|b, _| b.prompt_format = None, &[NeverInjects]);
    let neither = |b: &mut Components, _: &mut Recipe| (b.scorer, b.prompt_format) = (None, None);
    standard(&neither, &[NeverInjects]);
    standard(&|b, _| b.model = None, &[NeverWrites]);
    standard(&|b, _| b.roles = None, &[NeverWrites]);
    standard(&|b, _| b.executor = None, &[NoAgent]);
    standard(&|b, _| b.environment = None, &[NoAgent]);
    standard(&|b, _| b.judge = None, &[NoJudge]);
    standard(&|b, _| b.clock = None, &[NoClock]);
    standard(&|b, _| b.journal = None, &[NoJournal]);
    standard(&|b, _| b.store = None, &[NoStore]);

    let hisme = |change: Change<'_>, expect: &[FindingKind]| {
        check(recipe::hisme_robust(), change, expect);
    };
    hisme(&|_, _| {}, &[NoEmbedder]);
    hisme(&|b, _| b.scorer = None, &[NoEmbedder]);
    hisme(&|b, _| b.model = None, &[NoEmbedder, NeverWrites, NoRoles]);
    hisme(
        &|b, _| b.environment = None,
        &[NoEmbedder, NothingReplays, NoAgent],
    );
    hisme(
        &|b, _| b.judge = None,
        &[NoEmbedder, NothingReplays, NoJudge],
    );

    let nothing = |b: &mut Components, _: &mut Recipe| *b = Components::own_loop();
    standard(
        &nothing,
        &[NeverInjects, NeverWrites, NoClock, NoJournal, NoStore],
    );
}

#[test]
fn a_program_of_the_hosts_own_hides_that_tasks_write_nothing_only_where_it_writes() {
    let never = "no skill is ever written";
    let only = "only the recipe's own programs may write any";
    let check = |program: Own, change: Change<'_>, expect: Option<&str>| {
        let (mut components, mut recipe) = (complete(), recipe::standard());
        calibrated(&mut recipe);
        change(&mut components, &mut recipe);
        let recipe = recipe.with_program(NonZeroU64::MIN, Policy::new("own"));
        let policies = Policies::new().with_program("own", move |_| Ok(Arc::new(program)));
        let options = Options::new("test", Seed(7)).with_policies(policies);
        let opened = block_on(Journeyman::open(components, recipe, options));
        let findings = opened.expect("it opens").findings();
        let mut findings = findings.iter();
        let found = findings.find(|one| one.kind == FindingKind::NeverWrites);
        let consequence = found.map(|one| one.consequence.as_str());
        assert_eq!(consequence.is_some(), expect.is_some(), "{found:?}");
        let expect = expect.unwrap_or_default();
        assert!(
            consequence.unwrap_or_default().contains(expect),
            "{found:?}"
        );
    };
    let idle = Own {
        writes: false,
        asks: None,
    };
    let writes = Own {
        writes: true,
        ..idle
    };
    let asks = Own {
        asks: Some(Role::Extract),
        ..writes
    };
    let no_writer: Change<'_> = &|_, r| r.write.when = WriteWhen::Never;
    check(idle, no_writer, Some(never));
    check(writes, no_writer, None);
    check(asks, no_writer, None);
    // The recipe's writer is due and cannot be asked.
    let no_model: Change<'_> = &|b, _| b.model = None;
    check(idle, no_model, Some(never));
    check(writes, no_model, Some(only));
    // What asks a role writes no more than the writer.
    check(asks, no_model, Some(never));
    let neither: Change<'_> = &|b, r| {
        b.model = None;
        r.write.when = WriteWhen::Never;
    };
    check(idle, neither, Some(never));
    check(writes, neither, None);
    check(asks, neither, Some(never));
}

/// A maintenance program that changes nothing.
#[derive(Clone, Copy, Debug)]
struct Own {
    /// Whether it says that it writes skills.
    writes: bool,
    asks: Option<Role>,
}

#[async_trait]
impl MaintenanceProgram for Own {
    async fn maintain(&self, _: &mut Ask, _: &View) -> journeyman::Result<Vec<LibraryChange>> {
        Ok(Vec::new())
    }

    fn roles(&self) -> Vec<Role> {
        self.asks.into_iter().collect()
    }

    fn writes(&self) -> bool {
        self.writes
    }
}

#[test]
fn what_the_recipe_rules_out_is_found() {
    use FindingKind::*;
    check(recipe::arise(), &|_, _| {}, &[NeverInjects]);
    let warm_up = block_on(found(recipe::arise(), &|_, _| {}));
    assert!(warm_up[0].consequence.contains("32000"), "{}", warm_up[0]);
    assert_eq!(warm_up[0].about.as_deref(), Some("warm-up"));
    check(recipe::arise(), &|_, r| r.attempts.warm_up = 0, &[]);
    check(recipe::arise(), &|b, _| b.scorer = None, &[NeverInjects; 2]);
    check(
        recipe::standard(),
        &|_, r| r.write.when = WriteWhen::Never,
        &[NeverWrites],
    );
    let never = |b: &mut Components, r: &mut Recipe| {
        r.write.when = WriteWhen::Never;
        b.model = None;
    };
    check(recipe::standard(), &never, &[NeverWrites]);
    check(
        recipe::standard(),
        &|_, r| r.select.selector = Nothing.into(),
        &[NeverInjects],
    );
    let top = |b: &mut Components, r: &mut Recipe| {
        r.select.selector = top(1);
        b.scorer = None;
    };
    check(recipe::standard(), &top, &[]);
}

#[test]
fn skills_that_are_held_back_are_found_when_they_are_there_and_when_they_come() {
    let untrusted = ScriptedEnvironment::words().beginning(|task, _| {
        let mut seen = sample::observation(&task.instruction);
        seen.source = Source::untrusted("the web");
        Play::Give(seen)
    });
    let parts = complete().with_environment(Arc::new(untrusted));
    block_on(async {
        let held = |journeyman: &Journeyman| {
            let findings = journeyman.findings().into_iter();
            let held = findings.filter(|finding| finding.kind == FindingKind::Quarantined);
            held.count()
        };
        let journeyman = open_as("test", &parts, recipe()).await;
        assert_eq!(held(&journeyman), 0);
        let report = journeyman.learn(tasks(6)).await.expect("it learns");
        assert_eq!(held(&journeyman), 1, "once for all of them");
        let told = report.findings.iter();
        assert!(
            told.map(|finding| finding.kind)
                .any(|kind| kind == FindingKind::Quarantined)
        );
        assert_eq!(held(&open_as("test", &parts, recipe()).await), 1);
    });
}

#[test]
fn a_report_tells_what_was_found() {
    let mut parts = complete();
    parts.clock = None;
    parts.scorer = None;
    block_on(async {
        let journeyman = open_as("test", &parts, recipe()).await;
        let findings = journeyman.findings();
        assert_eq!(findings.len(), 2);
        let learnt = journeyman.learn(tasks(2)).await.expect("it learns");
        let evaluated = journeyman.evaluate(tasks(2)).await.expect("it evaluates");
        for report in [learnt, evaluated] {
            assert_eq!(report.findings, findings);
            let said = report.to_string();
            for finding in &findings {
                assert!(said.contains(&format!("note: {finding}\n")), "{said}");
            }
        }
    });
}

#[test]
fn where_nothing_replays_each_part_that_is_missing_is_named() {
    let check = |change: Change<'_>, named: &[&str], others: &[&str]| {
        let findings = block_on(found(recipe::hisme_robust(), change));
        let mut replays = findings.iter();
        let finding = replays.find(|finding| finding.kind == FindingKind::NothingReplays);
        let reason = &finding.expect("nothing replays").reason;
        assert!(named.iter().all(|part| reason.contains(part)), "{reason}");
        assert!(!others.iter().any(|part| reason.contains(part)), "{reason}");
    };
    check(&|b, _| b.judge = None, &["judge"], &["agent", "world"]);
    check(&|b, _| b.executor = None, &["agent"], &["judge", "world"]);
    let none = |b: &mut Components, _: &mut Recipe| {
        (b.executor, b.environment, b.judge) = (None, None, None);
    };
    check(&none, &["agent", "world", "judge"], &[]);
}

/// The consequences that the findings of a kind tell.
fn said(findings: &[Finding], kind: FindingKind) -> Vec<&str> {
    let findings = findings.iter().filter(|finding| finding.kind == kind);
    findings.map(|one| one.consequence.as_str()).collect()
}

/// How many more tasks a warm-up is said to take; `None` where it is not found.
fn warms_up(findings: &[Finding]) -> Option<u64> {
    let mut warm_up = findings.iter();
    let finding = warm_up.find(|finding| finding.about.as_deref() == Some("warm-up"))?;
    let mut words = finding.consequence.split(' ');
    Some(
        words
            .find_map(|word| word.parse().ok())
            .expect("it says how many"),
    )
}

/// A warm-up of two tasks, in which a host learns by handing tasks over or in its own loop.
fn check_warm_up(with_retriever: bool, own_loop: bool) {
    let mut parts = complete();
    if !with_retriever {
        parts.retriever = None;
    }
    let mut recipe = recipe();
    recipe.attempts.warm_up = 2;
    let place = format!("retriever: {with_retriever}, own loop: {own_loop}");
    block_on(async {
        let journeyman = open_as("test", &parts, recipe.clone()).await;
        assert_eq!(warms_up(&journeyman.findings()), Some(2), "{place}");
        for left in [Some(1), None, None] {
            if own_loop {
                attempt(&journeyman, alike(1).remove(0), CLEAN).await;
            } else {
                let report = journeyman.learn(tasks(1)).await.expect("it learns");
                assert_eq!(warms_up(&report.findings), left, "{place}");
            }
            let findings = journeyman.findings();
            assert_eq!(warms_up(&findings), left, "{place}");
            let never = said(&findings, FindingKind::NeverInjects).len();
            assert_eq!(never, usize::from(left.is_some()), "{findings:?}");
            let again = open_as("test", &parts, recipe.clone()).await;
            assert_eq!(warms_up(&again.findings()), left, "{place}");
        }
    });
}

#[test]
fn a_warm_up_counts_down_and_is_found_no_longer_when_it_is_over() {
    check_warm_up(true, false);
    check_warm_up(true, true);
}

#[test]
fn a_warm_up_counts_down_without_a_retriever_too() {
    check_warm_up(false, false);
    check_warm_up(false, true);
}

/// Skills that are held back, released by the host one after the other.
fn check_held(with_retriever: bool) {
    let untrusted = ScriptedEnvironment::words().beginning(|task, _| {
        let mut seen = sample::observation(&task.instruction);
        seen.source = Source::untrusted("the web");
        Play::Give(seen)
    });
    let mut parts = complete().with_environment(Arc::new(untrusted));
    if !with_retriever {
        parts.retriever = None;
    }
    block_on(async {
        let journeyman = open_as("test", &parts, recipe()).await;
        let held = || {
            let findings = journeyman.findings();
            let held = said(&findings, FindingKind::Quarantined).join("; ");
            held.replace(" in quarantine, and never offered to the agent", "")
        };
        assert_eq!(held(), "");
        let report = journeyman.learn(tasks(2)).await.expect("it learns");
        let told = said(&report.findings, FindingKind::Quarantined).len();
        assert_eq!(told, 1, "retriever: {with_retriever}");
        assert_eq!(held(), "2 skills of the library are");
        let library = journeyman.library().await.expect("a library");
        for (entry, left) in library.entries().zip(["one skill of the library is", ""]) {
            let id = &entry.skill.id;
            let set = journeyman.set_state(id, State::Active, "read").await;
            set.expect("it is there");
            assert_eq!(held(), left, "retriever: {with_retriever}");
        }
        let again = journeyman.learn(alike(1)).await.expect("it learns");
        let told = said(&again.findings, FindingKind::Quarantined);
        assert!(told.len() <= 1, "only what came now: {told:?}");
    });
}

#[test]
fn skills_that_the_host_releases_are_not_said_to_be_held_back_any_more() {
    check_held(true);
}

#[test]
fn skills_that_are_held_back_are_found_without_a_retriever_too() {
    check_held(false);
}

#[test]
fn roles_that_do_not_play_what_the_recipe_asks_are_found() {
    let only = |role: Role| {
        move |b: &mut Components, _: &mut Recipe| {
            b.roles = Some(Arc::new(ScriptedRoles::only([role])));
        }
    };
    use FindingKind::*;
    check(recipe::standard(), &only(Role::Summarize), &[]);
    check(recipe::standard(), &only(Role::Attribute), &[NeverWrites]);
    check(
        recipe::hisme_robust(),
        &only(Role::Extract),
        &[NoEmbedder, NoRoles],
    );
    check(
        recipe::hisme_robust(),
        &only(Role::Attribute),
        &[NoEmbedder, NeverWrites, NoRoles],
    );
    let found = block_on(found(recipe::hisme_robust(), &only(Role::Attribute)));
    let writes = found.iter().find(|one| one.kind == NeverWrites);
    assert!(
        writes.is_some_and(|one| one.reason.contains("extract")),
        "{found:?}"
    );
}

#[test]
fn thresholds_that_were_fitted_for_another_model_are_found() {
    let fitted = |model: &str| {
        let model = model.to_owned();
        move |_: &mut Components, r: &mut Recipe| {
            change_gate(r, |gate| {
                gate.fitted_for = Some(journeyman::stations::select::ThresholdFor::new(
                    gate.score,
                    model.as_str(),
                ));
            });
        }
    };
    let own = complete().scorer.expect("a scorer").model().to_string();
    check(recipe::standard(), &fitted(&own), &[]);
    check(
        recipe::standard(),
        &fitted("another"),
        &[FindingKind::OtherModel],
    );
}

#[test]
fn a_threshold_that_nobody_fitted_is_found() {
    let untrained = || Arc::new(ScriptedScorer::that(Play::Give(-1.0)).untrained());
    let guessed = |b: &mut Components, r: &mut Recipe| {
        b.scorer = Some(untrained());
        let mut gate = GatePolicy::default();
        gate.most_wrong = None;
        r.select.selector = gate.into();
    };
    check(recipe::standard(), &guessed, &[FindingKind::Uncalibrated]);
    let found = block_on(found(recipe::standard(), &guessed));
    assert!(found[0].consequence.contains("5 nats of pmi"), "{found:?}");
    // The default's holds for a model that was trained to score, and is fitted to another one.
    for trained in [true, false] {
        let by_default = |b: &mut Components, r: &mut Recipe| {
            if !trained {
                b.scorer = Some(untrained());
            }
            r.select.selector = GatePolicy::default().into();
        };
        check(recipe::standard(), &by_default, &[]);
    }
    // A relative threshold compares candidates with each other.
    let relative = |_: &mut Components, r: &mut Recipe| {
        r.select.selector = GatePolicy::paper().into();
    };
    check(recipe::standard(), &relative, &[]);
    let other_prompt_format = |b: &mut Components, r: &mut Recipe| {
        change_gate(r, |gate| {
            let fitted = gate.fitted_for.as_mut().expect("fitted");
            fitted.prompt_format = Some("0123456789ab".to_owned());
        });
        assert!(b.prompt_format.is_some());
    };
    check(
        recipe::standard(),
        &other_prompt_format,
        &[FindingKind::OtherModel],
    );
}

#[test]
fn a_gate_that_asks_whether_a_skill_fits_needs_a_prompt_format_that_can_ask() {
    let asks = |_: &mut Components, r: &mut Recipe| {
        r.select.selector = GatePolicy::fits().into();
        calibrated(r);
    };
    check(recipe::standard(), &asks, &[]);
    let mute = |b: &mut Components, r: &mut Recipe| {
        asks(b, r);
        b.prompt_format = Some(Arc::new(CannotAsk));
    };
    check(recipe::standard(), &mute, &[FindingKind::NeverInjects]);
    let found = block_on(found(recipe::standard(), &mute));
    assert!(found[0].reason.contains("no question"), "{found:?}");
    let none = |b: &mut Components, r: &mut Recipe| {
        mute(b, r);
        b.scorer = None;
    };
    check(recipe::standard(), &none, &[FindingKind::NeverInjects]);
}

#[test]
fn a_read_only_session_has_no_warm_up() {
    block_on(async {
        let options = Options::new("test", Seed(7)).read_only();
        let journeyman = Journeyman::open(complete(), recipe::arise(), options).await;
        let journeyman = journeyman.expect("it opens");
        let warm_up = |findings: &[Finding]| warms_up(findings).is_some();
        assert!(!warm_up(&journeyman.findings()));
        let report = journeyman.evaluate(tasks(1)).await.expect("it evaluates");
        assert!(!warm_up(&report.findings));
    });
}

#[test]
fn skills_that_are_proven_on_other_models_alone_are_found_until_they_are_proven_on_this_one() {
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let good = sample::skill("good");
        let proof = LibraryChange::Prove {
            skill: good.reference(),
            model: ModelId::new("first"),
            helps: true,
        };
        let other = LibraryChange::Add(Box::new(sample::skill("other")));
        let changes = vec![LibraryChange::Add(Box::new(good)), proof, other];
        let commit = sample::commit(0, "key", changes);
        store.commit(&commit).await.expect("committed");
        let elsewhere = |journeyman: &Journeyman| {
            let findings = journeyman.findings().into_iter();
            let found = findings.filter(|one| one.kind == FindingKind::ProvenElsewhere);
            found.collect::<Vec<Finding>>()
        };
        let first = session_by(&store, With::model("first"), "one").await;
        assert!(elsewhere(&first).is_empty());
        // A recipe without the program reads no proofs.
        let reads_none = ("two", recipe());
        let reads_none = session_with(&store, With::model("second"), reads_none).await;
        assert!(elsewhere(&reads_none).is_empty());

        let second = session_by(&store, With::model("second"), "three").await;
        let found = elsewhere(&second);
        assert_eq!(found.len(), 1, "{found:?}");
        let told = found[0].to_string();
        for part in [
            "one skill of the library is offered in learning alone",
            "second",
            "certify",
        ] {
            assert!(told.contains(part), "{part:?} in {told}");
        }
        let report = second.learn(tasks(40)).await.expect("it learns");
        assert!(elsewhere(&second).is_empty(), "it is proven there too");
        assert!(
            report
                .findings
                .iter()
                .all(|one| one.kind != FindingKind::ProvenElsewhere)
        );
    });
}

#[test]
fn a_skill_that_no_attempt_credits_is_found_after_many_in_learning_alone() {
    block_on(async {
        // Nothing can be attempted again, and nothing is withheld: what the skill brings is not known.
        let mut parts = complete();
        let world = ScriptedEnvironment::words().declaring(EnvironmentCapabilities::default());
        parts.environment = Some(Arc::new(world));
        let mut recipe = recipe();
        recipe.select.selector = top(1);
        recipe.write.when = WriteWhen::Never;
        recipe.credit.by = ByContribution::default().into();
        let journeyman = open_as("test", &parts, recipe).await;
        let skill = sample::skill("saying");
        journeyman.add(vec![skill], "a start").await.expect("added");
        let never = |report: &RunReport| {
            let mut findings = report.findings.iter();
            let found = findings.find(|one| one.kind == FindingKind::NeverCredited);
            found.map(|one| (one.about.clone(), one.consequence.clone()))
        };
        let evaluated = journeyman.evaluate(tasks(30)).await.expect("evaluated");
        assert_eq!(never(&evaluated), None);
        let few = journeyman.learn(tasks(19)).await.expect("it learns");
        assert_eq!(never(&few), None);
        let more = journeyman.learn(alike(1)).await.expect("it learns");
        let (about, consequence) = never(&more).expect("it is told");
        assert_eq!(about.as_deref(), Some("saying"));
        assert!(consequence.contains("saying is worth"), "{consequence}");
    });
}
