//! Servers that are nearly right: what they have that works can be used, and what does not is said at once.

use std::{
    error::Error as _,
    time::{Duration, Instant},
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Retry, Seed,
    contract::{Environment, Episode, ToolChoice},
    domain::{Action, Task, Trust},
    text::ToolCalls,
};
use journeyman_mcp::{
    ApprovedTools, McpConfig, McpEnvironment, McpFault, ToolCheck, ToolListing, list_tools,
};
use serde_json::{Value, json};

use crate::support::{OddHttp, judge, odd};

fn fault(error: &Error) -> &McpFault {
    let source = error.source().and_then(|source| source.downcast_ref());
    source.unwrap_or_else(|| panic!("the source of {error} is no McpFault"))
}

fn good(name: &str) -> Value {
    json!({"name": name, "description": "Does.", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}})
}

fn with(schema: Value) -> Value {
    json!({"name": "odd", "description": "The odd one.", "inputSchema": schema})
}

fn one_page(tools: &[Value]) -> McpConfig {
    odd(&json!({"pages": {"": {"tools": tools}}}))
}

/// All tools approved, as the server lists them.
async fn world(config: &McpConfig) -> (ToolListing, McpEnvironment) {
    let listing = list_tools(config).await.unwrap();
    let approved = ApprovedTools::all(&listing.tools);
    let world = McpEnvironment::new(config.clone(), approved, judge()).await;
    (listing, world.unwrap())
}

async fn begin(world: &McpEnvironment) -> Box<dyn Episode> {
    let task = Task::new("t", "Do it.");
    world.reset(&task, Seed(7)).await.unwrap()
}

/// An odd tool beside a good one: both can be shown to a model, both can be called, and the finding is there at approval and
/// at the start.
fn beside(tool: Value, finding: &str) {
    block_on(async {
        let (listing, world) = world(&one_page(&[good("fine"), tool.clone()])).await;
        let told = listing.all_findings().join("; ");
        assert!(told.contains(finding), "{tool}: {told}");
        let ToolCheck {
            blocked, findings, ..
        } = world.check().await.unwrap();
        assert!(blocked.is_empty(), "{tool}: {blocked:?}");
        assert_eq!(findings, listing.all_findings());

        let mut episode = begin(&world).await;
        let tools = episode.observation().tools.clone();
        assert_eq!(tools.len(), 2, "{tool}");
        assert_eq!(tools[1].description, "The odd one.");
        ToolCalls::new(&tools, &ToolChoice::Auto).unwrap_or_else(|error| panic!("{tool}: {error}"));
        for name in ["fine", "odd"] {
            let made = episode.step(&Action::call(name, json!({"n": 1}))).await;
            let made = made.unwrap();
            assert_eq!(made.observation.text, format!("[\"{name}\", {{\"n\": 1}}]"));
            // What was put right is trusted no more than before.
            assert_eq!(made.observation.source.trust, Trust::Untrusted);
        }
        episode.close().await.unwrap();
    });
}

#[test]
fn a_schema_that_cannot_be_used_is_loosened_beside_good_tools() {
    let field = |schema: Value| with(json!({"type": "object", "properties": {"when": schema}}));
    beside(field(json!({"type": "datetime"})), "/properties/when/type");
    beside(field(json!({"type": 3})), "/properties/when/type");
    beside(
        field(json!({"type": "integer", "exclusiveMinimum": true})),
        "/properties/when/exclusiveMinimum",
    );
    beside(
        field(json!({"$ref": "#/$defs/Missing"})),
        "/properties/when/$ref",
    );
    beside(
        field(json!({"type": "string", "pattern": "^(?!-)[a-z-]+$"})),
        "/properties/when/pattern",
    );
    beside(
        field(json!({"type": "integer", "required": true})),
        "/properties/when/required",
    );
    beside(
        field(json!({"type": "integer", "description": "x".repeat(70_000)})),
        "64 KiB",
    );
    beside(field(json!(null)), "/properties/when");
    beside(
        with(json!({"type": "object", "properties": null, "required": null})),
        "/properties",
    );
    beside(with(json!({"type": 3})), "/type");
    beside(
        with(json!({"$schema": "urn:ours", "type": "object"})),
        "/$schema",
    );
    let name = "\u{1b}]0;title\u{7}".repeat(40);
    beside(
        with(json!({"properties": {name: {"type": "date"}}})),
        "left out of its schema",
    );
}

