//! Forms of others: what is read is written again as an equal JSON value, whatever else it holds.

use journeyman::testing::Edited as _;
use journeyman::{
    Category, Result, Seed,
    domain::{LibraryChange, Origin, Scope, Skill, Source, State, Taint, Trust},
    library::{SkillLibrary, format::SkillMd},
    stations::admit::{imported, offered},
    testing::sample,
};
use journeyman_interchange::{arise, skillrl};
use serde_json::{Map, Value, json};

fn source() -> Source {
    Source::new("elsewhere", Trust::Untrusted)
}

type Reader = fn(&str, &Source) -> Result<Vec<Skill>>;
type Writer = fn(&[Skill]) -> Result<String>;
const BANK: (Reader, Writer) = (skillrl::read, skillrl::write);
const ARISE: (Reader, Writer) = (arise::read, arise::write);

/// The skill as its file gives it back.
fn through_file(skill: &Skill) -> Skill {
    let text = SkillMd::from(skill).write().unwrap();
    let read = SkillMd::read_strict(&text, Some(skill.name.as_str()));
    let read = read.unwrap().skill().unwrap();
    read.with_id(&skill.id)
        .with_version(skill.version)
        .with_state(skill.state)
        .with_files(skill.files.clone())
        .with_parents(skill.parents.clone())
        .with_provenance(skill.provenance.clone())
        .with_taint(skill.taint)
}

/// The skills as a library holds them after they were added: other names, states and order.
fn through_library(skills: &[Skill]) -> SkillLibrary {
    let add = |skill: &Skill| LibraryChange::Add(Box::new(skill.clone()));
    let changes = skills.iter().map(add).collect();
    SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap()
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Reads, sends the skills through a library and their files, writes and compares. Gives the number of skills.
fn check((read, write): (Reader, Writer), whole: &Value) -> usize {
    let skills = read(&whole.to_string(), &source()).unwrap();
    assert_eq!(value(&write(&skills).unwrap()), *whole);
    let library = through_library(&skills);
    assert!(library.passed_over().is_empty());
    let entries = library.entries();
    let kept: Vec<Skill> = entries.map(|entry| through_file(&entry.skill)).collect();
    assert_eq!(kept.len(), skills.len());
    assert_eq!(value(&write(&kept).unwrap()), *whole);
    skills.len()
}

fn refused((read, _): (Reader, Writer), whole: &str, message: &str) {
    let error = read(whole, &source()).unwrap_err();
    assert!(error.to_string().contains(message), "{error}");
}

fn bank() -> Value {
    json!({
        "general_skills": [
            {"skill_id": "gen_001", "title": "Look Twice", "principle": "Look again.\n\nThen go on.", "when_to_apply": "After each step."},
            {"skill_id": "gen_002", "title": "look-twice", "principle": "Another of that name.", "when_to_apply": "Now and then.", "score": 0.1},
            {"skill_id": "gen_003", "title": "再看一遍", "principle": "看。", "when_to_apply": " blank around ", "tags": ["a", {"b": null}]},
        ],
        "task_specific_skills": {
            "clean": [{"skill_id": "cle_001", "title": "Rinse", "principle": "Rinse before you place."}],
            "heat / cool": [{"title": "No id", "principle": "p", "when_to_apply": ["a list"]}],
            "none yet": [],
        },
        "common_mistakes": [
            {"mistake_id": "err_001", "description": "Goes in circles without end.", "why_it_happens": "No memory.", "how_to_avoid": "Keep a list."},
            {"mistake_id": "err_002", "description": "Stops too early.", "why_it_happens": "## How to avoid it\n\nx", "how_to_avoid": null},
            {"mistake_id": "err_003", "description": "失敗"},
        ],
        "metadata": {"source": "by hand", "of": {"clean": {"success": 1.5e300}}},
        "version": 3,
    })
}

#[test]
fn a_bank_comes_back_equal() {
    // Each entry, and the record of what belongs to none.
    assert_eq!(check(BANK, &bank()), 9);
    // What has nothing else needs no record.
    assert_eq!(
        check(
            BANK,
            &json!({"general_skills": [], "task_specific_skills": {}, "common_mistakes": []})
        ),
        0
    );
    assert_eq!(check(BANK, &json!({"common_mistakes": []})), 1);
    let skills = skillrl::read(&bank().to_string(), &source()).unwrap();
    let names: Vec<_> = skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "look-twice",
            "look-twice",
            "zai-kan-yi-bian",
            "rinse",
            "no-id",
            "goes-in-circles-without-end",
            "stops-too-early",
            "shi-bai",
            "skillrl-record"
        ]
    );
    assert_eq!(skills[3].scope, Scope::Category(Category::from("clean")));
    assert!(skills.iter().all(|skill| skill.taint == Taint::Tainted));
    let library = through_library(&skills);
    let states: Vec<_> = library.entries().map(|entry| entry.skill.state).collect();
    let archived = |state: &&State| **state == State::Archived;
    assert_eq!(states.iter().filter(archived).count(), 1);
    assert!(states.iter().all(|state| !state.is_offered()));
}

