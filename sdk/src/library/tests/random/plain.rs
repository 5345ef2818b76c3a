//! The library once more, written plainly from the module's rules: lists that are sorted whole where the library moves one
//! skill at a time.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    domain::{Committed, LibraryChange, Origin, Skill, SkillRef, State, Tier, TierPolicy},
    id::RunId,
    library::{Entry, SetBy, tests::reference},
};

/// One version of a skill.
#[derive(Clone, Debug, PartialEq)]
struct Made {
    version: u64,
    name: String,
    runs: Vec<RunId>,
    parents: Vec<SkillRef>,
    by_person: bool,
    state: State,
}

impl Made {
    fn of(skill: &Skill) -> Self {
        Self {
            version: skill.version.0,
            name: skill.name.to_string(),
            runs: skill.provenance.runs.clone(),
            parents: skill.parents.clone(),
            by_person: skill.provenance.origin == Origin::Human,
            state: skill.state,
        }
    }

    /// Whether this is of it, without a copy of it.
    fn is_of(&self, skill: &Skill) -> bool {
        self.version == skill.version.0
            && self.name == skill.name.as_str()
            && self.runs == skill.provenance.runs
            && self.parents == skill.parents
            && self.by_person == (skill.provenance.origin == Origin::Human)
            && self.state == skill.state
    }
}

/// A credit that counted: its version, reward, uses, weight of the past and run.
type Counted = (u64, f64, u64, f64, Option<RunId>);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    id: String,
    versions: Vec<Made>,
    state: State,
    tier: Tier,
    utility: f64,
    uses: u64,
    credits: u64,
    added_at: u64,
    began: f64,
    counted: Vec<Counted>,
    merged: Option<(String, u64, State)>,
    set: Vec<Set>,
}

/// What set a state.
#[derive(Clone, Debug, PartialEq)]
enum By {
    Host,
    Run(RunId),
    Retired(RunId),
}

/// A state that was set: the version, the state before and after, and who set it.
type Set = (u64, State, State, By);

impl Row {
    pub(super) fn of(entry: &Entry) -> Self {
        let counted = entry.evidence.iter().map(|credit| {
            let run = credit.run.clone();
            (
                credit.version.0,
                credit.reward,
                credit.uses,
                credit.beta,
                run,
            )
        });
        let merged = entry.merged.as_ref();
        Self {
            id: entry.skill.id.to_string(),
            versions: entry.versions().map(Made::of).collect(),
            state: entry.skill.state,
            tier: entry.tier,
            utility: entry.utility,
            uses: entry.uses,
            credits: entry.credits,
            added_at: entry.added_at.0,
            began: entry.began,
            counted: counted.collect(),
            merged: merged.map(|merged| (merged.into.to_string(), merged.version.0, merged.from)),
            set: (entry.life.states.iter())
                .map(|set| (set.version.0, set.before, set.state, By::of(&set.by)))
                .collect(),
        }
    }

    /// Whether this is of it, without a copy of it.
    pub(super) fn is_of(&self, entry: &Entry) -> bool {
        let evidence = &entry.evidence;
        let counted = self.counted.iter().zip(evidence);
        let merged = self.merged.iter().zip(&entry.merged);
        self.id == entry.skill.id.as_str()
            && self.versions.len() == entry.versions().count()
            && (self.versions.iter().zip(entry.versions())).all(|(made, of)| made.is_of(of))
            && (self.state, self.tier) == (entry.skill.state, entry.tier)
            && (self.utility, self.began) == (entry.utility, entry.began)
            && (self.uses, self.credits) == (entry.uses, entry.credits)
            && self.added_at == entry.added_at.0
            && self.counted.len() == evidence.len()
            && counted
                .into_iter()
                .all(|((version, reward, uses, beta, run), of)| {
                    (*version, *reward, *uses, *beta) == (of.version.0, of.reward, of.uses, of.beta)
                        && *run == of.run
                })
            && self.set.len() == entry.life.states.len()
            && (self.set.iter().zip(&entry.life.states)).all(|((version, _, to, by), of)| {
                (*version, *to) == (of.version.0, of.state) && *by == By::of(&of.by)
            })
            && self.merged.is_some() == entry.merged.is_some()
            && merged.into_iter().all(|((into, version, from), of)| {
                into == of.into.as_str() && (*version, *from) == (of.version.0, of.from)
            })
    }