#[test]
fn a_tool_without_a_schema_takes_no_arguments() {
    beside(with(json!(null)), "no schema");
    beside(
        json!({"name": "odd", "description": "The odd one."}),
        "no schema",
    );
    beside(with(json!("object")), "the whole schema");
    beside(with(json!([])), "the whole schema");
    block_on(async {
        let list = list_tools(&one_page(&[with(json!(null))]))
            .await
            .unwrap()
            .tools;
        let schema = &list[0].definition.input_schema;
        assert_eq!(schema, &json!({"type": "object", "properties": {}}));
    });
}

#[test]
fn what_is_no_tool_is_left_out_of_the_list() {
    let nameless = json!({"description": "Does.", "inputSchema": {"type": "object"}});
    for entry in [
        nameless,
        json!({"name": null}),
        json!({"name": 3}),
        json!({"name": ""}),
        json!("fine"),
        json!(null),
    ] {
        block_on(async {
            let (listing, world) = world(&one_page(&[entry.clone(), good("fine")])).await;
            assert_eq!(
                (listing.tools.len(), listing.findings.len()),
                (1, 1),
                "{entry}"
            );
            assert!(
                listing.findings[0].contains("entry 1"),
                "{:?}",
                listing.findings
            );
            assert_eq!(world.check().await.unwrap().findings, listing.findings);
            assert_eq!(begin(&world).await.observation().tools[0].name, "fine");
        });
    }
}

#[test]
fn a_change_of_a_loosened_tool_is_seen() {
    block_on(async {
        // Both become the same definition: the approval is that of what the server sent.
        let [first, second] = ["date", "datetime"]
            .map(|kind| with(json!({"type": "object", "properties": {"when": {"type": kind}}})));
        let listed = list_tools(&one_page(&[first, good("fine")]))
            .await
            .unwrap()
            .tools;
        let approved = ApprovedTools::all(&listed);
        let changed = one_page(&[second, good("fine")]);
        let changed = McpEnvironment::new(changed, approved, judge())
            .await
            .unwrap();
        let blocked = changed.check().await.unwrap().blocked;
        assert!(matches!(fault(&blocked[0]), McpFault::ToolChanged { tool, .. } if tool == "odd"));
        assert_eq!(begin(&changed).await.observation().tools.len(), 1);
    });
}

#[test]
fn a_list_ends_where_its_cursor_does_not_go_on() {
    let check = |pages: Value, names: &[&str], finding: &str| {
        block_on(async {
            let (listing, world) = world(&odd(&json!({"pages": pages}))).await;
            let found = listing
                .tools
                .iter()
                .map(|tool| tool.definition.name.as_str());
            assert_eq!(found.collect::<Vec<_>>(), names, "{pages}");
            let told = listing.findings.join("; ");
            assert!(
                told.contains(finding) && told.is_empty() == finding.is_empty(),
                "{pages}: {told}"
            );
            assert_eq!(begin(&world).await.observation().tools.len(), names.len());
        });
    };
    let page = |name: &str, cursor: Value| json!({"tools": [good(name)], "nextCursor": cursor});
    let stuck = page("a", json!("page1"));
    check(json!({"": stuck, "*": stuck}), &["a"], "`page1`");
    check(
        json!({"": page("a", json!("x")), "x": page("b", json!("x"))}),
        &["a", "b"],
        "`x`",
    );
    check(
        json!({"": page("a", json!("x")), "x": page("b", json!("y")), "y": page("c", json!("x"))}),
        &["a", "b", "c"],
        "`x`",
    );
    check(json!({"": page("a", json!(""))}), &["a"], "");
    check(json!({"": page("a", json!(null))}), &["a"], "");
    check(
        json!({"": page("a", json!(1)), "1": page("b", json!(null))}),
        &["a", "b"],
        "",
    );
    check(json!({"": {"tools": [good("a"), good("a")]}}), &["a"], "");
    check(
        json!({"": page("a", json!("x")), "x": page("a", json!(null))}),
        &["a"],
        "",
    );
    check(
        json!({"": {"tools": [good("a"), good("A")]}}),
        &["a", "A"],
        "",
    );
}

