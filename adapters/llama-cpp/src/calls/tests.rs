//! Answers as families of models write them, and broken ones.

use super::*;

/// The words, and `tool(arguments)` for each call.
fn check(form: CallForm, text: &str, words: &str, calls: &[&str]) {
    let answer = form.read(text);
    let found: Vec<String> = (answer.calls.iter())
        .map(|call| format!("{}({})", call.tool, call.arguments))
        .collect();
    assert_eq!(found, calls, "{text}");
    assert_eq!(answer.words, words, "{text}");
}

#[test]
fn each_family_is_read() {
    use CallForm::{Function, List, Marked, Object, Tagged};
    check(
        Tagged,
        "I look.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"mast\"}}\n</tool_call>",
        "I look.",
        &[r#"look({"at":"mast"})"#],
    );
    check(
        Object,
        "{\"name\": \"look\", \"parameters\": {\"at\": \"mast\"}}",
        "",
        &[r#"look({"at":"mast"})"#],
    );
    check(
        Object,
        "<|python_tag|>{\"name\": \"look\", \"parameters\": {}}; {\"name\": \"rest\", \"parameters\": {}}",
        "",
        &["look({})", "rest({})"],
    );
    check(
        List,
        "[TOOL_CALLS][{\"name\": \"look\", \"arguments\": {\"at\": \"mast\"}, \"id\": \"abcdefghi\"}, {\"name\": \"rest\", \
         \"arguments\": {}}]",
        "",
        &[r#"look({"at":"mast"})"#, "rest({})"],
    );
    assert_eq!(
        List.read("[TOOL_CALLS] [{\"name\": \"a\", \"arguments\": {}, \"id\": \"abcdefghi\"}]")
            .calls[0]
            .id,
        "abcdefghi"
    );
    check(
        Marked,
        "So.[TOOL_CALLS]look[CALL_ID]abcdefghi[ARGS]{\"at\": \"mast\"}[TOOL_CALLS]rest[ARGS]{}",
        "So.",
        &[r#"look({"at":"mast"})"#, "rest({})"],
    );
    check(
        Function,
        "<function=look>{\"at\": \"mast\"}</function><function=rest>{}</function>",
        "",
        &[r#"look({"at":"mast"})"#, "rest({})"],
    );
}

#[test]
fn three_calls_at_once_are_three_calls() {
    let block = |name: &str| {
        format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {{}}}}\n</tool_call>")
    };
    let three = [block("a"), block("b"), block("c")].join("\n");
    check(CallForm::Tagged, &three, "", &["a({})", "b({})", "c({})"]);
}

#[test]
fn broken_blocks_are_repaired_or_left_as_words() {
    use CallForm::{List, Object, Tagged};
    let call = "{\"name\": \"look\", \"arguments\": {}}";
    // Closed and not opened; opened and not closed; invented results.
    check(Tagged, &format!("{call}\n</tool_call>"), "", &["look({})"]);
    check(Tagged, &format!("<tool_call>{call}"), "", &["look({})"]);
    check(
        Tagged,
        &format!("<tool_call>{call}</tool_call>\n<tool_response>ok</tool_response>"),
        "",
        &["look({})"],
    );
    for text in [
        "",
        "I will look.",
        "<tool_call>\n{\"name\": \"look\", \"argu",
        "<tool_call>\nlook\n</tool_call>",
        "<tool_call>\n{\"tool\": 1}\n</tool_call>",
        "</tool_call>",
        "{\"done\": true}",
    ] {
        check(Tagged, text, text, &[]);
        check(Object, text, text, &[]);
        check(List, text, text, &[]);
    }
}

#[test]
fn thoughts_hold_no_calls() {
    let call = "<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call>";
    let endless = format!("<think>Perhaps {call}");
    check(CallForm::Tagged, &endless, &endless, &[]);
    let denied = format!("<think>Not {call}</think>\nNo.");
    check(CallForm::Tagged, &denied, &denied, &[]);
    check(
        CallForm::Tagged,
        &format!("<think>Yes.</think>\n\n{call}"),
        "<think>Yes.</think>",
        &["look({})"],
    );
    // The thoughts began in the prompt.
    check(
        CallForm::Tagged,
        &format!("Yes.</think>{call}"),
        "Yes.</think>",
        &["look({})"],
    );
}

#[test]
fn the_form_is_known_by_its_marks() {
    let check = |rendered: &str, form: Option<CallForm>| {
        assert_eq!(CallForm::of(rendered, "look"), form, "{rendered}");
    };
    check(
        "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}",
        Some(CallForm::Tagged),
    );
    check("[TOOL_CALLS][{\"name\": \"look\"", Some(CallForm::List));
    check("[TOOL_CALLS]look[CALL_ID]x[ARGS]{", Some(CallForm::Marked));
    check("<function=look>{", Some(CallForm::Function));
    check(
        "\n\n{\"name\": \"look\", \"parameters\"",
        Some(CallForm::Object),
    );
    check(">>>look\n{}", None);
    check("look", None);
}
