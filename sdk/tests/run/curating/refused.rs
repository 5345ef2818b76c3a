//! Calls that are refused, and answers that are no calls.

use journeyman::testing::Edited as _;
use journeyman::{
    domain::Trust,
    policy::{AdmitRule, Ask, Policy, View, WriteGroup, WriteProgram, Written},
    stations::propose::Curate,
};

use super::*;

#[test]
fn an_answer_that_is_prose_is_an_invalid_call_and_costs_nothing_else() {
    let prose = "I would rather not change anything today.".to_owned();
    let run = curate(
        &["old"],
        &[("one", prose), ("two", calls(&[insert("two", "Say two.")]))],
    );
    let first = run.curation(0);
    assert!(matches!(&first.no_answer, Some(NoAnswer::Unreadable(why)) if why.contains("no call")));
    assert_eq!((first.counts().all(), first.counts().validity()), (1, 0.0));
    let failed = run.events.iter().filter(|event| {
        matches!(
            event.kind,
            EventKind::RoleFailed {
                role: Role::Curate,
                ..
            }
        )
    });
    assert_eq!(failed.count(), 1);
    let refused = run.report.tasks[0].written[0].refused.as_ref();
    assert!(refused.is_some_and(|why| why.contains("no call")));
    assert_eq!(run.curation(1).counts().valid, 1, "the run goes on");
    assert_eq!(run.entry("old").skill.state, State::Active);
}

#[test]
fn calls_that_do_not_fit_are_refused_one_by_one_with_their_reasons() {
    let run = curate(
        &["old"],
        &[(
            "one",
            calls(&[
                ("drop_library", json!({})),
                ("insert_skill", json!({"name": "x"})),
                insert("!?", "No name."),
                insert("old", "Taken."),
                insert("empty", " "),
                insert("hidden", "Say it.\u{202E}"),
                update("absent", "Nothing."),
                update("old", &sample::skill("old").body),
                update("old", ""),
                delete("absent"),
                delete("old"),
                insert("right", "Say right."),
            ]),
        )],
    );
    let refusals = run.refusals(0);
    use CallRefusal::{
        Arguments, NameTaken, NotAName, NotAdmitted, NotFound, Unchanged, UnknownTool,
    };
    assert!(matches!(&refusals[1], Some(Arguments(why)) if why.contains("description")));
    for (at, part) in [
        (4, "body is empty"),
        (5, "hidden character"),
        (8, "body is empty"),
    ] {
        assert!(
            matches!(&refusals[at], Some(NotAdmitted(why)) if why.contains(part)),
            "{:?}",
            refusals[at]
        );
    }
    let expect = [
        (0, Some(UnknownTool)),
        (2, Some(NotAName)),
        (3, Some(NameTaken)),
        (6, Some(NotFound)),
        (7, Some(Unchanged)),
        (9, Some(NotFound)),
        (10, None),
        (11, None),
    ];
    for (at, refusal) in expect {
        assert_eq!(refusals[at], refusal, "call {at}");
    }
    let counts = run.curation(0).counts();
    assert_eq!((counts.all(), counts.unknown, counts.valid), (12, 1, 2));
    assert_eq!(run.told().len(), 10);
    let shown = run.events.iter().map(ToString::to_string);
    let shown: Vec<String> = shown.filter(|line| line.contains("is refused")).collect();
    assert!(
        shown[0].contains("an unknown tool of drop_library is refused"),
        "{shown:?}"
    );
    assert_eq!(run.entry("old").skill.version.0, 1);
    assert_eq!(run.library.entries().count(), 2);
}

#[test]
fn a_host_without_a_curator_is_told_so_and_learns_no_skill() {
    let check = |change: fn(&mut Components), reason: &str| {
        let (mut components, _) = parts(&[]);
        change(&mut components);
        let options = Options::new("test", Seed(7));
        let (findings, report, library) = block_on(async {
            let opened = Journeyman::open(components, recipe::skillos(), options).await;
            let journeyman = opened.expect("it opens");
            let report = journeyman.learn(words(&["one"])).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            (journeyman.findings(), report, library)
        });
        let finding = findings
            .iter()
            .find(|one| one.kind == FindingKind::NeverWrites);
        let finding = finding.expect("a finding").to_string();
        assert!(finding.contains(reason), "{finding}");
        let curation = report.tasks[0].curation.as_ref().expect("it was due");
        assert!(matches!(curation.no_answer, Some(NoAnswer::NotPlayed(_))));
        assert_eq!(curation.counts().all(), 0);
        assert_eq!(report.tasks[0].attempts[0].success, Some(true));
        assert_eq!(library.entries().count(), 0);
    };
    let others = |components: &mut Components| {
        components.roles = Some(Arc::new(ScriptedRoles::only([Role::Extract])));
    };
    check(others, "do not play the recipe's writer, curate");
    check(|components| components.roles = None, "no roles");
    check(|components| components.model = None, "no model");
}

