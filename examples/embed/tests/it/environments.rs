//! The Python environment of `docs/how-to/environments.md`, as a process, against the conformance suite of environments.

use std::{path::Path, process::Command};

use futures::executor::block_on;
use journeyman::{
    Seed,
    contract::Environment,
    domain::{Action, Outcome, Task, Trust},
    testing::conformance::{self, environment::EnvironmentFixture},
};
use journeyman_process::{ProcessConfig, ProcessEnvironment};
use serde_json::json;

/// The interpreter itself: what `python3` names may be a launcher that needs the host's variables.
fn interpreter() -> String {
    let found = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .expect("these tests need python3 (3.9 or later) in PATH");
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}

async fn parcel_room() -> ProcessEnvironment {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = folder.join("python/parcels.py").display().to_string();
    let module = folder.join("../../adapters/process/python");
    let mut config = ProcessConfig::new(interpreter()).with_arguments([script]);
    config.trust = Trust::Trusted;
    config.environment = vec![
        ("PYTHONPATH".to_owned(), module.display().to_string()),
        ("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()),
    ];
    ProcessEnvironment::start(config).await.unwrap()
}

fn task() -> Task {
    Task::new("parcel-1", "Send the parcel.").with_payload(json!({"to": "Bern"}))
}

fn weigh() -> Action {
    Action::call("weigh", json!({}))
}

fn stamp(cents: i64) -> Action {
    Action::call("stamp", json!({ "cents": cents }))
}

/// The right stamp: half the grams that the scale shows.
async fn right_stamp(room: &ProcessEnvironment, seed: Seed) -> i64 {
    let mut episode = room.reset(&task(), seed).await.unwrap();
    let shown = episode.step(&weigh()).await.unwrap().observation.text;
    episode.close().await.unwrap();
    let grams = shown.split(' ').find_map(|word| word.parse::<i64>().ok());
    grams.unwrap() / 2
}

#[test]
fn the_parcel_room_passes_the_whole_suite() {
    block_on(async {
        let room = parcel_room().await;
        assert_eq!(room.name(), "parcel room");
        let cents = right_stamp(&room, Seed(7)).await;
        let fixture =
            EnvironmentFixture::new(task(), Seed(7), vec![stamp(cents), weigh(), stamp(cents)])
                .with_other((task(), Seed(8), vec![weigh(), weigh(), stamp(0)]))
                .with_refused(stamp(cents))
                .with_unknown(Task::new("parcel-2", "Send it."));
        let report = conformance::environment::check(&room, &fixture).await;
        let report = report.into_result().unwrap();
        assert_eq!(report.skipped().count(), 0, "{report}");
        room.close().await;
    });
}

#[test]
fn only_the_right_stamp_is_a_success() {
    block_on(async {
        let room = parcel_room().await;
        let cents = right_stamp(&room, Seed(7)).await;
        for (stamped, outcome) in [(cents, Outcome::success()), (cents + 1, Outcome::failure())] {
            let mut episode = room.reset(&task(), Seed(7)).await.unwrap();
            let refused = episode.step(&stamp(stamped)).await.unwrap();
            assert!(refused.is_error && refused.outcome.is_none());
            episode.step(&weigh()).await.unwrap();
            let end = episode.step(&stamp(stamped)).await.unwrap();
            assert_eq!(end.outcome, Some(outcome));
            assert_eq!(end.observation.source.trust, Trust::Trusted);
            episode.close().await.unwrap();
        }
        room.close().await;
    });
}
