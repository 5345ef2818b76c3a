//! The call of one tool as each family of models was trained to write it, by the templates that are published with the models and with
//! llama.cpp.

use journeyman::{
    agent::ChatFormat,
    contract::{Generation, PromptFormat, TurnMove, TurnView},
    domain::{Action, Injection, Observation, Prompt, Source, Task, ToolDefinition},
};
use serde_json::json;

/// A family, and its call of `set_level` with level 8.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The family's name.
    pub name: &'static str,
    /// What its model writes.
    pub answer: &'static str,
}

/// The tool that is called.
pub(super) fn set_level() -> ToolDefinition {
    let schema = json!({
        "type": "object",
        "properties": {"level": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["level"],
    });
    ToolDefinition::new("set_level", "Sets the dial.", schema)
}

/// Whether a family's answer is read as the call that it is, for a model with an interface for tools or without one.
pub fn read_family(family: &Family, is_native: bool) -> bool {
    let mut prompt_format = ChatFormat::default();
    prompt_format.native_tools = is_native;
    let seen = Observation::new("", Source::trusted("dial")).with_tools(vec![set_level()]);
    let replies = [Generation::new("test", &Prompt::default(), family.answer)];
    let task = Task::new("t", "Set the dial to level 8.");
    let none = Injection::NONE;
    let mut view = TurnView::new(&task, &none, &seen);
    view.replies = &replies;
    let turn = prompt_format.turn(&view);
    let expect = Action::call("set_level", json!({"level": 8}));
    matches!(turn, Ok(TurnMove::Act { action, .. }) if action == expect)
}

/// All families.
pub const FAMILIES: [Family; 62] = [
    Family {
        name: "Qwen 2.5",
        answer: "<tool_call>\n{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}\n</tool_call>",
    },
    Family {
        name: "Qwen 3",
        answer: "<think>\nI set it.\n</think>\n\n<tool_call>\n{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}\n</tool_call>",
    },
    Family {
        name: "QwQ",
        answer: "I set it.\n</think>\n\n<tool_call>\n{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}\n</tool_call>",
    },
    Family {
        name: "Qwen 3 Coder",
        answer: "<tool_call>\n<function=set_level>\n<parameter=level>\n8\n</parameter>\n</function>\n</tool_call>",
    },
    Family {
        name: "Qwen 3.5",
        answer: "I set it.\n</think>\n\n<tool_call>\n<function=set_level>\n<parameter=level>\n8\n</parameter>\n</function>\n</tool_call>",
    },
    Family {
        name: "Nemotron 3 Nano",
        answer: "I set it.\n</think>\n<tool_call>\n<function=set_level>\n<parameter=level>\n8\n</parameter>\n</function>\n</tool_call>",
    },
    Family {
        name: "Step 3.5 Flash",
        answer: "I set it.\n</think>\n<tool_call>\n<function=set_level>\n<parameter=level>\n8\n</parameter>\n</function>\n</tool_call>",
    },
    Family {
        name: "GLM 4.6",
        answer: "\n<think>I set it.</think>\n<tool_call>set_level\n<arg_key>level</arg_key>\n<arg_value>8</arg_value>\n</tool_call>",
    },
    Family {
        name: "GLM 4.7 Flash",
        answer: "I set it.</think><tool_call>set_level<arg_key>level</arg_key><arg_value>8</arg_value></tool_call>",
    },
    Family {
        name: "Kimi K2",
        answer: "<|tool_calls_section_begin|><|tool_call_begin|>functions.set_level:0<|tool_call_argument_begin|>{\"level\": 8}<|tool_call_end|><|tool_calls_section_end|>",
    },
    Family {
        name: "Seed OSS",
        answer: "<seed:think>I set it.</seed:think><seed:tool_call>\n<function=set_level>\n<parameter=level>8</parameter>\n</function>\n</seed:tool_call>",
    },
    Family {
        name: "DeepSeek V3",
        answer: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>set_level\n```json\n{\"level\": 8}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    },
    Family {
        name: "DeepSeek V3.1",
        answer: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>set_level<｜tool▁sep｜>{\"level\": 8}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    },
    Family {
        name: "DeepSeek V3.2",
        answer: "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"set_level\">\n<｜DSML｜parameter name=\"level\" string=\"false\">8</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    },
    Family {
        name: "Granite 3.3",
        answer: "<|tool_call|>[{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}]",
    },
    Family {
        name: "Command R7B",
        answer: "<|START_THINKING|>I set it.<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"set_level\", \"parameters\": {\"level\": 8}}\n]<|END_ACTION|>",
    },
    Family {
        name: "Command A",
        answer: "<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"set_level\", \"parameters\": {\"level\": 8}}\n]<|END_ACTION|>",
    },
    Family {
        name: "LFM2",
        answer: "<|tool_call_start|>[set_level(level=8)]<|tool_call_end|>",
    },
    Family {
        name: "gpt-oss",
        answer: "<|channel|>analysis<|message|>I set it.<|end|><|start|>assistant<|channel|>commentary to=functions.set_level <|constrain|>json<|message|>{\"level\": 8}<|call|>",
    },
    Family {
        name: "gpt-oss, cut at the call",
        answer: "<|channel|>analysis<|message|>I set it.<|end|><|start|>assistant<|channel|>commentary to=functions.set_level <|constrain|>json<|message|>{\"level\": 8}",
    },
    Family {
        name: "SmolLM3",
        answer: "<think>\nI set it.\n</think>\n<tool_call>\n{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}\n</tool_call>",
    },
    Family {
        name: "Functionary 3.1",
        answer: "<function=set_level>{\"level\": 8}</function>",
    },
    Family {
        name: "Functionary 3.2",
        answer: "set_level\n{\"level\": 8}",
    },
    Family {
        name: "Functionary 3.2, with its mark",
        answer: ">>>set_level\n{\"level\": 8}",
    },
    Family {
        name: "Hermes 3",
        answer: "<tool_call>\n{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}\n</tool_call>",
    },
    Family {
        name: "Llama 3.1",
        answer: "{\"name\": \"set_level\", \"parameters\": {\"level\": 8}}",
    },
    Family {
        name: "Llama 3.2",
        answer: "{\"name\": \"set_level\", \"parameters\": {\"level\": \"8\"}}",
    },
    Family {
        name: "Llama 3.3",
        answer: "{\"type\": \"function\", \"name\": \"set_level\", \"parameters\": {\"level\": 8}}",
    },
    Family {
        name: "Llama 3, built-in tools",
        answer: "<|python_tag|>{\"name\": \"set_level\", \"parameters\": {\"level\": 8}}",
    },
    Family {
        name: "Llama 4",
        answer: "<|python_start|>[set_level(level=8)]<|python_end|>",
    },
    Family {
        name: "Apertus",
        answer: "<|inner_prefix|>I set it.<|tools_prefix|>[{\"set_level\": {\"level\": 8}}]<|tools_suffix|>",
    },
    Family {
        name: "Bielik",
        answer: "<tool_call>\n{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}\n</tool_call>",
    },
    Family {
        name: "Ministral 3",
        answer: "[THINK]I set it.[/THINK][TOOL_CALLS]set_level[ARGS]{\"level\": 8}",
    },
    Family {
        name: "Devstral",
        answer: "[TOOL_CALLS]set_level[ARGS]{\"level\": 8}",
    },
    Family {
        name: "Mistral Small 3.2",
        answer: "[TOOL_CALLS]set_level[CALL_ID]abc123def[ARGS]{\"level\": 8}",
    },
    Family {
        name: "Mistral Nemo",
        answer: "[TOOL_CALLS][{\"name\": \"set_level\", \"arguments\": {\"level\": 8}, \"id\": \"abc123def\"}]",
    },
    Family {
        name: "Mistral, its mark lost",
        answer: "set_level[ARGS]{\"level\": 8}",
    },
    Family {
        name: "Gemma 4",
        answer: "<|tool_call>call:set_level{level:8}<tool_call|>",
    },
    Family {
        name: "FunctionGemma",
        answer: "<start_function_call>call:set_level{level:8}<end_function_call>",
    },
    Family {
        name: "Gemma 3",
        answer: "```tool_code\nset_level(level=8)\n```",
    },
    Family {
        name: "GigaChat 3",
        answer: "function call<|role_sep|>\n{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}",
    },
    Family {
        name: "Apriel 1.5",
        answer: "Here are my reasoning steps:\nI set it.\n[BEGIN FINAL RESPONSE]\n<tool_calls>[{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}]</tool_calls>\n[END FINAL RESPONSE]",
    },
    Family {
        name: "Reka Edge",
        answer: "<tool_call>\n{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}\n</tool_call>",
    },
    Family {
        name: "MiMo",
        answer: "<tool_call>\n{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}\n</tool_call>",
    },
    Family {
        name: "MiroThinker",
        answer: "<use_mcp_tool>\n<server_name>generic-extras</server_name>\n<tool_name>set_level</tool_name>\n<arguments>\n{\"level\": 8}\n</arguments>\n</use_mcp_tool>",
    },
    Family {
        name: "MiniMax M2",
        answer: "<minimax:tool_call>\n<invoke name=\"set_level\">\n<parameter name=\"level\">8</parameter>\n</invoke>\n</minimax:tool_call>",
    },
    Family {
        name: "Nemotron Nano 2",
        answer: "<TOOLCALL>[{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}]</TOOLCALL>",
    },
    Family {
        name: "FireFunction",
        answer: " functools[{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}]",
    },
    Family {
        name: "Phi 4 mini",
        answer: "<|tool_call|>[{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}]<|/tool_call|>",
    },
    Family {
        name: "OLMo 3",
        answer: "<function_calls>\nset_level(level=8)\n</function_calls>",
    },
    Family {
        name: "InternLM 2.5",
        answer: "<|action_start|><|plugin|>{\"name\": \"set_level\", \"parameters\": {\"level\": 8}}<|action_end|>",
    },
    Family {
        name: "Hunyuan A13B",
        answer: "<think>I set it.</think><answer><tool_calls>[{\"name\": \"set_level\", \"arguments\": {\"level\": 8}}]</tool_calls></answer>",
    },
    Family {
        name: "DeepSeek R1, distilled",
        answer: "I set it.\n</think>\n\n{\"tool\": \"set_level\", \"arguments\": {\"level\": 8}}",
    },
    Family {
        name: "Gemma 2",
        answer: "```json\n{\"tool\": \"set_level\", \"arguments\": {\"level\": 8}}\n```",
    },
    Family {
        name: "Phi 3.5",
        answer: "{\"tool\": \"set_level\", \"arguments\": {\"level\": 8}}",
    },
    Family {
        name: "Kimi K3",
        answer: "<|open|>tools<|sep|><|open|>call tool=\"set_level\" index=\"1\"<|sep|><|open|>argument key=\"level\" type=\"number\"<|sep|>8<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
    },
    Family {
        name: "MiniMax M3",
        answer: "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"set_level\">]<]minimax[>[<level>8]<]minimax[>[</level>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
    },
    Family {
        name: "MiniCPM 5",
        answer: "<function name=\"set_level\"><param name=\"level\">8</param></function>",
    },
    Family {
        name: "Hunyuan 3",
        answer: "<tool_calls:opensource>\n<tool_call:opensource>set_level<tool_sep:opensource>\n<arg_key:opensource>level</arg_key:opensource>\n<arg_value:opensource>8</arg_value:opensource>\n</tool_call:opensource>\n</tool_calls:opensource>",
    },
    Family {
        name: "Solar Open",
        answer: "<|tool_calls|><|tool_call:begin|>call1<|tool_call:name|>set_level<|tool_call:args|>{\"level\": 8}<|tool_call:end|><|calls|>",
    },
    Family {
        name: "Muse",
        answer: " to=set_level<|message|><atem:function_calls>\n<atem:invoke name=\"set_level\">\n<atem:parameter name=\"level\">8</atem:parameter>\n</atem:invoke>\n</atem:function_calls>",
    },
    Family {
        name: "DeepSeek V3.1, tokens with blanks",
        answer: "<｜tool calls begin｜><｜tool call begin｜>set_level<｜tool sep｜>{\"level\": 8}<｜tool call end｜><｜tool calls end｜>",
    },
];