/// Refuses skills whose body has the word, and keeps how many skills the library had when it was asked.
#[derive(Debug)]
struct Without(&'static str, Arc<Mutex<Vec<usize>>>);

impl AdmitRule for Without {
    fn admit(&self, library: &SkillLibrary, skill: &Skill) -> journeyman::Result<()> {
        self.1.lock().unwrap().push(library.entries().count());
        match skill.body.contains(self.0) {
            true => Err(Error::invalid(
                "a host's rule",
                "that word is not said here",
            )),
            false => Ok(()),
        }
    }
}

#[test]
fn the_hosts_own_rule_is_asked_about_what_is_inserted_and_updated() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    let policies = Policies::new().with_admission("mild", move |_| {
        Ok(Arc::new(Without("damn", Arc::clone(&kept))))
    });
    let mut recipe = recipe::skillos();
    recipe.admit.rules = vec![Policy::new("mild")];
    let (components, _) = parts(&[(
        "one",
        calls(&[
            insert("one", "Say one."),
            insert("two", "Say damn."),
            update("one", "damn"),
            update("one", "Say one twice."),
            delete("old"),
        ]),
    )]);
    let skills = vec![sample::skill("old")];
    let run = curate_with(components, recipe, policies, (skills, words(&["one"])));
    let refusals = run.refusals(0);
    for at in [1, 2] {
        assert!(
            matches!(&refusals[at], Some(CallRefusal::NotAdmitted(why)) if why.contains("not said")),
            "{refusals:?}"
        );
    }
    assert_eq!([&refusals[0], &refusals[3], &refusals[4]], [&None; 3]);
    assert_eq!(run.entry("one").skill.body, "Say one twice.");
    // It was asked with the library as the calls before leave it, and not about what is deleted.
    assert_eq!(*asked.lock().unwrap(), [1, 2, 2, 2]);
}

#[test]
fn untrusted_words_make_a_quarantined_skill_and_change_no_clean_one() {
    let world = ScriptedEnvironment::words().beginning(|task, _| {
        let mut seen = sample::observation(&task.instruction);
        seen.source = sample::source(Trust::Untrusted);
        Play::Give(seen)
    });
    let (mut components, _) = parts(&[(
        "one",
        calls(&[
            insert("one", "Say one."),
            update("old", "obey"),
            delete("old"),
        ]),
    )]);
    components.environment = Some(Arc::new(world));
    let skills = vec![sample::skill("old"), sample::skill("other")];
    let run = curate_with(
        components,
        recipe::skillos(),
        Policies::new(),
        (skills, words(&["one"])),
    );
    use CallRefusal::Untrusted;
    assert_eq!(run.refusals(0), [None, Some(Untrusted), Some(Untrusted)]);
    assert_eq!(run.entry("one").skill.state, State::Quarantined);
    assert_eq!(run.entry("old").skill.state, State::Active);
    assert_eq!(run.entry("old").skill.version.0, 1);
}

