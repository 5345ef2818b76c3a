//! Merged skills that begin on trial beside their sources, where skills are released by proof.

use std::ops::Range;

use journeyman::{
    ModelId, SkillId,
    domain::Withhold,
    policy::{Ask, MaintenanceProgram, View},
    recipe::ScheduledProgram,
    stations::proof::{ComparePolicy, Conclusion},
};

use super::{
    proven::{With, proving, session_by, state, waits_since},
    *,
};

/// A program that merges skills once, when so many attempts are kept.
#[derive(Clone, Copy, Debug)]
struct Merges {
    /// The id of the merged skill.
    into: &'static str,
    sources: &'static [&'static str],
    /// The description of the merged skill, by which it is found.
    description: &'static str,
    after: usize,
    /// The state that the program gives the merged skill.
    state: State,
}

const TWO: Merges = Merges {
    into: "all",
    sources: &["taps", "cakes"],
    description: "How to do taps and cakes.",
    after: 8,
    state: State::Active,
};

#[async_trait]
impl MaintenanceProgram for Merges {
    async fn maintain(&self, _: &mut Ask, view: &View) -> journeyman::Result<Vec<LibraryChange>> {
        let library = view.library();
        let is_made = library.get(&SkillId::new(self.into)).is_some();
        if is_made || library.traces().count() < self.after {
            return Ok(Vec::new());
        }
        let skill = sample::skill(self.into)
            .with_description(self.description.to_owned())
            .with_state(self.state);
        Ok(vec![LibraryChange::Merge {
            skill: Box::new(skill),
            sources: self.sources.iter().map(|id| SkillId::new(*id)).collect(),
            beside: false,
        }])
    }
}

/// An agent that does every second task of a kind with the skill of that name, and with the skill `all` the tasks of these kinds.
fn agent(does: fn(&str) -> bool) -> ScriptedExecutor {
    ScriptedExecutor::acting(move |attempt: &Attempt<'_>, steps: &[Step]| {
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let (kind, number) = attempt.task.id.as_str().rsplit_once('-').expect("numbered");
        let number: u64 = number.parse().expect("a number");
        let has = |name: &str| {
            let mut skills = attempt.injection.skills.iter();
            skills.any(|had| had.skill.id.as_str() == name)
        };
        let knows = match has("all") {
            true => does(kind),
            false => has(kind) && number.is_multiple_of(2),
        };
        Play::Give(match (knows, words.get(steps.len())) {
            (true, Some(word)) => Some(Action::Message(word.clone())),
            _ => None,
        })
    })
}

/// Tasks of these kinds in turn.
fn mixed(kinds: &[&str], numbers: Range<usize>) -> Vec<Task> {
    let task = |number: usize| {
        let kind = kinds[number % kinds.len()];
        let id = format!("{kind}-{}", number / kinds.len());
        let mut task = sample::task(&id, &["one", "two"]);
        kind.clone_into(&mut task.instruction);
        task
    };
    numbers.map(task).collect()
}

/// A session with three skills in use, some of which are merged, and proofs each four tasks.
async fn session(merges: Merges, does: fn(&str) -> bool) -> Journeyman {
    session_with(proving(4), &[merges], does).await
}

async fn session_with(
    mut recipe: Recipe,
    all_merges: &[Merges],
    does: fn(&str) -> bool,
) -> Journeyman {
    let mut parts = components();
    parts.executor = Some(Arc::new(agent(does)));
    let mut options = Options::new("test", Seed(7));
    for (place, merges) in all_merges.iter().copied().enumerate() {
        let name = format!("merges-{}", merges.into);
        let own = ScheduledProgram::new(n64(4), Policy::new(name.as_str()));
        recipe.maintenance.programs.insert(place, own);
        let policies = options.policies;
        options.policies = policies.with_program(name, move |_| Ok(Arc::new(merges)));
    }
    let opened = Journeyman::open(parts, recipe, options).await;
    let journeyman = opened.expect("it opens");
    let skills = ["taps", "cakes", "letters"].map(sample::skill);
    let added = journeyman.add(skills.into(), "a start").await;
    added.expect("added");
    journeyman
}

/// The states of the merged skill and of its sources after these tasks.
async fn learned(journeyman: &Journeyman, tasks: Vec<Task>) -> (SkillLibrary, [State; 3]) {
    journeyman.learn(tasks).await.expect("it learns");
    let library = journeyman.library().await.expect("read");
    let states = ["all", "taps", "cakes"].map(|name| state(&library, name));
    (library, states)
}