#[test]
fn a_list_without_an_end_is_refused_with_its_cursor() {
    let pages = (0..120).map(|at| {
        let cursor = if at == 0 {
            String::new()
        } else {
            format!("c{at}")
        };
        (
            cursor,
            json!({"tools": [], "nextCursor": format!("c{}", at + 1)}),
        )
    });
    let pages: serde_json::Map<String, Value> = pages.collect();
    let error = block_on(list_tools(&odd(&json!({"pages": pages})))).unwrap_err();
    assert!(
        matches!(fault(&error), McpFault::WrongAnswer { .. }),
        "{error}"
    );
    assert!(error.message().contains("`c100`"), "{error}");
}

#[test]
fn a_name_with_several_definitions_is_blocked_alone() {
    block_on(async {
        let mut other = good("twin");
        other["description"] = json!("Does another thing.");
        let config = one_page(&[good("twin"), other, good("fine")]);
        let (listing, world) = world(&config).await;
        assert!(
            listing.findings[0].contains("`twin`"),
            "{:?}",
            listing.findings
        );
        let blocked = world.check().await.unwrap().blocked;
        let [error] = blocked.as_slice() else {
            panic!("{blocked:?}");
        };
        assert!(
            matches!(fault(error), McpFault::ToolTwice { tool } if tool == "twin"),
            "{error}"
        );
        let mut episode = begin(&world).await;
        assert_eq!(episode.observation().tools.len(), 1);
        let refused = episode
            .step(&Action::call("twin", json!({})))
            .await
            .unwrap();
        assert!(refused.is_error);
        let made = episode
            .step(&Action::call("fine", json!({})))
            .await
            .unwrap();
        assert!(!made.is_error);
    });
}

/// The error of the first call, which comes long before the time limit.
async fn first_call(config: &McpConfig) -> Error {
    let (_, world) = world(config).await;
    let mut episode = begin(&world).await;
    let start = Instant::now();
    let name = episode.observation().tools[0].name.clone();
    let error = episode
        .step(&Action::call(name, json!({})))
        .await
        .unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(20), "{error}");
    assert_eq!(error.retry(), Retry::Temporary, "{error}");
    assert!(error.hint_text().is_some());
    episode.close().await.unwrap();
    error
}

