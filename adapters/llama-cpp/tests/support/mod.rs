//! A tiny model with random weights, written as a GGUF: tests need no download.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub(crate) mod bare;
pub(crate) mod gguf;
pub(crate) mod scripted;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

#[allow(unused_imports, reason = "each test binary uses its own part of this")]
pub(crate) use gguf::{Lora, Noise};
use journeyman::domain::{Message, Prompt, Span, Speaker};
use journeyman::testing::Edited as _;
use journeyman_llama_cpp::{
    GpuLayers, IsolatedConfig, IsolatedLlama, LlamaConfig, LlamaCpp, Precision, Template,
};

use self::gguf::{gguf, pair, pair_list, pair_text, pair_texts, pair_u32};

/// Width, layers, heads, heads of keys and values, feed-forward.
const WIDTH: usize = 32;
const LAYERS: usize = 2;
const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const HIDDEN: usize = 64;

/// Tokens after the 256 bytes; two are merges.
const MERGED: [&str; 2] = ["th", "the"];
pub(crate) const CONTROL: [&str; 8] = [
    "<s>",
    "</s>",
    "<task>",
    "<call>",
    "<obs>",
    "<|im_start|>",
    "<|im_end|>",
    "<|pad|>",
];

/// What is special about a tiny model.
#[derive(Clone)]
pub(crate) struct Tiny {
    pub(crate) seed: u64,
    /// How it says that it pools, by llama.cpp's numbers.
    pub(crate) pooling: Option<u32>,
    /// How it says that texts are split into words, by llama.cpp's names.
    pub(crate) split: &'static str,
    pub(crate) template: Option<&'static str>,
    pub(crate) add_bos: bool,
    pub(crate) context: u32,
    pub(crate) not_a_number: bool,
}

impl Default for Tiny {
    fn default() -> Self {
        Self {
            seed: 1,
            pooling: None,
            split: "gpt-2",
            template: None,
            add_bos: false,
            context: 1024,
            not_a_number: false,
        }
    }
}

/// A file that goes when it is dropped.
pub(crate) struct TestFile(pub(crate) PathBuf);

