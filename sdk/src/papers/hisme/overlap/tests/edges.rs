//! Edges.

use rand_chacha::{ChaCha8Rng, rand_core::Rng};

use super::*;
use crate::{contract::Embedding, error::ErrorKind, id::Seed};

/// Edges as (id, id, overlap).
type Plain = Vec<(String, String, Overlap)>;

fn edges(graph: &OverlapGraph) -> Plain {
    let plain = |edge: &Edge<'_>| (edge.from.to_string(), edge.to.to_string(), edge.overlap);
    graph.edges().iter().map(plain).collect()
}

/// Eq. 21 for all pairs, word for word.
fn all_pairs(options: &OverlapOptions, segments: &[Segment]) -> Plain {
    let mut segments: Vec<_> = segments.iter().collect();
    segments.sort_by_key(|segment| &segment.id);
    let sets: Vec<_> = segments
        .iter()
        .map(|segment| (segment.ngrams(), segment.error_ngrams()))
        .collect();
    let mut edges = Vec::new();
    for (i, a) in segments.iter().enumerate() {
        for (j, b) in segments.iter().enumerate().skip(i + 1) {
            let ngram = jaccard(&sets[i].0, &sets[j].0);
            let embedding = match (&a.embedding, &b.embedding) {
                (Some(a), Some(b)) => a.cosine(b).clamp(0.0, 1.0),
                _ => 0.0,
            };
            let error = f64::min(options.error_factor * jaccard(&sets[i].1, &sets[j].1), 1.0);
            let weight =
                options.ngram * ngram + options.embedding * embedding + options.error * error;
            if weight >= options.threshold {
                let overlap = Overlap {
                    weight,
                    ngram,
                    embedding,
                    error,
                };
                edges.push((a.id.to_string(), b.id.to_string(), overlap));
            }
        }
    }
    edges
}

struct Draws(ChaCha8Rng);

impl Draws {
    fn new(seed: u64) -> Self {
        Self(Seed(seed).derive("overlap", 0).rng())
    }

    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Words of which the first ones are much more frequent than the last ones.
    fn words(&mut self, of: &str, kinds: usize, most: usize) -> String {
        let count = self.below(most + 1);
        let word = |draws: &mut Self| {
            let most = draws.below(kinds) + 1;
            let letters = draws.below(most);
            format!("{of}{}", char::from(b'a' + letters as u8))
        };
        let words: Vec<String> = (0..count).map(|_| word(self)).collect();
        words.join(" ")
    }

    fn embedding(&mut self) -> Embedding {
        let mut component = || self.below(2_001) as f32 / 1_000.0 - 1.0;
        let mut row: Vec<f32> = (0..5).map(|_| component()).collect();
        row[0] += 1.1;
        let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        row.iter_mut().for_each(|x| *x /= length);
        Embedding::new(row).unwrap()
    }

    fn segment(&mut self, number: usize, embedded: usize) -> Segment {
        let fragment = self.words("word", 26, 9);
        let id = format!("s{number:03}");
        let mut segment = match self.chance(20) {
            true => skill(&id, &["t"], &fragment),
            false => turn(&id, &format!("t{}", number % 7), &fragment),
        };
        for _ in 0..self.below(3) {
            let tool = self.words("tool", 12, 2);
            segment.calls.push(call(&tool, &[]));
        }
        for _ in 0..self.below(3) {
            segment.errors.push(self.words("error", 8, 5));
        }
        if self.chance(30) {
            segment.changes.push(self.words("word", 26, 4));
        }
        if self.chance(embedded) {
            segment.embedding = Some(self.embedding());
        }
        segment
    }

    fn shuffled<T>(&mut self, mut list: Vec<T>) -> Vec<T> {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
        list
    }

