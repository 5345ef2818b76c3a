//! Children that break the protocol, die or hang: a typed error each, and no process is left.

use std::{
    error::Error as _,
    fs,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use futures::executor::block_on;
use futures_timer::Delay;
use journeyman::{
    Error, ErrorKind, Retry, Seed,
    agent::EnvironmentJudge,
    contract::{Attempt, Components, Environment, Episode, Executor, FixedGuidance},
    domain::{Action, EndReason, Injection, Observation, Task, Trajectory, Transition, Trust},
    recipe,
    run::{Journeyman, Options},
    testing::ScriptedEnvironment,
};
use journeyman_process::{
    Ending, ProcessConfig, ProcessEnvironment, ProcessExecutor, ProcessFault,
};

use crate::support;

const SOON: Duration = Duration::from_millis(700);
/// Far more than anything here takes on a busy machine.
const LONG: Duration = Duration::from_secs(20);

fn fault(error: &Error) -> ProcessFault {
    let source = error
        .source()
        .and_then(|source| source.downcast_ref::<ProcessFault>());
    source
        .cloned()
        .unwrap_or_else(|| panic!("{error} has no fault"))
}

fn exited(code: i32, within_line: bool) -> Ending {
    Ending::Exited { code, within_line }
}

fn task() -> Task {
    Task::new("a", "Guess.")
}

fn say(text: &str) -> Action {
    Action::Message(text.to_owned())
}

/// Whether the process is there and no zombie.
fn is_alive(id: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = status
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

fn ends(id: u32) {
    let start = Instant::now();
    while is_alive(id) {
        assert!(start.elapsed() < LONG, "process {id} is left");
        thread::sleep(Duration::from_millis(10));
    }
}

async fn start_fails(config: ProcessConfig) -> Error {
    ProcessEnvironment::start(config).await.unwrap_err()
}

#[test]
fn a_child_that_does_not_start_is_a_typed_error() {
    block_on(async {
        let check =
            async |config: ProcessConfig, kind: ErrorKind, expect: fn(&ProcessFault) -> bool| {
                let error = start_fails(config).await;
                assert_eq!(error.kind(), kind, "{error}");
                assert!(expect(&fault(&error)), "{error}");
                assert!(error.hint_text().is_some());
                error
            };
        let broken = |how: &str| support::child("broken.py", &[how]);
        let nothing = |name: &str| ProcessConfig::new(name);
        check(nothing("/no/such/program"), ErrorKind::NotFound, |fault| {
            matches!(fault, ProcessFault::NotStarted { missing: true, .. })
        })
        .await;
        check(
            nothing("journeyman-no-such-program"),
            ErrorKind::NotFound,
            |fault| matches!(fault, ProcessFault::NotStarted { missing: true, .. }),
        )
        .await;
        let error = check(broken("exits"), ErrorKind::Unavailable, |fault| {
            *fault
                == ProcessFault::Ended {
                    how: exited(1, false),
                }
        })
        .await;
        assert_eq!(error.fact("said"), Some("no module named desk"));
        let arguments = error.fact("arguments").unwrap();
        assert!(arguments.ends_with("children/broken.py exits"), "{error}");
        let mut mute = broken("mute");
        mute.start_limit = SOON;
        check(mute, ErrorKind::Timeout, |fault| {
            matches!(
                fault,
                ProcessFault::NoAnswer {
                    request: "hello",
                    ..
                }
            )
        })
        .await;
        check(broken("version"), ErrorKind::Unsupported, |fault| {
            *fault == ProcessFault::WrongVersion { version: 9 }
        })
        .await;
        check(broken("executor"), ErrorKind::Unsupported, |fault| {
            matches!(fault, ProcessFault::WrongPart { .. })
        })
        .await;
        let error = check(
            broken("noisy start"),
            ErrorKind::Unavailable,
            |fault| match fault {
                ProcessFault::Noise { line, .. } => {
                    line.starts_with("Loading") && line.chars().count() == 200
                }
                _ => false,
            },
        )
        .await;
        assert!(!error.to_string().contains("q7Zt2mKx9Lw4"), "{error}");
        assert_eq!(
            error.fact("program"),
            support::child("", &[]).program.to_str()
        );
    });
}

#[test]
fn every_error_has_the_arguments_without_their_secrets() {
    block_on(async {
        const SECRET: &str = "q7Zt2mKx9Lw4Vb6nHd";
        let check = |error: &Error| {
            let arguments = error.fact("arguments").unwrap_or_default();
            assert!(arguments.contains("--api_key=[redacted: "), "{error}");
            assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
        };
        let secret = format!("--api_key={SECRET}");
        let mut absent = ProcessConfig::new("/no/such/program");
        absent.arguments = vec![secret.clone()];
        check(&absent.command().unwrap_err());
        check(&start_fails(absent).await);
        check(&start_fails(support::child("broken.py", &["exits", &secret])).await);
        let broken = ProcessEnvironment::start(support::child("broken.py", &["noise", &secret]))
            .await
            .unwrap();
        check(&broken.reset(&task(), Seed(1)).await.unwrap_err());
        broken.close().await;
        check(&broken.reset(&task(), Seed(1)).await.unwrap_err());

        // A long command is cut, and a secret across the cut is redacted first.
        let long = "x".repeat(480);
        let cut = ProcessConfig::new("/no/such/program").with_arguments([long.as_str(), &secret]);
        let error = cut.command().unwrap_err();
        assert_eq!(error.fact("arguments").map(str::len), Some(500));
        assert!(!error.to_string().contains("q7Zt"), "{error}");
        let desk =
            ProcessConfig::new("python3").with_arguments(["desk.py", "--password=q7Zt2mKx9Lw4"]);
        assert_eq!(
            desk.command_line(),
            "python3 desk.py --password=[redacted: secret]"
        );
        // Without arguments there is no such fact.
        let bare = ProcessConfig::new("/no/such/program").command();
        assert_eq!(bare.unwrap_err().fact("arguments"), None);
    });
}

#[test]
fn a_child_that_breaks_the_protocol_fails_its_episodes_and_another_one_serves_the_next() {
    let check = |how: &str, expect: &dyn Fn(&ProcessFault) -> bool| {
        block_on(async {
            let mut config = support::child("broken.py", &[how]);
            config.line_cap = (1 << 20).try_into().unwrap();
            let broken = ProcessEnvironment::start(config).await.unwrap();
            let first = broken.process_id().await.unwrap();
            for _ in 0..2 {
                let error = broken.reset(&task(), Seed(1)).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{how}: {error}");
                assert_eq!(error.retry(), Retry::Temporary, "{how}: {error}");
                assert!(expect(&fault(&error)), "{how}: {error}");
                assert!(error.to_string().len() < 10_000, "{how}");
            }
            ends(first);
        });
    };
    check("noise", &|fault| match fault {
        ProcessFault::Noise { line, .. } => {
            line.starts_with("Traceback: ") && line.chars().count() == 200
        }
        _ => false,
    });
    check("half", &|fault| {
        *fault
            == ProcessFault::Ended {
                how: exited(0, true),
            }
    });
    check("flood", &|fault| {
        *fault == ProcessFault::LineTooLong { cap: 1 << 20 }
    });
    check("chatter", &|fault| {
        *fault
            == ProcessFault::OutOfTurn {
                message: "closed 77".to_owned(),
            }
    });
    check("other answer", &|fault| {
        matches!(fault, ProcessFault::OutOfTurn { .. })
    });
    check("unknown field", &|fault| match fault {
        ProcessFault::Noise { reason, .. } => reason.contains("unknown field `mood`"),
        _ => false,
    });
    check("errors", &|fault| {
        *fault
            == ProcessFault::Ended {
                how: exited(5, false),
            }
    });
}

#[test]
fn the_end_of_standard_error_is_kept() {
    block_on(async {
        let broken = ProcessEnvironment::start(support::child("broken.py", &["errors"]))
            .await
            .unwrap();
        let error = broken.reset(&task(), Seed(1)).await.unwrap_err();
        let said = error.fact("said").unwrap();
        assert!(said.ends_with("www the end"), "{said}");
        assert!((8000..=8192).contains(&said.len()), "{}", said.len());
    });
}

#[test]
fn a_death_fails_the_episodes_of_its_process_and_the_next_one_has_another() {
    block_on(async {
        let desk = ProcessEnvironment::start(support::child("desk.py", &[]))
            .await
            .unwrap();
        let mut one = desk.reset(&task(), Seed(1)).await.unwrap();
        let mut two = desk.reset(&task(), Seed(2)).await.unwrap();
        let first = desk.process_id().await.unwrap();
        let error = one.step(&say("die")).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.retry()),
            (ErrorKind::Unavailable, Retry::Temporary)
        );
        let said = error.fact("said").unwrap();
        assert!(said.contains("the desk collapses"), "{said}");
        assert!(!said.contains("hunter2hunter2"), "{said}");
        let error = two.step(&say("well")).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.retry()),
            (ErrorKind::Unavailable, Retry::Temporary)
        );
        let mut three = desk.reset(&task(), Seed(1)).await.unwrap();
        assert_eq!(
            three.step(&say("well")).await.unwrap().observation.text,
            "well"
        );
        assert_ne!(desk.process_id().await.unwrap(), first);
        ends(first);
    });
}

