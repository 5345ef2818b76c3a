//! Mending behind a gate (algorithm 4).

use journeyman::library::format::SkillMd;

use super::*;

/// A skill that says a word too many is mended from the attempt that followed it.
fn mending(
    gate: Gate,
    attribute: &'static str,
    refine: &'static str,
) -> (SkillLibrary, Vec<Event>) {
    let mut recipe = hisme();
    recipe.select.selector = top(1);
    micro(&mut recipe, |parts| {
        parts.filter = None;
        parts.bundles.as_mut().expect("it has bundles").gate = gate;
    });
    let script = Script {
        extract: |words| format!("skill {words}: How to say {words}.\nsay: oops {words}"),
        attribute,
        refine,
        ..Script::default()
    };
    let (_, library, _, events) = learn_with(recipe, script, 6);
    (library, events)
}

#[test]
fn a_mended_version_is_released_when_it_passes_and_else_stays_out_with_the_reason() {
    let harmful = "harmful: it was refused";
    let better = "better: Says what is due.\nsay: one two";
    let (library, _) = mending(Gate::Better, harmful, better);
    let mended = library.entries().filter(|entry| entry.skill.version.0 == 2);
    let mended: Vec<_> = mended.collect();
    assert!(!mended.is_empty());
    for entry in &mended {
        assert_eq!(entry.skill.provenance.origin, Origin::Refined);
        assert_eq!(entry.skill.parents, [entry.history[0].reference()]);
        assert_eq!(
            entry.life.counts(entry.skill.version).total(),
            0,
            "counts begin anew"
        );
        assert!(
            entry.skill.name.as_str().starts_with("skill-"),
            "it keeps its name"
        );
    }
    let (library, events) = mending(Gate::Better, harmful, "worse: Says nonsense.\nsay: no no");
    assert!(library.entries().all(|entry| entry.skill.version.0 == 1));
    let told = events.iter().any(|event| {
        matches!(&event.kind, EventKind::Refused { reason, .. } if reason.contains("not released: the case"))
    });
    assert!(told, "{events:?}");
}

#[test]
fn what_was_followed_and_refused_is_mended_though_nobody_calls_it_harmful() {
    let better = "better: Says what is due.\nsay: one two";
    let mended = |attribute| {
        let (library, _) = mending(Gate::Better, attribute, better);
        library.entries().any(|entry| entry.skill.version.0 == 2)
    };
    assert!(mended("neutral: it made no difference"));
    assert!(mended("uncertain: who knows"));
    assert!(!mended("helpful: it was a help"));
}

#[test]
fn a_version_that_was_refined_for_failed_cases_alone_is_released_when_it_passes() {
    let versions = |refine| {
        let mut recipe = hisme();
        recipe.select.selector = top(1);
        micro(&mut recipe, |parts| {
            parts.filter = None;
            parts.bundles = Some(BundlePolicy::paper());
            parts.refine = Some(RefinePolicy::paper());
        });
        let script = Script {
            extract: |words| format!("skill {words}: How to say {words}.\nsay: oops {words}"),
            attribute: "uncertain: who knows",
            refine,
            ..Script::default()
        };
        let (_, library, ..) = learn_with(recipe, script, 6);
        let versions = library.entries().map(|entry| entry.skill.version.0);
        versions.max().expect("skills")
    };
    assert_eq!(versions("better: Says what is due.\nsay: one two"), 2);
    assert_eq!(versions("worse: Says nonsense.\nsay: no no"), 1);
}

#[test]
fn a_refined_version_that_is_refused_stays_as_a_draft_where_the_recipe_keeps_it() {
    let drafts = |keep_drafts| {
        let mut recipe = hisme();
        micro(&mut recipe, |parts| {
            parts.bundles = Some(BundlePolicy::paper());
            let mut refine = RefinePolicy::paper();
            refine.keep_drafts = keep_drafts;
            parts.refine = Some(refine);
        });
        let script = Script {
            attribute: "harmful: it was refused",
            refine: "worse: Says nonsense.\nsay: no no",
            ..Script::default()
        };
        let (_, library, ..) = learn_with(recipe, script, 6);
        let drafts = library.entries().map(|entry| &entry.skill);
        let drafts = drafts.filter(|skill| skill.state == State::Draft);
        let drafts: Vec<Skill> = drafts.cloned().collect();
        (library, drafts)
    };
    assert_eq!(drafts(false).1, []);
    let (library, drafts) = drafts(true);
    assert!(!drafts.is_empty());
    for draft in drafts {
        let why = &draft.metadata[SkillMd::REFUSED];
        assert!(why.contains("not released: the case"), "{why}");
        // It is beside the version in use, which stays as it was.
        let of = library.get(&draft.parents[0].id).expect("the skill");
        assert_eq!(of.skill.version, draft.parents[0].version);
        assert!(draft.body.contains("no no") && !of.skill.body.contains("no no"));
    }
}

