//! Newcomers on trial, what releases them, what takes them out of use and brings them back.

use super::*;

#[test]
fn what_is_extracted_is_on_trial_until_attempts_at_two_tasks_speak_for_it() {
    let states = |recipe, script, n| {
        let (_, library, ..) = learn_with(recipe, script, n);
        let mut states: Vec<State> = library.entries().map(|entry| entry.skill.state).collect();
        states.dedup();
        let mut origins = library.entries().map(|entry| entry.skill.provenance.origin);
        assert!(origins.all(|origin| origin == Origin::Extracted));
        states
    };
    let mut without = hisme();
    without.maintenance = Maintenance::default();
    // Without maintenance live attempts alone release: two tasks that were done with the skill.
    assert_eq!(
        states(without.clone(), Script::default(), 3),
        [State::Trial]
    );
    assert_eq!(states(without, Script::default(), 18), [State::Active]);
    // Three tasks, three skills: each has passed the case of its own attempt alone.
    let mut hisme = hisme();
    hisme.select.selector = top(1);
    assert_eq!(states(hisme.clone(), Script::default(), 3), [State::Trial]);
    assert_eq!(states(hisme.clone(), Script::default(), 6), [State::Active]);
    let mut to_the_letter = hisme.clone();
    micro(&mut to_the_letter, |parts| {
        let mut bundles = BundlePolicy::default();
        bundles.tasks = n32(1);
        parts.bundles = Some(bundles);
    });
    assert_eq!(states(to_the_letter, Script::default(), 3), [State::Active]);
    // A skill that says the wrong words costs as many refusals as none.
    let wrong = || Script {
        extract: |words| format!("skill {words}: How to say {words}.\nsay: no {words}"),
        attribute: "neutral: it was not followed",
        ..Script::default()
    };
    assert_eq!(states(hisme.clone(), wrong(), 6), [State::Trial]);
    // What holds it back is told, with the case; nothing was mended that could be held back too.
    micro(&mut hisme, |parts| parts.refine = None);
    let (_, library, _, events) = learn_with(hisme, wrong(), 6);
    for entry in library.entries() {
        let why = format!("{}: not released: the case ", entry.skill.name);
        let told = events.iter().any(|event| {
            matches!(&event.kind, EventKind::Refused { reason, .. }
                if reason.starts_with(&why) && reason.contains(" fails: "))
        });
        assert!(told, "{why}: {events:?}");
    }
}