/// The skills with which an evaluation attempts a task of `taps` and one of `cakes`.
async fn injected(journeyman: &Journeyman) -> Vec<String> {
    let tasks = mixed(&["taps", "cakes"], 0..2);
    let report = journeyman.evaluate(tasks).await.expect("evaluated");
    let attempts = report.tasks.iter().flat_map(|task| &task.attempts);
    let skills = attempts.flat_map(|attempt| &attempt.injected);
    skills.map(|skill| skill.id.to_string()).collect()
}

/// Why a skill has the states that it came to.
fn reasons(events: Events, of: &str) -> Vec<String> {
    let events = told(events).into_iter();
    let reasons = events.filter_map(|event| match event.kind {
        EventKind::StateChanged { skill, reason, .. } if skill.as_str() == of => Some(reason),
        _ => None,
    });
    reasons.collect()
}

/// The number of sources that each pair of the merged skill was compared with.
fn sources_of_pairs(library: &SkillLibrary) -> Vec<usize> {
    let entry = library.get(&SkillId::new("all")).expect("there");
    let pairs = entry.life.pairs(entry.skill.version);
    pairs.map(|pair| pair.sources.len()).collect()
}

/// Whether something was refused for a reason with this text.
fn is_refused(events: Events, why: &str) -> bool {
    let mut events = told(events).into_iter();
    events.any(|event| match event.kind {
        EventKind::Refused { reason } => reason.contains(why),
        _ => false,
    })
}

#[test]
fn a_merge_is_on_trial_beside_its_sources_until_it_is_proven_against_them() {
    block_on(async {
        let journeyman = session(TWO, |_| true).await;
        let events = journeyman.events();
        let kinds = ["taps", "cakes"];
        // Four wins at eight tasks are no proof.
        let (_, states) = learned(&journeyman, mixed(&kinds, 0..8)).await;
        assert_eq!(states, [State::Trial, State::Active, State::Active]);
        assert_eq!(injected(&journeyman).await, ["taps", "cakes"]);

        let (library, states) = learned(&journeyman, mixed(&kinds, 8..16)).await;
        assert_eq!(states, [State::Active, State::Archived, State::Archived]);
        assert_eq!(injected(&journeyman).await, ["all", "all"]);
        // The first attempts had one source, and the later ones the merged skill alone.
        assert_eq!(sources_of_pairs(&library), [[1; 8], [2; 8]].concat());
        let reasons = reasons(events, "taps");
        assert_eq!(reasons, ["it was merged into all, which is in use now"]);
    });
}

#[test]
fn a_skill_that_is_compared_with_a_merge_or_gave_way_to_it_is_not_merged_again() {
    block_on(async {
        let again = Merges {
            into: "again",
            sources: &["taps", "letters"],
            description: "How to do taps and letters.",
            ..TWO
        };
        let journeyman = session_with(proving(4), &[TWO, again], |_| true).await;
        let events = journeyman.events();
        let kinds = ["taps", "cakes"];
        let (library, states) = learned(&journeyman, mixed(&kinds, 0..8)).await;
        assert_eq!(states, [State::Trial, State::Active, State::Active]);
        assert!(library.get(&SkillId::new("again")).is_none());
        assert!(is_refused(events, "taps was merged into all, which is not"));
        let (_, states) = learned(&journeyman, mixed(&kinds, 8..16)).await;
        assert_eq!(states, [State::Active, State::Archived, State::Archived]);
        // What gave way comes back where that merge is taken back, so that it is merged into nothing else.
        let events = journeyman.events();
        let (library, states) = learned(&journeyman, mixed(&kinds, 16..24)).await;
        assert_eq!(states, [State::Active, State::Archived, State::Archived]);
        assert!(library.get(&SkillId::new("again")).is_none());
        let taps = library.get(&SkillId::new("taps")).expect("there");
        let into = taps.merged.as_ref().map(|merged| merged.into.as_str());
        assert_eq!(into, Some("all"));
        assert!(is_refused(events, "taps was merged into all, and gave way"));
    });
}

#[test]
fn a_skill_whose_merge_did_worse_is_merged_again() {
    block_on(async {
        let again = Merges {
            into: "again",
            sources: &["taps", "letters"],
            description: "How to do taps and letters.",
            ..TWO
        };
        let journeyman = session_with(proving(4), &[TWO, again], |_| false).await;
        let kinds = ["taps", "cakes"];
        let (library, states) = learned(&journeyman, mixed(&kinds, 0..8)).await;
        assert_eq!(states, [State::Trial, State::Active, State::Active]);
        assert!(library.get(&SkillId::new("again")).is_none());
        let (library, states) = learned(&journeyman, mixed(&kinds, 8..24)).await;
        assert_eq!(states, [State::Disabled, State::Active, State::Active]);
        assert!(library.get(&SkillId::new("again")).is_some());
    });
}