#[test]
fn failing_too_often_is_refused_until_the_window_has_passed() {
    block_on(async {
        let mut config = support::child("broken.py", &["noise"]);
        config.restarts = 1;
        config.restart_window = Duration::from_secs(4);
        let broken = ProcessEnvironment::start(config).await.unwrap();
        let try_reset = async || fault(&broken.reset(&task(), Seed(1)).await.unwrap_err());
        let started = Instant::now();
        for _ in 0..2 {
            assert!(matches!(try_reset().await, ProcessFault::Noise { .. }));
        }
        let refused = try_reset().await;
        if started.elapsed() < Duration::from_secs(3) {
            assert!(
                matches!(refused, ProcessFault::TooManyRestarts { times: 2, .. }),
                "{refused}"
            );
        }
        thread::sleep(Duration::from_secs(5));
        assert!(matches!(try_reset().await, ProcessFault::Noise { .. }));
    });
}

#[test]
fn a_step_that_is_not_answered_loses_its_episode_alone() {
    block_on(async {
        let mut config = support::child("desk.py", &[]);
        config.request_limit = Duration::from_secs(5);
        config.close_limit = Duration::from_secs(1);
        let desk = ProcessEnvironment::start(config).await.unwrap();
        let mut hung = desk.reset(&task(), Seed(1)).await.unwrap();
        let mut other = desk.reset(&task(), Seed(2)).await.unwrap();
        let first = desk.process_id().await.unwrap();
        let error = hung.step(&say("hang")).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.retry()),
            (ErrorKind::Timeout, Retry::Temporary)
        );
        let error = hung.step(&say("well")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(hung.close().await.is_err());
        // The other episode of the process goes on, and the next one begins in another process.
        assert_eq!(
            other.step(&say("well")).await.unwrap().observation.text,
            "well"
        );
        let next = desk.reset(&task(), Seed(3)).await.unwrap();
        assert_ne!(desk.process_id().await.unwrap(), first);
        assert!(is_alive(first));
        other.close().await.unwrap();
        ends(first);
        next.close().await.unwrap();
    });
}

