//! An ONNX Runtime library, opened while the program runs.
//!
//! The only module with unsafe code: a library's functions have the types that its header promises,
//! and no compiler can check that it is the library it says.
#![allow(unsafe_code)]

use std::error::Error;
use std::ffi::CStr;
use std::path::Path;

use libloading::Library;
use ort::sys::{ORT_API_VERSION, OrtApi, OrtApiBase};

use crate::neural::NeuralError;

/// What is wrong with a library.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum LibraryProblem {
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// The system's loader refuses it.
    #[error("cannot be loaded as a library ({0})")]
    NotLoaded(String),
    /// It lacks the entry point.
    #[error("is a library, but not ONNX Runtime (it has no OrtGetApiBase)")]
    NotOnnxRuntime,
    /// It does not know the version of the interface that we speak.
    #[error("is ONNX Runtime {found}; expected 1.{oldest} or newer")]
    TooOld {
        /// Its version.
        found: String,
        /// The oldest minor version that goes.
        oldest: u32,
    },
}

type GetApiBase = unsafe extern "system" fn() -> *const OrtApiBase;

/// Opens the library at `path`: its table of functions and its version. It stays open.
pub(crate) fn open(path: &Path) -> Result<(OrtApi, String), NeuralError> {
    opened(path).map_err(|problem| NeuralError::Library {
        path: path.to_owned(),
        problem: problem.to_string(),
    })
}

fn opened(path: &Path) -> Result<(OrtApi, String), LibraryProblem> {
    if !path.exists() {
        return Err(LibraryProblem::Missing);
    }
    // SAFETY: opening a library runs its initialisers. The user named this file as ONNX Runtime,
    // whose initialisers set up its own state only.
    let library = unsafe { Library::new(path) };
    let library = library.map_err(|error| LibraryProblem::NotLoaded(detail(&error)))?;
    // SAFETY: a library that exports `OrtGetApiBase` is ONNX Runtime, and has exported it with this
    // type since its release 1.0 (`onnxruntime_c_api.h`).
    let entry = unsafe { library.get::<GetApiBase>(b"OrtGetApiBase\0") };
    let entry = *entry.map_err(|_| LibraryProblem::NotOnnxRuntime)?;
    // SAFETY: `entry` may be called at any time from any thread; it returns null or a pointer to a
    // static of the library, which is never unloaded (below).
    let base = unsafe { entry().as_ref() }.ok_or(LibraryProblem::NotOnnxRuntime)?;
    // SAFETY: the header promises a static text that ends in a zero.
    let version = unsafe { CStr::from_ptr((base.GetVersionString)()) };
    let version = version.to_string_lossy().into_owned();
    let too_old = || LibraryProblem::TooOld { found: version.clone(), oldest: ORT_API_VERSION };
    // Asked for a version that it does not know, a library prints a line of its own to stderr.
    if minor(&version).is_some_and(|minor| minor < ORT_API_VERSION) {
        return Err(too_old());
    }
    // SAFETY: returns null, or a pointer to a static table that begins with the functions of the
    // version asked for, which is the version that `OrtApi` declares.
    let table = unsafe { (base.GetApi)(ORT_API_VERSION).as_ref() }.ok_or_else(too_old)?;
    let table = table.clone();
    // The table holds pointers into the library: it must not be unloaded.
    std::mem::forget(library);
    Ok((table, version))
}

/// What the system's loader says, which stands behind the error.
fn detail(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// 20 of "1.20.1".
fn minor(version: &str) -> Option<u32> {
    let (major, rest) = version.split_once('.')?;
    let minor = rest.split('.').next()?.parse().ok()?;
    (major == "1").then_some(minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read() {
        assert_eq!(minor("1.20.1"), Some(20));
        assert_eq!(minor("1.31"), Some(31));
        assert_eq!(minor("2.0.0"), None);
    }

    #[test]
    fn what_is_no_library_is_refused() {
        let error = open(Path::new("/nowhere/libonnxruntime.so")).err().unwrap().to_string();
        assert_eq!(error, "/nowhere/libonnxruntime.so: there is no such file");
        let other = Path::new("/lib/x86_64-linux-gnu/libm.so.6");
        if other.exists() {
            assert_eq!(opened(other).err(), Some(LibraryProblem::NotOnnxRuntime));
        }
        let error = open(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")));
        let error = error.err().unwrap().to_string();
        assert!(error.contains("Cargo.toml: cannot be loaded as a library ("), "{error}");
    }
}
