//! What the adapter does beyond the contracts' conformance cases, on a tiny random model.

mod adapters;
mod constrained;
mod describing;
mod embedding;
mod fitting;
mod generating;
mod jobs;
mod loading;
mod prefixes;
mod prompting;
mod scoring;
mod serving;
mod sharing;
mod thoughts;
mod tools;