    fn options(&mut self) -> OverlapOptions {
        let mut options = OverlapOptions::default();
        match self.below(4) {
            0 => options.neighbour = 0.0,
            1 => options.neighbour = 0.4,
            2 => {
                options.threshold = 0.05 + self.below(60) as f64 / 100.0;
                options.neighbour = 0.0;
                options.error = self.below(11) as f64 / 10.0;
                options.ngram = self.below(11) as f64 / 10.0;
                options.error_factor = self.below(30) as f64 / 10.0;
            }
            _ => {}
        }
        options
    }
}

/// After a random history of insertions, replacements and removals, the edges are those of all pairs.
#[test]
fn edges_equal_all_pairs() {
    let mut met = 0;
    for seed in 0..48 {
        let mut draws = Draws::new(seed);
        let options = draws.options();
        let embedded = [0, 50, 100][seed as usize % 3];
        let count = 10 + draws.below(140);
        let numbers = draws.shuffled((0..count).collect());
        let mut graph = OverlapGraph::new(options).unwrap();
        for number in &numbers {
            graph.insert(draws.segment(*number, embedded)).unwrap();
            if draws.chance(25) {
                let other = draws.below(count);
                if draws.chance(50) {
                    graph.insert(draws.segment(other, embedded)).unwrap();
                } else {
                    // A skill's id is another; then there is nothing to take out.
                    graph.remove(&SegmentId::new(format!("s{other:03}")));
                }
            }
        }
        let segments: Vec<Segment> = graph.segments().cloned().collect();
        let expect = all_pairs(&options, &segments);
        met += expect.len();
        assert_eq!(edges(&graph), expect, "seed {seed}");

        let mut again = OverlapGraph::new(options).unwrap();
        for segment in draws.shuffled(segments) {
            again.insert(segment).unwrap();
        }
        assert_eq!(edges(&again), expect, "seed {seed}, another order");
        let json = serde_json::to_string(&graph).unwrap();
        let read: OverlapGraph = serde_json::from_str(&json).unwrap();
        assert_eq!(edges(&read), expect, "seed {seed}, read again");
        assert!(read == graph);
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
    }
    assert!(met > 1_000, "only {met} edges");
}

/// The parts of an overlap, and its weight.
fn check(a: &Segment, b: &Segment, expect: Option<(f64, f64, f64, f64)>) {
    for pair in [[a, b], [b, a]] {
        let graph = graph(pair.into_iter().cloned());
        let found = graph.edges().first().map(|edge| edge.overlap);
        let close = |x: f64, y: f64| (x - y).abs() < 1e-6;
        let same = match (found, expect) {
            (Some(found), Some((weight, ngram, embedding, error))) => {
                close(found.weight, weight)
                    && close(found.ngram, ngram)
                    && close(found.embedding, embedding)
                    && close(found.error, error)
            }
            (None, None) => true,
            _ => false,
        };
        assert!(same, "{found:?} instead of {expect:?}");
    }
}

