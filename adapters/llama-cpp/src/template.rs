//! Chat templates: rendering the Jinja templates of model files, within bounds.

use journeyman::{Error, Result};
use minijinja::{Value, context};

use crate::config::Template;

mod conversation;
mod engine;
mod fault;
mod features;
mod json;
mod leaves;

pub(crate) use self::{
    conversation::Conversation,
    features::Features,
    leaves::{Piece, spells_plain},
};
use self::{engine::Engine, leaves::Leaves};

const LOAD: &str = "LlamaCpp::load";

/// Well-known templates, by name.
const NAMED: [(&str, &str); 4] = [
    (
        "chatml",
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}\
         {{ '<|im_start|>assistant\\n' }}",
    ),
    (
        "gemma",
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' or m.role == 'tool' %}\
         {{ raise_exception('only user and assistant speak') }}{% endif %}\
         {{ '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' + m.content + \
         '<end_of_turn>\\n' }}{% endfor %}{{ '<start_of_turn>model\\n' }}",
    ),
    (
        "llama3",
        "{{ bos_token }}{% for m in messages %}{{ '<|start_header_id|>' + ('ipython' if m.role == 'tool' else m.role) + \
         '<|end_header_id|>\\n\\n' + m.content + '<|eot_id|>' }}{% endfor %}\
         {{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}",
    ),
    (
        "mistral",
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}{{ '[SYSTEM_PROMPT]' + m.content + \
         '[/SYSTEM_PROMPT]' }}{% elif m.role == 'user' %}{{ '[INST]' + m.content + '[/INST]' }}\
         {% elif m.role == 'assistant' %}{{ m.content + eos_token }}{% else %}\
         {{ raise_exception('only system, user and assistant speak') }}{% endif %}{% endfor %}",
    ),
];

/// The special tokens that a template writes, and what the vocabulary allows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spellings {
    pub(crate) bos: String,
    pub(crate) eos: String,
    /// The special tokens that a text of letters, digits and harmless signs can spell; most vocabularies have none.
    pub(crate) plain: Vec<String>,
}

/// A compiled chat template.
pub(crate) struct ChatTemplate {
    engine: Engine,
    spellings: Spellings,
    features: Features,
}

impl ChatTemplate {
    /// The template that the host chose: its own text, a named one or the file's; `None` without a template.
    pub(crate) fn choose(
        template: &Template,
        own: Option<String>,
        spellings: Spellings,
    ) -> Result<Option<Self>> {
        let source = match template {
            Template::None => return Ok(None),
            Template::Jinja(source) => source.clone(),
            Template::Named(name) => {
                let known = NAMED.iter().find(|(known, _)| known == name);
                let (_, source) = known.ok_or_else(|| {
                    let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
                    Error::invalid(LOAD, "no chat template has this name").hint(format!(
                        "use one of {}, or give the template's text with Template::Jinja",
                        names.join(", ")
                    ))
                })?;
                (*source).to_owned()
            }
            Template::Auto => own.ok_or_else(|| {
                Error::unsupported(LOAD, "the file has no chat template").hint(
                    "load with Template::Named, such as `chatml`, for a chat model, or with Template::None where prompts \
                     are written in the model's own prompt format",
                )
            })?,
        };
        Self::compile(source, spellings).map(Some)
    }

    fn compile(source: String, spellings: Spellings) -> Result<Self> {
        let engine = Engine::compile(LOAD, source)?;
        let mut template = Self {
            engine,
            spellings,
            features: Features::default(),
        };
        template.features =
            Features::of(|conversation, as_text| template.raw(LOAD, conversation, as_text))?;
        Ok(template)
    }

    /// What the template can render.
    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    /// The conversation as the template writes it, with the opening of the model's turn.
    ///
    /// # Errors
    /// `Unsupported` where the template does not accept these messages, also in the form that it accepts best.
    pub(crate) fn render(
        &self,
        operation: &'static str,
        conversation: &Conversation<'_>,
    ) -> Result<Vec<Piece>> {
        let messages = self.features.adapted(conversation.messages);
        let adapted = Conversation {
            messages: &messages,
            ..*conversation
        };
        self.raw(operation, &adapted, self.features.arguments_as_text())
    }

    fn raw(
        &self,
        operation: &'static str,
        conversation: &Conversation<'_>,
        as_text: bool,
    ) -> Result<Vec<Piece>> {
        let mut leaves = Leaves::new(&self.spellings.plain);
        let messages = conversation::messages(&mut leaves, conversation.messages, as_text);
        let thinking = conversation.thinking;
        let tools = conversation::tools(&mut leaves, conversation.tools);
        // Firefunction's template reads these two in place of `tools`.
        let listed = match conversation.tools {
            [] => Value::from_iter::<[Value; 0]>([]),
            _ => tools.clone(),
        };
        let functions =
            json::in_lines(&listed).map_err(|error| fault::failed(operation, &error))?;
        let context = context! {
            messages,
            bos_token => self.spellings.bos.as_str(),
            eos_token => self.spellings.eos.as_str(),
            add_generation_prompt => true,
            tools,
            functions,
            datetime => engine::date("%Y-%m-%d 00:00:00"),
            documents => (),
            enable_thinking => thinking.map_or(Value::UNDEFINED, Value::from),
        };
        let rendered = self.engine.render(operation, context)?;
        leaves.put_back(operation, &rendered)
    }
}

#[cfg(test)]
mod tests;
