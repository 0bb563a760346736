//! The parser that `PROSPECT_PARSER` names reads what the fuzzer makes; one process for each name.

#![no_main]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use prospect::parsers::{PARSERS, Parser};

/// A parser and the file that it reads, in memory.
static TRIED: LazyLock<(Parser, PathBuf)> = LazyLock::new(|| {
    let asked = std::env::var("PROSPECT_PARSER").expect("PROSPECT_PARSER names a file of the corpus");
    let found = PARSERS.into_iter().find(|(name, _)| *name == asked);
    let (name, parser) = found.expect("a parser of that name");
    let folder = PathBuf::from(format!("/dev/shm/prospect-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("memory for a file");
    // The fuzzer's hook ends the process at any panic, those too that are contained and told as errors.
    std::panic::set_hook(Box::new(|told| eprintln!("{told}")));
    (parser, folder.join(name))
});

fuzz_target!(|bytes: &[u8]| {
    let (parser, path) = &*TRIED;
    std::fs::write(path, bytes).expect("memory for a file");
    let text = String::from_utf8_lossy(bytes);
    if catch_unwind(AssertUnwindSafe(|| parser(path, &text))).is_err() {
        std::process::abort();
    }
});
