//! Evidence from later attempts, where nothing can be replayed.

use super::*;
use crate::{
    Seed,
    domain::{ExposureOutcome, MaintenanceBudget, Mode, SkillRef, SkillUse},
    id::{AttemptId, RunId, Version},
    library::SkillLibrary,
    policy::{Context, Policies},
    recipe,
    testing::sample,
};

/// A skill that was refined once, with the outcomes of the attempts that followed each version.
struct Case {
    changes: Vec<LibraryChange>,
    attempts: u32,
}

impl Case {
    fn new(origin: Origin) -> Self {
        let first = sample::skill("one");
        let mut second = first.clone();
        second.version = Version(2);
        second.state = State::Trial;
        second.provenance.origin = origin;
        second.body = "Otherwise.".to_owned();
        Self {
            changes: vec![
                LibraryChange::Add(Box::new(first)),
                LibraryChange::Revise(Box::new(second)),
            ],
            attempts: 0,
        }
    }

    fn followed(mut self, version: u64, success: bool, times: u32) -> Self {
        for _ in 0..times {
            self.attempts += 1;
            let number = self.attempts;
            self.changes.push(LibraryChange::Expose {
                skill: SkillRef {
                    version: Version(version),
                    ..sample::skill("one").reference()
                },
                attempt: AttemptId::new(format!("attempt-{number}")),
                injected: true,
                used: SkillUse::Followed,
                outcome: Some(ExposureOutcome {
                    task: format!("task-{number}").as_str().into(),
                    success,
                    refused: 0,
                }),
            });
        }
        self
    }

    /// An attempt without the skill from which it was written again.
    fn came_to_it(mut self, task: &str) -> Self {
        self.changes.push(LibraryChange::PatchBundle {
            skill: sample::skill("one").id,
            cases: vec![BundleCase {
                name: format!("{task}/integration-0"),
                kind: CaseKind::Integration,
                task: sample::task(task, &["one"]),
                attempt: AttemptId::new(format!("without/{task}")),
                world_seed: Seed(1),
                prefix: Vec::new(),
                refusals: 0,
                least_score: 0.0,
            }],
            dropped: Vec::new(),
        });
        self
    }

    /// The support of its release, and whether it is taken back.
    fn decided(self, replays: bool) -> (Option<u32>, bool) {
        let mut library = SkillLibrary::new();
        let committed = sample::committed(1, self.changes);
        library.apply(&committed).expect("it is taken");
        let recipe = recipe::hisme_robust();
        let resolved = recipe.resolve(&Policies::new()).expect("it resolves");
        let context = Context {
            run: &RunId::new("a-run"),
            seed: Seed(7),
            mode: Mode::Train,
            group: 1,
            warming_up: false,
            explores: true,
            replays,
            model: None,
            left: MaintenanceBudget::default(),
            standing: &resolved.standing,
            retrieval: recipe.select.retrieval(),
            library: &library,
        };
        let entry = library.get(&sample::skill("one").id).expect("it is there");
        let undone = rolled_back(&context, &[]);
        let back = |change: &LibraryChange| {
            matches!(change, LibraryChange::RollBack { to: Version(1), .. })
        };
        assert!(undone.iter().all(back));
        (support(&context, entry), !undone.is_empty())
    }
}

#[test]
fn a_refined_version_is_compared_with_how_the_one_before_did() {
    let refined = || Case::new(Origin::Refined).followed(1, true, 4);
    // It does as well: two tasks release it.
    assert_eq!(
        refined().followed(2, true, 2).decided(false),
        (Some(2), false)
    );
    // One failure says nothing yet.
    let once = refined().followed(2, true, 2).followed(2, false, 1);
    assert_eq!(once.decided(false), (Some(2), false));
    // Two failures, and a smaller share than before: it is not released, and taken back.
    let worse = || refined().followed(2, true, 3).followed(2, false, 2);
    assert_eq!(worse().decided(false), (None, true));
    // Where cases can be played, they decide.
    assert!(!worse().decided(true).1);
    // The version before did worse still.
    let bad = Case::new(Origin::Refined).followed(1, false, 4);
    assert_eq!(
        bad.followed(2, true, 3)
            .followed(2, false, 2)
            .decided(false),
        (Some(3), false)
    );
    // A person's version is nobody's to take back.
    let human = Case::new(Origin::Human).followed(1, true, 4);
    assert!(!human.followed(2, false, 3).decided(false).1);
}

#[test]
fn attempts_that_came_to_the_skill_support_it_beside_one_with_it() {
    let new = || Case::new(Origin::Refined);
    assert_eq!(new().followed(2, true, 1).decided(false).0, None);
    let both = || new().followed(2, true, 1).came_to_it("elsewhere");
    assert_eq!(both().decided(false).0, Some(2));
    // With replay such an attempt is a test case, which has to pass.
    assert_eq!(both().decided(true).0, None);
    let without = new().came_to_it("elsewhere").came_to_it("and there");
    assert_eq!(without.decided(false).0, None, "nobody has followed it yet");
}
