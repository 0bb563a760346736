//! A disk that does what a test asks for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use super::common::{Run, command, text};

/// No space left on the device.
const ENOSPC: i32 = 28;

/// The library that stands between a command and the disk.
static SHIM: LazyLock<PathBuf> = LazyLock::new(|| {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attack/shim.c");
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shim.so");
    let beside = built.with_extension(format!("{}.so", std::process::id()));
    let compiler = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .args([&beside, &source])
        .arg("-ldl")
        .status()
        .expect("a C compiler");
    assert!(compiler.success());
    fs::rename(&beside, &built).unwrap();
    built
});

/// Calls that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Those that change files.
    Write,
    /// Those that read them.
    Read,
}

/// What happens at one of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The process is killed, the call not carried out.
    Kill,
    /// The call fails with this number of the system.
    Fail(i32),
    /// The disk is full, for this call and all that follow.
    Full,
}

/// A disk that does something at a call.
pub struct Disk<'a> {
    /// Only calls on files below this folder count.
    pub root: &'a Path,
    /// Which calls.
    pub calls: Calls,
    /// Number of the call, from 1; 0 for none.
    pub at: usize,
    /// What happens there.
    pub act: Act,
    /// Where calls are logged.
    pub log: Option<&'a Path>,
}

impl Disk<'_> {
    /// Runs a command on it.
    pub fn run(&self, arguments: &[String]) -> Run {
        let output = self.command(arguments).output().expect("the binary starts");
        output.into()
    }

    fn command(&self, arguments: &[String]) -> Command {
        let mut command = command(arguments);
        command.env("LD_PRELOAD", &*SHIM).env("ATTACK_ROOT", self.root);
        command.env("ATTACK_KIND", if self.calls == Calls::Write { "w" } else { "r" });
        command.env("ATTACK_AT", self.at.to_string());
        let number = match self.act {
            Act::Kill => 0,
            Act::Fail(number) => number,
            Act::Full => ENOSPC,
        };
        command.env("ATTACK_DO", number.to_string());
        if self.act == Act::Full {
            command.env("ATTACK_FULL", "1");
        }
        if let Some(log) = self.log {
            command.env("ATTACK_LOG", log);
        }
        command
    }

    /// How many calls a command makes, which must succeed.
    pub fn count(root: &Path, calls: Calls, arguments: &[String]) -> usize {
        let told = tempfile::NamedTempFile::new().unwrap();
        let disk = Disk { root, calls, at: 0, act: Act::Kill, log: None };
        let mut command = disk.command(arguments);
        let run: Run =
            command.env("ATTACK_COUNT", told.path()).output().expect("the binary starts").into();
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
        let count = fs::read_to_string(told.path()).unwrap();
        let count = count.trim().parse().unwrap_or(0);
        assert!(count > 0, "{arguments:?} makes no call below {}", text(root));
        count
    }
}
