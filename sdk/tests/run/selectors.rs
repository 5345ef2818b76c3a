//! Selectors of ours and of a host: a host's may ask ours, a session tells of both alike, and refuses both alike.

use async_trait::async_trait;
use journeyman::{
    Result,
    domain::{Candidate, Selection, TurnQuery},
    policy::{Ask, Policies, SelectProgram, View},
    run::report::FindingKind,
    stations::select::{Candidates, First, Random, SelectorGate, candidates},
};
use serde_json::json;

use super::*;

/// Hands every query on to a gate of ours.
#[derive(Debug)]
struct Behind(GatePolicy);

#[async_trait]
impl SelectProgram for Behind {
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected> {
        self.0.select(ask, view, query).await
    }

    fn gate(&self) -> Option<SelectorGate<'_>> {
        Some(SelectorGate::of(&self.0))
    }
}

/// Takes the best candidate that the recipe finds, by another name.
#[derive(Debug)]
struct Best {
    ranked: bool,
}

#[async_trait]
impl SelectProgram for Best {
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected> {
        let found = candidates(ask, view, query).await?;
        let greatest = |a: &&Candidate, b: &&Candidate| {
            let by_score = a.score.total_cmp(&b.score);
            by_score.then_with(|| b.skill.cmp(&a.skill))
        };
        let best = found.iter().max_by(greatest).map(|one| one.skill.clone());
        let selection = match best {
            None => Selection::nothing(NothingReason::NoCandidates),
            Some(best) => Selection::unscored(Decision::Inject {
                skills: vec![best],
                explored: false,
            }),
        };
        let selections = vec![selection; view.selections() as usize];
        Ok(Selected::new(found, selections))
    }

    fn needs_embeddings(&self) -> bool {
        true
    }

    fn uses_ranking(&self) -> bool {
        self.ranked
    }
}

/// A host's selectors.
fn policies() -> Policies {
    Policies::new()
        .with_selector("behind", |options| {
            let gate = Policy::new("gate").with_options(options).read()?;
            Ok(Arc::new(Behind(gate.expect("it is named `gate`"))))
        })
        .with_selector("best", |options| {
            Ok(Arc::new(Best {
                ranked: options.is_null(),
            }))
        })
}

async fn open(recipe: Recipe, policies: Policies) -> Result<Journeyman> {
    let options = Options::new("test", Seed(7)).with_policies(policies);
    Journeyman::open(components(), recipe, options).await
}

fn learned(recipe: Recipe) -> RunReport {
    block_on(async {
        let journeyman = open(recipe, policies()).await?;
        journeyman.learn(tasks(9)).await
    })
    .expect("it learns")
}

#[test]
fn a_host_s_selector_hands_on_to_ours_and_comes_to_the_same() {
    let by_ours = recipe();
    let mut by_host = by_ours.clone();
    by_host.select.selector.name = "behind".to_owned();
    let (ours, host) = (learned(by_ours), learned(by_host.clone()));
    assert!(ours.attempts().any(|one| !one.injected.is_empty()));
    assert_eq!(host.tasks, ours.tasks);

    // The session tells of its gate as of ours.
    block_on(async {
        let opened = open(by_host.clone(), policies()).await;
        let journeyman = opened.expect("it opens");
        let gate = journeyman.gate().await.expect("no fit").expect("a gate");
        assert_eq!(gate.threshold, Some(0.5));
        let mut without = components();
        without.scorer = None;
        let options = Options::new("test", Seed(7)).with_policies(policies());
        let journeyman = Journeyman::open(without, by_host, options).await;
        let findings = journeyman.expect("it opens").findings();
        let never = |one: &&Finding| one.kind == FindingKind::NeverInjects;
        assert_eq!(findings.iter().filter(never).count(), 1, "{findings:?}");
    });
}

#[test]
fn a_host_s_selector_finds_and_ranks_as_the_recipe_says() {
    for (candidates, per) in [
        (Candidates::Cache, SelectPer::Query),
        (
            Candidates::Search {
                limit: NonZeroUsize::MIN,
            },
            SelectPer::Rollout,
        ),
    ] {
        let mut by_ours = recipe();
        (by_ours.select.candidates, by_ours.select.per) = (candidates, per);
        by_ours.select.selector = First.into();
        let mut by_host = by_ours.clone();
        by_host.select.selector = Policy::new("best");
        let (ours, host) = (learned(by_ours), learned(by_host));
        assert!(ours.attempts().any(|one| !one.injected.is_empty()));
        assert_eq!(host.tasks, ours.tasks, "{candidates:?}");
    }
}

#[test]
fn what_a_selector_needs_is_told() {
    let found = |selector: Policy| {
        let mut recipe = recipe();
        recipe.select.selector = selector;
        let journeyman = block_on(open(recipe, policies())).expect("it opens");
        journeyman.findings()
    };
    let kinds = |selector: Policy, kind: FindingKind| {
        let found = found(selector);
        found.into_iter().filter(|one| one.kind == kind).count()
    };
    assert_eq!(kinds(Policy::new("best"), FindingKind::NoEmbedder), 1);
    assert_eq!(kinds(Random.into(), FindingKind::NoEmbedder), 0);
    assert_eq!(kinds(Nothing.into(), FindingKind::NeverInjects), 1);
    assert_eq!(kinds(Random.into(), FindingKind::NeverInjects), 0);
}

