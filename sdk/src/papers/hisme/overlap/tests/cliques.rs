//! Groups.

use super::*;
use crate::{domain::Taint, id::Seed};

/// The groups of a graph, each as its segments' ids.
fn ids(
    graph: &OverlapGraph,
    options: &CliqueOptions,
    handed: &BTreeSet<Fingerprint>,
) -> Vec<String> {
    let cliques = graph.cliques(options, handed).unwrap();
    cliques
        .iter()
        .map(|clique| joined(&clique.segments))
        .collect()
}

fn joined(segments: &[SegmentId]) -> String {
    let ids: Vec<&str> = segments.iter().map(SegmentId::as_str).collect();
    ids.join(" ")
}

fn first(segments: impl IntoIterator<Item = Segment>) -> Option<Clique> {
    let cliques = graph(segments).cliques(&CliqueOptions::default(), &BTreeSet::new());
    cliques.unwrap().into_iter().next()
}

/// A turn that calls tools, of a task of its own.
fn calling(id: &str, fragment: &str, tools: &[&str]) -> Segment {
    Segment {
        calls: tools.iter().map(|tool| call(tool, &[])).collect(),
        ..turn(id, &format!("task-{id}"), fragment)
    }
}

#[test]
fn a_group_says_what_it_rests_on() {
    let mut b = calling("b", "brew coffee later", &["unseal_coffee", "brew_coffee"]);
    b.taint = Taint::Tainted;
    let a = calling("a", "brew coffee now", &["brew_coffee", "unseal_coffee"]);
    let clique = first([a.clone(), b.clone()]).unwrap();
    assert_eq!(joined(&clique.segments), "a b");
    assert_eq!(clique.segments, clique.true_instances);
    assert_eq!(clique.tasks, ["task-a".into(), "task-b".into()]);
    assert_eq!(clique.taint, Taint::Tainted);
    let tools = vec!["brew_coffee".to_owned(), "unseal_coffee".to_owned()];
    assert_eq!(clique.purity[0], Purity::SharedTools { tools });
    // The weight of the one edge, by log2(2 + 2).
    let weight = graph([a, b]).edges()[0].overlap.weight;
    assert!((clique.score - 2.0 * weight).abs() < 1e-9);
    let json = serde_json::to_string(&clique).unwrap();
    assert_eq!(serde_json::from_str::<Clique>(&json).unwrap(), clique);
}

/// The reasons of a pair, without its tools.
fn reasons(pair: [Segment; 2]) -> Vec<Purity> {
    let group = first(pair).map(|clique| clique.purity);
    let other = |reason: &Purity| !matches!(reason, Purity::SharedTools { .. });
    group
        .unwrap_or_default()
        .into_iter()
        .filter(other)
        .collect()
}

#[test]
fn a_shared_precondition_failure() {
    let refused = |id: &str, tool: &str, error: &str| Segment {
        errors: vec![error.to_owned()],
        ..calling(id, "brew coffee now", &[tool])
    };
    let found = reasons([
        refused("a", "brew_a", "unseal coffee first"),
        refused("b", "brew_b", "coffee first"),
    ]);
    let ngrams = ["coffee", "coffee first", "first"]
        .map(str::to_owned)
        .to_vec();
    assert!(
        found.contains(&Purity::SharedPreconditionFailure { ngrams }),
        "{found:?}"
    );
    // 1 of 5, times 1.7.
    let found = reasons([
        refused("a", "brew_a", "coffee first"),
        refused("b", "brew_b", "tea first"),
    ]);
    assert!(
        found
            .iter()
            .all(|one| !matches!(one, Purity::SharedPreconditionFailure { .. }))
    );
}

