//! What a store committed last, in a folder of its own: for who asks while another process works on the
//! store, or where nothing can be written in it.
//!
//! No byte is copied where the file system has hard links: files of a store are never changed, only replaced, so a second name
//! keeps each as long as the reader needs it. What the reader brings up to date is written in its own folder and gone with
//! it. Derived structures that are being replaced meanwhile are waited for a second; one that does not verify then is built
//! anew there.
//!
//! The folder lies in `DIR/readers`, or in the system's temporary folder where that cannot be made; its files are then
//! symbolic links. A writer beside such a reader may take away what they point to, so that on Linux files are held open, a
//! quarter of what a process may have, and their links lead to them by that; another one that is taken away is missing. A
//! folder that a killed reader left is removed when the store is opened next.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::derived::{DERIVED, Derived};
use crate::error::StoreError;
use crate::manifest::{MANIFEST, Manifest};
use crate::storage::{Storage, TEMPORARY_SUFFIX};
use crate::store::{LOCK, lock};

/// Folder of readers, below the store.
const READERS: &str = "readers";
/// Times that a reader begins again, where another commit takes away what it reads.
const TRIES: u32 = 5;
/// How often a reader waits for derived structures that do not look whole, and how long each time: together longer than most
/// rounds of a stream take to replace them.
const WAITS: u32 = 20;
const WAIT: Duration = Duration::from_millis(50);

/// A folder that holds what was committed last; removed with this.
#[derive(Debug)]
pub(crate) struct SnapshotFolder {
    folder: TempDir,
    /// Files that the links of the folder lead to.
    _held: Vec<File>,
}

impl SnapshotFolder {
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A folder that holds what was committed last, and the lock on it.
pub(crate) fn take(root: &Path, holder: &str) -> Result<(SnapshotFolder, File), StoreError> {
    let readers = root.join(READERS);
    let here = (0..TRIES).find_map(|_| own_folder(&readers, holder));
    let (folder, lock, give): (_, _, Give) = if let Some((folder, lock)) = here {
        (folder, lock, second_name)
    } else {
        let place = Path::new("a temporary folder");
        let folder = tempfile::tempdir().map_err(StoreError::io("create", place))?;
        let lock = lock(folder.path(), holder)?;
        (folder, lock, pointer)
    };
    let held = fill(root, folder.path(), give)?;
    Ok((SnapshotFolder { folder, _held: held }, lock))
}

/// A folder below that of readers, and the lock on it; none where that cannot be made, or a writer took it for one that a killed
/// reader left, before it was locked.
fn own_folder(readers: &Path, holder: &str) -> Option<(TempDir, File)> {
    fs::create_dir_all(readers).ok()?;
    let folder = tempfile::tempdir_in(readers).ok()?;
    let lock = lock(folder.path(), holder).ok()?;
    // Who removes a folder holds its lock meanwhile.
    folder.path().join(LOCK).exists().then_some((folder, lock))
}

/// Opens the files that links below a folder lead to, and makes the links lead to what is open; a quarter of what the process
/// may open at most, for it has others to open.
#[cfg(target_os = "linux")]
fn hold(folder: &Path) -> Vec<File> {
    let mut held = Vec::new();
    for name in links_below(folder) {
        if held.len() * 4 >= most_open() {
            break;
        }
        held.extend(File::open(&name).ok().filter(|file| lead_to(file, &name).is_ok()));
    }
    held
}

#[cfg(not(target_os = "linux"))]
fn hold(_folder: &Path) -> Vec<File> {
    Vec::new()
}

/// Makes a link lead to a file that is open; it stays as it is where the system has no such names.
#[cfg(target_os = "linux")]
fn lead_to(file: &File, link: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let beside = link.with_extension(format!("held{TEMPORARY_SUFFIX}"));
    std::os::unix::fs::symlink(format!("/proc/self/fd/{}", file.as_raw_fd()), &beside)?;
    match fs::metadata(&beside) {
        Ok(_) => fs::rename(&beside, link),
        Err(error) => fs::remove_file(&beside).and(Err(error)),
    }
}

/// Symbolic links below a folder.
#[cfg(target_os = "linux")]
fn links_below(folder: &Path) -> Vec<PathBuf> {
    let (mut links, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let name = entry.path();
            if name.is_symlink() {
                links.push(name);
            } else if name.is_dir() {
                folders.push(name);
            }
        }
    }
    links
}

/// How many files this process may have open.
#[cfg(target_os = "linux")]
fn most_open() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next());
    soft.map_or(0, |soft| soft.parse().unwrap_or(usize::MAX))
}

/// Removes the folders of readers that are no more.
pub(crate) fn remove_abandoned(storage: &Storage) -> Result<(), StoreError> {
    for name in storage.list(READERS)? {
        let name = format!("{READERS}/{name}");
        // One without a lock is just being made.
        let Ok(lock) = File::open(storage.path(&format!("{name}/{LOCK}"))) else { continue };
        if lock.try_lock().is_ok() {
            storage.remove(&name)?;
        }
    }
    Ok(())
}

/// Gives a file another name.
type Give = fn(&Path, &Path) -> io::Result<()>;

fn second_name(file: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(file, name) {
        Err(error) if error.kind() != ErrorKind::NotFound => fs::copy(file, name).map(drop),
        done => done,
    }
}

fn pointer(file: &Path, name: &Path) -> io::Result<()> {
    let file = file.canonicalize()?;
    #[cfg(unix)]
    return std::os::unix::fs::symlink(file, name);
    #[cfg(not(unix))]
    return fs::copy(file, name).map(drop);
}

