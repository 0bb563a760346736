//! Panics of dependencies that read files of others: they end as an error that names the file.
//!
//! Two ways. Where a panic unwinds, [`caught`] gives it back. Where it cannot, since it would cross a boundary of C, the
//! process ends: [`ending`] names the file that is at hand, and who runs the process says what is told then
//! ([`on_end`]). Panics of our own are told as ever.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::{Once, OnceLock};

/// What a thread does whose panics are no bugs of ours.
enum AtHand {
    /// Something whose panic unwinds.
    Caught,
    /// Something with this file, whose panic ends the process.
    #[cfg_attr(not(feature = "neural"), allow(dead_code, reason = "only models need it"))]
    Ending(String),
}

thread_local! {
    static AT_HAND: RefCell<Vec<AtHand>> = const { RefCell::new(Vec::new()) };
}

/// Ends the process for a file, with what the panic says.
type End = fn(&str, &str);

static END: OnceLock<End> = OnceLock::new();
static HOOK: Once = Once::new();

/// Says how the process ends.
pub(crate) fn on_end(end: End) {
    let _ = END.set(end);
}

/// Does something with a file of somebody else; what a panic says is the error.
///
/// # Errors
/// It panics.
pub(crate) fn caught<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    watched(AtHand::Caught, || catch_unwind(AssertUnwindSafe(act)))
        .map_err(|payload| said(payload.as_ref()))
}

/// Does something with `file` whose panic cannot be caught.
#[cfg_attr(not(feature = "neural"), allow(dead_code, reason = "only models need it"))]
pub(crate) fn ending<T>(file: &str, act: impl FnOnce() -> T) -> T {
    watched(AtHand::Ending(file.to_owned()), act)
}

fn watched<T>(what: AtHand, act: impl FnOnce() -> T) -> T {
    /// Takes it back, also where a panic unwinds.
    struct Held;
    impl Drop for Held {
        fn drop(&mut self) {
            AT_HAND.with_borrow_mut(Vec::pop);
        }
    }
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| told(&usual, info)));
    });
    AT_HAND.with_borrow_mut(|stack| stack.push(what));
    let _held = Held;
    act()
}

type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

fn told(usual: &Hook, info: &PanicHookInfo<'_>) {
    let ends = AT_HAND.with_borrow(|stack| match stack.last() {
        None => None,
        Some(AtHand::Caught) => Some(None),
        Some(AtHand::Ending(file)) => Some(Some(file.clone())),
    });
    match (ends, END.get()) {
        (None, _) | (Some(Some(_)), None) => usual(info),
        (Some(None), _) => {}
        (Some(Some(file)), Some(end)) => end(&file, &said(info.payload())),
    }
}

fn said(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it panics".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_panic_says_is_the_error() {
        assert_eq!(caught(|| 7), Ok(7));
        let one = |place: usize| [1, 2][place];
        let error = caught(|| caught(|| one(std::hint::black_box(9))).unwrap_err()).unwrap();
        assert!(error.contains("out of bounds"), "{error}");
        assert!(AT_HAND.with_borrow(Vec::is_empty));
    }
}
