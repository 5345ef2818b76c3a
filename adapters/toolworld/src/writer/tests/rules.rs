//! Rules from the outcomes of earlier skills.

use super::*;

fn experience(text: &str, helpful: u32, harmful: u32) -> Experience {
    Experience {
        skill: skill_of("s", text),
        helpful,
        harmful,
        other: 2,
        bundle: None,
        before: None,
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

const PLAIN: &str = "cut rope: cut rope zone #";
const FIRST: &str = "cut rope: lift bell; cut rope zone #";
const FIXED: &str = "cut rope: cut rope zone 7";
const BOTH: &str = "cut rope: lift bell; cut rope zone 7";
const GIVEN: &str = "cut rope: cut rope zone $";
const CARRIED: &str = "cut rope: lift bell; cut rope zone @";

/// The same skill for another tool.
fn of(tool: &str, text: &str) -> String {
    text.replace("rope", tool)
}

#[test]
fn experiences_are_shown_as_rows_of_features() {
    let rows = vec![
        experience(FIRST, 0, 2),
        experience(&of("log", FIRST), 5, 1),
        experience(&of("vine", FIRST), 1, 1),
        experience(FIXED, 2, 0),
        experience(GIVEN, 0, 0),
        experience(CARRIED, 1, 0),
        experience(&of("log", CARRIED), 0, 1),
    ];
    // Ties and uninformative experiences are left out; two rows are repeated up to five.
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
        RoleAnswer::Rules(rules) => rules.into_iter().map(String::from).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let bad_first = || {
        vec![
            experience(FIRST, 0, 2),
            experience(&of("log", FIRST), 1, 2),
            experience(BOTH, 0, 1),
            experience(FIXED, 3, 0),
            experience(GIVEN, 2, 1),
            experience(&of("log", GIVEN), 1, 0),
        ]
    };
    let none: &[&str] = &[];
    for (so_far, text, expected) in [
        (none, " avoid first\n", &["avoid first"][..]),
        (none, "none", none),
        // The rule would keep good skills out, or fits by chance at best.
        (none, "prefer first", none),
        (none, "avoid fixed", none),
        (none, "prefer given", none),
        // Known already, or contradicted; rules in other words are kept.
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
    // So few rows fit by chance once in ten times.
    let few = bad_first().split_off(1);
    assert_eq!(answer(&evolve(&[], few), "avoid first"), none);
    // Of 12, five bad ones of six kept out by chance: 37 of 924 times; of ten, four of five: 26 of 252 times.
    let mixed = |some: usize| {
        let tools = ["log", "vine", "wire", "hose", "pipe"];
        let of = |text: &str, helpful, harmful| {
            let all = tools.iter().take(some);
            all.map(|tool| experience(&of(tool, text), helpful, harmful))
                .collect::<Vec<_>>()
        };
        let others = vec![experience(FIRST, 1, 0), experience(PLAIN, 0, 1)];
        evolve(&[], [of(FIRST, 0, 1), of(PLAIN, 1, 0), others].concat())
    };
    assert_eq!(answer(&mixed(5), "avoid first"), ["avoid first"]);
    assert_eq!(answer(&mixed(4), "avoid first"), none);
    // Unchanged versions count as one row.
    let again = vec![experience(FIRST, 0, 1); 5];
    let again = [again, vec![experience(GIVEN, 1, 0); 5]].concat();
    assert_eq!(answer(&evolve(&[], again), "avoid first"), none);
    // Two rules fit equally well, so neither is supported.
    let tools = ["rope", "log", "vine"];
    let open = tools.iter().flat_map(|tool| {
        let bad = of(tool, "cut rope: lift bell; cut rope zone $");
        let good = of(tool, PLAIN);
        [experience(&bad, 0, 3), experience(&good, 3, 0)]
    });
    let open = evolve(&[], open.collect());
    assert_eq!(answer(&open, "avoid first"), none);
    // No bad outcomes, no good outcomes, no outcomes at all.
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

#[test]
fn a_row_that_no_rule_fits_with_the_better_borne_out_ones_is_not_shown() {
    let several = |text: &str, helpful, harmful| {
        let tools = ["rope", "log", "vine"];
        let all = tools.map(|tool| experience(&of(tool, text), helpful, harmful));
        all.to_vec()
    };
    let odd = vec![experience(&of("wire", FIXED), 0, 1)];
    let rows = [several(FIRST, 0, 1), several(PLAIN, 1, 0), odd].concat();
    // A skill with a fixed value had a bad outcome: `avoid first` fits all other rows.
    let shown = prompt(&evolve(&[], rows));
    assert!(
        shown.starts_with("<s><note> good<note> first bad"),
        "{shown}"
    );
    assert!(!shown.contains("fixed"), "{shown}");
}
