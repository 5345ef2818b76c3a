//! The bundled model: whether it follows, ignores, recovers, writes and judges, in worlds wider than those of the main
//! job, whose pairs of verb and noun its training text does not have.

use std::path::Path;

use apprentice::{Acting, Arena, Gate, Greedy, Roles, Share, TWISTED, greedy, held_out, tokens};
use journeyman::contract::LanguageModel;
use journeyman_toolworld::{dialect::Mode, roles::Role};
use quickstart::{Parts, compact_model};

use crate::figures::{Bound, Figures, Outcome};
use crate::main_job;

/// Worlds, and cases of each role, a seed.
const WORLDS: usize = 500;
/// Texts whose token ids are compared.
const TEXTS: usize = 1000;
/// The quickstart's step budget.
const STEPS: usize = 8;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let path = compact_model();
    let parts = Parts::exact(&path, STEPS)?;
    let model = parts.model.capabilities().model.clone();
    figures.subject("model", model.as_str());
    let key = |what: &str| format!("{what}, {model}");
    // Derived by name, so that it is no seed that development used.
    let seed = figures.options().seed.derive("apprentice", 0).0;

    let row = Arena::new(parts.model.clone(), parts.model.clone(), Mode::Row)?;
    let alone = Arena::new(parts.model.clone(), parts.model.clone(), Mode::Model)?;
    let acting: Acting = figures.once(&key("it acts and writes"), || {
        Ok(Acting::measure(&row, held_out, seed, WORLDS)?)
    })?;
    record_acting(figures, &acting);
    record_writing(figures, &acting);
    let acting: Acting = figures.once(&key("it acts without usage lines"), || {
        Ok(Acting::measure(&alone, held_out, seed, WORLDS)?)
    })?;
    record_alone(figures, &acting);
    let roles: Roles = figures.once(&key("its other roles"), || {
        Ok(Roles::measure(&row, seed, WORLDS)?)
    })?;
    record_roles(figures, &roles);
    let gate: Gate = figures.once(&key("it chooses among ten"), || {
        Ok(Gate::measure(&row, held_out, seed, WORLDS)?)
    })?;
    record_gate(figures, &gate);
    main_job::quickstart(figures, &parts)?;

    let folder = path.parent().unwrap_or(Path::new("."));
    let same: Greedy = figures.once(&key("greedy outputs"), || {
        greedy(parts.model.as_ref(), &folder.join("greedy.jsonl"))
    })?;
    let prompts = same.equal + same.tied + same.different;
    figures.record("torch.prompts", prompts as f64, Bound::AtLeast(100.0));
    figures.record("torch.equal outputs", same.equal as f64, Bound::None);
    figures.record(
        "torch.part at a near tie",
        same.tied as f64,
        Bound::AtMost(5.0),
    );
    let parted = same.different as f64;
    figures.record(
        "torch.outputs that part without a near tie",
        parted,
        Bound::AtMost(0.0),
    );
    let equal: usize = figures.once(&key("token ids"), || {
        Ok(tokens(parts.model.as_ref(), TEXTS)?.0)
    })?;
    let all = Bound::AtLeast(TEXTS as f64);
    figures.record("torch.texts with equal token ids", equal as f64, all);
    Ok(())
}

fn record_all(figures: &mut Figures<'_>, rows: &[(&str, &Share, Bound)]) {
    for (name, share, bound) in rows {
        figures.record(name, share.value(), *bound);
    }
}

fn record_acting(figures: &mut Figures<'_>, acting: &Acting) {
    use Bound::{AtLeast, AtMost, None};
    let Acting {
        none,
        right,
        irrelevant,
        both,
        ..
    } = acting;
    let rows = [
        (
            "no skill, first attempt, hidden",
            &none.0.hidden,
            AtMost(0.03),
        ),
        (
            "right skill, first attempt, hidden",
            &right.0.hidden,
            AtLeast(0.95),
        ),
        (
            "right and irrelevant skill, first attempt, hidden",
            &both.0.hidden,
            AtLeast(0.9),
        ),
        (
            "irrelevant skill, first attempt, hidden",
            &irrelevant.0.hidden,
            None,
        ),
        (
            "no skill, within 2 retries, hidden",
            &none.1.hidden,
            AtLeast(0.9),
        ),
        (
            "irrelevant skill, within 2 retries, hidden",
            &irrelevant.1.hidden,
            None,
        ),
        (
            "no skill, first attempt, plain",
            &none.0.plain,
            AtLeast(0.95),
        ),
        ("right skill, first attempt, plain", &right.0.plain, None),
        (
            "right and irrelevant skill, first attempt, plain",
            &both.0.plain,
            None,
        ),
        (
            "irrelevant skill, first attempt, plain",
            &irrelevant.0.plain,
            None,
        ),
    ];
    record_all(figures, &rows);
    let lost = none.0.plain.value() - irrelevant.0.plain.value();
    figures.record(
        "lost to an irrelevant skill, first attempt, plain",
        lost,
        AtMost(0.03),
    );
    figures.record("plain worlds", none.0.plain.count() as f64, None);
}

