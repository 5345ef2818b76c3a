//! The rows that a role is shown of the skills that it wrote.

use std::num::NonZeroU32;

use Judgement::{Harmful, Helpful, Neutral, Uncertain};

use super::*;
use crate::{
    domain::{Attribution, Judgement, MaintenanceBudget, Mode, SkillRef, TierPolicy},
    id::{AttemptId, RunId, Seed, SkillId, TaskId, Version},
    library::SkillLibrary,
    policy::{Context, Policies},
    recipe,
    testing::sample,
};

/// The default policy with this maturity, and one row as enough.
fn policy(mature: u32) -> EvolvePolicy {
    EvolvePolicy {
        mature,
        rows: NonZeroU32::MIN,
        ..EvolvePolicy::default()
    }
}

/// A library of skills that roles wrote, each change in a revision of its own.
#[derive(Default)]
struct Made {
    library: SkillLibrary,
    judgements: usize,
}

impl Made {
    fn change(&mut self, change: LibraryChange) {
        let revision = self.library.revision().next().0;
        let applied = self
            .library
            .apply(&sample::committed(revision, vec![change]))
            .expect("it is taken");
        assert!(applied.passed_over.is_empty(), "{:?}", applied.passed_over);
    }

    /// The first version of a skill.
    fn add(&mut self, name: &str, body: &str, origin: Origin) {
        let mut skill = sample::skill(name);
        skill.body = body.to_owned();
        skill.provenance.origin = origin;
        self.change(LibraryChange::Add(Box::new(skill)));
    }

    fn judge(&mut self, name: &str, version: u64, judgements: &[Judgement]) {
        for judgement in judgements {
            self.judgements += 1;
            self.change(LibraryChange::Attribute(Attribution {
                skill: SkillRef {
                    id: SkillId::new(name),
                    version: Version(version),
                },
                attempt: AttemptId::new(self.judgements.to_string()),
                task: TaskId::new("t"),
                judgement: *judgement,
                scope: String::new(),
                reason: "a test".to_owned(),
            }));
        }
    }

    fn set(&mut self, name: &str, state: State) {
        self.change(LibraryChange::SetState {
            skill: SkillId::new(name),
            state,
            reason: "a test".to_owned(),
        });
    }

    /// The rows by role: a skill's name and version, how often it was judged helpful, harmful and neither, and its fate.
    fn asked(&self, policy: EvolvePolicy) -> BTreeMap<Role, Vec<String>> {
        self.asked_by(Identity::Bytes, policy)
    }

    /// The same, with texts merged by this identity.
    fn asked_by(&self, identity: Identity, policy: EvolvePolicy) -> BTreeMap<Role, Vec<String>> {
        let mut recipe = recipe::hisme_robust();
        recipe.admit.identity = identity;
        let resolved = recipe.resolve(&Policies::new()).expect("it resolves");
        let context = Context {
            run: &RunId::new("a-run"),
            seed: Seed(7),
            mode: Mode::Train,
            group: 1,
            warming_up: false,
            explores: true,
            replays: true,
            model: None,
            left: MaintenanceBudget::default(),
            standing: &resolved.standing,
            retrieval: recipe.select.retrieval(),
            library: &self.library,
        };
        let evolves = MacroPolicy {
            evolve: Some(policy),
            ..MacroPolicy::default()
        };
        let context = MaintenanceContext {
            context,
            policy: &evolves,
        };
        let asked = due(&context, &Meanings::default())
            .into_iter()
            .map(|task| match task {
                RoleTask::Evolve { role, rows, .. } => (role, rows.iter().map(line).collect()),
                other => panic!("{other:?}"),
            });
        asked.collect()
    }

    /// The rows of the role that extracts.
    fn extracted(&self, policy: EvolvePolicy) -> Vec<String> {
        self.asked(policy)
            .remove(&Role::Extract)
            .unwrap_or_default()
    }
}

fn line(row: &Experience) -> String {
    let Experience {
        skill,
        helpful,
        harmful,
        other,
        fate,
        ..
    } = row;
    let (name, version) = (&skill.name, skill.version);
    format!("{name} {version}: {helpful} {harmful} {other} {fate}")
}

