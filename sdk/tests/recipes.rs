//! The papers' numbers, as the recipes have them: whoever changes a default sees here that it was one of these.
#![allow(clippy::expect_used, clippy::panic, missing_docs)]

use journeyman::{
    domain::RoleRule,
    propose::OverlapOptions,
    recipe::{self, Recipe},
    select::Selector,
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

#[test]
fn hisme_has_the_numbers_of_its_paper() {
    let hisme = recipe::hisme();
    check(
        &hisme,
        &[
            ("/attempts/group", json!(1)),
            ("/attempts/temperature", json!(0.0)),
            ("/write/by/extract/candidates", json!(3)),
            ("/admit/initial_state", json!("trial")),
            ("/schedule/batch", json!(5)),
            ("/schedule/micro", json!(5)),
            ("/schedule/macro", json!(5)),
            ("/attempts/warm_up", json!(0)),
        ],
    );
    assert_eq!(RoleRule::MOST, 5);
    let overlap = OverlapOptions::default();
    let weights = (overlap.ngram, overlap.embedding, overlap.error);
    assert_eq!(weights, (0.45, 0.35, 0.20));
    assert_eq!((overlap.error_factor, overlap.threshold), (1.7, 0.18));
    hisme.validate().expect("it is a recipe");
}

/// The JSON pointers at which two values differ.
fn differences(at: &str, one: &Value, other: &Value, all: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if one.keys().eq(other.keys()) => {
            for (key, value) in one {
                differences(&format!("{at}/{key}"), value, &other[key], all);
            }
        }
        _ if one == other => {}
        _ => all.push(at.to_owned()),
    }
}

#[test]
fn ours_departs_from_the_paper_by_named_options_alone() {
    let json = |recipe| serde_json::to_value(recipe).expect("a recipe is JSON");
    let mut found = Vec::new();
    let (paper, ours) = (json(recipe::hisme()), json(recipe::hisme_robust()));
    differences("", &paper, &ours, &mut found);
    let options = [
        "/admit/revive",
        "/maintenance/bundles/gate",
        "/maintenance/bundles/harm_blocks",
        "/maintenance/bundles/tasks",
        "/maintenance/filter/keep_supported",
        "/maintenance/refactor/counterfactual",
        "/maintenance/refactor/skip_covered",
        "/maintenance/refine/failed_cases",
        "/maintenance/refine/insufficient",
        "/name",
        "/select/per",
        "/write/by/extract/failures",
    ];
    assert_eq!(found, options);
    check(
        &recipe::hisme(),
        &[
            ("/maintenance/bundles/gate", json!("all")),
            ("/maintenance/bundles/tasks", json!(1)),
            ("/maintenance/bundles/harm_blocks", json!(true)),
            ("/maintenance/filter/keep_supported", json!(false)),
            ("/maintenance/refine/failed_cases", json!(true)),
            ("/select/per", json!("turn")),
            ("/write/by/extract/failures", json!(true)),
        ],
    );
}
