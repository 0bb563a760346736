"""Writes crawl.warc.gz (WARC 1.0) and crawl-1.1.warc beside this file, with warcio 1.7 (pip install warcio).

Both hold one small crawl, every kind of record that a crawler writes. What is to be read of them stands in
tests/inside/ingest_sources.rs. All pages are made up here.
"""

import gzip
import io
import uuid
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

DATE = "2026-11-26T10:00:00Z"
HTML = [("Content-Type", "text/html; charset=utf-8")]


def chunked(body: bytes) -> bytes:
    parts = [body[at : at + 40] for at in range(0, len(body), 40)]
    framed = [b"%x\r\n%s\r\n" % (len(part), part) for part in parts]
    return b"".join([*framed, b"0\r\n\r\n"])


class Archive:
    def __init__(self, path: Path, version: str, packed: bool) -> None:
        self.file = path.open("wb")
        self.writer = WARCWriter(self.file, gzip=packed, warc_version=version)
        self.made = 0

    def write(self, url, kind, payload=b"", length=None, http=None, fields=None):
        self.made += 1
        record_id = f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, str(self.made))}>"
        headers = {"WARC-Record-ID": record_id, "WARC-Date": DATE, **(fields or {})}
        record = self.writer.create_warc_record(
            url,
            kind,
            payload=io.BytesIO(payload),
            length=len(payload) if length is None else length,
            http_headers=http,
            warc_headers_dict=headers,
        )
        self.writer.write_record(record)

    def response(self, url, status, fields, payload=b"", more=None):
        http = StatusAndHeaders(status, fields, protocol="HTTP/1.1")
        self.write(url, "response", payload, http=http, fields=more)

    def request(self, url, path):
        http = StatusAndHeaders(f"GET {path} HTTP/1.1", [("Host", "bread.example")], is_http_request=True)
        self.write(url, "request", http=http)


def crawl(archive: Archive) -> None:
    site = "http://bread.example"
    archive.write(f"{site}/", "warcinfo", b"software: by hand\r\n")
    archive.request(f"{site}/", "/")
    home = b"<title>Bread</title><p>All about bread. <a href='/rye'>rye bread</a> <a href='old'>oats</a>"
    archive.response(f"{site}/", "200 OK", HTML, home)
    archive.response(f"{site}/old", "301 Moved Permanently", [("Location", "/oats")])
    body = gzip.compress("<title>Oats</title><p>Crêpes of oats".encode(), mtime=0)
    packed = [*HTML, ("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")]
    archive.response(f"{site}/oats", "200 OK", packed, chunked(body))
    latin = [("Content-Type", "text/html; charset=windows-1252")]
    archive.response(f"{site}/rye", "200 OK", latin, "<title>Rye</title><p>Crème – rye".encode("cp1252"))
    archive.response(f"{site}/gone", "404 Not Found", HTML, b"<p>not here")
    archive.response(f"{site}/busy", "503 Service Unavailable", [])
    unchanged = {"WARC-Profile": "http://netpreserve.org/warc/1.0/revisit/server-not-modified"}
    archive.write(
        f"{site}/same", "revisit", http=StatusAndHeaders("304 Not Modified", [], protocol="HTTP/1.1"), fields=unchanged
    )
    file = b"<title>Spelt</title><p>From a disk"
    archive.write(f"{site}/spelt.html", "resource", file, fields={"Content-Type": "text/html"})
    archive.write(f"{site}/", "metadata", b"fetchTimeMs: 12\r\n", fields={"Content-Type": "application/warc-fields"})
    archive.write(
        "dns:bread.example",
        "resource",
        b"20261126100000\r\nbread.example. 60 IN A 192.0.2.1\r\n",
        fields={"Content-Type": "text/dns"},
    )
    archive.response(f"{site}/scan.pdf", "200 OK", [("Content-Type", "application/pdf")], b"%PDF-1.4 \x00\x01")
    cut = {"WARC-Truncated": "length"}
    archive.response(f"{site}/long", "200 OK", HTML, b"<title>Long</title><p>The first of many wor", cut)
    archive.file.close()


here = Path(__file__).parent
crawl(Archive(here / "crawl.warc.gz", "1.0", packed=True))
crawl(Archive(here / "crawl-1.1.warc", "1.1", packed=False))