/// Fills a folder with what is committed; gives the files that are held open for it.
fn fill(root: &Path, folder: &Path, give: Give) -> Result<Vec<File>, StoreError> {
    let (storage, own) = (Storage::create(root)?, Storage::create(folder)?);
    let missing = || StoreError::Missing { path: root.to_owned() };
    let (mut tries, mut waits) = (1, WAITS);
    loop {
        let place = folder.join(MANIFEST);
        fs::write(&place, storage.read(MANIFEST)?).map_err(StoreError::io("write", &place))?;
        let named = Manifest::load(&own)?.ok_or_else(missing)?;
        let given = segments(&named, root, folder, give)
            .and_then(|()| derived((&named, &own), &root.join(DERIVED), give, &mut waits));
        // Before it is asked whether another commit has taken something away.
        let held = hold(folder);
        let now = Manifest::load(&storage)?.ok_or_else(missing)?;
        match given {
            Ok(()) if now.generation == named.generation || tries == TRIES => return Ok(held),
            Err((path, source)) if tries == TRIES => {
                return Err(StoreError::Io { operation: "link", path, source });
            }
            _ => tries += 1,
        }
    }
}

/// Which file was not given, and why.
type Linked = Result<(), (PathBuf, io::Error)>;

fn segments(manifest: &Manifest, root: &Path, folder: &Path, give: Give) -> Linked {
    for segment in manifest.files() {
        one(&root.join(&segment.file.file), &folder.join(&segment.file.file), give)?;
    }
    Ok(())
}

/// Names the files of derived structures. Those that are being replaced are waited for, but not for long: they can be made
/// anew.
fn derived(
    (manifest, own): (&Manifest, &Storage),
    from: &Path,
    give: Give,
    waits: &mut u32,
) -> Linked {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let here = Derived::new(own, manifest, &name.to_string_lossy(), 0);
        loop {
            tree(&entry.path(), &own.path(DERIVED).join(&name), give)?;
            if *waits == 0 || here.is_settled() {
                break;
            }
            *waits -= 1;
            std::thread::sleep(WAIT);
        }
    }
    Ok(())
}

/// Names all files below a folder, but for those that are being written, and locks.
fn tree(from: &Path, to: &Path, give: Give) -> Linked {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    for entry in entries.filter_map(Result::ok) {
        let (name, path) = (entry.file_name(), entry.path());
        let text = name.to_string_lossy();
        if path.is_dir() {
            tree(&path, &to.join(&name), give)?;
        } else if !text.ends_with(TEMPORARY_SUFFIX) && !text.ends_with(".lock") {
            one(&path, &to.join(&name), give)?;
        }
    }
    Ok(())
}

/// Names a file, in the place of what an earlier try named so; one that is gone is left out.
fn one(file: &Path, name: &Path, give: Give) -> Linked {
    let parent = name.parent().map_or(Ok(()), fs::create_dir_all);
    let given = parent.and_then(|()| match fs::remove_file(name) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => give(file, name),
    });
    match given {
        Err(error) if error.kind() != ErrorKind::NotFound => Err((file.to_owned(), error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::ingest_all;
    use crate::page::PageRecord;
    use crate::store::{Store, StoreOptions};

    fn page(url: &str) -> PageRecord {
        PageRecord { url: url.to_owned(), ..PageRecord::default() }
    }

    #[test]
    fn who_reads_beside_a_writer_sees_one_commit_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        ingest_all(dir.path(), vec![page("https://a.test/")], "one").unwrap();
        let writer = Store::open(dir.path(), &StoreOptions::default()).unwrap();
        let reader = Store::snapshot(dir.path(), "reader").unwrap();
        drop(writer);
        ingest_all(dir.path(), vec![page("https://b.test/")], "another").unwrap();
        let readers = || fs::read_dir(dir.path().join(READERS)).unwrap().count();
        assert_eq!((reader.known().unwrap().pages.len(), readers()), (1, 1));
        let later = Store::snapshot(dir.path(), "reader").unwrap();
        assert_eq!(later.known().unwrap().pages.len(), 2);
        // What it writes is its own.
        reader.storage().write("derived/thing", b"x").unwrap();
        assert!(!dir.path().join("derived/thing").exists());
        drop((reader, later));
        assert_eq!(readers(), 0);
    }

    #[test]
    fn what_a_killed_reader_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        ingest_all(dir.path(), vec![page("https://a.test/")], "one").unwrap();
        let (folder, held) = take(dir.path(), "reader").unwrap();
        let left = folder.folder.keep();
        drop(Store::open(dir.path(), &StoreOptions::default()).unwrap());
        assert!(left.exists(), "a reader lives");
        drop(held);
        drop(Store::open(dir.path(), &StoreOptions::default()).unwrap());
        assert!(!left.exists());
    }

    #[test]
    fn pointers_serve_where_nothing_can_be_written() {
        let (dir, aside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        ingest_all(dir.path(), vec![page("https://a.test/")], "one").unwrap();
        let before = fs::read(dir.path().join(MANIFEST)).unwrap();
        let _held = fill(dir.path(), aside.path(), pointer).unwrap();
        let mut reader = Store::open(aside.path(), &StoreOptions::default()).unwrap();
        // A writer beside it takes away what it has merged.
        #[cfg(target_os = "linux")]
        for segment in reader.manifest().files() {
            fs::remove_file(dir.path().join(&segment.file.file)).unwrap();
        }
        assert_eq!(reader.known().unwrap().pages.len(), 1);
        reader.commit(|manifest| manifest.scope = serde_json::json!("another")).unwrap();
        assert_eq!(fs::read(dir.path().join(MANIFEST)).unwrap(), before);
    }
}
