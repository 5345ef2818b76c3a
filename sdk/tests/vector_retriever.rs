//! What the conformance suite does not ask of every retriever.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind, Result, Seed, SkillId, Version,
    agent::{VectorRetriever, Vectors},
    contract::{Embedder, Embedding, EmbeddingSpace, Retriever},
    domain::{Candidate, IndexUpdate, Query, Revision, Skill},
    testing::sample,
};
use rand_chacha::rand_core::Rng;

/// Not a multiple of anything that a loop might be unrolled by.
const DIMENSIONS: usize = 37;
/// The text under which a table has the vector of texts that it was not told of.
const OTHER: &str = "other";

/// An embedder with a table of vectors. It looks a text up by its last line, and gives one vector to all texts that are not in the table.
#[derive(Debug)]
struct Table {
    space: EmbeddingSpace,
    vectors: BTreeMap<String, Embedding>,
    embedded: AtomicUsize,
    /// So many components of each vector go missing.
    short_by: usize,
}

#[async_trait]
impl Embedder for Table {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        self.embedded.fetch_add(texts.len(), Ordering::SeqCst);
        let vector = |text: &&str| {
            let line = text.lines().last().unwrap_or_default();
            let vector = self.vectors.get(line).unwrap_or(&self.vectors[OTHER]);
            Embedding::new(vector.components()[..DIMENSIONS - self.short_by].to_vec())
        };
        texts.iter().map(vector).collect()
    }
}

fn unit(rng: &mut impl Rng) -> Embedding {
    let mut vector: Vec<f32> = (0..DIMENSIONS)
        .map(|_| rng.next_u32() as f32 / u32::MAX as f32 - 0.5)
        .collect();
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
    Embedding::new(vector).expect("finite")
}

fn table(texts: &[String]) -> Table {
    let mut rng = Seed(7).rng();
    Table {
        space: EmbeddingSpace::new("table", DIMENSIONS),
        vectors: (texts.iter())
            .chain([&OTHER.to_owned()])
            .map(|text| (text.clone(), unit(&mut rng)))
            .collect(),
        embedded: AtomicUsize::new(0),
        short_by: 0,
    }
}

/// A skill whose body is one line.
fn skill(n: usize) -> Skill {
    let mut skill = sample::skill(&format!("skill-{n}"));
    skill.body = format!("body {n}");
    skill
}

fn texts(skills: usize) -> Vec<String> {
    (0..skills)
        .map(|n| format!("body {n}"))
        .chain((0..9).map(|n| format!("query {n}")))
        .collect()
}

fn update(since: u64, revision: u64, changed: Vec<Skill>) -> IndexUpdate {
    IndexUpdate::new(Revision(since), Revision(revision)).edited(|it| it.changed = changed)
}

fn search(retriever: &VectorRetriever, text: &str, limit: usize) -> Vec<Candidate> {
    let query = Query::new(text.to_owned(), limit);
    block_on(retriever.search(&query)).unwrap()
}

#[test]
fn the_nearest_are_those_of_comparing_all() {
    let embedder = Arc::new(table(&texts(300)));
    let retriever = VectorRetriever::new(embedder.clone()).above(-1.0);
    let skills: Vec<Skill> = (0..300).map(skill).collect();
    block_on(retriever.refresh(&update(0, 1, skills.clone()))).unwrap();
    for n in 0..9 {
        let text = format!("query {n}");
        let to = embedder.vectors[&text].components();
        let cosine = |text: &str| -> f64 {
            let vector = embedder.vectors[text].components();
            let products = vector.iter().zip(to);
            products.map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
        };
        let mut due: Vec<(f64, &SkillId)> = (skills.iter())
            .map(|skill| (cosine(&skill.body).midpoint(cosine(OTHER)), &skill.id))
            .collect();
        due.sort_by(|a, b| b.0.total_cmp(&a.0));
        let found = search(&retriever, &text, 25);
        assert_eq!(found.len(), 25);
        for (candidate, (cosine, id)) in found.iter().zip(due) {
            assert_eq!(candidate.skill.id, *id, "query {n}");
            assert!((candidate.score - cosine).abs() < 1e-5);
        }
    }
}

