//! A run with a curator replays and resumes to the same bytes.

use journeyman::testing::Edited as _;

use super::*;

fn answers() -> Vec<(&'static str, String)> {
    vec![
        (
            "one",
            calls(&[insert("one", "Say one."), insert("two", "Say two.")]),
        ),
        (
            "two",
            calls(&[update("one", "Say one, loudly."), delete("absent")]),
        ),
        ("three", "prose".to_owned()),
        (
            "hard",
            calls(&[delete("two"), insert("three", "Say three.")]),
        ),
    ]
}

const WORDS: [&str; 4] = ["one", "two", "three", "hard"];

#[test]
fn a_run_with_a_curator_replays_from_its_journal_to_the_same_bytes() {
    let (components, _) = parts(&answers());
    let journal = components.journal.clone().expect("a journal");
    let run = curate_with(
        components,
        recipe::skillos(),
        Policies::new(),
        (Vec::new(), words(&WORDS)),
    );
    let entries = block_on(journal.read(&run.report.run)).expect("entries");
    let machine = replay(&entries, &Policies::new()).expect("a replay");
    assert!(machine.is_finished());
    assert_eq!(bytes(machine.library()), bytes(&run.library));
    let mut told = run.report.clone();
    told.findings.clear();
    assert_eq!(machine.report(), told);
    assert_eq!(run.curation(3).counts().valid, 2);
    // The report of a run that was saved before there was a curator still reads, and one without a curator has no field.
    let (plain, _) = learn(super::super::components(), 1);
    assert!(
        !serde_json::to_string(&plain)
            .expect("JSON")
            .contains("curation")
    );
}

#[test]
fn a_run_with_a_curator_resumes_between_any_two_answers() {
    let machine = || {
        let recipe = recipe::skillos();
        let plan = RunPlan::new(RunId::new("run"), Seed(11), recipe, words(&WORDS));
        RunMachine::new(plan.edited(|it| it.replays = true)).expect("a machine")
    };
    // Performs effects one by one, and saves and resumes before the answer at `cut`.
    let finish = |cut: usize| {
        let (components, _) = parts(&answers());
        let performer =
            journeyman::run::Performer::new(Arc::new(components), recipe::skillos().limits);
        let mut machine = machine();
        let mut answered = 0;
        while !machine.is_finished() {
            if answered == cut {
                let saved = machine.save().expect("it saves");
                let resumed = RunMachine::resume(&saved, &Policies::new()).expect("it resumes");
                assert_eq!(resumed, machine, "after {cut} answers");
                machine = resumed;
            }
            let (id, effect) = machine.effects().into_iter().next().expect("an effect");
            let answer = block_on(performer.perform(effect)).expect("an answer");
            machine.answer(id, answer).expect("it fits");
            answered += 1;
        }
        (bytes(machine.library()), machine.report(), answered)
    };
    let (library, report, answers) = finish(usize::MAX);
    assert!(answers > 12, "{answers}");
    for cut in 0..answers {
        assert_eq!(finish(cut), (library.clone(), report.clone(), answers));
    }
}
