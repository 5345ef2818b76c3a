//! Skills that a host brings: what became of each, also when it brings them again.

use journeyman::{
    Version,
    domain::{Provenance, Tier},
    run::AddReport,
};

use super::{outcomes::by_hand, *};

fn shipped(name: &str, version: u64, body: &str) -> Skill {
    let text = format!(
        "---\nname: {name}\ndescription: How to do {name}.\nmetadata:\n  version: \"{version}\"\n---\n{body}\n"
    );
    Skill::from_skill_md(&text).expect("a skill")
}

fn fates(report: &AddReport) -> Vec<&AddFate> {
    report.skills.iter().map(|one| &one.fate).collect()
}

async fn add(journeyman: &Journeyman, skills: &[Skill]) -> AddReport {
    let added = journeyman.add(skills.to_vec(), "at the start").await;
    added.expect("it adds")
}

/// The store's revision, and the skill as the library has it.
async fn kept(components: &Components, id: &str) -> (Revision, Option<Skill>) {
    let store = components.store.clone().expect("a store");
    let snapshot = store.load().await.expect("it loads");
    let library = SkillLibrary::replay(&snapshot.committed).expect("it folds");
    let entry = library.get(&id.into());
    (snapshot.revision, entry.map(|entry| entry.skill.clone()))
}

async fn commit(components: &Components, key: &str, change: LibraryChange) {
    let store = components.store.clone().expect("a store");
    let base = store.load().await.expect("it loads").revision;
    let commit = by_hand(base, key, vec![change]);
    store.commit(&commit).await.expect("it commits");
}

/// The next version of a skill, by somebody else than the host that added it.
fn edited(skill: &Skill, origin: Origin, runs: Vec<RunId>) -> LibraryChange {
    LibraryChange::Revise(Box::new(
        skill
            .clone()
            .with_version(skill.version.next())
            .with_body("Edited since.")
            .with_parents(vec![skill.reference()])
            .with_provenance(Provenance::new(origin).with_runs(runs)),
    ))
}

#[test]
fn skills_are_added_once_and_upgraded_by_later_versions() {
    let components = own_loop();
    block_on(async {
        let journeyman = open_as("test", &components, recipe()).await;
        let both = [shipped("pack", 1, "Pack."), shipped("ship", 1, "Ship.")];
        let report = add(&journeyman, &both).await;
        assert_eq!(fates(&report), [&AddFate::Added; 2]);
        assert_eq!((report.revision, report.changed()), (Revision(1), 2));
        assert_eq!(
            report.to_string(),
            "pack (version 1): added\nship (version 1): added\n"
        );

        // At the next start, of this session and of another.
        for session in ["test", "other"] {
            let again = open_as(session, &components, recipe()).await;
            let report = add(&again, &both).await;
            assert_eq!(fates(&report), [&AddFate::Unchanged; 2], "{session}");
            assert_eq!((report.revision, report.changed()), (Revision(1), 0));
            let said = "pack (version 1): unchanged\nship (version 1): unchanged\n";
            assert_eq!(report.to_string(), said);
            assert_eq!(kept(&components, "pack").await.0, Revision(1), "no commit");
        }

        let other = open_as("other", &components, recipe()).await;
        let second = [shipped("pack", 2, "Pack well."), both[1].clone()];
        let report = add(&other, &second).await;
        assert_eq!(fates(&report), [&AddFate::Revised, &AddFate::Unchanged]);
        assert_eq!(report.revision, Revision(2));
        assert!(
            report
                .to_string()
                .starts_with("pack (version 2): revised\n")
        );
        let (_, pack) = kept(&components, "pack").await;
        let pack = pack.expect("it is there");
        assert_eq!((pack.version, pack.body.trim()), (Version(2), "Pack well."));
        assert_eq!(fates(&add(&other, &second).await), [&AddFate::Unchanged; 2]);
        // The version before, by a host that was not brought up to date.
        let report = add(&other, &both).await;
        assert!(matches!(fates(&report)[0], AddFate::Refused(_)), "{report}");
        assert_eq!(kept(&components, "pack").await.0, Revision(2));
    });
}