#[test]
fn what_changed_in_between_shows() {
    let mut skills = skillrl::read(&bank().to_string(), &source()).unwrap();
    skills.remove(1);
    // Edited texts win over what was kept of them; what else was kept stays.
    skills[1].description = "Whenever it was hard.".into();
    skills[3].description = "With an oven.".into();
    skills[5].body = "A note of a person.".into();
    skills[6].body = "## Why it happens\n\nHaste.".into();
    skills.push(sample::skill("brew"));
    let mut cleaned = sample::skill("wipe");
    cleaned.scope = Scope::Category(Category::from("none yet"));
    skills.push(cleaned);

    let mut expect = bank();
    let general = expect["general_skills"].as_array_mut().unwrap();
    general.remove(1);
    general[1]["when_to_apply"] = "Whenever it was hard.".into();
    let native = |name: &str| {
        json!({"skill_id": name, "title": name, "principle": format!("To do {name}, say {name}."),
            "when_to_apply": format!("How to do {name}.")})
    };
    general.push(native("brew"));
    let specific = &mut expect["task_specific_skills"];
    specific["heat / cool"][0]["when_to_apply"] = "With an oven.".into();
    specific["none yet"] = json!([native("wipe")]);
    let mistakes = &mut expect["common_mistakes"];
    mistakes[1] = json!({"mistake_id": "err_002", "description": "Stops too early.",
        "how_to_avoid": "A note of a person."});
    mistakes[2]["why_it_happens"] = "Haste.".into();
    assert_eq!(value(&skillrl::write(&skills).unwrap()), expect);
    // The order in which they are given does not matter.
    skills.rotate_left(4);
    let written = value(&skillrl::write(&skills).unwrap());
    assert_eq!(
        written["task_specific_skills"],
        expect["task_specific_skills"]
    );
}

#[test]
fn two_imports_of_one_set_are_not_mixed() {
    let before = skillrl::read(&bank().to_string(), &source()).unwrap();
    let mut refreshed = bank();
    refreshed["general_skills"][0]["principle"] = "Another one.".into();
    let after = skillrl::read(&refreshed.to_string(), &source()).unwrap();
    let ids: Vec<_> = before.iter().map(|skill| &skill.id).collect();
    let new = after.iter().filter(|skill| !ids.contains(&&skill.id));
    let both: Vec<Skill> = before.iter().chain(new).cloned().collect();
    assert_eq!(both.len(), before.len() + 1);
    let error = skillrl::write(&both).unwrap_err();
    assert!(error.to_string().contains("of one place"), "{error}");
}

fn documents() -> Vec<Value> {
    vec![
        json!({"skill_name": "match_bases", "problem_type": "algebra", "key_insight": "Equal powers have equal exponents",
            "method": ["Write both sides with one base", "Set the exponents equal"], "check": "Substitute back"}),
        json!({"skill_name": "Match Bases", "problem_type": "algebra", "key_insight": "## Method",
            "method": ["a\nb"], "check": null, "utility": 0.25}),
        json!({"skill_name": "match_bases", "problem_type": "", "key_insight": "x", "method": ["y"]}),
    ]
}