fn record_writing(figures: &mut Figures<'_>, acting: &Acting) {
    use Bound::{AtLeast, None};
    let written = acting.written.all();
    let [right, irrelevant, both] = &acting.chosen;
    let [helpful, harmful, neutral] = &acting.credited;
    let [unskilled, lasting, met] = &acting.passing;
    let rows = [
        (
            "skill written from a success, fully right",
            &written,
            AtLeast(0.95),
        ),
        (
            "new task with its own skill, first attempt, hidden",
            &acting.own.hidden,
            AtLeast(0.9),
        ),
        ("stale skill, within 2 retries", &acting.stale, None),
        (
            "stale skill repaired, fully right",
            &acting.repaired,
            AtLeast(0.9),
        ),
        ("passing demand, no skill, done", unskilled, None),
        (
            "passing demand, lasting skill, within 2 retries",
            lasting,
            None,
        ),
        ("passing demand, skill written says what was met", met, None),
        ("credit.own attempts, helpful", helpful, None),
        ("credit.own attempts, harmful", harmful, None),
        ("credit.own attempts, neutral", neutral, None),
        ("says that it uses the right skill", right, AtLeast(0.85)),
        (
            "says that it uses no irrelevant skill",
            irrelevant,
            AtLeast(0.85),
        ),
        ("says which of both it uses", both, AtLeast(0.85)),
    ];
    record_all(figures, &rows);
}

fn record_alone(figures: &mut Figures<'_>, acting: &Acting) {
    let rows = [
        ("no skill, first attempt, plain", &acting.none.0.plain),
        ("no skill, within 2 retries, hidden", &acting.none.1.hidden),
        ("right skill, first attempt, hidden", &acting.right.0.hidden),
        (
            "right and irrelevant skill, first attempt, hidden",
            &acting.both.0.hidden,
        ),
        (
            "irrelevant skill, first attempt, plain",
            &acting.irrelevant.0.plain,
        ),
        (
            "new task with its own skill, first attempt, hidden",
            &acting.own.hidden,
        ),
    ];
    for (name, share) in rows {
        figures.record(&format!("no usage line.{name}"), share.value(), Bound::None);
    }
}

fn record_roles(figures: &mut Figures<'_>, roles: &Roles) {
    for (role, share) in &roles.right {
        // Those of the skills that it writes and repairs on its own attempts stand above; these are on policies'.
        let bound = match role {
            Role::Extract => Bound::AtLeast(0.95),
            Role::Repair => Bound::AtLeast(0.9),
            Role::Credit => Bound::None,
            _ => Bound::AtLeast(0.85),
        };
        figures.record(&format!("role.{}", role.opening()), share.value(), bound);
    }
    for ((_, _, label), share) in TWISTED.iter().zip(&roles.twisted) {
        let name = format!("role.{}", label.replace('`', ""));
        figures.record(&name, share.value(), Bound::AtLeast(0.85));
    }
    for (credit, share) in &roles.credit {
        figures.record(
            &format!("credit.{}", credit.word()),
            share.value(),
            Bound::None,
        );
    }
    let balanced = roles.balanced_credit();
    figures.record("credit.balanced accuracy", balanced, Bound::AtLeast(0.9));
    figures.record(
        "refuses.its tool is not visible",
        roles.absent.value(),
        Bound::None,
    );
    figures.record(
        "refuses.random letters",
        roles.gibberish.value(),
        Bound::None,
    );
    figures.record(
        "task that begins with random letters, right skill, first attempt",
        roles.foreign.value(),
        Bound::None,
    );
}

fn record_gate(figures: &mut Figures<'_>, gate: &Gate) {
    use Bound::{AtLeast, AtMost, None};
    let [none, random, words, bm25, oracle] = &gate.acted;
    let [top_words, top_bm25, top_sum, top_mean, top_pmi] = &gate.top;
    let (ships, fitted) = (&gate.shipped, &gate.fitted);
    let shares = [
        ("none, first attempt", none, AtMost(0.03)),
        ("random, first attempt", random, None),
        ("top by word overlap, first attempt", words, None),
        ("top by bm25, first attempt", bm25, None),
        ("the recipe's gate, first attempt", &ships.acted, None),
        ("a fitted gate, first attempt", &fitted.acted, None),
        ("oracle, first attempt", oracle, None),
        ("right one first by word overlap", top_words, None),
        ("right one first by bm25", top_bm25, None),
        ("right one first by sum", top_sum, None),
        ("right one first by mean", top_mean, None),
        ("right one first by pmi", top_pmi, AtLeast(0.99)),
        (
            "the recipe's gate lets the right one through",
            &ships.passed,
            AtLeast(0.95),
        ),
        (
            "the recipe's gate injects with no right one there",
            &ships.absent,
            AtMost(0.03),
        ),
        (
            "a fitted gate lets the right one through",
            &fitted.passed,
            None,
        ),
        (
            "a fitted gate injects with no right one there",
            &fitted.absent,
            None,
        ),
    ];
    for (name, share, bound) in shares {
        figures.record(&format!("gate of ten.{name}"), share.value(), bound);
    }
    figures.record("gate of ten.fitted threshold, nats", gate.threshold, None);
}
