//! Prompts of roles that are narrowed to a room.

use journeyman::testing::Edited as _;
use journeyman::{
    contract::{Experience, SubgoalInAttempt},
    domain::{Action, Source, Step, StepResult, Trace},
};

use super::*;

/// An attempt of calls with long results; every tenth is refused.
fn long_attempt(steps: usize) -> Trace {
    let task = sample::task("t", &["good"]);
    let mut trace = sample::trace("a-1", &task, &["good"], true);
    let source = Source::trusted("world");
    trace.trajectory.steps = (0..steps)
        .map(|number| {
            let text = format!("result {number}: {}", "and more of it ".repeat(40));
            let result = match number % 10 {
                9 => StepResult::refused(text, source.clone()),
                _ => StepResult::new(text, source.clone()),
            };
            let tool = if number % 2 == 0 { "open" } else { "close" };
            let mut step = Step::new(Action::call(tool, json!({"door": number})), result);
            step.index = u32::try_from(number).unwrap();
            step
        })
        .collect();
    trace
}

fn narrowed(task: &RoleTask, room: Option<usize>) -> (String, Option<String>) {
    let mut request = request(task);
    request.room = room;
    let roles = shipped();
    let text = roles.prompt(&request).unwrap().prompt.text();
    (text, roles.left_out(&request))
}

fn evolving(rows: usize) -> RoleTask {
    let row = |number: usize| {
        let mut skill = sample::skill(&format!("skill-{number}"));
        skill.body = format!("Body {number}. {}", "Say more. ".repeat(200));
        Experience::new(skill, "active").edited(|it| it.helpful = 1)
    };
    RoleTask::Evolve {
        role: Role::Extract,
        rules: vec![RoleRule::new("Name the tool.").unwrap()],
        rows: (0..rows).map(row).collect(),
    }
}

#[test]
fn rows_are_shortened_and_then_the_oldest_are_left_out() {
    let task = evolving(24);
    let (whole, nothing) = narrowed(&task, None);
    assert_eq!((whole.matches("Row ").count() >= 24, nothing), (true, None));
    let (short, left_out) = narrowed(&task, Some(whole.chars().count() - 4_000));
    assert!(short.contains("Row 24:"), "texts go before rows");
    assert!(
        left_out
            .unwrap()
            .starts_with("what is beyond 600 characters of a text, where 800 is usual")
    );
    let (few, left_out) = narrowed(&task, Some(6_000));
    assert!(few.chars().count() <= 6_000, "{}", few.chars().count());
    assert!(
        few.contains("name: skill-23\n") && !few.contains("name: skill-0\n"),
        "the newest stay"
    );
    let shown = few.matches("\n<skill-").count();
    let note = format!("[{} more are left out]", 24 - shown);
    assert!(few.contains(&note), "{few}");
    let words = format!("{} of 24 rows; what is beyond 200 characters", 24 - shown);
    assert!(left_out.unwrap().starts_with(&words));
    assert!(few.contains("- Name the tool."), "rules stay");
    let (least, _) = narrowed(&task, Some(0));
    assert_eq!(least.matches("\n<skill-").count(), 1);
}

#[test]
fn a_long_attempt_is_compacted_and_not_cut_off() {
    let task = RoleTask::Segment {
        attempt: Box::new(long_attempt(200)),
        prompt: Default::default(),
    };
    let (whole, _) = narrowed(&task, None);
    // 200 steps of 600 characters in 12,000 characters.
    assert!(whole.contains("\n199. close {\"door\":199}\n=> error: result 199: and more"));
    assert!(
        whole.contains("\n0. open {\"door\":0}\n1. close"),
        "{whole}"
    );
    assert!(
        whole.contains("9. close {\"door\":9}\n=> error\n10. open"),
        "{whole}"
    );
    let (short, _) = narrowed(&task, Some(5_000));
    assert!(short.chars().count() <= 5_000);
    assert!(
        short.contains("0. open") && short.contains("199. close"),
        "{short}"
    );
    let gap = short.lines().find(|line| line.starts_with("[steps 3 to "));
    assert!(gap.unwrap().contains(" left out: close x"), "{short}");
}

#[test]
fn every_role_fits_a_small_room_and_says_what_it_leaves_out() {
    let members = |attempt: &Trace, members: usize| -> Vec<SubgoalInAttempt> {
        let one = match sample::role_task(Role::DistilPrototype) {
            RoleTask::DistilPrototype { mut members } => members.remove(0),
            other => panic!("{other:?}"),
        };
        let of = |_| one.clone().edited(|it| it.attempt = attempt.clone());
        (0..members).map(of).collect()
    };
    for role in Role::ALL {
        let mut task = sample::role_task(role);
        let attempt = long_attempt(200);
        match &mut task {
            RoleTask::Summarize { attempts, .. } => *attempts = vec![attempt.clone(), attempt],
            RoleTask::Refactor { attempts, .. } | RoleTask::Refine { attempts, .. } => {
                *attempts = vec![attempt; 6];
            }
            RoleTask::Extract { attempt: own, .. }
            | RoleTask::Attribute { attempt: own, .. }
            | RoleTask::Bundle { attempt: own, .. }
            | RoleTask::Segment { attempt: own, .. }
            | RoleTask::Curate { attempt: own, .. }
            | RoleTask::Lesson { attempt: own } => {
                own.trajectory.steps = attempt.trajectory.steps;
            }
            RoleTask::DistilPrototype { members: all } => *all = members(&attempt, 24),
            RoleTask::Route { subgoal, .. } | RoleTask::Score { subgoal, .. } => {
                subgoal.attempt.trajectory.steps = attempt.trajectory.steps;
            }
            RoleTask::Evolve { .. } => task = evolving(24),
            RoleTask::DistilBank { findings, .. } => {
                let one = findings[0].clone();
                *findings = vec![one; 24];
            }
            _ => {}
        }
        let (whole, _) = narrowed(&task, None);
        let (short, left_out) = narrowed(&task, Some(4_500));
        assert!(
            short.chars().count() <= 4_500,
            "{role}: {}",
            short.chars().count()
        );
        assert_eq!(left_out.is_some(), whole.chars().count() > 4_500, "{role}");
    }
}

#[test]
fn a_skill_that_is_mended_or_reviewed_stays_whole() {
    let mut task = sample::role_task(Role::Refine);
    if let RoleTask::Refine {
        skill, attempts, ..
    } = &mut task
    {
        skill.body = "Say it in these words. ".repeat(100);
        *attempts = vec![long_attempt(50); 4];
    }
    let (least, _) = narrowed(&task, Some(0));
    assert!(least.contains("Say it in these words. ".repeat(100).trim()));
    assert!(least.contains("[3 more are left out]"), "{least}");
    // Nor is half of a text judged.
    let mut task = sample::role_task(Role::Review);
    if let RoleTask::Review { skill } = &mut task {
        skill.body = "Say it in these words. ".repeat(1_000);
    }
    let (least, left_out) = narrowed(&task, Some(0));
    assert!(least.contains("Say it in these words. ".repeat(1_000).trim()));
    assert_eq!(left_out, None);
}
