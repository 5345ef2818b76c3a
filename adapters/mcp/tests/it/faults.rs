//! Servers that fail, lie or change.

use std::{
    error::Error as _,
    path::Path,
    time::{Duration, Instant},
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Retry, Seed,
    contract::{Environment, Episode},
    domain::{Action, Task, Transition, Trust},
    text::Redactor,
};
use journeyman_mcp::{
    ApprovedTools, HttpEndpoint, McpConfig, McpEnvironment, McpFault, McpServer, list_tools,
};
use journeyman_process::ProcessConfig;
use serde_json::json;

use crate::support::{approved, desk, environment, judge};

fn fault(error: &Error) -> &McpFault {
    let source = error.source().and_then(|source| source.downcast_ref());
    source.unwrap_or_else(|| panic!("the source of {error} is no McpFault"))
}

fn broken(how: &str) -> Action {
    Action::call("break", json!({ "how": how }))
}

/// The command of the counter with a fault, as errors show it.
fn command(fault: &str) -> String {
    let McpServer::Process(child) = desk(fault).server else {
        panic!("the counter is no child");
    };
    child.command_line()
}

async fn begin(desk: &McpEnvironment) -> Box<dyn Episode> {
    let task = Task::new("t", "Count.");
    desk.reset(&task, Seed(7)).await.unwrap()
}

fn tools(transition: &Transition) -> Vec<&str> {
    let tools = transition.observation.tools.iter();
    tools.map(|tool| tool.name.as_str()).collect()
}

/// Whether a process is there and is no zombie.
fn lives(id: &str) -> bool {
    let state = std::fs::read_to_string(Path::new("/proc").join(id).join("stat"));
    state.is_ok_and(|state| !state.contains(") Z "))
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_server_that_does_not_begin_a_session_is_named_with_its_reason() {
    block_on(async {
        let error = list_tools(&desk("refuses")).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.retry()),
            (ErrorKind::Unavailable, Retry::Temporary)
        );
        assert!(
            matches!(fault(&error), McpFault::NotConnected { .. }),
            "{error}"
        );
        let text = error.to_string();
        assert!(
            text.contains("server: desk") && text.contains("no key in the environment"),
            "{text}"
        );
        assert!(!text.contains("ghp_a1B2"), "{text}");
        assert_eq!(error.fact("command"), Some(command("refuses").as_str()));

        let mut silent = desk("silent");
        silent.start_limit = Duration::from_millis(500);
        let start = Instant::now();
        let error = list_tools(&silent).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert_eq!(error.fact("command"), Some(command("silent").as_str()));
        assert!(start.elapsed() < Duration::from_secs(10));

        let absent = McpServer::Process(ProcessConfig::new("/no/such/program"));
        let error = list_tools(&McpConfig::new("absent", absent))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        assert_eq!(error.fact("server"), Some("absent"));
        assert_eq!(error.fact("command"), Some("/no/such/program"));
    });
}

#[test]
fn a_secret_across_the_cut_of_standard_error_is_not_shown() {
    let error = block_on(list_tools(&desk("refuses at length"))).unwrap_err();
    let said = error.fact("said").unwrap();
    assert!(said.ends_with("zzz"), "{said}");
    assert!(!said.contains("a1B2"), "{said}");
}

#[test]
fn a_url_that_is_none_is_refused_and_nobody_there_is_told() {
    block_on(async {
        let list = async |url: &str| {
            let endpoint = HttpEndpoint::new(url).with_token("a-token-of-the-host");
            list_tools(&McpConfig::new("far", McpServer::Http(endpoint)))
                .await
                .unwrap_err()
        };
        for url in ["", "desk", "ftp://127.0.0.1/mcp", "file:///etc/passwd"] {
            assert_eq!(list(url).await.kind(), ErrorKind::Invalid, "{url}");
        }
        let error = list("http://127.0.0.1:9/mcp").await;
        assert!(
            matches!(fault(&error), McpFault::NotConnected { .. }),
            "{error}"
        );
        assert!(
            !error.to_string().contains("a-token-of-the-host"),
            "{error}"
        );
        assert_eq!(error.fact("server"), Some("far"));
        assert_eq!(error.fact("url"), Some("http://127.0.0.1:9"));
    });
}

