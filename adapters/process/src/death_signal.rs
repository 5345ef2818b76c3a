//! Ends a child process when its owner dies (Linux).

use std::process::Command;

/// Makes the system kill the child when the thread that starts it ends, as it does with the host, also by SIGKILL.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "what a child does before it becomes its program is set in no other way"
)]
pub(crate) fn die_with_owner(command: &mut Command) {
    use std::{io, os::unix::process::CommandExt};

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let owner = getpid();
    // SAFETY: between fork and exec only system calls are made (prctl, getppid) and a value is compared; nothing is
    // allocated and no lock is taken.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The owner may have died before the line above.
            match getppid() == Some(owner) {
                true => Ok(()),
                false => Err(io::Error::from(io::ErrorKind::NotConnected)),
            }
        });
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn die_with_owner(_: &mut Command) {}
