//! Rules, from how earlier skills fared.

use super::*;

fn experience(text: &str, helpful: u32, harmful: u32) -> Experience {
    Experience {
        skill: skill_of("s", text),
        helpful,
        harmful,
        other: 2,
        bundle: None,
        fate: "active".into(),
    }
}

fn evolve(texts: &[&str], rows: Vec<Experience>) -> RoleTask {
    RoleTask::Evolve {
        role: Part::Extract,
        rules: rules(texts),
        rows,
    }
}

const FIRST: &str = "cut rope: lift bell; cut rope zone #";
const FIXED: &str = "cut rope: cut rope zone 7";
const BOTH: &str = "cut rope: lift bell; cut rope zone 7";
const GIVEN: &str = "cut rope: cut rope zone $";
const CARRIED: &str = "cut rope: lift bell; cut rope zone @";

#[test]
fn experiences_are_shown_as_rows_of_features() {
    let rows = vec![
        experience(FIRST, 0, 2),
        experience(FIRST, 5, 1),
        experience(FIRST, 1, 1),
        experience(FIXED, 2, 0),
        experience(GIVEN, 0, 0),
        experience(CARRIED, 1, 0),
        experience(CARRIED, 0, 1),
    ];
    // Even ones and those that tell nothing are left out; two rows are repeated until there are five.
    let expected = "<s><note> fixed good<note> first bad<note> fixed good<note> first bad<note> fixed good<rule>";
    assert_eq!(prompt(&evolve(&["avoid first"], rows)), expected);
    assert_eq!(prompt(&evolve(&[], Vec::new())), "<s><rule>");
    let mut unreadable = experience(FIRST, 3, 0);
    unreadable.skill.body = "Be careful.".into();
    assert_eq!(prompt(&evolve(&[], vec![unreadable])), "<s><rule>");
    let values = ["#", "$", "7", "@"];
    let shapes = values.iter().flat_map(|value| {
        [
            format!("cut rope: cut rope zone {value}"),
            format!("cut rope: lift bell; cut rope zone {value}"),
            format!("cut rope: lift bell; fold map; cut rope zone {value} tone 7"),
        ]
    });
    let many = shapes
        .enumerate()
        .map(|(at, text)| experience(&text, u32::from(at % 3 > 0), 1 - u32::from(at % 3 > 0)));
    let shown = prompt(&evolve(&[], many.collect()));
    assert_eq!(shown.matches("<note>").count(), 8, "{shown}");
    assert!(
        shown.matches(" bad").count() >= 3 && shown.matches(" good").count() >= 4,
        "{shown}"
    );
}

#[test]
fn a_rule_joins_where_experience_singles_it_out_and_goes_where_it_is_contradicted() {
    let answer = |task: &RoleTask, text: &str| match read(task, text).unwrap() {
        RoleAnswer::Rules(rules) => rules.into_iter().map(|rule| rule.0).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let bad_first = || {
        vec![
            experience(FIRST, 0, 2),
            experience(FIRST, 1, 2),
            experience(BOTH, 0, 1),
            experience(FIXED, 3, 0),
            experience(GIVEN, 2, 1),
            experience(GIVEN, 1, 0),
        ]
    };
    let none: &[&str] = &[];
    for (so_far, text, expected) in [
        (none, " avoid first\n", &["avoid first"][..]),
        (none, "none", none),
        // It would keep good ones out, or tells them apart by chance at best.
        (none, "prefer first", none),
        (none, "avoid fixed", none),
        (none, "prefer given", none),
        // Known already, or contradicted by now; what is not in its words stays.
        (&["avoid first"], "avoid first", &["avoid first"]),
        (&["prefer first"], "avoid first", &["avoid first"]),
        (&["avoid given", "be brief"], "none", &["be brief"]),
        (
            &["avoid carried"],
            "avoid first",
            &["avoid carried", "avoid first"],
        ),
        (
            &["a", "b", "c", "d", "e"],
            "avoid first",
            &["a", "b", "c", "d", "e"],
        ),
    ] {
        let task = evolve(so_far, bad_first());
        assert_eq!(answer(&task, text), expected, "{so_far:?} {text}");
    }
    // So few may fall so by chance: once in ten times.
    let few = bad_first().split_off(1);
    assert_eq!(answer(&evolve(&[], few), "avoid first"), none);
    // Two rules that fit as well as one another: which of them holds is open.
    let bad = experience("cut rope: lift bell; cut rope zone $", 0, 3);
    let good = experience("cut rope: cut rope zone #", 3, 0);
    let open = [vec![bad; 3], vec![good; 3]].concat();
    assert_eq!(answer(&evolve(&[], open), "avoid first"), none);
    // Nothing that fared badly, nothing that fared well, nothing at all.
    for rows in [
        vec![experience(FIXED, 3, 0)],
        vec![experience(FIRST, 0, 3)],
        Vec::new(),
    ] {
        assert_eq!(answer(&evolve(&[], rows), "avoid first"), none);
    }
    for garbage in ["", "avoid", "avoid rain", "avoid first; avoid long", "good"] {
        check_unusable(&evolve(&[], bad_first()), garbage, "avoid FEATURE");
    }
}
