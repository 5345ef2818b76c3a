//! The expected calls of BFCL's tasks are judged valid, and damaged ones invalid. Needs what CI has only where it was set up:
//! `JOURNEYMAN_BFCL_PYTHON` (what `setup.sh` prints).
#![allow(clippy::panic, clippy::unwrap_used, missing_docs)]

use std::{env, path::PathBuf};

use bfcl::{Damage, Setting, replay, tasks, with_effect};
use futures::executor::block_on;
use journeyman::{
    ErrorKind, Seed,
    contract::Environment,
    domain::{Action, Task},
};
use serde_json::json;

fn setting() -> Setting {
    let python =
        env::var_os("JOURNEYMAN_BFCL_PYTHON").unwrap_or_else(|| panic!("set the variable"));
    Setting {
        python: PathBuf::from(python),
        data: None,
    }
}

#[test]
#[ignore = "needs BFCL's package: set JOURNEYMAN_BFCL_PYTHON to what tests/lab/bfcl/setup.sh prints"]
fn all_expected_calls_are_judged_valid() {
    block_on(async {
        let setting = setting();
        let world = setting.world(false).await.unwrap();
        let tasks = tasks(&setting).unwrap();
        assert!(tasks.len() >= 100, "{}", tasks.len());
        for task in tasks {
            let played = replay(&world, &task.task, &task.turns).await.unwrap();
            assert!(played.outcome.success, "{}", task.task.id);
        }
    });
}

#[test]
#[ignore = "needs BFCL's package: set JOURNEYMAN_BFCL_PYTHON to what tests/lab/bfcl/setup.sh prints"]
fn damage_with_an_effect_is_judged_invalid() {
    block_on(async {
        let setting = setting();
        let world = setting.world(true).await.unwrap();
        let tasks = tasks(&setting).unwrap();
        for damage in Damage::ALL {
            let found = with_effect(&world, &tasks, damage).await.unwrap();
            println!("{damage}: {found:?}");
            assert!(found.tasks > 0, "{damage} has no effect anywhere");
            assert_eq!(found.invalid, found.tasks, "{damage}");
        }
    });
}

#[test]
#[ignore = "needs BFCL's package: set JOURNEYMAN_BFCL_PYTHON to what tests/lab/bfcl/setup.sh prints"]
fn only_calls_of_the_tasks_own_tools_are_evaluated() {
    block_on(async {
        let setting = setting();
        let world = setting.world(false).await.unwrap();
        let task = tasks(&setting).unwrap().remove(0);
        let mut episode = world.reset(&task.task, Seed(0)).await.unwrap();
        let refused = [
            Action::call("eval", json!({"source": "1"})),
            Action::call("cp", json!({"source": "a", "destination": "b"})), // excluded from this task
            Action::call("ls", json!({"a=print(1) or a": true})),
        ];
        for action in refused {
            assert!(episode.step(&action).await.unwrap().is_error, "{action:?}");
        }
        // A text is a literal, whatever stands in it.
        let text = "'); __import__('os').abort(); echo(content='";
        let call = Action::call("echo", json!({"content": text}));
        let echoed = episode.step(&call).await.unwrap();
        assert!(
            echoed.observation.text.contains("__import__('os').abort()"),
            "{}",
            echoed.observation.text
        );
        episode.close().await.unwrap();
        let unknown = world
            .reset(&Task::new("x", "x"), Seed(0))
            .await
            .unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::Invalid);
    });
}
