//! The library against a second implementation, written plainly from the module's rules: lists that are sorted
//! whole where the library moves one skill at a time.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::{ChaCha8Rng, rand_core::Rng};

use super::{Entry, SkillLibrary, Tier, committed, reference, skill};
use crate::{
    domain::{LibraryChange, Skill, SkillRef, State, TierPolicy},
    id::{Seed, Version},
};

#[derive(Clone, Debug, PartialEq)]
struct Row {
    id: String,
    name: String,
    versions: Vec<u64>,
    state: State,
    tier: Tier,
    utility: f64,
    uses: u64,
    credits: u64,
    added_at: u64,
}

impl Row {
    fn of(entry: &Entry) -> Self {
        let versions = entry.history.iter().chain([&entry.skill]);
        Self {
            id: entry.skill.id.to_string(),
            name: entry.skill.name.to_string(),
            versions: versions.map(|skill| skill.version.0).collect(),
            state: entry.skill.state,
            tier: entry.tier,
            utility: entry.utility,
            uses: entry.uses,
            credits: entry.credits,
            added_at: entry.added_at.0,
        }
    }

    fn version(&self) -> u64 {
        *self.versions.last().unwrap()
    }

    /// What sorts the lowest first.
    fn rank(&self, other: &Self) -> std::cmp::Ordering {
        let by_utility = self.utility.partial_cmp(&other.utility).unwrap();
        by_utility.then(self.id.cmp(&other.id))
    }
}

#[derive(Default)]
struct Reference {
    policy: TierPolicy,
    rows: Vec<Row>,
    gone: BTreeMap<String, u64>,
    credited: BTreeSet<(String, String)>,
}

