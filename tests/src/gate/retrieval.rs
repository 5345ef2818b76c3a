//! What a search finds for a gate: by words, by a sentence encoder, and by both, in libraries of 36 to 10,000 skills.

use std::{collections::BTreeSet, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Seed, SkillId,
    agent::{HybridRetriever, VectorRetriever},
    contract::{Embedder, Embedding, Retriever},
    domain::{Candidate, Query, Skill},
    stations::retrieve::Fusion,
};
use journeyman_tantivy::Bm25Retriever;

use super::{
    data::Set,
    distractors::distractors,
    kept::Kept,
    meaning::{self, card, passages},
};
use crate::{
    figures::{
        Bound, Figures, Outcome,
        stats::{self, mean},
    },
    skills::whole,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Skills in the library.
const SIZES: [usize; 4] = [36, 67, 1_000, 10_000];
/// What a decision is among.
const TEN: usize = 10;
/// What is asked of each of two searches that are joined, as [`HybridRetriever`] does.
const POOL: usize = 100;
const RESAMPLES: usize = 4_000;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let Some(folder) = figures.options().data.clone() else {
        return Err("name a folder by --data, as for `gate`".into());
    };
    let seed = figures.options().seed;
    let set = Set::read(&folder)?;
    let Some(encoder) = meaning::encoder(figures)? else {
        return Err("the encoder is not at hand".into());
    };
    let encoder = Arc::new(Kept::open(
        encoder,
        &figures.options().out.join("retrieval"),
    )?);
    let own = in_order(&set, seed);
    let made = distractors(SIZES[3], &set.skills, seed)?;
    let queries: Vec<String> = set
        .tasks
        .iter()
        .map(|task| task.instruction.clone())
        .collect();
    for size in SIZES {
        let mut skills: Vec<Skill> = own.iter().take(size).cloned().collect();
        let left = size - skills.len();
        skills.extend(made.iter().take(left).cloned());
        figures.record(
            &format!("{size} skills: of them generated"),
            left as f64,
            Bound::None,
        );
        at_size(figures, (&set, &queries), &skills, &encoder)?;
    }
    Ok(())
}

/// The set's skills: first one that is right for each task, then the others, in an order that is drawn.
fn in_order(set: &Set, seed: Seed) -> Vec<Skill> {
    let mut drawn: Vec<(u64, usize)> = (0..set.skills.len())
        .map(|at| (seed.derive("skill", at as u64).0, at))
        .collect();
    drawn.sort_unstable();
    let mut first = BTreeSet::new();
    for task in 0..set.tasks.len() {
        let mut right = drawn.iter().filter(|(_, at)| set.is_right(task, *at));
        first.extend(right.next().map(|(_, at)| *at));
    }
    let others = drawn
        .iter()
        .map(|(_, at)| *at)
        .filter(|at| !first.contains(at));
    let all = first.iter().copied().chain(others);
    all.map(|at| set.skills[at].clone()).collect()
}

/// The skills that one way of searching gives for each task, best first.
type Found = Vec<Vec<Candidate>>;

fn at_size(
    figures: &mut Figures<'_>,
    (set, queries): (&Set, &[String]),
    skills: &[Skill],
    encoder: &Arc<Kept>,
) -> Outcome {
    let size = skills.len();
    figures.progress(format_args!("{size} skills"));
    let cards: Vec<Skill> = skills.iter().cloned().map(without_body).collect();
    let words: Arc<dyn Retriever> = Arc::new(Bm25Retriever::new(Default::default())?);
    let meaning: Arc<dyn Retriever> = Arc::new(VectorRetriever::new(encoder.clone()));
    let hybrid = HybridRetriever::new(words.clone(), meaning.clone(), Fusion::default())?;
    let of_cards = Bm25Retriever::new(Default::default())?;
    block_on(of_cards.refresh(&whole(cards)))?;
    block_on(hybrid.refresh(&whole(skills.to_vec())))?;
    let words = found(&*words, queries)?;
    let [by_cards, by_passages, beginnings] = &near(encoder, skills, queries)?;
    let meaning = found(&*meaning, queries)?;
    let joined = |dense: &Found, fusion: Fusion| -> Found {
        let pairs = words.iter().zip(dense);
        pairs
            .map(|(words, dense)| fusion.join(words, dense))
            .collect()
    };
    let (ranks, weights) = (Fusion::ReciprocalRank { k: 60.0 }, Fusion::default());
    let ways = [
        ("BM25", words.clone()),
        ("BM25 of names and descriptions", found(&of_cards, queries)?),
        ("MiniLM of the beginning", beginnings.clone()),
        ("MiniLM of names and descriptions", by_cards.clone()),
        ("MiniLM of the nearest passage", by_passages.clone()),
        ("MiniLM of both", meaning.clone()),
        (
            "BM25 and the beginning, by ranks",
            joined(beginnings, ranks),
        ),
        (
            "BM25 and names and descriptions, by ranks",
            joined(by_cards, ranks),
        ),
        ("BM25 and both, by ranks", joined(&meaning, ranks)),
        (
            "BM25 and the beginning, by weights",
            joined(beginnings, weights),
        ),
        (
            "BM25 and names and descriptions, by weights",
            joined(by_cards, weights),
        ),
        ("BM25 and both, by weights", joined(&meaning, weights)),
    ];
    for (way, found) in &ways {
        for (what, most) in [("first", 1), ("among ten", TEN)] {
            let share = mean(&right_among(set, found, most));
            let name = format!("{size} skills: {way}: a right one {what}, %");
            figures.record(&name, share, Bound::None);
        }
    }
    let hybrid = found(&hybrid, queries)?;
    let categories: Vec<String> = set.tasks.iter().map(|task| task.category.clone()).collect();
    let seed = figures.options().seed.derive("resamples", size as u64);
    for (what, most) in [("first", 1), ("among ten", TEN)] {
        let [before, after] = [&words, &hybrid].map(|found| right_among(set, found, most));
        let less = stats::clustered(&before, &after, &categories, seed, RESAMPLES)?;
        let name = format!("{size} skills: hybrid less BM25: a right one {what}, points");
        figures.interval(&name, &less, Bound::AtLeast(0.0), Bound::None);
    }
    record_missed(figures, (set, size), (&hybrid, &meaning, &words));
    Ok(())
}