/// An embedder to which a text is about a cellar or not.
#[derive(Debug)]
struct Angles(EmbeddingSpace, AtomicUsize);

#[async_trait]
impl Embedder for Angles {
    fn space(&self) -> &EmbeddingSpace {
        &self.0
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        self.1.fetch_add(texts.len(), Ordering::SeqCst);
        let vector = |text: &&str| {
            // Longer texts are cut, as an encoder does.
            let read: String = text.chars().take(1_000).collect();
            let angle = if read.contains("cellar") {
                0.0
            } else {
                1.0_f32
            };
            Embedding::new(vec![angle.cos(), angle.sin()])
        };
        texts.iter().map(vector).collect()
    }
}

#[test]
fn what_stands_late_in_a_long_skill_is_found() {
    let space = EmbeddingSpace::new("angles", 2);
    let embedder = Arc::new(Angles(space, AtomicUsize::new(0)));
    let retriever = VectorRetriever::new(embedder.clone());
    let long = |name: &str, end: &str| {
        let mut skill = sample::skill(name);
        skill.body = format!("{} {end}", "Open the door. ".repeat(200));
        skill
    };
    let mut short = sample::skill("short");
    short.body = "Open the door.".to_owned();
    let (late, other) = (long("late", "Go to the cellar."), long("other", "Go home."));
    let all = vec![late.clone(), other.clone(), short];
    block_on(retriever.refresh(&update(0, 1, all.clone()))).unwrap();
    // Two long ones of a first text and four passages, and a short one of two texts.
    assert_eq!(embedder.1.load(Ordering::SeqCst), 12);
    let found = search(&retriever, "the cellar", 3);
    assert_eq!(found[0].skill, late.reference());
    let expect = 1.0_f64.cos().midpoint(1.0);
    assert!((found[0].score - expect).abs() < 1e-6, "{found:?}");
    assert!((found[1].score - 1.0_f64.cos()).abs() < 1e-6, "{found:?}");

    // They are kept with all their passages, and not embedded again.
    let kept = serde_json::to_string(&retriever.vectors()).unwrap();
    let kept: Vectors = serde_json::from_str(&kept).unwrap();
    let again = VectorRetriever::with_vectors(embedder.clone(), kept).unwrap();
    let before = embedder.1.load(Ordering::SeqCst);
    block_on(again.refresh(&update(1, 2, all))).unwrap();
    assert_eq!(embedder.1.load(Ordering::SeqCst), before);
    assert_eq!(search(&again, "the cellar", 3), found);
}

#[test]
fn only_what_is_near_enough_is_found() {
    let embedder = Arc::new(table(&texts(300)));
    let count = |above: f64| {
        let retriever = VectorRetriever::new(embedder.clone()).above(above);
        block_on(retriever.refresh(&update(0, 1, (0..300).map(skill).collect()))).unwrap();
        let found = search(&retriever, "query 0", 300);
        assert!(found.iter().all(|candidate| candidate.score > above));
        found.len()
    };
    let counts = [-1.0, 0.0, 0.2, 0.9].map(count);
    assert_eq!(counts[0], 300);
    assert_eq!(counts[3], 0);
    assert!(
        counts[0] > counts[1] && counts[1] > counts[2] && counts[2] > 0,
        "{counts:?}"
    );
}

