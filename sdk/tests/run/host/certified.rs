//! Skills of a library that are compared with doing without them, with the model at hand.

use journeyman::{
    SkillId,
    run::Certificate,
    stations::proof::{ComparePolicy, Conclusion},
};

use super::{
    proven::{
        With, apart, beside_a_neighbour, proving, session_by, session_with, state, with_skills,
    },
    *,
};

fn of<'a>(certificate: &'a Certificate, name: &str) -> &'a journeyman::run::CertifiedSkill {
    let mut skills = certificate.skills.iter();
    skills
        .find(|one| one.name.as_str() == name)
        .expect("it is there")
}

#[test]
fn each_skill_is_compared_with_the_model_at_hand_and_pairs_are_made_once() {
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        // A learning run by another model, at whose tasks `good` was chosen; later two tasks at which `rare` was.
        let first = session_by(&store, With::model("first"), "one").await;
        with_skills(&first, &["good"]).await;
        first.learn(tasks(20)).await.expect("it learns");
        let good = SkillId::new("good");
        let off = first.set_state(&good, State::Disabled, "a while");
        off.await.expect("it is off");
        with_skills(&first, &["rare"]).await;
        let more = tasks(22).split_off(20);
        first.learn(more).await.expect("it learns");
        let on = first.set_state(&good, State::Active, "again");
        on.await.expect("it is on");

        let agent = With::model("second");
        let second = session_by(&store, Arc::clone(&agent), "two").await;
        with_skills(&second, &["unused"]).await;
        let certificate = second.certify(ComparePolicy::default()).await;
        let certificate = certificate.expect("it is compared");
        let model = certificate.model.as_ref().map(ToString::to_string);
        assert_eq!(model.as_deref(), Some("second"));
        let good = of(&certificate, "good");
        assert_eq!(good.conclusion, Conclusion::Better, "{good:?}");
        assert!((8..=20).contains(&good.pairs));
        let rare = of(&certificate, "rare");
        assert_eq!(rare.pairs, 2);
        assert!(matches!(rare.conclusion, Conclusion::NotYet { .. }));
        let unused = of(&certificate, "unused");
        assert_eq!((unused.pairs, unused.difference), (0, None));
        let library = second.library().await.expect("read");
        let entry = library.get(&SkillId::new("good")).expect("there");
        let mut proven = entry.life.proven_on(entry.skill.version);
        assert!(proven.any(|model| model.as_str() == "second"));

        let calls = agent.1.calls();
        let again = second.certify(ComparePolicy::default()).await;
        let again = again.expect("it is compared");
        assert_eq!(again.skills, certificate.skills);
        assert_eq!(agent.1.calls(), calls, "no pair is made twice");
    });
}

#[test]
fn a_skill_on_trial_is_released_by_the_pairs_that_a_smaller_error_found_too_few() {
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let agent = With::model("first");
        // No maintenance is due while it learns.
        let recipe = proving(1_000);
        let journeyman = session_with(&store, Arc::clone(&agent), ("one", recipe)).await;
        let skill = sample::skill("good").with_state(State::Trial);
        let added = journeyman.add(vec![skill], "a start").await;
        added.expect("added");
        journeyman.learn(tasks(20)).await.expect("it learns");

        let mut strict = ComparePolicy::default();
        strict.error = 1e-9;
        let certificate = journeyman.certify(strict).await.expect("it is compared");
        let good = of(&certificate, "good");
        assert_eq!((good.state, good.pairs), (State::Trial, 20));
        assert_eq!(good.difference, Some(0.5));
        let told = matches!(good.conclusion, Conclusion::NotYet { more: Some(_) });
        assert!(told, "{good:?}");
        let library = journeyman.library().await.expect("read");
        assert_eq!(state(&library, "good"), State::Trial);
        let entry = library.get(&SkillId::new("good")).expect("there");
        assert!(entry.life.proofs.is_empty());

        let calls = agent.1.calls();
        let certificate = journeyman.certify(ComparePolicy::default()).await;
        let certificate = certificate.expect("it is compared");
        let good = of(&certificate, "good");
        // Its state is that of before the call.
        assert_eq!((good.state, good.pairs), (State::Trial, 20));
        assert_eq!(good.conclusion, Conclusion::Better);
        assert_eq!(good.waits, None);
        assert_eq!(agent.1.calls(), calls, "no pair is made twice");
        let library = journeyman.library().await.expect("read");
        assert_eq!(library.revision(), certificate.revision);
        assert_eq!(state(&library, "good"), State::Active);
        let entry = library.get(&SkillId::new("good")).expect("there");
        let proven = entry.life.proven_on(entry.skill.version);
        let proven: Vec<&str> = proven.map(|model| model.as_str()).collect();
        assert_eq!(proven, ["first"]);
    });
}

#[test]
fn a_skill_on_trial_that_would_break_a_neighbour_stays_on_trial_and_the_certificate_says_why() {
    block_on(async {
        let (journeyman, _) = beside_a_neighbour(apart(), proving(1_000)).await;
        let certificate = journeyman.certify(ComparePolicy::default()).await;
        let certificate = certificate.expect("it is compared");
        let good = of(&certificate, "good");
        assert_eq!(
            (good.state, good.conclusion),
            (State::Trial, Conclusion::Better)
        );
        let waits = good.waits.as_deref().expect("it is said");
        for part in ["would break", "letter-3", "helper"] {
            assert!(waits.contains(part), "{waits}");
        }
        let library = journeyman.library().await.expect("read");
        assert_eq!(state(&library, "good"), State::Trial);
        // The skill beside it is in use, and its four letters are no proof: nothing holds it back.
        let helper = of(&certificate, "helper");
        assert_eq!((helper.pairs, &helper.waits), (4, &None));
        // It is known from then on.
        let again = journeyman.certify(ComparePolicy::default()).await;
        let again = again.expect("it is compared");
        assert_eq!(again.skills, certificate.skills);
    });
}

#[test]
fn what_cannot_be_compared_is_refused_with_what_to_do() {
    block_on(async {
        let refused = |parts: Components, compare: ComparePolicy| async move {
            let opened = Journeyman::open(parts, recipe(), Options::new("test", Seed(7))).await;
            let certificate = opened.expect("it opens").certify(compare).await;
            certificate.expect_err("it is refused")
        };
        let error = refused(own_loop(), ComparePolicy::default()).await;
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.hint_text().unwrap().contains("resettable"), "{error}");
        let mut none = ComparePolicy::default();
        none.error = 0.0;
        let error = refused(components(), none).await;
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains("above 0 and below 1"), "{error}");
    });
}
