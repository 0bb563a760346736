//! Programs of this machine that some tests need.

use std::path::PathBuf;

/// The program that `variable` names, which must be there then, or else the first of `names` in `PATH`.
pub fn find(variable: &str, names: &[&str]) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(variable) {
        let named = PathBuf::from(named);
        assert!(named.is_file(), "{variable} names {}, which is no file", named.display());
        return Some(named);
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().flat_map(|name| folders.iter().map(move |f| f.join(name))).find(|p| p.is_file())
}
