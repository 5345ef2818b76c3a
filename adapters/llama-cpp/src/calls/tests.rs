//! The spelling of a call is found in a rendering of it.

use super::*;

/// Checks how a call begins without a tool, with the tool `rest`, and up to the arguments of `rest`.
fn check(opening: &str, call: &str, expect: [&str; 2], to_arguments: Option<&str>) {
    let form = CallForm::of(call, opening, "look", "{\"at\": 1}").unwrap();
    let begun = [form.begin(None), form.begin(Some("rest"))];
    assert_eq!(begun, expect, "{call}");
    assert_eq!(
        form.up_to_arguments("rest").as_deref(),
        to_arguments,
        "{call}"
    );
}

#[test]
fn a_call_is_begun_as_the_template_writes_it() {
    let begun = "<tool_call>\n{\"name\": \"rest\", \"arguments\": ";
    for (opening, thoughts) in [
        ("<|im_start|>assistant\n", ""),
        ("<|im_start|>assistant\n", "<think>\n\n</think>\n\n"),
        ("<|im_start|>assistant\n<think>\n", ""),
        ("<|im_start|>assistant\n<think></think>", "\n"),
    ] {
        let call = format!(
            "<|im_start|>assistant\n{thoughts}<tool_call>\n{{\"name\": \"look\", \"arguments\": {{\"at\": 1}}}}\n</tool_call>"
        );
        let empty = "<tool_call>\n{\"name\": \"";
        check(opening, &call, [empty, begun], Some(begun));
    }
    // The blank belongs to the form.
    let begun = " to=functions.rest<|channel|>commentary json<|message|>";
    let call =
        "<|start|>assistant to=functions.look<|channel|>commentary json<|message|>{\"at\": 1}";
    check(
        "<|start|>assistant",
        call,
        [" to=functions.", begun],
        Some(begun),
    );
}

#[test]
fn arguments_that_are_no_json_are_left_to_the_model() {
    let call = "<tool_call>look\n<arg_key>at</arg_key>\n<arg_value>1</arg_value>\n</tool_call>";
    check("", call, ["<tool_call>", "<tool_call>rest"], None);
    // Where the reader takes JSON for them, they are JSON.
    let call = "<function=look>\n<parameter=at>\n1\n</parameter>\n</function>";
    let begun = "<function=rest>";
    check("", call, ["<function=", begun], Some(begun));
}

#[test]
fn nothing_is_begun_behind_an_opening_that_a_call_does_not_have() {
    let call = "<|ACTION|>{\"name\": \"look\", \"arguments\": {\"at\": 1}}";
    check("<|START_THINKING|>", call, ["", ""], None);
    assert_eq!(CallForm::of("no call", "", "look", "{}"), None);
}

#[test]
fn a_name_that_json_writes_otherwise_is_not_spelled() {
    let call = "{\"name\": \"look\", \"arguments\": {\"at\": 1}}";
    let form = CallForm::of(call, "", "look", "{\"at\": 1}").unwrap();
    assert_eq!(form.behind_name("rest"), Some("\", \"arguments\": "));
    assert_eq!(form.behind_name("re\"st"), None);
}
