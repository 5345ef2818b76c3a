//! Lessons from failed and from recovered attempts.

use super::*;
use crate::roles::Role as Trained;
use crate::skill_form::{Sentences, of_skill, read_sentences};
use crate::tool::{Tool, ToolName};
use journeyman::domain::Lesson;
use journeyman::maintain::lesson_draft;

fn lesson(attempt: &Trace) -> RoleTask {
    RoleTask::Lesson {
        attempt: Box::new(attempt.clone()),
    }
}

#[test]
fn a_lesson_is_asked_about_an_attempt_as_it_was_trained() {
    for kind in [Scene::failed, Scene::stopped] {
        let mut seen = 0;
        for scene in scenes(kind, 60).filter(|scene| !scene.is_done()) {
            let (attempt, shown) = (trace_of(&scene), scene.script.readable());
            assert_eq!(prompt(&lesson(&attempt)), format!("{shown}<lesson>"));
            seen += 1;
        }
        assert!(seen > 20, "{seen}");
    }
}

#[test]
fn a_recovered_attempt_is_cut_off_at_its_last_refusal() {
    let mut seen = 0;
    for scene in scenes(Scene::alone, 60) {
        let mut attempt = trace_of(&scene);
        let refused = |step: &Step| step.result.is_error;
        let Some(last) = attempt.trajectory.steps.iter().rposition(refused) else {
            let words = "no call of the attempt was refused";
            check_refused(&lesson(&attempt), ErrorKind::Invalid, words);
            continue;
        };
        let whole = prompt(&lesson(&attempt));
        attempt.trajectory.steps.truncate(last + 1);
        assert_eq!(prompt(&lesson(&attempt)), whole);
        let reply = &attempt.trajectory.steps[last].result.text;
        assert!(whole.ends_with(&format!("{reply}<lesson>")), "{whole}");
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn true_answers_are_read_and_others_refused() {
    let mut seen = 0;
    for number in 0..80 {
        let mut draws = Draws::new("lessons", &[number]);
        let spec = WorldSpec::wide(&mut draws);
        let case = Trained::Lesson.case(&spec, &mut draws);
        let Some((step, rest)) = case.answer.split_once(": ") else {
            panic!("{}", case.answer);
        };
        let parts: Vec<&str> = rest.split("; ").collect();
        let attempt = attempt_of(&case.prompt.readable());
        let read = read(&lesson(&attempt), &case.answer).unwrap();
        let expect = Lesson {
            step: step.parse::<usize>().unwrap() - 1,
            flawed: parts[0].to_owned(),
            should: parts[1].to_owned(),
            principle: parts[2].to_owned(),
        };
        assert_eq!(read, RoleAnswer::Lesson(expect));
        seen += 1;
        for (wrong, words) in [
            (String::new(), "`number: call; call; sentence`"),
            ("none".to_owned(), "`number: call; call; sentence`"),
            (format!("0: {rest}"), "`number: call; call; sentence`"),
            (
                format!("{step}: {}; {}", parts[0], parts[2]),
                "`number: call; call; sentence`",
            ),
            (format!("13: {rest}"), "was not refused"),
            (
                format!("{step}: foo bar; {}; {}", parts[1], parts[2]),
                "did not have",
            ),
            (
                format!(
                    "{step}: {}; {}; foo bar needs {}",
                    parts[0], parts[1], parts[1]
                ),
                "the principle",
            ),
            (
                format!("{step}: {}; {}; {} is wrong", parts[0], parts[1], parts[1]),
                "the principle",
            ),
        ] {
            check_unusable(&lesson(&attempt), &wrong, words);
        }
    }
    assert_eq!(seen, 80);
}

/// An attempt with the tools and calls of a prompt.
fn attempt_of(prompt: &str) -> Trace {
    let (_, rest) = prompt.split_once("<tools>").unwrap();
    let (rows, said) = rest.split_once("<plan>").unwrap();
    let tools = rows.lines().map(|row| {
        let mut words = row.split_whitespace();
        let name = ToolName::new(words.next().unwrap(), words.next().unwrap());
        let parameters = words.step_by(2).map(str::to_owned).collect();
        define(&Tool { name, parameters })
    });
    let scene = scenes(Scene::failed, 9).next().unwrap();
    let mut attempt = trace_of(&scene);
    let mut step = attempt.trajectory.steps[0].clone();
    step.observation.tools = tools.collect();
    let calls = said.split("<call>").skip(1);
    attempt.trajectory.steps = calls
        .map(|call| {
            let (_, reply) = call.split_once("<obs>").unwrap();
            let mut step = step.clone();
            let reply = reply.split('<').next().unwrap().trim();
            step.result.text = reply.to_owned();
            step.result.is_error = !reply.starts_with("ok") && reply != "done";
            step
        })
        .collect();
    attempt
}

#[test]
fn the_lessons_of_an_attempt_are_read_as_sentences() {
    let of = |principle: &str| Lesson {
        step: 0,
        flawed: "unseal coffee tone # power $".to_owned(),
        should: "unseal bell".to_owned(),
        principle: principle.to_owned(),
    };
    let (bell, tone) = (
        of("unseal coffee needs unseal bell"),
        of("unseal coffee needs tone off"),
    );
    let text = |lessons: &[Lesson]| {
        let mut skill = skill_of("s", "cut rope: cut rope");
        let draft = lesson_draft(lessons).unwrap();
        (skill.name, skill.trigger) = (
            journeyman::domain::SkillName::slug(&draft.title).unwrap(),
            None,
        );
        (skill.description, skill.body) = (draft.description, draft.body);
        of_skill(&skill)
    };
    let one = "unseal coffee: unseal coffee needs unseal bell";
    assert_eq!(text(std::slice::from_ref(&bell)), one);
    assert_eq!(
        text(&[bell.clone(), tone.clone()]),
        format!("{one}; unseal coffee needs tone off")
    );
    assert_eq!(text(&[bell.clone(), bell]), one, "each once");
    let other = "lift bell needs power 5\nunseal coffee needs tone off\nlift bell needs";
    let expect = Sentences {
        title: ToolName::new("lift", "bell"),
        sentences: vec!["lift bell needs power 5".to_owned()],
    };
    assert_eq!(
        read_sentences(other),
        Some(expect),
        "of the first tool alone"
    );
    for prose in [
        "Nobody needs this.\n",
        "The agent needs some help.\n",
        "unseal coffee needs\n",
    ] {
        assert_eq!(read_sentences(prose), None, "{prose}");
    }
}

#[test]
fn roles_that_the_model_was_not_trained_for_are_unsupported() {
    use journeyman::testing::sample;
    for (role, plays) in [
        (Part::Lesson, true),
        (Part::Extract, true),
        (Part::DistilBank, false),
        (Part::Route, false),
        (Part::Review, false),
    ] {
        assert_eq!(ApprenticeRoles.plays(role), plays, "{role}");
        if !plays {
            check_refused(
                &sample::role_task(role),
                ErrorKind::Unsupported,
                "does not play",
            );
        }
    }
}
