//! One URL a line, as Nutch, StormCrawler, Heritrix, Scrapy and wget read seeds.

use super::PlanFormat;

pub(super) const FORMAT: PlanFormat = PlanFormat {
    name: "urls",
    description: "one URL a line: seeds for Nutch, StormCrawler, Heritrix, Scrapy, wget -i",
    write: |out, planned| {
        for url in planned {
            writeln!(out, "{}", url.url)?;
        }
        Ok(())
    },
};
