//! `prospect seeds`: URLs known without a link into a store.

use std::path::PathBuf;

use prospect_index::seeds::{Seed, SeedCounts, SeedSession};

use super::Global;
use super::ingest::{Skipped, each_url, open_store};
use super::output::{self, Failure, say};
use crate::ingest::urls::{NamedUrl, UrlFiles, UrlRecord};
use crate::report::number::with_noun;

/// Arguments of `prospect seeds`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store; made if it is missing.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Lists of URLs, sitemaps, CDXJ, JSON lines, dumps of CrawlDb or URLFrontier, logs (plain, .gz or .zst); `-` is
    /// standard input. `prospect formats` says more.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let mut files = UrlFiles::open(&args.files, false)?;
    let mut session = SeedSession::start(open_store(&args.store, "prospect seeds")?)?;
    let (mut skipped, mut sitemaps) = (Skipped::default(), Vec::new());
    let read = each_url(&mut files, "seeds", &mut skipped, global, |named, skipped| {
        let NamedUrl { record: UrlRecord { url, is_sitemap, lastmod, priority, .. }, .. } = named;
        if is_sitemap {
            sitemaps.push(url);
            return Ok(());
        }
        let seed = Seed {
            source: named.format.to_owned(),
            lastmod: lastmod.unwrap_or_default(),
            priority: priority.unwrap_or(f64::NAN),
        };
        if let Err(error) = session.add(&url, seed)? {
            skipped.count("invalid-url", || format!("{}: {error}", named.origin));
        }
        Ok(())
    });
    if let Err(failure) = read {
        drop(session);
        // Opening a store removes what was given up.
        let _ = open_store(&args.store, "prospect seeds");
        return Err(failure);
    }
    let (store, counts) = session.commit()?;
    let urls = store.manifest().urls;
    if global.json {
        return output::print_json(&serde_json::json!({
            "schema": "prospect.seeds/1",
            "counts": counts,
            "skipped": skipped,
            "sitemaps": sitemaps,
            "urls": urls,
        }));
    }
    let SeedCounts { new_urls, known, fetched, repeated } = counts;
    say(
        global,
        &format!(
            "{}; {known} known before, {fetched} fetched before, {repeated} that say nothing new",
            with_noun(new_urls, "new URL")
        ),
    );
    skipped.say(global);
    for url in &sitemaps {
        say(global, &format!("another sitemap, to be fetched and named: {url}"));
    }
    say(global, &format!("the store knows {}", with_noun(urls, "URL")));
    Ok(())
}