#[test]
fn a_selector_that_cannot_be_made_is_refused_when_a_session_opens() {
    let refused = |selector: Policy, policies: Policies| {
        let mut recipe = recipe();
        recipe.select.selector = selector;
        let opened = block_on(open(recipe, policies));
        opened.map(drop).expect_err("it is refused")
    };
    // Nobody registered it.
    let error = refused(Policy::new("nobody"), policies());
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let known = "registered are: bank, behind, best, first, gate, nothing, random, top";
    assert!(error.to_string().contains(known), "{error}");
    // One of ours has its name.
    let twice = policies().with_selector("gate", |_| Ok(Arc::new(First)));
    let error = refused(First.into(), twice);
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let message = "two policies are registered as the selector";
    assert!(error.to_string().contains(message), "{error}");
    // The options are another policy's, or out of their range.
    for (name, options) in [
        ("top", json!({ "limit": 0 })),
        ("gate", json!({ "limit": 1 })),
        ("first", json!({ "limit": 1 })),
        ("behind", json!({ "limit": 1 })),
    ] {
        let error = refused(Policy::new(name).with_options(options), policies());
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("not the options"), "{error}");
    }
    let mut gate = GatePolicy::default();
    gate.temperature = 0.0;
    let error = refused(gate.into(), policies());
    assert!(error.to_string().contains("temperature"), "{error}");
}

#[test]
fn a_ranking_is_refused_for_a_selector_that_does_not_use_it() {
    let opened = |selector: Policy| {
        let mut recipe = recipe();
        recipe.select.rank = Some(journeyman::stations::retrieve::RankWeights::default());
        recipe.select.selector = selector;
        block_on(open(recipe, policies()))
    };
    opened(Policy::new("best")).expect("it opens");
    let unranked = Policy::new("best").with_options("unranked");
    let error = opened(unranked).expect_err("it is refused").to_string();
    assert!(error.contains("rank") && error.contains("best"), "{error}");
}

#[test]
fn a_selector_in_another_form_is_refused_with_how_to_write_it() {
    let mut json = serde_json::to_value(recipe::standard()).expect("it is JSON");
    for other in [json!("first"), json!({ "top": { "limit": 2 } })] {
        json["select"]["selector"] = other;
        let error = serde_json::from_value::<Recipe>(json.clone()).expect_err("refused");
        let form = r#"a policy is {"name": "top", "options": {"limit": 3}}"#;
        assert!(error.to_string().contains(form), "{error}");
    }
    let mut json = serde_json::to_value(recipe::standard()).expect("it is JSON");
    json["select"]["own"] = json!({ "name": "first" });
    let error = serde_json::from_value::<Recipe>(json).expect_err("refused");
    assert!(error.to_string().contains("`selector`"), "{error}");
}

#[test]
fn our_selectors_need_no_options_where_they_have_defaults() {
    let select = |name: &str, options: serde_json::Value| {
        let mut recipe = recipe::standard();
        recipe.select.selector = Policy::new(name).with_options(options);
        recipe.validate()?;
        recipe.resolve(&Policies::new())?;
        Ok::<_, Error>(recipe)
    };
    for none in [json!(null), json!({})] {
        for name in ["bank", "first", "gate", "nothing", "random"] {
            select(name, none.clone()).expect(name);
        }
        let gate = select("gate", none.clone()).expect("it is valid").gate();
        assert_eq!(gate, Some(GatePolicy::default()));
        select("top", none).expect_err("it has no default");
    }
    let some = select("gate", json!({ "epsilon": 0.5 })).expect("it is valid");
    let epsilon = 0.5;
    let mut expect = GatePolicy::default();
    expect.epsilon = epsilon;
    assert_eq!(some.gate(), Some(expect));
}

#[test]
fn a_gate_behind_a_host_s_selector_explores_in_learning_and_not_for_a_host_s_attempt() {
    let begun = |explore_live: bool| {
        let mut recipe = recipe();
        change_gate(&mut recipe, |gate| gate.epsilon = 1.0);
        recipe.select.selector.name = "behind".to_owned();
        let mut options = Options::new("test", Seed(7)).with_policies(policies());
        options.explore_live = explore_live;
        block_on(async {
            let opened = Journeyman::open(components(), recipe, options).await;
            let journeyman = opened.expect("it opens");
            let learned = journeyman.learn(tasks(6)).await.expect("it learns");
            let task = sample::task("live", &["one", "two"]);
            let handle = journeyman.begin(task).await.expect("it begins");
            let finished = handle.finish(Some(sample::outcome(true))).await;
            let report = finished.expect("it finishes").expect("a group of one");
            (learned, report.selections[0].decision.clone())
        })
    };
    let explores = |decision: &Decision| match decision {
        Decision::Inject { explored, .. } => Some(*explored),
        _ => None,
    };
    for live in [false, true] {
        let (learned, decision) = begun(live);
        let mut selections = learned.tasks.iter().flat_map(|task| &task.selections);
        assert!(selections.any(|one| explores(&one.decision) == Some(true)));
        assert_eq!(explores(&decision), Some(live), "{decision:?}");
    }
}

/// Panics when it is asked what it needs.
#[derive(Debug)]
struct Silent;

#[async_trait]
impl SelectProgram for Silent {
    async fn select(&self, _: &mut Ask, _: &View, _: &TurnQuery) -> Result<Selected> {
        Ok(Selection::nothing(NothingReason::NoCandidates).into())
    }

    fn uses_ranking(&self) -> bool {
        panic!("no comment")
    }
}

#[test]
fn a_selector_that_panics_when_it_is_made_or_asked_refuses_the_recipe() {
    let broken = Policies::new()
        .with_selector("unmade", |_| panic!("no comment"))
        .with_selector("silent", |_| Ok(Arc::new(Silent)));
    for name in ["unmade", "silent"] {
        let mut recipe = recipe();
        recipe.select.selector = Policy::new(name);
        let opened = block_on(open(recipe, broken.clone()));
        let error = opened.expect_err("it is refused");
        assert_eq!(error.kind(), ErrorKind::Panicked);
        let text = error.to_string();
        assert!(text.contains("no comment") && text.contains(name), "{text}");
    }
}
