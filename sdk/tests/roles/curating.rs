//! The roles of SkillOS (curate, tag, review) and SkillRL (lesson, distil-bank).

use journeyman::testing::Edited as _;
use journeyman::{
    Category,
    contract::{BankDraft, Finding, RoleAnswer, RoleTask, Roles, Taught},
    domain::{Lesson, Role, Scope, SkillDraft, ToolCall},
    testing::sample,
};
use serde_json::{Value, json};

use super::{good, not_asked, prompt, read, request, shipped, shows};

fn call(tool: &str, arguments: Value) -> ToolCall {
    assert!(arguments.is_object(), "{arguments}");
    ToolCall::new(tool, arguments)
}

#[test]
fn every_role_reads_its_answer() {
    let read = |role| read(role, &good(role).to_string()).unwrap();
    let calls = vec![
        call(
            "insert_skill",
            json!({
                "name": "greet-in-order",
                "description": "How to greet. Use when words are to be said.",
                "body": "1. Say the first.\n2. Say the next.",
            }),
        ),
        call(
            "delete_skill",
            json!({"skill": "saying", "reason": "The new one says it."}),
        ),
    ];
    assert_eq!(read(Role::Curate), RoleAnswer::Calls(calls));
    let tags = ["greeting", "word order"].map(str::to_owned).to_vec();
    assert_eq!(read(Role::Tag), RoleAnswer::Tags(tags));
    let reviewed = RoleAnswer::Reviewed {
        quality: 1.0,
        reason: "It says when it applies and how.".to_owned(),
    };
    assert_eq!(read(Role::Review), reviewed);
    assert_eq!(
        read(Role::Lesson),
        RoleAnswer::Lesson(Lesson::new(
            0,
            "The second word was said first.",
            "Say the first word.",
            "Read the whole request before you act."
        ))
    );
    let skill = sample::skill("saying");
    let mut refined = SkillDraft::new(
        "saying",
        "Several words are to be said.",
        "Say the words in the order of the request.",
    );
    refined.kind = skill.kind;
    refined.scope = skill.scope;
    refined.metadata = skill.metadata;
    let mut new = SkillDraft::new(
        "Look before you speak",
        "A request has several parts.",
        "Read the request.\nThen begin.",
    );
    new.scope = Scope::Category(Category::new("greetings"));
    assert_eq!(
        read(Role::DistilBank),
        RoleAnswer::Bank(vec![
            BankDraft::new(refined).edited(|it| it.refines = Some(0)),
            BankDraft::new(new),
        ])
    );
}

fn curated(text: &str) -> Result<Vec<ToolCall>, String> {
    match read(Role::Curate, text) {
        Ok(RoleAnswer::Calls(calls)) => Ok(calls),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.message().to_owned()),
    }
}

/// Whether a call is valid is counted by the library; the parser changes none and leaves none out.
#[test]
fn wrong_calls_stay_as_they_were_written() {
    for (tool, arguments) in [
        ("insert_skill", json!({})),
        (
            "insert_skill",
            json!({"name": "x", "description": "d", "body": ""}),
        ),
        (
            "insert_skill",
            json!({"name": "x", "body": "b", "state": "active", "id": 7}),
        ),
        (
            "insert_skill",
            json!({"name": "Not A Name!", "description": "d".repeat(2_000), "body": "b"}),
        ),
        ("update_skill", json!({"skill": "nowhere", "body": "b"})),
        ("update_skill", json!({"skill": "saying"})),
        (
            "update_skill",
            json!({"skill": ["saying"], "body": {"a": [1, null]}}),
        ),
        ("delete_skill", json!({"skill": "saying"})),
        (
            "delete_skill",
            json!({"skills": ["saying", "saying"], "reason": true}),
        ),
        ("merge_skills", json!({"skill": "saying"})),
        ("shell", json!({"command": "rm -r skills"})),
    ] {
        let answer = json!({"calls": [{"tool": tool, "arguments": arguments}]});
        let expect = vec![call(tool, arguments)];
        assert_eq!(curated(&answer.to_string()), Ok(expect), "{answer}");
    }
    // Arguments that are no object are one argument, which no call has.
    for arguments in [
        json!("saying"),
        json!(["saying"]),
        json!(7),
        json!("{\"skill\": "),
    ] {
        let answer = json!({"calls": [{"tool": "delete_skill", "arguments": arguments}]});
        let expect = vec![call("delete_skill", json!({"arguments": arguments}))];
        assert_eq!(curated(&answer.to_string()), Ok(expect), "{answer}");
    }
}

