//! Who may ask: pages that this server sent, under the name it listens on.
//!
//! A browser sends requests of any page to any address, so a loopback address keeps nobody out. A
//! page of another origin is told apart by `Origin` and `Sec-Fetch-Site`; one whose name was made to
//! lead here (DNS rebinding) by `Host`.

use std::net::SocketAddr;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::routes::refusal;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";
const HEADERS: [(HeaderName, &str); 7] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The names under which the server may be asked.
#[derive(Clone)]
pub(super) struct Guard {
    hosts: Vec<String>,
    /// Listening on every address, by whatever name: the user has opened it to the network.
    any: bool,
    port: u16,
}

impl Guard {
    /// For a server that was told to listen on `listen` and does so at `address`.
    pub(super) fn new(listen: &str, address: SocketAddr) -> Self {
        let port = address.port();
        let mut hosts = vec![address.to_string()];
        if let Some((name, _)) = listen.rsplit_once(':') {
            hosts.push(format!("{}:{port}", name.to_lowercase()));
        }
        if address.ip().is_loopback() {
            hosts.push(format!("localhost:{port}"));
        }
        Self { hosts, any: address.ip().is_unspecified(), port }
    }

    /// Whether the server may be asked under a name.
    fn is_own(&self, name: &str) -> bool {
        let address = name.parse::<SocketAddr>();
        self.hosts.iter().any(|own| own == name)
            // By a number: a name could be made to lead here.
            || self.any && address.is_ok_and(|address| address.port() == self.port)
            || self.any && name == format!("localhost:{}", self.port)
    }

    /// Why a request is refused, if it is.
    fn refuses(&self, method: &Method, headers: &HeaderMap) -> Option<&'static str> {
        let text =
            |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or("?"));
        let sent = text(HOST).unwrap_or_default().to_lowercase();
        // Browsers leave the usual port out.
        let has_port = sent.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let host = if has_port { sent.clone() } else { format!("{sent}:80") };
        // A proxy may have gone by the other one.
        if headers.get_all(HOST).iter().count() > 1 || headers.get_all(ORIGIN).iter().count() > 1 {
            return Some("the request names more than one host or origin");
        }
        if !self.is_own(&host) {
            return Some("the request is for another host");
        }
        let origin = text(ORIGIN);
        if origin.is_some_and(|origin| origin != format!("http://{sent}")) {
            return Some("the request comes from another origin");
        }
        let site = text(HeaderName::from_static("sec-fetch-site"));
        let is_open = *method == Method::GET && site == Some("none");
        if site.is_some_and(|site| site != "same-origin") && !is_open {
            return Some("the request comes from another site");
        }
        None
    }
}

/// Refuses who may not ask, and tells browsers what pages may do.
pub(super) async fn watch(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut response = match guard.refuses(request.method(), request.headers()) {
        Some(why) => {
            refusal(StatusCode::FORBIDDEN, why, "open the address that the command printed")
                .into_response()
        }
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuses(listen: &str, address: &str, method: &Method, sent: &[(&str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        Guard::new(listen, address.parse().unwrap()).refuses(method, &headers).is_some()
    }

    #[test]
    fn only_its_own_pages_may_ask() {
        let local = |method: &Method, sent: &[(&str, &str)]| {
            refuses("127.0.0.1:0", "127.0.0.1:7878", method, sent)
        };
        let own = ("host", "127.0.0.1:7878");
        assert!(!local(&Method::GET, &[own]));
        assert!(!local(&Method::GET, &[own, ("sec-fetch-site", "none")]));
        assert!(!local(&Method::GET, &[("host", "localhost:7878")]));
        let origin = ("origin", "http://127.0.0.1:7878");
        assert!(!local(&Method::POST, &[own, origin, ("sec-fetch-site", "same-origin")]));
        assert!(local(&Method::POST, &[own, ("origin", "http://evil.test")]));
        assert!(local(&Method::POST, &[own, ("origin", "http://localhost:7878")]));
        assert!(local(&Method::POST, &[own, ("origin", "null")]));
        assert!(local(&Method::GET, &[own, ("sec-fetch-site", "cross-site")]));
        assert!(local(&Method::POST, &[own, ("sec-fetch-site", "none")]));
        assert!(local(&Method::GET, &[("host", "evil.test:7878")]));
        assert!(local(&Method::GET, &[("host", "127.0.0.1:80")]));
        assert!(local(&Method::GET, &[]));
        assert!(local(&Method::GET, &[own, ("host", "evil.test:7878")]));
        assert!(local(&Method::GET, &[own, own]));
        assert!(local(&Method::POST, &[own, origin, ("origin", "http://evil.test")]));
    }

    #[test]
    fn on_every_address_it_is_asked_by_number() {
        let open = |host| refuses("0.0.0.0:80", "0.0.0.0:80", &Method::GET, &[("host", host)]);
        assert!(!open("192.0.2.7"));
        assert!(!open("localhost"));
        assert!(open("evil.test") && open("192.0.2.7:81"));
        let named = |host| refuses("Box.test:80", "192.0.2.7:80", &Method::GET, &[("host", host)]);
        assert!(!named("box.test") && !named("box.test:80"));
        assert!(named("other.test:80"));
    }
}
