//! The papers' numbers, as the recipes have them: whoever changes a default sees here that it was one of these.
#![allow(clippy::expect_used, clippy::panic, missing_docs)]

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

#[test]
fn hisme_has_the_numbers_of_its_paper_and_departs_where_it_says() {
    let mut hisme = recipe::hisme();
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
    // Its documentation says how to have the paper's.
    let bundles = hisme.maintenance.bundles.as_mut().expect("it has bundles");
    assert_eq!((bundles.gate, bundles.tasks), (Gate::Better, 2));
    assert_eq!(hisme.select.per, SelectPer::Query);
    (bundles.gate, bundles.tasks) = (Gate::All, 1);
    hisme.select.per = SelectPer::Turn;
    hisme.validate().expect("it is a recipe");
}
