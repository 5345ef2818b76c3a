//! The reasons for which segments belong together (HiSME appendix C: an explainable purity signal).

use serde::{Deserialize, Serialize};

use crate::papers::hisme::{
    SegmentArgument, SegmentKind, ValueSource,
    overlap::{CliqueOptions, Overlap, graph::Node},
};

/// A reason for which the segments of a group belong together. A group has every reason that holds, at least one.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purity {
    /// All segments call these tools. A skill counts as calling the tools that it needs and those that its text names.
    SharedTools {
        /// By name.
        tools: Vec<String>,
    },
    /// All turns were refused for the same reason.
    SharedPreconditionFailure {
        /// The n-grams that the refusals of all turns share.
        ngrams: Vec<String>,
    },
    /// All turns give these arguments in the same way.
    SharedArgumentBinding {
        /// By tool and argument.
        bindings: Vec<Binding>,
    },
    /// All tasks are similar, and the turns make calls of the same shape: the number of calls, and for each call the number
    /// of arguments, the sources of their values, and whether it was refused.
    AlignedStructure {
        /// The least overlap of any two segments, by embedding or n-grams, whichever is greater.
        overlap: f64,
    },
}

/// The source of an argument's value, where the task does not give it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binding {
    /// From the result of another call.
    Carried {
        /// The tool that is called.
        tool: String,
        /// The argument.
        argument: String,
        /// The tool whose result has the value.
        from: String,
    },
    /// The value is the same in all turns.
    Constant {
        /// The tool that is called.
        tool: String,
        /// The argument.
        argument: String,
        /// The value.
        value: String,
    },
}

/// The properties of a segment that a reason can be based on. All lists are sorted.
#[derive(Debug)]
pub(super) struct Traits {
    pub(super) tools: Vec<String>,
    errors: Vec<String>,
    bindings: Vec<Binding>,
    shape: String,
    is_trace: bool,
}

impl Traits {
    pub(crate) fn of(node: &Node) -> Self {
        let segment = &node.segment;
        let calls = segment.calls.iter();
        let tools: Vec<String> = calls.clone().map(|call| call.tool.clone()).collect();
        let accepted = calls.clone().filter(|call| !call.refused);
        let bindings = accepted.flat_map(|call| {
            let binding = |argument| binding(&call.tool, argument);
            call.arguments.iter().filter_map(binding)
        });
        let mut shape = String::new();
        for call in calls {
            shape.push(if call.refused { '!' } else { '.' });
            let mut sources: Vec<char> = Vec::new();
            for argument in &call.arguments {
                sources.push(match argument.source {
                    ValueSource::Request => 'q',
                    ValueSource::Result { .. } => 'r',
                    ValueSource::Agent => 'a',
                });
            }
            sources.sort_unstable();
            shape.extend(sources);
        }
        Self {
            tools: sorted(tools),
            errors: segment.error_ngrams().into_iter().collect(),
            bindings: sorted(bindings.collect()),
            shape,
            is_trace: matches!(segment.kind, SegmentKind::Trace { .. }),
        }
    }

    /// Adds tools that a skill's text names.
    pub(super) fn name_tools<'a>(&mut self, named: impl Iterator<Item = &'a String>) {
        self.tools.extend(named.cloned());
        self.tools = sorted(std::mem::take(&mut self.tools));
    }
}

fn binding(tool: &str, argument: &SegmentArgument) -> Option<Binding> {
    let (tool, name) = (tool.to_owned(), argument.name.clone());
    match &argument.source {
        ValueSource::Request => None,
        ValueSource::Result { tool: from } => Some(Binding::Carried {
            tool,
            argument: name,
            from: from.clone(),
        }),
        ValueSource::Agent => Some(Binding::Constant {
            tool,
            argument: name,
            value: argument.value.clone(),
        }),
    }
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort_unstable();
    list.dedup();
    list
}

