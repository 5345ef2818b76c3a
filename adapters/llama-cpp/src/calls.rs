//! How a chat template writes tool calls. [`published_calls`](journeyman::text::published_calls) reads them.

/// Stands in front of a tool's name in the calls of Functionary and of Qwen3-Coder, which has a tag for each parameter behind it.
const FUNCTION: &str = "<function=";

/// The spelling of a template's calls, found in its rendering of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallForm {
    /// What stands between the opening of the model's turn and the tool's name. `None` where the opening differs from what stands in
    /// front of a call, as where it opens thoughts in the family's own way: then no call can be begun for the model.
    before: Option<String>,
    /// What stands between the name and the arguments; `None` where these are no JSON object.
    between: Option<String>,
}

impl CallForm {
    /// Finds the form in `call`, a template's rendering of one call of `tool`. `arguments` are the call's arguments as JSON. `opening` is
    /// what the template writes in the call's place where the model is to answer. `None` where `call` does not name the tool.
    pub(crate) fn of(call: &str, opening: &str, tool: &str, arguments: &str) -> Option<Self> {
        let at = call.find(tool)?;
        let (before, behind) = (&call[..at], &call[at + tool.len()..]);
        let between = behind.find(arguments).map(|end| behind[..end].to_owned());
        // A schema cannot hold a tag for each parameter. The reader takes a JSON object in place of the tags, which it can hold.
        let in_tags = || before.ends_with(FUNCTION).then(|| ">".to_owned());
        let own = before.strip_prefix(without_thoughts(opening));
        Some(Self {
            before: own.map(|own| behind_thoughts(own).to_owned()),
            between: between.or_else(in_tags),
        })
    }

    /// How a call begins: up to its arguments where the tool is known and they are a JSON object. Empty where no call can be begun.
    pub(crate) fn begin(&self, tool: Option<&str>) -> String {
        let before = self.before.as_deref();
        let named = || format!("{}{}", before?, tool?).into();
        tool.and_then(|tool| self.up_to_arguments(tool))
            .or_else(named)
            .or_else(|| before.map(str::to_owned))
            .unwrap_or_default()
    }

    /// How a call of a tool begins, up to the JSON object of its arguments.
    pub(crate) fn up_to_arguments(&self, tool: &str) -> Option<String> {
        let (before, between) = (self.before.as_ref()?, self.between.as_ref()?);
        Some(format!("{before}{tool}{between}"))
    }

    /// What stands between name and arguments, where the name stands there as it is.
    pub(crate) fn behind_name(&self, name: &str) -> Option<&str> {
        let is_escaped = name.contains(|c: char| c.is_control() || "\"\\<>".contains(c));
        self.between.as_deref().filter(|_| !is_escaped)
    }
}

/// An opening without thoughts that are opened or left empty at its end.
fn without_thoughts(opening: &str) -> &str {
    let trimmed = opening.trim_end();
    let opened = trimmed.strip_suffix("</think>").unwrap_or(trimmed);
    opened.trim_end().strip_suffix("<think>").unwrap_or(opening)
}

/// What stands in front of a name, behind empty thoughts and blank lines.
fn behind_thoughts(before: &str) -> &str {
    let behind = before.rsplit("</think>").next().unwrap_or(before);
    behind.trim_start_matches('\n')
}

#[cfg(test)]
mod tests;
