//! Templates like those of known families, and hostile ones. Published templates are in `families`.

use std::time::Duration;

use journeyman::{
    ErrorKind,
    domain::{Message, Span, Speaker},
};

use super::{engine::LIMIT, fault::TOO_SLOW, *};

mod families;

/// With a date, and a system message that is always there.
const LLAMA3: &str = "{% set rules = messages[0].content | trim if messages[0].role == 'system' else '' %}
{{- bos_token + '<|start_header_id|>system<|end_header_id|>\n\nToday Date: ' + strftime_now('%d %b %Y') + '\n\n' }}
{{- rules + '<|eot_id|>' }}
{%- for m in messages if m.role != 'system' %}
    {{- '<|start_header_id|>' + ('ipython' if m.role == 'tool' else m.role) + '<|end_header_id|>\n\n' }}
    {{- m.content + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
";

/// Without a system message, and with turns that alternate.
const GEMMA: &str = "{{ bos_token }}
{%- for m in messages %}
    {%- if m.role == 'system' %}
        {{- raise_exception('System role not supported') }}
    {%- endif %}
    {%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('the roles must alternate') }}
    {%- endif %}
    {{- '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\n' + m.content | trim }}
    {{- '<end_of_turn>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<start_of_turn>model\n' }}
{%- endif %}
";

const MISTRAL: &str = r#"{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace(index=0) %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("After the optional system message, conversation roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\n\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- endif %}
{%- endfor %}
"#;

const QWEN3: &str = r#"{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- for tool in tools %}
        {{- tool | tojson }}
    {%- endfor %}
{%- else %}
    {%- if messages[0].role == 'system' %}
        {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
    {%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {%- set content = message.content %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and (loop.last or (not loop.last and reasoning_content)) %}
            {{- '<|im_start|>' + message.role + '\n<think>\n' + reasoning_content.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\n<tool_response>\n' + message.content + '\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %}
"#;

const DEEPSEEK: &str = "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}{% set ns = namespace(is_first=false, is_tool=false, system_prompt='') %}{%- for message in messages %}{%- if message['role'] == 'system' %}{% set ns.system_prompt = message['content'] %}{%- endif %}{%- endfor %}{{bos_token}}{{ns.system_prompt}}{%- for message in messages %}{%- if message['role'] == 'user' %}{%- set ns.is_tool = false -%}{{'<｜User｜>' + message['content']}}{%- endif %}{%- if message['role'] == 'assistant' and message['content'] is not none %}{% set content = message['content'] %}{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}{{'<｜Assistant｜>' + content + '<｜end▁of▁sentence｜>'}}{%- endif %}{%- endfor -%}{% if add_generation_prompt and not ns.is_tool %}{{'<｜Assistant｜><think>\\n'}}{% endif %}";

/// Has a generation block, a macro and a break.
const SMOL: &str = "{%- macro turn(role, content) -%}
<|im_start|>{{ role }}
{{ content }}<|im_end|>
{% endmacro -%}
{% for message in messages %}
  {% if message.role == 'assistant' %}
    {%- generation -%}
    {{ turn(message.role, message.content) }}
    {%- endgeneration -%}
  {% else %}
    {{- turn(message.role, message.content) -}}
  {% endif %}
  {%- if loop.index0 > 1000 %}{% break %}{% endif %}
{% endfor %}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% endif -%}";

fn spellings() -> Spellings {
    Spellings {
        bos: "<s>".to_owned(),
        eos: "</s>".to_owned(),
        plain: Vec::new(),
    }
}

fn jinja(source: &str) -> Result<ChatTemplate> {
    ChatTemplate::compile(source.to_owned(), spellings())
}

/// One letter for each message, with the message's number as its content.
fn conversation(speakers: &str) -> Vec<Message> {
    let speaker = |letter| match letter {
        's' => Speaker::System,
        'u' => Speaker::User,
        'a' => Speaker::Assistant,
        _ => Speaker::Tool,
    };
    let numbered = speakers.chars().enumerate();
    numbered
        .map(|(index, letter)| Message::data(speaker(letter), index.to_string()))
        .collect()
}

fn written(pieces: &[Piece]) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Template(text) => text.clone(),
        Piece::Content(spans) => spans.iter().map(Span::text).collect(),
    };
    pieces.iter().map(text).collect()
}

/// The rendering of these messages as they are.
fn rendered(source: &str, speakers: &str) -> Result<String> {
    let template = jinja(source)?;
    let messages = conversation(speakers);
    let pieces = template.raw("test", &plain(&messages), false)?;
    Ok(written(&pieces))
}

/// The rendering of these messages in the form that the template accepts.
fn adapted(source: &str, speakers: &str) -> Result<String> {
    let template = jinja(source)?;
    let messages = conversation(speakers);
    Ok(written(&template.render("test", &plain(&messages))?))
}

fn plain(messages: &[Message]) -> Conversation<'_> {
    Conversation {
        messages,
        tools: &[],
        thinking: None,
    }
}