#[test]
fn a_call_is_read_in_every_common_form() {
    let arguments = json!({"skill": "saying", "reason": "old"});
    let text = arguments.to_string();
    let one = json!({"tool": "delete_skill", "arguments": arguments});
    let expect = vec![call("delete_skill", arguments.clone())];
    for answer in [
        json!({"calls": [one]}),
        json!([one]),
        one.clone(),
        json!({"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "delete_skill", "arguments": text}}]}),
        json!({"function_call": {"name": "delete_skill", "arguments": text}}),
        json!({"name": "delete_skill", "parameters": arguments}),
        json!({"calls": [{"function": "delete_skill", "args": arguments, "thought": "it is old"}]}),
        json!({"calls": [{"action": "delete_skill", "skill": "saying", "reason": "old"}]}),
        json!({"calls": [{"name": "delete_skill", "skill": "saying", "reason": "old"}]}),
        json!({"calls": [{"delete_skill": arguments}]}),
        json!({"answer": {"calls": [one]}}),
    ] {
        assert_eq!(curated(&answer.to_string()), Ok(expect.clone()), "{answer}");
    }
    let two = [expect.clone(), expect].concat();
    for answer in [
        format!("<tool_call>\n{one}\n</tool_call>\n<tool_call>\n{one}\n</tool_call>"),
        format!("{one}\n{one}"),
        format!("My calls: [{one}, {one}]"),
        format!("[{one}, {one}]"),
        format!("<think>{one}</think>Two are old:\n```json\n[{one}, {one}]\n```"),
    ] {
        assert_eq!(curated(&answer), Ok(two.clone()), "{answer}");
    }
    assert_eq!(curated(r#"{"calls": []}"#), Ok(Vec::new()));
    // The name of the skill beside the name of the tool.
    let beside = json!({"tool": "insert_skill", "name": "a", "description": "d", "body": "b"});
    let expect = call(
        "insert_skill",
        json!({"name": "a", "description": "d", "body": "b"}),
    );
    assert_eq!(curated(&beside.to_string()), Ok(vec![expect]));
}

#[test]
fn what_is_no_list_of_calls_is_refused() {
    let one = r#"{"tool": "delete_skill", "arguments": {"skill": "saying"}}"#;
    for (answer, expect) in [
        (r#"{"calls": {}}"#.to_owned(), "calls is not an array"),
        (r#"{"calls": null}"#.to_owned(), "calls is not an array"),
        (r#"{"calls": ["delete_skill"]}"#.to_owned(), "a call is not an object"),
        (r#"{"calls": [{}]}"#.to_owned(), "a call names no tool"),
        (r#"{"calls": [{"tool": " "}]}"#.to_owned(), "a call names no tool"),
        (r#"{"calls": [{"tool": 7}]}"#.to_owned(), "a call names no tool"),
        (r#"{"calls": [{"arguments": {"skill": "saying"}}]}"#.to_owned(), "a call names no tool"),
        (r#"{"calls": [{"skill": "saying", "reason": "old"}]}"#.to_owned(), "a call names no tool"),
        (
            r#"{"calls": [{"tool": "insert_skill", "function": "delete_skill", "arguments": {}}]}"#.to_owned(),
            "a call has its tool or its arguments twice",
        ),
        (
            r#"{"calls": [{"tool": "insert_skill", "arguments": {}, "input": {"skill": "saying"}}]}"#.to_owned(),
            "a call has its tool or its arguments twice",
        ),
        (
            r#"{"calls": [{"tool": "insert_skill", "function": {"name": "delete_skill"}}]}"#.to_owned(),
            "a call has an object with the call",
        ),
        // A part of an answer is no answer.
        (format!("{one}\nand then\n{one}"), "the answer is a part of a list or of an object"),
        (format!("{one}\n{{\"tool\": \"delete_skill\", \"argu"), "the answer is a part of a list or of an object"),
        (format!("{{\"calls\": []}}\n{one}"), "the answer holds two objects"),
        (format!("\"calls\": [{one}]}}"), "the answer is a part of a list or of an object"),
        (format!("'function': {one}}}"), "the answer is a part of a list or of an object"),
        ("There is nothing to change.".to_owned(), "the answer has no JSON object"),
        ("delete_skill(skill=\"saying\")".to_owned(), "the answer has no JSON object"),
    ] {
        let error = curated(&answer).unwrap_err();
        assert!(error.starts_with(expect), "{answer}: {error}");
    }
}

/// A host that wants no other calls says so in the schema.
#[test]
fn a_hosts_narrower_schema_refuses_other_calls() {
    let mut skill = shipped().skill(Role::Curate).unwrap().clone();
    let from = "\"tool\": {\"type\": \"string\"}";
    assert!(skill.body.contains(from));
    let to = "\"tool\": {\"enum\": [\"insert_skill\", \"update_skill\"]}";
    skill.body = skill.body.replace(from, to);
    let roles = shipped().with_skill(&skill).unwrap();
    let task = sample::role_task(Role::Curate);
    let answer = good(Role::Curate).to_string();
    let error = roles.read(&request(&task), &answer).unwrap_err();
    assert!(
        error
            .message()
            .starts_with("the JSON breaks the schema; at /calls/1/tool"),
        "{error}"
    );
}

#[test]
fn tags_are_few_and_short() {
    let tags = |value: Value| match read(Role::Tag, &json!({"tags": value}).to_string()) {
        Ok(RoleAnswer::Tags(tags)) => Ok(tags.join("|")),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.message().to_owned()),
    };
    for (value, expect) in [
        (json!(["algebra"]), "algebra"),
        (
            json!(["1. Algebra.", "ALGEBRA", "Fourier  Transform"]),
            "algebra|fourier transform",
        ),
        (
            json!("algebra, number theory; geometry"),
            "algebra|number theory|geometry",
        ),
        (json!("Reinigen"), "reinigen"),
    ] {
        assert_eq!(tags(value.clone()), Ok(expect.to_owned()), "{value}");
    }
    for (value, expect) in [
        (json!([]), "there is no tag"),
        (json!(" , "), "there is no tag"),
        (json!(["#"]), "a tag is empty"),
        (json!([["algebra"]]), "a tag is not a string"),
        (json!({"algebra": 1}), "tags is not an array"),
        (
            json!(["x".repeat(65)]),
            "a tag has 65 characters, and 64 is the most",
        ),
        (
            json!((0..9).map(|n| format!("t{n}")).collect::<Vec<_>>()),
            "there are 9 tags, and 8 is the most",
        ),
    ] {
        assert_eq!(tags(value.clone()), Err(expect.to_owned()), "{value}");
    }
}

#[test]
fn a_lesson_is_about_a_step_of_the_attempt() {
    let lesson = |step: Value| {
        let mut answer = good(Role::Lesson);
        answer["step"] = step;
        match read(Role::Lesson, &answer.to_string()) {
            Ok(RoleAnswer::Lesson(lesson)) => Ok(lesson.step),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.message().to_owned()),
        }
    };
    for step in [json!(0), json!("0"), json!("step 0"), json!("Step #0")] {
        assert_eq!(lesson(step.clone()), Ok(0), "{step}");
    }
    let beyond = "step is no step of the attempt, which has 1, the first with the number 0";
    assert_eq!(lesson(json!(1)), Err(beyond.to_owned()));
    for step in [
        json!(-1),
        json!("the first"),
        json!("steps 0 to 1"),
        json!(null),
        json!(0.5),
    ] {
        let expect = "step is not a whole number from 0";
        assert_eq!(lesson(step.clone()), Err(expect.to_owned()), "{step}");
    }
    let mut without = good(Role::Lesson);
    without["principle"] = json!(" ");
    let error = read(Role::Lesson, &without.to_string()).unwrap_err();
    assert_eq!(error.message(), "principle is empty");
}

fn entry(refines: Value) -> Value {
    json!({"refines": refines, "title": "t", "principle": "p", "when_to_apply": "w"})
}

fn refined(skills: Value) -> Result<Vec<Option<usize>>, String> {
    match read(Role::DistilBank, &json!({ "skills": skills }).to_string()) {
        Ok(RoleAnswer::Bank(drafts)) => Ok(drafts.iter().map(|one| one.refines).collect()),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.message().to_owned()),
    }
}

#[test]
fn a_refinement_names_a_skill_that_is_shown() {
    for value in [
        json!(1),
        json!("1"),
        json!("saying"),
        json!("Saying"),
        json!("skill-1"),
        json!("skill 1"),
    ] {
        assert_eq!(
            refined(json!([entry(value.clone())])),
            Ok(vec![Some(0)]),
            "{value}"
        );
    }
    for value in [json!(null), json!("none"), json!("new"), json!("")] {
        assert_eq!(
            refined(json!([entry(value.clone())])),
            Ok(vec![None]),
            "{value}"
        );
    }
    for value in [
        json!(0),
        json!(2),
        json!("singing"),
        json!(["saying"]),
        json!(true),
        json!(-1),
    ] {
        let expect = "refines is none of the 1 that are shown, the first with the number 1";
        assert_eq!(
            refined(json!([entry(value.clone())])),
            Err(expect.to_owned()),
            "{value}"
        );
    }
    // A new one may leave the field out, and a refined one its title.
    let bare = json!({"title": "t", "principle": "p", "when_to_apply": "w"});
    let untitled = json!({"refines": "saying", "principle": "p", "when_to_apply": "w"});
    assert_eq!(refined(json!([bare, untitled])), Ok(vec![None, Some(0)]));
    // A list without the object around it, and a single skill.
    for answer in [
        json!([entry(json!(1)), entry(json!(null))]),
        json!({"skills": [entry(json!(1))]}),
        entry(json!(1)),
    ] {
        let read = read(Role::DistilBank, &answer.to_string());
        assert!(
            matches!(read, Ok(RoleAnswer::Bank(drafts)) if drafts[0].refines == Some(0)),
            "{answer}"
        );
    }
}

#[test]
fn a_bank_says_nothing_twice() {
    assert_eq!(refined(json!([])), Ok(Vec::new()));
    let same = json!([
        entry(json!(null)),
        entry(json!(null)),
        entry(json!(1)),
        entry(json!("saying"))
    ]);
    assert_eq!(refined(same), Ok(vec![None, Some(0)]));
    let mut other = entry(json!("saying"));
    other["principle"] = json!("q");
    let expect = "two skills refine the same one; write one";
    assert_eq!(
        refined(json!([entry(json!(1)), other])),
        Err(expect.to_owned())
    );
    let check = |field: &str, value: Value, expect: &str| {
        let mut entry = entry(json!(null));
        entry[field] = value;
        let error = refined(json!([entry])).unwrap_err();
        assert!(error.starts_with(expect), "{error}");
    };
    check("title", json!("!?"), "title has no letter or digit");
    check("title", json!(""), "title is empty");
    check("when_to_apply", json!(""), "when_to_apply is empty");
    check("principle", json!(" \n"), "principle is empty");
    check(
        "principle",
        json!("x".repeat(2_001)),
        "principle has 2001 characters",
    );
    check("principle", json!(null), "principle is not a string");
    check(
        "skill_id",
        json!("gen_001"),
        "the object has a field that this role has no say in",
    );
    let nine: Vec<Value> = (0..9)
        .map(|n| json!({"title": format!("t{n}"), "principle": "p", "when_to_apply": "w"}))
        .collect();
    let error = refined(json!(nine)).unwrap_err();
    assert!(
        error.starts_with("the JSON breaks the schema; at /skills"),
        "{error}"
    );
}

#[test]
fn each_role_is_shown_what_it_works_on() {
    let mut task = sample::role_task(Role::Curate);
    shows(
        &task,
        &[
            "<task>\nsay good and then day\n</task>",
            "\n<attempt>\n0. good\n=> go on\n1. day\n=> go on\n\n</attempt>",
            "It is judged to be done.",
            "<skill-1>\nname: saying\ndescription: How to do saying.\n\nTo do saying, say saying.\n</skill-1>",
        ],
    );
    assert!(
        !prompt(&task).contains("The task was done"),
        "the verdict is not shown"
    );
    let long = "x".repeat(15_000);
    if let RoleTask::Curate {
        correct, skills, ..
    } = &mut task
    {
        *correct = None;
        skills[0].original_name = Some("say_it".to_owned());
        skills[0].body.clone_from(&long);
    }
    shows(
        &task,
        &[
            "That is not known.",
            &long,
            // The name by which the library finds it.
            "<skill-1>\nname: saying\n",
        ],
    );
    if let RoleTask::Curate {
        correct, skills, ..
    } = &mut task
    {
        *correct = Some(false);
        skills.clear();
    }
    shows(
        &task,
        &[
            "It is judged not to be done.",
            "with its name:\n\nThere are none.\n",
        ],
    );
    shows(
        &sample::role_task(Role::Tag),
        &["<task>\nsay good and then day\n</task>"],
    );
    shows(
        &sample::role_task(Role::Lesson),
        &["The task was not done (score 0.00).\n<attempt>\n0. day\n"],
    );
    shows(
        &sample::role_task(Role::Review),
        &[
            "<skill>\nname: saying\ndescription: How to do saying.\n\nTo do saying, say saying.\n</skill>",
        ],
    );
    let mut task = sample::role_task(Role::DistilBank);
    if let RoleTask::DistilBank { findings, .. } = &mut task {
        findings.push(Finding::new(
            "say\nit",
            Taught::Lesson(Lesson::new(3, "it sang", "say it", "speak")),
        ));
    }
    shows(
        &task,
        &[
            "Skills for one kind of task alone:\n<category>\ngreetings\n</category>",
            "Finding 1, the pattern of a success:\n<finding-1>\ntask: say good and then day\npattern: say both words\n</finding-1>",
            "Finding 2, the lesson of a failure:\n<finding-2>\ntask: say it\nfailed at step: 3\nflawed: it sang\nshould: say \
             it\nprinciple: speak\n</finding-2>",
            "<skill-1>\ntitle: saying\nwhen_to_apply: How to do saying.\nprinciple: To do saying, say saying.\n</skill-1>",
        ],
    );
    if let RoleTask::DistilBank { category, .. } = &mut task {
        *category = None;
    }
    shows(
        &task,
        &["General skills: strategies that hold at every kind of task"],
    );
    let answer = json!({"skills": [entry(json!(null))]}).to_string();
    let Ok(RoleAnswer::Bank(drafts)) = shipped().read(&request(&task), &answer) else {
        panic!("it is read");
    };
    assert_eq!(drafts[0].draft.scope, Scope::General);
}

#[test]
fn what_is_not_there_cannot_be_asked_about() {
    let mut task = sample::role_task(Role::Lesson);
    if let RoleTask::Lesson { attempt } = &mut task {
        attempt.trajectory.steps.clear();
    }
    not_asked(&task, "the attempt has no step");
    let mut task = sample::role_task(Role::DistilBank);
    if let RoleTask::DistilBank { findings, .. } = &mut task {
        findings.clear();
    }
    not_asked(&task, "there is no pattern and no lesson to show");
}
