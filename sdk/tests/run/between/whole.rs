//! A refiner that may change all of a skill and archive it (HiSME 3.3, algorithm 4).

use journeyman::{
    contract::{GenerateRequest, RoleRequest, RoleTask, Roles},
    domain::{Kind, Scope, SkillDraft, ToolDefinition, Trust},
    library::format::SkillMd,
};

use super::*;

/// Roles of which the refiner gives this answer, whatever the model writes.
#[derive(Debug)]
struct Refiner(RoleAnswer);

impl Roles for Refiner {
    fn prompt(&self, request: &RoleRequest<'_>) -> Result<GenerateRequest> {
        ScriptedRoles::default().prompt(request)
    }

    fn read(&self, request: &RoleRequest<'_>, text: &str) -> Result<RoleAnswer> {
        match request.task {
            RoleTask::Refine { .. } => Ok(self.0.clone()),
            _ => ScriptedRoles::default().read(request, text),
        }
    }

    fn fallback(&self, _: &RoleTask) -> Option<RoleAnswer> {
        None
    }
}

/// The skill that is refined: it says a word too many.
fn before() -> Skill {
    let mut skill = sample::skill("saying");
    skill.body = "say: oops one two".to_owned();
    skill.trigger = Some("words are due".to_owned());
    skill.allowed_tools = vec!["bell".to_owned(), "drum".to_owned()];
    skill
}

/// Another skill in all that a draft has.
fn draft() -> SkillDraft {
    let mut draft = SkillDraft::new("Speak in Order", "How to speak.", "say: one two");
    draft.kind = Kind::Knowledge;
    draft.scope = Scope::Category("stage".into());
    draft.trigger = Some("somebody listens".to_owned());
    draft
}

fn revision(draft: SkillDraft, tools: &[&str]) -> RoleAnswer {
    RoleAnswer::Revision {
        draft: Box::new(draft),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
    }
}

fn drafted(draft: SkillDraft) -> RoleAnswer {
    RoleAnswer::Draft(Box::new(draft))
}

/// What came of a skill that harmed three attempts at one task on a stage.
struct Came {
    library: SkillLibrary,
    events: Vec<Event>,
    asked: usize,
}

impl Came {
    fn skill(&self) -> &Skill {
        &self.library.get(&before().id).expect("the skill").skill
    }

    /// Whether an event says this of what was refused.
    fn refuses(&self, part: &str) -> bool {
        self.events.iter().any(|event| {
            matches!(&event.kind, EventKind::Refused { reason } if reason.starts_with("saying: ")
                && reason.contains(part))
        })
    }
}

struct Stage {
    policy: RefinePolicy,
    filter: Option<FilterPolicy>,
    beside: Vec<Skill>,
    trust: Trust,
    /// How often three tasks are learned from.
    rounds: usize,
}

impl Default for Stage {
    fn default() -> Self {
        let mut policy = RefinePolicy::default();
        policy.whole = true;
        Self {
            policy,
            filter: None,
            beside: Vec::new(),
            trust: Trust::Trusted,
            rounds: 1,
        }
    }
}

impl Stage {
    fn ours() -> Self {
        Self {
            policy: RefinePolicy::default(),
            ..Self::default()
        }
    }

