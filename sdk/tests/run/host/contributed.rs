//! Credit by what a skill brought: the task is attempted again without it.

use std::sync::atomic::{AtomicUsize, Ordering};

use journeyman::{
    SkillId,
    contract::EnvironmentCapabilities,
    domain::Withhold,
    stations::{
        credit::ByContribution,
        proof::{LiftPolicy, Lifts},
    },
};

use super::*;

/// Injects as many skills as `limit` says, and credits each with what it brought.
fn crediting(rule: ByContribution, limit: usize) -> Recipe {
    let mut recipe = recipe();
    recipe.select.selector = top(limit);
    recipe.write.when = WriteWhen::Never;
    recipe.attempts.group = n32(2);
    recipe.credit.by = rule.into();
    recipe
}

/// An agent that does the tasks with an odd number with one of these skills alone, and the others always.
fn agent(helps: &'static [&'static str]) -> ScriptedExecutor {
    needing(1, helps)
}

/// An agent that does the tasks with an odd number with at least so many of these skills alone, and the others always.
fn needing(least: usize, helps: &'static [&'static str]) -> ScriptedExecutor {
    ScriptedExecutor::acting(move |attempt: &Attempt<'_>, steps: &[Step]| {
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let skills = attempt.injection.skills.iter();
        let has = skills.filter(|had| helps.contains(&had.skill.id.as_str()));
        let knows = has.count() >= least;
        let is_odd = attempt.task.id.as_str().ends_with(['1', '3', '5']);
        Play::Give(match (knows || !is_odd, words.get(steps.len())) {
            (true, Some(word)) => Some(Action::Message(word.clone())),
            _ => None,
        })
    })
}

/// Runs six tasks, and returns for each skill the rewards that it was credited with, and the events of the run.
async fn rewards(agent: ScriptedExecutor, skills: &[&str]) -> (Vec<Vec<f64>>, Vec<Event>) {
    rewards_by(ByContribution::default(), Seed(7), agent, skills).await
}

async fn rewards_by(
    rule: ByContribution,
    seed: Seed,
    agent: ScriptedExecutor,
    skills: &[&str],
) -> (Vec<Vec<f64>>, Vec<Event>) {
    let mut parts = components();
    parts.executor = Some(Arc::new(agent));
    let recipe = crediting(rule, skills.len());
    let opened = Journeyman::open(parts, recipe, Options::new("test", seed)).await;
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
fn of_four_skills_orders_are_drawn_by_seed_and_what_they_bring_adds_up() {
    block_on(async {
        // A task with an odd number needs two of three skills; the fourth changes nothing.
        let skills = ["first", "second", "third", "other"];
        let drawn = async |orders: u32, seed: u64| {
            let mut rule = ByContribution::default();
            rule.orders = n32(orders);
            let agent = needing(2, &["first", "second", "third"]);
            rewards_by(rule, Seed(seed), agent, &skills).await.0
        };
        let eight = drawn(8, 7).await;
        assert_eq!(eight[3], [0.0; 6]);
        for task in 0..6 {
            let brought: Vec<f64> = eight.iter().map(|own| own[task]).collect();
            // All four skills less none of them: the task is done with them, and with none only where its number is even.
            let difference = if task % 2 == 1 { 1.0 } else { 0.0 };
            assert_eq!(brought.iter().sum::<f64>(), difference, "{brought:?}");
            // Eight orders give eighths. All 24 would give each of the three a third.
            let eighths = |one: &f64| *one >= 0.0 && (one * 8.0).fract() == 0.0;
            assert!(brought.iter().all(eighths), "{brought:?}");
        }
        assert_eq!(drawn(8, 7).await, eight);
        assert_ne!(drawn(8, 8).await, eight);
        // In one order, the skill that makes two of three brings it all.
        let one = drawn(1, 7).await;
        for task in [1, 3, 5] {
            let mut brought: Vec<f64> = one[..3].iter().map(|own| own[task]).collect();
            brought.sort_by(f64::total_cmp);
            assert_eq!(brought, [0.0, 0.0, 1.0]);
        }
    });
}

#[test]
fn beside_a_good_skill_four_that_change_nothing_earn_nothing() {
    block_on(async {
        let skills = ["good", "a", "b", "c", "d"];
        let (rewards, _) = rewards(agent(&["good"]), &skills).await;
        assert_eq!(rewards[0], [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
        for other in &rewards[1..] {
            assert_eq!(*other, [0.0; 6]);
        }
    });
}

#[test]
fn where_nothing_can_be_attempted_again_the_ledger_of_lifts_tells() {
    block_on(async {
        let mut recipe = crediting(ByContribution::default(), 1);
        recipe.select.withhold = Some(Withhold::new(0.5));
        let world = ScriptedEnvironment::words().declaring(EnvironmentCapabilities::default());
        let world = Arc::new(world);
        let mut parts = components();
        parts.environment = Some(Arc::clone(&world) as _);
        parts.executor = Some(Arc::new(agent(&["good"])));
        let opened = Journeyman::open(parts, recipe, Options::new("test", Seed(7))).await;
        let journeyman = opened.expect("it opens");
        let good = sample::skill("good");
        let skill = good.reference();
        journeyman.add(vec![good], "a start").await.expect("added");
        let (mut unknown, mut known) = (0, Vec::new());
        for task in tasks(40) {
            let library = journeyman.library().await.expect("read");
            let lifts = Lifts::of(&library, LiftPolicy::default()).expect("a ledger");
            let lift = lifts.skill(&skill, None);
            let lift = lift.and_then(|lift| lift.score.estimate());
            let report = journeyman.learn(vec![task]).await.expect("it learns");
            let attempt = &report.tasks[0].attempts[0];
            let library = journeyman.library().await.expect("read");
            let entry = library.get(&skill.id).expect("there");
            let mut credits = entry.evidence.iter();
            let credit = credits.find(|one| one.attempt == attempt.attempt);
            // A task that went without the skill, or before the ledger has both kinds, credits nobody.
            let given = !attempt.injected.is_empty();
            let expected = lift.filter(|_| given);
            assert_eq!(credit.map(|one| one.reward), expected);
            unknown += usize::from(given && lift.is_none());
            known.extend(expected);
        }
        assert!(unknown > 0 && known.len() > 5, "{unknown}, {known:?}");
        // Of ten tasks seven are done without it, and all with it.
        assert!(known.last().is_some_and(|last| *last > 0.0), "{known:?}");
        assert_eq!(world.opened(), 40, "no task is attempted again");
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