#[test]
fn a_shared_argument_binding() {
    let bound = |id: &str, value: &str, source: ValueSource, other: &str| Segment {
        calls: vec![
            call("cancel_order", &[("order", value, source)]),
            call(&format!("{other}_one"), &[]),
            call(&format!("{other}_two"), &[]),
        ],
        ..turn(id, id, "cancel that order of mine now")
    };
    let place = || ValueSource::Result {
        tool: "place_order".to_owned(),
    };
    // One tool of three is too few to be shared; how the argument is bound is not.
    let carried = first([
        bound("a", "id-1", place(), "see"),
        bound("b", "id-2", place(), "hear"),
    ]);
    let binding = Binding::Carried {
        tool: "cancel_order".to_owned(),
        argument: "order".to_owned(),
        from: "place_order".to_owned(),
    };
    let expect = Purity::SharedArgumentBinding {
        bindings: vec![binding],
    };
    assert_eq!(carried.unwrap().purity, [expect]);
    let found = |a: (&str, ValueSource), b: (&str, ValueSource)| {
        let pair = [bound("a", a.0, a.1, "see"), bound("b", b.0, b.1, "hear")];
        let reason = first(pair).map(|clique| clique.purity);
        reason.is_some_and(|reason| matches!(reason[0], Purity::SharedArgumentBinding { .. }))
    };
    assert!(found(
        ("all", ValueSource::Agent),
        ("all", ValueSource::Agent)
    ));
    assert!(!found(
        ("all", ValueSource::Agent),
        ("none", ValueSource::Agent)
    ));
    assert!(!found(("all", ValueSource::Agent), ("all", place())));
    // A value from the request is no binding.
    assert!(!found(
        ("all", ValueSource::Request),
        ("all", ValueSource::Request)
    ));
}

#[test]
fn an_aligned_structure() {
    let shaped = |id: &str, tool: &str, source: ValueSource| Segment {
        calls: vec![call(tool, &[(tool, "v", source)])],
        ..turn(
            id,
            id,
            "look at all that is in the big red box by the old door",
        )
    };
    let pair = |source| {
        [
            shaped("a", "x", ValueSource::Agent),
            shaped("b", "y", source),
        ]
    };
    let found = reasons(pair(ValueSource::Agent));
    assert!(
        matches!(found[..], [Purity::AlignedStructure { overlap }] if overlap > 0.6),
        "{found:?}"
    );
    // The value comes from elsewhere: another structure, and no reason is left.
    assert_eq!(first(pair(ValueSource::Request)), None);
}

#[test]
fn groups_without_a_reason_are_dropped() {
    let words = "carry the heavy wooden box upstairs";
    let (a, b) = (
        calling("a", words, &["x", "y"]),
        calling("b", words, &["z"]),
    );
    let graph = graph([a, b]);
    assert_eq!(graph.edges().len(), 1);
    assert_eq!(
        graph
            .cliques(&CliqueOptions::default(), &BTreeSet::new())
            .unwrap(),
        []
    );
}

#[test]
fn tasks_count_where_they_were_done() {
    let one = |id: &str, task: &str, success| Segment {
        success,
        tasks: vec![task.into()],
        ..calling(id, "brew coffee", &["brew"])
    };
    let done = Some(true);
    // The same task twice, a failure, an unknown end: no second task.
    assert_eq!(first([one("a", "t", done), one("b", "t", done)]), None);
    assert_eq!(
        first([one("a", "t", done), one("b", "u", Some(false))]),
        None
    );
    assert_eq!(first([one("a", "t", done), one("b", "u", None)]), None);
    // Beside two that succeeded a failure is evidence, and no task and no true instance.
    let all = [
        one("a", "t", done),
        one("b", "u", done),
        one("c", "v", Some(false)),
    ];
    let clique = first(all).unwrap();
    assert_eq!(joined(&clique.segments), "a b c");
    assert_eq!(joined(&clique.true_instances), "a b");
    assert_eq!(clique.tasks, ["t".into(), "u".into()]);
    // A skill brings the tasks that it was distilled from, and calls the tools that it names.
    let pair = [one("a", "t", done), skill("s", &["u"], "brew coffee")];
    let clique = first(pair).unwrap();
    assert_eq!(clique.tasks, ["t".into(), "u".into()]);
    let tools = vec!["brew".to_owned()];
    assert_eq!(clique.purity[0], Purity::SharedTools { tools });
    assert_eq!(
        first([one("a", "t", done), skill("s", &["t"], "brew coffee")]),
        None
    );
    // The skill covers all tasks of the group, until a further task is added.
    let known = || skill("s", &["t", "u"], "brew coffee");
    assert_eq!(first([one("a", "t", done), known()]), None);
    let paper = CliqueOptions {
        skip_covered: false,
        ..CliqueOptions::default()
    };
    let covered = graph([one("a", "t", done), known()]).cliques(&paper, &BTreeSet::new());
    assert_eq!(joined(&covered.unwrap()[0].segments), "a skill:s");
    let further = first([one("a", "v", done), known()]).unwrap();
    assert_eq!(joined(&further.segments), "a skill:s");
}

