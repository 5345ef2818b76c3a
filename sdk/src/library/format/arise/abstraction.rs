//! Makes a document of an attempt without a model (ARISE D.1, the trace-abstract fallback).

use super::{AriseDocument, AriseSchema, document::Fields, limits::clip};

/// The action of one step of an attempt, without any value of the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceStep {
    /// A call of a tool.
    Call {
        /// The tool's name.
        tool: String,
        /// The names of its arguments.
        arguments: Vec<String>,
    },
    /// A message to the user.
    Message,
}

/// Words of a text that a name is made of.
const NAME_WORDS: usize = 3;

impl AriseSchema {
    /// The trace abstraction (D.1): a minimal document made of the steps of a successful attempt, without a model. The
    /// name and the insight name the tools in order, so that a search finds it; the paper's constant name finds nothing. The method has all steps in order, spread over as many method steps as the limits
    /// allow; immediate repetitions are written once. Where the steps are too long, the names of arguments are left out
    /// first; then steps are left out, and the last step of the method ends with their number.
    ///
    /// The document fits all limits that leave each field at least one character.
    ///
    /// ```
    /// use journeyman::library::format::{AriseSchema, ProblemTypes, TraceStep};
    ///
    /// let call = |tool: &str| TraceStep::Call { tool: tool.to_owned(), arguments: vec!["tin".to_owned()] };
    /// let schema = AriseSchema::new(ProblemTypes::general());
    /// let document = schema.trace_abstract(&[call("unseal"), call("brew")]);
    /// assert_eq!(document.skill_name(), "unseal_then_brew");
    /// assert_eq!(document.key_insight(), "Solve by: unseal, brew");
    /// assert_eq!(document.method(), ["call unseal with tin", "call brew with tin"]);
    /// ```
    pub fn trace_abstract(&self, steps: &[TraceStep]) -> AriseDocument {
        let mut steps = steps.to_vec();
        steps.dedup();
        let limits = &self.limits;
        self.minimal(
            name(&steps, limits.name.max(1)),
            insight(&steps, limits.insight.min(limits.total / 3)),
            &steps,
        )
    }

    /// The trace abstraction of an attempt without a call (D.1): the insight is the beginning of what the agent wrote, and the name its
    /// first words. It holds the values of its task.
    ///
    /// ```
    /// use journeyman::library::format::{AriseSchema, ProblemTypes};
    ///
    /// let schema = AriseSchema::new(ProblemTypes::arise());
    /// let document = schema.reasoning_abstract("Complete the square: x^2 + 6x = (x + 3)^2 - 9.");
    /// assert_eq!(document.skill_name(), "complete_the_square");
    /// assert_eq!(document.key_insight(), "Solve by: Complete the square: x^2 + 6x = (x + 3)^2 - 9.");
    /// ```
    pub fn reasoning_abstract(&self, text: &str) -> AriseDocument {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words: Vec<String> = words
            .filter(|word| !word.is_empty())
            .take(NAME_WORDS)
            .map(str::to_lowercase)
            .collect();
        let name = match words.is_empty() {
            true => "trace_abstract".to_owned(),
            false => words.join("_"),
        };
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let limits = &self.limits;
        self.minimal(
            clip(&name, limits.name.max(1)),
            clip(
                &format!("Solve by: {line}"),
                limits.insight.min(limits.total / 2).max(1),
            ),
            &[],
        )
    }

    /// A document of these steps that fits the limits.
    fn minimal(
        &self,
        skill_name: String,
        key_insight: String,
        steps: &[TraceStep],
    ) -> AriseDocument {
        let limits = &self.limits;
        let fields = Fields {
            skill_name,
            problem_type: self.problem_types.fallback().to_owned(),
            key_insight,
            method: Vec::new(),
            check: clip(self.default_check(), limits.check.max(1)),
        };
        let mut document = AriseDocument { fields };
        let room = limits.total.saturating_sub(document.content_chars());
        document.fields.method = self.method(steps, room);
        // Reached only where the limits leave no room for any step.
        for (check, insight, step) in [(Self::LEAST_CHECK, Self::LEAST_INSIGHT, 20), (1, 1, 1)] {
            self.shorten(&mut document, check, |fields| Some(&mut fields.check));
            self.shorten(&mut document, insight, |fields| {
                Some(&mut fields.key_insight)
            });
            for index in (0..document.fields.method.len()).rev() {
                self.shorten(&mut document, step, |fields| fields.method.get_mut(index));
            }
        }
        document
    }

