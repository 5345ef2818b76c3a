//! The roles of SCRIBE: segment, distil-prototype, route, score.

use std::collections::BTreeSet;

use journeyman::testing::Edited as _;
use journeyman::{
    Seed,
    contract::{RoleAnswer, RoleTask, Roles, SegmentPrompt},
    domain::{Role, Rubric, Segmentation, Subgoal, SubgoalScore, Trap},
    testing::sample,
};
use serde_json::{Value, json};

use super::{good, not_asked, prompt, read, request, shipped, shows};

fn score(score: u8) -> SubgoalScore {
    SubgoalScore::new(score).unwrap()
}

#[test]
fn every_role_reads_its_answer() {
    let read = |role| read(role, &good(role).to_string()).unwrap();
    let subgoal =
        |subgoal: &str, step| Subgoal::new(subgoal.to_owned(), "saying words", step, step);
    let subgoals = vec![
        subgoal("Say the first word.", 0),
        subgoal("Say the next word.", 1),
    ];
    assert_eq!(
        read(Role::Segment),
        RoleAnswer::Segments {
            segmentation: Segmentation::new(subgoals, 2).unwrap(),
            repaired: false,
        }
    );
    let rubric = Rubric::new("saying in order").edited(|it| {
        it.use_context = "Several words are to be said.".into();
        it.objectives = vec!["Each word is said.".to_owned()];
        it.pattern = "1. Say the first.\n2. Say the next.".into();
        it.checklist = vec![
            "No word is left out.".to_owned(),
            "The order is the task's.".to_owned(),
        ];
        it.traps = vec![Trap::new("The last word comes first.", score(1))];
    });
    assert_eq!(
        read(Role::DistilPrototype),
        RoleAnswer::Rubric(Box::new(rubric))
    );
    assert_eq!(
        read(Role::Route),
        RoleAnswer::Routed {
            prototype: Some(1),
            confidence: 0.8,
        }
    );
    assert_eq!(
        read(Role::Score),
        RoleAnswer::Scored {
            score: score(2),
            reason: "Step 1 says the word late.".to_owned(),
        }
    );
}

/// The spans that are read of an attempt with four steps, and whether they were repaired; nothing where they are refused.
fn spans(written: Value) -> Option<(Vec<(usize, usize)>, bool)> {
    let task = RoleTask::Segment {
        attempt: Box::new(sample::trace(
            "a",
            &sample::task("t", &["a"]),
            &["a", "b", "c", "d"],
            true,
        )),
        prompt: SegmentPrompt::Main,
    };
    let subgoals = written
        .as_array()
        .unwrap()
        .iter()
        .map(|span| json!({"subgoal": "s", "skill": "k", "first": span[0], "last": span[1]}));
    let answer = json!({"subgoals": subgoals.collect::<Vec<_>>()}).to_string();
    match shipped().read(&request(&task), &answer) {
        Ok(RoleAnswer::Segments {
            segmentation,
            repaired,
        }) => {
            let spans = segmentation.subgoals().iter();
            Some((spans.map(|one| (one.first, one.last)).collect(), repaired))
        }
        Ok(other) => panic!("{other:?}"),
        Err(_) => None,
    }
}

#[test]
fn spans_are_read_repaired_or_refused() {
    let whole = |spans: &[(usize, usize)]| Some((spans.to_vec(), false));
    let repaired = |spans: &[(usize, usize)]| Some((spans.to_vec(), true));
    for (written, expect) in [
        (json!([[0, 1], [2, 3]]), whole(&[(0, 1), (2, 3)])),
        (
            json!([["0", "step 1"], [2.0, "Step #3"]]),
            whole(&[(0, 1), (2, 3)]),
        ),
        // Counted from 1, an overlap, a gap, steps left out at the end, another order, more steps than there are.
        (json!([[1, 2], [3, 4]]), repaired(&[(0, 2), (3, 3)])),
        (json!([[0, 2], [2, 3]]), repaired(&[(0, 1), (2, 3)])),
        (json!([[0, 0], [3, 3]]), repaired(&[(0, 2), (3, 3)])),
        (json!([[0, 1]]), repaired(&[(0, 3)])),
        (json!([[2, 3], [0, 1]]), repaired(&[(0, 1), (2, 3)])),
        (json!([[0, 1], [2, 9], [7, 9]]), repaired(&[(0, 1), (2, 3)])),
        (json!([[0, 1], [3, 2]]), repaired(&[(0, 2), (3, 3)])),
        // Nothing is left, or it is no number of a step.
        (json!([]), None),
        (json!([[4, 5]]), None),
        (json!([[u64::MAX, u64::MAX]]), None),
        (json!([[0, -1]]), None),
        (json!([[0, 1.5]]), None),
        (json!([[0, "the end"]]), None),
        (json!([[0, "step -1"]]), None),
        (json!([[0, null]]), None),
        (json!([[[0], 1]]), None),
    ] {
        assert_eq!(spans(written.clone()), expect, "{written}");
    }
}

