//! The bundled model on held-out worlds, in mode `row`: the executor appends the usage line of the tool that the model
//! names. A bound is what the second study reports for that mode, less two of its standard errors
//! (`docs/results.md` has both).

use apprentice::{Acting, Apart, Arena, Gate};
use journeyman_toolworld::{dialect::Mode, world::WorldSpec};
use quickstart::Parts;

use super::key;
use crate::figures::{Bound, Figures, Outcome};

/// Worlds a seed.
const WORLDS: usize = 300;

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    // Derived by name, so that it is no seed that development used.
    let seed = figures.options().seed.derive("figures", 0).0;
    let arena = Arena::new(parts.model.clone(), parts.model.clone(), Mode::Row)?;
    let spec = WorldSpec::default();
    let acting: Acting = figures.once(&key(parts, "the model acts and writes"), || {
        Ok(Acting::measure(&arena, &spec, seed, WORLDS)?)
    })?;
    let gate: Gate = figures.once(&key(parts, "the model chooses among ten"), || {
        Ok(Gate::measure(&arena, &spec, seed, WORLDS)?)
    })?;
    record_acting(figures, &acting);
    record_gate(figures, &gate);
    Ok(())
}

fn record_acting(figures: &mut Figures<'_>, acting: &Acting) {
    use Bound::{AtLeast, AtMost, None};
    // What is measured, its bound with a hidden contract, and its bound without one.
    let rows: [(&str, &Apart, Bound, Bound); 8] = [
        (
            "no skill, first attempt",
            &acting.none.0,
            AtMost(0.03),
            AtLeast(0.918),
        ),
        (
            "no skill, within 2 retries",
            &acting.none.1,
            AtLeast(0.834),
            None,
        ),
        (
            "right skill, first attempt",
            &acting.right.0,
            AtLeast(0.942),
            None,
        ),
        (
            "irrelevant skill, first attempt",
            &acting.irrelevant.0,
            None,
            AtLeast(0.843),
        ),
        (
            "irrelevant skill, within 2 retries",
            &acting.irrelevant.1,
            AtLeast(0.784),
            None,
        ),
        (
            "right and irrelevant skill, first attempt",
            &acting.both.0,
            None,
            None,
        ),
        (
            "skill written from a success, fully right",
            &acting.written,
            AtLeast(0.951),
            None,
        ),
        (
            "new task with its own skill, first attempt",
            &acting.own,
            AtLeast(0.779),
            None,
        ),
    ];
    for (name, apart, hidden, plain) in rows {
        let name = format!("model.{name}");
        figures.record(&format!("{name}, hidden"), apart.hidden.value(), hidden);
        figures.record(&format!("{name}, plain"), apart.plain.value(), plain);
    }
    record_stale(figures, acting);
}

fn record_stale(figures: &mut Figures<'_>, acting: &Acting) {
    let stale = [
        ("recovered", &acting.stale, 0.7),
        ("corrected", &acting.corrected, 0.65),
    ];
    for (name, share, bound) in stale {
        figures.record(
            &format!("model.stale skill, {name}"),
            share.value(),
            Bound::AtLeast(bound),
        );
    }
}

fn record_gate(figures: &mut Figures<'_>, gate: &Gate) {
    use Bound::{AtLeast, AtMost, None};
    let chosen = [
        ("none", AtMost(0.03)),
        ("random", None),
        ("top by word overlap", None),
        ("top by bm25", None),
        ("pmi above the threshold", AtLeast(0.943)),
        ("oracle", None),
    ];
    for ((name, bound), share) in chosen.into_iter().zip(&gate.acted) {
        figures.record(
            &format!("gate of ten.{name}, first attempt"),
            share.value(),
            bound,
        );
    }
    let ranked = ["word overlap", "bm25", "sum", "mean", "pmi"];
    for (name, share) in ranked.into_iter().zip(&gate.top) {
        let bound = if name == "pmi" { AtLeast(0.99) } else { None };
        figures.record(
            &format!("gate of ten.right one first by {name}"),
            share.value(),
            bound,
        );
    }
    figures.record("gate of ten.threshold, nats", gate.threshold, None);
    figures.record(
        "gate of ten.right ones let through",
        gate.passed.value(),
        None,
    );
    figures.record(
        "gate of ten.injects with no right one there",
        gate.absent.value(),
        AtMost(0.044),
    );
}
