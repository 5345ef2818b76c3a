//! The same skill in other words: duplicates, evidence, comebacks.

use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering},
};

use journeyman::{
    contract::{Embedder, Embedding, EmbeddingSpace},
    policy::Policies,
    run::report::{Duplicate, Sameness},
    stations::admit::Identity,
};

use super::*;

thread_local! {
    /// The calls of `worded` in this test, which has a thread of its own.
    static WORDED: Cell<usize> = const { Cell::new(0) };
}

/// A skill in one of two wordings.
fn worded(words: &str) -> String {
    let number = WORDED.replace(WORDED.get() + 1);
    match number % 2 {
        0 => {
            format!("skill {words}: How to say `{words}`.\nsay: {words}\nThat is all that is due.")
        }
        _ => format!(
            "speech {words}: A task that is about \"{words}\".\nThese words suffice.\nsay: {words}"
        ),
    }
}

fn script() -> Script {
    Script {
        extract: worded,
        ..Script::default()
    }
}

fn alone(identity: Identity) -> Recipe {
    let mut recipe = hisme();
    recipe.select.selector = Nothing.into();
    recipe.credit.attribute = Attribute::Never;
    recipe.admit.identity = identity;
    recipe
}

/// An embedder for which all texts are the same, or none is.
#[derive(Debug)]
struct Flat {
    space: EmbeddingSpace,
    apart: bool,
    asked: AtomicUsize,
}

impl Flat {
    fn new(apart: bool) -> Arc<Self> {
        let space = EmbeddingSpace::new("flat", 2);
        let asked = AtomicUsize::new(0);
        Arc::new(Self {
            space,
            apart,
            asked,
        })
    }
}

#[async_trait]
impl Embedder for Flat {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        let embeddings = texts.iter().map(|text| {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let east = self.apart && text.starts_with("How");
            Embedding::new(if east { vec![1.0, 0.0] } else { vec![0.0, 1.0] })
        });
        embeddings.collect()
    }
}

/// The skills' states and what the reports say of duplicates, after tasks of which every third is the same.
fn learned(
    identity: Identity,
    embedder: Option<Arc<dyn Embedder>>,
    n: usize,
) -> (Vec<State>, RunReport) {
    let (mut components, _) = parts(script());
    components.embedder = embedder;
    let options = Options::new("test", Seed(7));
    block_on(async {
        let journeyman = Journeyman::open(components, alone(identity), options).await;
        let journeyman = journeyman.expect("it opens");
        let report = journeyman.learn(tasks(n)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let states = library.entries().map(|entry| entry.skill.state);
        (states.collect(), report)
    })
}

#[test]
fn the_same_skill_in_other_words_is_evidence_by_meaning_and_another_skill_by_bytes() {
    let came = |report: &RunReport, by: Sameness| {
        let duplicates: Vec<&Duplicate> = report.duplicates().collect();
        let confirming = duplicates.iter().filter(|one| one.confirms).count();
        let of_kind = duplicates.iter().filter(|one| one.by == by).count();
        (report.pool, duplicates.len(), of_kind, confirming)
    };
    let (states, report) = learned(Identity::Bytes, None, 6);
    assert_eq!(states, [State::Trial; 6]);
    assert_eq!(came(&report, Sameness::Bytes), (6, 0, 0, 0));

    let (states, report) = learned(Identity::MEANING, None, 6);
    assert_eq!(states, [State::Active; 3]);
    assert_eq!(came(&report, Sameness::Meaning), (3, 3, 3, 3));
    let text = report.to_string();
    assert!(text.contains("skills in use at the end: 3"), "{text}");
    assert!(
        text.contains(
            "drafts of a known skill: 0 in its words, 3 in others; new evidence for it: 3"
        ),
        "{text}"
    );
}

#[test]
fn the_hosts_embedder_decides_where_there_is_one_and_is_asked_about_few_texts() {
    let near = Flat::new(false);
    let (states, _) = learned(Identity::MEANING, Some(near.clone()), 6);
    assert_eq!(states, [State::Active; 3]);
    // The draft and the skill that names the same words, for each of three tasks; embeddings are kept. Maintenance embeds others.
    let far = Flat::new(true);
    let (states, _) = learned(Identity::Meaning { least: 0.5 }, Some(far), 6);
    assert_eq!(states, [State::Trial; 6]);
    let unasked = Flat::new(false);
    let (components, _) = parts(Script::default());
    let mut recipe = alone(Identity::MEANING);
    across(&mut recipe, |parts| parts.refactor = None);
    let options = Options::new("test", Seed(7));
    block_on(async {
        let components = components.with_embedder(unasked.clone());
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.learn(tasks(6)).await.expect("it learns");
    });
    // Equal bytes need no embedding.
    assert_eq!(unasked.asked.load(Ordering::SeqCst), 0);
}

#[test]
fn a_run_that_compares_by_meaning_replays_to_the_same_library() {
    let (components, _) = parts(script());
    let journal = Arc::new(MemoryJournal::default());
    let components = components
        .with_embedder(Flat::new(false))
        .with_journal(journal.clone());
    let options = Options::new("test", Seed(7));
    let (run, library) = block_on(async {
        let recipe = alone(Identity::MEANING);
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let report = journeyman.learn(tasks(6)).await.expect("it learns");
        (report.run, journeyman.library().await.expect("a library"))
    });
    let entries = block_on(journal.read(&run)).expect("a journal");
    let replayed = replay(&entries, &Policies::new()).expect("it replays");
    let json = |library: &SkillLibrary| serde_json::to_string(library).expect("it is JSON");
    assert_eq!(json(replayed.library()), json(&library));
}

#[test]
fn a_skill_that_a_run_disabled_comes_back_in_other_words() {
    let (components, _) = parts(Script {
        attribute: "harmful: it was refused",
        ..script()
    });
    let recipe = |identity| {
        let mut recipe = hisme();
        recipe.admit.identity = identity;
        let mut policy = MicroPolicy::default();
        policy.bundles = Some(BundlePolicy::default());
        policy.filter = Some(FilterPolicy::new(n32(1), 1));
        recipe.maintenance = micro_alone(policy);
        recipe
    };
    let skills = block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe(Identity::MEANING), options).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.learn(tasks(6)).await.expect("it learns");
        journeyman
            .learn(tasks(9).split_off(6))
            .await
            .expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let skills = library.entries().map(|entry| entry.skill.clone());
        skills.collect::<Vec<Skill>>()
    });
    assert_eq!(skills.len(), 3);
    assert!(skills.iter().all(|skill| skill.version.0 > 1), "{skills:?}");
    let mut origins = skills.iter().map(|skill| skill.provenance.origin);
    assert!(origins.all(|origin| origin == Origin::Extracted));
}