    fn now(&self) -> &Made {
        self.versions.last().unwrap()
    }

    fn version(&self) -> u64 {
        self.now().version
    }

    fn weigh(&mut self) {
        self.utility = self.began;
        self.uses = 0;
        self.credits = 0;
        for (version, reward, uses, beta, _) in self.counted.clone() {
            self.utility = beta * self.utility + (1.0 - beta) * reward;
            self.uses += uses;
            self.credits += u64::from(version == self.version());
        }
    }

    /// The states that a version was set to, in order.
    fn set_of(&self, number: u64) -> Vec<Set> {
        let of = self.set.iter().filter(|set| set.0 == number);
        of.cloned().collect()
    }

    /// Takes the states that a run set out of the history of each version's states.
    fn unset(&mut self, run: &RunId) {
        let own = By::Run(run.clone());
        let sets = self.set.len();
        let merged_away = self.state == State::Archived && !self.gave_way();
        let numbers: Vec<u64> = self.versions.iter().map(|made| made.version).collect();
        for number in numbers {
            let of = self.set_of(number);
            let last = of.iter().rev().take_while(|set| set.3 == own).last();
            let Some((_, state, ..)) = last.cloned() else {
                continue;
            };
            if number != self.version() {
                let made = self.versions.iter_mut().find(|made| made.version == number);
                made.unwrap().state = state;
            } else if merged_away && let Some((_, _, from)) = &mut self.merged {
                *from = state;
            } else {
                Reference::enter(self, state);
            }
        }
        while let Some(at) = self.set.iter().position(|set| set.3 == own) {
            let (number, before, ..) = self.set.remove(at);
            if let Some(next) = self.set[at..].iter_mut().find(|set| set.0 == number) {
                next.1 = before;
            }
        }
        if self.set.len() < sets && self.gave_way() {
            let last = self.set_of(self.version()).pop().unwrap();
            self.merged.as_mut().unwrap().2 = last.1;
        }
    }

    /// Whether it was archived when what it was merged into came into use, and not by the merge.
    fn gave_way(&self) -> bool {
        let last = self.set_of(self.version()).pop();
        let by_set = last.is_some_and(|set| set.2 == State::Archived);
        let merged = self.merged.as_ref();
        let in_use = merged.is_some_and(|merged| merged.2 != State::Archived);
        self.state == State::Archived && by_set && in_use
    }

    /// Whether the retirement of a run set this version's state.
    fn is_marked(&self, version: u64, run: &RunId) -> bool {
        let by = By::Retired(run.clone());
        self.set.iter().any(|set| set.0 == version && set.3 == by)
    }

    /// Marks the earlier ones of these versions as taken back.
    fn mark(&mut self, bad: &BTreeSet<SkillRef>, run: &RunId) {
        let (_, before) = self.versions.split_last().unwrap();
        let taken = before.iter().filter(|made| {
            let is_bad = bad.contains(&reference(&self.id, made.version));
            is_bad && !self.is_marked(made.version, run)
        });
        let by = By::Retired(run.clone());
        let marks: Vec<Set> = taken
            .map(|made| (made.version, made.state, State::Disabled, by.clone()))
            .collect();
        self.set.extend(marks);
    }

    /// Gives the current version what set the state of one of two others, if it has that state.
    fn carry(&mut self, from: [u64; 2]) {
        for number in from {
            let of = self.set_of(number);
            if of.last().is_some_and(|set| set.2 == self.state) {
                let now = self.version();
                self.set.extend(
                    of.into_iter()
                        .map(|(_, before, to, by)| (now, before, to, by)),
                );
                return;
            }
        }
    }

    /// What sorts the lowest first.
    fn rank(&self, other: &Self) -> std::cmp::Ordering {
        let by_utility = self.utility.partial_cmp(&other.utility).unwrap();
        by_utility.then(self.id.cmp(&other.id))
    }
}

