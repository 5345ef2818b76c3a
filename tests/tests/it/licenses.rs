//! The licenses and sources of what is compiled, by the lists of `tests/deny.toml`, which cargo-deny reads too.

use std::{collections::BTreeSet, fs};

use journeyman_tests::source::{metadata, repository};
use serde_json::Value;

/// The licenses that `tests/deny.toml` allows.
fn allowed() -> BTreeSet<String> {
    let text = fs::read_to_string(repository().join("tests/deny.toml")).unwrap();
    let rules: toml::Table = toml::from_str(&text).unwrap();
    for unknown in ["unknown-registry", "unknown-git"] {
        assert_eq!(rules["sources"][unknown].as_str(), Some("deny"));
    }
    let allowed = rules["licenses"]["allow"].as_array().unwrap();
    let allowed = allowed.iter().map(|one| one.as_str().unwrap().to_owned());
    allowed.collect()
}

/// Whether allowed licenses alone meet an expression of SPDX, in which older crates write `/` for `OR`.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ");
    let spaced = spaced.replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    any_is_met(&words, &mut at, allowed) && at == words.len()
}

fn any_is_met(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = all_are_met(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all_are_met(words, at, allowed);
    }
    met
}

fn all_are_met(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = one_is_met(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one_is_met(words, at, allowed);
    }
    met
}

fn one_is_met(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let word = words.get(*at).copied().unwrap_or_default();
    *at += 1;
    if word == "(" {
        let met = any_is_met(words, at, allowed);
        // Behind the end nothing is met: not even the other side of an `OR` around it.
        *at = match words.get(*at) {
            Some(&")") => *at + 1,
            _ => words.len() + 1,
        };
        return met;
    }
    match words.get(*at..*at + 2) {
        Some(["WITH", exception]) => {
            *at += 2;
            allowed.contains(&format!("{word} WITH {exception}"))
        }
        _ => allowed.contains(word),
    }
}

/// What a package of `cargo metadata` breaks.
fn faults(package: &Value, allowed: &BTreeSet<String>) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let mut faults = Vec::new();
    match package["license"].as_str() {
        None => faults.push(format!("{name} does not say its license")),
        Some(license) if !is_met(license, allowed) => {
            faults.push(format!("{name}: {license} is not allowed"));
        }
        Some(_) => {}
    }
    // Without a source it is a folder of this repository.
    if let Some(source) = package["source"].as_str()
        && !source.starts_with("registry+")
    {
        faults.push(format!(
            "{name} comes from {source}, and not from a registry"
        ));
    }
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    for dependency in dependencies
        .filter(|dependency| package["source"].is_null() && !dependency["registry"].is_null())
    {
        let of = &dependency["name"];
        faults.push(format!(
            "{name} takes {of} from another registry than the default one"
        ));
    }
    faults
}

#[test]
fn every_crate_has_an_allowed_license_and_comes_from_the_default_registry() {
    let metadata: Value = serde_json::from_str(&metadata().unwrap()).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "only {} crates", packages.len());
    let allowed = allowed();
    let found: Vec<String> = packages
        .iter()
        .flat_map(|package| faults(package, &allowed))
        .collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
    let registries: BTreeSet<&str> = packages
        .iter()
        .filter_map(|package| package["source"].as_str())
        .collect();
    assert_eq!(registries.len(), 1, "{registries:?}");

    for license in &allowed {
        let mut fewer = allowed.clone();
        fewer.remove(license);
        let is_needed = |package: &Value| !faults(package, &fewer).is_empty();
        assert!(
            packages.iter().any(is_needed),
            "no crate needs {license}: take it out of tests/deny.toml"
        );
    }
}

#[test]
fn each_rule_can_fail() {
    let allowed = ["MIT", "ISC", "X WITH Y"].map(str::to_owned).into();
    for met in [
        "MIT",
        "GPL-3.0 OR MIT",
        "GPL-3.0/MIT",
        "GPL-3.0 / MIT",
        "MIT AND ISC",
        "(MIT OR GPL-3.0) AND ISC",
        "GPL-3.0 AND ISC OR MIT",
        "X WITH Y",
    ] {
        assert!(is_met(met, &allowed), "{met}");
    }
    for unmet in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR ISC) AND GPL-3.0",
        "X",
        "MIT WITH Y",
        "MIT ISC",
        "(MIT GPL-3.0",
        "(MIT",
        "ISC OR (MIT GPL-3.0",
        "MIT)",
    ] {
        assert!(!is_met(unmet, &allowed), "{unmet}");
    }
    let package = |license: Option<&str>, source: Option<&str>, registry: Option<&str>| {
        serde_json::json!({
            "name": "a",
            "license": license,
            "source": source,
            "dependencies": [{"name": "b", "registry": registry}],
        })
    };
    let count = |package: &Value| faults(package, &allowed).len();
    assert_eq!(count(&package(Some("MIT"), Some("registry+x"), None)), 0);
    assert_eq!(count(&package(None, None, None)), 1);
    assert_eq!(count(&package(Some("GPL-3.0"), Some("git+x"), None)), 2);
    assert_eq!(count(&package(Some("MIT"), None, Some("y"))), 1);
}