#[test]
fn a_text_of_an_untrusted_source_makes_no_rule_before_it_is_released() {
    let mut made = Made::default();
    let mut skill = sample::skill("one");
    skill.provenance.origin = Origin::Extracted;
    skill.taint = Taint::Tainted;
    made.change(LibraryChange::Add(Box::new(skill)));
    made.judge("one", 1, &[Helpful, Helpful]);
    assert!(made.extracted(policy(2)).is_empty());
    made.set("one", State::Active);
    assert_eq!(made.extracted(policy(2)), ["one 1: 2 0 0 active"]);
}

#[test]
fn mature_skills_are_shown_and_no_others() {
    let table: [(State, &[Judgement], Option<&str>); 14] = [
        (State::Trial, &[], None),
        (State::Active, &[], None),
        (State::Quarantined, &[], None),
        (State::Trial, &[Helpful], None),
        (State::Active, &[Harmful], None),
        (State::Active, &[Uncertain], None),
        (State::Trial, &[Helpful, Helpful], Some("2 0 0 on trial")),
        (State::Active, &[Helpful, Harmful], Some("1 1 0 active")),
        (State::Active, &[Neutral, Uncertain], Some("0 0 2 active")),
        (
            State::Quarantined,
            &[Harmful, Neutral, Neutral],
            Some("0 1 2 quarantined"),
        ),
        // A disabled or archived skill is mature, whatever its judgements.
        (State::Disabled, &[], Some("0 0 0 disabled")),
        (State::Disabled, &[Harmful], Some("0 1 0 disabled")),
        (State::Archived, &[], Some("0 0 0 archived")),
        (State::Archived, &[Helpful, Helpful], Some("2 0 0 archived")),
    ];
    for (state, judged, expect) in table {
        let mut made = Made::default();
        made.add("one", "say one", Origin::Extracted);
        made.judge("one", 1, judged);
        made.set("one", state);
        let expect: Vec<String> = expect.iter().map(|row| format!("one 1: {row}")).collect();
        assert_eq!(made.extracted(policy(2)), expect, "{state:?} {judged:?}");
    }
}

#[test]
fn a_role_is_shown_the_skills_that_it_wrote() {
    let mut made = Made::default();
    for (name, origin) in [
        ("by hand", Origin::Human),
        ("extracted", Origin::Extracted),
        ("refactored", Origin::Refactored),
        ("refined", Origin::Refined),
        ("summed up", Origin::Summary),
    ] {
        made.add(name, name, origin);
        made.judge(name, 1, &[Helpful]);
    }
    let own = |name: &str| vec![format!("{name} 1: 1 0 0 active")];
    let expect = [
        (Role::Extract, own("extracted")),
        (Role::Refactor, own("refactored")),
        (Role::Refine, own("refined")),
    ];
    assert_eq!(made.asked(policy(1)), BTreeMap::from(expect));
}

#[test]
fn an_earlier_version_is_not_mature_because_the_current_one_is_disabled() {
    let mut made = Made::default();
    made.add("one", "say one", Origin::Extracted);
    let mut second = sample::skill("one");
    second.version = Version(2);
    second.body = "say one twice".to_owned();
    second.provenance.origin = Origin::Refined;
    made.change(LibraryChange::Revise(Box::new(second)));
    made.set("one", State::Disabled);
    let disabled = vec!["one 2: 0 0 0 disabled".to_owned()];
    assert_eq!(
        made.asked(policy(1)),
        BTreeMap::from([(Role::Refine, disabled.clone())])
    );
    made.judge("one", 1, &[Helpful]);
    let revised = vec!["one 1: 1 0 0 revised".to_owned()];
    assert_eq!(
        made.asked(policy(1)),
        BTreeMap::from([(Role::Extract, revised), (Role::Refine, disabled)])
    );
}

#[test]
fn deleted_skills_are_shown() {
    let mut made = Made::default();
    made.change(LibraryChange::Configure(TierPolicy {
        cache: 1,
        reservoir: 0,
        ..TierPolicy::default()
    }));
    for name in ["one", "two"] {
        made.add(name, name, Origin::Extracted);
        made.judge(name, 1, &[Helpful]);
    }
    made.change(LibraryChange::Maintain);
    assert_eq!(made.library.deleted().count(), 1);
    assert_eq!(made.extracted(policy(1)).len(), 2);
}

