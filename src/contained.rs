//! Panics of dependencies that read files of others: they end as an error that names the file. Panics of our own are
//! told as ever.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// How many calls of [`caught`] this thread is in.
    static CAUGHT: Cell<u32> = const { Cell::new(0) };
}

static HOOK: Once = Once::new();

/// Does something with a file of somebody else; what a panic says is the error.
///
/// # Errors
/// It panics.
pub(crate) fn caught<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if CAUGHT.get() == 0 {
                usual(info);
            }
        }));
    });
    CAUGHT.set(CAUGHT.get() + 1);
    let found = catch_unwind(AssertUnwindSafe(act));
    CAUGHT.set(CAUGHT.get() - 1);
    found.map_err(|payload| said(payload.as_ref()))
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
        assert!(CAUGHT.get() == 0);
    }
}