#[test]
fn what_a_person_or_a_run_changed_since_is_kept() {
    let check = |origin, runs: Vec<RunId>, said: &str| {
        let components = own_loop();
        block_on(async {
            let journeyman = open_as("test", &components, recipe()).await;
            add(&journeyman, &[shipped("pack", 1, "Pack.")]).await;
            let (_, first) = kept(&components, "pack").await;
            let first = first.expect("it is there");
            commit(&components, "edit", edited(&first, origin, runs)).await;
            // What it shipped before says nothing new, and what was changed stays.
            let report = add(&journeyman, &[shipped("pack", 1, "Pack.")]).await;
            assert!(matches!(fates(&report)[0], AddFate::Kept(_)), "{report}");
            for version in [2, 3, 9] {
                let report = add(&journeyman, &[shipped("pack", version, "Pack well.")]).await;
                let [AddFate::Kept(reason)] = fates(&report)[..] else {
                    panic!("{report}");
                };
                assert!(reason.contains(said), "{reason}");
                let line = format!("pack (version {version}): library version kept: {reason}\n");
                assert_eq!(report.to_string(), line);
            }
            let (revision, now) = kept(&components, "pack").await;
            assert_eq!(revision, Revision(2));
            assert_eq!(
                now.map(|skill| skill.body).as_deref(),
                Some("Edited since.")
            );
        });
    };
    check(Origin::Human, Vec::new(), "a person edited it");
    check(
        Origin::Refined,
        vec!["test/learn-9".into()],
        "a run has changed it",
    );
    check(
        Origin::Summary,
        vec!["test/begin-0".into()],
        "a run has changed it",
    );
}

#[test]
fn what_cannot_enter_is_refused_by_itself() {
    let components = own_loop();
    block_on(async {
        let journeyman = open_as("test", &components, recipe()).await;
        add(&journeyman, &[shipped("pack", 2, "Pack.")]).await;
        let learnt = LibraryChange::Add(Box::new(sample::skill("learnt")));
        commit(&components, "learnt", learnt).await;
        let broken = shipped("broken", 1, "Broken.").with_version(0);
        let beyond = shipped("beyond", 1, "Beyond.").with_version(u64::MAX);
        let skills = [
            shipped("pack", 2, "Other words."),
            shipped("twice", 1, "Once."),
            shipped("twice", 2, "Once more."),
            shipped("learnt", 7, "Mine."),
            broken,
            beyond,
            shipped("good", 1, "Good."),
        ];
        let report = add(&journeyman, &skills).await;
        let said = report.to_string();
        let check = |place: usize, words: &str| {
            let AddFate::Refused(reason) = &report.skills[place].fate else {
                panic!("{place}: {said}");
            };
            assert!(reason.contains(words), "{reason}");
        };
        check(0, "later version");
        check(2, "same id");
        check(3, "not added by a host");
        check(4, "version");
        check(5, "version");
        assert_eq!(report.skills[1].fate, AddFate::Added);
        assert_eq!(report.skills[6].fate, AddFate::Added);
        assert_eq!(said.lines().count(), 7, "{said}");
        assert_eq!(report.count(|fate| matches!(fate, AddFate::Refused(_))), 5);
        let (_, twice) = kept(&components, "twice").await;
        assert_eq!(twice.map(|skill| skill.version), Some(Version(1)));
        let (_, learnt) = kept(&components, "learnt").await;
        assert_eq!(
            learnt.map(|skill| skill.body),
            Some(sample::skill("learnt").body)
        );
    });
}

#[test]
fn two_skills_of_one_name_are_told_under_the_names_that_the_library_gave() {
    block_on(async {
        let journeyman = open_as("test", &own_loop(), recipe()).await;
        let mut other = shipped("pack", 1, "Pack otherwise.");
        other.id = "another".into();
        let report = add(&journeyman, &[shipped("pack", 1, "Pack."), other.clone()]).await;
        let names = |report: &AddReport| -> Vec<String> {
            report
                .skills
                .iter()
                .map(|one| one.name.to_string())
                .collect()
        };
        assert_eq!(names(&report), ["pack", "pack-2"]);
        assert_eq!(fates(&report), [&AddFate::Added; 2]);
        let report = add(&journeyman, &[other]).await;
        assert_eq!(names(&report), ["pack-2"]);
        assert_eq!(fates(&report), [&AddFate::Unchanged]);
    });
}