impl By {
    fn of(by: &SetBy) -> Self {
        match by {
            SetBy::Host => Self::Host,
            SetBy::Run(run) => Self::Run(run.clone()),
            SetBy::Retirement(run) => Self::Retired(run.clone()),
        }
    }
}

#[derive(Default)]
pub(super) struct Reference {
    policy: TierPolicy,
    pub(super) rows: Vec<Row>,
    gone: BTreeMap<String, Row>,
    credited: BTreeSet<(String, String)>,
}

impl Reference {
    fn row(&mut self, id: &str) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.id == id)
    }

    /// Folds a commit in; the rows are in order of ids then.
    pub(super) fn apply(&mut self, commit: &Committed) {
        for change in &commit.changes {
            self.fold(change, commit);
        }
        self.rows.sort_by(|a, b| a.id.cmp(&b.id));
    }

    fn fold(&mut self, change: &LibraryChange, commit: &Committed) {
        let revision = commit.revision.0;
        match change {
            LibraryChange::Configure(policy) => self.policy = policy.clone(),
            LibraryChange::Maintain => self.maintain(),
            LibraryChange::Add(skill) => {
                self.add(skill, self.policy.initial_utility, revision);
            }
            LibraryChange::Merge {
                skill,
                sources,
                beside,
            } => {
                let ids: Vec<&str> = sources.iter().map(|id| id.as_str()).collect();
                self.merge(skill, &ids, *beside, revision);
            }
            LibraryChange::RollBack { skill, to, .. } => {
                let row = self.row(skill.as_str()).cloned();
                let made = row.and_then(|row| {
                    let made = row.versions.iter().find(|made| made.version == to.0);
                    made.filter(|made| made.version != row.version()).cloned()
                });
                if let Some(mut made) = made {
                    if let Some(run) = commit.cause.run.clone()
                        && !made.runs.contains(&run)
                    {
                        made.runs.push(run);
                    }
                    let held = made.state == State::Quarantined;
                    let row = self.row(skill.as_str()).unwrap();
                    let from = [row.version(), made.version];
                    self.bring_back(skill.as_str(), &made, held);
                    let row = self.row(skill.as_str()).unwrap();
                    row.merged = None;
                    row.carry(from);
                }
            }
            LibraryChange::RetireRun { run, .. } => self.retire(run),
            // They touch neither tiers nor utilities: `tests/life.rs` has them.
            LibraryChange::Release { .. }
            | LibraryChange::Expose { .. }
            | LibraryChange::Assign(_)
            | LibraryChange::Attribute(_)
            | LibraryChange::PatchBundle { .. }
            | LibraryChange::Test { .. }
            | LibraryChange::Gain { .. }
            | LibraryChange::Compare { .. }
            | LibraryChange::Prove { .. }
            | LibraryChange::Observe(_)
            | LibraryChange::Note(_)
            | LibraryChange::Handled { .. }
            | LibraryChange::SetRules { .. }
            | LibraryChange::Assess(_)
            | LibraryChange::SetPrototypes(_)
            | LibraryChange::SetAnchors(_)
            | LibraryChange::CheckAnchors(_)
            | LibraryChange::Erased { .. } => {}
            LibraryChange::Restore { skill, .. } => {
                if let Some(mut row) = self.gone.remove(skill.as_str()) {
                    let state = std::mem::replace(&mut row.state, State::Archived);
                    row.tier = Tier::Aside;
                    Self::enter(&mut row, state);
                    let name = self.name(&row.now().name, &row.id);
                    row.versions.last_mut().unwrap().name = name;
                    self.rows.push(row);
                }
            }
            LibraryChange::Place { skill, tier, .. } => {
                if let Some(row) = self.row(skill.as_str())
                    && row.tier != Tier::Aside
                {
                    row.tier = *tier;
                }
            }
            LibraryChange::Revise(skill) => self.revise(skill),
            LibraryChange::SetState { skill, state, .. } => {
                let run = commit.cause.run.clone();
                let by = run.map_or(By::Host, By::Run);
                let mut comes_into_use = false;
                if let Some(row) = self.row(skill.as_str()) {
                    comes_into_use = row.state != State::Active && *state == State::Active;
                    Self::set(row, *state, by.clone());
                }
                if comes_into_use {
                    self.give_way(skill.as_str(), &by);
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
                    let run = commit.cause.run.clone();
                    row.counted.push((row.version(), *reward, *uses, beta, run));
                    row.weigh();
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
        row.versions.last_mut().unwrap().state = state;
    }

    fn set(row: &mut Row, state: State, by: By) {
        row.set.push((row.version(), row.state, state, by));
        Self::enter(row, state);
        row.merged = None;
    }

    fn name(&self, asked: &str, id: &str) -> String {
        let taken = |name: &str| {
            let mut rows = self.rows.iter();
            rows.any(|row| row.now().name == name && row.id != id)
        };
        let mut name = asked.to_owned();
        let mut number = 1;
        while taken(&name) {
            number += 1;
            name = format!("{asked}-{number}");
        }
        name
    }

    fn add(&mut self, skill: &Skill, utility: f64, revision: u64) -> bool {
        let id = skill.id.to_string();
        let last = self.gone.get(&id).map_or(0, Row::version);
        if self.row(&id).is_some() || skill.version.0 <= last {
            return false;
        }
        let before = self.gone.remove(&id).map_or(Vec::new(), |row| row.versions);
        let made = Made {
            name: self.name(skill.name.as_str(), &id),
            ..Made::of(skill)
        };
        let mut row = Row {
            versions: before.into_iter().chain([made]).collect(),
            state: State::Archived,
            tier: Tier::Aside,
            utility,
            uses: 0,
            credits: 0,
            added_at: revision,
            began: utility,
            counted: Vec::new(),
            merged: None,
            set: Vec::new(),
            id,
        };
        Self::enter(&mut row, skill.state);
        self.rows.push(row);
        true
    }

    fn revise(&mut self, skill: &Skill) {
        let Some(row) = self.row(skill.id.as_str()).cloned() else {
            return;
        };
        if skill.version.0 > row.version() {
            let mut made = Made::of(skill);
            if made.parents.is_empty() {
                made.parents.push(reference(&row.id, row.version()));
            }
            self.put(&row.id, made);
            Self::enter(self.row(&row.id).unwrap(), skill.state);
            self.row(&row.id).unwrap().merged = None;
        }
    }

    fn put(&mut self, id: &str, mut made: Made) {
        made.name = self.name(&made.name, id);
        let row = self.row(id).unwrap();
        row.versions.push(made);
        row.credits = 0;
    }

    fn bring_back(&mut self, id: &str, made: &Made, held: bool) {
        let row = self.row(id).unwrap();
        let version = row.version() + 1;
        let offered = [State::Active, State::Trial].contains(&row.state);
        let state = if offered && held {
            made.state
        } else {
            row.state
        };
        let parents = vec![reference(id, made.version)];
        let made = made.clone();
        self.put(
            id,
            Made {
                version,
                parents,
                ..made
            },
        );
        Self::enter(self.row(id).unwrap(), state);
    }

    fn merge(&mut self, skill: &Skill, sources: &[&str], beside: bool, revision: u64) {
        let known: Vec<Row> = sources
            .iter()
            .filter_map(|id| self.row(id).cloned())
            .collect();
        let sum: f64 = known.iter().map(|row| row.utility).sum();
        let mut skill = skill.clone();
        let parents = known.iter().map(|row| reference(&row.id, row.version()));
        skill.parents = parents.collect();
        if known.is_empty() || !self.add(&skill, sum / known.len() as f64, revision) {
            return;
        }
        let merged = self.row(skill.id.as_str());
        let stay = beside && merged.is_some_and(|row| row.state != State::Active);
        for source in sources {
            if let Some(row) = self.row(source) {
                row.merged = Some((skill.id.to_string(), row.version(), row.state));
                if !stay {
                    Self::enter(row, State::Archived);
                }
            }
        }
    }

    /// Archives what was merged into a skill that came into use.
    fn give_way(&mut self, id: &str, by: &By) {
        for row in &mut self.rows {
            let Some((into, version, _)) = row.merged.clone() else {
                continue;
            };
            let offered = [State::Active, State::Trial].contains(&row.state);
            if into == id && version == row.version() && offered {
                let from = row.state;
                Self::set(row, State::Archived, by.clone());
                row.merged = Some((into, version, from));
            }
        }
    }

    fn retire(&mut self, run: &RunId) {
        let all: Vec<Row> = self
            .rows
            .iter()
            .chain(self.gone.values())
            .cloned()
            .collect();
        let mut bad: BTreeSet<SkillRef> = BTreeSet::new();
        let marked = |of: &SkillRef| {
            let row = all.iter().find(|row| row.id == of.id.as_str());
            row.is_some_and(|row| row.is_marked(of.version.0, run))
        };
        for _ in 0..all.iter().map(|row| row.versions.len()).sum::<usize>() {
            let before = bad.len();
            for row in &all {
                for made in &row.versions {
                    if made.runs.contains(run)
                        || made.parents.iter().any(|p| bad.contains(p) && !marked(p))
                    {
                        bad.insert(reference(&row.id, made.version));
                    }
                }
            }
            if bad.len() == before {
                break;
            }
        }
        let is_bad = |row: &Row, made: &Made| bad.contains(&reference(&row.id, made.version));
        let mut disabled = BTreeSet::new();
        for row in self.gone.values_mut() {
            row.counted.retain(|(.., by)| by.as_ref() != Some(run));
            row.weigh();
            row.unset(run);
            if !is_bad(row, row.now()) || row.is_marked(row.version(), run) {
                continue;
            }
            let by = By::Retired(run.clone());
            let good = row
                .versions
                .iter()
                .rfind(|made| !is_bad(row, made))
                .cloned();
            if row.now().by_person {
                Self::set(row, State::Quarantined, by);
            } else if let Some(good) = good {
                let offered = [State::Active, State::Trial];
                if offered.contains(&row.state) && !offered.contains(&good.state) {
                    row.state = good.state;
                }
                if let Some((_, _, from)) = &mut row.merged
                    && !offered.contains(&good.state)
                {
                    *from = good.state;
                }
                let from = [row.version(), good.version];
                row.versions.push(Made {
                    version: row.version() + 1,
                    parents: vec![reference(&row.id, good.version)],
                    ..good
                });
                row.credits = 0;
                row.carry(from);
                row.mark(&bad, run);
            } else {
                Self::set(row, State::Disabled, by);
                disabled.insert(row.id.clone());
            }
            row.versions.last_mut().unwrap().state = row.state;
        }
        // In the order of their ids: who comes first takes a free name.
        self.rows.sort_by(|a, b| a.id.cmp(&b.id));
        for mut row in self.rows.clone() {
            let count = row.counted.len();
            row.counted.retain(|(.., by)| by.as_ref() != Some(run));
            if row.counted.len() < count {
                row.weigh();
            }
            row.unset(run);
            *self.row(&row.id).unwrap() = row.clone();
            if !is_bad(&row, row.now()) || row.is_marked(row.version(), run) {
                continue;
            }
            let by = By::Retired(run.clone());
            let good = row.versions.iter().rfind(|made| !is_bad(&row, made));
            let id = row.id.as_str();
            if row.now().by_person {
                Self::set(self.row(id).unwrap(), State::Quarantined, by);
            } else if let Some(good) = good {
                let held = ![State::Active, State::Trial].contains(&good.state);
                self.bring_back(id, good, held);
                let from = [row.version(), good.version];
                self.row(id).unwrap().carry(from);
                self.row(id).unwrap().mark(&bad, run);
                if let Some((_, _, from)) = &mut self.row(id).unwrap().merged
                    && held
                {
                    *from = good.state;
                }
            } else {
                Self::set(self.row(id).unwrap(), State::Disabled, by);
                disabled.insert(id.to_owned());
            }
        }
        for row in &mut self.rows {
            if let Some((into, _, state)) = row.merged.clone()
                && disabled.contains(&into)
                && row.state == State::Archived
            {
                Self::enter(row, state);
                row.merged = None;
            }
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
        self.gone.extend(gone.map(|row| (row.id.clone(), row)));
        rows
    }
}
