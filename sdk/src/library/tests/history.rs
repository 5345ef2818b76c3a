//! Going back: merges, earlier versions, retired runs, what was deleted; and what two versions differ in.

use super::*;

fn made(id: &str, version: u64, run: &str) -> Skill {
    Skill {
        version: Version(version),
        body: format!("version {version}"),
        provenance: Provenance {
            origin: Origin::Summary,
            runs: vec![run.into()],
            tasks: Vec::new(),
        },
        ..skill(id, id)
    }
}

fn added(skill: Skill) -> LibraryChange {
    LibraryChange::Add(Box::new(skill))
}

fn revised(skill: Skill) -> LibraryChange {
    LibraryChange::Revise(Box::new(skill))
}

fn merge(skill: Skill, sources: &[&str]) -> LibraryChange {
    LibraryChange::Merge {
        beside: skill.state == State::Trial,
        skill: Box::new(skill),
        sources: sources.iter().map(|id| (*id).into()).collect(),
    }
}

fn roll_back(id: &str, to: u64) -> LibraryChange {
    LibraryChange::RollBack {
        skill: id.into(),
        to: Version(to),
        reason: "a test".into(),
    }
}

fn retire(run: &str) -> LibraryChange {
    LibraryChange::RetireRun {
        run: run.into(),
        reason: "a test".into(),
    }
}

fn restore(id: &str) -> LibraryChange {
    LibraryChange::Restore {
        skill: id.into(),
        reason: "a test".into(),
    }
}

fn place(id: &str, tier: Tier) -> LibraryChange {
    LibraryChange::Place {
        skill: id.into(),
        tier,
        reason: "a test".into(),
    }
}

fn entry<'a>(library: &'a SkillLibrary, id: &str) -> &'a Entry {
    library.get(&id.into()).unwrap()
}

#[test]
fn any_version_comes_back_as_a_new_one() {
    let library = start(
        small(2, 2),
        vec![
            added(made("a", 1, "r1")),
            revised(made("a", 2, "r2")),
            revised(made("a", 3, "r3")),
        ],
    );
    let (back, applied) = then(&library, vec![roll_back("a", 1)]);
    check_applied(&applied, "rolledback a", &[]);
    let now = entry(&back, "a");
    assert_eq!(
        (now.skill.version, now.skill.body.as_str()),
        (Version(4), "version 1")
    );
    assert_eq!(now.skill.parents, [reference("a", 1)]);
    assert_eq!(now.history.len(), 3);
    // And that can be taken back too.
    let (again, _) = then(&back, vec![roll_back("a", 3)]);
    assert_eq!(entry(&again, "a").skill.body, "version 3");
    let check = |id, to, reason| {
        let (_, applied) = then(&library, vec![roll_back(id, to)]);
        check_applied(&applied, "", &[(0, reason)]);
    };
    check("a", 3, PassReason::NotLater);
    check("a", 4, PassReason::NoSuchVersion);
    check("z", 1, PassReason::Unknown);
}

#[test]
fn a_merge_archives_its_sources_and_begins_at_their_mean() {
    let library = start(
        TierPolicy {
            beta: 0.0,
            ..small(4, 4)
        },
        vec![
            add("a"),
            add("b"),
            credit("a", "t1", 1.0),
            credit("b", "t2", 4.0),
        ],
    );
    let (library, applied) = then(&library, vec![merge(skill("m", "m"), &["a", "b", "z"])]);
    check_applied(&applied, "merged m, setaside a, setaside b", &[]);
    let merged = entry(&library, "m");
    assert_eq!((merged.utility, merged.uses, merged.credits), (2.5, 0, 0));
    assert_eq!(merged.skill.parents, [reference("a", 1), reference("b", 1)]);
    assert_eq!(entry(&library, "a").skill.state, State::Archived);
    let check = |skill: Skill, sources: &[&str], reason| {
        let (_, applied) = then(&library, vec![merge(skill, sources)]);
        check_applied(&applied, "", &[(0, reason)]);
    };
    check(skill("n", "n"), &["z"], PassReason::NoSource);
    check(skill("m", "m"), &["a"], PassReason::IdTaken);
}