#[test]
fn what_is_merged_into_a_skill_in_quarantine_stays_in_use() {
    block_on(async {
        let merges = Merges {
            state: State::Quarantined,
            ..TWO
        };
        let journeyman = session(merges, |_| true).await;
        let kinds = ["taps", "cakes"];
        let (_, states) = learned(&journeyman, mixed(&kinds, 0..8)).await;
        assert_eq!(states, [State::Quarantined, State::Active, State::Active]);
        assert_eq!(injected(&journeyman).await, ["taps", "cakes"]);
    });
}

#[test]
fn what_gave_way_to_a_merge_is_not_told_again_when_the_merge_is_released_again() {
    block_on(async {
        let journeyman = session(TWO, |_| true).await;
        let events = journeyman.events();
        let kinds = ["taps", "cakes"];
        let released = [State::Active, State::Archived, State::Archived];
        let (_, states) = learned(&journeyman, mixed(&kinds, 0..16)).await;
        assert_eq!(states, released);
        let all = SkillId::new("all");
        let again = journeyman.set_state(&all, State::Trial, "once more");
        again.await.expect("set");
        let (_, states) = learned(&journeyman, mixed(&kinds, 16..40)).await;
        assert_eq!(states, released);
        let reasons = reasons(events, "taps");
        assert_eq!(reasons, ["it was merged into all, which is in use now"]);
    });
}

#[test]
fn a_merge_that_does_worse_is_taken_back_and_can_be_tried_against_its_sources_again() {
    block_on(async {
        let journeyman = session(TWO, |_| false).await;
        let events = journeyman.events();
        let kinds = ["taps", "cakes"];
        let taken_back = [State::Disabled, State::Active, State::Active];
        let (_, states) = learned(&journeyman, mixed(&kinds, 0..16)).await;
        assert_eq!(states, taken_back);
        assert_eq!(injected(&journeyman).await, ["taps", "cakes"]);
        let reasons = reasons(events, "all");
        assert!(
            reasons[0].contains("with what it was merged from and with it"),
            "{reasons:?}"
        );

        let all = SkillId::new("all");
        let again = journeyman.set_state(&all, State::Trial, "once more");
        again.await.expect("set");
        let library = journeyman.library().await.expect("read");
        assert!(sources_of_pairs(&library).is_empty());
        let (library, states) = learned(&journeyman, mixed(&kinds, 16..24)).await;
        assert_eq!(states, taken_back);
        let sources = sources_of_pairs(&library);
        assert!(sources.len() >= 8 && !sources.contains(&0), "{sources:?}");
    });
}

#[test]
fn a_merge_that_breaks_a_neighbour_is_taken_back_with_its_task() {
    block_on(async {
        let merges = Merges {
            description: "How to do taps, cakes and letters.",
            after: 12,
            ..TWO
        };
        let journeyman = session(merges, |kind| kind != "letters").await;
        let events = journeyman.events();
        let kinds = ["taps", "cakes", "letters"];
        let (_, states) = learned(&journeyman, mixed(&kinds, 0..24)).await;
        assert_eq!(states, [State::Disabled, State::Active, State::Active]);
        let reasons = reasons(events, "all");
        let why = "would break letters-2, which is done with letters and not with it";
        assert!(reasons[0].contains(why), "{reasons:?}");
    });
}

#[test]
fn a_merge_that_a_certificate_takes_back_for_a_neighbour_says_so() {
    block_on(async {
        let merges = Merges {
            description: "How to do taps, cakes and letters.",
            after: 12,
            ..TWO
        };
        let does = |kind: &str| kind != "letters";
        // No proof is due while it learns.
        let journeyman = session_with(proving(1_000), &[merges], does).await;
        let kinds = ["taps", "cakes", "letters"];
        let (_, states) = learned(&journeyman, mixed(&kinds, 0..36)).await;
        assert_eq!(states, [State::Trial, State::Active, State::Active]);
        let certificate = journeyman.certify(ComparePolicy::default()).await;
        let certificate = certificate.expect("it is compared");
        let mut skills = certificate.skills.iter();
        let all = skills.find(|one| one.name.as_str() == "all");
        let all = all.expect("it is there");
        assert_eq!(all.conclusion, Conclusion::Better, "{all:?}");
        let waits = all.waits.as_deref().expect("it is said");
        for part in ["would break letters-", "it is disabled"] {
            assert!(waits.contains(part), "{waits}");
        }
        let library = journeyman.library().await.expect("read");
        let states = ["all", "taps", "cakes"].map(|name| state(&library, name));
        assert_eq!(states, [State::Disabled, State::Active, State::Active]);
    });
}

