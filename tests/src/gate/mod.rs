//! The gate with a model that nobody trained or calibrated for it, on tasks and skills that others wrote: which score has a right
//! skill first, which refuses where no right one is there, and what a decision costs.

mod bfcl;
mod cost;
mod data;
mod distractors;
mod dropping;
mod intervals;
mod kept;
mod matrix;
mod meaning;
mod retrieval;
mod scoring;
mod session;
mod table;

use journeyman::testing::Edited as _;
use journeyman::{
    agent::ChatFormat,
    contract::{PromptFormat, Scorer},
    domain::ScoreKind,
    stations::select::{GateCalibration, LabeledScores},
};
use journeyman_llama_cpp::PublicModel;

pub(crate) use self::meaning::encoder;
pub use self::retrieval::run as run_retrieval;

use self::{
    data::Set,
    intervals::{Categories, bounded},
    matrix::{Matrix, words},
    scoring::Scoring,
    session::default_gate,
    table::{Best, WRONG, best, firsts, injected, misled, quantile},
};
use crate::{
    figures::{
        Bound, Figures, Outcome,
        stats::{mean, t_interval},
    },
    real_models::told,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Characters of a body that hold more than the tokens that are scored.
const BODY: usize = 2_000;
/// The scores that need a sentence encoder.
const BY_ENCODER: [&str; 7] = [
    "PMI of the nearest passage",
    "PMI of 32 tokens of the nearest passage",
    "MiniLM of names and descriptions",
    "MiniLM of the nearest passage",
    "MiniLM of both",
    "MiniLM and BM25",
    "MiniLM and PMI of 32 tokens",
];
/// The places of a fitted gate's score among those of skills, of the score of the first half of its tokens, and of the score of a model that
/// was trained to score.
const CARD: usize = 5;
const EARLY: usize = 4;
const WHOLE: usize = 2;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let Some(folder) = figures.options().data.clone() else {
        return Err(
            "name a folder by --data: with tasks.jsonl and skills/NAME/SKILL.md, or of the Berkeley Function Calling Leaderboard".into(),
        );
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
    let found = matrix::by_words(&set)?;
    let candidates = matrix::candidates(&found, &set);
    let scoring = Scoring::load(figures, &path, (&set, &candidates))?;
    let skills = scoring.skills(figures)?;
    let gate = default_gate(figures, &set, &scoring)?;
    cost::record(figures, &set, (&path, gate.score()))?;
    let words = firsts(&best(&set, &found, &reported));
    let of = |values: &Matrix, tasks: &[usize]| best(&set, values, tasks);
    let decide =
        |tasks: &[usize]| gate.decided(&set, (&found, &skills[CARD], &skills[WHOLE]), tasks);
    let (decided, by_labels) = (decide(&reported), decide(&tuning));
    let categories = Categories::of(&set, &reported, figures.options().seed);
    let tokens = (&skills[EARLY], &skills[CARD]);
    dropping::record(figures, &categories, (&tuning, &reported), tokens)?;
    let threshold = gate.threshold();
    record_default(figures, &categories, (&decided, &words), threshold)?;
    session::record_misled(figures, &gate, &set, (&found, &skills[CARD]), &reported);
    record_labels(figures, &categories, (&by_labels, &decided))?;

    let scores = scores(
        figures,
        (&set, &tuning),
        (&found, &candidates),
        (&scoring, skills),
    )?;
    for (name, values) in &scores {
        let bests = (of(values, &tuning), of(values, &reported));
        record(figures, &categories, name, (&bests.0, &bests.1))?;
    }
    let bound = match scoring.model.is_trained_to_score() {
        // The bound is on models that nobody trained for the question.
        true => Bound::None,
        false => Bound::Above(0.0),
    };
    record_question(figures, bound, &|name| {
        let found = scores.iter().find(|(known, _)| *known == name);
        found.map(|(_, values)| firsts(&of(values, &reported)))
    });
    Ok(())
}

/// What the question whether a skill fits brings over the best of the scores by log-probabilities, with a model that was not trained for
/// either.
fn record_question(figures: &mut Figures<'_>, bound: Bound, of: &dyn Fn(&str) -> Option<Vec<f64>>) {
    let others = ["sum", "mean", "PMI"].into_iter().filter_map(of);
    let best = others.max_by(|one, other| mean(one).total_cmp(&mean(other)));
    let gained = of("fits").zip(best).map(|(fits, best)| {
        let pairs = fits.iter().zip(&best);
        pairs.map(|(fits, best)| fits - best).collect::<Vec<f64>>()
    });
    figures.interval(
        "zero-shot gate: fits less the best of sum, mean and PMI, points",
        &t_interval(&gained.unwrap_or_default()),
        bound,
        Bound::None,
    );
}

/// All scores, under their names.
fn scores(
    figures: &mut Figures<'_>,
    (set, tuning): (&Set, &[usize]),
    (found, candidates): (&Matrix, &[Vec<usize>]),
    (scoring, skills): (&Scoring<'_>, [Matrix; 7]),
) -> Result<Vec<(&'static str, Matrix)>, Failure> {
    let among = |values: &Matrix| matrix::among(values, candidates);
    let card = skills[CARD].clone();
    let null = table::against_null(set, &card, tuning, false);
    let names = [
        "sum",
        "mean",
        "PMI",
        "PMI a token",
        "PMI of 16 tokens",
        "PMI of 32 tokens",
        "PMI of 64 tokens",
    ];
    let mut scores: Vec<(&str, Matrix)> = names.into_iter().zip(skills).collect();
    scores.push(("PMI of 32 tokens less its null", null));
    scores.extend(by_words(set, found, candidates));
    let cards = |_: usize, skill: usize| meaning::card_with_trigger(&set.skills[skill]);
    let [.., whole, _, _, beginning, _] = scoring.texts(figures, "cards", &cards)?;
    scores.extend([
        ("PMI of the card", whole),
        ("PMI of 32 tokens of the card", beginning),
    ]);
    let head = |_: usize, skill: usize| set.skills[skill].body.chars().take(BODY).collect();
    let [.., whole, _, _, beginning, _] = scoring.texts(figures, "bodies", &head)?;
    scores.extend([
        ("PMI of the head of the body", whole),
        ("PMI of 32 tokens of the body", beginning),
    ]);
    let encoder = meaning::encoder(figures)?;
    if encoder.is_none() {
        for name in BY_ENCODER {
            figures.skip(name, "without ONNX Runtime: ORT_DYLIB_PATH is not set");
        }
    }
    if let Some(encoder) = encoder {
        let near = meaning::nearest_passages(&encoder, set)?;
        let near = |task: usize, skill: usize| near[task][skill].clone();
        let [.., whole, _, _, beginning, _] = scoring.texts(figures, "passages", &near)?;
        scores.extend([
            ("PMI of the nearest passage", whole),
            ("PMI of 32 tokens of the nearest passage", beginning),
        ]);
        let [cards, passages, both] = meaning::near(&encoder, set)?;
        let by_model = fused(set, tuning, [&card, &among(&cards)]);
        let by_words = fused(set, tuning, [&among(found), &among(&cards)]);
        scores.extend([
            ("MiniLM of names and descriptions", among(&cards)),
            ("MiniLM of the nearest passage", among(&passages)),
            ("MiniLM of both", among(&both)),
            ("MiniLM and BM25", by_words),
            ("MiniLM and PMI of 32 tokens", by_model),
        ]);
    }
    let by_words = fused(set, tuning, [&card, &among(found)]);
    scores.push(("BM25 and PMI of 32 tokens", by_words));
    let queries = scoring.queries(figures)?;
    scores.extend([
        ("query likelihood of 32 tokens", likelihood(&queries, 32)),
        ("query likelihood of 64 tokens", likelihood(&queries, 64)),
        ("fits", scoring.fits(figures, false)?),
        ("fits in other words", scoring.fits(figures, true)?),
    ]);
    Ok(scores)
}

/// The sums over the first tokens of each query, of candidates alone.
fn likelihood(queries: &[Vec<Vec<f64>>], tokens: usize) -> Matrix {
    let value = |one: &Vec<f64>| match one.is_empty() {
        true => f64::NEG_INFINITY,
        false => one.iter().take(tokens).sum(),
    };
    let rows = queries.iter().map(|row| row.iter().map(value).collect());
    rows.collect()
}

/// What a search alone gives.
fn by_words(set: &Set, found: &Matrix, candidates: &[Vec<usize>]) -> Vec<(&'static str, Matrix)> {
    let lengths = set.tasks.iter().map(|task| words(&task.instruction));
    let a_word: Matrix = (found.iter().zip(lengths))
        .map(|(row, words)| row.iter().map(|score| score / words).collect())
        .collect();
    let out = matrix::standing_out(found, set);
    [
        ("BM25", found.clone()),
        ("BM25 a word of the task", a_word),
        ("BM25 above its median, by the root of words", out),
    ]
    .map(|(name, values)| (name, matrix::among(&values, candidates)))
    .into()
}

/// Two scores together, each in deviations from what wrong skills have at the other half's tasks.
fn fused(set: &Set, tuning: &[usize], scores: [&Matrix; 2]) -> Matrix {
    let [one, other] = scores.map(|values| table::standardized(set, values, tuning));
    table::sum(&one, &other)
}

/// What a score does, whatever the threshold, and with two that are set without labels: at tasks whose own skills are left out.
fn record(
    figures: &mut Figures<'_>,
    categories: &Categories,
    name: &str,
    (tuning, reported): (&[Best], &[Best]),
) -> Outcome {
    let wrong = |all: &[Best]| all.iter().map(|one| one.wrong).collect();
    let area = format!("{name}: right against wrong, best of each task");
    bounded(
        figures,
        &area,
        &categories.separation(reported)?,
        Bound::None,
    );
    let mut say = |what: &str, cases: &[f64]| -> Outcome {
        let share = categories.share(cases)?;
        bounded(figures, &format!("{name}: {what}"), &share, Bound::None);
        Ok(())
    };
    say("a right skill first, %", &firsts(reported))?;
    let known = quantile(wrong(reported), WRONG);
    let known = injected(reported, known);
    say("right injected where 5% of wrong are, %", &known)?;
    let threshold = without_labels(tuning)?;
    let (right, wrong) = (injected(reported, threshold), misled(reported, threshold));
    say(
        "right injected with a threshold of the other half's wrong ones, %",
        &right,
    )?;
    say("wrong injected with it, %", &wrong)
}

fn labeled(tasks: &[Best], right: bool, is_first: bool) -> Vec<LabeledScores> {
    let finite = tasks
        .iter()
        .map(|one| one.wrong)
        .filter(|value| value.is_finite());
    let least = finite.fold(f64::INFINITY, f64::min);
    let task = |(number, one): (usize, &Best)| {
        LabeledScores::new(
            number.to_string().as_str(),
            right
                .then_some(one.right)
                .filter(|value| value.is_finite())
                .into_iter()
                .collect(),
            // Where a search finds nothing, nothing is injected.
            vec![one.wrong.max(least - 1.0)],
        )
        // Every task has a right one in the library.
        .edited(|it| it.right_is_first = is_first.then(|| one.right.is_finite()))
    };
    tasks.iter().enumerate().map(task).collect()
}

/// The threshold that `journeyman model calibrate` fits where no task names a right skill.
fn without_labels(tuning: &[Best]) -> journeyman::Result<f64> {
    let of = (
        &"any".into(),
        ScoreKind::CardPmi,
        &ChatFormat::default() as &dyn PromptFormat,
    );
    Ok(GateCalibration::without_labels(&labeled(tuning, false, false), of, WRONG)?.threshold)
}

/// The gate that a user has who sets nothing.
fn record_default(
    figures: &mut Figures<'_>,
    categories: &Categories,
    (reported, words): (&[Best], &[f64]),
    threshold: f64,
) -> Outcome {
    // Where the right ones are left out another skill may have a higher value, which is no matter where they are there.
    let first = |one: &Best| 100.0 * f64::from(u8::from(one.right.is_finite()));
    let injected = |threshold: f64| -> Vec<f64> {
        let exceeds = |one: &Best| 100.0 * f64::from(u8::from(one.right > threshold));
        reported.iter().map(exceeds).collect()
    };
    let firsts: Vec<f64> = reported.iter().map(first).collect();
    let less = categories.gain(words, &firsts)?;
    let name = "the default: a right skill first, less BM25's, points";
    bounded(figures, name, &less, Bound::AtLeast(0.0));
    let known = quantile(reported.iter().map(|one| one.wrong).collect(), WRONG);
    for (what, cases, bound) in [
        (
            "right injected where 5% of wrong are, %",
            injected(known),
            Bound::AtLeast(70.0),
        ),
        (
            "right injected with its threshold, %",
            injected(threshold),
            Bound::None,
        ),
        (
            "injected where no right skill exists, %",
            misled(reported, threshold),
            Bound::AtMost(5.0),
        ),
    ] {
        let share = categories.share(&cases)?;
        bounded(figures, &format!("the default: {what}"), &share, bound);
    }
    Ok(())
}

/// A threshold that was fitted with the other half's labels, beside the one without.
fn record_labels(
    figures: &mut Figures<'_>,
    categories: &Categories,
    (tuning, reported): (&[Best], &[Best]),
) -> Outcome {
    let of = (
        &"any".into(),
        ScoreKind::CardPmi,
        &ChatFormat::default() as &dyn PromptFormat,
    );
    let seed = figures.options().seed;
    let fitted = match GateCalibration::fit(&labeled(tuning, true, true), of, WRONG, seed) {
        Ok(fitted) => fitted,
        // Where hardly any right skill is first there is nothing to fit.
        Err(error) => {
            figures.skip("with labels: right injected, %", error.message());
            figures.skip("with labels: wrong injected, %", error.message());
            return Ok(());
        }
    };
    let threshold = fitted.threshold;
    let exceeds = |one: &Best| 100.0 * f64::from(u8::from(one.right > threshold));
    let right: Vec<f64> = reported.iter().map(exceeds).collect();
    for (what, cases) in [
        ("right injected, %", right),
        ("wrong injected, %", misled(reported, threshold)),
    ] {
        let share = categories.share(&cases)?;
        bounded(
            figures,
            &format!("with labels: {what}"),
            &share,
            Bound::None,
        );
    }
    Ok(())
}