#[test]
fn a_subgoal_without_words_is_left_out_and_one_without_a_skill_is_refused() {
    let with = |at: &str| {
        let mut answer = good(Role::Segment);
        *answer.pointer_mut(at).unwrap() = json!(" ");
        read(Role::Segment, &answer.to_string())
    };
    let Ok(RoleAnswer::Segments {
        segmentation,
        repaired: true,
    }) = with("/subgoals/0/subgoal")
    else {
        panic!("it is repaired");
    };
    assert_eq!(segmentation.subgoals().len(), 1);
    let error = with("/subgoals/0/skill").unwrap_err();
    assert_eq!(error.message(), "skill is empty");
}

#[test]
fn scores_and_confidences_are_in_their_range() {
    let scored = |value: Value| match read(
        Role::Score,
        &json!({"reason": "r", "score": value}).to_string(),
    ) {
        Ok(RoleAnswer::Scored { score, .. }) => Some(score.get()),
        Ok(other) => panic!("{other:?}"),
        Err(error) => {
            assert_eq!(error.message(), "score is not a whole number from 0 to 3");
            None
        }
    };
    for (value, expect) in [
        (json!(0), Some(0)),
        (json!(3), Some(3)),
        (json!(2.0), Some(2)),
        (json!(" 2 "), Some(2)),
        (json!("2/3"), Some(2)),
        (json!("2 / 3"), Some(2)),
        (json!("score 1"), Some(1)),
        (json!(4), None),
        (json!(7), None),
        (json!(259), None),
        (json!(-1), None),
        (json!(2.5), None),
        (json!("7/10"), None),
        (json!("2/4"), None),
        (json!("3 out of 3"), None),
        (json!("2 or 3"), None),
        (json!("Mostly right."), None),
        (json!(true), None),
        (json!(null), None),
        (json!([2]), None),
    ] {
        assert_eq!(scored(value.clone()), expect, "{value}");
    }
    let sure = |value: Value| {
        let answer = json!({"reason": "r", "prototype": 1, "confidence": value});
        match read(Role::Route, &answer.to_string()) {
            Ok(RoleAnswer::Routed { confidence, .. }) => Some(confidence),
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                assert_eq!(error.message(), "confidence is not a number from 0 to 1");
                None
            }
        }
    };
    for (value, expect) in [
        (json!(0), Some(0.0)),
        (json!(1), Some(1.0)),
        (json!("0.25"), Some(0.25)),
        (json!("75%"), Some(0.75)),
        (json!(1.01), None),
        (json!(90), None),
        (json!("900%"), None),
        (json!(-0.1), None),
        (json!("NaN"), None),
        (json!("inf"), None),
        (json!("high"), None),
        (json!(null), None),
    ] {
        assert_eq!(sure(value.clone()), expect, "{value}");
    }
}

#[test]
fn a_prototype_is_one_of_those_that_are_shown_or_none() {
    let routed = |task: &RoleTask, value: Value| {
        let answer = json!({"reason": "r", "prototype": value, "confidence": 0.5});
        match shipped().read(&request(task), &answer.to_string()) {
            Ok(RoleAnswer::Routed { prototype, .. }) => Ok(prototype),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.message().to_owned()),
        }
    };
    let task = sample::role_task(Role::Route);
    for (value, expect) in [
        (json!(1), Some(0)),
        (json!("2"), Some(1)),
        (json!("prototype-2"), Some(1)),
        (json!("Prototype 2"), Some(1)),
        (json!("leaving"), Some(1)),
        (json!(" Greeting\n"), Some(0)),
        (json!(null), None),
        (json!("None"), None),
    ] {
        assert_eq!(routed(&task, value.clone()), Ok(expect), "{value}");
    }
    for value in [
        json!(0),
        json!(3),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("greet"),
        json!("prototype"),
        json!("1 or 2"),
        json!([1]),
        json!(true),
    ] {
        let refused = "prototype is none of the 2 that are shown, the first with the number 1";
        assert_eq!(
            routed(&task, value.clone()),
            Err(refused.to_owned()),
            "{value}"
        );
    }
    // A title that two have, or that reads as the number of the other one, tells neither.
    for titles in [["greeting", "greeting"], ["2", "x"]] {
        let mut task = sample::role_task(Role::Route);
        if let RoleTask::Route { prototypes, .. } = &mut task {
            for (prototype, title) in prototypes.iter_mut().zip(titles) {
                prototype.rubric.title = title.to_owned();
            }
        }
        assert_eq!(
            routed(&task, json!(titles[0])),
            Err("prototype fits more than one of those that are shown".to_owned())
        );
        assert_eq!(routed(&task, json!(2)), Ok(Some(1)), "by its number");
    }
}