impl TestFile {
    pub(crate) fn new(name: &str, bytes: &[u8]) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = format!("{}-{number}-{name}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
        fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

/// Layers on a GPU: `JOURNEYMAN_TEST_GPU_LAYERS` runs the same tests there.
pub(crate) fn gpu_layers() -> GpuLayers {
    match std::env::var("JOURNEYMAN_TEST_GPU_LAYERS").as_deref() {
        Ok("all") => GpuLayers::All,
        Ok(layers) => GpuLayers::Count(layers.parse().unwrap()),
        Err(_) => GpuLayers::None,
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

pub(crate) fn isolated_config(path: &Path) -> IsolatedConfig {
    let mut model = LlamaConfig::new(path).exact();
    model.template = Template::None;
    model.gpu_layers = gpu_layers();
    isolated(model)
}

/// With the worker of this build.
pub(crate) fn isolated<M>(model: M) -> IsolatedConfig<M> {
    let mut config = IsolatedConfig::new(model);
    config.environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| {
            let driver = name.starts_with("GGML_VK_") || name.starts_with("VK_");
            driver || name == "LD_LIBRARY_PATH"
        })
        .collect();
    config.worker = Some(env!("CARGO_BIN_EXE_journeyman-llama-worker").into());
    config
}

impl Tiny {
    pub(crate) fn load(&self) -> Arc<LlamaCpp> {
        self.load_with(|_| ())
    }

    pub(crate) fn load_with(&self, change: impl FnOnce(&mut LlamaConfig)) -> Arc<LlamaCpp> {
        load(&self.file(), |config| {
            if self.template.is_some() {
                config.template = Template::Auto;
            }
            change(config);
        })
    }

    pub(crate) fn file(&self) -> TestFile {
        TestFile::new("tiny.gguf", &self.bytes())
    }

    /// In a process of its own, with the file, which a worker that is started anew reads again.
    pub(crate) fn isolate_with(
        &self,
        change: impl FnOnce(&mut IsolatedConfig),
    ) -> (Arc<IsolatedLlama>, TestFile) {
        let file = self.file();
        let mut config = isolated_config(&file.0);
        if self.template.is_some() {
            config.model.template = Template::Auto;
        }
        change(&mut config);
        (IsolatedLlama::load(config).unwrap(), file)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (tensors, data) = self.tensors();
        gguf(&self.metadata(), &tensors, &data)
    }

    fn metadata(&self) -> Vec<Vec<u8>> {
        let mut pairs = vec![
            pair_text("general.architecture", "llama"),
            pair_text("general.name", "tiny"),
            pair_u32("llama.context_length", self.context),
            pair_u32("llama.embedding_length", WIDTH as u32),
            pair_u32("llama.block_count", LAYERS as u32),
            pair_u32("llama.feed_forward_length", HIDDEN as u32),
            pair_u32("llama.attention.head_count", HEADS as u32),
            pair_u32("llama.attention.head_count_kv", KV_HEADS as u32),
            pair(
                "llama.attention.layer_norm_rms_epsilon",
                6,
                &1e-5_f32.to_le_bytes(),
            ),
        ];
        pairs.extend(tokenizer(self.split, self.add_bos, self.template));
        if let Some(pooling) = self.pooling {
            pairs.push(pair_u32("llama.pooling_type", pooling));
        }
        pairs
    }

    /// Names and shapes, innermost size first, and all numbers one after the other.
    fn tensors(&self) -> (Vec<(String, Vec<usize>)>, Vec<f32>) {
        let vocabulary = vocabulary();
        let mut noise = Noise(self.seed);
        let mut tensors = vec![
            (
                "token_embd.weight".to_owned(),
                vec![WIDTH, vocabulary.len()],
            ),
            ("output_norm.weight".to_owned(), vec![WIDTH]),
        ];
        let kv = WIDTH / HEADS * KV_HEADS;
        for layer in 0..LAYERS {
            for (name, shape) in [
                ("attn_norm", vec![WIDTH]),
                ("attn_q", vec![WIDTH, WIDTH]),
                ("attn_k", vec![WIDTH, kv]),
                ("attn_v", vec![WIDTH, kv]),
                ("attn_output", vec![WIDTH, WIDTH]),
                ("ffn_norm", vec![WIDTH]),
                ("ffn_gate", vec![WIDTH, HIDDEN]),
                ("ffn_up", vec![WIDTH, HIDDEN]),
                ("ffn_down", vec![HIDDEN, WIDTH]),
            ] {
                tensors.push((format!("blk.{layer}.{name}.weight"), shape));
            }
        }
        let mut data = Vec::new();
        for (name, shape) in &tensors {
            let count: usize = shape.iter().product();
            if name.ends_with("norm.weight") {
                data.extend(std::iter::repeat_n(1.0, count));
            } else if name.starts_with("token_embd") {
                for word in &vocabulary {
                    // What is no printable ASCII is improbable, so that texts can be read.
                    let loud = word.bytes().all(|byte| byte.is_ascii_graphic());
                    let scale = if loud && !word.starts_with('<') {
                        0.7
                    } else {
                        0.1
                    };
                    data.extend((0..WIDTH).map(|_| scale * noise.normal()));
                }
            } else {
                let scale = 1.5 / (shape[0] as f32).sqrt();
                data.extend((0..count).map(|_| scale * noise.normal()));
            }
        }
        if self.not_a_number {
            let last = data.len() - 1;
            data[last] = f32::NAN;
        }
        (tensors, data)
    }
}

/// The header's part about the tokenizer.
fn tokenizer(split: &str, add_bos: bool, template: Option<&str>) -> Vec<Vec<u8>> {
    let vocabulary = vocabulary();
    let merges = ["t h", "th e"];
    let bos = vocabulary.len() as u32 - CONTROL.len() as u32;
    let types = (0..vocabulary.len() as u32).map(|id| if id < bos { 1 } else { 3 });
    let mut pairs = vec![
        pair_text("tokenizer.ggml.model", "gpt2"),
        pair_text("tokenizer.ggml.pre", split),
        pair_texts("tokenizer.ggml.tokens", &vocabulary),
        pair_texts("tokenizer.ggml.merges", &merges.map(str::to_owned)),
        pair_list(
            "tokenizer.ggml.token_type",
            5,
            &types.flat_map(u32::to_le_bytes).collect::<Vec<_>>(),
            vocabulary.len(),
        ),
        pair_u32("tokenizer.ggml.bos_token_id", bos),
        pair_u32("tokenizer.ggml.eos_token_id", bos + 1),
        pair("tokenizer.ggml.add_bos_token", 7, &[add_bos.into()]),
    ];
    pairs.extend(template.map(|template| pair_text("tokenizer.chat_template", template)));
    pairs
}

/// The text of tokens, control tokens by their names.
pub(crate) fn spelled(ids: &[i32]) -> String {
    let bytes = ids
        .iter()
        .flat_map(|&id| match usize::try_from(id).unwrap() {
            byte @ 0..=255 => vec![byte as u8],
            id => match id - 256 {
                merged if merged < MERGED.len() => MERGED[merged].as_bytes().to_vec(),
                control => CONTROL[control - MERGED.len()].as_bytes().to_vec(),
            },
        });
    String::from_utf8(bytes.collect()).unwrap()
}

/// Byte-level BPE as GPT-2 has it: bytes that cannot be printed are written as characters from U+0100 on.
fn vocabulary() -> Vec<String> {
    let mut shifted = 0x100;
    let bytes = (0..=255_u8).map(|byte| {
        let code = if matches!(byte, 33..=126 | 161..=172 | 174..=255) {
            u32::from(byte)
        } else {
            shifted += 1;
            shifted - 1
        };
        char::from_u32(code).unwrap().to_string()
    });
    let mut vocabulary: Vec<String> = bytes.collect();
    vocabulary.extend(MERGED.map(str::to_owned));
    vocabulary.extend(CONTROL.map(str::to_owned));
    vocabulary
}

/// The number of one of [`CONTROL`].
pub(crate) fn control(text: &str) -> i32 {
    let index = CONTROL.iter().position(|&control| control == text).unwrap();
    (256 + MERGED.len() + index) as i32
}

/// Loads a file that has no chat template.
pub(crate) fn load(file: &TestFile, change: impl FnOnce(&mut LlamaConfig)) -> Arc<LlamaCpp> {
    let mut config = LlamaConfig::new(&file.0);
    config.template = Template::None;
    config.gpu_layers = gpu_layers();
    // Tests compare numbers of different batches.
    config.precision = Precision::Full;
    change(&mut config);
    LlamaCpp::load(config).unwrap()
}

/// A prompt of one data message behind a marker.
pub(crate) fn prompt(text: &str) -> Prompt {
    Prompt::new(vec![Message::new(
        Speaker::User,
        vec![
            Span::Control("<task>".to_owned()),
            Span::Data(text.to_owned()),
        ],
    )])
    .edited(|it| it.open = vec![Span::Control("<call>".to_owned())])
}
