"""Crawls with Scrapy beside a running planner, which says after each group of pages what to fetch next.

    prospect seeds --store store seeds.txt
    scrapy runspider prospect_stream_spider.py -a store=store -a workload=queries.tsv

`prospect stream` runs as a child process: URLs come on its standard output, and the record of each, as
prospect_spider.py makes it, goes to its standard input. It ends when nothing is left; `-a options="--budget 5000"` gives
it more options. To stop earlier, interrupt Scrapy once: what has come is stored, and the next run goes on from there.
"""

import asyncio
import json
import shlex

import scrapy
from scrapy import signals

from prospect_spider import ProspectSpider


class ProspectStreamSpider(ProspectSpider):
    name = "prospect-stream"
    custom_settings = ProspectSpider.custom_settings | {
        # Hosts that wait for their delay do not keep others waiting.
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    }
    prospect = "prospect"
    options = ""
    planner = None

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.report, signals.item_scraped)
        crawler.signals.connect(spider.end, signals.spider_closed)
        return spider

    async def start(self):
        # Scrapy keeps the delay of each host itself, so that `not_before` is not needed here.
        delay = self.settings.get("DOWNLOAD_DELAY")
        self.planner = await asyncio.create_subprocess_exec(
            *[self.prospect, "stream", "--store", self.store, "--workload", self.workload, "--delay", str(delay)],
            *shlex.split(self.options),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=1 << 20,
            start_new_session=True,  # an interrupt is for Scrapy: the planner ends when its input does
        )
        number = 0
        async for line in self.planner.stdout:
            pick = json.loads(line)
            pick["plan_id"] = pick["plan"]
            number += 1
            yield scrapy.Request(
                pick["url"],
                priority=-number,
                dont_filter=True,
                errback=self.failed,
                cb_kwargs={"pick": pick},
            )

    def report(self, item):
        self.planner.stdin.write(json.dumps(item).encode() + b"\n")

    async def end(self):
        if self.planner:
            self.planner.stdin.close()
            await self.planner.wait()
