//! The file seam: this program's own `write`, `fsync` and so on, which the linker takes in the place of libc's for all
//! that is linked in, SQLite and the standard library alike. They note what is done below one folder, let it fail when
//! they are told to, and pass everything on to the system.
//!
//! Not seen: what is written through a mapping of memory (SQLite's `-shm`, which is no part of a library), and
//! `copy_file_range`.
// C calls these functions by their names and hands them raw pointers: no safe way to say that.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, OsStr, c_char, c_int, c_long, c_uint, c_void},
    ops::Range,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// Something that was done to a file or folder.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Bytes at a place.
    Write {
        path: PathBuf,
        at: u64,
        bytes: Vec<u8>,
    },
    /// A new length.
    Cut { path: PathBuf, len: u64 },
    /// All before is on the disk; or, when it failed, may never be.
    Sync { path: PathBuf, done: bool },
    /// A file's name is gone.
    Remove { path: PathBuf },
    /// All of the file system is on the disk.
    SyncAll,
    /// A file or folder has another name; or two have traded theirs.
    Rename {
        from: PathBuf,
        to: PathBuf,
        traded: bool,
    },
    /// A new folder.
    Folder { path: PathBuf },
    /// The writer was told that its write is kept.
    Acknowledged,
}

/// What the disk does.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    /// Where the seam looks.
    root: PathBuf,
    /// What was done so far.
    pub acts: Vec<Act>,
    /// Syncs of the database and its log asked for so far.
    pub syncs: u64,
    /// Those that fail, by their numbers.
    pub failing: Range<u64>,
    /// How many more bytes files can grow by, and the system's error beyond that.
    pub room: Option<(u64, i32)>,
}

static WATCHED: AtomicBool = AtomicBool::new(false);
static DISK: Mutex<Option<Disk>> = Mutex::new(None);

/// Begins to watch a folder and all below it, in the place of what was watched before.
pub(crate) fn watch(root: &Path) {
    let disk = Disk {
        root: root.to_path_buf(),
        ..Disk::default()
    };
    *lock() = Some(disk);
    WATCHED.store(true, Ordering::SeqCst);
}

/// Looks at the disk, or changes what it does.
pub(crate) fn disk<T>(look: impl FnOnce(&mut Disk) -> T) -> T {
    look(lock().get_or_insert_default())
}

/// Ends watching and gives what was done.
pub(crate) fn end() -> Vec<Act> {
    WATCHED.store(false, Ordering::SeqCst);
    lock().take().map(|disk| disk.acts).unwrap_or_default()
}

fn lock() -> MutexGuard<'static, Option<Disk>> {
    DISK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes a call on, noted when it is about a file or folder below the watched one.
fn noted<R>(
    path: impl FnOnce() -> Option<PathBuf>,
    call: impl FnOnce(Option<(&mut Disk, PathBuf)>) -> R,
) -> R {
    if !WATCHED.load(Ordering::SeqCst) {
        return call(None);
    }
    let Some(path) = path() else {
        return call(None);
    };
    let mut disk = lock();
    match disk.as_mut().filter(|disk| path.starts_with(&disk.root)) {
        Some(disk) => call(Some((disk, path))),
        None => {
            drop(disk);
            call(None)
        }
    }
}

/// What an open file is called now.
fn path_of(fd: c_int) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()
}

/// A path that a call names, seen from an open folder or the working folder.
fn path_at(folder: c_int, path: *const c_char) -> Option<PathBuf> {
    // SAFETY: libc's callers hand over a string that ends with NUL.
    let path = Path::new(OsStr::from_bytes(
        unsafe { CStr::from_ptr(path) }.to_bytes(),
    ));
    if folder == libc::AT_FDCWD {
        return std::path::absolute(path).ok();
    }
    Some(path_of(folder)?.join(path))
}

