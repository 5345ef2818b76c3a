//! Credit by what a skill brought: the task is attempted again without it.

use std::sync::atomic::{AtomicUsize, Ordering};

use journeyman::{SkillId, stations::credit::ByContribution};

use super::*;

fn crediting() -> Recipe {
    let mut recipe = recipe();
    recipe.select.selector = top(2);
    recipe.write.when = WriteWhen::Never;
    recipe.attempts.group = n32(2);
    recipe.credit.by = ByContribution::default().into();
    recipe
}

/// An agent that does the tasks with an odd number with one of these skills alone, and the others always.
fn agent(helps: &'static [&'static str]) -> ScriptedExecutor {
    ScriptedExecutor::acting(move |attempt: &Attempt<'_>, steps: &[Step]| {
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let mut skills = attempt.injection.skills.iter();
        let has = skills.any(|had| helps.contains(&had.skill.id.as_str()));
        let is_odd = attempt.task.id.as_str().ends_with(['1', '3', '5']);
        Play::Give(match (has || !is_odd, words.get(steps.len())) {
            (true, Some(word)) => Some(Action::Message(word.clone())),
            _ => None,
        })
    })
}

/// Runs six tasks, and returns for each skill the rewards that it was credited with, and the events of the run.
async fn rewards(agent: ScriptedExecutor, skills: &[&str]) -> (Vec<Vec<f64>>, Vec<Event>) {
    let mut parts = components();
    parts.executor = Some(Arc::new(agent));
    let opened = Journeyman::open(parts, crediting(), Options::new("test", Seed(7))).await;
    let journeyman = opened.expect("it opens");
    let added = skills.iter().copied().map(sample::skill).collect();
    journeyman.add(added, "a start").await.expect("added");
    let events = journeyman.events();
    journeyman.learn(tasks(6)).await.expect("it learns");
    let library = journeyman.library().await.expect("read");
    let rewards = skills.iter().map(|name| {
        let entry = library.get(&SkillId::new(*name)).expect("there");
        let evidence = entry.evidence.iter().map(|one| one.reward);
        evidence.collect()
    });
    (rewards.collect(), told(events))
}

#[test]
fn what_is_retrieved_beside_a_good_skill_earns_nothing() {
    block_on(async {
        let (rewards, _) = rewards(agent(&["good"]), &["good", "other"]).await;
        assert_eq!(rewards[0], [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
        assert_eq!(rewards[1], [0.0; 6]);
    });
}

#[test]
fn two_skills_of_which_either_would_do_share_what_they_bring() {
    block_on(async {
        let (rewards, _) = rewards(agent(&["good", "twin"]), &["good", "twin"]).await;
        for own in rewards {
            assert_eq!(own, [0.0, 0.5, 0.0, 0.5, 0.0, 0.5]);
        }
    });
}

#[test]
fn a_world_that_is_not_as_deterministic_as_it_says_credits_nobody_and_that_is_said() {
    block_on(async {
        let calls = AtomicUsize::new(0);
        let agent = ScriptedExecutor::acting(move |attempt: &Attempt<'_>, steps: &[Step]| {
            let words: Vec<String> =
                serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
            // Every second attempt does the task.
            let number = match steps.len() {
                0 => calls.fetch_add(1, Ordering::SeqCst),
                _ => 0,
            };
            Play::Give(match (number.is_multiple_of(2), words.get(steps.len())) {
                (true, Some(word)) => Some(Action::Message(word.clone())),
                _ => None,
            })
        });
        let (rewards, events) = rewards(agent, &["good"]).await;
        let said = events.iter().filter(|event| {
            let EventKind::Refused { reason } = &event.kind else {
                return false;
            };
            reason.contains("not as deterministic as it says")
        });
        let unknown = said.count();
        assert!(unknown > 0);
        assert_eq!(rewards[0].len() + unknown, 6);
    });
}