/// The best group where skill-revision groups are asked for.
fn first_with_revisions(segments: impl IntoIterator<Item = Segment>) -> Option<Clique> {
    let options = CliqueOptions {
        revisions: true,
        ..CliqueOptions::default()
    };
    let cliques = graph(segments).cliques(&options, &BTreeSet::new());
    cliques.unwrap().into_iter().next()
}

#[test]
fn a_skill_and_its_failed_turns_need_no_second_task() {
    let turn_of = |task: &str, id: &str| Segment {
        tasks: vec![task.into()],
        ..calling(id, "brew coffee", &["brew"])
    };
    const MADE_FROM: [&[&str]; 2] = [&["t"], &[]];
    for made_from in MADE_FROM {
        let own = skill("s", made_from, "brew coffee");
        let failed = || failed_with(&own, turn_of("t", "a"));
        assert_eq!(first([own.clone(), failed()]), None);
        let clique = first_with_revisions([own.clone(), failed()]).unwrap();
        assert_eq!(joined(&clique.segments), "a skill:s");
        assert_eq!(clique.revises, Some(version_of(&own)));
        assert!(clique.true_instances.is_empty());
        assert_eq!(clique.tasks.len(), made_from.len());
        let tools = vec!["brew".to_owned()];
        assert_eq!(clique.purity[0], Purity::SharedTools { tools });
        let json = serde_json::to_string(&clique).unwrap();
        assert_eq!(serde_json::from_str::<Clique>(&json).unwrap(), clique);
    }
}

#[test]
fn any_other_group_needs_two_tasks_beside_revisions_too() {
    let turn_of_a = || calling("a", "brew coffee", &["brew"]);
    let own = skill("s", &["task-a"], "brew coffee");
    let none = |segments: Vec<Segment>| assert_eq!(first_with_revisions(segments), None);
    // A turn that had no skill, one that succeeded, and one that had another version.
    let unaided = Segment {
        success: Some(false),
        ..turn_of_a()
    };
    none(vec![own.clone(), unaided]);
    let done = Segment {
        success: Some(true),
        ..failed_with(&own, turn_of_a())
    };
    none(vec![own.clone(), done]);
    let mut newer = own.clone();
    newer.kind = SegmentKind::Skill(SkillRef {
        version: Version(2),
        ..version_of(&own)
    });
    none(vec![newer, failed_with(&own, turn_of_a())]);
    // Failed turns without their skill.
    let other = calling("b", "brew coffee", &["brew"]);
    let turns = [turn_of_a(), other].map(|turn| failed_with(&own, turn));
    none(turns.to_vec());
    // A group of two tasks revises nothing.
    let pair = ["a", "b"].map(|id| calling(id, "brew coffee", &["brew"]));
    assert_eq!(first_with_revisions(pair).unwrap().revises, None);
}

#[test]
fn a_skill_revision_group_is_not_left_out_as_covered() {
    let own = skill("s", &["task-a", "task-b"], "brew coffee");
    let turn = calling("a", "brew coffee", &["brew"]);
    let segments = || [own.clone(), failed_with(&own, turn.clone())];
    assert_eq!(first(segments()), None);
    let clique = first_with_revisions(segments()).unwrap();
    assert_eq!(clique.revises, Some(version_of(&own)));
}

#[test]
fn options_that_say_nothing_of_revisions_ask_for_none() {
    let mut json = serde_json::to_value(CliqueOptions::default()).unwrap();
    json.as_object_mut().unwrap().remove("revisions").unwrap();
    let read: CliqueOptions = serde_json::from_value(json).unwrap();
    assert_eq!(read, CliqueOptions::default());
}