#[test]
fn tiers_that_are_full_take_no_more_and_delete_nothing_for_it() {
    let components = own_loop();
    let mut recipe = recipe();
    recipe.tiers.cache = 2;
    recipe.tiers.reservoir = 3;
    block_on(async {
        let journeyman = open_as("test", &components, recipe.clone()).await;
        let ten = |version| -> Vec<Skill> {
            let skill = |n: u64| shipped(&format!("skill-{n}"), version, &format!("{n} {version}"));
            (0..10).map(skill).collect()
        };
        let counted = |report: &AddReport| {
            let out = report.count(|fate| matches!(fate, AddFate::OutOfRoom(_)));
            (report.changed(), out)
        };
        let report = add(&journeyman, &ten(1)).await;
        assert_eq!(counted(&report), (5, 5), "{report}");
        assert!(report.to_string().contains("out of room: "), "{report}");
        let check = async |body: &str| {
            let library = journeyman.library().await.expect("a library");
            assert_eq!(library.entries().count(), 5);
            assert_eq!(library.deleted().count(), 0);
            assert_eq!(
                (library.cache().count(), library.reservoir().count()),
                (2, 3)
            );
            let mut texts = library.entries().map(|entry| entry.skill.body.trim());
            assert!(texts.all(|text| text.ends_with(body)));
        };
        check("1").await;
        let report = add(&journeyman, &ten(1)).await;
        assert_eq!(counted(&report), (0, 5));
        assert_eq!(report.count(|fate| *fate == AddFate::Unchanged), 5);
        assert_eq!(kept(&components, "skill-0").await.0, Revision(1));
        // Those that are there are upgraded all the same.
        let report = add(&journeyman, &ten(2)).await;
        assert_eq!(counted(&report), (5, 5), "{report}");
        assert_eq!(report.count(|fate| *fate == AddFate::Revised), 5);
        check("2").await;
    });
}

#[test]
fn what_is_out_of_use_stays_so_through_an_upgrade() {
    let components = own_loop();
    block_on(async {
        let journeyman = open_as("test", &components, recipe()).await;
        add(&journeyman, &[shipped("pack", 1, "Pack.")]).await;
        let id = "pack".into();
        let set = journeyman
            .set_state(&id, State::Disabled, "it confuses")
            .await;
        assert_eq!(set.expect("it is there"), Revision(2));
        let report = add(&journeyman, &[shipped("pack", 2, "Pack well.")]).await;
        assert_eq!(fates(&report), [&AddFate::Revised]);
        let library = journeyman.library().await.expect("a library");
        let entry = library.get(&id).expect("it is there");
        assert_eq!(
            (entry.skill.version, entry.skill.state),
            (Version(2), State::Disabled)
        );
        assert_eq!(entry.tier, Tier::Aside);
        let set = journeyman
            .set_state(&id, State::Active, "it is clear now")
            .await;
        set.expect("it is there");
        let (_, pack) = kept(&components, "pack").await;
        assert_eq!(pack.map(|skill| skill.state), Some(State::Active));

        let unknown = journeyman
            .set_state(&"none".into(), State::Active, "why")
            .await;
        let error = unknown.expect_err("there is none");
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.hint_text().is_some());
        assert!(error.to_string().contains("none"), "{error}");
    });
}