#[test]
fn a_rubric_has_what_a_judge_needs() {
    let with = |at: &str, value: Value| {
        let mut answer = good(Role::DistilPrototype);
        *answer.pointer_mut(at).unwrap() = value;
        read(Role::DistilPrototype, &answer.to_string())
    };
    // A pattern as a list of steps is read, and there may be no trap.
    let Ok(RoleAnswer::Rubric(rubric)) = with("/pattern", json!(["Say one.", "Say two."])) else {
        panic!("it is read");
    };
    assert_eq!(rubric.pattern, "Say one.\nSay two.");
    assert!(
        matches!(with("/traps", json!([])), Ok(RoleAnswer::Rubric(rubric)) if rubric.traps.is_empty())
    );
    for (at, value, expect) in [
        ("/checklist", json!([]), "checklist is empty"),
        (
            "/checklist",
            json!("all is well"),
            "checklist is not an array",
        ),
        ("/checklist", json!(["- "]), "a check is empty"),
        ("/checklist/0", json!(null), "a check is not a string"),
        (
            "/checklist",
            json!(vec!["x"; 13]),
            "checklist has 13 entries, and 12 is the most",
        ),
        (
            "/checklist",
            json!(vec!["x"; 9]),
            "the JSON breaks the schema; at /checklist",
        ),
        (
            "/objectives",
            json!([]),
            "the JSON breaks the schema; at /objectives",
        ),
        (
            "/traps/0/score",
            json!(7),
            "score is not a whole number from 0 to 3",
        ),
        (
            "/traps/0/score",
            json!("bad"),
            "score is not a whole number from 0 to 3",
        ),
        ("/traps/0", json!("a trap"), "a trap is not an object"),
        (
            "/pattern",
            json!([1]),
            "pattern has an entry that is not a string",
        ),
        ("/pattern", json!([]), "pattern is empty"),
        ("/title", json!(""), "title is empty"),
    ] {
        let error = with(at, value).unwrap_err();
        assert!(error.message().starts_with(expect), "{at}: {error}");
    }
}

#[test]
fn each_role_is_shown_what_it_works_on() {
    let verdict = "The task was done";
    let task = sample::role_task(Role::Segment);
    shows(
        &task,
        &[
            "<task>\nsay good and then day\n</task>",
            "\n<attempt>\n0. good\n=> go on\n1. day\n=> go on\n\n</attempt>",
        ],
    );
    assert!(
        !prompt(&task).contains(verdict),
        "a cut is not told the end"
    );
    shows(
        &sample::role_task(Role::DistilPrototype),
        &[
            "Subgoal 1\n<task-1>\nsay good and then day\n</task-1>\n<subgoal-1>\nsubgoal: greet\nskill: saying\n</subgoal-1>",
            "Its steps, 0 to 1, of an attempt with 2 steps, numbered from 0:\n<steps-1>\n0. good\n",
            verdict,
        ],
    );
    let mut task = sample::role_task(Role::Route);
    if let RoleTask::Route { subgoal, .. } = &mut task {
        subgoal.subgoal.first = 1;
    }
    shows(
        &task,
        &[
            "Its steps, 1 to 1, of an attempt with 2 steps, numbered from 0:\n<steps>\n1. day\n",
            "<prototype-2>\ntitle: leaving\nused when: when words are due\nobjectives:\n- the words are said\n</prototype-2>",
        ],
    );
    assert!(!prompt(&task).contains("0. good"));
    let mut task = sample::role_task(Role::Score);
    shows(&task, &["Nothing: the attempt begins with this subgoal."]);
    if let RoleTask::Score {
        subgoal, rubric, ..
    } = &mut task
    {
        subgoal.subgoal.first = 1;
        rubric
            .as_mut()
            .unwrap()
            .traps
            .push(Trap::new("a word\ntoo many", score(1)));
    }
    shows(
        &task,
        &[
            "<before>\n0. good\n=> go on\n\n</before>",
            "<rubric>\nskill: greeting\nused when: when words are due\nobjectives:\n- the words are said\nhow it is done: say \
             each word in turn\nchecklist:\n- every word was said\ntraps:\n- a word too many (score 1)\n</rubric>",
        ],
    );
    assert!(
        !prompt(&task).contains(verdict),
        "a score does not rest on the end"
    );
    if let RoleTask::Score {
        subgoal, rubric, ..
    } = &mut task
    {
        subgoal.subgoal.skill.clear();
        *rubric = None;
    }
    shows(
        &task,
        &[
            "There is no rubric for this subgoal.",
            "<subgoal>\nsubgoal: greet\n</subgoal>",
        ],
    );
    assert!(!prompt(&task).contains("<rubric>"));
}

