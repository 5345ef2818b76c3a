//! The library: a fold over committed changes, in two tiers (ARISE C.2, C.3; rows A5, A6).
//!
//! [`SkillLibrary`] is the fold of the changes of a [`SkillStore`](crate::contract::SkillStore). Folding the same changes
//! gives the same bytes, on any machine. Changes record inputs and may be rebased onto another writer's commits, so the
//! fold distinguishes two cases:
//!
//! - A change that is wrong in *any* library ([`LibraryChange::validate`](crate::domain::LibraryChange::validate): a
//!   reward that is not finite, a policy out of range) is an error, and the library stays as it was.
//! - A change that came too late (a credit for a skill that was deleted, a second revision of one version) is
//!   passed over: counted by its [`PassReason`], listed in [`Applied`], and otherwise without effect.
//!
//! # The rules of the tiers
//! The paper leaves points open; the following rules decide them. A step commits its changes in the order of
//! C.3: credits (Update), then what is added, then `Maintain` (Evict, Load, Delete). Where the gate rejected
//! every candidate there are no credits, and where no draft was valid nothing is added; the rest proceeds.
//!
//! - *Tiers.* Offered skills (trial, active) are in the cache or the reservoir. The others are
//!   [aside](crate::domain::Tier::Aside): they take no room, and no rule of the tiers moves or deletes them. A skill that
//!   becomes offered enters the cache as a new one does; one that stops being offered leaves its tier.
//! - *Order and ties.* Skills are ordered by utility, then by id: of two with equal utility the one with the
//!   smaller id counts as the lower. It is the first to be evicted, swapped out or deleted, and the last to be
//!   loaded. With ids that grow with time that is the older one, so a new skill gets its chance.
//! - *Update.* `u = beta * u + (1 - beta) * reward` for each credit. [`credit`](crate::stations::credit) decides whether a
//!   step has one credit with the group's mean or one for each rollout. A pair of skill and attempt
//!   counts once.
//! - *Add.* A new skill enters the cache with the policy's initial utility and no use. A name that is taken
//!   gets a suffix, `-2` to `-99` and then one made of its id (a long name is cut to make room): ids identify, names
//!   only label.
//! - *Evict.* While the cache is over its size, the lowest unprotected skill goes to the reservoir, with its
//!   utility and counts.
//! - *Load.* Free room in the cache (after a skill was set aside, or the cache enlarged) is filled with the
//!   highest of the reservoir. Then, if the highest of the reservoir has a strictly greater utility than the
//!   lowest unprotected skill of the cache, the two are swapped: once, or with
//!   [`load_until_stable`](crate::domain::TierPolicy::load_until_stable) for as long as it holds. C.3 (iii)
//!   requires that a skill that was just evicted does not come back: it had the lowest utility of the unprotected, so
//!   no unprotected skill that stayed is strictly lower, and protected ones (chosen once, before Evict) are
//!   not swapped out either.
//! - *Delete.* A skill of the reservoir whose utility is strictly below the percentile and that was never used
//!   in any version is removed. The percentile is taken over all skills of the reservoir after Load, by
//!   linear interpolation between the closest ranks (NumPy's default, Hyndman and Fan's type 7). Then,
//!   while the reservoir is over its size, its lowest goes, used or not.
//! - *Protection.* At most half of the cache (rounded down), the latest added, of those with fewer credits than
//!   [`protected_credits`](crate::domain::TierPolicy::protected_credits).
//! - *Revise.* A later version keeps its skill's tier and utility (the best guess before it was tried) and
//!   its cumulative uses, and begins without credits, so protection begins anew. The version that it replaces
//!   goes to the history and is recorded as its parent where the author named none.
//! - *Life* (HiSME 3.3). Exposures and judgements count once for each attempt and version; a version's counts begin anew.
//!   A bundle has at most 12 cases, of more the oldest that are no unit cases go; it belongs to the skill and outlives
//!   versions. Attempts are kept up to the policy's number, the latest.
//! - *Assessments* (SCRIBE). An attempt is assessed once; the latest 10,000 subgoals are kept. Prototypes and anchors are set as
//!   a whole; those of the latest 16 runs are kept, so that a run can be taken back, and the latest 64 checkpoints.
//! - *Ids.* A deleted skill can be added again only in a version later than those it had, so that a skill and a
//!   version never name two texts; its earlier versions are its history then, and it begins without evidence.
//!
//! # What may be offered (S2, J7)
//! A version is tainted when its author says so or when one of its parents is. A version that is tainted or imported and
//! would be active is quarantined instead, whoever commits it: a change of its state releases it, or a release by evidence as
//! long as nobody has set its state ([`Entry::awaits_evidence`]). It stays tainted. A person's version is accepted as it is.
//!
//! # Nothing is lost (J6)
//! A skill that Delete removes leaves the tiers and frees its name, and is kept aside with its versions and evidence.
//! Every change can be taken back:
//!
//! - *Merge.* The new skill begins with the mean of its sources' utilities and no use, with their current versions as
//!   parents where the author named none. The sources are archived and remember the state that they had. A merge on trial
//!   beside its sources leaves them as they are, and they are archived when it leaves the trial for use; a source that got another
//!   version or state meanwhile stays as it is.
//! - *Roll back.* The version that comes back is a new one with the text and provenance of the old, which is its parent, and
//!   with the run that did it, where one did;
//!   it keeps the skill's state, tier, utility and uses, as a revision does, and is quarantined where it was then.
//! - *Restore.* A deleted skill is there again with its state, versions and evidence, under a free name; an offered one
//!   enters the cache.
//! - *Retire a run.* Its credits, exposures, judgements, cases, attempts and assessments are taken out, roles have the rules of
//!   before, prototypes and anchors are those of before, a version whose state it set last has the state of before, and the utility is folded anew from the credits that are left (an attempt that was seen stays seen). A
//!   version is *of the run* when its provenance names it or one of its parents is of the run. A skill whose current
//!   version is of the run goes back to its latest version that is not; one that has none is disabled, unless the host or a
//!   person has taken it out of use, and the sources of such a merged one are as they were before. A person's version that was made from one of the run is
//!   quarantined, for the person to decide. Deleted skills are treated alike and stay deleted. It is done once: later
//!   commits of a run that goes on, or of a writer that builds on its versions, are not taken back by it. A version that it
//!   disabled stays marked ([`SetBy::Retirement`]): admission lets it return when it is written again from other evidence, and
//!   a second retirement of the run leaves alone what became of it.
//! - *Erased.* The one exception: a person's data can be removed from earlier commits. A change records that it was, and
//!   from which skills; folding the changes anew gives the library without it.
//! - *Forks.* A [`Fork`] shares what it does not change with its library, so it costs the same whatever the size;
//!   [`Fork::rebase`] names what was changed on both sides.

mod applied;
mod assigned;
mod entry;
mod fold;
mod fork;
pub mod format;
mod history;
mod keys;
mod life;
mod memory;
mod refresh;
mod remember;
mod rubrics;
mod skill_library;
mod tiers;

#[cfg(test)]
mod tests;

pub use applied::{Applied, Move, Operation, PassReason, PassedOver};
pub use entry::{Entry, Evidence, Merged};
pub use fork::{Conflict, ConflictReason, Fork, Rebased};
pub use fork::{Difference, FieldChange};
pub use history::{FoundRun, RunFilter};
pub(crate) use life::StandingWith;
pub use life::{
    BundledCase, Compared, Gained, Judged, JudgementCounts, Life, Lifetime, LiveEvidence, Proof,
    SetBy, StateSet, Tested,
};
pub use rubrics::KnownSubgoal;
pub use skill_library::SkillLibrary;
