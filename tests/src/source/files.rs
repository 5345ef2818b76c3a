//! The repository's files.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// Where the repository lies, if a program said so.
static MOVED: OnceLock<PathBuf> = OnceLock::new();

/// The repository's root: the folder that this was built in, or the one that [`repository_is_at`] was given.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built_in = || here.parent().unwrap_or(here).to_owned();
    MOVED.get().cloned().unwrap_or_else(built_in)
}

/// Says where the repository lies, for a program that runs on another machine than the one that built it. Tests never do: they hold
/// rules on the folder that they were built in. The first call counts.
pub fn repository_is_at(root: PathBuf) {
    let _ = MOVED.set(root);
}

/// The file of the bundled model.
pub fn bundled_model() -> PathBuf {
    repository().join("tests/lab/apprentice/apprentice.gguf")
}

/// The repository's files: those that git has or would take, or, where the folder is no checkout, all but what builds
/// and runs leave behind.
#[derive(Clone, Debug)]
pub struct Sources {
    root: PathBuf,
    /// Relative to the root, with `/`, sorted.
    pub paths: Vec<String>,
}

impl Sources {
    /// # Errors
    /// When neither git nor the folder can be read.
    pub fn list() -> io::Result<Self> {
        let root = repository();
        let mut paths = if root.join(".git").exists() {
            git_files(&root)?
        } else {
            let mut paths = Vec::new();
            walk(&root, "", &mut paths)?;
            paths
        };
        paths.retain(|path| root.join(path).is_file());
        paths.sort();
        paths.dedup();
        Ok(Self { root, paths })
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        fs::read(self.root.join(path))
    }

    /// The Rust sources under a folder, with their text.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn rust(&self, under: &str) -> io::Result<Vec<(&str, String)>> {
        self.paths
            .iter()
            .filter(|path| path.starts_with(under) && path.ends_with(".rs"))
            .map(|path| Ok((path.as_str(), fs::read_to_string(self.root.join(path))?)))
            .collect()
    }
}

fn git_files(root: &Path) -> io::Result<Vec<String>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(format!("git ls-files: {reason}")));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.split_terminator('\0').map(str::to_owned).collect())
}

fn walk(root: &Path, under: &str, paths: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(under))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if under.is_empty() {
            name.clone()
        } else {
            format!("{under}/{name}")
        };
        if !entry.file_type()?.is_dir() {
            paths.push(path);
        } else if !["target", "out", ".venv", "__pycache__"].contains(&name.as_str()) {
            walk(root, &path, paths)?;
        }
    }
    Ok(())
}