#[test]
fn what_was_handed_out_comes_again_when_enough_is_new() {
    let one = |id: &str| calling(id, "brew coffee", &["brew"]);
    let mut graph = graph(["a", "b", "c", "d"].map(one));
    let mut options = CliqueOptions::default();
    let mut handed = BTreeSet::new();
    let mut hand_out = |graph: &OverlapGraph, options: &CliqueOptions| {
        let cliques = graph.cliques(options, &handed).unwrap();
        handed.extend(cliques.iter().map(|clique| clique.fingerprint.clone()));
        let ids: Vec<String> = cliques
            .iter()
            .map(|clique| joined(&clique.segments))
            .collect();
        ids.join(", ")
    };
    assert_eq!(hand_out(&graph, &options), "a b c d");
    assert_eq!(hand_out(&graph, &options), "");
    // One new segment is half of a pair.
    graph.insert(one("e")).unwrap();
    assert_eq!(hand_out(&graph, &options), "a e");
    assert_eq!(hand_out(&graph, &options), "");
    // Two segments that say something else now.
    for id in ["a", "b"] {
        let changed = Segment {
            fragment: "brew coffee early".to_owned(),
            ..one(id)
        };
        graph.insert(changed).unwrap();
    }
    assert_eq!(hand_out(&graph, &options), "a b c d");
    // Where nothing must be new, any other group is as good: these three are alike.
    options.fresh = 0.0;
    assert_eq!(hand_out(&graph, &options), "c d e");
    // Groups whose segments are gone are forgotten.
    graph.forget_gone(&mut handed);
    assert_eq!(handed.len(), 4);
    for id in ["a", "b", "c", "d"] {
        graph.remove(&id.into());
    }
    graph.forget_gone(&mut handed);
    assert_eq!(handed.len(), 2);
}

#[test]
fn the_best_come_first_and_share_nothing() {
    let of = |tool: &str, ids: &[&str], fragment: &str| {
        let one = |id: &&str| calling(id, &format!("{tool} {fragment}"), &[tool]);
        ids.iter().map(one).collect::<Vec<_>>()
    };
    let mut all = of("brew", &["a", "b", "c", "d", "e"], "coffee");
    all.extend(of("paint", &["f", "g"], "fences"));
    all.extend(of("sing", &["h", "i", "j"], "songs"));
    let options = CliqueOptions::default();
    let none = BTreeSet::new();
    let expect = ["a b c d", "h i j", "f g"];
    assert_eq!(ids(&graph(all.clone()), &options, &none), expect);
    all.reverse();
    assert_eq!(ids(&graph(all.clone()), &options, &none), expect);
    let two = CliqueOptions {
        groups: 2,
        largest: 3,
        smallest: 3,
        ..options
    };
    assert_eq!(ids(&graph(all), &two, &none), ["a b c", "h i j"]);
}

#[test]
fn attempts_at_one_task_do_not_hide_the_others() {
    let mut all: Vec<Segment> = (0..40)
        .map(|at| Segment {
            tasks: vec!["t".into()],
            ..calling(&format!("a{at:02}"), "brew coffee now", &["brew"])
        })
        .collect();
    all.push(calling("b", "brew coffee later", &["brew"]));
    let clique = first(all).unwrap();
    assert_eq!(clique.tasks.len(), 2);
}

#[test]
fn a_dense_graph_is_bounded() {
    let all = (0..60).map(|at| calling(&format!("s{at:03}"), "brew coffee", &["brew"]));
    let graph = graph(all);
    assert_eq!(graph.edges().len(), 60 * 59 / 2);
    let options = CliqueOptions {
        largest: 6,
        neighbours: 16,
        groups: 30,
        ..CliqueOptions::default()
    };
    let cliques = graph.cliques(&options, &BTreeSet::new()).unwrap();
    assert!(!cliques.is_empty() && cliques.len() <= 10);
    assert!(cliques.iter().all(|clique| clique.segments.len() == 6));
}

