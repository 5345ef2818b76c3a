//! Retrieval against raw tantivy on the same documents, side by side: `cargo bench -p journeyman-tantivy`. Options:
//! `--seed N`, `--sizes 10000,100000`. A line for each figure: name, value, bound, ok or short.
//!
//! Each query is asked of both in turns, and each one's time for it is the median of its turns; figures are medians over
//! the queries. Both name their ten best; each has one thread. Memory is what was allocated: files on disk are mapped
//! and not counted.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
// An allocator that counts is the only way to say how much memory the index takes.
#![allow(unsafe_code)]

#[path = "../../../tests/src/figures/median.rs"]
mod median;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    collections::HashSet,
    hint::black_box,
    sync::atomic::{AtomicIsize, Ordering},
    time::Instant,
};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    SkillId, Version,
    contract::Retriever,
    domain::{Candidate, CommitKey, IndexUpdate, Query, Revision, Skill},
    testing::sample,
};
use journeyman_tantivy::{Bm25Retriever, Config};
use median::median;
use tantivy::{
    Index, Searcher, TantivyDocument, Term,
    collector::TopDocs,
    query::{BooleanQuery, BoostQuery, Occur, Query as RawQuery, TermQuery},
    schema::{FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions},
};

const WORDS: usize = 30_000;
const QUERIES: usize = 200;
const TURNS: usize = 7;
const LIMIT: usize = 10;

struct Counting;

static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: the system's allocator does the work; this only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Numbers that repeat (splitmix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }
}

/// Words whose frequency falls with their rank, as in any language (Zipf).
struct Vocabulary {
    cumulated: Vec<f64>,
}

impl Vocabulary {
    fn new() -> Self {
        let mut sum = 0.0;
        let cumulated = (1..=WORDS)
            .map(|rank| {
                sum += 1.0 / (rank as f64 + 2.7);
                sum
            })
            .collect();
        Self { cumulated }
    }

    fn text(&self, draw: &mut Draw, words: usize) -> String {
        let all = self.cumulated[WORDS - 1];
        let word = |draw: &mut Draw| {
            let at = (draw.next() >> 11) as f64 / (1_u64 << 53) as f64 * all;
            let rank = self.cumulated.partition_point(|sum| *sum < at);
            // Letters alone: a word with digits has parts, which raw tantivy does not know.
            let digit = |at: usize| char::from(b'a' + (rank >> (4 * at) & 15) as u8);
            (0..4).map(digit).collect::<String>()
        };
        let words: Vec<_> = (0..words).map(|_| word(draw)).collect();
        words.join(" ")
    }
}

fn skill(vocabulary: &Vocabulary, draw: &mut Draw, number: usize) -> Skill {
    let name = vocabulary.text(draw, 3).replace(' ', "-");
    let words = draw.between(50, 400);
    let mut skill = sample::skill(&name)
        .with_id(SkillId::new(format!("s-{number:08}")))
        .with_description(vocabulary.text(draw, 10 + words / 20));
    skill.trigger = number.is_multiple_of(2).then(|| vocabulary.text(draw, 8));
    skill.with_body(vocabulary.text(draw, words))
}

/// tantivy as its documentation shows it: its own tokenizer, BM25 and collector.
struct Raw {
    texts: [Field; 4],
    searcher: Searcher,
}