fn fail(errno: i32) -> isize {
    // SAFETY: the pointer is this thread's own.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// A write of `count` bytes, at a place or where the file stands.
fn written(fd: c_int, bytes: *const c_void, count: usize, at: Option<i64>) -> isize {
    // SAFETY: the arguments of `write` and `pwrite64` are passed on as they came, with at most their own count.
    let call = |count: usize| unsafe {
        match at {
            Some(at) => libc::syscall(libc::SYS_pwrite64, fd, bytes, count, at) as isize,
            None => libc::syscall(libc::SYS_write, fd, bytes, count) as isize,
        }
    };
    noted(
        || path_of(fd),
        |seen| {
            let Some((disk, path)) = seen else {
                return call(count);
            };
            let place = || match at {
                Some(at) => at.unsigned_abs(),
                // SAFETY: asks for the place alone.
                None => unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) }.unsigned_abs(),
            };
            let mut allowed = count;
            if let Some((room, errno)) = &mut disk.room {
                let length = std::fs::metadata(&path).map_or(0, |file| file.len());
                let free = length.saturating_sub(place());
                allowed = count.min(usize::try_from(free + *room).unwrap_or(count));
                if allowed == 0 && count > 0 {
                    return fail(*errno);
                }
                *room -= (allowed as u64).saturating_sub(free);
            }
            let done = call(allowed);
            if let Ok(length @ 1..) = usize::try_from(done) {
                let end = match at {
                    Some(at) => at.unsigned_abs() + length as u64,
                    None => place(),
                };
                // SAFETY: the system has just read as many bytes from there.
                let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
                disk.acts.push(Act::Write {
                    path,
                    at: end - length as u64,
                    bytes: bytes.to_vec(),
                });
            }
            done
        },
    )
}

fn synced(fd: c_int, call: c_long) -> c_int {
    // SAFETY: `fsync` and `fdatasync` take a number alone.
    let call = || unsafe { libc::syscall(call, fd) } as c_int;
    noted(
        || path_of(fd),
        |seen| {
            let Some((disk, path)) = seen else {
                return call();
            };
            let mut fails = false;
            let name = path.file_name().unwrap_or_default();
            if name.to_string_lossy().starts_with("library.") {
                fails = disk.failing.contains(&disk.syncs);
                disk.syncs += 1;
            }
            // It costs nothing to leave the real sync out, and nothing is lost: what a loss of power takes is computed.
            disk.acts.push(Act::Sync { path, done: !fails });
            if fails { fail(libc::EIO) as c_int } else { 0 }
        },
    )
}

fn all_synced(fd: c_int) -> c_int {
    noted(
        || path_of(fd),
        |seen| match seen {
            Some((disk, _)) => {
                disk.acts.push(Act::SyncAll);
                0
            }
            // SAFETY: `syncfs` takes a number alone.
            None => unsafe { libc::syscall(libc::SYS_syncfs, fd) as c_int },
        },
    )
}

fn cut(fd: c_int, len: i64) -> c_int {
    // SAFETY: `ftruncate` takes numbers alone.
    let done = unsafe { libc::syscall(libc::SYS_ftruncate, fd, len) } as c_int;
    note(done, path_of(fd), |path| Act::Cut {
        path,
        len: len.unsigned_abs(),
    });
    done
}

/// Notes what was done, when it was.
fn note(done: c_int, path: Option<PathBuf>, act: impl FnOnce(PathBuf) -> Act) {
    noted(
        || path.filter(|_| done == 0),
        |seen| {
            if let Some((disk, path)) = seen {
                disk.acts.push(act(path));
            }
        },
    );
}

fn removed(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the arguments of `unlinkat` are passed on as they came.
    let done = unsafe { libc::syscall(libc::SYS_unlinkat, folder, path, flags) } as c_int;
    note(done, path_at(folder, path), |path| Act::Remove { path });
    done
}