/// The properties that the segments of a group share. Where a group lacks a reason, every larger group with its segments
/// lacks it too, so a search can end there.
#[derive(Clone, Debug)]
pub(super) struct Shared<'a> {
    options: &'a CliqueOptions,
    tools: Vec<&'a String>,
    /// The greatest number of tools that one turn calls.
    most_tools: usize,
    traces: usize,
    /// Shared by the turns alone, as are the fields below.
    errors: Vec<&'a String>,
    refused_alike: bool,
    bindings: Vec<&'a Binding>,
    shape: Option<&'a str>,
    /// The least overlap of all pairs; `None` where the structure differs.
    aligned: Option<f64>,
}

impl<'a> Shared<'a> {
    pub(crate) fn of(one: &'a Traits, options: &'a CliqueOptions) -> Self {
        let empty = Self {
            options,
            tools: one.tools.iter().collect(),
            most_tools: 0,
            traces: 0,
            errors: Vec::new(),
            refused_alike: true,
            bindings: Vec::new(),
            shape: None,
            aligned: Some(1.0),
        };
        empty.with(one, &[])
    }

    /// The shared properties with one more segment, given its overlap with each other segment and whether that one is a turn.
    pub(super) fn with(&self, one: &'a Traits, overlaps: &[(Overlap, bool)]) -> Self {
        let mut shared = self.clone();
        shared.tools.retain(|tool| contains(&one.tools, tool));
        if one.is_trace {
            shared.most_tools = shared.most_tools.max(one.tools.len());
            shared.traces += 1;
            if shared.traces == 1 {
                shared.errors = one.errors.iter().collect();
                shared.bindings = one.bindings.iter().collect();
                shared.shape = Some(one.shape.as_str());
            }
            shared.errors.retain(|ngram| contains(&one.errors, ngram));
            shared
                .bindings
                .retain(|one_of| contains(&one.bindings, one_of));
            let least = self.options.shared_errors;
            let mut turns = overlaps.iter().filter(|(_, is_trace)| *is_trace);
            shared.refused_alike &= turns.all(|(overlap, _)| overlap.error >= least);
            if shared.shape != Some(one.shape.as_str()) {
                shared.aligned = None;
            }
        }
        for (overlap, _) in overlaps {
            let alike = overlap.ngram.max(overlap.embedding);
            let so_far = shared.aligned.filter(|_| alike >= self.options.aligned);
            shared.aligned = so_far.map(|least| least.min(alike));
        }
        shared
    }

    /// Whether this group or a larger one can have a reason.
    pub(super) fn may_be_pure(&self) -> bool {
        let turns = self.traces == 0 || !self.bindings.is_empty() || self.share_errors();
        self.share_tools() || self.aligned.is_some() || turns
    }

    /// Whether this group has a reason.
    pub(super) fn is_pure(&self) -> bool {
        let turns = self.traces >= 2 && (!self.bindings.is_empty() || self.share_errors());
        self.share_tools() || self.aligned.is_some() || turns
    }

    /// The reasons.
    pub(super) fn purity(&self) -> Vec<Purity> {
        let mut reasons = Vec::new();
        if self.share_tools() {
            let tools = self.tools.iter().map(|tool| (*tool).clone()).collect();
            reasons.push(Purity::SharedTools { tools });
        }
        if self.traces >= 2 && self.share_errors() {
            let ngrams = self.errors.iter().map(|ngram| (*ngram).clone()).collect();
            reasons.push(Purity::SharedPreconditionFailure { ngrams });
        }
        if self.traces >= 2 && !self.bindings.is_empty() {
            let bindings = self.bindings.iter().map(|one| (*one).clone()).collect();
            reasons.push(Purity::SharedArgumentBinding { bindings });
        }
        let aligned = self
            .aligned
            .map(|overlap| Purity::AlignedStructure { overlap });
        reasons.extend(aligned);
        reasons
    }

    fn share_tools(&self) -> bool {
        let least = self.options.shared_tools * self.most_tools as f64;
        !self.tools.is_empty() && self.tools.len() as f64 >= least
    }

    fn share_errors(&self) -> bool {
        self.refused_alike && !self.errors.is_empty()
    }
}

fn contains<T: Ord>(sorted: &[T], one: &T) -> bool {
    sorted.binary_search(one).is_ok()
}
