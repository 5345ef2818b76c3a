//! Answers as families of models write them, and broken ones.

use super::*;

const TOOLS: [&str; 4] = ["look", "rest", "set_level", "dial.set"];

/// The words, and `tool(arguments)` for each call; no call where none is expected.
fn check(text: &str, words: &str, calls: &[&str]) {
    let is_tool = |name: &str| TOOLS.contains(&name.trim_start_matches("functions."));
    let found = published_calls(text, &is_tool);
    let read: Vec<(String, Value)> = found
        .iter()
        .flat_map(|found| &found.calls)
        .map(|call| {
            (
                call.tool.clone(),
                serde_json::from_str(&call.arguments).unwrap(),
            )
        })
        .collect();
    // The order of fields depends on how serde_json was built.
    let expect = calls.iter().map(|call| {
        let (tool, arguments) = call.strip_suffix(')').unwrap().split_once('(').unwrap();
        (tool.to_owned(), serde_json::from_str(arguments).unwrap())
    });
    assert_eq!(read, expect.collect::<Vec<_>>(), "{text}");
    if let Some(found) = found {
        assert_eq!(found.words, words, "{text}");
    }
}

/// One call of `set_level`, with nothing before it.
fn check_one(text: &str) {
    check(text, "", &[r#"set_level({"level":8})"#]);
}

/// The same where the values are texts.
fn check_text(text: &str) {
    check(text, "", &[r#"set_level({"level":"8"})"#]);
}

#[test]
fn objects_between_marks_are_read() {
    const CALL: &str = r#"{"name": "set_level", "arguments": {"level": 8}}"#;
    for (open, close) in [
        ("<tool_call>\n", "\n</tool_call>"),
        ("<tool_call>", ""),
        ("", "\n</tool_call>"),
        ("<|tool_call|>[", "]"),
        ("<|tool_call|>[", "]<|/tool_call|>"),
        ("<tool_calls>[", "]</tool_calls>"),
        ("<TOOLCALL>[", "]</TOOLCALL>"),
        ("[TOOL_CALLS][", "]"),
        ("[TOOL_CALLS] [", "]"),
        (" functools[", "]"),
        ("function call<|role_sep|>\n", ""),
        ("<|function_call|>", ""),
        ("<|python_tag|>", "<|eom_id|>"),
        ("<|action_start|><|plugin|>", "<|action_end|>"),
        ("", ""),
    ] {
        check_one(&format!("{open}{CALL}{close}"));
    }
    check_one(
        "<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"set_level\", \"parameters\": {\"level\": \
         8}}\n]<|END_ACTION|>",
    );
    check_one("<|tools_prefix|>[{\"set_level\": {\"level\": 8}}]<|tools_suffix|>");
    check_one(r#"{"type": "function", "name": "set_level", "parameters": {"level": 8}}"#);
    check_one(
        r#"<tool_call>{"function": {"name": "set_level", "arguments": {"level": 8}}}</tool_call>"#,
    );
    check(
        "<|python_tag|>{\"name\": \"look\", \"parameters\": {}}; {\"name\": \"rest\", \"parameters\": {}}",
        "",
        &["look({})", "rest({})"],
    );
    check(
        "I look.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"mast\"}}\n</tool_call>\n<tool_call>\n{\"name\": \
         \"rest\"}\n</tool_call>",
        "I look.",
        &[r#"look({"at":"mast"})"#, "rest({})"],
    );
    let id = published_calls(
        "[TOOL_CALLS] [{\"name\": \"a\", \"arguments\": {}, \"id\": \"abc\"}]",
        &|_| true,
    );
    assert_eq!(id.unwrap().calls[0].id, "abc");
}

#[test]
fn names_before_their_arguments_are_read() {
    for text in [
        "[TOOL_CALLS]set_level[ARGS]{\"level\": 8}",
        "[TOOL_CALLS]set_level[CALL_ID]abc123def[ARGS]{\"level\": 8}",
        "[TOOL_CALLS]set_level{\"level\": 8}",
        // The mark was lost.
        "set_level[ARGS]{\"level\": 8}",
        "<function=set_level>{\"level\": 8}</function>",
        "set_level\n{\"level\": 8}",
        ">>>set_level\n{\"level\": 8}",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>set_level<｜tool▁sep｜>{\"level\": 8}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>set_level\n```json\n{\"level\": 8}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<use_mcp_tool>\n<server_name>x</server_name>\n<tool_name>set_level</tool_name>\n<arguments>\n{\"level\": 8}\n</arguments>\n</use_mcp_tool>",
        "<|channel|>commentary to=functions.set_level <|constrain|>json<|message|>{\"level\": 8}<|call|>",
        "<|channel|>analysis<|message|>I set it.<|end|><|start|>assistant<|channel|>commentary to=functions.set_level \
         <|constrain|>json<|message|>{\"level\": 8}",
        "<|start|>assistant to=functions.set_level<|channel|>commentary json<|message|>{\"level\": 8}<|call|>",
        "<|tool_call_start|>[set_level(level=8)]<|tool_call_end|>",
        "<|python_start|>[set_level(level=8)]<|python_end|>",
        "[set_level(level=8)]",
        "<function_calls>\nset_level(level=8)\n</function_calls>",
        "```tool_code\nset_level(level=8)\n```",
        "<|tool_call>call:set_level{level:8}<tool_call|>",
        "<start_function_call>call:set_level{level:8}<end_function_call>",
    ] {
        check_one(text);
    }
    check(
        "So.[TOOL_CALLS]look[CALL_ID]abcdefghi[ARGS]{\"at\": \"mast\"}[TOOL_CALLS]rest[ARGS]{}",
        "So.",
        &[r#"look({"at":"mast"})"#, "rest({})"],
    );
    check(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{}<|tool_call_end|>\
         <|tool_call_begin|>functions.rest:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
        "",
        &["functions.look:0({})", "functions.rest:1({})"],
    );
    check(
        "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.look \
         <|constrain|>json<|message|>{}<|call|>",
        "I look.",
        &["look({})"],
    );
}

#[test]
fn values_in_tags_are_texts() {
    for text in [
        "<tool_call>\n<function=set_level>\n<parameter=level>\n8\n</parameter>\n</function>\n</tool_call>",
        "<function=set_level>\n<parameter=level>8</parameter>\n</function>",
        "<tool_call>\n<function=set_level>\n<parameter=level>\n8\n</function>\n</tool_call>",
        "<seed:tool_call>\n<function=set_level>\n<parameter=level>8</parameter>\n</function>\n</seed:tool_call>",
        "<minimax:tool_call>\n<invoke name=\"set_level\">\n<parameter name=\"level\">8</parameter>\n</invoke>\n</minimax:tool_call>",
        "<function_calls><invoke name=\"set_level\"><parameter name=\"level\">8</parameter></invoke></function_calls>",
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"set_level\">\n<｜DSML｜parameter name=\"level\" string=\"false\">8</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        "<tool_call>set_level\n<arg_key>level</arg_key>\n<arg_value>8</arg_value>\n</tool_call>",
        "<tool_call>set_level<arg_key>level</arg_key><arg_value>8</arg_value></tool_call>",
    ] {
        check_text(text);
    }
    check(
        "<tool_call>\n<function=rest>\n</function>\n</tool_call>",
        "",
        &["rest({})"],
    );
    check(
        "<tool_call>\n<function=look>\n<parameter=at>\nmast\nand bow\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n\
         <function=rest>\n</function>\n</tool_call>",
        "",
        &["look({\"at\":\"mast\\nand bow\"})", "rest({})"],
    );
}

#[test]
fn literals_are_read_as_they_are_meant() {
    check(
        r#"<|tool_call_start|>[look(at='the mast', "no", n=1), rest()]<|tool_call_end|>"#,
        "",
        &[],
    );
    check(
        r#"<|tool_call_start|>[look(at='it\'s "up"', n=-1.5, deep={"a": [True, None]}, many=[1, 2,]), rest()]<|tool_call_end|>"#,
        "",
        &[
            r#"look({"at":"it's \"up\"","deep":{"a":[true,null]},"many":[1,2],"n":-1.5})"#,
            "rest({})",
        ],
    );
    check(
        "<|tool_call>call:look{at:<|\"|>a, {b}: c<|\"|>,n:2,deep:{x:[1,<|\"|>y<|\"|>]}}<tool_call|><|tool_call>call:rest{}<tool_call|>",
        "",
        &[
            r#"look({"at":"a, {b}: c","deep":{"x":[1,"y"]},"n":2})"#,
            "rest({})",
        ],
    );
    check(
        "<start_function_call>call:look{at:<escape>mast<escape>}<end_function_call>",
        "",
        &[r#"look({"at":"mast"})"#],
    );
}

#[test]
fn what_is_broken_is_no_call() {
    for text in [
        "",
        "I will look.",
        "<tool_call>\n{\"name\": \"look\", \"argu",
        "<tool_call>\nlook\n</tool_call>",
        "<tool_call>\n{\"tool\": 1}\n</tool_call>",
        "</tool_call>",
        "{\"done\": true}",
        "{\"name\": \"Ann\", \"arguments\": {}}",
        "Ann\n{\"a\": 1}",
        "<function=look>",
        "<function=look>\n<parameter=at>mast",
        "<|tool_call_start|>[look(at=]<|tool_call_end|>",
        "[TOOL_CALLS]look[ARGS]",
        "<|channel|>commentary to=functions.look",
        "look[ARGS]{",
        "[look and rest]",
        "> [look](at)",
        // The second call is broken: nothing is done by halves.
        "<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call><tool_call>{\"name\": \"rest\", \"arg",
    ] {
        check(text, "", &[]);
    }
    // What stands behind the calls was invented.
    let call = "{\"name\": \"look\", \"arguments\": {}}";
    check(
        &format!("<tool_call>{call}</tool_call>\n<tool_response>ok</tool_response>"),
        "",
        &["look({})"],
    );
    check(
        &format!("{call}\nThe result\n{{\"at\": 1}}"),
        "",
        &["look({})"],
    );
}

#[test]
fn thoughts_hold_no_calls() {
    let call = "<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call>";
    check(&format!("<think>Perhaps {call}"), "", &[]);
    check(&format!("<think>Not {call}</think>\nNo."), "", &[]);
    check(&format!("[THINK]Not {call}[/THINK]No."), "", &[]);
    check(
        &format!("<think>Yes.</think>\n\n{call}"),
        "<think>Yes.</think>",
        &["look({})"],
    );
    // The thoughts began in the prompt.
    check(
        &format!("Yes.</think>{call}"),
        "Yes.</think>",
        &["look({})"],
    );
    check(
        &format!(
            "Here are my reasoning steps:\nI look.\n[BEGIN FINAL RESPONSE]\n{call}\n[END FINAL RESPONSE]"
        ),
        "Here are my reasoning steps:\nI look.\n[BEGIN FINAL RESPONSE]",
        &["look({})"],
    );
}

#[test]
fn a_message_has_no_marks() {
    let said = |text: &str| message(text);
    assert_eq!(said("Done.<|im_end|>"), "Done.");
    assert_eq!(said(" Done.</s>\n"), "Done.");
    assert_eq!(said("<|START_RESPONSE|>Done.<|END_RESPONSE|>"), "Done.");
    assert_eq!(said(">>>all\nDone."), "Done.");
    assert_eq!(
        said(
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Done.<|return|>"
        ),
        "Done."
    );
    for text in [
        "<tool_call>",
        "look[ARGS]{",
        "a <|im_start|> b",
        "<｜tool▁sep｜>",
        "</tool_call>",
    ] {
        assert!(has_marks(text), "{text}");
    }
    for text in [
        "Done.",
        "1 < 2 | 3",
        "a <| b",
        "`x; y, z`",
        "```\ncode\n```",
        "<b>Done</b>",
        "<||>",
    ] {
        assert!(!has_marks(text), "{text}");
    }
}

#[test]
fn deepseek_s_tokens_are_read_in_every_spelling() {
    let v31 = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{\"at\": \"a b_c\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>";
    for between in ["▁", " ", "_", "\\_"] {
        let text = v31.replace('▁', between);
        check(&text, "", &[r#"look({"at":"a b_c"})"#]);
        assert!(begins_calls(&text) && has_marks(&text), "{text}");
    }
    let said = "I set a_b <｜ and c d.";
    assert_eq!(with_one_spelling(said), said);
}

#[test]
fn calls_in_tags_with_a_family_s_own_names_are_read() {
    for text in [
        // MiniCPM 5, MiniMax M3, Hunyuan, Solar, Kimi K3, and tags behind an address
        "<function name=\"look\"><param name=\"at\"><![CDATA[a <b>\n]]></param></function>",
        "hm</mm:think>]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"look\">]<]minimax[>[<at>a <b>\n]<]minimax[>[</at>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
        "<tool_calls:opensource>\n<tool_call:opensource>look<tool_sep:opensource>\n<arg_key:opensource>at</arg_key:opensource>\n<arg_value:opensource>a <b>\n</arg_value:opensource>\n</tool_call:opensource>\n</tool_calls:opensource>",
        "<|tool_calls|><|tool_call:begin|>call00000<|tool_call:name|>look<|tool_call:args|>{\"at\": \"a <b>\\n\"}<|tool_call:end|><|calls|>",
        "<|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool=\"look\" index=\"1\"<|sep|><|open|>argument key=\"at\" type=\"string\"<|sep|>a <b>\n<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>",
        " to=look<|message|><atem:function_calls>\n<atem:invoke name=\"look\">\n<atem:parameter name=\"at\">a <b>\n</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eot|>",
    ] {
        let found = published_calls(text, &|_| false).unwrap_or_default();
        let [call] = found.calls.as_slice() else {
            panic!("{text}: {found:?}");
        };
        let expect = serde_json::json!({"at": "a <b>\n"});
        assert_eq!(call.tool, "look", "{text}");
        assert_eq!(
            serde_json::from_str::<Value>(&call.arguments).unwrap(),
            expect,
            "{text}"
        );
        let words = crate::text::without_thinking(&found.words);
        assert_eq!(words, "", "{text}");
        assert!(begins_calls(text) && has_marks(text), "{text}");
    }
    // A value may hold the tags of other families.
    check(
        "<function=look>\n<parameter=at>\n<param name=\"rate\">5</param>\n</call>\n</parameter>\n</function>",
        "",
        &[r#"look({"at":"<param name=\"rate\">5</param>\n</call>"})"#],
    );
    check(
        "<function name=\"look\"><param name=\"at\"><![CDATA[a</param>b]]></param></function>",
        "",
        &[r#"look({"at":"a</param>b"})"#],
    );
    check(
        "<tool_call>{\"name\": \"look\", \"arguments\": {\"at\": \"kind:opensource>3 <atem:x>\"}}</tool_call>",
        "",
        &[r#"look({"at":"kind:opensource>3 <atem:x>"})"#],
    );
    // What stands in a thought is no call.
    for text in [
        "<think>One may write <think>hm</think> and <tool_call>{\"name\": \"rest\"}</tool_call>.</think>No.",
        "The tag </think> ends it; <tool_call>{\"name\": \"rest\"}</tool_call> is wrong here.</think>No.",
        "<|channel|>analysis<|message|>I might write <function_calls><invoke name=\"rest\"></invoke></function_calls>, but no.<|end|><|start|>assistant<|channel|>final<|message|>No.<|return|>",
    ] {
        check(text, "", &[]);
    }
    let kimi = "hm<|close|>think<|sep|><|open|>response<|sep|>Hello<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>";
    assert_eq!(crate::text::without_thinking(&message(kimi)), "Hello");
    // Many tries of a form are no long work.
    check(&"[a](b)\n".repeat(100_000), "", &[]);
    // Many thoughts are read in one pass.
    let many = "<think></think>".repeat(MAX_BYTES / 15 - 10);
    check(&many, "", &[]);
    let found = published_calls(&format!("{many}<tool_call>{{\"name\": \"rest\"}}"), &|_| {
        false
    });
    assert_eq!(found.unwrap().calls[0].tool, "rest");
    // The thought behind a call takes nothing from it, and one before it is no call.
    check(
        "<think><tool_call>{\"name\": \"rest\"}</tool_call></think><tool_call>{\"name\": \"look\", \"arguments\": {\"at\": \"<think>\"}}</tool_call><think></think>",
        "<think><tool_call>{\"name\": \"rest\"}</tool_call></think>",
        &[r#"look({"at":"<think>"})"#],
    );
}

#[test]
fn what_is_spelled_is_read_again() {
    let calls = [
        WrittenCall {
            id: String::new(),
            tool: "look".to_owned(),
            arguments: "{\"at\":\"mast\"}".to_owned(),
        },
        WrittenCall {
            tool: "rest".to_owned(),
            ..WrittenCall::default()
        },
    ];
    check(
        &spelled(&calls),
        "",
        &[r#"look({"at":"mast"})"#, "rest({})"],
    );
}

#[test]
fn a_fence_of_the_words_before_a_call_stays() {
    let call = "<tool_call>{\"name\": \"look\", \"arguments\": {\"at\": \"a\"}}</tool_call>";
    for (words, kept) in [
        ("So:\n```\nls\n```", "So:\n```\nls\n```"),
        ("So:\n```json", "So:"),
        ("So:\n```\nls\n```\nAction:\n```", "So:\n```\nls\n```"),
    ] {
        check(&format!("{words}\n{call}"), kept, &[r#"look({"at":"a"})"#]);
    }
}