#[test]
fn what_was_rolled_back_stays_so_until_a_later_version_comes() {
    let components = own_loop();
    block_on(async {
        let journeyman = open_as("test", &components, recipe()).await;
        add(&journeyman, &[shipped("pack", 1, "Pack.")]).await;
        add(&journeyman, &[shipped("pack", 2, "Pack well.")]).await;
        let back = async |to| {
            let why = "the second confuses";
            journeyman.roll_back(&"pack".into(), to, why).await
        };
        let revision = back(Version(1)).await.expect("it is there");
        // What is current stays.
        assert_eq!(back(Version(3)).await.expect("it is there"), revision);
        let error = back(Version(7)).await.expect_err("there is none");
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("1, 2, 3"), "{error}");
        let body = async || {
            kept(&components, "pack")
                .await
                .1
                .map(|skill| skill.body.trim().to_owned())
        };
        assert_eq!(body().await.as_deref(), Some("Pack."));
        // The host still ships what was rolled back.
        let report = add(&journeyman, &[shipped("pack", 2, "Pack well.")]).await;
        assert_eq!(report.changed(), 0, "{report}");
        assert_eq!(body().await.as_deref(), Some("Pack."));
        // Its next version is what the host has put right.
        let report = add(&journeyman, &[shipped("pack", 3, "Pack clearly.")]).await;
        assert_eq!(fates(&report), [&AddFate::Revised], "{report}");
        assert_eq!(body().await.as_deref(), Some("Pack clearly."));
    });
}

#[test]
fn what_the_tiers_deleted_comes_back_in_one_call() {
    block_on(async {
        let components = own_loop();
        let mut recipe = recipe();
        recipe.tiers.cache = 1;
        recipe.tiers.reservoir = 0;
        let journeyman = open_as("test", &components, recipe).await;
        let pack = shipped("pack", 1, "Pack.");
        add(&journeyman, std::slice::from_ref(&pack)).await;
        let better = LibraryChange::Add(Box::new(shipped("fold", 1, "Fold.")));
        commit(&components, "another", better).await;
        commit(&components, "room", LibraryChange::Maintain).await;
        let library = journeyman.library().await.expect("a library");
        let deleted: Vec<_> = library.deleted().map(|one| one.skill.id.clone()).collect();
        let [deleted] = deleted.as_slice() else {
            panic!("{deleted:?}")
        };
        assert!(library.get(deleted).is_none());
        let gone = library.deleted().next().expect("one");
        let text = gone.skill.body.trim().to_owned();
        assert!(["Pack.", "Fold."].contains(&text.as_str()), "{text}");
        let restored = journeyman.restore(deleted, "it was wanted").await;
        let revision = restored.expect("it was there");
        let library = journeyman.library().await.expect("a library");
        assert_eq!(library.revision(), revision);
        let back = library.get(deleted).expect("it is back");
        assert_eq!(back.skill.body.trim(), text);
        let again = journeyman.restore(deleted, "again").await;
        let error = again.expect_err("it is there");
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(
            error
                .hint_text()
                .is_some_and(|hint| hint.contains("deleted")),
            "{error}"
        );
    });
}

#[test]
fn another_licence_is_another_content() {
    block_on(async {
        let components = own_loop();
        let journeyman = open_as("test", &components, recipe::standard()).await;
        let first = shipped("brew", 1, "Brew it.");
        add(&journeyman, std::slice::from_ref(&first)).await;
        let mut second = shipped("brew", 2, "Brew it.");
        second.license = Some("MIT".into());
        let report = add(&journeyman, &[second]).await;
        assert_eq!(fates(&report), [&AddFate::Revised]);
        let (_, kept) = kept(&components, first.id.as_str()).await;
        assert_eq!(kept.and_then(|skill| skill.license).as_deref(), Some("MIT"));
    });
}

#[test]
fn what_no_skill_md_can_hold_is_refused_with_the_reason() {
    block_on(async {
        let components = own_loop();
        let journeyman = open_as("test", &components, recipe::standard()).await;
        let mut without = shipped("brew", 1, "Brew it.");
        without.description.clear();
        let good = shipped("grind", 1, "Grind it.");
        let report = add(&journeyman, &[without, good]).await;
        let [AddFate::Refused(why), AddFate::Added] = fates(&report)[..] else {
            panic!("{report:?}");
        };
        assert!(why.contains("description"), "{why}");
        let library = journeyman.library().await.expect("a library");
        assert_eq!(library.entries().count(), 1);
    });
}