#[test]
fn a_call_that_another_writer_overtook_is_refused_and_counted() {
    let (components, _) = parts(&[("one", calls(&[update("old", "Mine.")]))]);
    let store = Arc::new(MemoryStore::new());
    let mut old = sample::skill("old");
    let start = sample::commit(
        0,
        "start",
        vec![journeyman::domain::LibraryChange::Add(Box::new(
            old.clone(),
        ))],
    );
    block_on(store.commit(&start)).expect("it commits");
    let committed = block_on(store.load()).expect("it loads").committed;
    let performer = journeyman::run::Performer::new(
        Arc::new(components.with_store(store.clone())),
        recipe::skillos().limits,
    );
    let mut machine = RunMachine::new(
        RunPlan::new(
            RunId::new("run"),
            Seed(1),
            recipe::skillos(),
            words(&["one"]),
        )
        .edited(|it| {
            it.replays = true;
            it.library = SkillLibrary::replay(&committed).expect("it folds");
        }),
    )
    .expect("a machine");
    old.version = journeyman::Version(2);
    old.body = "Theirs.".to_owned();
    let theirs = sample::commit(
        1,
        "theirs",
        vec![journeyman::domain::LibraryChange::Revise(Box::new(old))],
    );
    while !machine.is_finished() {
        for (id, effect) in machine.effects() {
            if matches!(effect, Effect::Commit(_)) {
                block_on(store.commit(&theirs)).expect("it commits");
            }
            let answer = block_on(performer.perform(effect)).expect("an answer");
            machine.answer(id, answer).expect("it fits");
        }
    }
    let report = machine.report();
    let curation = report.tasks[0].curation.as_ref().expect("it was asked");
    let outcome = &curation.calls[0].outcome;
    assert_eq!(*outcome, CallOutcome::Refused(CallRefusal::Overtaken));
    assert_eq!((curation.counts().update, curation.counts().valid), (1, 0));
    let entry = machine
        .library()
        .get(&SkillId::new("old"))
        .expect("it is there");
    assert_eq!(entry.skill.body, "Theirs.");
}

#[test]
fn the_journal_has_each_refusal_with_its_reason() {
    let answer = calls(&[
        update("absent", "Nothing."),
        insert("!?", "No name."),
        delete("old"),
    ]);
    let (components, _) = parts(&[("one", answer), ("two", "prose".to_owned())]);
    let journal = components.journal.clone().expect("a journal");
    let run = curate_with(
        components,
        recipe::skillos(),
        Policies::new(),
        (vec![sample::skill("old")], words(&["one", "two"])),
    );
    let (_, happened) = block_on(journaled(journal.as_ref(), &run.report.run));
    let refused: Vec<(CallKind, &str, &CallRefusal)> = happened
        .iter()
        .filter_map(|event| match event {
            EventKind::CallRefused {
                call,
                about,
                refusal,
            } => Some((*call, about.as_str(), refusal)),
            _ => None,
        })
        .collect();
    use CallRefusal::{NotAName, NotFound};
    let expect = [
        (CallKind::Update, "absent", &NotFound),
        (CallKind::Insert, "!?", &NotAName),
    ];
    assert_eq!(refused, expect);
    let reasons = role_failures(&happened, Role::Curate);
    assert!(
        reasons.len() == 1 && reasons[0].contains("no call"),
        "{reasons:#?}"
    );
}

#[test]
fn a_refused_call_has_the_kind_that_it_would_have_had() {
    let run = curate(
        &["old"],
        &[("one", calls(&[delete("x"), update("x", "y")]))],
    );
    let kinds: Vec<CallKind> = run.curation(0).calls.iter().map(|call| call.kind).collect();
    assert_eq!(kinds, [CallKind::Delete, CallKind::Update]);
    assert!(run.curation(0).calls.iter().all(|call| call.about == "x"));
}

/// Asks the curator twice, and hands on both answers.
#[derive(Debug)]
struct Twice;

#[journeyman::async_trait]
impl WriteProgram for Twice {
    async fn write(
        &self,
        ask: &mut Ask,
        view: &View,
        group: &WriteGroup<'_>,
    ) -> journeyman::Result<Written> {
        let skills = n32(1);
        let mut replies = Vec::new();
        for _ in 0..2 {
            let written = Curate::new(skills).write(ask, view, group).await?;
            replies.extend(written.replies().to_vec());
        }
        Ok(Written::of_roles(replies))
    }

    fn roles(&self) -> Vec<Role> {
        vec![Role::Curate]
    }
}

#[test]
fn a_writer_that_hands_on_two_curations_writes_nothing_and_says_why() {
    let (components, _) = parts(&[("one", calls(&[insert("one", "Say one.")]))]);
    let mut recipe = recipe::skillos();
    recipe.write.by = Policy::new("twice");
    let policies = Policies::new().with_writer("twice", |_| Ok(Arc::new(Twice)));
    let run = curate_with(components, recipe, policies, (Vec::new(), words(&["one"])));
    assert_eq!(run.report.tasks[0].curation, None);
    assert_eq!(run.library.entries().count(), 0);
    let refused = run.events.iter().filter_map(|event| match &event.kind {
        EventKind::Refused { reason } => Some(reason.as_str()),
        _ => None,
    });
    let refused: Vec<&str> = refused.collect();
    assert!(
        refused.len() == 1 && refused[0].contains("more than one curation"),
        "{refused:?}"
    );
}
