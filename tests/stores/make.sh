#!/usr/bin/env bash
# Makes the store of a format, with the command that is released with it: make.sh PROSPECT DIRECTORY
#
# Ten pages of the tiny site are crawled, a batch with draws is planned, fetched and closed: four pages, a
# failure, a redirect, two URLs that nobody reports. A second batch is planned and left open.
set -euo pipefail
prospect="$1" store="$2"
tiny="$(dirname "${BASH_SOURCE[0]}")/../../workloads/tiny"
site="$tiny/site"
base="https://tools.example/"
html=(--base-url "$base" --html-root "$site")

ingest() {
  "$prospect" ingest --store "$store" --quality-model text-length "$@"
}
plan() {
  "$prospect" plan --store "$store" --workload "$tiny/queries.tsv" --budget 8 --explore 0.25 \
    --format urls
}

first=("$site"/{index,about,links}.html "$site"/visit/*.html "$site"/{library,guides}/index.html)
ingest "${html[@]}" "${first[@]}"
mapfile -t planned < <(plan)
fetched=()
for url in "${planned[@]:0:4}"; do fetched+=("$site/${url#"$base"}"); done
others="$(mktemp --suffix .jsonl)"
cat >"$others" <<END
{"url": "${planned[4]}", "status": 404, "fetched_at": "2026-11-23T10:00:00Z"}
{"url": "${base}moved.html", "requested_url": "${planned[5]}", "title": "Moved", "text": "Tools to borrow.", "quality_score": -1.5}
END
ingest "${html[@]}" "${fetched[@]}"
ingest --close "$others"
rm "$others"
plan
rm -r "$store/derived" "$store/LOCK"
