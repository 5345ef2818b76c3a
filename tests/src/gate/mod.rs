//! The gate with a model that nobody trained or calibrated for it, on tasks and skills that others wrote: which score has a right
//! skill first, and which refuses where no right one is there.

mod data;
mod matrix;
mod table;

use journeyman::{
    builtin::ChatDialect,
    contract::{Dialect, SkillScores},
    domain::ScoreKind,
    select::{GateCalibration, LabeledScores},
};
use journeyman_llama_cpp::PublicModel;

use self::{
    data::Set,
    matrix::{Matrix, words},
    table::{Best, WRONG, best, firsts, injected, misled, quantile, separation},
};
use crate::{
    figures::{
        Bound, Figures, Outcome,
        stats::{mean, t_interval},
    },
    real_models::told,
};

/// The threshold of the default gate, in nats.
const DEFAULT: f64 = 5.0;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let Some(folder) = figures.options().data.clone() else {
        return Err("name a folder with tasks.jsonl and skills/NAME/SKILL.md by --data".into());
    };
    let set = Set::read(&folder)?;
    let path = match figures.options().model.clone() {
        Some(path) => path,
        None => {
            let model = PublicModel::named("smollm2").ok_or("smollm2 is not known")?;
            model.fetch(&mut |line| told(line))?
        }
    };
    let [tuning, reported] = set.split(figures.options().seed);
    for (what, count) in [
        ("skills", set.skills.len()),
        ("tasks by which thresholds are set", tuning.len()),
        (
            "tasks that are reported, of other categories",
            reported.len(),
        ),
    ] {
        figures.record(what, count as f64, Bound::None);
    }
    let scores = scores(figures, &set, &path, &tuning)?;
    let words = firsts(&best(&set, &scores[0].1, &reported));
    for (name, values) in &scores {
        let of = |tasks: &[usize]| best(&set, values, tasks);
        record(figures, name, (&of(&tuning), &of(&reported)))?;
    }
    let default = scores.iter().find(|(name, _)| *name == "PMI");
    let (_, values) = default.ok_or("the default score is not measured")?;
    record_default(figures, &best(&set, values, &reported), &words);
    Ok(())
}

/// All scores, under their names.
fn scores(
    figures: &mut Figures<'_>,
    set: &Set,
    path: &std::path::Path,
    tuning: &[usize],
) -> Result<Vec<(&'static str, Matrix)>, Box<dyn std::error::Error + Send + Sync>> {
    let bm25 = matrix::by_words(set)?;
    let lengths = set.tasks.iter().map(|task| words(&task.instruction));
    let a_word: Matrix = (bm25.iter().zip(lengths))
        .map(|(row, words)| row.iter().map(|score| score / words).collect())
        .collect();
    let model = matrix::by_model(figures, set, path)?;
    let of = |kind: ScoreKind| -> Result<Matrix, String> {
        let value = |one: &SkillScores| {
            one.value(kind)
                .ok_or_else(|| format!("{} has no score", one.skill.id))
        };
        let rows = model.iter().map(|row| row.iter().map(value).collect());
        rows.collect()
    };
    let [sum, mean, pmi] = [ScoreKind::Sum, ScoreKind::Mean, ScoreKind::Pmi].map(of);
    let (sum, mean, pmi) = (sum?, mean?, pmi?);
    let tokens = |row: &Vec<SkillScores>| -> Vec<f64> {
        let of = |one: &SkillScores| one.conditional.map_or(1, |t| t.tokens);
        row.iter().map(|one| of(one).max(1) as f64).collect()
    };
    let a_token: Matrix = (pmi.iter().zip(&model))
        .map(|(row, scores)| {
            row.iter()
                .zip(tokens(scores))
                .map(|(pmi, n)| pmi / n)
                .collect()
        })
        .collect();
    let null = |values: &Matrix, sd: bool| table::against_null(set, values, tuning, sd);
    let out = matrix::standing_out(&bm25, set);
    let (out_null, pmi_null) = (null(&out, true), null(&pmi, true));
    let fused = table::sum(&out_null, &pmi_null);
    Ok(vec![
        ("BM25", bm25),
        ("BM25 a word of the task", a_word),
        ("BM25 above its median, by the root of words", out),
        ("sum", sum),
        ("mean", mean),
        ("PMI", pmi.clone()),
        ("PMI a token", a_token),
        ("PMI less its null", null(&pmi, false)),
        ("PMI less its null, in deviations", pmi_null),
        (
            "BM25 above its median less its null, in deviations",
            out_null,
        ),
        ("the two in deviations together", fused),
    ])
}

/// What a score does, whatever the threshold, and with two that are set without labels: at tasks whose own skills are left out.
fn record(
    figures: &mut Figures<'_>,
    name: &str,
    (tuning, reported): (&[Best], &[Best]),
) -> Outcome {
    let wrong = |all: &[Best]| all.iter().map(|one| one.wrong).collect();
    let fitted = without_labels(tuning)?;
    let mut say =
        |what: &str, value: f64| figures.record(&format!("{name}: {what}"), value, Bound::None);
    say("a right skill first, %", mean(&firsts(reported)));
    say(
        "right against wrong, best of each task",
        separation(reported),
    );
    let known = quantile(wrong(reported), WRONG);
    let percentile = quantile(wrong(tuning), WRONG);
    let known = injected(reported, known);
    say("right injected where 5% of wrong are, %", mean(&known));
    for (how, threshold) in [
        ("the 95th percentile of the other half", percentile),
        ("the threshold without labels", fitted),
    ] {
        say(how, threshold);
        let (right, wrong) = (injected(reported, threshold), misled(reported, threshold));
        say(&format!("right injected with {how}, %"), mean(&right));
        say(&format!("wrong injected with {how}, %"), mean(&wrong));
    }
    Ok(())
}

/// The threshold that `journeyman model calibrate` fits where no task names a right skill.
fn without_labels(tuning: &[Best]) -> journeyman::Result<f64> {
    let task = |(number, one): (usize, &Best)| LabeledScores {
        task: number.to_string().as_str().into(),
        right: Vec::new(),
        wrong: vec![one.wrong],
    };
    let tasks: Vec<LabeledScores> = tuning.iter().enumerate().map(task).collect();
    let of = (
        &"any".into(),
        ScoreKind::Pmi,
        &ChatDialect::default() as &dyn Dialect,
    );
    Ok(GateCalibration::without_labels(&tasks, of, WRONG)?.threshold)
}

/// The gate that a user has who sets nothing.
fn record_default(figures: &mut Figures<'_>, reported: &[Best], words: &[f64]) {
    let less: Vec<f64> = (firsts(reported).iter().zip(words))
        .map(|(gate, words)| gate - words)
        .collect();
    figures.record(
        "the default: a right skill first, less BM25's, points",
        mean(&less),
        Bound::AtLeast(0.0),
    );
    let known = quantile(reported.iter().map(|one| one.wrong).collect(), WRONG);
    figures.record(
        "the default: right injected where 5% of wrong are, %",
        mean(&injected(reported, known)),
        Bound::AtLeast(70.0),
    );
    figures.interval(
        "the default: right injected with its threshold, %",
        &t_interval(&injected(reported, DEFAULT)),
        Bound::None,
        Bound::None,
    );
    figures.record(
        "the default: injected where no right skill exists, %",
        mean(&misled(reported, DEFAULT)),
        Bound::AtMost(5.0),
    );
}
