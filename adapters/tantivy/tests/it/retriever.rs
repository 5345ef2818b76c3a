//! What the conformance suite does not ask of every retriever.

use std::collections::BTreeMap;

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind, Seed, SkillId,
    contract::Retriever,
    domain::{Candidate, IndexUpdate, Query, Revision, Skill},
    testing::sample,
};
use journeyman_tantivy::{Bm25Retriever, Config};

fn skill(id: &str, version: u64, name: &str, description: &str, body: &str) -> Skill {
    sample::skill(name)
        .with_id(id)
        .with_version(version)
        .with_description(description)
        .with_body(body)
}

fn update(revision: u64, changed: Vec<Skill>) -> IndexUpdate {
    IndexUpdate::new(Revision(revision - 1), Revision(revision)).edited(|it| it.changed = changed)
}

fn refresh(retriever: &Bm25Retriever, update: &IndexUpdate) {
    block_on(retriever.refresh(update)).unwrap();
}

fn retriever(updates: &[IndexUpdate]) -> Bm25Retriever {
    let retriever = Bm25Retriever::new(Config::default()).unwrap();
    updates
        .iter()
        .for_each(|update| refresh(&retriever, update));
    retriever
}

fn search(
    retriever: &Bm25Retriever,
    text: &str,
    limit: usize,
    among: Option<&[&str]>,
) -> Vec<Candidate> {
    let among = among.map(|ids| ids.iter().map(|id| SkillId::new(*id)).collect::<Vec<_>>());
    let query = Query::new(text, limit).with_among(among);
    block_on(retriever.search(&query)).unwrap()
}

fn found(candidates: &[Candidate]) -> Vec<String> {
    candidates
        .iter()
        .map(|candidate| format!("{}@{}", candidate.skill.id, candidate.skill.version))
        .collect()
}

fn check(
    updates: &[IndexUpdate],
    text: &str,
    limit: usize,
    among: Option<&[&str]>,
    expect: &[&str],
) {
    assert_eq!(
        found(&search(&retriever(updates), text, limit, among)),
        expect,
        "{text:?}"
    );
}

#[test]
fn the_name_counts_more_than_the_body() {
    let updates = [update(
        1,
        vec![
            skill("a", 1, "open-jar", "opens something", "twist"),
            skill("b", 1, "brew", "brews something", "open the jar"),
            skill("c", 1, "sleep", "rests", "lie down"),
        ],
    )];
    check(&updates, "open the jar", 10, None, &["a@1", "b@1"]);
    check(&updates, "lie", 10, None, &["c@1"]);
    check(&updates, "absent", 10, None, &[]);
}

#[test]
fn a_field_of_weight_zero_is_not_searched() {
    let mut config = Config::default();
    config.boosts.body = 0.0;
    let retriever = Bm25Retriever::new(config).unwrap();
    refresh(
        &retriever,
        &update(1, vec![skill("a", 1, "one", "first", "hidden")]),
    );
    assert!(search(&retriever, "hidden", 10, None).is_empty());
    assert_eq!(found(&search(&retriever, "first", 10, None)), ["a@1"]);
}

#[test]
fn ties_are_by_id_across_refreshes_and_at_the_cut() {
    let retriever = Bm25Retriever::new(Config::default()).unwrap();
    for (revision, id) in ["d", "b", "e", "a", "c"].iter().enumerate() {
        let skill = skill(id, 1, "same", "same", "same words");
        refresh(&retriever, &update(revision as u64 + 1, vec![skill]));
    }
    assert_eq!(
        found(&search(&retriever, "same", 3, None)),
        ["a@1", "b@1", "c@1"]
    );
    assert_eq!(
        found(&search(&retriever, "same", 2, Some(&["e", "d", "c"]))),
        ["c@1", "d@1"]
    );
}

#[test]
fn a_revised_skill_is_there_once_and_a_gone_one_not_at_all() {
    let mut updates = vec![
        update(1, vec![skill("a", 1, "old", "old words", "old")]),
        update(2, vec![skill("a", 2, "new", "new words", "new")]),
        update(3, vec![skill("b", 1, "other", "other words", "other")]),
        update(4, vec![skill("b", 2, "third", "third words", "third")]),
    ];
    check(&updates, "old other", 10, None, &[]);
    check(&updates, "words", 10, None, &["a@2", "b@2"]);
    check(&updates, "words", 10, Some(&[]), &[]);
    updates.push(update(5, Vec::new()).edited(|it| it.gone = vec!["a".into(), "unknown".into()]));
    check(&updates, "words", 10, None, &["b@2"]);
    updates.push(update(6, vec![skill("a", 3, "back", "back words", "back")]));
    check(&updates, "words", 10, None, &["a@3", "b@2"]);
}