#[test]
fn a_cut_is_asked_for_in_six_wordings() {
    let words = [
        (SegmentPrompt::Main, "worked with tools"),
        (SegmentPrompt::Reasoning, "Break the solution into subgoals"),
        (SegmentPrompt::Narrative, "key intermediate subgoals"),
        (
            SegmentPrompt::Coverage,
            "no overlap between subgoals and no omission",
        ),
        (SegmentPrompt::Intent, "to satisfy the user's request"),
        (
            SegmentPrompt::FailureAware,
            "was corrected, or was replaced by a fallback",
        ),
    ];
    let mut prompts = BTreeSet::new();
    for (wording, part) in words {
        let mut task = sample::role_task(Role::Segment);
        if let RoleTask::Segment { prompt, .. } = &mut task {
            *prompt = wording;
        }
        shows(&task, &[part, "The last one ends at the last step."]);
        prompts.insert(prompt(&task));
    }
    assert_eq!(prompts.len(), words.len());
}

#[test]
fn as_many_members_are_shown_as_the_skill_says_and_steps_keep_their_numbers() {
    let mut task = sample::role_task(Role::DistilPrototype);
    if let RoleTask::DistilPrototype { members } = &mut task {
        members[0].subgoal.first = 1;
        *members = vec![members[0].clone(); 12];
    }
    shows(&task, &["Subgoal 12\n", "<steps-12>\n1. day\n"]);
    let mut skill = shipped().skill(Role::DistilPrototype).unwrap().clone();
    skill.metadata.insert("shown".to_owned(), "8".to_owned());
    let roles = shipped().with_skill(&skill).unwrap();
    let text = roles.prompt(&request(&task)).unwrap().prompt.text();
    assert!(text.contains("Subgoal 8\n") && !text.contains("Subgoal 9\n"));
}

#[test]
fn judgements_of_one_subgoal_are_drawn_apart() {
    let seeds: BTreeSet<Seed> = (0..3)
        .map(|number| {
            let mut task = sample::role_task(Role::Score);
            if let RoleTask::Score { repeat, .. } = &mut task {
                *repeat = number;
            }
            shipped().prompt(&request(&task)).unwrap().sampling.seed
        })
        .collect();
    assert_eq!(seeds.len(), 3);
}

#[test]
fn what_is_not_there_cannot_be_asked_about() {
    let mut task = sample::role_task(Role::Segment);
    if let RoleTask::Segment { attempt, .. } = &mut task {
        attempt.trajectory.steps.clear();
    }
    not_asked(&task, "the attempt has no step");

    let mut task = sample::role_task(Role::DistilPrototype);
    if let RoleTask::DistilPrototype { members } = &mut task {
        members[0].subgoal.last = 2;
    }
    not_asked(&task, "the steps of a subgoal are not steps of its attempt");
    if let RoleTask::DistilPrototype { members } = &mut task {
        members.clear();
    }
    not_asked(&task, "there is no subgoal to show");

    let mut task = sample::role_task(Role::Route);
    if let RoleTask::Route { prototypes, .. } = &mut task {
        prototypes.clear();
    }
    not_asked(&task, "there is no prototype to choose from");
    let mut task = sample::role_task(Role::Route);
    if let RoleTask::Route { subgoal, .. } = &mut task {
        subgoal.subgoal.first = 2;
    }
    not_asked(
        &task,
        "the steps of the subgoal are not steps of its attempt",
    );

    let mut task = sample::role_task(Role::Score);
    if let RoleTask::Score { rubric, .. } = &mut task {
        rubric.as_mut().unwrap().checklist.clear();
    }
    not_asked(&task, "the rubric has no checklist");
    let mut task = sample::role_task(Role::Score);
    if let RoleTask::Score { subgoal, .. } = &mut task {
        (subgoal.subgoal.first, subgoal.subgoal.last) = (1, 0);
    }
    not_asked(
        &task,
        "the steps of the subgoal are not steps of its attempt",
    );
}