#[test]
fn the_command_in_an_error_has_no_secrets() {
    const SECRET: &str = "q7Zt2mKx9Lw4Vb6nHd";
    let mut config = desk("refuses");
    config.redactor = Redactor::new(["the-blue-door".to_owned()]).unwrap();
    if let McpServer::Process(child) = &mut config.server {
        child.arguments.push(format!("--api_key={SECRET}"));
        child.arguments.push("the-blue-door".to_owned());
    }
    let absent = |mut config: McpConfig| {
        if let McpServer::Process(child) = &mut config.server {
            child.program = "/no/such/program".into();
        }
        config
    };
    for config in [config.clone(), absent(config)] {
        let error = block_on(list_tools(&config)).unwrap_err();
        let command = error.fact("command").unwrap_or_default();
        assert!(
            command.contains("desk.py refuses --api_key=[redacted: "),
            "{error}"
        );
        let all = format!("{error} {error:?}");
        assert!(
            !all.contains(SECRET) && !all.contains("the-blue-door"),
            "{all}"
        );
    }
}

#[test]
fn a_setting_of_a_child_without_effect_is_refused() {
    let check = |change: fn(&mut ProcessConfig), field: Option<&str>| {
        let mut config = desk("");
        config.trust = Trust::Trusted;
        config.close_limit = Duration::from_secs(3);
        if let McpServer::Process(child) = &mut config.server {
            change(child);
        }
        let listed = block_on(list_tools(&config));
        let made = block_on(McpEnvironment::new(config, ApprovedTools::none(), judge()));
        for error in [listed.err(), made.err()] {
            let found = error.as_ref().and_then(|error| error.fact("field"));
            assert_eq!(found, field, "{error:?}");
            assert!(error.is_none_or(|error| error.kind() == ErrorKind::Invalid));
        }
    };
    check(|_| {}, None);
    // The server's own settings, once more.
    check(|child| child.trust = Trust::Trusted, None);
    check(|child| child.close_limit = Duration::from_secs(3), None);
    check(
        |child| child.close_limit = Duration::from_secs(4),
        Some("close_limit"),
    );
    check(
        |child| child.start_limit = Duration::from_secs(1),
        Some("start_limit"),
    );
    check(
        |child| child.request_limit = Duration::from_secs(1),
        Some("request_limit"),
    );
    check(
        |child| child.line_cap = 9.try_into().unwrap(),
        Some("line_cap"),
    );
    check(|child| child.restarts = 1, Some("restarts"));
    check(
        |child| child.restart_window = Duration::ZERO,
        Some("restart_window"),
    );
    let redactor = |child: &mut ProcessConfig| {
        child.redactor = Redactor::new(["the-blue-door".to_owned()]).unwrap();
    };
    check(redactor, Some("redactor"));

    let mut config = desk("");
    if let McpServer::Process(child) = &mut config.server {
        child.trust = Trust::Trusted;
    }
    let error = block_on(list_tools(&config)).unwrap_err();
    assert_eq!(error.fact("field"), Some("trust"), "{error}");
}

#[test]
fn noise_between_messages_is_passed_over() {
    block_on(async {
        let desk = environment(desk("noise")).await;
        let mut episode = begin(&desk).await;
        let call = Action::call("add", json!({"n": 2}));
        let counted = episode.step(&call).await.unwrap();
        assert_eq!(counted.observation.text, "The counter is 2.");
        episode.close().await.unwrap();
    });
}