#[test]
fn no_text_is_an_error() {
    let retriever = retriever(&[update(
        1,
        vec![skill("a", 1, "tea", "茶を淹れる", "AND boil")],
    )]);
    for text in [
        "",
        " ",
        "\0\u{1b}[0m",
        "name:\"",
        "((*^~9 OR",
        "[a TO",
        "\u{202e}",
        "-tea",
    ] {
        let expect: &[&str] = if text.contains("tea") { &["a@1"] } else { &[] };
        assert_eq!(
            found(&search(&retriever, text, 5, None)),
            expect,
            "{text:?}"
        );
    }
    assert_eq!(found(&search(&retriever, "and", 5, None)), ["a@1"]);
    assert_eq!(found(&search(&retriever, "紅茶", 5, None)), ["a@1"]);
    let long = "tea boil ".repeat(1 << 20);
    assert_eq!(found(&search(&retriever, &long, 5, None)), ["a@1"]);
    assert_eq!(
        search(&retriever, &long, 5, None),
        search(&retriever, "tea boil", 5, None)
    );
}

#[test]
fn ids_are_any_text_up_to_a_bound() {
    let odd = "id with \"spaces\", \0 and ünïcode";
    let updates = [
        update(1, vec![skill(odd, 1, "one", "first", "x")]),
        update(2, vec![skill(odd, 2, "two", "second", "x")]),
    ];
    check(
        &updates,
        "x",
        5,
        Some(&[odd, "absent"]),
        &[&format!("{odd}@2")],
    );
    let retriever = retriever(&updates);
    let long = update(3, vec![skill(&"i".repeat(5000), 1, "three", "third", "x")]);
    let error = block_on(retriever.refresh(&long)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(
        error.to_string(),
        "Invalid at Retriever::refresh { bytes: 5000, most: 4096 }: a skill's id is too long for the index"
    );
    // Nothing of the refused update is left behind.
    let next = update(3, vec![skill("z", 1, "three", "third", "y")]);
    refresh(&retriever, &next);
    assert_eq!(search(&retriever, "first second third", 9, None).len(), 2);
}

/// F9: an index that grew over many refreshes, with old versions and merges in it, and one that is rebuilt at once
/// answer alike, bit for bit.
#[test]
fn a_rebuilt_index_gives_the_same_bits() {
    const WORDS: [&str; 12] = [
        "open", "jar", "seal", "brew", "fetch", "token", "login", "order", "the", "a", "list",
        "menu",
    ];
    let text = |seed: Seed, words: u64| -> String {
        (0..words)
            .map(|i| {
                // Products make some words common and some rare.
                let at = seed.derive("word", i).unit() * seed.derive("again", i).unit();
                WORDS[(at * 12.0) as usize]
            })
            .collect::<Vec<_>>()
            .join(" ")
    };
    let grown = Bm25Retriever::new(Config::default()).unwrap();
    let mut newest = BTreeMap::new();
    for revision in 1..=120_u64 {
        let seed = Seed(revision);
        let id = format!("s{}", seed.derive("id", 0).index(40).unwrap());
        let mut skill = skill(
            &id,
            revision,
            "some-name",
            &text(seed.derive("d", 0), 8),
            "",
        );
        skill.body = text(seed.derive("b", 0), 5 + revision % 60);
        skill.trigger = (revision % 3 == 0).then(|| text(seed.derive("t", 0), 3));
        newest.insert(id, skill.clone());
        refresh(&grown, &update(revision, vec![skill]));
    }
    let at_once = update(120, newest.into_values().collect()).edited(|it| it.since = Revision(0));
    let rebuilt = retriever(&[at_once]);
    for query in 0..50 {
        let text = text(Seed(1000 + query), 1 + query % 7);
        for limit in [1, 5, 100] {
            let (a, b) = (
                search(&grown, &text, limit, None),
                search(&rebuilt, &text, limit, None),
            );
            assert_eq!(a.len(), b.len());
            for (a, b) in a.iter().zip(&b) {
                assert_eq!(a.skill, b.skill, "{text:?}");
                assert_eq!(a.score.to_bits(), b.score.to_bits(), "{text:?}");
            }
        }
    }
}