/// In random graphs in which every segment has few neighbors, the first group is the best of all subsets.
#[test]
fn the_first_group_is_the_best_of_all() {
    let options = CliqueOptions {
        shared_tools: 0.0,
        shared_errors: 1.0,
        aligned: 1.0,
        ..CliqueOptions::default()
    };
    let mut groups = 0;
    for seed in 0..60 {
        let draw = |what: &str, at: usize, below: usize| {
            let at = (at * 100) as u64;
            Seed(seed).derive(what, at).index(below).unwrap()
        };
        let one = |at: usize| {
            let word = |n: usize| char::from(b'a' + draw("word", at * 9 + n, 5) as u8).to_string();
            let fragment = (0..5)
                .map(|n| format!("word{}", word(n)))
                .collect::<Vec<_>>();
            let tools: Vec<String> = (0..2)
                .map(|n| format!("tool{}", draw("tool", at * 9 + n, 3)))
                .collect();
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            let mut segment = calling(&format!("s{at:02}"), &fragment.join(" "), &tools);
            segment.success = Some(draw("success", at, 4) > 0);
            segment
        };
        let segments: Vec<Segment> = (0..12).map(one).collect();
        let graph = graph(segments.clone());
        let best = best_of_all(&graph, &segments);
        let found = graph.cliques(&options, &BTreeSet::new()).unwrap();
        match (best, found.first()) {
            (None, None) => {}
            (Some(best), Some(found)) => {
                groups += 1;
                assert!(
                    (best - found.score).abs() < 1e-9,
                    "seed {seed}: {best}, {found:?}"
                );
            }
            (best, found) => panic!("seed {seed}: {best:?}, {found:?}"),
        }
    }
    assert!(groups > 30, "only {groups} groups");
}

/// The greatest score of two to four segments that are a clique, call a tool together and come from two tasks.
fn best_of_all(graph: &OverlapGraph, segments: &[Segment]) -> Option<f64> {
    let weight = |a: &Segment, b: &Segment| {
        let edges = graph.edges();
        let edge = edges
            .iter()
            .find(|edge| *edge.from == a.id && *edge.to == b.id);
        edge.map(|edge| edge.overlap.weight)
    };
    let mut weights = vec![vec![None; segments.len()]; segments.len()];
    for (i, a) in segments.iter().enumerate() {
        for (j, b) in segments.iter().enumerate().skip(i + 1) {
            weights[i][j] = weight(a, b);
        }
    }
    let mut best: Option<f64> = None;
    for subset in 0_u32..1 << segments.len() {
        let chosen: Vec<usize> = (0..segments.len())
            .filter(|at| subset >> at & 1 == 1)
            .collect();
        if !(2..=4).contains(&chosen.len()) {
            continue;
        }
        let pairs = chosen
            .iter()
            .flat_map(|i| chosen.iter().map(move |j| (*i, *j)));
        let pairs: Vec<Option<f64>> = pairs
            .filter(|(i, j)| i < j)
            .map(|(i, j)| weights[i][j])
            .collect();
        let tools = |at: &usize| -> BTreeSet<&str> {
            segments[*at]
                .calls
                .iter()
                .map(|call| call.tool.as_str())
                .collect()
        };
        let common = chosen.iter().map(tools).reduce(|a, b| &a & &b).unwrap();
        let tasks = chosen
            .iter()
            .filter(|at| segments[**at].success == Some(true))
            .count();
        if tasks < 2 || common.is_empty() || pairs.contains(&None) {
            continue;
        }
        let mean = pairs.iter().flatten().sum::<f64>() / pairs.len() as f64;
        let score = mean * ((chosen.len() + tasks) as f64).log2();
        best = best.map(|best| best.max(score)).or(Some(score));
    }
    best
}

#[test]
fn options_are_checked() {
    let graph = graph([]);
    let refused = |change: fn(&mut CliqueOptions)| {
        let mut options = CliqueOptions::default();
        change(&mut options);
        let error = graph.cliques(&options, &BTreeSet::new()).unwrap_err();
        error.message().to_owned()
    };
    assert_eq!(
        refused(|o| o.smallest = 1),
        "smallest must be at least 2, and is 1"
    );
    assert!(refused(|o| o.largest = 1).starts_with("largest "));
    assert!(refused(|o| o.largest = 7).starts_with("largest "));
    assert!(refused(|o| o.neighbours = 0).starts_with("neighbours "));
    assert!(refused(|o| o.shared_tools = 1.1).starts_with("shared_tools "));
    assert!(refused(|o| o.shared_errors = f64::NAN).starts_with("shared_errors "));
    assert!(refused(|o| o.aligned = -0.1).starts_with("aligned "));
    assert!(refused(|o| o.fresh = 2.0).starts_with("fresh "));
}