#[test]
fn eq_21() {
    let with_error = |id: &str, fragment: &str, error: &str| {
        let mut segment = turn(id, "t", fragment);
        segment.errors.push(error.to_owned());
        segment
    };
    let embedded = |id: &str, row: [f32; 2]| {
        let mut segment = turn(id, "t", "");
        segment.embedding = Some(Embedding::new(row.to_vec()).unwrap());
        segment
    };
    // 3 of 7 n-grams: brew, coffee, brew coffee; of 5 and 5.
    let (a, b) = (
        turn("a", "t", "brew coffee now"),
        turn("b", "t", "brew coffee later"),
    );
    check(&a, &b, Some((0.45 * 3.0 / 7.0, 3.0 / 7.0, 0.0, 0.0)));
    // 1 of 5 is 0.09.
    check(&a, &turn("b", "t", "coffee"), None);
    // Numbers and values weigh nothing.
    let mut valued = turn("b", "t", "brew 12 the coffee for you 40 now");
    valued
        .calls
        .push(call("brew", &[("to", "somewhere", ValueSource::Agent)]));
    check(&a, &valued, Some((0.45, 1.0, 0.0, 0.0)));
    // Errors: 3 of 5 times 1.7 is more than 1.
    let (a, b) = (
        with_error("a", "x", "tone off"),
        with_error("b", "y", "tone off now"),
    );
    check(&a, &b, Some((0.2, 0.0, 0.0, 1.0)));
    // 1 of 3 times 1.7 is too little alone.
    check(&a, &with_error("b", "y", "tone"), None);
    check(
        &with_error("a", "x y", "tone off"),
        &with_error("b", "x z", "tone"),
        Some((0.45 * 0.2 + 0.2 * 1.7 / 3.0, 0.2, 0.0, 1.7 / 3.0)),
    );
    // Embeddings: 0.6 * 0.35; a negative cosine is none.
    check(
        &embedded("a", [1.0, 0.0]),
        &embedded("b", [0.6, 0.8]),
        Some((0.21, 0.0, 0.6, 0.0)),
    );
    check(
        &embedded("a", [1.0, 0.0]),
        &embedded("b", [-1.0, 0.0]),
        None,
    );
    check(&embedded("a", [1.0, 0.0]), &turn("b", "t", ""), None);
}

#[test]
fn the_oldest_trace_goes() {
    let options = OverlapOptions {
        traces: 2,
        ..OverlapOptions::default()
    };
    let mut graph = OverlapGraph::new(options).unwrap();
    let mut insert = |segment: Segment| {
        let gone = graph.insert(segment).unwrap();
        gone.map(|segment| segment.id.to_string())
    };
    assert_eq!(insert(skill("s", &["t"], "brew coffee")), None);
    assert_eq!(insert(turn("c", "t", "brew coffee")), None);
    assert_eq!(insert(turn("b", "t", "brew coffee")), None);
    // One that is replaced keeps its age, and needs no room.
    assert_eq!(insert(turn("c", "t", "brew tea")), None);
    assert_eq!(insert(turn("a", "t", "brew coffee")).as_deref(), Some("c"));
    let ids = |graph: &OverlapGraph| -> Vec<String> {
        graph
            .segments()
            .map(|segment| segment.id.to_string())
            .collect()
    };
    assert_eq!(ids(&graph), ["a", "b", "skill:s"]);
    // Also after it was saved.
    let json = serde_json::to_string(&graph).unwrap();
    let mut read: OverlapGraph = serde_json::from_str(&json).unwrap();
    assert!(read == graph);
    read.insert(turn("d", "t", "brew coffee")).unwrap();
    assert_eq!(ids(&read), ["a", "d", "skill:s"]);
    assert_eq!(edges(&read).len(), 3);
    assert!(read != graph);
}

#[test]
fn a_skill_is_replaced_and_removed() {
    let mut graph = graph([
        turn("a", "t", "brew coffee"),
        skill("s", &[], "brew coffee"),
    ]);
    let id = Segment::id_of_skill(&"s".into());
    assert_eq!(graph.neighbours(&id).len(), 1);
    graph.insert(skill("s", &[], "open jars")).unwrap();
    assert_eq!(graph.neighbours(&id), []);
    assert_eq!(graph.get(&id).unwrap().fragment, "open jars");
    assert_eq!(graph.remove(&id).unwrap().fragment, "open jars");
    assert_eq!(graph.remove(&id), None);
    assert_eq!((graph.segments().count(), graph.edges()), (1, Vec::new()));
}

#[test]
fn neighbours_come_heaviest_first() {
    let graph = graph([
        turn("a", "t", "brew coffee now"),
        turn("d", "t", "brew coffee now"),
        turn("b", "t", "brew coffee now"),
        turn("c", "t", "brew coffee later"),
    ]);
    let ids: Vec<String> = (graph.neighbours(&"a".into()).iter())
        .map(|(id, _)| id.to_string())
        .collect();
    assert_eq!(ids, ["b", "d", "c"]);
}

