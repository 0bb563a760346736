//! Tells the program its version with the commit that it is built from.
//!
//! Where there is no git, or the sources are not the top of a repository (a tarball, a vendored package), it is the
//! version alone. The variable `PROSPECT_COMMIT` says it otherwise; empty, there is no commit, and a commit makes nothing
//! be built again.

use std::path::Path;
use std::process::Command;

const VARIABLE: &str = "PROSPECT_COMMIT";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let version = env!("CARGO_PKG_VERSION");
    let commit = std::env::var(VARIABLE).ok().or_else(commit).filter(|commit| !commit.is_empty());
    println!("cargo::rustc-env=PROSPECT_BUILT_FROM={}", commit.as_deref().unwrap_or_default());
    let shown = commit.map_or_else(|| version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=PROSPECT_VERSION={shown}");
}

/// The commit of the repository that these sources are the top of. Another commit makes the program be built again; what
/// does not exist must not be watched, or it would be every time.
fn commit() -> Option<String> {
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let same = |path: &str| Path::new(path).canonicalize().ok();
    if same(&top)? != same(env!("CARGO_MANIFEST_DIR"))? {
        return None;
    }
    let commit = git(&["rev-parse", "--short=10", "HEAD"])?;
    let watched = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&watched).exists() {
        println!("cargo::rerun-if-changed={watched}");
    }
    Some(commit)
}

/// What git says, if there is one, and it has something to say.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
