//! The evals that an export makes.

use std::fs;

use futures::executor::block_on;
use journeyman::{
    Seed,
    contract::SkillStore,
    domain::{AttemptId, BundleCase, CaseKind, LibraryChange, Task},
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore};
use journeyman_interchange::evals;
use serde_json::json;

use crate::support::{Place, documented};

#[test]
fn a_learned_skill_takes_its_test_bundle_along_as_evals() {
    let place = Place::with_library();
    let task = Task::new("t-1", "Grind the beans.").with_payload(json!({"beans": 9}));
    let case = BundleCase {
        name: "a-1/case".to_owned(),
        kind: CaseKind::Integration,
        task,
        attempt: AttemptId::new("a-1"),
        world_seed: Seed(1),
        prefix: Vec::new(),
        refusals: 1,
        least_score: 0.0,
    };
    let patch = LibraryChange::PatchBundle {
        skill: "grind".into(),
        cases: vec![case],
        dropped: Vec::new(),
    };
    let store = DiskStore::open(place.root(), &DiskOptions::default()).unwrap();
    block_on(store.commit(&sample::commit(3, "bundle", vec![patch]))).unwrap();
    drop(store);
    let export = |format: &str, output: &str| {
        place.json(&[
            "skill", "export", "--all", "--evals", "--format", format, "--output", output,
        ])
    };
    let told = export("skill-folder", "out").done().json();
    documented("`skill export`", &told);
    assert_eq!(told["evals"], json!(["grind"]));
    let written = fs::read_to_string(place.path("out/grind/evals/evals.json")).unwrap();
    let read = evals::read(&written).unwrap();
    assert_eq!(read.skill_name.as_deref(), Some("grind"));
    assert_eq!(read.evals.len(), 1);
    assert_eq!(read.evals[0].prompt, "Grind the beans.");
    assert_eq!(read.evals[0].payload, json!({"beans": 9}));
    assert!(!place.path("out/brew/evals").exists());
    let refused = export("arise", "out.json");
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(!place.path("out.json").exists());
}