impl Raw {
    fn new(skills: &[Skill]) -> Self {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("default")
            .set_index_option(IndexRecordOption::WithFreqs);
        let text = TextOptions::default().set_indexing_options(indexing);
        let id = schema.add_text_field("id", STRING | FAST);
        let texts = ["name", "description", "trigger", "body"]
            .map(|name| schema.add_text_field(name, text.clone()));
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 64_000_000).unwrap();
        for skill in skills {
            let mut document = TantivyDocument::new();
            document.add_text(id, skill.id.as_str());
            let trigger = skill.trigger.as_deref().unwrap_or_default();
            let values = [
                skill.name.as_str(),
                &skill.description,
                trigger,
                &skill.body,
            ];
            for (field, value) in texts.into_iter().zip(values) {
                document.add_text(field, value);
            }
            writer.add_document(document).unwrap();
        }
        writer.commit().unwrap();
        writer.wait_merging_threads().unwrap();
        let searcher = index.reader().unwrap().searcher();
        Self { texts, searcher }
    }

    fn search(&self, text: &str) -> Vec<(f32, String)> {
        let mut seen = HashSet::new();
        let mut clauses: Vec<(Occur, Box<dyn RawQuery>)> = Vec::new();
        for word in text.split(' ').filter(|word| seen.insert(*word)) {
            for (field, boost) in self.texts.into_iter().zip([2.0, 1.5, 2.0, 1.0]) {
                let term = Term::from_field_text(field, word);
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                clauses.push((
                    Occur::Should,
                    Box::new(BoostQuery::new(Box::new(query), boost)),
                ));
            }
        }
        let best = TopDocs::with_limit(LIMIT).order_by_score();
        let found = (self.searcher.search(&BooleanQuery::new(clauses), &best)).unwrap();
        let name = |at: tantivy::DocAddress| {
            let segment = self.searcher.segment_reader(at.segment_ord);
            let column = segment.fast_fields().str("id").unwrap().unwrap();
            let ord = column.term_ords(at.doc_id).next().unwrap();
            let mut name = String::new();
            column.ord_to_str(ord, &mut name).unwrap();
            name
        };
        found
            .into_iter()
            .map(|(score, at)| (score, name(at)))
            .collect()
    }
}

fn update(since: u64, revision: u64, changed: Vec<Skill>) -> IndexUpdate {
    IndexUpdate::new(Revision(since), Revision(revision)).edited(|it| {
        it.library = Some(CommitKey::new("bench"));
        it.changed = changed;
    })
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let done = black_box(work());
    (started.elapsed().as_secs_f64(), done)
}

fn figure(name: &str, value: f64, bound: Option<f64>) {
    let short = bound.is_some_and(|bound| value > bound);
    let bound = bound.map_or("none".to_owned(), |bound| format!("<= {bound}"));
    let result = if short { "short" } else { "ok" };
    println!("{name}, {value:.4}, {bound}, {result}");
}

fn queries(vocabulary: &Vocabulary, draw: &mut Draw, least: usize, most: usize) -> Vec<Query> {
    let query = |_| {
        let words = draw.between(least, most);
        Query::new(vocabulary.text(draw, words), LIMIT)
    };
    (0..QUERIES).map(query).collect()
}

fn compare(name: &str, skills: &[Skill], ours: &Bm25Retriever, raw: &Raw, queries: &[Query]) {
    let (mut our_times, mut raw_times, mut among_times) = (Vec::new(), Vec::new(), Vec::new());
    let all: Vec<SkillId> = skills.iter().map(|skill| skill.id.clone()).collect();
    let (mut common, mut asked) = (0, 0);
    for query in queries {
        let among = query.clone().with_among(all.clone());
        let (mut our, mut their, mut filtered) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..TURNS {
            let (time, found) = timed(|| block_on(ours.search(query)).unwrap());
            our.push(time);
            let (time, theirs) = timed(|| raw.search(&query.text));
            their.push(time);
            let (time, same) = timed(|| block_on(ours.search(&among)).unwrap());
            filtered.push(time);
            assert_eq!(found, same);
            let names: HashSet<_> = theirs.iter().map(|(_, name)| name.as_str()).collect();
            let is_common = |one: &&Candidate| names.contains(one.skill.id.as_str());
            common += found.iter().filter(is_common).count();
            asked += theirs.len();
        }
        our_times.push(median(our));
        raw_times.push(median(their));
        among_times.push(median(filtered));
    }
    // Not all: tantivy takes the mean length from before it rounds lengths, we from after.
    let share = common as f64 / asked as f64;
    assert!(share > 0.8, "only {share} of what both found is the same");
    let (our, their) = (median(our_times), median(raw_times));
    figure(&format!("{name}_ms"), our * 1e3, None);
    figure(&format!("{name}_raw_ms"), their * 1e3, None);
    figure(&format!("{name}_ratio"), our / their, Some(1.2));
    let among = median(among_times);
    figure(&format!("{name}_among_all_ms"), among * 1e3, None);
}