#[test]
fn retiring_a_run_takes_back_all_that_came_from_it() {
    let person = Skill {
        provenance: Provenance {
            origin: Origin::Human,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        ..made("d", 2, "none")
    };
    let child = Skill {
        parents: vec![reference("b", 1)],
        ..made("c", 1, "good")
    };
    let library = start(
        small(9, 9),
        vec![
            // Good first, then bad, then made from the bad.
            added(made("a", 1, "good")),
            revised(made("a", 2, "bad")),
            revised(made("a", 3, "later")),
            added(made("b", 1, "bad")),
            added(child),
            added(made("d", 1, "bad")),
            revised(person),
            added(made("e", 1, "good")),
        ],
    );
    let (after, applied) = then(&library, vec![retire("bad")]);
    check_applied(
        &applied,
        "rolledback a, setaside b, setaside c, setaside d",
        &[],
    );
    assert_eq!(entry(&after, "a").skill.body, "version 1");
    assert_eq!(entry(&after, "a").skill.version, Version(4));
    // The versions in between are taken back too.
    let before = |library| entry(library, "a").version_before().map(|one| one.version);
    assert_eq!(before(&library), Some(Version(2)));
    assert_eq!(before(&after), Some(Version(1)));
    assert_eq!(entry(&after, "b").skill.state, State::Disabled);
    assert_eq!(entry(&after, "c").skill.state, State::Disabled);
    assert_eq!(entry(&after, "d").skill.state, State::Quarantined);
    assert_eq!(entry(&after, "e"), entry(&library, "e"));
    // Once is enough, and a run that made nothing changes nothing.
    for run in ["bad", "unheard of"] {
        let (again, applied) = then(&after, vec![retire(run)]);
        check_applied(&applied, "", &[]);
        assert!(again.entries().eq(after.entries()));
    }
}

#[test]
fn what_a_person_took_out_of_use_stays_so_when_its_run_is_retired() {
    for state in [State::Quarantined, State::Disabled, State::Archived] {
        let library = start(
            small(9, 9),
            vec![
                added(made("a", 1, "bad")),
                added(made("b", 1, "bad")),
                set_state("a", state),
            ],
        );
        let (after, applied) = then(&library, vec![retire("bad")]);
        check_applied(&applied, "setaside b", &[]);
        let kept = entry(&after, "a");
        assert_eq!(kept.skill.state, state);
        assert!(kept.is_out_by_host() && !kept.is_out_by_retirement());
        let (again, applied) = then(&after, vec![retire("bad")]);
        check_applied(&applied, "", &[]);
        assert!(again.entries().eq(after.entries()));
    }
}

#[test]
fn a_persons_version_that_a_person_took_out_of_use_stays_so_when_a_run_before_it_is_retired() {
    let person = Skill {
        provenance: Provenance {
            origin: Origin::Human,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        ..made("a", 3, "none")
    };
    let library = start(
        small(9, 9),
        vec![
            added(made("a", 1, "good")),
            revised(made("a", 2, "bad")),
            revised(person),
            set_state("a", State::Disabled),
        ],
    );
    let (after, applied) = then(&library, vec![retire("bad")]);
    check_applied(&applied, "", &[]);
    let kept = entry(&after, "a");
    assert_eq!(kept.skill.state, State::Disabled);
    assert!(kept.is_out_by_host() && !kept.is_out_by_retirement());
}

#[test]
fn an_edit_of_what_a_person_took_out_of_use_leaves_it_so() {
    let edited = |state: State| Skill {
        state,
        provenance: Provenance {
            origin: Origin::Human,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        ..made("a", 2, "none")
    };
    for state in [State::Quarantined, State::Disabled, State::Archived] {
        let library = start(
            small(9, 9),
            vec![added(made("a", 1, "first")), set_state("a", state)],
        );
        let (after, _) = then(&library, vec![revised(edited(state))]);
        assert!(entry(&after, "a").is_out_by_host(), "{state}");
        let (after, _) = then(&library, vec![revised(edited(State::Active))]);
        assert!(!entry(&after, "a").is_out_by_host(), "{state}");
    }
}

#[test]
fn what_a_run_rolled_back_is_forward_again_without_it() {
    let library = start(
        small(9, 9),
        vec![added(made("a", 1, "first")), revised(made("a", 2, "good"))],
    );
    let mut rolled = library.clone();
    let mut commit = committed(library.revision().next().0, vec![roll_back("a", 1)]);
    commit.cause.run = Some("broken".into());
    rolled.apply(&commit).unwrap();
    assert_eq!(entry(&rolled, "a").skill.body, "version 1");
    let (after, applied) = then(&rolled, vec![retire("broken")]);
    check_applied(&applied, "rolledback a", &[]);
    let skill = &entry(&after, "a").skill;
    assert_eq!(
        (skill.body.as_str(), skill.state),
        ("version 2", State::Active)
    );
}

#[test]
fn what_a_retired_run_brought_back_is_aside_again() {
    let library = start(
        small(9, 9),
        vec![
            added(made("a", 1, "good")),
            set_state("a", State::Disabled),
            revised(made("a", 2, "bad")),
        ],
    );
    assert_eq!(entry(&library, "a").skill.state, State::Active);
    let (after, applied) = then(&library, vec![retire("bad")]);
    check_applied(&applied, "rolledback a, setaside a", &[]);
    let skill = &entry(&after, "a").skill;
    assert_eq!(
        (skill.body.as_str(), skill.state),
        ("version 1", State::Disabled)
    );
    // The same where the run merged it away afterwards.
    let (merged, _) = then(&library, vec![merge(made("m", 1, "bad"), &["a"])]);
    let (after, _) = then(&merged, vec![retire("bad")]);
    assert_eq!(entry(&after, "a").skill.state, State::Disabled);
    // Who asks for an earlier version by its number wants it offered.
    let (back, _) = then(&library, vec![roll_back("a", 1)]);
    assert_eq!(entry(&back, "a").skill.state, State::Active);
}

#[test]
fn a_retired_runs_credits_are_taken_back_and_stay_seen() {
    let policy = TierPolicy {
        beta: 0.5,
        ..small(4, 4)
    };
    let start = start(policy, vec![add("a")]);
    let by = |library: &SkillLibrary, run: &str, change: LibraryChange| {
        let mut library = library.clone();
        let mut commit = committed(library.revision().next().0, vec![change]);
        commit.cause.run = Some(run.into());
        library.apply(&commit).unwrap();
        library
    };
    let credits = [("good", "t1", 1.0), ("bad", "t2", 9.0), ("good", "t3", 2.0)];
    let all = credits
        .iter()
        .fold(start.clone(), |library, (run, attempt, reward)| {
            by(&library, run, credit("a", attempt, *reward))
        });
    let good = credits.iter().filter(|(run, ..)| *run == "good");
    let good = good.fold(start, |library, (run, attempt, reward)| {
        by(&library, run, credit("a", attempt, *reward))
    });
    let (after, applied) = then(&all, vec![retire("bad")]);
    check_applied(&applied, "", &[]);
    let (found, expect) = (entry(&after, "a"), entry(&good, "a"));
    assert_eq!((found.utility, found.uses, found.credits), (1.25, 2, 2));
    assert_eq!(found.evidence, expect.evidence);
    let (_, applied) = then(&after, vec![credit("a", "t2", 9.0)]);
    check_applied(&applied, "", &[(0, PassReason::SeenBefore)]);
}

#[test]
fn what_was_merged_by_a_retired_run_is_as_before() {
    let library = start(
        small(9, 9),
        vec![
            add("a"),
            add_in("b", State::Trial),
            added(made("x", 1, "bad")),
            merge(made("m", 1, "bad"), &["a", "b", "x"]),
        ],
    );
    let (after, applied) = then(&library, vec![retire("bad")]);
    check_applied(&applied, "setaside m, released a, released b", &[]);
    assert_eq!(entry(&after, "a").skill.state, State::Active);
    assert_eq!(entry(&after, "b").skill.state, State::Trial);
    assert_eq!(entry(&after, "x").skill.state, State::Disabled);
    // A person who takes a source out of the archive takes it out of the merge.
    let (kept, _) = then(&library, vec![set_state("a", State::Draft), retire("bad")]);
    assert_eq!(entry(&kept, "a").skill.state, State::Draft);
}

/// A skill on trial that a run merged.
fn on_trial(id: &str, run: &str) -> Skill {
    Skill {
        state: State::Trial,
        ..made(id, 1, run)
    }
}

/// A commit of a run on top of a library.
fn by_run(library: &SkillLibrary, run: &str, change: LibraryChange) -> SkillLibrary {
    let mut library = library.clone();
    let mut commit = committed(library.revision().next().0, vec![change]);
    commit.cause.run = Some(run.into());
    library.apply(&commit).unwrap();
    library
}

#[test]
fn a_merge_on_trial_leaves_its_sources_as_they_are_until_it_is_active() {
    let sources = vec![add("a"), add_in("b", State::Trial), add("c"), add("d")];
    let library = start(small(9, 9), sources);
    let merged = merge(on_trial("m", "good"), &["a", "b", "c", "d"]);
    let (beside, applied) = then(&library, vec![merged]);
    check_applied(&applied, "merged m", &[]);
    check_tiers(&beside, "a b c d m", "");
    // Those that change meanwhile are no sources any more.
    let changes = vec![revise("c", "c", 2), set_state("d", State::Disabled)];
    let (changed, _) = then(&beside, changes);
    assert_eq!(ids(changed.offered_beside(&"m".into())), "a b");
    let (active, applied) = then(&changed, vec![set_state("m", State::Active)]);
    check_applied(&applied, "setaside a, setaside b", &[]);
    check_tiers(&active, "c m", "");
    assert_eq!(entry(&active, "a").skill.state, State::Archived);
    // A merge that is taken out of use on trial changes nothing of them.
    let (without, applied) = then(&beside, vec![set_state("m", State::Disabled)]);
    check_applied(&applied, "setaside m", &[]);
    check_tiers(&without, "a b c d", "");
}

#[test]
fn the_sources_of_a_merge_that_the_library_holds_in_quarantine_stay_beside_it() {
    let library = start(small(9, 9), vec![add("a"), add("b")]);
    let tainted = Skill {
        taint: Taint::Tainted,
        ..made("m", 1, "good")
    };
    assert_eq!(tainted.state, State::Active);
    let merged = LibraryChange::Merge {
        skill: Box::new(tainted),
        sources: vec!["a".into(), "b".into()],
        beside: true,
    };
    let (beside, _) = then(&library, vec![merged]);
    assert_eq!(entry(&beside, "m").skill.state, State::Quarantined);
    check_tiers(&beside, "a b", "");
    let (active, _) = then(&beside, vec![set_state("m", State::Active)]);
    check_tiers(&active, "m", "");
    assert_eq!(entry(&active, "a").skill.state, State::Archived);
}

#[test]
fn the_sources_of_a_merge_give_way_whatever_state_it_comes_into_use_from() {
    for first in [
        State::Trial,
        State::Quarantined,
        State::Draft,
        State::Disabled,
    ] {
        let merged = LibraryChange::Merge {
            skill: Box::new(Skill {
                state: first,
                ..skill("m", "m")
            }),
            sources: vec!["a".into(), "b".into()],
            beside: true,
        };
        let library = start(small(9, 9), vec![add("a"), add("b"), merged]);
        for id in ["a", "b"] {
            assert_eq!(entry(&library, id).skill.state, State::Active, "{first:?}");
        }
        // A merge that did worse is disabled, and a person may use it nevertheless.
        let (disabled, _) = then(&library, vec![set_state("m", State::Disabled)]);
        for library in [library, disabled] {
            let (used, _) = then(&library, vec![set_state("m", State::Active)]);
            check_tiers(&used, "m", "");
            for id in ["a", "b"] {
                assert_eq!(entry(&used, id).skill.state, State::Archived, "{first:?}");
            }
        }
    }
}

#[test]
fn a_released_merge_is_taken_back_with_its_release_or_with_the_run_that_merged() {
    let states = |library: &SkillLibrary| ["m", "a", "b"].map(|id| entry(library, id).skill.state);
    let library = start(small(9, 9), vec![add("a"), add_in("b", State::Trial)]);
    let early = by_run(&library, "early", set_state("b", State::Active));
    let merged = merge(on_trial("m", "merging"), &["a", "b"]);
    let beside = by_run(&early, "merging", merged);
    let active = by_run(&beside, "proving", set_state("m", State::Active));
    let archived = [State::Active, State::Archived, State::Archived];
    assert_eq!(states(&active), archived);

    let (unproven, applied) = then(&active, vec![retire("proving")]);
    check_applied(&applied, "released a, released b", &[]);
    let tried = [State::Trial, State::Active, State::Active];
    assert_eq!(states(&unproven), tried);
    let again = by_run(&unproven, "later", set_state("m", State::Active));
    assert_eq!(states(&again), archived);

    let before = [State::Disabled, State::Active, State::Active];
    for library in [&active, &unproven] {
        let (unmerged, _) = then(library, vec![retire("merging")]);
        assert_eq!(states(&unmerged), before);
    }
    // What a run before them had released goes back with it.
    let (active, _) = then(&active, vec![retire("early")]);
    assert_eq!(states(&active), archived);
    let (unmerged, _) = then(&active, vec![retire("merging")]);
    let before = [State::Disabled, State::Active, State::Trial];
    assert_eq!(states(&unmerged), before);
}

#[test]
fn what_was_deleted_comes_back_as_it_was() {
    let library = start(
        small(1, 0),
        vec![
            add("a"),
            credit("a", "t1", -1.0),
            add("b"),
            LibraryChange::Maintain,
        ],
    );
    check_tiers(&library, "b", "");
    let deleted: Vec<_> = library
        .deleted()
        .map(|entry| entry.skill.id.as_str())
        .collect();
    assert_eq!(deleted, ["a"]);
    assert!(library.version(&reference("a", 1)).is_some());
    let (back, applied) = then(&library, vec![restore("a")]);
    check_applied(&applied, "restored a", &[]);
    assert_eq!(entry(&back, "a").evidence.len(), 1);
    assert_eq!(back.deleted().count(), 0);
    // Its name may be another's by then.
    let taken = LibraryChange::Add(Box::new(skill("c", "a")));
    let (back, _) = then(&library, vec![taken, restore("a")]);
    assert_eq!(entry(&back, "a").skill.name.as_str(), "a-2");
    let check = |id, reason| {
        let (_, applied) = then(&library, vec![restore(id)]);
        check_applied(&applied, "", &[(0, reason)]);
    };
    check("b", PassReason::NotDeleted);
    check("z", PassReason::Unknown);
    // What a retired run made is not offered when it comes back.
    let library = start(
        small(1, 0),
        vec![
            added(made("a", 1, "bad")),
            add("b"),
            LibraryChange::Maintain,
        ],
    );
    let (library, _) = then(&library, vec![retire("bad"), restore("a")]);
    assert_eq!(entry(&library, "a").skill.state, State::Disabled);
    assert_eq!(entry(&library, "a").tier, Tier::Aside);
}

#[test]
fn an_offered_skill_is_placed_where_somebody_asks() {
    let library = start(small(2, 2), vec![add("a"), add_in("q", State::Quarantined)]);
    let (library, applied) = then(&library, vec![place("a", Tier::Reservoir)]);
    check_applied(&applied, "placed a", &[]);
    check_tiers(&library, "", "a");
    let (_, applied) = then(&library, vec![place("a", Tier::Reservoir)]);
    check_applied(&applied, "", &[]);
    let (_, applied) = then(&library, vec![place("q", Tier::Cache)]);
    check_applied(&applied, "", &[(0, PassReason::NotOffered)]);
}

#[test]
fn changes_that_no_library_takes() {
    let check = |change: LibraryChange, field: &str| {
        let error = change.validate().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().starts_with(field), "{error}");
    };
    check(merge(skill("m", "m"), &["m", "a"]), "sources");
    check(merge(skill("m", "m"), &[]), "sources");
    check(merge(skill("m", "m"), &["a", "b", "a"]), "sources");
    check(merge(made("m", 0, "r"), &["a"]), "version");
    check(added(made("m", u64::MAX, "r")), "version");
    check(roll_back("a", 0), "to");
    check(place("a", Tier::Aside), "tier");
}

#[test]
fn a_difference_is_told_field_by_field_and_line_by_line() {
    let mut first = made("a", 1, "r");
    first.body = "1. open\n2. pour\n3. close\n".into();
    first.metadata.insert("author".into(), "ada".into());
    let mut second = made("a", 2, "r");
    second.body = "1. open\n2. pour slowly\n3. close\n".into();
    second.description = "what it is for now".into();
    second.trigger = Some("pour".into());
    second.scope = Scope::Category("coffee".into());
    let library = start(small(2, 2), vec![added(first), revised(second)]);
    let id = "a".into();
    let difference = library.difference(&id, Version(1), Version(2)).unwrap();
    assert_eq!(
        difference.to_string(),
        "description: what it is for -> what it is for now\n\
         scope: general -> category coffee\n\
         trigger: (none) -> pour\n\
         metadata.author: ada -> (none)\n\
         --- a version 1\n+++ a version 2\n@@ -1,3 +1,3 @@\n 1. open\n-2. pour\n+2. pour slowly\n 3. close\n"
    );
    let same = library.difference(&id, Version(2), Version(2)).unwrap();
    assert_eq!(same.to_string(), "");
    let error = library.difference(&id, Version(1), Version(3)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let error = library.difference(&"z".into(), Version(1), Version(1));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn what_is_tainted_or_imported_is_held_until_somebody_releases_it() {
    let of = |origin: Origin, taint: Taint| {
        let mut skill = made("a", 1, "r");
        skill.provenance.origin = origin;
        skill.taint = taint;
        skill
    };
    let check = |skill: Skill, expect: State| {
        let library = start(small(9, 9), vec![added(skill)]);
        assert_eq!(entry(&library, "a").skill.state, expect);
    };
    check(of(Origin::Summary, Taint::Clean), State::Active);
    check(of(Origin::Summary, Taint::Tainted), State::Quarantined);
    check(of(Origin::Imported, Taint::Clean), State::Quarantined);
    check(of(Origin::Seed, Taint::Clean), State::Active);
    check(of(Origin::Human, Taint::Tainted), State::Active);
    let trial = Skill {
        state: State::Trial,
        ..of(Origin::Summary, Taint::Tainted)
    };
    check(trial, State::Trial);
}

#[test]
fn taint_goes_from_parent_to_child_and_is_held_again_when_it_comes_back() {
    let tainted = Skill {
        taint: Taint::Tainted,
        ..made("a", 1, "r")
    };
    let child = Skill {
        parents: vec![reference("a", 1)],
        ..made("b", 1, "r")
    };
    let person = Skill {
        parents: vec![reference("a", 1)],
        provenance: Provenance {
            origin: Origin::Human,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        ..made("a", 2, "r")
    };
    let library = start(
        small(9, 9),
        vec![
            added(tainted),
            added(child),
            merge(made("m", 1, "r"), &["b"]),
            revised(person),
        ],
    );
    for id in ["b", "m"] {
        let skill = &entry(&library, id).skill;
        assert_eq!((skill.taint, id), (Taint::Tainted, id));
    }
    assert_eq!(entry(&library, "m").skill.state, State::Quarantined);
    assert_eq!(entry(&library, "a").skill.state, State::Active);
    let (back, _) = then(&library, vec![roll_back("a", 1)]);
    assert_eq!(entry(&back, "a").skill.state, State::Quarantined);
    let (released, _) = then(&back, vec![set_state("a", State::Active)]);
    let (released, _) = then(&released, vec![roll_back("a", 2), roll_back("a", 3)]);
    assert_eq!(entry(&released, "a").skill.state, State::Active);
}

#[test]
fn evidence_releases_from_quarantine_what_nobody_decided_about() {
    let tainted = |version| Skill {
        taint: Taint::Tainted,
        ..made("a", version, "r")
    };
    let release = |version| LibraryChange::Release {
        skill: reference("a", version),
        reason: "a test".to_owned(),
        from_quarantine: true,
    };
    let state = |library: &SkillLibrary| entry(library, "a").skill.state;
    let waits = |library: &SkillLibrary| entry(library, "a").awaits_evidence();
    let library = start(small(9, 9), vec![added(tainted(1))]);
    assert!(waits(&library));
    let (released, _) = then(&library, vec![release(1)]);
    assert_eq!(state(&released), State::Active);
    assert_eq!(entry(&released, "a").skill.taint, Taint::Tainted);
    // The host or the end of a trial holds it; the next version waits anew, and so does one of which a run's word is taken back.
    let (held, _) = then(&library, vec![set_state("a", State::Quarantined)]);
    assert!(!waits(&held));
    assert_eq!(state(&then(&held, vec![release(1)]).0), State::Quarantined);
    let (next, _) = then(&held, vec![revised(tainted(2))]);
    let end = vec![set_state("a", State::Quarantined)];
    let mut by_run = committed(library.revision().next().0, end);
    by_run.cause.run = Some("judge".into());
    let mut ended = library.clone();
    ended.apply(&by_run).unwrap();
    assert!(!waits(&ended));
    let (anew, _) = then(&ended, vec![revised(tainted(2))]);
    assert!(waits(&anew), "a later version");
    let (back, _) = then(&anew, vec![roll_back("a", 1)]);
    assert!(!waits(&back), "what comes back is as it was");
    let (retired, _) = then(&ended, vec![retire("judge")]);
    assert!(waits(&retired));
    assert!(
        !waits(&next),
        "a person's word holds for what was made of it"
    );
    // A clean skill that somebody put there is not tried.
    let clean = Skill {
        state: State::Quarantined,
        ..made("a", 1, "r")
    };
    assert!(!waits(&start(small(9, 9), vec![added(clean)])));
}

#[test]
fn no_way_round_makes_a_tainted_version_active() {
    let with = |version: u64, run: &str, taint: Taint, state: State| Skill {
        taint,
        state,
        ..made("a", version, run)
    };
    let tainted = |state: State| with(1, "r", Taint::Tainted, state);
    let state = |library: &SkillLibrary| entry(library, "a").skill.state;
    // A revision that names no parent has the version before as its parent.
    let clean = revised(with(2, "bad", Taint::Clean, State::Active));
    let library = start(
        small(9, 9),
        vec![added(tainted(State::Active)), clean.clone()],
    );
    assert_eq!(entry(&library, "a").skill.taint, Taint::Tainted);
    assert_eq!(state(&library), State::Quarantined);
    // One that was on trial and never active, behind an active one.
    let parentless = Skill {
        provenance: Provenance {
            origin: Origin::Human,
            runs: vec!["bad".into()],
            tasks: Vec::new(),
        },
        ..with(2, "bad", Taint::Clean, State::Active)
    };
    let library = start(
        small(9, 9),
        vec![added(tainted(State::Trial)), revised(parentless)],
    );
    assert_eq!(state(&library), State::Active);
    let (back, _) = then(&library, vec![roll_back("a", 1)]);
    assert_eq!(state(&back), State::Quarantined);
    // A merge that is taken back does not release what came after it.
    let library = start(
        small(9, 9),
        vec![
            added(made("a", 1, "r")),
            merge(made("m", 1, "bad"), &["a"]),
            revised(with(2, "r", Taint::Tainted, State::Active)),
            retire("bad"),
        ],
    );
    assert_eq!(entry(&library, "m").skill.state, State::Disabled);
    assert_eq!(state(&library), State::Quarantined);
}

#[test]
fn a_retired_run_leaves_nothing_in_what_is_deleted() {
    let library = start(
        TierPolicy {
            beta: 0.0,
            ..small(1, 0)
        },
        vec![
            added(made("a", 1, "good")),
            revised(made("a", 2, "bad")),
            add("b"),
            credit("b", "t", 1.0),
            LibraryChange::Maintain,
            retire("bad"),
            restore("a"),
        ],
    );
    let back = entry(&library, "a");
    assert_eq!(
        (back.skill.version, back.skill.state),
        (Version(3), State::Active)
    );
    assert_eq!(back.skill.body, "version 1");
}