    /// As many of the steps as fit into this many characters.
    fn method(&self, steps: &[TraceStep], room: usize) -> Vec<String> {
        let most = self.limits.step;
        let fits = |method: &Vec<String>| {
            let lengths = method.iter().map(|step| step.chars().count());
            lengths.clone().all(|length| length <= most) && lengths.sum::<usize>() <= room
        };
        // A bound on the search: each written step takes some characters.
        let written = (1..=steps.len().min(room)).rev();
        let whole = steps.len() <= room;
        let with_arguments = whole.then(|| self.spread(steps, steps.len(), true));
        with_arguments
            .into_iter()
            .chain(written.map(|count| self.spread(steps, count, false)))
            .find(fits)
            .unwrap_or_else(|| self.spread(steps, 0, false))
    }

    /// The first `count` steps, spread evenly over the method, and how many more there are.
    fn spread(&self, steps: &[TraceStep], count: usize, with_arguments: bool) -> Vec<String> {
        let limits = &self.limits;
        let least = (*limits.steps.start()).max(1);
        let most = (*limits.steps.end()).max(least);
        let groups = count.min(most);
        let mut method: Vec<String> = (0..groups)
            .map(|group| {
                let part = &steps[group * count / groups..(group + 1) * count / groups];
                sentence(part, with_arguments)
            })
            .collect();
        let more = steps.len() - count;
        let unit = if more == 1 { "step" } else { "steps" };
        match method.last_mut() {
            Some(last) if more > 0 => last.push_str(&format!(", then {more} more {unit}")),
            None if more > 0 => method.push(format!("Take {more} {unit}")),
            _ => {}
        }
        let fillers = [
            "Follow the insight",
            "Check the result",
            "Correct what is wrong",
        ];
        let missing = least.saturating_sub(method.len());
        let fillers = fillers.into_iter().chain(std::iter::repeat("Go on"));
        method.extend(
            fillers
                .take(missing)
                .map(|filler| clip(filler, limits.step.max(1))),
        );
        method
    }
}

/// Steps in order, such as "call a with x, then b, then say something to the user".
fn sentence(steps: &[TraceStep], with_arguments: bool) -> String {
    let mut text = String::new();
    let mut calls = false;
    for step in steps {
        if !text.is_empty() {
            text.push_str(", then ");
        }
        match step {
            TraceStep::Call { tool, arguments } => {
                if !calls {
                    text.push_str("call ");
                }
                text.push_str(tool);
                if with_arguments && !arguments.is_empty() {
                    text.push_str(&format!(" with {}", arguments.join(", ")));
                }
                calls = true;
            }
            TraceStep::Message => {
                text.push_str("say something to the user");
                calls = false;
            }
        }
    }
    text
}

/// The tools in the order of their first calls.
fn tools(steps: &[TraceStep]) -> Vec<&str> {
    let mut tools: Vec<&str> = Vec::new();
    for step in steps {
        if let TraceStep::Call { tool, .. } = step
            && !tools.contains(&tool.as_str())
        {
            tools.push(tool);
        }
    }
    tools
}

/// The first tools, as many as fit.
fn name(steps: &[TraceStep], most: usize) -> String {
    let tools = tools(steps);
    let named = |count: usize| tools[..count].join("_then_").replace(' ', "_");
    let mut fitting = (1..=tools.len()).rev().map(named);
    let found = fitting.find(|text| text.chars().count() <= most);
    let first = || tools.first().copied().unwrap_or("trace_abstract");
    found.unwrap_or_else(|| clip(first(), most))
}

/// The tools in the order of their first calls, as many as fit, and how many more there are.
fn insight(steps: &[TraceStep], most: usize) -> String {
    let tools = tools(steps);
    let nothing = match steps.is_empty() {
        true => "Solve by: following the method",
        false => "Solve by: saying something to the user",
    };
    let named = |count: usize| match (count, tools.len() - count) {
        (0, 0) => nothing.to_owned(),
        (0, more) => format!("Solve by: {more} tools"),
        (_, 0) => format!("Solve by: {}", tools.join(", ")),
        (_, more) => format!("Solve by: {} and {more} more", tools[..count].join(", ")),
    };
    let mut fitting = (0..=tools.len().min(most)).rev().map(named);
    let found = fitting.find(|text| text.chars().count() <= most);
    found.unwrap_or_else(|| clip(&named(0), most.max(1)))
}