/// Why the hybrid has no right skill among ten: what neither of its searches gives it, it cannot have.
fn record_missed(
    figures: &mut Figures<'_>,
    (set, size): (&Set, usize),
    (hybrid, meaning, words): (&Found, &Found, &Found),
) {
    let has = |found: &Found, most: usize| -> Vec<bool> {
        let right = right_among(set, found, most);
        right.into_iter().map(|one| one > 0.0).collect()
    };
    let among_ten = has(hybrid, TEN);
    let missed = among_ten.iter().filter(|has| !**has).count();
    let name = format!("{size} skills: hybrid: no right one among ten, tasks");
    figures.record(&name, missed as f64, Bound::None);
    for (search, found) in [("MiniLM", meaning), ("BM25", words)] {
        let pairs = among_ten.iter().zip(has(found, POOL));
        let outside = pairs.filter(|(among_ten, in_pool)| !**among_ten && !in_pool);
        let name = format!("{size} skills: of these no right one among {search}'s {POOL}, tasks");
        figures.record(&name, outside.count() as f64, Bound::None);
    }
}

fn without_body(mut skill: Skill) -> Skill {
    skill.body = String::from("-");
    skill
}

/// Of each task 100 or 0: whether a right skill is among the first.
fn right_among(set: &Set, found: &Found, most: usize) -> Vec<f64> {
    let is_right = |task: usize, id: &SkillId| {
        let mut all = (0..set.skills.len()).filter(|&at| set.is_right(task, at));
        all.any(|at| set.skills[at].id == *id)
    };
    let each = found.iter().enumerate().map(|(task, found)| {
        let mut first = found.iter().take(most);
        100.0 * f64::from(u8::from(first.any(|one| is_right(task, &one.skill.id))))
    });
    each.collect()
}

fn found(retriever: &dyn Retriever, queries: &[String]) -> Result<Found, Failure> {
    let mut all = Found::new();
    for text in queries {
        all.push(block_on(retriever.search(&Query::new(text.clone(), POOL)))?);
    }
    Ok(all)
}

/// The skills whose names and descriptions are nearest, whose nearest passages are, and whose beginnings are.
fn near(encoder: &Kept, skills: &[Skill], queries: &[String]) -> Result<[Found; 3], Failure> {
    let embed = |texts: &[String]| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        block_on(encoder.embed(&texts))
    };
    let cards: Vec<String> = skills.iter().map(card).collect();
    let (cards, queries) = (embed(&cards)?, embed(queries)?);
    let beginnings = skills.iter().map(|skill| {
        let trigger = skill.trigger.as_deref().unwrap_or_default();
        [
            skill.name.as_str(),
            &skill.description,
            trigger,
            &skill.body,
        ]
        .join("\n")
    });
    let beginnings = embed(&beginnings.collect::<Vec<_>>())?;
    let mut parts = Vec::new();
    for skill in skills {
        parts.push(embed(&passages(skill))?);
    }
    let nearest = |query: &Embedding, parts: &[Embedding]| {
        let cosines = parts.iter().map(|part| query.cosine(part));
        cosines.fold(-1.0, f64::max)
    };
    let mut made: [Found; 3] = Default::default();
    for query in &queries {
        let texts = cards.iter().zip(&parts).zip(&beginnings);
        let values = texts.map(|((card, parts), beginning)| {
            [
                query.cosine(card),
                nearest(query, parts),
                query.cosine(beginning),
            ]
        });
        let values: Vec<[f64; 3]> = values.collect();
        for (at, made) in made.iter_mut().enumerate() {
            let scores = skills.iter().zip(&values);
            let mut all: Vec<Candidate> = scores
                .map(|(skill, values)| Candidate::new(skill.reference(), values[at]))
                .collect();
            all.sort_by(|one, other| other.score.total_cmp(&one.score));
            all.truncate(POOL);
            made.push(all);
        }
    }
    Ok(made)
}
