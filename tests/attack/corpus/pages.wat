WARC/1.1
WARC-Type: metadata
WARC-Target-URI: https://a.test/
WARC-Date: 2026-11-23T10:00:00Z
WARC-Record-ID: <urn:uuid:1>
Content-Type: application/json
Content-Length: 325

{"Container": {"Filename": "x"}, "Envelope": {"WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI": "https://a.test/"}, "Payload-Metadata": {"HTTP-Response-Metadata": {"Response-Message": {"Status": "200"}, "HTML-Metadata": {"Head": {"Title": "T"}, "Links": [{"path": "A@/href", "url": "/b", "text": "b"}]}}}}}