#[test]
fn a_dropped_step_is_cancelled_and_its_process_ends() {
    block_on(async {
        let desk = ProcessEnvironment::start(support::child("desk.py", &[]))
            .await
            .unwrap();
        let mut hung = desk.reset(&task(), Seed(1)).await.unwrap();
        let first = desk.process_id().await.unwrap();
        {
            let hang = say("hang");
            let mut step = hung.step(&hang);
            assert!(futures::poll!(&mut step).is_pending());
        }
        assert!(hung.step(&say("well")).await.is_err());
        drop(hung);
        ends(first);
        let mut next = desk.reset(&task(), Seed(1)).await.unwrap();
        assert_eq!(
            next.step(&say("well")).await.unwrap().observation.text,
            "well"
        );
    });
}

#[test]
fn exceptions_and_bad_numbers_are_typed_errors_and_the_process_goes_on() {
    block_on(async {
        let desk = ProcessEnvironment::start(support::child("desk.py", &[]))
            .await
            .unwrap();
        // The innermost line of the program's own files, in folders below it too, and not one of text that was compiled.
        for (payload, kind, file) in [
            ("raises", "KeyError: 'drawer'", "desk.py"),
            ("raises below", "AttributeError: ", "lower.py"),
            ("raises in text", "FrozenInstanceError: ", "desk.py"),
            ("raises without arguments", "KeyError: 'key'", "desk.py"),
        ] {
            let raises = task().with_payload(payload);
            let error = desk.reset(&raises, Seed(1)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            let said = error.message();
            assert!(said.starts_with(kind), "{error}");
            assert!(said.contains(&format!(" ({file}:")), "{error}");
        }
        let unknown = task().with_payload("unknown");
        let error = desk.reset(&unknown, Seed(1)).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.hint_text()),
            (ErrorKind::NotFound, Some("name another one"))
        );
        let first = desk.process_id().await;
        let mut episode = desk.reset(&task(), Seed(1)).await.unwrap();
        let error = episode.step(&say("score")).await.unwrap_err();
        assert!(error.message().contains("outside [0, 1]"), "{error}");
        assert_eq!(desk.process_id().await, first);
    });
}