fn check(source: &str, speakers: &str, expect: &str) {
    assert_eq!(rendered(source, speakers).unwrap(), expect);
}

fn check_refused(source: &str, speakers: &str, why: &str) {
    let error = rendered(source, speakers).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains(why), "{error}");
    assert!(error.hint_text().unwrap().contains("Template::"));
    assert!(error.to_string().len() < 700, "{error}");
}

fn named(name: &str) -> &'static str {
    NAMED.iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn templates_like_those_of_known_families_are_rendered() {
    check(
        LLAMA3,
        "suat",
        "<s><|start_header_id|>system<|end_header_id|>\n\nToday Date: 26 Jul 2024\n\n0<|eot_id|>\
         <|start_header_id|>user<|end_header_id|>\n\n1<|eot_id|>\
         <|start_header_id|>assistant<|end_header_id|>\n\n2<|eot_id|>\
         <|start_header_id|>ipython<|end_header_id|>\n\n3<|eot_id|>\
         <|start_header_id|>assistant<|end_header_id|>\n\n",
    );
    check(
        GEMMA,
        "uau",
        "<s><start_of_turn>user\n0<end_of_turn>\n<start_of_turn>model\n1<end_of_turn>\n\
         <start_of_turn>user\n2<end_of_turn>\n<start_of_turn>model\n",
    );
    check(MISTRAL, "su", "<s>[INST] 0\n\n1[/INST]");
    check(MISTRAL, "uau", "<s>[INST] 0[/INST] 1</s>[INST] 2[/INST]");
    check(
        QWEN3,
        "suautt",
        "<|im_start|>system\n0<|im_end|>\n<|im_start|>user\n1<|im_end|>\n<|im_start|>assistant\n2<|im_end|>\n\
         <|im_start|>user\n3<|im_end|>\n<|im_start|>user\n<tool_response>\n4\n</tool_response>\
         \n<tool_response>\n5\n</tool_response><|im_end|>\n<|im_start|>assistant\n",
    );
    check(
        DEEPSEEK,
        "suau",
        "<s>0<｜User｜>1<｜Assistant｜>2<｜end▁of▁sentence｜><｜User｜>3<｜Assistant｜><think>\n",
    );
    check(
        SMOL,
        "ua",
        "<|im_start|>user\n0<|im_end|>\n<|im_start|>assistant\n1<|im_end|>\n<|im_start|>assistant\n",
    );
}

#[test]
fn none_is_not_iterable_as_in_jinja2() {
    // Qwen3-Coder and Nemotron ask for tools in this way.
    let asks = "{{ messages[0].content }}{% if tools is iterable and tools | length > 0 %} tools{% endif %}";
    check(asks, "u", "0");
    let tests = "{{ messages[0].content }}{% if [] is iterable and 'text' is iterable and {} is iterable \
                 and 1 is not iterable and none is not iterable %} as there{% endif %}";
    check(tests, "u", "0 as there");
}

#[test]
fn indent_keeps_a_break_at_the_end_as_in_jinja2() {
    let check = |source: &str, expect: &str| {
        let source = format!("{{{{ messages[0].content }}}}{source}");
        check(&source, "u", &format!("0{expect}"));
    };
    check("{{ '{\\n' | indent(2, first=true) }}x", "  {\nx");
    check("{{ 'a\\n\\nb' | indent }}", "a\n\n    b");
    check("{{ 'a\\n\\nb' | indent(1, true, true) }}", " a\n \n b");
    check_refused("{{ 'a' | indent(widths=2) }}", "u", "widths");
}

#[test]
fn ensure_ascii_escapes_what_stands_behind_placeholders_too() {
    let source = "{{ messages[0].content }}{{ [messages[1].content, 'ü'] | tojson(ensure_ascii=True) | tojson }}";
    let message = |text: &str| Message::data(Speaker::User, text);
    let messages = [message("ü"), message("<ü> \u{1f600}\n")];
    let template = jinja("{{ messages[0].content }}").unwrap();
    let template = ChatTemplate {
        engine: Engine::compile("test", source.to_owned()).unwrap(),
        ..template
    };
    let pieces = template.raw("test", &plain(&messages), false).unwrap();
    // The inner string is escaped first, and the text of the list then stands in a string of its own.
    let inner = r#"["<\u00fc> \ud83d\ude00\n", "\u00fc"]"#;
    assert_eq!(written(&pieces), format!("ü{}", serde_json::json!(inner)));
}

