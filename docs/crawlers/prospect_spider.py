"""Fetches a plan of Prospect with Scrapy, and reports every URL of it once.

    prospect plan --store store --workload queries.tsv --budget 1000 --format scrapy --out batch.jsonl
    scrapy runspider prospect_spider.py -a batch=batch.jsonl -O fetched.jsonl
    prospect ingest --store store --close fetched.jsonl

What comes is a record a URL: the page with its text and links, or the status of what went wrong. A status of 0
says that no server answered, and `error` why; where that is robots.txt, the URL is not planned again.
"""

import json
from datetime import datetime, timezone
from urllib.parse import urljoin

import scrapy
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import TextResponse
from scrapy.utils.httpobj import urlparse_cached

HIDDEN = "ancestor::script or ancestor::style or ancestor::noscript or ancestor::template"


def squeezed(text):
    return " ".join((text or "").split())


def joined(base, href):
    try:
        return urljoin(base, href.strip())
    except ValueError:  # pages hold what is no URL
        return None


class PatientRobots(RobotsTxtMiddleware):
    """Scrapy tells the rules of a host to the first that waits for them; those behind it would be let through."""

    async def robot_parser(self, request):
        await super().robot_parser(request)
        return self._parsers[urlparse_cached(request).netloc]


class ProspectSpider(scrapy.Spider):
    name = "prospect"
    custom_settings = {
        "ROBOTSTXT_OBEY": True,
        "DOWNLOADER_MIDDLEWARES": {RobotsTxtMiddleware: None, PatientRobots: 100},
        "HTTPERROR_ALLOW_ALL": True,  # a 404 is reported like a page
        "RETRY_ENABLED": False,  # a failure that may pass is planned again, when its time has come
        "DOWNLOAD_TIMEOUT": 30,
        "DOWNLOAD_DELAY": 1.0,  # seconds between two requests to a host
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
    }

    async def start(self):
        with open(self.batch, encoding="utf-8") as lines:
            for line in lines:
                pick = json.loads(line)
                yield scrapy.Request(
                    pick["url"],
                    priority=pick["priority"],
                    dont_filter=True,
                    errback=self.failed,
                    cb_kwargs={"pick": pick},
                )

    def parse(self, response, pick):
        record = self.record(pick, response.url, response.status)
        if isinstance(response, TextResponse) and 200 <= response.status < 300:
            record["title"] = squeezed(response.xpath("string(//title)").get())
            record["text"] = squeezed(" ".join(response.xpath(f"//body//text()[not({HIDDEN})]").getall()))
            base = joined(response.url, response.xpath("//base/@href").get() or "") or response.url
            record["outlinks"] = [
                {
                    "url": url,
                    "anchor": squeezed(link.xpath("string()").get()) or squeezed(link.xpath("string(.//img/@alt)").get()),
                }
                for link in response.xpath("//a[@href]")
                if "nofollow" not in link.attrib.get("rel", "") and (url := joined(base, link.attrib["href"]))
            ]
        yield record

    def failed(self, failure):
        pick = failure.request.cb_kwargs["pick"]
        is_denied = failure.check(IgnoreRequest) and "robots.txt" in str(failure.value)
        error = "robots.txt" if is_denied else failure.type.__name__
        yield self.record(pick, failure.request.url, 0) | {"error": error}

    def record(self, pick, url, status):
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        record = {"url": url, "status": status, "fetched_at": now, "plan_id": pick["plan_id"]}
        return record if url == pick["url"] else record | {"requested_url": pick["url"]}
