//! Identity by meaning: the same skill in ten wordings, and skills that nearly are the same.

mod procedure;
mod runs;
mod sampled;
mod wording;

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Result, Seed, agent::HashedEmbedder, contract::Embedder, run::report::Sameness,
    stations::admit::Identity,
};
use journeyman_toolworld::{
    seed::Draws,
    stream::{Universe, UniverseSpec},
};
use serde::{Deserialize, Serialize};

use self::{
    procedure::{DIFFERENCES, Procedure},
    runs::{Lesson, false_merges, learn},
    wording::{DEVELOPMENT, HELD_OUT, Wording},
};
use crate::{
    adapters::retrieval::{MISSING, encoder},
    figures::{Bound, Figures, Outcome},
};

/// Skills of a seed.
const SKILLS: usize = 24;
/// In how many wordings each near miss is written.
const TIMES: usize = 3;
/// At how many tasks a bundle takes whole attempts.
const MOST_CASES: usize = 4;
/// Seeds from here on are for development.
const FIRST_DEVELOPMENT: u64 = 100;

/// What a seed draws.
struct Drawn {
    /// Each skill in ten wordings: the first wordings of all skills, then the second ones.
    paraphrases: Vec<Lesson>,
    /// Each skill in one wording, then its near misses.
    near: Vec<Lesson>,
    /// The difference of each near miss, behind the skills.
    differences: Vec<usize>,
    /// The skill of each near miss.
    origins: Vec<usize>,
}

/// What came of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Came {
    pool: u64,
    bytes: usize,
    meaning: usize,
    confirming: usize,
    merged: usize,
    /// Near misses that are taken for another skill, by their difference.
    near: [usize; DIFFERENCES.len()],
}

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    let drawn = draw(seed)?;
    let by_bytes = came(&drawn, Identity::Bytes, None, seed)?;
    record(figures, "bytes", &drawn, &by_bytes, false);
    let hashed: Arc<dyn Embedder> = Arc::new(HashedEmbedder::default());
    measure(figures, "meaning, hashed", &drawn, hashed)?;
    match encoder()? {
        Some(encoder) => measure(figures, "meaning, encoder", &drawn, encoder)?,
        None => {
            figures.progress(format_args!("missing: {MISSING}"));
            for (name, _, bound) in rows("meaning, encoder", &drawn, &by_bytes) {
                figures.record(&name, f64::NAN, bound);
            }
        }
    }
    sampled::run(figures)
}

fn measure(
    figures: &mut Figures<'_>,
    name: &str,
    drawn: &Drawn,
    embedder: Arc<dyn Embedder>,
) -> Outcome {
    let seed = figures.options().seed;
    let came = came(drawn, Identity::MEANING, Some(Arc::clone(&embedder)), seed)?;
    record(figures, name, drawn, &came, true);
    Ok(cosines(figures, name, drawn, &*embedder)?)
}

fn draw(seed: Seed) -> Result<Drawn> {
    let universe = Universe::make(UniverseSpec::of(SKILLS, 0), seed.derive("identity", 0).0)?;
    let members = universe.members().iter();
    let skills: Vec<Procedure> = members.map(|one| Procedure::of(&one.skill())).collect();
    let wordings = match seed.0 >= FIRST_DEVELOPMENT {
        true => &DEVELOPMENT,
        false => &HELD_OUT,
    };
    let lesson = |procedure: &Procedure, wording: &Wording| Lesson {
        draft: wording.draft(procedure),
        procedure: procedure.clone(),
    };
    let mut draws = Draws::new("identity", &[seed.0]);
    let any = |procedure: &Procedure, draws: &mut Draws| {
        let wording = draws.pick(wordings).unwrap_or(&wordings[0]);
        lesson(procedure, wording)
    };
    let mut near: Vec<Lesson> = skills.iter().map(|one| any(one, &mut draws)).collect();
    let (mut differences, mut origins) = (Vec::new(), Vec::new());
    for (origin, skill) in skills.iter().enumerate() {
        for (difference, procedure) in skill.near_misses(&mut draws) {
            for _ in 0..TIMES {
                near.push(any(&procedure, &mut draws));
                differences.push(difference);
                origins.push(origin);
            }
        }
    }
    let each = |wording| skills.iter().map(move |skill| lesson(skill, wording));
    Ok(Drawn {
        paraphrases: wordings.iter().flat_map(each).collect(),
        near,
        differences,
        origins,
    })
}

