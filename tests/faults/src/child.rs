//! The processes that the harness starts: this program again, with other arguments.

use std::{
    io::{BufRead, BufReader, Read, Write as _},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use journeyman::Seed;
use journeyman_disk::{DiskOptions, DiskStore, Durability, fault};

use crate::{
    history::{Session, Writer},
    report::Outcome,
};

/// What a writer is told.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// Who writes, and what.
    pub writer: Writer,
    /// How many writes; most are killed before.
    pub writes: u64,
    /// How the library is opened.
    pub(crate) durability: Durability,
    /// The point at which it ends itself, and how many times that is passed before.
    pub point: Option<(&'static str, u64)>,
}

/// A writer that runs. It waits for [`Running::go`] before it touches the library.
#[derive(Debug)]
pub(crate) struct Running {
    process: Child,
    told: JoinHandle<Told>,
}

/// What a writer said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// Whether it had opened the library.
    pub opened: bool,
    /// Acknowledged writes.
    pub acknowledged: u64,
    /// What went wrong, as its own words.
    pub error: Option<String>,
}

impl Running {
    /// Starts a writer.
    ///
    /// # Errors
    /// When there can be no process.
    pub(crate) fn start(root: &Path, task: &Task) -> std::io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("writer").arg(root).args([
            task.writer.name.as_str(),
            &task.writer.seed.to_string(),
            &task.writes.to_string(),
            if task.durability == Durability::Relaxed {
                "relaxed"
            } else {
                "sync"
            },
        ]);
        if let Some((point, passes)) = task.point {
            command.args([point, &passes.to_string()]);
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let lines = process.stdout.take();
        let told = std::thread::spawn(move || lines.map(listen).unwrap_or_default());
        Ok(Self { process, told })
    }

    /// Lets it begin.
    pub(crate) fn go(&mut self) {
        // It reads until the end.
        self.process.stdin = None;
    }

    /// Kills it, and hears what it said before.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub(crate) fn kill(mut self) -> std::io::Result<Told> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(self.told.join().unwrap_or_default())
    }

    /// Waits for its end, at most so long.
    ///
    /// # Errors
    /// When it cannot be waited for, or hangs.
    pub(crate) fn end(mut self, patience: Duration) -> std::io::Result<(ExitStatus, Told)> {
        let status = wait(&mut self.process, patience)?;
        Ok((status, self.told.join().unwrap_or_default()))
    }
}

/// Waits for a process, at most so long; then it is killed.
///
/// # Errors
/// `TimedOut` when it hung.
pub(crate) fn wait(process: &mut Child, patience: Duration) -> std::io::Result<ExitStatus> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            process.kill()?;
            process.wait()?;
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn listen(lines: impl Read) -> Told {
    let mut told = Told::default();
    for line in BufReader::new(lines).lines().map_while(Result::ok) {
        match line.split_once(' ') {
            None if line == "open" => told.opened = true,
            Some(("kept", _)) => told.acknowledged += 1,
            Some(("error", error)) => told.error = Some(error.to_owned()),
            _ => told.error = Some(format!("unknown line: {line}")),
        }
    }
    told
}

/// What a writer does: `writer ROOT NAME SEED WRITES sync|relaxed [POINT PASSES]`.
///
/// # Errors
/// A wrong call, and a pipe that is gone.
pub(crate) fn write(arguments: &[String]) -> Outcome {
    let [root, name, seed, writes, durability, point @ ..] = arguments else {
        return Err("writer ROOT NAME SEED WRITES sync|relaxed [POINT PASSES]".into());
    };
    let writer = Writer {
        name: name.clone(),
        seed: Seed(seed.parse()?),
    };
    let writes: u64 = writes.parse()?;
    let mut options = DiskOptions::default();
    if durability == "relaxed" {
        options.durability = Durability::Relaxed;
    }
    if let [point, passes] = point {
        fault::arm(point, passes.parse()?);
    }
    std::io::stdin().read_to_end(&mut Vec::new())?;
    let mut out = std::io::stdout();
    let written: journeyman::Result<()> = (|| {
        let store = DiskStore::open(root, &options)?;
        let mut session = Session::new(store)?;
        // One write of the pipe for each line: what was said is there when the process is gone.
        let mut say = |line: String| out.write_all(line.as_bytes()).and_then(|()| out.flush());
        let _ = say("open\n".to_owned());
        if writes == 0 {
            // It came for what people did in the folders.
            session.bring_folders()?;
        }
        for number in 0..writes {
            session.perform(&writer.nth(number))?;
            let _ = say(format!("kept {number}\n"));
            if writer.brings_folders(number) {
                for trouble in session.bring_folders()? {
                    let _ = say(format!("error {trouble}\n"));
                }
            }
        }
        Ok(())
    })();
    if let Err(error) = written {
        writeln!(
            std::io::stdout(),
            "error {:?} {}",
            error.kind(),
            error.message()
        )?;
    }
    Ok(())
}