#[test]
fn what_is_on_trial_is_offered_in_training_alone() {
    let (components, _) = parts(Script::default());
    let mut recipe = hisme();
    recipe.maintenance = Maintenance::default();
    block_on(async {
        let journeyman = Journeyman::open(components, recipe, Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.learn(tasks(3)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let mut states = library.entries().map(|entry| entry.skill.state);
        assert!(states.all(|state| state == State::Trial));
        let injected = |report: &RunReport| {
            let attempts = report.tasks.iter().flat_map(|task| &task.attempts);
            attempts
                .map(|attempt| attempt.injected.len())
                .sum::<usize>()
        };
        let report = journeyman.evaluate(tasks(3)).await.expect("it evaluates");
        assert_eq!(injected(&report), 0);
        let report = journeyman
            .learn(tasks(6).split_off(3))
            .await
            .expect("it learns");
        assert!(injected(&report) > 0);
    });
}

#[test]
fn the_bundle_of_a_skill_in_quarantine_is_played_and_releases_it_where_the_recipe_tries_it() {
    let learnt = |tasks: Option<u32>, extract: fn(&str) -> String| {
        let script = Script {
            extract,
            ..Script::default()
        };
        let (mut components, prompts) = parts(script);
        let world = ScriptedEnvironment::words().beginning(|task, _| {
            let mut seen = sample::observation(&task.instruction);
            seen.source = sample::source(journeyman::domain::Trust::Untrusted);
            Play::Give(seen)
        });
        components = components.with_environment(Arc::new(world));
        let mut recipe = hisme();
        recipe.select.selector = top(1);
        recipe.maintenance.quarantine =
            tasks.map(|tasks| journeyman::stations::maintain::QuarantinePolicy::new(n32(tasks)));
        let (_, library, _, events) = learn_by((components, prompts), recipe, super::tasks(12));
        (library, events)
    };
    let right = |words: &str| format!("skill {words}: How to say {words}.\nsay: {words}");
    let (library, events) = learnt(Some(3), right);
    for entry in library.entries() {
        assert_eq!(entry.skill.state, State::Active);
        assert_eq!(entry.skill.taint, journeyman::domain::Taint::Tainted);
        assert_eq!(entry.life.passes(entry.skill.version), Some(true));
    }
    let why = "attempts at 3 tasks speak for it; it was in quarantine, since it is tainted";
    let released = events.iter().filter(
        |event| matches!(&event.kind, EventKind::StateChanged { reason, .. } if reason == why),
    );
    assert_eq!(released.count(), library.entries().count());
    // Two tasks, which would do for a skill on trial, do not.
    let held = |library: SkillLibrary| {
        let mut entries = library.entries();
        entries.all(|entry| entry.skill.state == State::Quarantined)
    };
    assert!(held(learnt(Some(5), right).0));
    // Without the option no bundle of it is played.
    let (library, _) = learnt(None, right);
    assert!(library.entries().all(|entry| entry.life.tested.is_none()));
    assert!(held(library));
    // One that says the wrong words is not released.
    let wrong = |words: &str| format!("skill {words}: How to say {words}.\nsay: no {words}");
    assert!(held(learnt(Some(1), wrong).0));
}

/// What becomes of three skills, where the judge of cases does so at first, so many times; and how many bundles are given up.
fn with_judge_of_cases(play: Play<Verdict>, times: usize) -> (Vec<State>, usize) {
    let (mut components, _) = parts(Script::default());
    let clock = Arc::new(ManualClock::at(journeyman::domain::Timestamp(0)));
    components.clock = Some(Arc::clone(&clock) as _);
    let played = std::sync::atomic::AtomicUsize::new(0);
    components.judge = Some(Arc::new(ScriptedJudge::by(move |request, _| {
        let trajectory = request.trajectory;
        // A case's attempt has no task's number.
        let is_case = trajectory.attempt.as_str().contains("/m");
        let before = played.load(std::sync::atomic::Ordering::Relaxed);
        if is_case && before < times {
            played.store(before + 1, std::sync::atomic::Ordering::Relaxed);
            if matches!(play, Play::Hang) {
                clock.advance(JUDGE_LIMIT_MS);
            }
            return play.clone();
        }
        let outcome = trajectory.outcome.as_ref();
        Play::Give(Verdict::binary(
            outcome.is_some_and(|outcome| outcome.success),
        ))
    })));
    let mut recipe = hisme();
    recipe.select.selector = top(1);
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe, options)
            .await
            .expect("it opens");
        let events = journeyman.events();
        let report = journeyman.learn(tasks(18)).await.expect("it learns");
        let mut attempts = report.tasks.iter().flat_map(|task| &task.attempts);
        assert_eq!(report.tasks.len(), 18);
        assert!(attempts.all(|attempt| attempt.success == Some(true)));
        let library = journeyman.library().await.expect("a library");
        let entries = library.entries().map(|entry| entry.skill.state);
        drop(journeyman);
        let events: Vec<Event> = events.collect().await;
        let given_up = events.iter().filter(|event| {
            matches!(&event.kind, EventKind::Refused { reason, .. }
                if reason.contains(": playing its bundle could not be done in 3 maintenances"))
        });
        (entries.collect(), given_up.count())
    })
}

