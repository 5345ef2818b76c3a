//! When a run asks a host's own policies, and what it does with the answers: the rules of their traits that bind the run.

use journeyman::{
    Version,
    contract::TurnContext,
    domain::{Selection, SkillDraft, TurnQuery},
    policy::{
        AdmitRule, Ask, JudgedAttempt, MaintenanceProgram, Policies, Policy, RewardRule,
        SelectProgram, View, WriteGroup, WriteProgram, Written,
    },
};

use super::*;

/// Notes of the calls of a policy.
#[derive(Clone, Debug, Default)]
struct Calls(Arc<Mutex<Vec<String>>>);

impl Calls {
    /// Notes a call, and gives its number.
    fn note(&self, call: impl Into<String>) -> usize {
        let mut calls = self.0.lock().unwrap();
        calls.push(call.into());
        calls.len() - 1
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// What a selector does from its second call on, and a writer at each.
#[derive(Clone, Copy, Debug)]
enum Later {
    Decides,
    Fails,
    ChoosesElsewhere,
    Panics,
    NeverEnds,
}

impl Later {
    async fn begins(self, ask: &mut Ask) -> Result<()> {
        match self {
            Self::Decides | Self::ChoosesElsewhere => Ok(()),
            Self::Fails => Err(Error::invalid("Later", "it does not want to")),
            Self::Panics => panic!("a policy that panics"),
            Self::NeverEnds => loop {
                ask.embed(vec!["again".to_owned()]).await;
            },
        }
    }
}

/// Chooses the first skill.
#[derive(Debug)]
struct First(Calls, Later, usize);

#[async_trait]
impl SelectProgram for First {
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected> {
        let mut first = view.offered().next().expect("a skill").skill.reference();
        if self.0.note(&query.text) >= self.2 {
            self.1.begins(ask).await?;
            if let Later::ChoosesElsewhere = self.1 {
                first.version = Version(9);
            }
        }
        let selection = Selection::unscored(Decision::Inject {
            skills: vec![first],
            explored: false,
        });
        Ok(selection.into())
    }
}

/// A session with a selector, and skills to choose from.
async fn selecting(per: SelectPer, (later, from): (Later, usize)) -> (Journeyman, Calls) {
    let calls = Calls::default();
    let selector: Arc<dyn SelectProgram> = Arc::new(First(calls.clone(), later, from));
    let policies = Policies::new().with_selector("own", move |_| Ok(Arc::clone(&selector)));
    let mut recipe = hisme();
    recipe.select.selector = Policy::new("own");
    recipe.select.per = per;
    recipe.attempts.group = n32(3);
    recipe.write.when = WriteWhen::Never;
    let journeyman = opened(recipe, policies).await;
    let skills = vec![sample::skill("one"), sample::skill("two")];
    journeyman.add(skills, "a start").await.expect("added");
    (journeyman, calls)
}

async fn opened(recipe: Recipe, policies: Policies) -> Journeyman {
    let (components, _) = parts(Script::default());
    let options = Options::new("asked", Seed(7)).with_policies(policies);
    let opened = Journeyman::open(components, recipe, options).await;
    opened.expect("it opens")
}

/// The skills at the turns of an attempt of a host's own loop: before it begins, after a step, at the same again, after another.
async fn at_turns(journeyman: &Journeyman) -> Vec<SkillRef> {
    let task = sample::task("t", &["alpha", "beta"]);
    let mut handle = journeyman.begin(task.clone()).await.expect("it begins");
    let steps = sample::trajectory("x", &task, &["alpha", "no"], false).steps;
    let mut given = Vec::new();
    for (turn, done, seen) in [(0, 0, "go"), (1, 1, "on"), (2, 1, "on"), (3, 2, "no")] {
        let observation = sample::observation(seen);
        let context = TurnContext::new(turn, &observation, &steps[..done]);
        let injection = handle.turn(&context).await.expect("skills");
        given.extend(injection.skills.into_iter().map(|one| one.skill));
    }
    steps.into_iter().for_each(|step| handle.record(step));
    let finished = handle.finish(Some(sample::outcome(false))).await;
    finished.expect("it finishes");
    given
}

#[test]
fn a_selector_is_asked_once_for_a_group_and_once_for_each_turn() {
    block_on(async {
        let (journeyman, calls) = selecting(SelectPer::Query, (Later::Decides, 0)).await;
        let report = journeyman.learn(tasks(2)).await.expect("it learns");
        assert_eq!(report.attempts().count(), 6);
        assert!(report.attempts().all(|one| one.injected.len() == 1));
        assert_eq!(calls.all().len(), 2);

        let (journeyman, calls) = selecting(SelectPer::Turn, (Later::Decides, 0)).await;
        assert_eq!(at_turns(&journeyman).await.len(), 4);
        let calls = calls.all();
        // At the start, and where a new observation makes a new query: at turns 1 and 3, not at turn 2.
        assert_eq!(calls.len(), 3, "{calls:?}");
        let different: std::collections::BTreeSet<&String> = calls.iter().collect();
        assert_eq!(different.len(), calls.len(), "only new queries: {calls:?}");
    });
}

#[test]
fn a_selector_that_fails_at_a_later_turn_leaves_the_skills_of_the_turn_before() {
    for later in [
        Later::Fails,
        Later::ChoosesElsewhere,
        Later::Panics,
        Later::NeverEnds,
    ] {
        block_on(async {
            let (journeyman, calls) = selecting(SelectPer::Turn, (later, 1)).await;
            let given = at_turns(&journeyman).await;
            assert_eq!(given.len(), 4, "{later:?}: {given:?}");
            assert!(given.iter().all(|skill| skill.id.as_str() == "one"));
            assert_eq!(calls.all().len(), 2, "{later:?}: it is not asked again");
        });
    }
}

/// Notes the attempts that it is shown, and writes nothing.
#[derive(Debug)]
struct Shown(Calls, Later);

#[async_trait]
impl WriteProgram for Shown {
    async fn write(&self, ask: &mut Ask, _: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let shown = group.attempts.iter();
        let shown = shown.map(|one| one.trajectory.attempt.to_string());
        self.0.note(shown.collect::<Vec<_>>().join(" "));
        self.1.begins(ask).await?;
        Ok(Written::default())
    }
}

/// Rewards the attempts of a group with 0, 2 and 3, and notes whether they succeeded.
#[derive(Debug)]
struct Rising(Calls);

impl RewardRule for Rising {
    fn reward(&self, attempt: &JudgedAttempt<'_>) -> Result<Option<f64>> {
        let id = attempt.report.attempt.as_str();
        self.0
            .note(format!("{id}: {:?}", attempt.verdict.success()));
        Ok(Some(match id.rsplit('/').next() {
            Some("0") => 0.0,
            Some("1") => 2.0,
            _ => 3.0,
        }))
    }
}

/// A recipe of groups of three that names a writer and a reward rule; the calls of both.
fn rewarding(later: Later) -> (Recipe, Policies, Calls, Calls) {
    let (shown, rewarded) = (Calls::default(), Calls::default());
    let (writes, rewards) = (shown.clone(), rewarded.clone());
    let policies = Policies::new()
        .with_writer("own", move |_| Ok(Arc::new(Shown(writes.clone(), later))))
        .with_reward("own", move |_| Ok(Arc::new(Rising(rewards.clone()))));
    let mut recipe = hisme();
    recipe.attempts.group = n32(3);
    recipe.write.when = WriteWhen::Always;
    recipe.write.by = Policy::new("own");
    recipe.reward.by = Policy::new("own");
    (recipe, policies, shown, rewarded)
}

#[test]
fn a_writer_is_asked_where_a_skill_is_due_with_the_best_attempts_first() {
    block_on(async {
        let (mut recipe, policies, shown, _) = rewarding(Later::Decides);
        let journeyman = opened(recipe.clone(), policies.clone()).await;
        let run = journeyman.learn(tasks(1)).await.expect("it learns").run;
        assert_eq!(shown.all(), [format!("{run}/0/2 {run}/0/1")]);
        recipe.write.when = WriteWhen::Never;
        let journeyman = opened(recipe, policies).await;
        journeyman.learn(tasks(1)).await.expect("it learns");
        assert_eq!(shown.all().len(), 1, "it is not asked again");
    });
}

#[test]
fn a_writer_without_a_draft_writes_no_skill() {
    block_on(async {
        let (recipe, policies, shown, _) = rewarding(Later::Decides);
        let journeyman = opened(recipe, policies).await;
        let report = journeyman.learn(tasks(3)).await.expect("it learns");
        assert_eq!(shown.all().len(), 3);
        assert_eq!(report.written().count(), 0);
        let library = journeyman.library().await.expect("a library");
        assert_eq!(library.entries().count(), 0);
    });
}

#[test]
fn a_program_of_a_task_that_asks_without_end_fails_the_task() {
    let check = |error: Error| {
        let said = error.to_string();
        assert!(said.contains("more than 100000 questions"), "{said}");
    };
    block_on(async {
        let (journeyman, _) = selecting(SelectPer::Query, (Later::NeverEnds, 0)).await;
        check(journeyman.learn(tasks(1)).await.expect_err("no attempt"));
        let (recipe, policies, ..) = rewarding(Later::NeverEnds);
        let journeyman = opened(recipe, policies).await;
        check(journeyman.learn(tasks(1)).await.expect_err("no attempt"));
    });
}

#[test]
fn a_reward_rule_is_asked_about_each_attempt_with_a_verdict() {
    block_on(async {
        let (recipe, policies, _, rewarded) = rewarding(Later::Decides);
        let (mut components, _) = parts(Script::default());
        // Of three attempts one is not judged, and of another nobody can say whether it was done.
        components.judge = Some(Arc::new(ScriptedJudge::by(|request, _| {
            match request.trajectory.attempt.as_str().rsplit('/').next() {
                Some("0") => Play::Fail(Error::invalid("Judge::judge", "no verdict")),
                Some("1") => Play::Give(Verdict::undecided()),
                _ => Play::Give(Verdict::binary(true)),
            }
        })));
        let options = Options::new("asked", Seed(7)).with_policies(policies);
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let report = journeyman.learn(tasks(1)).await.expect("it learns");
        let rewards: Vec<Option<f64>> = report.attempts().map(|one| one.reward).collect();
        assert_eq!(rewards, [None, Some(2.0), Some(3.0)]);
        let [unsure, done] = &rewarded.all()[..] else {
            panic!("{rewarded:?}");
        };
        assert!(unsure.ends_with("/1: None"), "{unsure}");
        assert!(done.ends_with("/2: Some(true)"), "{done}");
    });
}

/// Archives all skills, behind every second task.
#[derive(Debug)]
struct ArchivesAll;

#[async_trait]
impl MaintenanceProgram for ArchivesAll {
    async fn maintain(&self, _: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        let entries = view.library().entries().filter(|_| view.step() % 2 == 1);
        let archived = entries.map(|entry| LibraryChange::SetState {
            skill: entry.skill.id.clone(),
            state: State::Archived,
            reason: "by hand".to_owned(),
        });
        Ok(archived.collect())
    }
}

#[test]
fn the_changes_of_a_program_are_one_commit_and_none_are_no_commit() {
    let program: Arc<dyn MaintenanceProgram> = Arc::new(ArchivesAll);
    let policies = Policies::new().with_program("own", move |_| Ok(Arc::clone(&program)));
    let mut recipe = super::super::recipe().with_program(n64(1), Policy::new("own"));
    recipe.write.when = WriteWhen::Never;
    block_on(async {
        let components = components();
        let store = components.store.clone().expect("a store");
        let options = Options::new("asked", Seed(7)).with_policies(policies);
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let skills = vec![sample::skill("one"), sample::skill("two")];
        journeyman.add(skills, "a start").await.expect("added");
        journeyman.learn(tasks(4)).await.expect("it learns");
        let committed = store.load().await.expect("commits").committed;
        let own = committed
            .iter()
            .filter(|commit| commit.cause.reason.contains("host's own"));
        let states = own.map(|commit| {
            let changes = commit.changes.iter();
            let set = changes.filter(|one| matches!(one, LibraryChange::SetState { .. }));
            set.count()
        });
        let states: Vec<usize> = states.collect();
        assert_eq!(states, [2, 2], "behind the second and the fourth task");
    });
}

/// Refuses everything that it is asked about.
#[derive(Debug)]
struct RefusesAll(Calls);

impl AdmitRule for RefusesAll {
    fn admit(&self, _: &SkillLibrary, skill: &Skill) -> Result<()> {
        self.0.note(skill.name.as_str());
        Err(Error::invalid("RefusesAll", "nothing comes in"))
    }
}

/// Writes a draft that no file can hold.
#[derive(Debug)]
struct Undescribed;

#[async_trait]
impl WriteProgram for Undescribed {
    async fn write(&self, _: &mut Ask, _: &View, _: &WriteGroup<'_>) -> Result<Written> {
        Ok(vec![SkillDraft::new("undescribed", "", "Say it.")].into())
    }
}

/// Brings back the first version of a skill, and a skill that was deleted.
#[derive(Debug)]
struct BringsBack;

#[async_trait]
impl MaintenanceProgram for BringsBack {
    async fn maintain(&self, _: &mut Ask, _: &View) -> Result<Vec<LibraryChange>> {
        let (skill, reason) = ("one".into(), "it was better".to_owned());
        let restored = LibraryChange::Restore {
            skill: "gone".into(),
            reason: reason.clone(),
        };
        let to = Version(1);
        Ok(vec![
            LibraryChange::RollBack { skill, to, reason },
            restored,
        ])
    }
}

#[test]
fn an_admission_rule_is_asked_last_and_not_about_what_was_let_in_before() {
    let calls = Calls::default();
    let asked = calls.clone();
    let policies = Policies::new()
        .with_writer("own", |_| Ok(Arc::new(Undescribed)))
        .with_program("own", |_| Ok(Arc::new(BringsBack)))
        .with_admission("own", move |_| Ok(Arc::new(RefusesAll(asked.clone()))));
    let mut recipe = super::super::recipe().with_program(n64(1), Policy::new("own"));
    recipe.write.by = Policy::new("own");
    recipe.admit.rules = vec![Policy::new("own")];
    block_on(async {
        let journeyman = opened(recipe, policies).await;
        let first = sample::skill("one");
        let second = first.clone().with_version(2).with_body("Worse.");
        for skill in [first.clone(), second] {
            journeyman.add(vec![skill], "a start").await.expect("added");
        }
        let report = journeyman.learn(tasks(1)).await.expect("it learns");
        // What the recipe's own admission refuses is not asked about, nor what comes back.
        let written: Vec<_> = report.written().collect();
        assert!(!written.is_empty() && written.iter().all(|one| one.refused.is_some()));
        assert_eq!(calls.all(), [""; 0]);
        let library = journeyman.library().await.expect("a library");
        let entry = library.get(&first.id).expect("it is there");
        assert_eq!(
            (entry.skill.version, &entry.skill.body),
            (Version(3), &first.body)
        );
    });
}
