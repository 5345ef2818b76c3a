//! The bundled model as a curator (SkillOS), through llama.cpp: its calls after its own attempts in held-out worlds, and a library
//! that it curates over a stream of tasks.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::path::Path;

use apprentice::{Arena, Curating, held_out};
use journeyman_toolworld::dialect::Mode;
use quickstart::Parts;

fn parts() -> Parts {
    let model =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/apprentice/apprentice.gguf");
    Parts::load(&model, 8).expect("the bundled model")
}

#[test]
fn it_inserts_a_useful_skill_updates_a_stale_one_and_deletes_it_beside_a_better_one() {
    let parts = parts();
    let arena = Arena::new(parts.model.clone(), parts.model.clone(), Mode::Row).expect("an arena");
    let seed: u64 = std::env::var("CURATOR_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(0);
    let n: usize = std::env::var("CURATOR_N")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(100);
    let measured = Curating::measure(&arena, held_out, seed, n).expect("measured");
    println!("{measured:#?}");
    println!(
        "inserted {} updated {} deleted {} kept {} not injected {}",
        measured.inserted, measured.updated, measured.deleted, measured.kept, measured.not_injected
    );
}
