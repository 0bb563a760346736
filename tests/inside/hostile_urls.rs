//! No URL takes long.
//!
//! Story: a page of 1.6 MB, full of links whose escapes hide further escapes, kept an ingest busy for nine
//! seconds: each link was decoded one escape a round. Since then a URL costs what its length is, whatever it is
//! made of. The shapes are those that a parser, a decoder or a rule on hosts could stumble over.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::shapes::{SHAPES, made};
use crate::estimate::url_parts::{SiteLevel, depth, file_type};
use prospect_index::limits::BOUNDS;
use prospect_index::url::canonical;

/// Times that a URL is read again that seems slow.
const TRIES: usize = 20;

/// All that is asked of the URL of a link.
fn read(given: &str) -> usize {
    let Ok(found) = canonical(given) else { return 0 };
    let again = canonical(&found);
    assert_eq!(again.as_deref(), Ok(found.as_str()), "{given:.60}");
    let levels = [SiteLevel::Domain, SiteLevel::Host, SiteLevel::Directory];
    let sites: usize = levels.iter().map(|level| level.site(&found).len()).sum();
    sites + depth(&found) + file_type(&found).len()
}

/// Whether one that is eight times as long takes longer than that: linear is 8, quadratic 64. What is short is noise.
fn is_slow(short: Duration, long: Duration) -> bool {
    long > Duration::from_micros(500) && long > 32 * short
}

/// The shortest of some readings, which is the one that nothing disturbed.
fn took(given: &str) -> Duration {
    let readings = (0..7).map(|_| {
        let start = Instant::now();
        std::hint::black_box(read(given));
        start.elapsed()
    });
    readings.min().unwrap_or_default()
}

#[test]
fn a_url_costs_what_its_length_is() {
    assert!(SHAPES.len() > 50);
    let (mut slow, mut figures) = (Vec::new(), String::new());
    for &shape in SHAPES {
        // The longest that is read is four times as long as the longest that is kept.
        let (half, four) = (made(shape, BOUNDS.url_bytes / 2), made(shape, 4 * BOUNDS.url_bytes));
        let (mut short, mut long) = (took(&half), took(&four));
        // Where others keep the machine busy, some readings are disturbed all together.
        for _ in 0..TRIES {
            if !is_slow(short, long) {
                break;
            }
            (short, long) = (took(&half), took(&four));
        }
        let _ = writeln!(figures, "{short:>12?} {long:>12?} {shape:?}");
        if is_slow(short, long) {
            slow.push((shape, short, long));
        }
        // A hundred times what a slow machine takes.
        assert!(long < Duration::from_millis(200), "{shape:?} {long:?}");
    }
    println!("{figures}");
    assert!(slow.is_empty(), "{slow:?}");
}