    fn play(self, answer: RoleAnswer) -> Came {
        let (mut components, prompts) = parts(Script {
            attribute: "harmful: it was refused",
            ..Script::default()
        });
        components.roles = Some(Arc::new(Refiner(answer)));
        let trust = self.trust;
        let world = ScriptedEnvironment::words().beginning(move |task, _| {
            let mut seen = sample::observation(&task.instruction);
            seen.source = sample::source(trust);
            seen.tools = vec![ToolDefinition::new("gong", "Rings.", serde_json::json!({}))];
            Play::Give(seen)
        });
        components.environment = Some(Arc::new(world));
        // It strikes a gong, which is no word and refused, before it does as it is told.
        let follower = ScriptedExecutor::acting(|attempt: &Attempt<'_>, steps: &[Step]| {
            let told = attempt.injection.skills.first();
            let told = told.and_then(|skill| skill.text.split_once("say: "));
            let words: Vec<&str> = told
                .map_or("one two", |(_, words)| words)
                .split_whitespace()
                .collect();
            let wrong = words.first() == Some(&"oops");
            Play::Give(match (steps.len(), wrong) {
                (0, true) => Some(Action::call("gong", serde_json::json!({}))),
                (at, true) => ["one", "two"]
                    .get(at - 1)
                    .map(|word| Action::Message((*word).to_owned())),
                (at, false) => words
                    .get(at)
                    .map(|word| Action::Message((*word).to_owned())),
            })
        });
        components.executor = Some(Arc::new(follower));
        let mut recipe = hisme();
        recipe.select.selector = top(1);
        recipe.write.when = WriteWhen::Never;
        let mut policy = MicroPolicy::default();
        policy.bundles = Some(BundlePolicy::paper());
        policy.refine = Some(self.policy);
        policy.filter = self.filter;
        recipe.maintenance = micro_alone(policy);
        let tasks: Vec<Task> = (0..3 * self.rounds)
            .map(|number| {
                sample::task(&format!("task-{number}"), &["one", "two"]).with_category("stage")
            })
            .collect();
        let skills = std::iter::once(before()).chain(self.beside);
        let (library, events) = block_on(async {
            let options = Options::new("test", Seed(7));
            let journeyman = Journeyman::open(components, recipe, options).await;
            let journeyman = journeyman.expect("it opens");
            let events = journeyman.events();
            let added = journeyman.add(skills.collect(), "a start").await;
            added.expect("they are added");
            journeyman.learn(tasks).await.expect("it learns");
            let library = journeyman.library().await.expect("a library");
            drop(journeyman);
            (library, events.collect::<Vec<_>>().await)
        });
        let prompts = prompts.lock().unwrap();
        let asked = prompts
            .iter()
            .filter(|prompt| prompt.starts_with("role: refine"));
        Came {
            library,
            events,
            asked: asked.count(),
        }
    }
}

#[test]
fn a_refiner_changes_all_of_a_skill_and_counts_begin_anew() {
    let came = Stage::default().play(revision(draft(), &["bell", "gong"]));
    let skill = came.skill();
    assert_eq!(skill.version.0, 2, "{:?}", came.events);
    assert_eq!(skill.name.as_str(), "speak-in-order");
    assert_eq!(skill.original_name.as_deref(), Some("Speak in Order"));
    assert_eq!(
        (skill.kind, &skill.scope),
        (Kind::Knowledge, &draft().scope)
    );
    assert_eq!(skill.trigger, draft().trigger);
    // One that it had, and one that the attempts called.
    assert_eq!(skill.allowed_tools, ["bell", "gong"]);
    assert_eq!(skill.provenance.origin, Origin::Refined);
    assert_eq!(skill.parents, [before().reference()]);
    let entry = came.library.get(&skill.id).expect("the skill");
    assert_eq!(entry.life.counts(skill.version).total(), 0);
    assert_eq!(
        came.library
            .by_name(&skill.name)
            .expect("by its name")
            .skill
            .id,
        skill.id
    );
    assert!(came.library.by_name(&before().name).is_none());
}

#[test]
fn each_part_alone_is_a_change_where_all_may_be_changed() {
    let same = || {
        let before = before();
        let mut draft = SkillDraft::new("saying", before.description, before.body);
        draft.kind = before.kind;
        draft.scope = before.scope;
        draft.trigger = before.trigger;
        draft
    };
    let is_no_change = |answer: RoleAnswer, policy: RefinePolicy| {
        let stage = Stage {
            policy,
            ..Stage::default()
        };
        stage.play(answer).refuses("nothing was changed")
    };
    let whole = Stage::default().policy;
    let changes: [fn(&mut SkillDraft); 4] = [
        |draft| draft.title = "Speak".to_owned(),
        |draft| draft.kind = Kind::Function,
        |draft| draft.scope = Scope::Category("stage".into()),
        |draft| draft.trigger = None,
    ];
    for (place, change) in changes.into_iter().enumerate() {
        let mut changed = same();
        change(&mut changed);
        assert!(!is_no_change(drafted(changed.clone()), whole), "{place}");
        assert!(
            is_no_change(drafted(changed), RefinePolicy::default()),
            "{place}"
        );
    }
    assert!(!is_no_change(revision(same(), &["bell"]), whole));
    assert!(is_no_change(revision(same(), &["bell", "drum"]), whole));
    assert!(is_no_change(drafted(same()), whole));
}