fn size(size: usize, seed: u64) {
    let vocabulary = Vocabulary::new();
    let mut draw = Draw(seed);
    let skills: Vec<_> = (0..size)
        .map(|number| skill(&vocabulary, &mut draw, number))
        .collect();
    // Texts of tasks, and what somebody types.
    let queries = queries(&vocabulary, &mut draw, 3, 30);
    let short = self::queries(&vocabulary, &mut draw, 1, 4);
    let all = update(0, 1, skills.clone());
    let before = LIVE.load(Ordering::Relaxed);
    let ours = Bm25Retriever::new(Config::default()).unwrap();
    block_on(ours.refresh(&all)).unwrap();
    queries
        .iter()
        .for_each(|query| drop(block_on(ours.search(query)).unwrap()));
    let bytes = LIVE.load(Ordering::Relaxed) - before;
    figure(&format!("memory_{size}_mb"), bytes as f64 / 1e6, None);
    let raw = Raw::new(&skills);
    compare(&format!("retrieval_{size}"), &skills, &ours, &raw, &queries);
    compare(
        &format!("retrieval_{size}_few_words"),
        &skills,
        &ours,
        &raw,
        &short,
    );
    drop(raw);
    let time = refreshes(size, &vocabulary, &mut draw, &ours);
    figure(&format!("refresh_one_of_{size}_ms"), time * 1e3, None);
    drop(ours);
    on_disk(size, &vocabulary, &mut draw, &all, &queries);
}

fn on_disk(
    size: usize,
    vocabulary: &Vocabulary,
    draw: &mut Draw,
    all: &IndexUpdate,
    queries: &[Query],
) {
    let folder = tempfile::tempdir().unwrap();
    let open = || Bm25Retriever::open(folder.path(), Config::default()).unwrap();
    let (time, ()) = timed(|| block_on(open().refresh(all)).unwrap());
    figure(&format!("rebuild_{size}_s"), time, None);
    let before = LIVE.load(Ordering::Relaxed);
    let (time, ours) = timed(open);
    figure(&format!("open_{size}_ms"), time * 1e3, None);
    queries
        .iter()
        .for_each(|query| drop(block_on(ours.search(query)).unwrap()));
    let bytes = LIVE.load(Ordering::Relaxed) - before;
    figure(
        &format!("memory_{size}_on_disk_mb"),
        bytes as f64 / 1e6,
        None,
    );
    let time = refreshes(size, vocabulary, draw, &ours);
    figure(
        &format!("refresh_one_of_{size}_on_disk_ms"),
        time * 1e3,
        None,
    );
}

/// The median time that it takes to take in one skill that changed.
fn refreshes(size: usize, vocabulary: &Vocabulary, draw: &mut Draw, ours: &Bm25Retriever) -> f64 {
    let refresh = |revision| {
        let number = draw.between(0, size - 1);
        let mut one = skill(vocabulary, draw, number);
        one.version = Version(revision);
        let one = update(revision - 1, revision, vec![one]);
        timed(|| block_on(ours.refresh(&one)).unwrap()).0
    };
    median((2..=41).map(refresh).collect::<Vec<f64>>())
}

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let seed = option("--seed").map_or(1, |seed| seed.parse().unwrap());
    let sizes = option("--sizes").unwrap_or("10000,100000".to_owned());
    for one in sizes.split(',') {
        size(one.parse().unwrap(), seed);
    }
}
