//! The papers' numbers, as the recipes have them: whoever changes a default sees here that it was one of these.
#![allow(clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeSet;

use journeyman::{
    domain::RoleRule,
    maintain::Gate,
    propose::OverlapOptions,
    recipe::{self, Recipe},
    select::{SelectPer, Selector},
};
use serde_json::{Value, json};

/// A recipe has these values, by their places in its JSON.
fn check(recipe: &Recipe, expect: &[(&str, Value)]) {
    let all = serde_json::to_value(recipe).expect("it is JSON");
    for (place, value) in expect {
        assert_eq!(all.pointer(place), Some(value), "{place} in {all:#}");
    }
}

#[test]
fn arise_has_the_numbers_of_its_paper() {
    let arise = recipe::arise();
    check(
        &arise,
        &[
            ("/attempts/group", json!(8)),
            ("/reward/levels", json!([0.0, 1.0, 2.0])),
            ("/tiers/cache", json!(10)),
            ("/tiers/reservoir", json!(100)),
            ("/tiers/beta", json!(0.9)),
            ("/attempts/warm_up", json!(500)),
            ("/schedule/gain", json!(100)),
        ],
    );
    let Selector::Gate(gate) = arise.select.selector else {
        panic!("{:?}", arise.select.selector);
    };
    assert_eq!((gate.relative, gate.epsilon), (Some(0.35), 0.1));
    assert_eq!(gate.absolute, None);
}

/// The places of every value of a JSON document that is no object.
fn places(value: &Value, place: &str) -> Vec<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, field)| places(field, &format!("{place}/{name}")))
            .collect(),
        _ => vec![place.to_owned()],
    }
}

/// HiSME's fields for which the paper publishes no value, by the beginnings of their places.
const UNPUBLISHED: [&str; 15] = [
    "/name",
    "/select/candidates",
    "/select/rank",
    "/select/selector",
    "/reward",
    "/credit/per",
    "/admit/duplicates",
    "/tiers",
    "/schedule/gain",
    "/maintenance/bundles/most",
    "/maintenance/refine",
    "/maintenance/refactor",
    "/maintenance/filter/window",
    "/maintenance/evolve/",
    "/limits",
];

#[test]
fn hisme_has_the_numbers_of_its_paper_and_departs_where_it_says() {
    let mut hisme = recipe::hisme();
    let paper = [
        // Algorithm 1: one attempt a task, its trace extracted, credit by a model. 4.1: deterministic decoding, three
        // candidates, maintenance and rules after each five tasks, which run at once.
        ("/attempts/group", json!(1)),
        ("/attempts/temperature", json!(0.0)),
        ("/attempts/warm_up", json!(0)),
        ("/write/when", json!("always")),
        ("/write/by/extract/candidates", json!(3)),
        ("/credit/attribute", json!(true)),
        ("/schedule/batch", json!(5)),
        ("/schedule/micro", json!(5)),
        ("/schedule/macro", json!(5)),
        // Appendix B: newcomers are trial skills.
        ("/admit/initial_state", json!("trial")),
        // Algorithm 5: at most five rules a role.
        ("/maintenance/evolve/rules", json!(5)),
        // 3.3: harmful evidence, and no helpful evidence.
        ("/maintenance/filter/helpful", json!(1)),
    ];
    check(&hisme, &paper);
    let harmful = hisme.maintenance.filter.expect("it filters").harmful;
    assert!(harmful >= 1, "{harmful}");
    assert_eq!(RoleRule::MOST, 5);
    // Appendix C.
    let overlap = OverlapOptions::default();
    let weights = (overlap.ngram, overlap.embedding, overlap.error);
    assert_eq!(weights, (0.45, 0.35, 0.20));
    assert_eq!((overlap.error_factor, overlap.threshold), (1.7, 0.18));

    // Where its documentation says that it departs, it does, and the paper's value can be had.
    let departures = [
        ("/maintenance/bundles/gate", json!("better"), json!("all")),
        ("/maintenance/bundles/tasks", json!(2), json!(1)),
        ("/select/per", json!("query"), json!("turn")),
    ];
    let ours = departures.clone().map(|(place, ours, _)| (place, ours));
    check(&hisme, &ours);
    let all = places(&serde_json::to_value(&hisme).expect("it is JSON"), "");
    let bundles = hisme.maintenance.bundles.as_mut().expect("it has bundles");
    (bundles.gate, bundles.tasks) = (Gate::All, 1);
    hisme.select.per = SelectPer::Turn;
    hisme.validate().expect("it is a recipe");
    check(&hisme, &departures.map(|(place, _, paper)| (place, paper)));

    // It departs nowhere else: every other field is one of the paper's or has no published value.
    let published = paper.iter().chain(&ours).map(|(place, _)| *place);
    let published: BTreeSet<&str> = published.chain(["/maintenance/filter/harmful"]).collect();
    for place in &all {
        let unpublished = UNPUBLISHED.iter().any(|start| place.starts_with(start));
        assert!(unpublished || published.contains(place.as_str()), "{place}");
    }
}
