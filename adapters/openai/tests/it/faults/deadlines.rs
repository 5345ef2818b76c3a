//! A server that does not answer, and calls that are given up.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use futures::executor::block_on;
use journeyman::{ErrorKind, contract::LanguageModel};

use super::{CHAT, ask, end, failing, failing_with, good, request, text};
use crate::support::{Pieces, Play, Script, answer, events_head};

#[test]
fn a_server_that_does_not_answer_ends_in_time() {
    let forever = Play::Wait(Duration::from_secs(8));
    let slow = |piece: Vec<u8>| {
        let drop = std::iter::repeat_n(
            [Play::Send(piece), Play::Wait(Duration::from_millis(100))],
            80,
        );
        drop.flatten().collect::<Script>()
    };
    let loris = [vec![events_head()], slow(b": wait\n".to_vec())].concat();
    let slow_head = slow(b"H".to_vec());
    let later = answer(429, "Retry-After: 30\r\n", "{}");
    for (name, script, kind) in [
        ("never", vec![forever.clone()], ErrorKind::Timeout),
        (
            "never after the head",
            vec![events_head(), forever.clone()],
            ErrorKind::Timeout,
        ),
        ("a byte at a time", loris, ErrorKind::Timeout),
        ("a head of a byte at a time", slow_head, ErrorKind::Timeout),
        ("a wait beyond the limit", later, ErrorKind::RateLimited),
    ] {
        let (_server, model) = failing(vec![script]);
        let (answer, _, took) = ask(&model, Duration::from_millis(600));
        let error = answer.unwrap_err();
        // An answer's head that is no HTTP is a broken one.
        let broken = name.starts_with("a head") && error.kind() == ErrorKind::Unavailable;
        assert!(error.kind() == kind || broken, "{name}: {error}");
        assert!(took < Duration::from_millis(1_600), "{name}: {took:?}");
    }
}

#[test]
fn each_deadline_has_its_own_error() {
    let forever = Play::Wait(Duration::from_secs(3));
    for (script, named) in [
        (vec![forever.clone()], "first byte"),
        (vec![events_head(), forever.clone()], "between two pieces"),
    ] {
        let (_server, model) = failing_with(vec![script], |config| {
            config.deadlines.first_byte = Duration::from_millis(300);
            config.deadlines.idle = Duration::from_millis(300);
        });
        let error = ask(&model, Duration::from_secs(20)).0.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert!(error.message().contains(named), "{error}");
    }
}

#[test]
fn waiting_for_a_free_place_counts_towards_the_deadline() {
    let slow = vec![
        events_head(),
        Play::Wait(Duration::from_millis(1_500)),
        text("x"),
        end(),
    ];
    let (server, model) = failing_with(vec![slow], |config| config.concurrency = NonZeroUsize::MIN);
    block_on(async {
        let sink = Arc::new(Pieces::default());
        let (first, second) = (
            request(&sink, Duration::from_secs(20)),
            request(&sink, Duration::from_millis(400)),
        );
        let (first, second) = futures::join!(model.generate(&first), model.generate(&second));
        assert!(first.is_ok());
        assert_eq!(second.unwrap_err().kind(), ErrorKind::Timeout);
    });
    assert_eq!(server.count(CHAT), 1, "the second was never sent");
}

#[test]
fn dropping_a_call_aborts_its_request_and_dropping_the_model_in_a_runtime_is_fine() {
    let (server, model) = failing(vec![
        vec![events_head(), Play::Wait(Duration::from_millis(500))],
        good(),
    ]);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let sink = Arc::new(Pieces::default());
        let long = request(&sink, Duration::from_secs(20));
        let dropped = tokio::time::timeout(Duration::from_millis(200), model.generate(&long)).await;
        assert!(dropped.is_err());
        let answer = model
            .generate(&request(&sink, Duration::from_secs(20)))
            .await;
        assert_eq!(answer.unwrap().text, "all well");
        tokio::time::sleep(Duration::from_millis(600)).await;
        drop(model);
    });
    assert_eq!(
        server.count(CHAT),
        2,
        "the dropped request was not sent again"
    );
}