#[test]
fn arise_documents_come_back_equal() {
    let mut all = documents();
    refused(ARISE, &json!(all).to_string(), "place: documents/2");
    all.pop();
    assert_eq!(check(ARISE, &all[0]), 1);
    assert_eq!(check(ARISE, &all[1]), 1);
    assert_eq!(check(ARISE, &json!(all)), 2);
    assert_eq!(check(ARISE, &json!([])), 0);
    // One in a list, and what stands beside the tiers, are what a record is for.
    assert_eq!(check(ARISE, &json!([all[0]])), 2);
    assert_eq!(
        check(ARISE, &json!({"cache": [all[1]], "reservoir": [all[0]]})),
        2
    );
    assert_eq!(check(ARISE, &json!({"cache": [all[1]], "step": 7})), 2);
}

#[test]
fn an_edited_document_is_written_with_its_new_text() {
    let mut skills = arise::read(&json!(documents()[..2]).to_string(), &source()).unwrap();
    skills[1].body = skills[1].body.replace("a b", "c d");
    let written = value(&arise::write(&skills).unwrap());
    assert_eq!(written[0], documents()[0]);
    assert_eq!(written[1]["method"], json!(["c d"]));
    assert_eq!(written[1]["skill_name"], "Match Bases");
    assert_eq!(written[1]["utility"], 0.25);
    skills[0].body = "No document any more.".into();
    let error = arise::write(&skills).unwrap_err().to_string();
    assert!(
        error.contains("the body has no `## Method` section"),
        "{error}"
    );
    assert!(!error.contains("any more"), "{error}");
}

#[test]
fn other_shapes_are_refused_and_not_repeated() {
    let mark = "THE-TEXT-ITSELF";
    let entry = |changed: Value| {
        let mut entry = json!({"title": "t", "principle": "p"});
        entry
            .as_object_mut()
            .unwrap()
            .extend(changed.as_object().unwrap().clone());
        json!({"general_skills": [entry]}).to_string()
    };
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    for (bank, message) in [
        ("".to_owned(), "the text is not JSON"),
        (format!("{{\"{mark}\": "), "the text is not JSON"),
        (
            "[".repeat(100_000),
            "the text is not JSON, or is nested too deep",
        ),
        (
            format!("[{{\"memory_id\": \"{mark}\"}}]"),
            "a list of memories holds no skills",
        ),
        (json!({mark: []}).to_string(), "this is no SkillRL bank"),
        (
            r#"{"general_skills": [], "\\": 1e300, "n": [-18446744073709551616]}"#.to_owned(),
            "a number is too large to be kept as it is",
        ),
        (
            json!({"general_skills": mark}).to_string(),
            "{ place: general_skills }: this is not a list",
        ),
        (
            json!({"general_skills": [mark]}).to_string(),
            "{ place: general_skills/0 }: this is not an object",
        ),
        (
            json!({"task_specific_skills": []}).to_string(),
            "this is not an object of categories",
        ),
        (
            json!({"task_specific_skills": {"": [{"title": "t", "principle": "p"}]}}).to_string(),
            "a category has no name",
        ),
        (
            json!({"general_skills": [{"title": mark}]}).to_string(),
            "{ place: general_skills/0 }: `principle` is missing",
        ),
        (
            json!({"common_mistakes": [{"description": " "}]}).to_string(),
            "`description` is missing, empty or not a string",
        ),
        (entry(json!({"x": deep})), "nested deeper than 32"),
        (entry(json!({"x".repeat(300): 1})), "more than 256 bytes"),
        (
            entry(json!({"x": mark.repeat(2000)})),
            "the frontmatter has",
        ),
        (
            entry(json!({"principle": mark.repeat(100_000)})),
            "1 MiB is the most",
        ),
        (entry(json!({"title": format!("{mark}\u{202E}")})), "U+202E"),
        (entry(json!({"x": {"y\u{200B}": 1}})), "U+200B"),
        (entry(json!({"x": "nul\u{0}"})), "U+0000"),
        (
            format!("{}{{}}", " ".repeat(10 << 20)),
            "larger than 10 MiB",
        ),
    ] {
        refused(BANK, &bank, message);
        let error = skillrl::read(&bank, &source()).unwrap_err();
        assert!(!format!("{error:?}").contains(mark), "{error:?}");
    }
    for (text, message) in [
        ("3", "there are no ARISE documents here"),
        (
            "{\"skill_name\": 1}",
            "{ place: documents/0 }: method is missing",
        ),
        ("{\"cache\": {}}", "{ place: cache }: this is not a list"),
        ("[1]", "{ place: documents/0 }: this is not an object"),
    ] {
        refused(ARISE, text, message);
    }
    let two = [bank().to_string(), bank().to_string()];
    let mut skills = skillrl::read(&two[0], &source()).unwrap();
    let other = source().edited(|it| it.name = "another".into());
    skills.extend(skillrl::read(&two[1], &other).unwrap());
    let error = skillrl::write(&skills).unwrap_err();
    assert_eq!(error.message(), "the skills are of several sets");
    skills.truncate(9);
    skills[0]
        .metadata
        .insert("skillrl-entry.x".into(), mark.into());
    let error = skillrl::write(&skills).unwrap_err();
    assert_eq!(error.message(), "a kept field is not JSON");
    assert!(!error.to_string().contains(mark), "{error}");
}