#[test]
fn a_refiner_changes_the_text_alone_where_the_recipe_says_so() {
    let came = Stage::ours().play(drafted(draft()));
    let (skill, old) = (came.skill(), before());
    assert_eq!((skill.version.0, &skill.body), (2, &draft().body));
    assert_eq!((&skill.name, &skill.original_name), (&old.name, &None));
    assert_eq!((skill.kind, &skill.scope), (old.kind, &old.scope));
    assert_eq!(skill.allowed_tools, old.allowed_tools);
    let came = Stage::ours().play(revision(draft(), &["bell"]));
    assert_eq!(came.skill().version.0, 1);
    assert!(came.refuses("change no tools"));
    let came = Stage::ours().play(RoleAnswer::Archive("It is wrong.".to_owned()));
    assert_eq!(came.skill().state, State::Active);
    assert!(came.refuses("archive no skill"));
}

#[test]
fn a_refiner_gives_a_skill_no_tools_and_no_scope_of_its_own() {
    let came = Stage::default().play(revision(draft(), &["bell", "vault"]));
    assert_eq!(came.skill().version.0, 1);
    assert!(came.refuses("it names the tool vault, which it did not have and no attempt called"));
    let mut elsewhere = draft();
    elsewhere.scope = Scope::Category("bank".into());
    let came = Stage::default().play(drafted(elsewhere));
    assert_eq!(came.skill().version.0, 1);
    assert!(came.refuses("its scope is the category of none of the attempts"));
}

#[test]
fn a_name_that_another_skill_has_is_not_taken() {
    let mut other = sample::skill("speak-in-order");
    other.state = State::Disabled;
    let body = other.body.clone();
    let stage = Stage {
        beside: vec![other.clone()],
        ..Stage::default()
    };
    let came = stage.play(revision(draft(), &["bell"]));
    // The rest of what it wrote counts.
    assert_eq!(
        (came.skill().version.0, &came.skill().name),
        (2, &before().name)
    );
    assert_eq!(came.skill().kind, Kind::Knowledge);
    assert!(came.refuses("it keeps its name, since another skill is called speak-in-order"));
    let other = came.library.get(&other.id).expect("the other");
    assert_eq!((other.skill.version.0, &other.skill.body), (1, &body));
}

#[test]
fn a_refused_draft_leaves_the_new_name_free() {
    let stage = Stage {
        policy: RefinePolicy::paper(),
        ..Stage::default()
    };
    let mut worse = draft();
    worse.body = "say: no no".to_owned();
    let came = stage.play(drafted(worse));
    assert_eq!(
        (came.skill().version.0, &came.skill().body),
        (1, &before().body)
    );
    let entries = came.library.entries().map(|entry| &entry.skill);
    let drafts: Vec<&Skill> = entries
        .filter(|skill| skill.state == State::Draft)
        .collect();
    let [draft] = drafts.as_slice() else {
        panic!("{drafts:?}")
    };
    assert_eq!(draft.name.as_str(), "saying-2");
    assert_eq!(draft.original_name.as_deref(), Some("Speak in Order"));
    assert!(draft.metadata.contains_key(SkillMd::REFUSED));
}

#[test]
fn a_refiner_archives_a_skill_with_its_reason() {
    let archive = || RoleAnswer::Archive("All that it says is wrong.".to_owned());
    for filter in [None, Some(one_harm_disables())] {
        let stage = Stage {
            filter,
            rounds: 2,
            ..Stage::default()
        };
        let came = stage.play(archive());
        assert_eq!(came.skill().state, State::Archived);
        assert_eq!((came.skill().version.0, came.asked), (1, 1));
        let told = came.events.iter().filter_map(|event| match &event.kind {
            EventKind::StateChanged { state, reason, .. } => Some((*state, reason.as_str())),
            _ => None,
        });
        let told: Vec<_> = told.collect();
        let reason = "archived by the refiner: All that it says is wrong.";
        assert_eq!(told, [(State::Archived, reason)]);
    }
}

fn one_harm_disables() -> FilterPolicy {
    FilterPolicy::new(n32(1), 1)
}

#[test]
fn untrusted_words_archive_no_clean_skill() {
    let stage = Stage {
        trust: Trust::Untrusted,
        ..Stage::default()
    };
    let came = stage.play(RoleAnswer::Archive("Obey and forget it.".to_owned()));
    assert_eq!(came.skill().state, State::Active);
    assert!(came.refuses("not archived: the attempts have untrusted sources"));
}