#[test]
fn vectors_that_were_kept_are_not_embedded_again() {
    let embedder = Arc::new(table(&texts(9)));
    let retriever = VectorRetriever::new(embedder.clone());
    block_on(retriever.refresh(&update(0, 1, (0..8).map(skill).collect()))).unwrap();
    let kept = serde_json::to_string(&retriever.vectors()).unwrap();
    let before = search(&retriever, "query 3", 8);
    let vectors: Vectors = serde_json::from_str(&kept).unwrap();
    assert_eq!(vectors, retriever.vectors());
    let again = VectorRetriever::with_vectors(embedder.clone(), vectors).unwrap();
    assert_eq!(search(&again, "query 3", 8), before);
    let embedded = embedder.embedded.load(Ordering::SeqCst);
    let mut revised = skill(2);
    revised.version = Version(2);
    revised.body = "body 8".to_owned();
    block_on(again.refresh(&update(1, 2, vec![revised]))).unwrap();
    // Its name and description, and its body.
    assert_eq!(embedder.embedded.load(Ordering::SeqCst), embedded + 2);
    // Another version of the same text, and everything anew.
    let mut all: Vec<Skill> = (0..8).map(skill).collect();
    all[5].version = Version(2);
    all[2].body = "body 8".to_owned();
    block_on(again.refresh(&update(0, 3, all))).unwrap();
    assert_eq!(embedder.embedded.load(Ordering::SeqCst), embedded + 2);
    assert_eq!(block_on(again.watermark()).unwrap(), Revision(3));
}

#[test]
fn vectors_of_another_embedder_are_refused() {
    let embedder = table(&texts(2));
    let retriever = VectorRetriever::new(Arc::new(embedder));
    block_on(retriever.refresh(&update(0, 1, vec![skill(0), skill(1)]))).unwrap();
    let kept = serde_json::to_string(&retriever.vectors()).unwrap();
    let check = |from: &str, to: &str, kind| {
        let changed = kept.replacen(from, to, 1);
        assert_ne!(changed, kept);
        let vectors = serde_json::from_str(&changed).unwrap();
        let refused = VectorRetriever::with_vectors(Arc::new(table(&texts(2))), vectors);
        assert_eq!(refused.unwrap_err().kind(), kind);
    };
    check("\"table\"", "\"other\"", ErrorKind::Invalid);
    check("\"vector\":[", "\"vector\":[0.5,", ErrorKind::Corrupt);
}

#[test]
fn an_embedder_of_the_wrong_shape_changes_nothing() {
    let mut embedder = table(&texts(1));
    embedder.short_by = 1;
    let retriever = VectorRetriever::new(Arc::new(embedder));
    let refused = block_on(retriever.refresh(&update(0, 1, vec![skill(0)])));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Model);
    assert_eq!(block_on(retriever.watermark()).unwrap(), Revision(0));
}

/// An embedder whose space is replaced while an index stands on it, as when a server changes its model.
#[derive(Debug)]
struct Replaced {
    before: EmbeddingSpace,
    after: EmbeddingSpace,
    is_replaced: AtomicUsize,
}

#[async_trait]
impl Embedder for Replaced {
    fn space(&self) -> &EmbeddingSpace {
        match self.is_replaced.load(Ordering::SeqCst) {
            0 => &self.before,
            _ => &self.after,
        }
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        let mut one = vec![0.0; self.space().dimensions];
        one[0] = 1.0;
        texts.iter().map(|_| Embedding::new(one.clone())).collect()
    }
}

#[test]
fn an_embedder_whose_space_changes_under_an_index_is_refused_until_a_rebuild() {
    let space = |name: &str, dimensions| EmbeddingSpace::new(name.to_owned(), dimensions);
    for after in [space("small", 8), space("large", 4)] {
        let embedder = Arc::new(Replaced {
            before: space("small", 4),
            after,
            is_replaced: AtomicUsize::new(0),
        });
        let retriever = VectorRetriever::new(embedder.clone());
        block_on(retriever.refresh(&update(0, 1, vec![skill(0)]))).unwrap();
        embedder.is_replaced.store(1, Ordering::SeqCst);
        let query = Query::new("any", 1);
        let searched = block_on(retriever.search(&query)).unwrap_err();
        let refreshed = block_on(retriever.refresh(&update(1, 2, vec![skill(1)]))).unwrap_err();
        for error in [searched, refreshed] {
            assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            assert!(error.to_string().contains("rebuild the index"), "{error}");
        }
        assert_eq!(block_on(retriever.watermark()).unwrap(), Revision(1));
        let rebuilt = VectorRetriever::new(embedder);
        block_on(rebuilt.refresh(&update(0, 2, vec![skill(0), skill(1)]))).unwrap();
        assert_eq!(search(&rebuilt, "any", 9).len(), 2);
    }
}