/// Random values of a seed.
struct Random(Seed, u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.1 += 1;
        self.0.derive("random", self.1).index(most).unwrap()
    }

    fn text(&mut self) -> String {
        const BITS: [&str; 16] = [
            "",
            " ",
            "\n",
            "a",
            "Look",
            "技能",
            "é",
            "\"",
            "\\",
            "## Why it happens\n\n",
            "## How to avoid it\n\n",
            "## Method",
            ": ",
            "---\n",
            "1. ",
            "\t",
        ];
        (0..self.below(7)).map(|_| BITS[self.below(16)]).collect()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 7 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(self.below(1000) as f64 / 7.0 - 50.0),
            3 => json!(self.below(1000)),
            4 => self.text().into(),
            5 => (0..self.below(3)).map(|_| self.value(depth - 1)).collect(),
            _ => self.fields(depth - 1).into(),
        }
    }

    fn fields(&mut self, depth: usize) -> Map<String, Value> {
        (0..self.below(4))
            .map(|_| (self.text(), self.value(depth)))
            .collect()
    }

    /// An object with these fields, the first ones always texts that show, the others anything or absent.
    fn entry(&mut self, needed: &[&str], more: &[&str]) -> Value {
        let mut entry = self.fields(2);
        for field in more {
            match self.below(4) {
                0 => drop(entry.remove(*field)),
                1 => drop(entry.insert((*field).into(), self.value(1))),
                _ => drop(entry.insert((*field).into(), self.text().into())),
            }
        }
        for field in needed {
            let text = format!("{}x{}", self.text(), self.text());
            entry.insert((*field).into(), text.into());
        }
        entry.into()
    }

    fn list(&mut self, needed: &[&str], more: &[&str]) -> Value {
        (0..self.below(4))
            .map(|_| self.entry(needed, more))
            .collect()
    }

    fn bank(&mut self) -> Value {
        let skill: (&[&str], &[&str]) = (&["title", "principle"], &["when_to_apply", "skill_id"]);
        let mut bank = self.fields(2);
        bank.insert("general_skills".into(), self.list(skill.0, skill.1));
        if self.below(3) > 0 {
            let categories: Map<String, Value> = (0..self.below(3))
                .map(|_| (format!("c{}", self.text()), self.list(skill.0, skill.1)))
                .collect();
            bank.insert("task_specific_skills".into(), categories.into());
        }
        if self.below(3) > 0 {
            let mistakes = self.list(
                &["description"],
                &["why_it_happens", "how_to_avoid", "mistake_id"],
            );
            bank.insert("common_mistakes".into(), mistakes);
        }
        bank.into()
    }

    fn document(&mut self) -> Value {
        let mut document = self.entry(&["skill_name", "problem_type", "key_insight"], &[]);
        let steps: Vec<_> = (0..=self.below(3))
            .map(|_| format!("s{}", self.text()))
            .collect();
        document["method"] = json!(steps);
        match self.below(3) {
            0 => document["check"] = Value::Null,
            1 => document["check"] = self.text().into(),
            _ => {}
        }
        document
    }
}