#[test]
fn a_judge_that_fails_in_a_case_says_nothing_of_the_skill() {
    let states = |error, times| with_judge_of_cases(Play::Fail(error), times);
    let error = || Error::new(ErrorKind::Unavailable, "scripted", "out of order");
    // What may go well another time is played again.
    assert_eq!(states(error().temporary(), 4), (vec![State::Active; 3], 0));
    // What can never be judged decides nothing; live attempts release the skills instead.
    assert_eq!(states(error(), usize::MAX), (vec![State::Active; 3], 0));
}

#[test]
fn a_judge_that_hangs_in_a_case_is_given_up_and_says_nothing_of_the_skill() {
    // Another time it answers.
    assert_eq!(
        with_judge_of_cases(Play::Hang, 4),
        (vec![State::Active; 3], 0)
    );
    // Each bundle is played in three maintenances, and decides nothing.
    assert_eq!(
        with_judge_of_cases(Play::Hang, usize::MAX),
        (vec![State::Trial; 3], 3)
    );
}

#[test]
fn what_was_done_alike_without_a_skill_speaks_for_it() {
    let states = |selector: Nothing| {
        let mut recipe = hisme();
        recipe.select.selector = selector.into();
        recipe.credit.attribute = Attribute::Never;
        let (_, library, ..) = learn_with(recipe, Script::default(), 6);
        let states = library.entries().map(|entry| entry.skill.state);
        states.collect::<Vec<_>>()
    };
    // The second task of each kind comes to the same skill, which it was not given.
    assert_eq!(states(Nothing), [State::Active; 3]);
}

#[test]
fn what_a_run_disabled_comes_back_when_other_tasks_come_to_it() {
    let check = |revive, expect| {
        assert_eq!(come_back(revive), expect);
    };
    // The attempts at both tasks speak for it, and its counts begin anew.
    check(true, [(2, State::Active); 2]);
    check(false, [(1, State::Disabled); 2]);
}

/// Versions and states of two skills that a run disabled, after attempts at other tasks came to the same skills.
fn come_back(revive: bool) -> [(u64, State); 2] {
    let disabled = || {
        let mut recipe = hisme();
        recipe.admit.revive = revive;
        let mut policy = MicroPolicy::default();
        policy.bundles = Some(BundlePolicy::default());
        policy.filter = Some(FilterPolicy::new(n32(1), 1));
        recipe.maintenance = micro_alone(policy);
        recipe
    };
    let (components, _) = parts(Script {
        attribute: "harmful: it was refused",
        ..Script::default()
    });
    let learn = |session: &str, recipe: Recipe, tasks: Vec<Task>| {
        let options = Options::new(session, Seed(7));
        block_on(async {
            let journeyman = Journeyman::open(components.clone(), recipe, options).await;
            let journeyman = journeyman.expect("it opens");
            journeyman.learn(tasks).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            let skills = library.entries().map(|entry| entry.skill.clone());
            (journeyman, skills.collect::<Vec<_>>())
        })
    };
    let (journeyman, skills) = learn("harm", disabled(), tasks(6));
    assert_eq!(skills.len(), 3);
    assert!(skills.iter().all(|skill| skill.state == State::Disabled));
    // The host takes one of them out of use itself.
    let mine = skills[0].id.clone();
    let library = block_on(journeyman.library()).expect("a library");
    let by_hand = Commit::new(
        library.revision(),
        CommitKey::new("by hand"),
        Cause::new("by hand"),
        vec![LibraryChange::SetState {
            skill: mine.clone(),
            state: State::Disabled,
            reason: "by hand".to_owned(),
        }],
    );
    let store = components.store.clone().expect("a store");
    block_on(store.commit(&by_hand)).expect("it is committed");
    let (_, skills) = learn("again", disabled(), tasks(9).split_off(6));
    let by_hand = |skill: &&Skill| skill.id == mine;
    let of_host: Vec<_> = skills.iter().filter(by_hand).collect();
    assert_eq!(
        (of_host[0].version.0, of_host[0].state),
        (1, State::Disabled)
    );
    let others = skills.iter().filter(|skill| !by_hand(skill));
    let others: Vec<_> = others.map(|skill| (skill.version.0, skill.state)).collect();
    others.try_into().expect("two skills")
}

