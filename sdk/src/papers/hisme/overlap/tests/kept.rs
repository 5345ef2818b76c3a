//! The groups of a graph that is kept up to date against those of a search that looks at everything.

use crate::{
    contract::Embedding,
    id::Seed,
    papers::hisme::overlap::tests::{naive, *},
};

struct Draws(Seed, u64);

impl Draws {
    fn below(&mut self, most: usize) -> usize {
        self.1 += 1;
        self.0.derive("draw", self.1).index(most).unwrap()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// The first words of the vocabulary are the most frequent ones.
    fn words(&mut self, count: usize) -> String {
        let word = |draws: &mut Self| {
            let most = draws.below(12) + 1;
            format!("word{}", char::from(b'a' + draws.below(most) as u8))
        };
        let words: Vec<String> = (0..count).map(|_| word(self)).collect();
        words.join(" ")
    }

    fn embedding(&mut self) -> Embedding {
        let mut row: Vec<f32> = (0..3)
            .map(|_| self.below(200) as f32 / 100.0 - 0.6)
            .collect();
        row[0] += 0.7;
        let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        row.iter_mut().for_each(|x| *x /= length);
        Embedding::new(row).unwrap()
    }

    /// A turn, a skill of some tasks, or a skill of none, which most are.
    fn segment(&mut self, number: usize, embedded: usize) -> Segment {
        let id = format!("s{number:03}");
        let count = 2 + self.below(5);
        let fragment = self.words(count);
        let mut segment = match self.below(10) {
            0..4 => turn(&id, &format!("t{}", number % 7), &fragment),
            4..6 => {
                let (one, other) = (format!("t{}", self.below(7)), format!("t{}", self.below(7)));
                skill(&id, &[&one, &other], &fragment)
            }
            _ => skill(&id, &[], &fragment),
        };
        if matches!(segment.kind, SegmentKind::Trace { .. }) {
            segment.success = Some(self.chance(80));
            let tool = format!("word{}", char::from(b'a' + self.below(4) as u8));
            segment.calls.push(call(&tool, &[]));
            if self.chance(30) {
                segment.errors.push(self.words(3));
            }
        }
        if self.chance(embedded) {
            segment.embedding = Some(self.embedding());
        }
        segment
    }
}

/// Every second turn as one of a failed attempt that had every skill, so that there are skill-revision groups.
fn failing(segment: Segment, number: usize) -> Segment {
    if matches!(segment.kind, SegmentKind::Skill(_)) || number.is_multiple_of(2) {
        return segment;
    }
    let version = |number: usize| SkillRef {
        id: SkillId::new(format!("s{number:03}")),
        version: Version(1),
    };
    Segment {
        success: Some(false),
        skills: (0..90).map(version).collect(),
        ..segment
    }
}

/// What the compared searches found, over all of them.
#[derive(Default)]
struct Found {
    groups: usize,
    with_untold: usize,
    revisions: usize,
}

/// Whatever came, went and was handed out before: the groups are those of a search that looks at everything, and those of a
/// graph that is built anew.
fn compared(revisions: bool) -> Found {
    let mut all = Found::default();
    for seed in 0..24 {
        let mut draws = Draws(Seed(seed), 0);
        let embedded = [0, 0, 100][seed as usize % 3];
        let options = CliqueOptions {
            neighbours: [12, 3, 16][draws.below(3)],
            groups: if revisions { 30 } else { 3 },
            revisions,
            ..CliqueOptions::default()
        };
        let mut graph = OverlapGraph::new(OverlapOptions::default()).unwrap();
        let mut handed = BTreeSet::new();
        for round in 0..8 {
            for _ in 0..if round == 0 { 50 } else { 6 } {
                let number = draws.below(90);
                let mut segment = draws.segment(number, embedded);
                if revisions {
                    segment = failing(segment, number);
                }
                graph.insert(segment).unwrap();
                if draws.chance(30) {
                    let other = draws.below(90);
                    graph.remove(&SegmentId::new(format!("s{other:03}")));
                    graph.remove(&SegmentId::new(format!("skill:s{other:03}")));
                }
            }
            let found = graph.cliques(&options, &handed).unwrap();
            assert_eq!(
                found,
                naive::cliques(&graph, &options, &handed),
                "seed {seed}"
            );
            let mut anew = OverlapGraph::new(OverlapOptions::default()).unwrap();
            for segment in graph.segments() {
                anew.insert(segment.clone()).unwrap();
            }
            assert_eq!(graph.edges(), anew.edges(), "seed {seed}");
            assert_eq!(
                found,
                anew.cliques(&options, &handed).unwrap(),
                "seed {seed}"
            );
            all.groups += found.len();
            all.revisions += found.iter().filter(|one| one.revises.is_some()).count();
            let taskless = |id: &&SegmentId| graph.get(id).is_some_and(|one| one.tasks.is_empty());
            let members = found.iter().flat_map(|clique| &clique.segments);
            all.with_untold += members.filter(taskless).count();
            if draws.chance(80) {
                handed.extend(found.into_iter().map(|clique| clique.fingerprint));
            }
            if draws.chance(20) {
                handed.pop_first();
            }
        }
    }
    all
}

#[test]
fn the_groups_are_those_of_a_search_over_everything() {
    let Found {
        groups,
        with_untold,
        revisions,
    } = compared(false);
    assert!(
        groups > 200 && with_untold > 50,
        "{groups} groups, {with_untold} taskless"
    );
    assert_eq!(revisions, 0, "the recipe asks for none");
}

#[test]
fn the_skill_revision_groups_are_those_of_a_search_over_everything() {
    assert!(compared(true).revisions > 0);
}

/// A library of skills of no task that are all alike: they are not compared until a group could hold two of them, and what
/// comes later is compared with what it touches.
#[test]
fn skills_of_no_task_that_are_alike_cost_no_edges() {
    let one = |at: usize| {
        skill(
            &format!("s{at:03}"),
            &[],
            "unseal the jar before it is poured",
        )
    };
    let mut graph = graph((0..300).map(one));
    assert_eq!(graph.kept_edges(), 0);
    graph.insert(turn("a", "t", "walk the dog")).unwrap();
    assert_eq!(graph.kept_edges(), 0);
    graph
        .insert(turn("b", "t", "unseal the jar before it is poured"))
        .unwrap();
    // The turn's own, both ways.
    assert_eq!(graph.kept_edges(), 2 * 300);
    assert_eq!(graph.edges().len(), 300 * 301 / 2);
}
