//! llama.cpp as others ship it: the prebuilt library of node-llama-cpp.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Where it lies.
pub(super) struct Peer(PathBuf);

/// What it measured of itself.
#[derive(Debug, Deserialize)]
pub(super) struct Measured {
    pub(super) load_ms: f64,
    /// Tokens per second, by the length of the prompt.
    pub(super) reading: BTreeMap<usize, Vec<f64>>,
    pub(super) writing: Vec<f64>,
    /// Whether it computes with flash attention, in its own words: `true`, `false` or `auto`.
    #[serde(default)]
    flash: String,
    /// The instructions that it uses, in llama.cpp's words.
    #[serde(default)]
    system: String,
}

impl Measured {
    /// How it computed.
    pub(super) fn about(&self) -> String {
        let flash = match self.flash.as_str() {
            "true" => "on",
            "false" => "off",
            "" => "unknown",
            other => other,
        };
        format!("flash attention {flash}, {}", self.system.trim())
    }
}

/// Installs it where it is missing.
pub(super) fn set_up(root: &Path) -> Result<Peer, Failure> {
    let done = Command::new("bash")
        .arg(root.join("tests/peer/setup.sh"))
        .output()?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into());
    }
    Ok(Peer(String::from_utf8(done.stdout)?.trim().into()))
}

impl Peer {
    pub(super) fn measure(
        &self,
        model: &Path,
        threads: u32,
        (context, reads): (usize, &[usize]),
        (write, seed): (usize, u64),
    ) -> Result<Measured, Failure> {
        let reads: Vec<String> = reads.iter().map(ToString::to_string).collect();
        let numbers = [
            threads.to_string(),
            context.to_string(),
            reads.join(","),
            write.to_string(),
            "1".to_owned(),
            (seed % 1_000_000).to_string(),
        ];
        let done = Command::new("node")
            .current_dir(&self.0)
            .arg("bench.mjs")
            .arg(std::path::absolute(model)?)
            .args(numbers)
            .output()?;
        if !done.status.success() {
            return Err(
                format!("the peer failed: {}", String::from_utf8_lossy(&done.stderr)).into(),
            );
        }
        let text = String::from_utf8(done.stdout)?;
        let line = text.lines().last().ok_or("the peer wrote nothing")?;
        Ok(serde_json::from_str(line)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_says_how_it_was_made() {
        let read = |text: &str| serde_json::from_str::<Measured>(text).unwrap().about();
        let line = r#"{"load_ms": 1, "reading": {"512": [2]}, "writing": [3], "system": "AVX2 = 1 |\n", "flash": "true"}"#;
        assert_eq!(read(line), "flash attention on, AVX2 = 1 |");
        let left_to_llama_cpp = line.replace("true", "auto");
        assert!(read(&left_to_llama_cpp).starts_with("flash attention auto, "));
        let older = r#"{"load_ms": 1, "reading": {}, "writing": []}"#;
        assert_eq!(read(older), "flash attention unknown, ");
    }
}