/// Whether the refiner is asked about skills that say a word too many, and are judged uncertain.
fn is_refined(policy: RefinePolicy) -> bool {
    let mut recipe = hisme();
    recipe.select.selector = top(1);
    micro(&mut recipe, |parts| parts.refine = Some(policy));
    let script = Script {
        extract: |words| format!("skill {words}: How to say {words}.\nsay: oops {words}"),
        attribute: "uncertain: who knows",
        ..Script::default()
    };
    let (_, _, prompts, _) = learn_with(recipe, script, 6);
    let prompts = prompts.lock().unwrap();
    let mut prompts = prompts.iter();
    prompts.any(|prompt| prompt.starts_with("role: refine"))
}

#[test]
fn a_failed_case_and_an_insufficient_skill_call_for_the_refiner_as_the_policy_says() {
    let policy = |insufficient, failed_cases| {
        let mut policy = RefinePolicy::default();
        policy.insufficient = insufficient;
        policy.failed_cases = failed_cases;
        policy
    };
    assert!(is_refined(policy(true, false)));
    assert!(is_refined(policy(false, true)));
    assert!(!is_refined(policy(false, false)), "it harmed nobody");
}

#[test]
fn what_helps_and_never_suffices_is_mended() {
    let asked = |body: &str, tasks: &[&[&str]]| {
        let mut recipe = hisme();
        recipe.write.when = WriteWhen::Never;
        let (components, prompts) = parts(Script::default());
        let mut skill = sample::skill("saying");
        skill.body = body.to_owned();
        let tasks = (0..).zip(tasks);
        let tasks = tasks.map(|(number, words)| sample::task(&format!("task-{number}"), words));
        let tasks: Vec<Task> = tasks.collect();
        let every = n64(tasks.len() as u64);
        recipe.maintenance.every("micro", every);
        let judged = block_on(async {
            let options = Options::new("test", Seed(7));
            let journeyman = Journeyman::open(components, recipe, options).await;
            let journeyman = journeyman.expect("it opens");
            journeyman.add(vec![skill], "a start").await.expect("added");
            journeyman.learn(tasks).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            let judged = library.entries().map(|entry| entry.life.judged.len());
            judged.sum::<usize>()
        });
        assert!(judged > 0);
        let prompts = prompts.lock().unwrap();
        let mut prompts = prompts.iter();
        prompts.any(|prompt| prompt.starts_with("role: refine"))
    };
    let (one, other): (&[&str], &[&str]) = (&["one", "two"], &["one", "six"]);
    assert!(asked("say: oops one two", &[one, one]));
    // One task may have wanted something that day alone, and what suffices on some days is right.
    assert!(!asked("say: oops one two", &[one]));
    assert!(!asked("say: one two", &[one, other, other]));
    assert!(asked("say: one two", &[other, other]));
}

#[test]
fn a_skill_is_handed_out_once_for_the_same_evidence() {
    let mut recipe = hisme();
    micro(&mut recipe, |parts| parts.filter = None);
    let (components, prompts) = parts(Script {
        attribute: "harmful: it was refused",
        ..Script::default()
    });
    let asked = || {
        let prompts = prompts.lock().unwrap();
        let refining = prompts
            .iter()
            .filter(|prompt| prompt.starts_with("role: refine"));
        refining.count()
    };
    let mut learn = |session: &str, selector| {
        recipe.select.selector = selector;
        let options = Options::new(session, Seed(7));
        block_on(async {
            let journeyman = Journeyman::open(components.clone(), recipe.clone(), options).await;
            let journeyman = journeyman.expect("it opens");
            journeyman.learn(tasks(6)).await.expect("it learns");
        });
    };
    learn("first", top(2));
    let before = asked();
    assert!(before > 0);
    // Nothing is injected, so nothing new is known of any skill.
    learn("second", Nothing.into());
    assert_eq!(asked(), before);
}

#[test]
fn a_clean_skill_is_not_mended_from_untrusted_words() {
    let versions = |trust| {
        let (mut components, _) = parts(Script {
            attribute: "harmful: it was refused",
            refine: "better: Says what is due.\nsay: one two",
            ..Script::default()
        });
        let world = ScriptedEnvironment::words().beginning(move |task, _| {
            let mut seen = sample::observation(&task.instruction);
            seen.source = sample::source(trust);
            Play::Give(seen)
        });
        components.environment = Some(Arc::new(world));
        let mut recipe = hisme();
        recipe.write.when = WriteWhen::Never;
        let mut policy = MicroPolicy::default();
        policy.refine = Some(RefinePolicy::default());
        recipe.maintenance = micro_alone(policy);
        block_on(async {
            let journeyman =
                Journeyman::open(components, recipe, Options::new("test", Seed(7))).await;
            let journeyman = journeyman.expect("it opens");
            let skill = sample::skill("saying");
            journeyman
                .add(vec![skill.clone()], "a start")
                .await
                .expect("it is added");
            journeyman.learn(tasks(6)).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            let entry = library.get(&skill.id).expect("it is there");
            assert!(!entry.life.judged.is_empty());
            (entry.skill.version.0, entry.skill.state)
        })
    };
    assert_eq!(
        versions(journeyman::domain::Trust::Untrusted),
        (1, State::Active)
    );
    assert!(versions(journeyman::domain::Trust::Trusted).0 > 1);
}
