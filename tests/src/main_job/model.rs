//! The bundled model on held-out worlds, in mode `row`: the executor appends the usage line of the tool that the model
//! names. A figure is ok when it is not under what the second study reports for that mode by more than two standard errors
//! of the difference: both are estimates from some hundred worlds (`docs/results.md` has both).

use apprentice::{Acting, Apart, Arena, Gate, Share};
use journeyman_toolworld::{dialect::Mode, seed::Draws, world::WorldSpec};
use quickstart::Parts;

use super::key;
use crate::figures::{Bound, Figures, Outcome};

/// Worlds a seed.
const WORLDS: usize = 300;

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    // Derived by name, so that it is no seed that development used.
    let seed = figures.options().seed.derive("figures", 0).0;
    let arena = Arena::new(parts.model.clone(), parts.model.clone(), Mode::Row)?;
    let spec = |_: &mut Draws| WorldSpec::default();
    let acting: Acting = figures.once(&key(parts, "the model acts and writes"), || {
        Ok(Acting::measure(&arena, spec, seed, WORLDS)?)
    })?;
    let gate: Gate = figures.once(&key(parts, "the model chooses among ten"), || {
        Ok(Gate::measure(&arena, spec, seed, WORLDS)?)
    })?;
    record_acting(figures, &acting);
    record_gate(figures, &gate);
    Ok(())
}

/// What the study reports and its standard error, each in [0, 1].
type Reported = Option<(f64, f64)>;

/// The least that does not differ from what is reported.
fn reach(reported: Reported, share: &Share) -> Bound {
    reported.map_or(Bound::None, |(value, error)| {
        let own = value * (1.0 - value) / share.count().max(1) as f64;
        Bound::AtLeast(value - 2.0 * (error * error + own).sqrt())
    })
}

fn record_acting(figures: &mut Figures<'_>, acting: &Acting) {
    let none = &acting.none.0.hidden;
    figures.record(
        "model.no skill, first attempt, hidden",
        none.value(),
        Bound::AtMost(0.03),
    );
    // What is measured, what the study reports with a hidden contract, and without one.
    let rows: [(&str, &Apart, Reported, Reported); 7] = [
        (
            "no skill, within 2 retries",
            &acting.none.1,
            Some((0.868, 0.017)),
            None,
        ),
        (
            "right skill, first attempt",
            &acting.right.0,
            Some((0.962, 0.010)),
            None,
        ),
        (
            "irrelevant skill, first attempt",
            &acting.irrelevant.0,
            None,
            Some((0.915, 0.036)),
        ),
        (
            "irrelevant skill, within 2 retries",
            &acting.irrelevant.1,
            Some((0.822, 0.019)),
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
            Some((0.969, 0.009)),
            None,
        ),
        (
            "new task with its own skill, first attempt",
            &acting.own,
            Some((0.821, 0.021)),
            None,
        ),
    ];
    let plain = &acting.none.0.plain;
    let bound = reach(Some((0.966, 0.024)), plain);
    figures.record("model.no skill, first attempt, plain", plain.value(), bound);
    for (name, apart, hidden, plain) in rows {
        for (side, share, reported) in [
            ("hidden", &apart.hidden, hidden),
            ("plain", &apart.plain, plain),
        ] {
            let bound = reach(reported, share);
            figures.record(&format!("model.{name}, {side}"), share.value(), bound);
        }
    }
    record_stale(figures, acting);
}

/// The study reports no standard error here; it is taken to be that of 400 worlds, its number for this mode.
fn record_stale(figures: &mut Figures<'_>, acting: &Acting) {
    let stale = [
        ("recovered", &acting.stale, (0.750, 0.022)),
        ("repaired", &acting.repaired, (0.699, 0.023)),
    ];
    for (name, share, reported) in stale {
        let bound = reach(Some(reported), share);
        figures.record(&format!("model.stale skill, {name}"), share.value(), bound);
    }
}

fn record_gate(figures: &mut Figures<'_>, gate: &Gate) {
    use Bound::{AtLeast, AtMost, None};
    let [none, random, words, bm25, oracle] = &gate.acted;
    let fitted = &gate.fitted;
    let bound = reach(Some((0.967, 0.012)), &fitted.acted);
    let chosen = [
        ("none", none, AtMost(0.03)),
        ("random", random, None),
        ("top by word overlap", words, None),
        ("top by bm25", bm25, None),
        ("pmi above the threshold", &fitted.acted, bound),
        ("oracle", oracle, None),
    ];
    for (name, share, bound) in chosen {
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
        fitted.passed.value(),
        None,
    );
    figures.record(
        "gate of ten.injects with no right one there",
        fitted.absent.value(),
        AtMost(0.044),
    );
}