#[test]
fn named_templates_are_rendered() {
    check(
        named("chatml"),
        "sua",
        "<|im_start|>system\n0<|im_end|>\n<|im_start|>user\n1<|im_end|>\n<|im_start|>assistant\n2<|im_end|>\n\
         <|im_start|>assistant\n",
    );
    check(
        named("llama3"),
        "ut",
        "<s><|start_header_id|>user<|end_header_id|>\n\n0<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n1\
         <|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    );
    check(
        named("gemma"),
        "ua",
        "<s><start_of_turn>user\n0<end_of_turn>\n<start_of_turn>model\n1<end_of_turn>\n<start_of_turn>model\n",
    );
    check(
        named("mistral"),
        "suau",
        "<s>[SYSTEM_PROMPT]0[/SYSTEM_PROMPT][INST]1[/INST]2</s>[INST]3[/INST]",
    );
    check_refused(named("gemma"), "su", "only user and assistant speak");
    check_refused(
        named("mistral"),
        "ut",
        "only system, user and assistant speak",
    );
}

#[test]
fn what_a_template_refuses_is_told_in_its_words() {
    check_refused(GEMMA, "su", "System role not supported");
    check_refused(GEMMA, "uu", "must alternate");
    check_refused(MISTRAL, "suu", "must alternate");
    // A system message may stand before the last message of the user, as in Mistral's template.
    check(
        MISTRAL,
        "suau",
        "<s>[INST] 1[/INST] 2</s>[INST] 0\n\n3[/INST]",
    );
    check_refused(LLAMA3, "", "refuses these messages");
    let shouting = "{{ raise_exception('\x1b[31m' ~ 'x' * 1000) }}";
    check_refused(shouting, "u", " [31mxxx");
}

#[test]
fn messages_are_put_into_the_form_that_a_template_accepts() {
    let check = |source: &str, speakers: &str, expect: &str| {
        assert_eq!(adapted(source, speakers).unwrap(), expect);
    };
    // Gemma knows neither system messages nor tools.
    check(
        GEMMA,
        "suatu",
        "<s><start_of_turn>user\n0\n\n1<end_of_turn>\n<start_of_turn>model\n2<end_of_turn>\n\
         <start_of_turn>user\n3\n\n4<end_of_turn>\n<start_of_turn>model\n",
    );
    check(
        GEMMA,
        "sa",
        "<s><start_of_turn>user\n0<end_of_turn>\n<start_of_turn>model\n1<end_of_turn>\n<start_of_turn>model\n",
    );
    check(
        MISTRAL,
        "suuaau",
        "<s>[INST] 1\n\n2[/INST] 3\n\n4</s>[INST] 0\n\n5[/INST]",
    );
    check(
        named("mistral"),
        "uat",
        "<s>[INST]0[/INST]1</s>[INST]2[/INST]",
    );
}

#[test]
fn a_template_that_drops_reorders_or_repeats_a_message_is_refused() {
    check_refused("", "u", "drops");
    check_refused("always the same", "u", "drops");
    check_refused("{{ messages[-1].content }}", "ua", "drops");
    check_refused(
        "{% for m in messages[::-1] %}{{ m.content }}{% endfor %}",
        "ua",
        "reorders",
    );
    let again = "{% for m in messages %}{{ m.content }}{% endfor %}{{ messages[0].content }}";
    check_refused(again, "ua", "repeats");
    let spelled = "JOURNEYMAN-CONTENT-1-END{{ messages[0].content }}";
    check_refused(spelled, "u", "repeats");
    check_refused("{{ messages[0].content | upper | lower }}", "u", "drops");
}

#[test]
fn what_cannot_be_read_is_refused() {
    for source in [
        "{% for m in messages %}{{ m.content }}",
        "{% if %}",
        "{{ messages[0].content",
        "{% frobnicate %}",
    ] {
        check_refused(source, "u", "is not valid Jinja");
    }
    check_refused(&" ".repeat(200_000), "u", "64 KiB");
    check_refused("{{ messages[0].content | frobnicate }}", "u", "frobnicate");
    check_refused("{{ frobnicate() }}", "u", "unknown function");
}

#[test]
fn no_nesting_overflows_the_stack() {
    let within = |open: &str, close: &str, n: usize| {
        format!("{{{{ {}1{} }}}}", open.repeat(n), close.repeat(n))
    };
    for source in [
        within("(", ")", 30_000),
        within("[", "]", 30_000),
        within("not ", "", 15_000),
        within("-", "", 60_000),
        within("", "+1", 30_000),
        within("", "~1", 30_000),
        within("", "**1", 20_000),
        within("", ".x", 30_000),
        within("", "[0]", 20_000),
        within("", "()", 30_000),
        within("", "|e", 30_000),
        within("", " if 1", 10_000),
        within("", " is odd", 9_000),
        "{% if 1 %}".repeat(6_000),
        "{% if 0 %}".to_owned() + &"{% elif 0 %}".repeat(5_000) + "{% endif %}",
        "{% for a in [1] %}".repeat(3_000),
        "{% macro a() %}".repeat(4_000),
        "{% set a %}".repeat(5_000),
    ] {
        let error = jinja(&source).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().len() < 700, "{error}");
    }
    let nest = "{% set ns = namespace(a=0) %}{% for i in range(10000) %}{% for i in range(10000) %}\
                {% set ns.a = [ns.a] %}{% if messages|length == i %}{{ WHAT }}{% endif %}\
                {% endfor %}{% endfor %}";
    for what in [
        "''",
        "ns.a",
        "ns.a|tojson",
        "ns.a == [ns.a]",
        "ns.a|string|length",
    ] {
        check_refused(&nest.replace("WHAT", what), "u", "");
    }
}

