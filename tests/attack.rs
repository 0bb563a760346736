//! The standing attack: whatever happens to a process or its disk, nothing is lost, and nothing is silently wrong.
//!
//! Commands are killed at the calls by which they change files, these calls fail, power is lost behind them, bits of
//! stored files flip, files are cut and change places. Each test says how many points it tried and prints them.
//! `PROSPECT_ATTACK=full` tries all, as `.ci/nightly` does, and `PROSPECT_ATTACK=10%` a share; without it a sample is
//! tried, so that `cargo test` stays quick.
//!
//! Linux alone has the means (`attack/shim.c`, a library before the C library's).

#![cfg(target_os = "linux")]

mod common;
#[path = "common/documents.rs"]
mod documents;
#[path = "common/simulation.rs"]
mod simulation;

#[path = "attack/damage.rs"]
mod damage;
#[path = "attack/disk.rs"]
mod disk;
#[path = "attack/faults.rs"]
mod faults;
#[path = "attack/folders.rs"]
mod folders;
#[path = "attack/full_disk.rs"]
mod full_disk;
#[path = "attack/kills.rs"]
mod kills;
#[cfg(feature = "neural")]
#[path = "attack/models.rs"]
mod models;
#[path = "attack/power.rs"]
mod power;
#[path = "attack/scenarios.rs"]
mod scenarios;

/// How many of so many points are tried: `sample` of them, or the share of `full` that is asked for.
fn tried(sample: usize, full: usize) -> usize {
    let Ok(asked) = std::env::var("PROSPECT_ATTACK") else { return sample };
    if asked == "full" {
        return full;
    }
    let share = asked.strip_suffix('%').and_then(|share| share.parse::<f64>().ok());
    let share = share.expect("PROSPECT_ATTACK is `full`, or a share of it as `10%`");
    sample.max((full as f64 * share / 100.0) as usize)
}

/// So many of the numbers `1..=of`, evenly, the first and the last among them.
fn spread(of: usize, most: usize) -> Vec<usize> {
    if of <= most {
        return (1..=of).collect();
    }
    (0..most).map(|at| 1 + at * (of - 1) / (most - 1).max(1)).collect()
}