#[test]
fn a_call_without_an_answer_fails_its_episode_alone() {
    let check = |how: &'static str, is_it: fn(&McpFault) -> bool| {
        block_on(async {
            let mut config = desk("");
            config.request_limit = Duration::from_secs(5);
            config.close_limit = Duration::from_secs(1);
            config.message_cap = 10_000.try_into().unwrap();
            let desk = environment(config).await;
            let mut other = begin(&desk).await;
            let mut episode = begin(&desk).await;
            let start = Instant::now();
            let error = episode.step(&broken(how)).await.unwrap_err();
            assert!(is_it(fault(&error)), "{how}: {error}");
            assert_eq!(error.retry(), Retry::Temporary, "{how}");
            for round in 0..2 {
                let error = match round {
                    0 => error.clone(),
                    _ => episode.step(&broken(how)).await.unwrap_err(),
                };
                assert_eq!(error.fact("server"), Some("desk"), "{how}: {error}");
                assert_eq!(error.fact("command"), Some(command("").as_str()), "{how}");
            }
            let error = episode.step(&broken(how)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{how}: {error}");
            episode.close().await.unwrap();
            assert!(start.elapsed() < Duration::from_secs(20), "{how}");

            let shown = other.step(&Action::call("show", json!({}))).await.unwrap();
            assert_eq!(shown.observation.text, "The counter is 0.");
            other.close().await.unwrap();
        });
    };
    check("die", |fault| {
        matches!(fault, McpFault::Ended | McpFault::WrongAnswer { .. })
    });
    check("hang", |fault| matches!(fault, McpFault::NoAnswer { .. }));
    check("flood", |fault| matches!(fault, McpFault::NoAnswer { .. }));
    check("shape", |fault| {
        matches!(
            fault,
            McpFault::WrongAnswer { .. } | McpFault::NoAnswer { .. }
        )
    });
}

#[test]
fn a_tool_that_changed_is_blocked_and_the_others_go_on() {
    block_on(async {
        let changed = environment(desk("changed")).await;
        let mut episode = begin(&changed).await;
        let seen: Vec<_> = episode
            .observation()
            .tools
            .iter()
            .map(|tool| tool.name.clone())
            .collect();
        assert_eq!(seen, ["show", "break"]);
        let refused = episode
            .step(&Action::call("add", json!({"n": 1})))
            .await
            .unwrap();
        assert!(
            refused.is_error && refused.observation.text.contains("`add` changed"),
            "{refused:?}"
        );
        let shown = episode
            .step(&Action::call("show", json!({})))
            .await
            .unwrap();
        assert_eq!(
            (shown.is_error, shown.observation.text.as_str()),
            (false, "The counter is 0.")
        );
        episode.close().await.unwrap();

        let blocked = changed.check().await.unwrap().blocked;
        let [error] = blocked.as_slice() else {
            panic!("{blocked:?}");
        };
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert_eq!(error.fact("command"), Some(command("changed").as_str()));
        assert!(
            matches!(fault(error), McpFault::ToolChanged { tool, .. } if tool == "add"),
            "{error}"
        );
        assert!(
            environment(desk(""))
                .await
                .check()
                .await
                .unwrap()
                .blocked
                .is_empty()
        );

        // The new definition, read and approved.
        let listed = list_tools(&desk("changed")).await.unwrap().tools;
        let again = ApprovedTools::all(&listed);
        let again = McpEnvironment::new(desk("changed"), again, judge())
            .await
            .unwrap();
        assert_eq!(begin(&again).await.observation().tools.len(), 3);
    });
}

#[test]
fn a_tool_that_changes_within_an_episode_is_blocked_from_then_on() {
    block_on(async {
        let desk = environment(desk("")).await;
        let mut episode = begin(&desk).await;
        let add = Action::call("add", json!({"n": 1}));
        let counted = episode.step(&add).await.unwrap();
        assert_eq!(
            (counted.is_error, tools(&counted)),
            (false, vec!["add", "show", "break"])
        );
        episode.step(&broken("change")).await.unwrap();
        let refused = episode.step(&add).await.unwrap();
        assert!(
            refused.is_error && refused.observation.text.contains("`add` changed"),
            "{refused:?}"
        );
        assert_eq!(tools(&refused), ["show", "break"]);
        let shown = episode
            .step(&Action::call("show", json!({})))
            .await
            .unwrap();
        assert_eq!(shown.observation.text, "The counter is 1.");
        episode.close().await.unwrap();
    });
}

