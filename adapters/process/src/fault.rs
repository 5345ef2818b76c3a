//! What goes wrong with a child process.

use std::{fmt, time::Duration};

use journeyman::{Error, ErrorKind};

use crate::protocol::{Part, VERSION};

/// A child process that does not work: the source of the [`Error`] that a call returns.
///
/// ```
/// use std::error::Error as _;
/// use journeyman_process::{ProcessConfig, ProcessEnvironment, ProcessFault};
///
/// # futures::executor::block_on(async {
/// let error = ProcessEnvironment::start(ProcessConfig::new("/no/such/program")).await.unwrap_err();
/// let fault = error.source().and_then(|source| source.downcast_ref::<ProcessFault>());
/// assert!(matches!(fault, Some(ProcessFault::NotStarted { .. })));
/// # });
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProcessFault {
    /// The program cannot be started.
    #[error("the program cannot be started: {reason}")]
    NotStarted {
        /// The system's reason.
        reason: String,
        /// Whether the program does not exist.
        missing: bool,
    },
    /// A line on standard output is no message of the protocol.
    #[error("standard output has a line that is no message of the protocol ({reason}): {line}")]
    Noise {
        /// The first 200 characters of the line, redacted.
        line: String,
        /// Why it is none.
        reason: String,
    },
    /// A line on standard output is longer than the cap.
    #[error("a line on standard output is longer than {cap} bytes")]
    LineTooLong {
        /// The greatest length of a line in bytes.
        cap: usize,
    },
    /// A message that nothing asked for.
    #[error("the message `{message}` does not answer a request of the host")]
    OutOfTurn {
        /// Its type and id.
        message: String,
    },
    /// The process ended.
    #[error("the process {how}")]
    Ended {
        /// How it ended.
        how: Ending,
    },
    /// The process speaks another version of the protocol.
    #[error(
        "the process speaks version {version} of the protocol, and this host version {VERSION}"
    )]
    WrongVersion {
        /// The version that it speaks.
        version: u32,
    },
    /// The process is another part than the one that it was started for.
    #[error("the process is an {is}, where an {expected} was expected")]
    WrongPart {
        /// What it is.
        is: Part,
        /// What it should be.
        expected: Part,
    },
    /// The process, started again, has another name or other guarantees than before.
    #[error(
        "the process was started again and introduces itself as another one: `{is}` after `{was}`"
    )]
    Changed {
        /// How it introduced itself before.
        was: String,
        /// How it introduces itself now.
        is: String,
    },
    /// The process did not answer a request in time.
    #[error("no answer to `{request}` within {} s", .limit.as_secs_f64())]
    NoAnswer {
        /// The request's type.
        request: &'static str,
        /// The time limit.
        limit: Duration,
    },
    /// The process was started again too often.
    #[error(
        "the process failed {times} times within {} s; the last time: {last}",
        .window.as_secs_f64()
    )]
    TooManyRestarts {
        /// How often it failed.
        times: usize,
        /// Within which time.
        window: Duration,
        /// The last failure.
        last: String,
    },
    /// The host closed the process.
    #[error("the host closed the process")]
    Closed,
}

/// How a process ended.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited.
    Exited {
        /// Its exit code.
        code: i32,
        /// Whether its last line on standard output has no line break.
        within_line: bool,
    },
    /// A signal ended it.
    Signaled {
        /// The signal's number.
        signal: i32,
        /// Whether its last line on standard output has no line break.
        within_line: bool,
    },
    /// It closed its standard output and went on, so the host killed it.
    ClosedOutput {
        /// Whether its last line on standard output has no line break.
        within_line: bool,
    },
    /// It answered `hello` with an error.
    Refused {
        /// Its own words, redacted and at most 2,000 characters.
        message: String,
    },
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within_line = match self {
            Self::Exited { code, within_line } => {
                write!(f, "ended with exit code {code}")?;
                *within_line
            }
            Self::Signaled {
                signal,
                within_line,
            } => {
                write!(f, "was ended by signal {signal}")?;
                *within_line
            }
            Self::ClosedOutput { within_line } => {
                f.write_str("closed its standard output")?;
                *within_line
            }
            Self::Refused { message } => {
                write!(f, "refused to start: {message}")?;
                false
            }
        };
        match within_line {
            true => f.write_str(" in the middle of a line"),
            false => Ok(()),
        }
    }
}

impl ProcessFault {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotStarted { missing: true, .. } => ErrorKind::NotFound,
            Self::WrongVersion { .. } | Self::WrongPart { .. } => ErrorKind::Unsupported,
            Self::Changed { .. } => ErrorKind::Conflict,
            Self::NoAnswer { .. } => ErrorKind::Timeout,
            _ => ErrorKind::Unavailable,
        }
    }

    fn is_temporary(&self) -> bool {
        match self {
            Self::NotStarted { .. }
            | Self::WrongVersion { .. }
            | Self::WrongPart { .. }
            | Self::Changed { .. }
            | Self::Closed => false,
            Self::Noise { .. }
            | Self::LineTooLong { .. }
            | Self::OutOfTurn { .. }
            | Self::Ended { .. }
            | Self::NoAnswer { .. }
            | Self::TooManyRestarts { .. } => true,
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::NotStarted { .. } => {
                "name an executable file: a path, or a name that the host's PATH has; arguments go into `arguments`"
            }
            Self::Noise { .. } => {
                "standard output carries the protocol alone, with the keys of docs/reference/process-protocol.md: print to standard error; \
                 journeyman_env.py sees to it from `serve` on"
            }
            Self::LineTooLong { .. } => "shorten the observation, or raise `line_cap`",
            Self::OutOfTurn { .. } => {
                "answer each request once, with its id; docs/reference/process-protocol.md has the protocol"
            }
            Self::Ended { .. } => {
                "`said` has the end of its standard error; a variable that it needs goes into `environment`, since it \
                 has none of the host's"
            }
            Self::WrongVersion { .. } => "use the helper file of the host's release",
            Self::WrongPart { .. } => {
                "use ProcessEnvironment for an environment and ProcessExecutor for an executor"
            }
            Self::Changed { .. } => {
                "start the program anew in the host, so that its guarantees are read again"
            }
            Self::NoAnswer { .. } => {
                "a program that writes the protocol itself has to flush each line; raise the limit if the work takes that long; \
                 `said`, if there is one, has the end of its standard error"
            }
            Self::TooManyRestarts { .. } => {
                "mend the program; it is started again when the window has passed"
            }
            Self::Closed => "start another one",
        }
    }

    /// The error of an operation on a process; `said` is the end of its standard error.
    pub(crate) fn error(
        &self,
        operation: &'static str,
        (program, arguments): (&str, &str),
        said: &str,
    ) -> Error {
        let error = Error::new(self.kind(), operation, self.to_string()).with("program", program);
        // With an interpreter the program is the same for every child: the arguments name the script.
        let error = match arguments.is_empty() {
            true => error,
            false => error.with("arguments", arguments),
        };
        let error = match said.is_empty() {
            true => error,
            false => error.with("said", said),
        };
        let error = error.hint(self.hint()).source_from(self.clone());
        match self.is_temporary() {
            true => error.temporary(),
            false => error,
        }
    }
}