fn came(
    drawn: &Drawn,
    identity: Identity,
    embedder: Option<Arc<dyn Embedder>>,
    seed: Seed,
) -> Result<Came> {
    let report = learn(&drawn.paraphrases, identity, embedder.clone(), seed)?;
    let by = |by| report.duplicates().filter(|one| one.by == by).count();
    let of_near = learn(&drawn.near, identity, embedder, seed)?;
    let skills = drawn.near.len() - drawn.differences.len();
    let mut near = [0; DIFFERENCES.len()];
    for (at, difference) in drawn.differences.iter().enumerate() {
        near[*difference] += runs::is_false_merge(&drawn.near, &of_near, skills + at) as usize;
    }
    Ok(Came {
        pool: report.pool,
        bytes: by(Sameness::Bytes),
        meaning: by(Sameness::Meaning),
        confirming: report.duplicates().filter(|one| one.confirms).count(),
        merged: false_merges(&drawn.paraphrases, &report),
        near,
    })
}

/// The figures of a run with their bounds.
fn rows(name: &str, drawn: &Drawn, came: &Came) -> Vec<(String, f64, Bound)> {
    let further = (drawn.paraphrases.len() - SKILLS) as f64;
    let found = (came.bytes + came.meaning) as f64;
    let near = came.near.iter().sum::<usize>() as f64;
    let of_near = drawn.differences.len() as f64;
    let row = |what: &str, value, bound| (format!("{name}: {what}"), value, bound);
    vec![
        row(
            "skills in the library",
            came.pool as f64,
            Bound::AtMost(36.0),
        ),
        row("duplicates found", found / further, Bound::AtLeast(0.85)),
        row(
            "evidence, of the cases that bundles take",
            came.confirming as f64 / (SKILLS * MOST_CASES) as f64,
            Bound::AtLeast(0.85),
        ),
        row("near misses merged", near / of_near, Bound::AtMost(0.01)),
    ]
}

fn record(figures: &mut Figures<'_>, name: &str, drawn: &Drawn, came: &Came, bounded: bool) {
    for (name, value, bound) in rows(name, drawn, came) {
        figures.record(&name, value, if bounded { bound } else { Bound::None });
    }
    let merged = came.merged as f64;
    figures.record(&format!("{name}: other skills merged"), merged, Bound::None);
    for (difference, (count, what)) in came.near.iter().zip(DIFFERENCES).enumerate() {
        let all = drawn.differences.iter().filter(|one| **one == difference);
        let name = format!("{name}: merged, {what}, of {}", all.count());
        figures.record(&name, *count as f64, Bound::None);
    }
}

/// What the embeddings tell without the names: the cosines of the same skill in two wordings, and of a skill and its near misses.
fn cosines(
    figures: &mut Figures<'_>,
    name: &str,
    drawn: &Drawn,
    embedder: &dyn Embedder,
) -> Result<()> {
    let embed = |lessons: &[Lesson]| {
        let texts = lessons
            .iter()
            .map(|one| format!("{}\n{}", one.draft.description, one.draft.body));
        let texts: Vec<String> = texts.collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        block_on(embedder.embed(&texts))
    };
    let (paraphrases, near) = (embed(&drawn.paraphrases)?, embed(&drawn.near)?);
    let mut same = Vec::new();
    for (at, one) in paraphrases.iter().enumerate() {
        let others = paraphrases.iter().take(at).enumerate();
        let of_it = others.filter(|(other, _)| other % SKILLS == at % SKILLS);
        same.extend(of_it.map(|(_, other)| one.cosine(other)));
    }
    let skills = near.len() - drawn.differences.len();
    let (first, misses) = near.split_at(skills);
    let other = drawn.origins.iter().zip(misses);
    let other: Vec<f64> = other
        .filter_map(|(origin, miss)| Some(first.get(*origin)?.cosine(miss)))
        .collect();
    same.sort_by(f64::total_cmp);
    let quantile = |share: f64| {
        let at = (share * same.len() as f64) as usize;
        same.get(at.min(same.len() - 1))
            .copied()
            .unwrap_or(f64::NAN)
    };
    for (what, share) in [("least", 0.0), ("1%", 0.01), ("15%", 0.15), ("median", 0.5)] {
        let name = format!("{name}: cosine of paraphrases, {what}");
        figures.record(&name, quantile(share), Bound::None);
    }
    // The threshold of the cosine alone that finds as many duplicates as the bound asks for.
    let alone = other
        .iter()
        .filter(|cosine| **cosine >= quantile(0.15))
        .count();
    let name = format!("{name}: near misses merged by the cosine alone");
    figures.record(&name, alone as f64 / other.len() as f64, Bound::None);
    Ok(())
}