#[test]
fn a_merge_that_would_not_be_chosen_where_its_source_is_is_taken_back() {
    block_on(async {
        let merges = Merges {
            sources: &["taps", "cakes", "letters"],
            after: 12,
            ..TWO
        };
        let journeyman = session(merges, |_| true).await;
        let events = journeyman.events();
        let kinds = ["taps", "cakes", "letters"];
        let (library, states) = learned(&journeyman, mixed(&kinds, 0..24)).await;
        assert_eq!(states, [State::Disabled, State::Active, State::Active]);
        assert_eq!(state(&library, "letters"), State::Active);
        let reasons = reasons(events, "all");
        let why = "which is done with letters and not with what would be chosen in its place";
        assert!(reasons[0].contains(why), "{reasons:?}");
    });
}

#[test]
fn a_merge_that_one_model_released_takes_nothing_from_another_and_is_proven_against_its_sources_there()
 {
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let [taps, cakes] = ["taps", "cakes"].map(sample::skill);
        let merged = sample::skill("all")
            .with_description(TWO.description.to_owned())
            .with_state(State::Trial);
        let changes = vec![
            LibraryChange::Add(Box::new(taps.clone())),
            LibraryChange::Add(Box::new(cakes.clone())),
            LibraryChange::Merge {
                skill: Box::new(merged.clone()),
                sources: vec![taps.id, cakes.id],
                beside: true,
            },
            LibraryChange::Release {
                skill: merged.reference(),
                reason: "it is proven".to_owned(),
                from_quarantine: false,
            },
            LibraryChange::Prove {
                skill: merged.reference(),
                model: ModelId::new("first"),
                helps: true,
            },
        ];
        let commit = sample::commit(0, "key", changes);
        store.commit(&commit).await.expect("committed");
        let first = session_by(&store, With::model("first"), "one").await;
        assert_eq!(injected(&first).await, ["all", "all"]);
        let with_all = With::acting("second", agent(|_| true));
        let second = session_by(&store, with_all, "two").await;
        assert_eq!(injected(&second).await, ["taps", "cakes"]);
        let (library, states) = learned(&second, mixed(&["taps", "cakes"], 0..40)).await;
        assert_eq!(states, [State::Active, State::Archived, State::Archived]);
        let sources = sources_of_pairs(&library);
        assert!(
            !sources.is_empty() && sources.iter().all(|count| *count == 2),
            "{sources:?}"
        );
        let all = library.get(&SkillId::new("all")).expect("there");
        let proven = all.life.proven(all.skill.version, &ModelId::new("second"));
        assert_eq!(proven, Some(true), "{sources:?}");
        assert_eq!(injected(&second).await, ["all", "all"]);
    });
}

#[test]
fn where_nothing_can_be_attempted_again_a_merge_stays_beside_its_sources() {
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let [first, second] = ["x-first", "x-second"].map(sample::skill);
        let merged = sample::skill("all").with_state(State::Trial);
        let changes = vec![
            LibraryChange::Add(Box::new(first.clone())),
            LibraryChange::Add(Box::new(second.clone())),
            LibraryChange::Merge {
                skill: Box::new(merged.clone()),
                sources: vec![first.id, second.id],
                beside: true,
            },
        ];
        let commit = sample::commit(0, "key", changes);
        store.commit(&commit).await.expect("committed");
        let mut parts = own_loop();
        parts.store = Some(store);
        let mut recipe = proving(4);
        recipe.select.withhold = Some(Withhold::new(0.5));
        let opened = Journeyman::open(parts, recipe, Options::new("test", Seed(7))).await;
        let journeyman = opened.expect("it opens");
        let events = journeyman.events();
        for number in 0..60 {
            let task = sample::task(&format!("task-{number}"), &["one", "two"]);
            let attempt = journeyman.begin(task).await.expect("begun");
            let mut given = attempt.injection().skills.iter();
            let has = given.any(|had| had.skill == merged.reference());
            let finished = attempt.finish(sample::outcome(has)).await;
            finished.expect("finished");
        }
        let library = journeyman.library().await.expect("read");
        let states = ["all", "x-first", "x-second"].map(|name| state(&library, name));
        assert_eq!(states, [State::Trial, State::Active, State::Active]);
        assert!(waits_since(&told(events), "cannot be told here"));
    });
}