impl Reference {
    fn row(&mut self, id: &str) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.id == id)
    }

    fn fold(&mut self, change: &LibraryChange, revision: u64) {
        match change {
            LibraryChange::Configure(policy) => self.policy = policy.clone(),
            LibraryChange::Maintain => self.maintain(),
            LibraryChange::Add(skill) => self.add(skill, revision),
            LibraryChange::Revise(skill) => self.revise(skill),
            LibraryChange::SetState { skill, state, .. } => {
                if let Some(row) = self.row(skill.as_str()) {
                    Self::enter(row, *state);
                }
            }
            LibraryChange::Credit {
                skill,
                attempt,
                reward,
                uses,
            } => {
                let beta = self.policy.beta;
                let key = (skill.id.to_string(), attempt.to_string());
                let known = self.credited.contains(&key);
                if let Some(row) = self.row(skill.id.as_str())
                    && row.version() == skill.version.0
                    && !known
                {
                    row.utility = beta * row.utility + (1.0 - beta) * reward;
                    row.uses += uses;
                    row.credits += 1;
                    self.credited.insert(key);
                }
            }
        }
    }

    fn enter(row: &mut Row, state: State) {
        let offered = [State::Active, State::Trial];
        match (offered.contains(&row.state), offered.contains(&state)) {
            (false, true) => row.tier = Tier::Cache,
            (true, false) => row.tier = Tier::Aside,
            _ => {}
        }
        row.state = state;
    }

    fn name(&self, skill: &Skill) -> String {
        let taken = |name: &str| {
            self.rows
                .iter()
                .any(|row| row.name == name && row.id != skill.id.as_str())
        };
        let mut name = skill.name.to_string();
        let mut number = 1;
        while taken(&name) {
            number += 1;
            name = format!("{}-{number}", skill.name);
        }
        name
    }

    fn add(&mut self, skill: &Skill, revision: u64) {
        let id = skill.id.to_string();
        let last = self.gone.get(&id).copied().unwrap_or(0);
        if self.row(&id).is_some() || skill.version.0 <= last {
            return;
        }
        let mut row = Row {
            name: self.name(skill),
            versions: vec![skill.version.0],
            state: State::Archived,
            tier: Tier::Aside,
            utility: self.policy.initial_utility,
            uses: 0,
            credits: 0,
            added_at: revision,
            id,
        };
        Self::enter(&mut row, skill.state);
        self.gone.remove(&row.id);
        self.rows.push(row);
    }

    fn revise(&mut self, skill: &Skill) {
        let name = self.name(skill);
        if let Some(row) = self.row(skill.id.as_str())
            && skill.version.0 > row.version()
        {
            row.versions.push(skill.version.0);
            row.name = name;
            row.credits = 0;
            Self::enter(row, skill.state);
        }
    }

    fn take(&mut self, tier: Tier) -> Vec<Row> {
        let (taken, left) = self.rows.drain(..).partition(|row| row.tier == tier);
        self.rows = left;
        taken
    }

    fn maintain(&mut self) {
        let policy = self.policy.clone();
        let mut cache = self.take(Tier::Cache);
        let mut reservoir = self.take(Tier::Reservoir);
        cache.sort_by(|a, b| (b.added_at, &b.id).cmp(&(a.added_at, &a.id)));
        let mut room = policy.cache / 2;
        let (kept, mut cache): (Vec<_>, Vec<_>) = cache.into_iter().partition(|row| {
            let keep = row.credits < policy.protected_credits && room > 0;
            room -= usize::from(keep);
            keep
        });
        // What the protected leave is for the others: the highest stay, free room goes to the reservoir's.
        let size = policy.cache - kept.len();
        cache.sort_by(|a, b| b.rank(a));
        reservoir.extend(cache.split_off(size.min(cache.len())));
        reservoir.sort_by(|a, b| b.rank(a));
        let free = (size - cache.len()).min(reservoir.len());
        cache.extend(reservoir.drain(..free));
        if policy.load_until_stable {
            let count = cache.len();
            let mut all: Vec<(bool, Row)> = cache.into_iter().map(|row| (true, row)).collect();
            all.extend(reservoir.into_iter().map(|row| (false, row)));
            all.sort_by(|(was_a, a), (was_b, b)| {
                let utility = b.utility.partial_cmp(&a.utility).unwrap();
                utility.then(was_b.cmp(was_a)).then(b.id.cmp(&a.id))
            });
            let mut rows = all.into_iter().map(|(_, row)| row);
            cache = rows.by_ref().take(count).collect();
            reservoir = rows.collect();
        } else {
            cache.sort_by(|a, b| b.rank(a));
            if let (Some(low), Some(high)) = (cache.last_mut(), reservoir.first_mut())
                && high.utility > low.utility
            {
                std::mem::swap(low, high);
            }
        }
        let reservoir = self.delete(reservoir);
        let back = |rows: Vec<Row>, tier| rows.into_iter().map(move |row| Row { tier, ..row });
        self.rows.extend(back(kept, Tier::Cache));
        self.rows.extend(back(cache, Tier::Cache));
        self.rows.extend(back(reservoir, Tier::Reservoir));
    }

    fn delete(&mut self, mut rows: Vec<Row>) -> Vec<Row> {
        rows.sort_by(Row::rank);
        if rows.is_empty() {
            return rows;
        }
        let place = self.policy.delete_percentile / 100.0 * (rows.len() - 1) as f64;
        let low = rows[place as usize].utility;
        let between = place.fract() > 0.0 && rows[place as usize + 1].utility > low;
        let (gone, mut rows): (Vec<_>, Vec<_>) = rows
            .into_iter()
            .partition(|row| row.uses == 0 && (row.utility < low || between && row.utility == low));
        let over = rows.len().saturating_sub(self.policy.reservoir);
        let gone = gone.into_iter().chain(rows.drain(..over));
        self.gone.extend(gone.map(|row| {
            let version = row.version();
            (row.id, version)
        }));
        rows
    }
}

/// Random changes over few ids, versions, names and rewards, so that they collide often. Ids and versions move
/// on slowly, since a deleted skill can come back only in a later version.
struct Events {
    rng: ChaCha8Rng,
    drawn: u64,
}

impl Events {
    fn below(&mut self, bound: u64) -> u64 {
        self.rng.next_u64() % bound
    }

    fn id(&mut self) -> String {
        format!("s{:04}", self.drawn / 100 + self.below(60))
    }

    fn version(&mut self, bound: u64) -> u64 {
        1 + self.drawn / 300 + self.below(bound)
    }