fn renamed(from: (c_int, *const c_char), to: (c_int, *const c_char), flags: c_uint) -> c_int {
    // SAFETY: the arguments of `renameat2` are passed on as they came.
    let done =
        unsafe { libc::syscall(libc::SYS_renameat2, from.0, from.1, to.0, to.1, flags) } as c_int;
    let from = path_at(from.0, from.1);
    note(done, path_at(to.0, to.1), |to| Act::Rename {
        from: from.unwrap_or_default(),
        to,
        traded: flags & libc::RENAME_EXCHANGE != 0,
    });
    done
}

fn folder_made(folder: c_int, path: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: the arguments of `mkdirat` are passed on as they came.
    let done = unsafe { libc::syscall(libc::SYS_mkdirat, folder, path, mode) } as c_int;
    note(done, path_at(folder, path), |path| Act::Folder { path });
    done
}

/// The names under which C and Rust call them.
mod names {
    use super::{
        all_synced, c_char, c_int, c_uint, c_void, cut, folder_made, removed, renamed, synced,
        written,
    };

    #[unsafe(no_mangle)]
    extern "C" fn write(fd: c_int, bytes: *const c_void, count: usize) -> isize {
        written(fd, bytes, count, None)
    }
    #[unsafe(no_mangle)]
    extern "C" fn pwrite(fd: c_int, bytes: *const c_void, count: usize, at: i64) -> isize {
        written(fd, bytes, count, Some(at))
    }
    #[unsafe(no_mangle)]
    extern "C" fn pwrite64(fd: c_int, bytes: *const c_void, count: usize, at: i64) -> isize {
        written(fd, bytes, count, Some(at))
    }
    #[unsafe(no_mangle)]
    extern "C" fn fsync(fd: c_int) -> c_int {
        synced(fd, libc::SYS_fsync)
    }
    #[unsafe(no_mangle)]
    extern "C" fn fdatasync(fd: c_int) -> c_int {
        synced(fd, libc::SYS_fdatasync)
    }
    #[unsafe(no_mangle)]
    extern "C" fn syncfs(fd: c_int) -> c_int {
        all_synced(fd)
    }
    #[unsafe(no_mangle)]
    extern "C" fn ftruncate(fd: c_int, len: i64) -> c_int {
        cut(fd, len)
    }
    #[unsafe(no_mangle)]
    extern "C" fn ftruncate64(fd: c_int, len: i64) -> c_int {
        cut(fd, len)
    }
    #[unsafe(no_mangle)]
    extern "C" fn unlink(path: *const c_char) -> c_int {
        removed(libc::AT_FDCWD, path, 0)
    }
    #[unsafe(no_mangle)]
    extern "C" fn unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
        removed(folder, path, flags)
    }
    #[unsafe(no_mangle)]
    extern "C" fn rmdir(path: *const c_char) -> c_int {
        removed(libc::AT_FDCWD, path, libc::AT_REMOVEDIR)
    }
    #[unsafe(no_mangle)]
    extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
        renamed((libc::AT_FDCWD, from), (libc::AT_FDCWD, to), 0)
    }
    #[unsafe(no_mangle)]
    extern "C" fn renameat(
        from_folder: c_int,
        from: *const c_char,
        to_folder: c_int,
        to: *const c_char,
    ) -> c_int {
        renamed((from_folder, from), (to_folder, to), 0)
    }
    #[unsafe(no_mangle)]
    extern "C" fn renameat2(
        from_folder: c_int,
        from: *const c_char,
        to_folder: c_int,
        to: *const c_char,
        flags: c_uint,
    ) -> c_int {
        renamed((from_folder, from), (to_folder, to), flags)
    }
    #[unsafe(no_mangle)]
    extern "C" fn mkdir(path: *const c_char, mode: libc::mode_t) -> c_int {
        folder_made(libc::AT_FDCWD, path, mode)
    }
    #[unsafe(no_mangle)]
    extern "C" fn mkdirat(folder: c_int, path: *const c_char, mode: libc::mode_t) -> c_int {
        folder_made(folder, path, mode)
    }
}