#[test]
fn a_seed_gives_the_same_episode_in_another_process_too() {
    block_on(async {
        let seen = async |seed| {
            let desk = ProcessEnvironment::start(support::child("desk.py", &[]))
                .await
                .unwrap();
            let episode = desk.reset(&task(), Seed(seed)).await.unwrap();
            episode.observation().text.clone()
        };
        assert_eq!(seen(5).await, seen(5).await);
        assert_ne!(seen(5).await, seen(6).await);
    });
}

#[test]
fn trust_is_the_hosts_and_a_child_can_only_lower_it() {
    block_on(async {
        for trust in [Trust::Trusted, Trust::Untrusted] {
            let mut config = support::child("desk.py", &[]);
            config.trust = trust;
            let desk = ProcessEnvironment::start(config).await.unwrap();
            let mut episode = desk.reset(&task(), Seed(1)).await.unwrap();
            assert_eq!(episode.observation().source.trust, trust);
            assert_eq!(episode.observation().source.name, "desk");
            let page = episode.step(&say("page")).await.unwrap().observation;
            assert_eq!(page.source.trust, Trust::Untrusted);
            // The tools of the first observation stay.
            assert_eq!(page.tools.len(), 1);
        }
    });
}

#[test]
fn the_values_of_variables_are_not_shown() {
    block_on(async {
        let mut config = support::child("desk.py", &[]);
        let token = ("DESK_TOKEN".to_owned(), "the-blue-door".to_owned());
        config.environment.push(token);
        let shown = format!("{config:?}");
        let desk = ProcessEnvironment::start(config).await.unwrap();
        for shown in [shown, format!("{desk:?}"), format!("{desk:#?}")] {
            assert!(shown.contains("DESK_TOKEN"), "{shown}");
            assert!(!shown.contains("the-blue-door"), "{shown}");
        }
    });
}

#[test]
fn the_environment_is_cleared_and_the_group_dies_with_its_owner() {
    block_on(async {
        let desk = ProcessEnvironment::start(support::child("desk.py", &[]))
            .await
            .unwrap();
        let mut episode = desk.reset(&task(), Seed(1)).await.unwrap();
        let variables = episode
            .step(&say("variables"))
            .await
            .unwrap()
            .observation
            .text;
        // Python itself sets LC_CTYPE in a process without a locale.
        let own: Vec<_> = variables
            .split(' ')
            .filter(|&name| name != "LC_CTYPE")
            .collect();
        assert_eq!(own, ["PYTHONDONTWRITEBYTECODE", "PYTHONPATH"]);
        let helper = episode.step(&say("child")).await.unwrap().observation.text;
        let (helper, child) = (helper.parse().unwrap(), desk.process_id().await.unwrap());
        assert!(is_alive(helper) && is_alive(child));
        drop(episode);
        assert!(is_alive(child));
        drop(desk);
        ends(child);
        ends(helper);
    });
}