#[test]
fn an_answer_that_is_no_json_is_refused_at_once() {
    let texts = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":ID,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    for answer in [
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"mean":NaN}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"least":-Infinity}}}"#.to_owned(),
        texts("SECRET \\ud83d"),
        texts("SECRET \\ud83dx"),
        texts("SECRET caf\u{e9}"),
        texts("a\nb"),
        "{'jsonrpc': '2.0', 'id': ID, 'result': {'content': []}}".to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":["#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID}"#.to_owned(),
    ] {
        let config = odd(&json!({"pages": {"": {"tools": [good("fine")]}}, "answer": answer}));
        let error = block_on(first_call(&config));
        assert!(matches!(fault(&error), McpFault::Unreadable { request: "tools/call", .. }), "{answer}: {error}");
        assert!(!error.message().contains("SECRET"), "{error}");
    }
    let hello = json!({"hello": r#"{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":NaN}}"#});
    let error = block_on(list_tools(&odd(&hello))).unwrap_err();
    assert!(
        matches!(
            fault(&error),
            McpFault::Unreadable {
                request: "initialize",
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn an_answer_over_http_that_is_no_json_is_refused_at_once() {
    for oddity in [
        "nan",
        "surrogate",
        "latin1",
        "sse-nan",
        "sse-surrogate",
        "sse-latin1",
    ] {
        let server = OddHttp::start(oddity);
        let error = block_on(first_call(&server.config()));
        let is_it = match fault(&error) {
            McpFault::Unreadable { .. } => true,
            McpFault::WrongAnswer { .. } => !oddity.starts_with("sse-"),
            _ => false,
        };
        assert!(is_it, "{oddity}: {error}");
        assert!(!error.message().contains(char::is_control), "{error}");
    }
}

#[test]
fn a_session_that_the_server_forgot_is_begun_anew_before_the_first_call() {
    for oddity in [
        "forget-first",
        "forget-first-400",
        "forget-first-text",
        "forget-list",
        "forget-list-400",
        "bare-forget-first",
        "bare-forget-first-text",
    ] {
        block_on(async {
            let server = OddHttp::start(oddity);
            let (_, world) = world(&server.config()).await;
            let mut episode = begin(&world).await;
            for call in 1..=2 {
                let made = episode.step(&Action::call("add", json!({"n": 1}))).await;
                let made = made.unwrap_or_else(|error| panic!("{oddity}: {error}"));
                assert!(!made.is_error, "{oddity}: {made:?}");
                let text = made.observation.text;
                assert!(
                    text.ends_with(&format!("call {call} of the session")),
                    "{oddity}: {text}"
                );
            }
            episode.close().await.unwrap();
        });
    }
}

#[test]
fn a_session_that_is_lost_after_a_call_loses_its_episode_alone() {
    for oddity in [
        "forget-second",
        "forget-second-400",
        "forget-second-text",
        "bare-forget-second",
    ] {
        block_on(async {
            let server = OddHttp::start(oddity);
            let (_, world) = world(&server.config()).await;
            let mut episode = begin(&world).await;
            let add = Action::call("add", json!({"n": 1}));
            let first = episode.step(&add).await.unwrap();
            assert!(!first.is_error, "{oddity}");
            let error = episode.step(&add).await.unwrap_err();
            assert!(
                matches!(fault(&error), McpFault::SessionLost { .. }),
                "{oddity}: {error}"
            );
            assert_eq!(
                (error.kind(), error.retry()),
                (ErrorKind::Unavailable, Retry::Temporary)
            );
            episode.close().await.unwrap();
            // The call was not repeated, and another attempt finds the server.
            let mut again = begin(&world).await;
            assert!(!again.step(&add).await.unwrap().is_error, "{oddity}");
        });
    }
}

#[test]
fn a_server_that_forgets_every_session_is_asked_twice() {
    for oddity in [
        "forget-always",
        "forget-always-400",
        "bare-forget-always",
        "bare-forget-always-text",
    ] {
        let server = OddHttp::start(oddity);
        let error = block_on(first_call(&server.config()));
        assert!(
            matches!(fault(&error), McpFault::SessionLost { .. }),
            "{oddity}: {error}"
        );
    }
}

#[test]
fn a_call_that_a_busy_server_did_not_take_is_made_again_and_no_other() {
    let made = |oddity: &str| {
        let server = OddHttp::start(oddity);
        block_on(async {
            let (_, world) = world(&server.config()).await;
            let mut episode = begin(&world).await;
            let name = episode.observation().tools[0].name.clone();
            let result = episode.step(&Action::call(name, json!({}))).await;
            episode.close().await.unwrap();
            result
        })
    };
    for oddity in ["busy:429:1:0", "busy:429:3:0", "busy:429:1:soon"] {
        let result = made(oddity).unwrap();
        assert!(
            result.observation.text.contains("call 1 of the session"),
            "{oddity}: {}",
            result.observation.text
        );
    }
    for oddity in [
        "busy:429:4:0",
        "busy:429:1:3600",
        "busy:503:1:0",
        "busy:500:1:0",
    ] {
        let error = made(oddity).unwrap_err();
        assert_eq!(error.retry(), Retry::Temporary, "{oddity}: {error}");
    }
}

#[test]
fn a_redirect_is_told_in_plain_words() {
    for (oddity, to) in [
        ("to:307:/mcp/", "with a `/` at its end"),
        (
            "to:308:https://desk.example/mcp",
            "to `https://desk.example`",
        ),
        (
            "to:302:https://desk.example/login?next=hunter2",
            "to `https://desk.example`",
        ),
        ("to:301:/s/hunter2", "another path"),
    ] {
        let server = OddHttp::start(oddity);
        let error = block_on(list_tools(&server.config())).unwrap_err();
        assert!(
            matches!(fault(&error), McpFault::Redirected { .. }),
            "{oddity}: {error}"
        );
        assert_eq!(
            (error.kind(), error.retry()),
            (ErrorKind::Invalid, Retry::Permanent)
        );
        let text = format!("{error} {error:?}");
        assert!(
            text.contains("redirects are not followed") && text.contains(to),
            "{text}"
        );
        assert!(!text.contains("hunter2"), "{text}");
    }
}