/// A recipe in which nothing but the judgements decides about a skill.
fn judged_alone(filter: Option<FilterPolicy>) -> Recipe {
    let mut recipe = hisme();
    recipe.select.selector = top(1);
    recipe.admit.initial_state = State::Active;
    let mut policy = MicroPolicy::default();
    policy.filter = filter;
    recipe.maintenance = micro_alone(policy);
    recipe
}

fn one_harm_against_one_help() -> FilterPolicy {
    FilterPolicy::new(n32(1), 1)
}

/// How many of the three skills are disabled under a filter after two batches of three tasks each: the first writes the
/// skills, the second judges each once. Two more batches judge each helpful twice first, where it `helped`.
fn disabled_by(filter: Option<FilterPolicy>, helped: bool, judged: &'static str) -> usize {
    let (helping, _) = parts(Script::default());
    let (mut judging, _) = parts(Script {
        attribute: judged,
        ..Script::default()
    });
    judging.store = helping.store.clone();
    let recipe = judged_alone(filter);
    let first = if helped { 9 } else { 3 };
    let sessions = [
        ("write", helping, tasks(first)),
        ("judge", judging, tasks(first + 3).split_off(first)),
    ];
    let mut states = Vec::new();
    for (session, components, tasks) in sessions {
        states = block_on(async {
            let options = Options::new(session, Seed(7));
            let journeyman = Journeyman::open(components, recipe.clone(), options).await;
            let journeyman = journeyman.expect("it opens");
            journeyman.learn(tasks).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            let states = library.entries().map(|entry| entry.skill.state);
            states.collect::<Vec<_>>()
        });
    }
    assert_eq!(states.len(), 3);
    states.retain(|state| *state == State::Disabled);
    states.len()
}

#[test]
fn harmful_skills_are_disabled_unless_helpful_ones_protect_them() {
    let filter = |helpful| Some(FilterPolicy::new(n32(1), helpful));
    let (harmful, helpful) = ("harmful: it was refused", "helpful: it was followed");
    assert_eq!(disabled_by(filter(1), false, harmful), 3);
    // Two helpful judgements protect up to a threshold of two, and not at three.
    assert_eq!(disabled_by(filter(1), true, harmful), 0);
    assert_eq!(disabled_by(filter(2), true, harmful), 0);
    assert_eq!(disabled_by(filter(3), true, harmful), 3);
    // Neither without a filter nor without a harmful judgement is anything disabled.
    assert_eq!(disabled_by(None, false, harmful), 0);
    assert_eq!(disabled_by(filter(1), false, helpful), 0);
}

/// A store in which a person quarantines a skill right before the first commit that disables it.
#[derive(Debug)]
struct PersonFirst {
    inner: std::sync::Arc<dyn SkillStore>,
    spoken: Mutex<Option<journeyman::SkillId>>,
}

#[async_trait]
impl SkillStore for PersonFirst {
    async fn load(&self) -> Result<Snapshot> {
        self.inner.load().await
    }

