//! What is learned serves held-out requests at least as well as a person's skills with a plain search.
#![allow(clippy::unwrap_used, missing_docs)]

use std::{collections::BTreeSet, process::Command, sync::Arc};

use journeyman::{Seed, prelude::*};
use shop::{
    desk::{Desk, tasks},
    gate, parts, scripted,
};

/// The numbers of each row of the program's table: shares in percent, wrong skills, decisions that were not made.
fn rows(seed: u32) -> Vec<Vec<f64>> {
    let program = Command::new(env!("CARGO_BIN_EXE_shop"))
        .args(["--seed", &seed.to_string()])
        .output()
        .unwrap();
    assert!(program.status.success(), "{program:?}");
    let text = String::from_utf8(program.stdout).unwrap();
    let number = |word: &str| word.trim_end_matches('%').parse().unwrap();
    let rows = text.lines().skip(1);
    rows.map(|row| row[12..].split_whitespace().map(number).collect())
        .collect()
}

#[test]
fn both_ways_in_are_at_least_as_good_as_a_person() {
    for seed in [1, 2] {
        let rows = rows(seed);
        let [none, person, learned @ ..] = rows.as_slice() else {
            panic!("{rows:?}");
        };
        assert_eq!(none[1..], [0.0, 100.0, 0.0, 0.0]);
        assert_eq!(learned.len(), 2);
        for learned in learned {
            assert!(learned[0] >= person[0], "{rows:?}");
            assert!(learned[3] <= person[3], "{rows:?}");
            assert_eq!((learned[2], learned[4]), (100.0, 0.0), "{rows:?}");
        }
    }
}

#[tokio::test]
async fn a_skill_is_written_for_each_house_rule_and_for_nothing_else() {
    let parts = parts(Arc::new(scripted::scorer())).unwrap();
    let options = Options::new("shop", Seed(3));
    let session = Journeyman::open(parts, gate(5.0), options).await.unwrap();
    session.learn(tasks(Seed(3), 45, false)).await.unwrap();
    let library = session.library().await.unwrap();
    let names = library
        .entries()
        .map(|one| one.skill.original_name.clone().unwrap());
    let tags = tasks(Seed(3), 9, false)
        .into_iter()
        .flat_map(|task| task.tags);
    assert_eq!(names.collect::<BTreeSet<_>>(), tags.collect());
}

#[test]
fn held_out_messages_are_other_ones_and_name_no_tool() {
    let messages = |held_out| -> BTreeSet<String> {
        let tasks = tasks(Seed(3), 600, held_out).into_iter();
        tasks.map(|task| task.instruction).collect()
    };
    let (training, held_out) = (messages(false), messages(true));
    assert!(training.len() > 60 && held_out.len() > 60);
    assert!(training.is_disjoint(&held_out));
    assert!(
        training
            .iter()
            .chain(&held_out)
            .all(|text| !text.contains('_'))
    );
}

#[tokio::test]
async fn the_desk_says_its_rule_only_when_it_refuses() {
    let task = tasks(Seed(3), 1, false).remove(0);
    let mut desk = Desk::default().reset(&task, Seed(1)).await.unwrap();
    let call = |tool: &str| Action::call(tool, serde_json::json!({}));
    for (tool, expect) in [
        ("cancel_order", "This customer has not asked for that."),
        (
            "refund_payment",
            "A damaged item is refunded only after the customer has sent a photo of the damage. Call ask_for_photo first.",
        ),
        ("ask_for_photo", "Done."),
        ("refund_payment", "Done."),
    ] {
        let answer = desk.step(&call(tool)).await.unwrap();
        assert_eq!(answer.observation.text, expect);
        assert_eq!(answer.is_error, expect != "Done.");
        assert_eq!(
            answer.outcome.is_some(),
            expect == "Done." && tool == "refund_payment"
        );
    }
}