#[test]
fn embeddings_that_cannot_be_compared_are_refused() {
    let embedded = |row: &[f32]| {
        let mut segment = turn("b", "t", "brew");
        segment.embedding = Some(Embedding::new(row.to_vec()).unwrap());
        segment
    };
    let mut graph = graph([turn("a", "t", "brew")]);
    graph.insert(embedded(&[1.0, 0.0])).unwrap();
    let before = graph.clone();
    let other = |row: &[f32]| Segment {
        id: "c".into(),
        ..embedded(row)
    };
    for row in [&[][..], &[0.5, 0.5], &[1.0], &[0.0, 0.0, 1.0]] {
        let error = graph.insert(other(row)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.fact("segment"), Some("c"));
        assert!(graph == before);
    }
    // Another space can follow when nothing of the first is left.
    graph.remove(&"b".into());
    graph.insert(other(&[0.0, 0.0, 1.0])).unwrap();
}

#[test]
fn options_are_checked() {
    let refused = |change: fn(&mut OverlapOptions)| {
        let mut options = OverlapOptions::default();
        change(&mut options);
        OverlapGraph::new(options).unwrap_err().message().to_owned()
    };
    assert_eq!(
        refused(|o| o.ngram = -0.1),
        "ngram must be in [0, 1], and is -0.1"
    );
    assert!(refused(|o| o.embedding = f64::NAN).starts_with("embedding "));
    assert!(refused(|o| o.error = 1.1).starts_with("error "));
    assert!(refused(|o| o.error_factor = f64::INFINITY).starts_with("error_factor "));
    assert!(refused(|o| o.threshold = 0.0).starts_with("threshold "));
    assert!(refused(|o| o.neighbour = 0.6).starts_with("neighbour must be so small "));
    assert!(refused(|o| o.traces = 0).starts_with("traces "));
    let saved = r#"{"options": {"ngram": 2.0, "embedding": 0.35, "error": 0.2, "error_factor": 1.7,
        "threshold": 0.18, "neighbour": 0.1, "traces": 9}, "segments": []}"#;
    let error = serde_json::from_str::<OverlapGraph>(saved).unwrap_err();
    assert!(
        error.to_string().contains("ngram must be in [0, 1]"),
        "{error}"
    );
}

/// Segments that share only the wording of their requests are compared only where they share a tool.
#[test]
fn few_segments_meet() {
    use crate::papers::hisme::overlap::tests::{
        features::Features,
        index::{Index, Met},
    };

    let name = |at: usize| -> String {
        let letters = [at / 26, at % 26].map(|digit| char::from(b'a' + digit as u8));
        letters.iter().collect()
    };
    let segment = |at: usize| {
        let tool = name(at / 4);
        let mut segment = turn(
            &format!("s{at}"),
            "t",
            &format!("somebody must brew{tool} the pot{tool} now"),
        );
        segment
            .calls
            .push(call(&format!("unseal{tool}_pot{tool}"), &[]));
        segment
            .calls
            .push(call(&format!("brew{tool}_pot{tool}"), &[]));
        segment
            .errors
            .push(format!("unseal{tool} the pot{tool} first"));
        segment
    };
    let options = OverlapOptions::default();
    let all: Vec<Features> = (0..400).map(|at| Features::of(&segment(at))).collect();
    let mut index = Index::for_segments(all.iter());
    let mut met = 0;
    let mut seen = Met::default();
    for (slot, features) in (0..).zip(&all) {
        let prefix = index.prefix(features, &options, options.threshold);
        let found = index.candidates(features, &prefix, &options, options.threshold, &mut seen);
        met += found.len();
        index.add(slot, features, &prefix);
    }
    // Each of the 100 tools has 6 pairs.
    assert_eq!(met, 600);
    assert_eq!(graph((0..400).map(segment)).edges().len(), 600);
}