#[test]
fn close_lets_the_process_end_by_itself_and_starts_no_other() {
    block_on(async {
        let desk = ProcessEnvironment::start(support::child("desk.py", &[]))
            .await
            .unwrap();
        let child = desk.process_id().await.unwrap();
        desk.close().await;
        assert!(!is_alive(child));
        let error = desk.reset(&task(), Seed(1)).await.unwrap_err();
        assert_eq!(fault(&error), ProcessFault::Closed);
    });
}

#[test]
fn close_waits_for_a_child_that_still_works() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let check = async |limit: Duration, expect: bool| {
            let file = folder.path().join(format!("{expect}"));
            let note = file.display().to_string();
            let mut config = support::child("parting.py", &[&note]);
            config.close_limit = limit;
            let parting = ProcessEnvironment::start(config).await.unwrap();
            let child = parting.process_id().await.unwrap();
            parting.close().await;
            assert!(!is_alive(child));
            assert_eq!(file.exists(), expect);
        };
        check(LONG, true).await;
        check(Duration::from_millis(10), false).await;
    });
}

/// Plays the owner of `a_killed_owner_leaves_no_child` when it is started by it.
#[test]
fn owner() {
    let Some(note) = std::env::var_os("JOURNEYMAN_PROCESS_OWNER") else {
        return;
    };
    block_on(async {
        // A child that does not read its standard input: its end alone does not end it.
        let desk = ProcessEnvironment::start(support::child("desk.py", &[]))
            .await
            .unwrap();
        let mut hung = desk.reset(&task(), Seed(1)).await.unwrap();
        let hang = say("hang");
        let mut step = hung.step(&hang);
        assert!(futures::poll!(&mut step).is_pending());
        let id = desk.process_id().await.unwrap().to_string();
        let part = Path::new(&note).with_extension("part");
        fs::write(&part, id).unwrap();
        fs::rename(part, note).unwrap();
        thread::sleep(LONG * 10);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_killed_owner_leaves_no_child() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("child");
    let mut owner = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["children::owner", "--exact", "--nocapture"])
        .env("JOURNEYMAN_PROCESS_OWNER", &note)
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !note.exists() {
        assert!(start.elapsed() < LONG * 3, "the owner did not start");
        thread::sleep(Duration::from_millis(10));
    }
    let child: u32 = fs::read_to_string(&note).unwrap().parse().unwrap();
    assert!(is_alive(child));
    owner.kill().unwrap(); // SIGKILL
    owner.wait().unwrap();
    ends(child);
}

async fn attempt(category: &str, time_limit: Duration) -> Trajectory {
    let mut config = support::child("speller.py", &[]);
    config.close_limit = Duration::from_secs(2);
    let speller = ProcessExecutor::start(config).await.unwrap();
    let task = Task::new("greet", "good day")
        .with_category(category)
        .with_payload(vec!["good", "day", "sir"]);
    let mut episode = ScriptedEnvironment::words()
        .reset(&task, Seed(7))
        .await
        .unwrap();
    let nothing = Injection::NONE;
    let guidance = FixedGuidance::new(nothing.clone());
    let mut attempt = Attempt::new("first", &task, Seed(7), &nothing, &guidance);
    attempt.time_limit = time_limit;
    speller.execute(attempt, episode.as_mut()).await.unwrap()
}

#[test]
fn an_attempt_keeps_its_steps_however_its_process_ends() {
    block_on(async {
        let dies = attempt("dies", LONG).await;
        assert_eq!(dies.steps.len(), 1);
        let EndReason::Failed(error) = &dies.end else {
            panic!("{:?}", dies.end);
        };
        assert_eq!(
            (error.kind(), error.retry()),
            (ErrorKind::Unavailable, Retry::Temporary)
        );
        let hangs = attempt("hangs", Duration::from_secs(2)).await;
        assert_eq!((hangs.steps.len(), hangs.end), (1, EndReason::Deadline));
        let gives_up = attempt("short", LONG).await;
        assert_eq!(
            (gives_up.steps.len(), &gives_up.end),
            (2, &EndReason::GaveUp)
        );
        assert_eq!(gives_up.steps[1].transcript, "I say day");
        assert_eq!(
            (gives_up.usage.prompt_tokens, gives_up.usage.output_tokens),
            (6, 2)
        );
        let budget = attempt("long", LONG).await;
        assert_eq!(budget.end, EndReason::StepBudget);
    });
}

#[test]
fn a_childs_own_failure_is_redacted_and_cut() {
    block_on(async {
        let desk = ProcessEnvironment::start(support::child("desk.py", &[]))
            .await
            .unwrap();
        let tells = task().with_payload("tells");
        let error = desk.reset(&tells, Seed(1)).await.unwrap_err();
        for text in [error.message(), error.hint_text().unwrap()] {
            assert!(text.starts_with("the password=[redacted"), "{text}");
            assert_eq!(text.chars().count(), 2000);
        }
    });
}

/// A world whose first step takes a while.
#[derive(Debug)]
struct Slow(Duration, Box<dyn Episode>);

#[async_trait::async_trait]
impl Episode for Slow {
    fn observation(&self) -> &Observation {
        self.1.observation()
    }

    async fn step(&mut self, action: &Action) -> journeyman::Result<Transition> {
        Delay::new(std::mem::take(&mut self.0)).await;
        self.1.step(action).await
    }

    async fn close(self: Box<Self>) -> journeyman::Result<()> {
        self.1.close().await
    }
}

#[test]
fn a_process_that_is_retired_during_the_prefix_is_not_the_attempts() {
    block_on(async {
        let speller = ProcessExecutor::start(support::child("speller.py", &[]))
            .await
            .unwrap();
        let first = speller.process_id().await.unwrap();
        let guidance = FixedGuidance::new(Injection::NONE);
        let words = Task::new("greet", "good day").with_payload(vec!["good", "day"]);
        let hangs = words.clone().with_category("hangs");
        let world = ScriptedEnvironment::words();
        let nothing = Injection::NONE;
        let attempt = |task, prefix, time_limit| {
            let mut attempt = Attempt::new("one", task, Seed(7), &nothing, &guidance);
            attempt.prefix = prefix;
            attempt.time_limit = time_limit;
            attempt
        };
        let prefix = [say("good")];
        let mut hung = world.reset(&hangs, Seed(7)).await.unwrap();
        let inner = world.reset(&words, Seed(7)).await.unwrap();
        let mut slow = Slow(Duration::from_secs(4), inner);
        let (hung, spelled) = futures::join!(
            speller.execute(attempt(&hangs, &[], Duration::from_secs(1)), hung.as_mut()),
            speller.execute(attempt(&words, &prefix, LONG), &mut slow),
        );
        assert_eq!(hung.unwrap().end, EndReason::Deadline);
        let spelled = spelled.unwrap();
        assert_eq!((spelled.steps.len(), spelled.end), (2, EndReason::Finished));
        ends(first);
    });
}

#[test]
fn an_agent_that_hangs_keeps_its_steps_in_a_run() {
    block_on(async {
        // With its own close limit it would be dropped by the driver.
        let speller = ProcessExecutor::start(support::child("speller.py", &[]))
            .await
            .unwrap();
        let components = Components::new(
            Arc::new(speller),
            Arc::new(ScriptedEnvironment::words()),
            Arc::new(EnvironmentJudge),
        );
        let mut recipe = recipe::standard();
        recipe.limits.attempt = Duration::from_secs(3);
        let options = Options::new("hangs", Seed(7));
        let journeyman = Journeyman::open(components, recipe, options).await.unwrap();
        let task = Task::new("greet", "good day")
            .with_category("hangs")
            .with_payload(vec!["good", "day"]);
        let report = journeyman.learn(vec![task]).await.unwrap();
        for attempt in &report.tasks[0].attempts {
            assert!(attempt.error.is_none(), "{attempt:?}");
            assert_eq!(
                (attempt.steps, &attempt.end),
                (1, &Some(EndReason::Deadline))
            );
        }
    });
}

#[test]
fn an_agents_helper_keeps_nothing_of_attempts_that_ended() {
    let config = support::child("bookkeeping.py", &[]);
    let checked = std::process::Command::new(config.program)
        .args(config.arguments)
        .envs(config.environment)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}");
    assert!(said.contains("nothing is kept"), "{said}");
}
