//! Kinds of odd inputs, after public fault reports: each is held by tests of its own, with three variants or more.

use std::process::Command;

use crate::{
    adapters::external,
    figures::{Bound, Figures, Outcome},
};

/// A kind, and the tests that hold its variants.
const KINDS: [(&str, &[&str]); 26] = [
    ("end reasons", &["an_end_in_any_words_ends_the_text"]),
    (
        "text in parts",
        &["a_text_in_parts_is_joined_and_thoughts_stay_apart"],
    ),
    (
        "arguments slightly off",
        &[
            "calls_slightly_off_are_put_right",
            "what_is_slightly_off_is_put_right_and_noted",
        ],
    ),
    (
        "names slightly off",
        &[
            "calls_are_held_against_schema_and_choice",
            "a_name_that_is_slightly_off_has_one_meaning_or_none",
            "a_call_that_does_not_fit_the_tools_is_told_and_goes_to_the_world_in_the_end",
        ],
    ),
    (
        "calls with one index",
        &[
            "calls_with_one_index_are_told_apart",
            "calls_are_told_apart_by_index_by_id_and_by_name",
        ],
    ),
    ("absurd usage", &["usage_is_a_hint"]),
    (
        "parameters that a server refuses",
        &["fields_that_a_server_refuses_are_found_out_once"],
    ),
    (
        "the context's limit",
        &[
            "a_refusal_tells_how_long_the_context_is",
            "a_refusal_without_a_number_makes_the_next_request_shorter",
            "prompts_are_counted_as_the_server_has_counted_them",
        ],
    ),
    (
        "JSON by schema that is not kept",
        &["the_first_whole_value_is_taken"],
    ),
    (
        "thoughts inside fields",
        &[
            "thoughts_are_taken_out_of_values_at_any_depth",
            "no_thought_becomes_a_step_of_a_skill",
        ],
    ),
    (
        "calls as text",
        &[
            "calls_in_tags_with_a_family_s_own_names_are_read",
            "deepseek_s_tokens_are_read_in_every_spelling",
            "control_tokens_are_no_message",
        ],
    ),
    (
        "a server's tags and lists",
        &[
            "a_models_tag_need_not_be_named",
            "a_server_needs_no_list_of_models",
        ],
    ),
    (
        "thoughts that eat the tokens",
        &["an_answer_that_is_cut_is_asked_for_again_and_then_given_up"],
    ),
    (
        "streams",
        &[
            "a_stream_is_read_whatever_it_is_called_and_however_its_lines_end",
            "an_answer_that_a_server_ended_for_another_request_is_asked_for_again",
        ],
    ),
    (
        "the forms of 18 kinds of servers",
        &["the_answers_of_each_kind_of_server_are_read"],
    ),
    (
        "one bad tool among good ones",
        &[
            "a_schema_that_cannot_be_used_is_loosened_beside_good_tools",
            "what_is_no_tool_is_left_out_of_the_list",
        ],
    ),
    (
        "names that a model's server refuses",
        &[
            "every_name_has_one_that_servers_take",
            "past_calls_have_the_name_that_the_server_knows",
        ],
    ),
    (
        "results that are not JSON",
        &[
            "an_answer_that_is_no_json_is_refused_at_once",
            "an_answer_over_http_that_is_no_json_is_refused_at_once",
        ],
    ),
    (
        "results in other forms",
        &[
            "the_result_of_a_tool_is_text_in_any_form",
            "an_answer_to_initialize_needs_no_name_of_the_server",
        ],
    ),
    (
        "pages",
        &[
            "a_list_ends_where_its_cursor_does_not_go_on",
            "a_list_without_an_end_is_refused_with_its_cursor",
        ],
    ),
    (
        "sessions",
        &[
            "a_session_that_the_server_forgot_is_begun_anew_before_the_first_call",
            "a_redirect_is_told_in_plain_words",
            "a_call_that_a_busy_server_did_not_take_is_made_again_and_no_other",
            "another_address_is_told_without_its_path",
        ],
    ),
    (
        "files that are nearly SKILL.md",
        &["a_skill_by_another_name_is_never_passed_over"],
    ),
    (
        "scalars that YAML cuts",
        &["a_value_that_yaml_cuts_is_told_with_its_line"],
    ),
    (
        "search",
        &[
            "what_people_write_is_found_by_kind_of_text",
            "a_stemmer_finds_inflected_words",
        ],
    ),
    ("the command's hints", &["a_hint_names_what_a_person_has"]),
    (
        "reports of outcomes",
        &["an_outcome_is_credited_once_to_the_skills_that_were_given"],
    ),
];

/// Runs the tests and records how many kinds have all of theirs right. A test that is not there counts as wrong.
pub(super) fn record(figures: &mut Figures<'_>) -> Outcome {
    figures.progress(format_args!("kinds of odd inputs"));
    let tests = KINDS.iter().flat_map(|(_, tests)| *tests);
    let tests: Vec<String> = tests.map(|test| format!("test(/(^|::){test}$/)")).collect();
    let mut command = Command::new("cargo");
    command.args(["nextest", "run", "--workspace", "--no-fail-fast"]);
    command.args(["--color", "never", "--status-level", "pass", "-E"]);
    command.arg(tests.join(" or "));
    let ended = external::run(command)?;
    let said = format!("{}\n{}", ended.out, ended.err);
    let passed = |test: &&str| {
        let is_of = |line: &str| {
            let name = line.rsplit([' ', ':']).next();
            line.trim_start().starts_with("PASS") && name == Some(*test)
        };
        said.lines().any(is_of)
    };
    let mut right = 0;
    for (kind, tests) in KINDS {
        match tests.iter().find(|test| !passed(test)) {
            None => right += 1,
            Some(test) => figures.progress(format_args!("{kind}: not right: {test}")),
        }
    }
    figures.record(
        "kinds of odd inputs whose tests all pass",
        f64::from(right),
        Bound::AtLeast(KINDS.len() as f64),
    );
    Ok(())
}
