//! Skills of a batch that are written from what an untrusted source said.

use journeyman::domain::Taint;

use super::*;

/// A task whose first action is refused, or not, in a world that a host vouches for, or not.
#[derive(Clone, Copy)]
struct Met {
    refused: bool,
    trusted: bool,
}

const WELL: Met = Met {
    refused: false,
    trusted: true,
};
const HARD: Met = Met {
    refused: true,
    trusted: true,
};
const FOREIGN: Met = Met {
    refused: true,
    trusted: false,
};

fn tagged(task: Task, met: Met) -> Task {
    let tags = [("refused", met.refused), ("foreign", !met.trusted)];
    let tags = tags.iter().filter(|(_, is)| *is).map(|(tag, _)| *tag);
    task.with_tags(tags)
}

fn is_tagged(task: &Task, tag: &str) -> bool {
    task.tags.iter().any(|one| one == tag)
}

fn parts() -> Components {
    let world = ScriptedEnvironment::words().beginning(|task, _| {
        let mut seen = sample::observation(&task.instruction);
        if is_tagged(task, "foreign") {
            seen.source = Source::untrusted("the web");
        }
        Play::Give(seen)
    });
    let agent = ScriptedExecutor::acting(|attempt, steps| {
        let due: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let refused = steps.iter().filter(|step| step.result.is_error).count();
        let word = match is_tagged(attempt.task, "refused") && steps.is_empty() {
            true => Some("hm".to_owned()),
            false => due.get(steps.len() - refused).cloned(),
        };
        Play::Give(word.map(Action::Message))
    });
    let mut parts = components().with_environment(Arc::new(world));
    parts.executor = Some(Arc::new(agent));
    parts
}

/// The state and taint of each skill that one batch of these tasks brings, by name.
fn check(tasks: Vec<(Task, Met)>, expect: &[(&str, State, Taint)]) {
    let mut recipe = recipe::standard();
    recipe.attempts.group = n32(1);
    recipe.batch = n64(tasks.len() as u64);
    let tasks = tasks.into_iter().map(|(task, met)| tagged(task, met));
    let tasks: Vec<Task> = tasks.collect();
    block_on(async {
        let journeyman = open_as("test", &parts(), recipe).await;
        let report = journeyman.learn(tasks).await.expect("it learns");
        assert!(report.attempts().all(|one| one.success == Some(true)));
        let library = journeyman.library().await.expect("a library");
        let skills = library.entries().map(|entry| &entry.skill);
        let mut found: Vec<(&str, State, Taint)> = skills
            .map(|skill| (skill.name.as_str(), skill.state, skill.taint))
            .collect();
        found.sort_by_key(|one| one.0);
        assert_eq!(found, expect);
    });
}

#[test]
fn each_task_of_a_batch_taints_its_own_skills_alone() {
    let one = || sample::task("task-1", &["one", "two"]);
    let two = || sample::task("task-2", &["seven", "nine"]);
    let clean = |name| (name, State::Active, Taint::Clean);
    let held = |name| (name, State::Quarantined, Taint::Tainted);
    let (first, second) = ("say-one", "say-seven");
    check(
        vec![(one(), HARD), (two(), FOREIGN)],
        &[clean(first), held(second)],
    );
    check(
        vec![(one(), FOREIGN), (two(), HARD)],
        &[held(first), clean(second)],
    );
    check(
        vec![(one(), FOREIGN), (two(), FOREIGN)],
        &[held(first), held(second)],
    );
}

#[test]
fn what_the_batch_brought_before_does_not_wash_a_skill_clean() {
    // Each of them is written from, or not, on the library before the batch. The last is: it was refused. After the notes of
    // the others the agent falls short no more, and a decision on those would name no attempt to write from, nor its source.
    let like = alike(4).into_iter();
    let tasks = like.zip([WELL, WELL, WELL, FOREIGN]).collect();
    check(tasks, &[("say-one", State::Quarantined, Taint::Tainted)]);
}