#[test]
fn tools_that_nobody_approved_are_not_there() {
    block_on(async {
        let listed = list_tools(&desk("")).await.unwrap().tools;
        let task = Task::new("t", "Count.");
        let of = async |approved| {
            McpEnvironment::new(desk(""), approved, judge())
                .await
                .unwrap()
        };

        let some = of(ApprovedTools::all(
            listed.iter().filter(|tool| tool.definition.name == "show"),
        ))
        .await;
        let mut episode = some.reset(&task, Seed(7)).await.unwrap();
        let refused = episode
            .step(&Action::call("add", json!({"n": 1})))
            .await
            .unwrap();
        assert!(
            refused.is_error && refused.observation.text.contains("not approved"),
            "{refused:?}"
        );
        let refused = episode.step(&Action::call("fly", json!({}))).await.unwrap();
        assert!(
            refused.is_error && refused.observation.text.contains("no tool `fly`"),
            "{refused:?}"
        );

        let none = of(ApprovedTools::none()).await;
        let error = none.reset(&task, Seed(7)).await.unwrap_err();
        assert_eq!(
            (error.kind(), fault(&error)),
            (ErrorKind::Unsupported, &McpFault::NoTools)
        );

        let mut only =
            ApprovedTools::all(listed.iter().filter(|tool| tool.definition.name == "add"));
        let changed = McpEnvironment::new(desk("changed"), only.clone(), judge())
            .await
            .unwrap();
        let error = changed.reset(&task, Seed(7)).await.unwrap_err();
        assert!(
            matches!(fault(&error), McpFault::ToolChanged { tool, .. } if tool == "add"),
            "{error}"
        );
        assert!(only.withdraw("add"));
    });
}

#[test]
fn a_judge_that_cannot_decide_gives_no_outcome() {
    block_on(async {
        let desk = environment(desk("")).await;
        for (said, success) in [
            ("done", Some(true)),
            ("well", Some(false)),
            ("unsure", None),
        ] {
            let mut episode = begin(&desk).await;
            let last = episode.step(&Action::Message(said.to_owned())).await;
            let outcome = last.as_ref().ok().and_then(|last| last.outcome.as_ref());
            assert_eq!(
                outcome.map(|outcome| outcome.success),
                success,
                "{said}: {last:?}"
            );
            episode.close().await.unwrap();
        }
    });
}

#[test]
fn results_are_untrusted_unless_the_host_says_otherwise() {
    block_on(async {
        for trust in [Trust::Untrusted, Trust::Trusted] {
            let mut config = desk("");
            config.trust = trust;
            config.text_cap = 8.try_into().unwrap();
            let desk = environment(config).await;
            let mut episode = begin(&desk).await;
            assert_eq!(episode.observation().source.trust, Trust::Trusted);
            let shown = episode
                .step(&Action::call("show", json!({})))
                .await
                .unwrap();
            assert_eq!(shown.observation.source.trust, trust);
            assert_eq!(shown.observation.source.name, "desk");
            assert_eq!(
                shown.observation.text,
                "The coun\n[cut: the first 8 of 17 bytes]"
            );
        }
    });
}

#[test]
fn a_child_has_no_variables_and_ends_with_its_episode() {
    block_on(async {
        let desk = environment(desk("")).await;
        for close in [true, false] {
            let mut episode = begin(&desk).await;
            let names = episode.step(&broken("environment")).await.unwrap();
            assert_eq!(names.observation.text, "[]");
            let id = episode.step(&broken("pid")).await.unwrap().observation.text;
            assert!(lives(&id));
            match close {
                true => episode.close().await.unwrap(),
                false => drop(episode),
            }
            wait_until("the child lives on", || !lives(&id));
        }
        // One whose call is abandoned.
        let mut episode = begin(&desk).await;
        let id = episode.step(&broken("pid")).await.unwrap().observation.text;
        let hang = broken("hang");
        let waited = futures::future::select(episode.step(&hang), futures::future::ready(()));
        drop(waited.await);
        let error = episode.step(&broken("pid")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        drop(episode);
        drop(desk);
        wait_until("the child of an abandoned call lives on", || !lives(&id));
        assert_eq!(approved().await.names().count(), 3);
    });
}