#[test]
fn a_hostile_template_ends_and_reads_nothing() {
    let nested = "{% for a in range(9000) %}{% for b in range(9000) %}{% for c in range(9000) %}\
                  {% endfor %}{% endfor %}{% endfor %}";
    check_refused(nested, "u", "exceeds its limit of steps");
    let itself = "{% macro again() %}{{ again() }}{{ again() }}{% endmacro %}{{ again() }}";
    check_refused(itself, "u", "refuses");
    let looped = "{% for m in [1] recursive %}{{ loop([1]) }}{% endfor %}";
    check_refused(looped, "u", "refuses");
    let loud = format!(
        "{{% for a in range(9000) %}}{}{{% endfor %}}",
        "x".repeat(9_000)
    );
    check_refused(&loud, "u", "more than 4 MiB");
    check_refused("{{ 'x' * 50000000 }}", "u", "more than 4 MiB");
    check_refused("{{ 'x' * 50000000000 }}", "u", "too large");
    check_refused("{{ range(100000000) }}", "u", "too many");
    for outside in [
        "{% include '/etc/hostname' %}",
        "{% extends '/etc/hostname' %}",
        "{% import '/etc/hostname' as host %}",
        "{% from '/etc/hostname' import host %}",
    ] {
        check_refused(outside, "u", "template not found");
    }
    check_refused("{% include 'chat' %}", "u", "refuses");
    check_refused("{{ ''.__class__.__mro__ }}", "u", "refuses");
}

#[test]
fn a_slow_template_is_left_behind_once() {
    let slow = "{% set s = 'x' * 100000000 %}{% for i in range(100) %}{% if s.count('y') %}{% endif %}{% endfor %}\
                {% for m in messages %}{{ m.content }}{% endfor %}";
    let slow = format!(
        "{{% if messages|length > 3 %}}{slow}{{% else %}}{{{{ messages[0].content }}}}{{% endif %}}"
    );
    let mut template = jinja(&slow).unwrap();
    template.engine.limit = Duration::from_millis(1);
    let many = conversation("uaua");
    let error = template.raw("test", &plain(&many), false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.hint_text().unwrap().contains("Template::"));
    template.engine.limit = LIMIT;
    let error = template.raw("test", &plain(&many[..1]), false).unwrap_err();
    assert_eq!(error.message(), TOO_SLOW);
}

#[test]
fn a_missing_template_is_refused_with_what_to_do() {
    let choose = |template: &Template, own: Option<&str>| {
        ChatTemplate::choose(template, own.map(str::to_owned), spellings())
    };
    let error = choose(&Template::Auto, None).map(|_| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Unsupported at LlamaCpp::load: the file has no chat template; hint: load with Template::Named, such as \
         `chatml`, for a chat model, or with Template::None where prompts are written in the model's own prompt format"
    );
    assert!(choose(&Template::None, Some(GEMMA)).unwrap().is_none());
    assert!(choose(&Template::Auto, Some(GEMMA)).unwrap().is_some());
    assert!(
        choose(&Template::Jinja(GEMMA.to_owned()), None)
            .unwrap()
            .is_some()
    );
    let error = choose(&Template::Named("chat".to_owned()), Some(GEMMA)).map(|_| ());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Invalid);
}