    async fn since(&self, revision: Revision) -> Result<Vec<Committed>> {
        self.inner.since(revision).await
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        let disabled = commit.changes.iter().find_map(|change| match change {
            LibraryChange::SetState { skill, .. } => Some(skill.clone()),
            _ => None,
        });
        let first = {
            let mut spoken = self.spoken.lock().unwrap();
            match (&*spoken, disabled) {
                (None, Some(skill)) => {
                    *spoken = Some(skill.clone());
                    Some(skill)
                }
                _ => None,
            }
        };
        if let Some(skill) = first {
            let word = LibraryChange::SetState {
                skill,
                state: State::Quarantined,
                reason: "let me read it".to_owned(),
            };
            let theirs = sample::commit(commit.base.0, "a person", vec![word]);
            self.inner.commit(&theirs).await?;
        }
        self.inner.commit(commit).await
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

#[test]
fn a_persons_word_that_comes_between_outlasts_what_maintenance_decided() {
    let (helping, _) = parts(Script::default());
    let (mut judging, _) = parts(Script {
        attribute: "harmful: it was refused",
        ..Script::default()
    });
    let store = std::sync::Arc::new(PersonFirst {
        inner: helping.store.clone().expect("a store"),
        spoken: Mutex::default(),
    });
    judging.store = Some(store.clone());
    let recipe = judged_alone(Some(one_harm_against_one_help()));
    block_on(async {
        let options = Options::new("write", Seed(7));
        let journeyman = Journeyman::open(helping, recipe.clone(), options).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.learn(tasks(3)).await.expect("it learns");
        let options = Options::new("judge", Seed(7));
        let journal = judging.journal.clone();
        let journeyman = Journeyman::open(judging, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let events = journeyman.events();
        let report = journeyman
            .learn(tasks(6).split_off(3))
            .await
            .expect("it learns");
        let library = journeyman.library().await.expect("a library");
        drop(journeyman);
        let first = store.spoken.lock().unwrap().clone().expect("a skill");
        for entry in library.entries() {
            let expect = match entry.skill.id == first {
                true => State::Quarantined,
                false => State::Disabled,
            };
            assert_eq!(entry.skill.state, expect, "{}", entry.skill.name);
            assert_eq!(entry.is_out_by_host(), entry.skill.id == first);
        }
        let events: Vec<_> = events.collect().await;
        let told = events.iter().any(|event| {
            matches!(&event.kind, EventKind::Refused { reason }
                if reason.contains("a person, has decided about it meanwhile"))
        });
        assert!(told, "{events:?}");
        // What the journal has of the run gives the same.
        let entries = journal.expect("a journal").read(&report.run).await;
        let entries = entries.expect("entries");
        let machine = replay(&entries, &journeyman::policy::Policies::new()).expect("a replay");
        assert_eq!(bytes(machine.library()), bytes(&library));
    });
}

#[test]
fn a_skill_that_helped_too_stays_and_one_that_harmed_alone_goes() {
    let (components, _) = parts(Script::default());
    let (mut harming, _) = parts(Script {
        attribute: "harmful: it was refused",
        ..Script::default()
    });
    harming.store = components.store.clone();
    let recipe = judged_alone(Some(one_harm_against_one_help()));
    let learn = |session: &str, components: Components, tasks: Vec<Task>| {
        block_on(async {
            let options = Options::new(session, Seed(7));
            let journeyman = Journeyman::open(components, recipe.clone(), options).await;
            let journeyman = journeyman.expect("it opens");
            journeyman.learn(tasks).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            let told = library.entries().map(|entry| {
                let counts = entry.life.counts(entry.skill.version);
                let name = entry.skill.name.to_string();
                (name, counts.helpful, counts.harmful, entry.skill.state)
            });
            let mut told: Vec<_> = told.collect();
            told.sort_by(|one, other| one.0.cmp(&other.0));
            told
        })
    };
    // Three at once, and a fourth that has what came of them.
    let one_kind = tasks(12).into_iter().step_by(3).collect();
    let name = |words: &str| format!("skill-{words}");
    assert_eq!(
        learn("helped", components, one_kind),
        [(name("one-two"), 1, 0, State::Active)]
    );
    assert_eq!(
        learn("harmed", harming, tasks(18).split_off(12)),
        [
            (name("one-two"), 1, 4, State::Active),
            (name("three-one"), 0, 1, State::Disabled),
            (name("two-three"), 0, 1, State::Disabled),
        ]
    );
}