#[test]
fn random_banks_and_documents_come_back_equal() {
    for round in 0..300 {
        let mut random = Random(Seed(4).derive("interchange", round), 0);
        check(BANK, &random.bank());
        let documents: Vec<Value> = (0..random.below(4)).map(|_| random.document()).collect();
        check(ARISE, &json!(documents));
        let mut state = random.fields(2);
        state.insert("reservoir".into(), json!(documents));
        check(ARISE, &state.into());
    }
}

#[test]
fn nothing_that_a_stranger_says_of_trust_is_taken_over() {
    let mut theirs = sample::skill("brew");
    theirs.state = State::Trial;
    theirs.version = journeyman::Version(7);
    theirs.parents = vec![sample::skill("grind").reference()];
    theirs.provenance.runs = vec![journeyman::RunId::new("theirs")];
    let ours = imported(theirs.clone(), &source()).unwrap();
    let mut expect = sample::skill("brew")
        .with_id(ours.id.clone())
        .with_state(State::Active)
        .with_taint(Taint::Tainted);
    expect.provenance.origin = Origin::Imported;
    assert_eq!(ours, expect);
    let state = |skill: &Skill| {
        let library = through_library(std::slice::from_ref(skill));
        library.get(&skill.id).unwrap().skill.state
    };
    assert_eq!(state(&ours), State::Quarantined);
    let trusted = source().edited(|it| it.trust = Trust::Trusted);
    let vouched = imported(theirs.clone(), &trusted).unwrap();
    assert_eq!(vouched.taint, Taint::Clean);
    assert_eq!(state(&vouched), State::Quarantined);
    // The same thing is the same thing; another is another.
    assert_eq!(imported(theirs.clone(), &source()).unwrap().id, ours.id);
    theirs.state = State::Disabled;
    theirs.body.push('!');
    let other = imported(theirs.clone(), &source()).unwrap();
    assert_ne!(other.id, ours.id);
    assert_eq!(other.state, State::Disabled);
    theirs.body.push('\u{202E}');
    let error = imported(theirs, &source()).unwrap_err();
    assert!(
        error
            .message()
            .starts_with("`body` holds a hidden character"),
        "{error}"
    );
}

#[test]
fn of_a_strangers_library_only_what_is_offered_comes() {
    let mut aside = sample::skill("aside");
    aside.state = State::Disabled;
    let skills = [sample::skill("brew"), sample::skill("grind"), aside];
    let theirs = through_library(&skills);
    let changes = offered(&theirs, &source()).unwrap();
    let library = SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap();
    let names: Vec<_> = library
        .entries()
        .map(|entry| (entry.skill.name.as_str(), entry.skill.state))
        .collect();
    assert_eq!(names.len(), 2);
    assert!(
        names.contains(&("brew", State::Quarantined))
            && names.contains(&("grind", State::Quarantined)),
        "{names:?}"
    );
}

/// `JOURNEYMAN_DATA=DIR cargo test -p journeyman-interchange --test it -- --ignored --nocapture interchange::`
#[test]
#[ignore = "needs JOURNEYMAN_DATA, a folder with skillrl/"]
#[allow(clippy::print_stdout, clippy::disallowed_methods)]
fn the_published_banks_come_back_equal() {
    let data = std::env::var("JOURNEYMAN_DATA").unwrap();
    let file = |name: &str| std::fs::read_to_string(format!("{data}/skillrl/{name}")).unwrap();
    for (name, skills) in [("alfworld", 56), ("webshop", 67)] {
        let bank = value(&file(&format!("{name}.claude_style_skills.json")));
        let found = check(BANK, &bank);
        println!("{name}: {found} skills, equal");
        assert_eq!(found, skills);
    }
    refused(
        BANK,
        &file("alfworld.generated_memories_alfworld_total.json"),
        "a list of memories holds no skills",
    );
}
