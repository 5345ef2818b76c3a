//! The library's assessed attempts as annotations (SCRIBE 4, appendix B; row C3).

use std::collections::BTreeMap;

use crate::{
    domain::{Assessment, Route, SubgoalRef},
    id::PrototypeId,
    library::{KnownSubgoal, SkillLibrary},
};

/// The library's assessed attempts, each subgoal with its annotated prototype: the one in force that it is a member of, with
/// confidence 1; otherwise the one that it was routed to, if that is still in force; otherwise none. An attempt of which the
/// library has only the last subgoals is left out. Whether its spans had to be repaired the library does not keep.
///
/// They are what a router's predictions are compared with ([`RouterAccuracy`](crate::papers::scribe::RouterAccuracy)), and what a router is
/// trained on (`assessments` of the crate `journeyman-interchange`).
///
/// ```
/// use journeyman::{papers::scribe::annotations, library::SkillLibrary};
///
/// assert!(annotations(&SkillLibrary::new()).is_empty());
/// ```
pub fn annotations(library: &SkillLibrary) -> Vec<Assessment> {
    let prototypes = library.prototypes();
    let members: BTreeMap<&SubgoalRef, &PrototypeId> = prototypes
        .iter()
        .flat_map(|one| one.members.iter().map(move |member| (member, &one.id)))
        .collect();
    let route = |known: &KnownSubgoal| {
        let of_cluster = members.get(&known.at).map(|id| Route {
            prototype: (*id).clone(),
            confidence: 1.0,
        });
        of_cluster.or_else(|| {
            let routed = known.assessed.route.clone()?;
            let is_there = prototypes.iter().any(|one| one.id == routed.prototype);
            is_there.then_some(routed)
        })
    };
    let known: Vec<&KnownSubgoal> = library.subgoals().collect();
    // The subgoals of an attempt stand together, in order.
    let attempts = known.chunk_by(|one, next| one.at.attempt == next.at.attempt);
    let annotated = attempts.filter_map(|subgoals| {
        let first = subgoals.first().filter(|first| first.at.place == 0)?;
        let subgoals = subgoals.iter().map(|known| {
            let mut assessed = known.assessed.clone();
            assessed.route = route(known);
            assessed
        });
        Some(Assessment {
            attempt: first.at.attempt.clone(),
            task: first.task.clone(),
            category: first.category.clone(),
            success: first.success,
            repaired: false,
            subgoals: subgoals.collect(),
        })
    });
    annotated.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{AssessedSubgoal, LibraryChange, Prototype, Subgoal},
        testing::sample,
    };

    fn subgoal(first: usize, routed: Option<&str>) -> AssessedSubgoal {
        AssessedSubgoal {
            subgoal: Subgoal {
                subgoal: "heat".to_owned(),
                skill: "brewing".to_owned(),
                first,
                last: first,
            },
            route: routed.map(|prototype| Route {
                prototype: prototype.into(),
                confidence: 0.7,
            }),
            score: None,
        }
    }

    #[test]
    fn the_cluster_comes_before_the_route_and_a_prototype_that_is_gone_is_none() {
        let assessment = Assessment {
            attempt: "a".into(),
            task: "t".into(),
            category: None,
            success: Some(false),
            repaired: true,
            subgoals: vec![
                subgoal(0, Some("leaving")),
                subgoal(1, Some("greeting")),
                subgoal(2, Some("gone")),
                subgoal(3, None),
            ],
        };
        let member = SubgoalRef {
            attempt: "a".into(),
            place: 0,
        };
        let greeting = Prototype {
            members: vec![member],
            ..sample::prototype("greeting")
        };
        let id = greeting.id.clone();
        let mut assessment = assessment;
        assessment.subgoals[1].route = Some(Route {
            prototype: id.clone(),
            confidence: 0.7,
        });
        let changes = vec![
            LibraryChange::Assess(Box::new(assessment)),
            LibraryChange::SetPrototypes(vec![greeting]),
        ];
        let library = SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap();
        let annotated = annotations(&library);
        assert_eq!(annotated.len(), 1);
        let routes = annotated[0].subgoals.iter().map(|one| one.route.clone());
        let route = |confidence| {
            Some(Route {
                prototype: id.clone(),
                confidence,
            })
        };
        let expect = [route(1.0), route(0.7), None, None];
        assert_eq!(routes.collect::<Vec<_>>(), expect);
        assert_eq!(annotated[0].success, Some(false));
    }
}
