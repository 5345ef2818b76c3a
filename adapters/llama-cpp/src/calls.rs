//! The forms in which families of models are made to write tool calls. [`published_calls`](journeyman::text::published_calls) reads
//! these and others.

/// How a family writes calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallForm {
    /// `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, any number of them: Hermes, Qwen.
    Tagged,
    /// `{"name": …, "parameters": {…}}`, perhaps behind `<|python_tag|>`: Llama 3.
    Object,
    /// `[TOOL_CALLS][{"name": …, "arguments": {…}}, …]`: Mistral to version 7.
    List,
    /// `[TOOL_CALLS]name[ARGS]{…}`, with `[CALL_ID]…` between or not: Mistral from version 11.
    Marked,
    /// `<function=name>{…}</function>`: Functionary; Qwen3-Coder and its like, which have a tag for each parameter, are made to write
    /// JSON there too.
    Function,
}

impl CallForm {
    /// The form of a call of `tool` in a template's rendering.
    pub(crate) fn of(rendered: &str, tool: &str) -> Option<Self> {
        let forms = [
            Self::Marked,
            Self::List,
            Self::Tagged,
            Self::Function,
            Self::Object,
        ];
        let begins = |form: &Self| {
            let mut begin = form.begin(Some(tool));
            // What stands between name and arguments differs within a family.
            if let Some(at) = begin.find(tool) {
                begin.truncate(at + tool.len());
            }
            rendered.contains(&begin)
        };
        forms.into_iter().find(begins)
    }

    /// How a call begins: up to its arguments where the tool is known.
    pub(crate) fn begin(self, tool: Option<&str>) -> String {
        let name = tool.unwrap_or_default();
        let known = tool.is_some();
        match self {
            Self::Tagged if known => {
                format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": ")
            }
            Self::Tagged => "<tool_call>\n{\"name\": \"".to_owned(),
            Self::Object if known => format!("{{\"name\": \"{name}\", \"parameters\": "),
            Self::Object => "{\"name\": \"".to_owned(),
            Self::List if known => {
                format!("[TOOL_CALLS][{{\"name\": \"{name}\", \"arguments\": ")
            }
            Self::List => "[TOOL_CALLS][{\"name\": \"".to_owned(),
            Self::Marked if known => format!("[TOOL_CALLS]{name}[ARGS]"),
            Self::Marked => "[TOOL_CALLS]".to_owned(),
            Self::Function if known => format!("<function={name}>"),
            Self::Function => "<function=".to_owned(),
        }
    }

    /// Whether plain tokens write the name of a tool and what stands between it and the arguments, so that it is read back. Not in
    /// Mistral's newer form: there a control token follows the name, which no text spells.
    pub(crate) fn spells(self, name: &str) -> bool {
        self != Self::Marked && !name.contains(|c: char| c.is_control() || "\"\\<>".contains(c))
    }

    /// What stands behind the arguments of a call that [`begin`](Self::begin) began with its tool.
    pub(crate) fn end(self) -> &'static str {
        match self {
            Self::Tagged => "}\n</tool_call>",
            Self::Object => "}",
            Self::List => "}]",
            Self::Marked => "",
            Self::Function => "</function>",
        }
    }
}

#[cfg(test)]
mod tests;
