//! One trait a file: what a host or an adapter implements. The rules of each trait are the bullets in its
//! documentation; the module `testing::conformance` (feature `conformance`) has a case for each bullet.
//!
//! # Time limits
//!
//! With a [`Clock`], a run limits the time of its calls (`Recipe::limits`): attempts, verdicts, scores, roles, embeddings,
//! retrieval and commits. Calls of a [`Journal`], and calls of a store outside a commit, have no limit: an adapter bounds
//! them itself.
//!
//! A limit takes effect at an await point of the call. A part that computes or waits on its thread without awaiting cannot
//! be interrupted, and holds up everything else that the run has in flight. A call that keeps its thread for a second or
//! more is reported once ([`FindingKind::BlockingPart`](crate::run::report::FindingKind::BlockingPart)).
//! [`OnThread`](crate::agent::OnThread) runs the blocking calls of a judge, an environment, a model, a scorer, a retriever
//! or an embedder on threads of their own. The SDK works with any async runtime and therefore starts no thread by itself.

mod clock;
mod components;
mod embedder;
mod environment;
mod executor;
mod guidance;
mod journal;
mod judge;
mod language_model;
mod prompt_format;
mod refinable;
mod retriever;
mod roles;
mod scorer;
mod skill_files;
mod skill_store;
mod tokenizer;
mod tools;

pub use clock::Clock;
pub use components::Components;
pub(crate) use embedder::dot;
pub use embedder::{Embedder, Embedding, EmbeddingSpace};
pub use environment::{Environment, EnvironmentCapabilities, Episode};
pub use executor::{Attempt, Executor};
pub use guidance::{FixedGuidance, Guidance, TurnContext};
pub use journal::{Journal, JournalEntry};
pub use judge::{Judge, JudgeRequest};
pub use language_model::{
    FinishReason, GenerateRequest, Generation, LanguageModel, ModelCapabilities, ModelSpeed,
    TokenSink,
};
pub use prompt_format::{FitQuestion, PromptFormat, ScoringPair, TurnMove, TurnView};
pub(crate) use refinable::Refinable;
pub use retriever::Retriever;
pub use roles::{BankDraft, CaseDraft, FailedAnswer, RoleAnswer, RoleRequest, Roles};
pub use roles::{
    BundleCounts, Experience, Finding, RoleTask, SegmentPrompt, SubgoalInAttempt, Taught,
    VersionJudgements,
};
pub use scorer::KeptScores;
pub(crate) use scorer::adapted;
pub use scorer::{FitTotals, SkillScores, Total};
pub use scorer::{ScoreRequest, Scorer, TokenScores};
pub use skill_files::SkillFiles;
pub(crate) use skill_store::since;
pub use skill_store::{RebasedCommit, SkillStore, SkillStoreExt, Snapshot};
pub use tokenizer::{TokenCount, Tokenizer};
pub use tools::ToolChoice;