    fn skill(&mut self, versions: u64) -> Box<Skill> {
        let id = self.id();
        let name = format!("name{}", self.below(12));
        let version = Version(self.version(versions));
        let state = match self.below(6) {
            0 => State::Trial,
            1 => State::Quarantined,
            _ => State::Active,
        };
        Box::new(Skill {
            version,
            state,
            ..skill(&id, &name)
        })
    }

    /// Mostly a skill that is there.
    fn credited(&mut self, library: &SkillLibrary) -> SkillRef {
        let count = library.entries().count() as u64;
        match self.below(5) {
            0 => reference(&self.id(), self.version(2)),
            _ => library
                .entries()
                .nth(self.below(count + 1) as usize)
                .map(|entry| entry.skill.reference())
                .unwrap_or_else(|| reference("none", 1)),
        }
    }

    fn policy(&mut self) -> TierPolicy {
        TierPolicy {
            cache: 1 + self.below(8) as usize,
            reservoir: self.below(30) as usize,
            beta: [0.0, 0.5, 0.9][self.below(3) as usize],
            initial_utility: [0.0, 0.5, -1.0][self.below(3) as usize],
            protected_credits: self.below(3),
            delete_percentile: [0.0, 10.0, 10.0, 37.5, 100.0][self.below(5) as usize],
            load_until_stable: self.below(2) == 0,
        }
    }

    fn change(&mut self, library: &SkillLibrary) -> LibraryChange {
        self.drawn += 1;
        match self.below(100) {
            0 => LibraryChange::Configure(self.policy()),
            1..=10 => LibraryChange::Maintain,
            11..=40 => LibraryChange::Add(self.skill(2)),
            41..=46 => LibraryChange::Revise(self.skill(6)),
            47..=54 => LibraryChange::SetState {
                skill: self.id().as_str().into(),
                state: [State::Active, State::Trial, State::Disabled][self.below(3) as usize],
                reason: "a test".into(),
            },
            _ => LibraryChange::Credit {
                skill: self.credited(library),
                attempt: format!("t{}", self.below(300)).as_str().into(),
                reward: self.below(3) as f64,
                uses: 1 + self.below(8),
            },
        }
    }
}

#[test]
fn a_hundred_thousand_events() {
    let mut events = Events {
        rng: Seed(20_260_316).rng(),
        drawn: 0,
    };
    let mut library = SkillLibrary::new();
    let mut plain = Reference::default();
    let mut log = Vec::new();
    let mut count = 0;
    while count < 100_000 {
        let changes: Vec<_> = (0..=events.below(6))
            .map(|_| events.change(&library))
            .collect();
        let commit = committed(library.revision().next().0, changes);
        count += commit.changes.len();
        library.apply(&commit).unwrap();
        for change in &commit.changes {
            plain.fold(change, commit.revision.0);
        }
        plain.rows.sort_by(|a, b| a.id.cmp(&b.id));
        let rows: Vec<Row> = library.entries().map(Row::of).collect();
        assert_eq!(rows, plain.rows, "after {count} events, {commit:?}");
        if commit.changes.last() == Some(&LibraryChange::Maintain) {
            assert!(library.cache().count() <= library.policy().cache);
            assert!(library.reservoir().count() <= library.policy().reservoir);
        }
        log.push(commit);
    }
    // Saved in the middle and read back, or folded again from the start: the same bytes.
    let (first, rest) = log.split_at(log.len() / 2);
    let half = SkillLibrary::replay(first).unwrap().to_json().unwrap();
    let mut resumed = SkillLibrary::from_json(&half).unwrap();
    for commit in rest {
        resumed.apply(commit).unwrap();
    }
    assert_eq!(resumed.to_json().unwrap(), library.to_json().unwrap());
    // The events reached every corner.
    let passed_over = library.passed_over();
    assert_eq!(passed_over.len(), 6, "{passed_over:?}");
    assert!(
        passed_over.values().sum::<u64>() < 50_000,
        "{passed_over:?}"
    );
    let mut operations = BTreeMap::new();
    let mut again = SkillLibrary::new();
    for moved in log.iter().flat_map(|c| again.apply(c).unwrap().moves) {
        *operations.entry(moved.operation).or_insert(0) += 1;
    }
    assert_eq!(operations.len(), 9, "{operations:?}");
    assert!(operations.values().all(|&n| n > 100), "{operations:?}");
}