#[test]
fn a_role_is_asked_once_it_has_enough_rows() {
    let mut made = Made::default();
    let mut rows = Vec::new();
    for name in ["1", "2", "3", "4", "5"] {
        // A skill without judgements is no row.
        made.add(name, name, Origin::Extracted);
        rows.push(made.extracted(EvolvePolicy::default()).len());
        made.judge(name, 1, &[Helpful]);
        rows.push(made.extracted(EvolvePolicy::default()).len());
    }
    assert_eq!(rows, [0, 0, 0, 0, 0, 0, 0, 0, 0, 5]);
}

#[test]
fn the_latest_24_texts_are_shown_oldest_first() {
    let mut made = Made::default();
    // The order of the ids is not the order in which the skills were added.
    let name = |number: u32| format!("n{}", 100 - number);
    for number in 0..30 {
        made.add(&name(number), &name(number), Origin::Extracted);
        made.judge(&name(number), 1, &[Helpful]);
    }
    // A skill without judgements is no row.
    made.add("unjudged", "unjudged", Origin::Extracted);
    let row = |number| format!("{} 1: 1 0 0 active", name(number));
    let expect: Vec<String> = (6..30).map(row).collect();
    assert_eq!(made.extracted(EvolvePolicy::default()), expect);
    // An old text that is written again is one row, its latest.
    made.add("again", &name(20), Origin::Extracted);
    let mut expect: Vec<String> = (6..30).filter(|number| *number != 20).map(row).collect();
    expect.push("again 1: 1 0 0 active".to_owned());
    assert_eq!(made.extracted(EvolvePolicy::default()), expect);
}

#[test]
fn the_same_text_is_one_row_with_all_its_judgements() {
    let mut made = Made::default();
    let skills: [(&str, Origin, &[Judgement]); 3] = [
        ("first", Origin::Extracted, &[Helpful, Harmful]),
        ("again", Origin::Extracted, &[Helpful, Neutral]),
        // Another role wrote it too.
        ("refined", Origin::Refined, &[Harmful, Uncertain]),
    ];
    for (name, origin, judged) in skills {
        made.add(name, "say one", origin);
        made.judge(name, 1, judged);
    }
    made.add("other", "say another", Origin::Extracted);
    made.judge("other", 1, &[Helpful]);
    let sum = |name: &str| format!("{name} 1: 2 2 2 active");
    let expect = [
        (
            Role::Extract,
            vec![sum("again"), "other 1: 1 0 0 active".to_owned()],
        ),
        (Role::Refine, vec![sum("refined")]),
    ];
    assert_eq!(made.asked(policy(1)), BTreeMap::from(expect));
    // Together they are mature.
    let expect = [
        (Role::Extract, vec![sum("again")]),
        (Role::Refine, vec![sum("refined")]),
    ];
    assert_eq!(made.asked(policy(6)), BTreeMap::from(expect));
}

#[test]
fn the_same_text_in_other_words_is_one_row_by_meaning() {
    let mut made = Made::default();
    let one = "1. Call `open_jar`.\n2. Call `brew_coffee` with power 65.";
    let skills: [(&str, &str, &[Judgement]); 3] = [
        ("first", one, &[Helpful, Harmful]),
        (
            "again",
            "Call brew_coffee with power 65, but only after open_jar.",
            &[Helpful],
        ),
        (
            "other",
            "Call brew_coffee with power 70, but only after open_jar.",
            &[Harmful],
        ),
    ];
    for (name, body, judged) in skills {
        made.add(name, body, Origin::Extracted);
        made.judge(name, 1, judged);
    }
    let other = "other 1: 0 1 0 active".to_owned();
    let by_meaning = vec!["again 1: 2 1 0 active".to_owned(), other.clone()];
    let expect = BTreeMap::from([(Role::Extract, by_meaning)]);
    assert_eq!(made.asked_by(Identity::MEANING, policy(1)), expect);
    let by_bytes = ["first 1: 1 1 0 active", "again 1: 1 0 0 active"];
    let by_bytes = by_bytes.into_iter().map(str::to_owned).chain([other]);
    let expect = BTreeMap::from([(Role::Extract, by_bytes.collect())]);
    assert_eq!(made.asked_by(Identity::Bytes, policy(1)), expect);
}
