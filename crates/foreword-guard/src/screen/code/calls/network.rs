//! Calls that make requests, open connections or send mail.

use std::rc::Rc;

use super::Parts;
use crate::screen::code::effect::Act;
use crate::screen::code::machine::Machine;
use crate::screen::code::value::{Marks, Origin, Value};

/// Libraries whose calls are requests.
const HTTP: [&str; 22] = [
    "requests",
    "httpx",
    "aiohttp",
    "axios",
    "got",
    "superagent",
    "needle",
    "urllib",
    "urllib2",
    "urllib3",
    "undici",
    "ky",
    "http",
    "https",
    "Net.HTTP",
    "HTTParty",
    "Faraday",
    "RestClient",
    "node-fetch",
    "cloudscraper",
    "curl_cffi",
    "net.webclient",
];

/// Methods that make a request.
const REQUESTS: [&str; 24] = [
    "get",
    "post",
    "put",
    "patch",
    "delete",
    "request",
    "head",
    "urlopen",
    "send",
    "fetch",
    "open",
    "urlretrieve",
    "post_form",
    "get_response",
    "start",
    "uploadstring",
    "uploaddata",
    "uploadfile",
    "downloadstring",
    "downloadfile",
    "downloaddata",
    "stream",
    "sendbeacon",
    "options",
];

impl Machine<'_> {
    /// Requests, connections, mails.
    pub(super) fn networking(
        &mut self,
        path: &str,
        last: &str,
        parts: &Parts<'_>,
    ) -> Option<Value> {
        let line = parts.line;
        let is_library = || {
            let mut roots = HTTP.iter().filter_map(|root| path.strip_prefix(root));
            roots.any(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_session = || {
            let lower = path.to_ascii_lowercase();
            lower.contains("session") || lower.contains("webclient")
        };
        let is_http = || is_library() || is_session();
        let by_url = || {
            let texts = parts.args.iter().chain(parts.named.iter().map(|(_, v)| v));
            texts.take(3).any(|v| {
                v.as_text().is_some_and(|t| t.starts_with("http://") || t.starts_with("https://"))
            })
        };
        let fetches = matches!(
            path,
            "fetch"
                | "axios"
                | "got"
                | "request"
                | "urlopen"
                | "URI.open"
                | "sendBeacon"
                | "$.ajax"
                | "$.post"
                | "$.get"
                | "globalThis.fetch"
                | "window.fetch"
                | "nodeFetch"
                | "fetchJson"
        );
        if matches!(path, "urllib.request.Request" | "Request" | "request.Request" | "http.Request")
        {
            let mut request = parts.first().cloned().unwrap_or_default();
            let mut data = Marks::default();
            for value in parts.args.iter().skip(1) {
                data.add(&value.all_marks());
            }
            data.add(&parts.named(&["data"]).map(Value::all_marks).unwrap_or_default());
            request.marks.add(&data);
            if let Some(headers) = parts.named(&["headers"]) {
                let fields = [("headers".into(), headers.clone())];
                request.fields = Some(Rc::new(fields.into_iter().collect()));
            }
            return Some(request);
        }
        if fetches || REQUESTS.contains(&last) && (is_http() || by_url()) {
            return Some(self.request(parts));
        }
        if last == "open" && path.contains("XMLHttpRequest")
            || path.ends_with(".open") && parts.has_text(&["POST", "GET", "PUT"])
        {
            return Some(self.request(parts));
        }
        match (path, last) {
            (_, "send" | "sendall" | "sendto" | "write" | "end")
                if [
                    "socket",
                    "XMLHttpRequest",
                    "WebSocket",
                    "net.",
                    "tls.",
                    "http.request",
                    "https.request",
                    "websocket",
                ]
                .iter()
                .any(|p| path.contains(p)) =>
            {
                self.add(Act::Connect, path, parts.marks(), line);
                Some(Value::path(path))
            }
            (_, "connect" | "createconnection" | "connect_ex" | "create_connection")
                if path.contains("socket")
                    || path.contains("net")
                    || path.contains("tls")
                    || path.starts_with('.') =>
            {
                let marks = parts.marks();
                let host = parts.first().map(address_of).unwrap_or_default();
                if path.starts_with('.') && host.is_empty() {
                    return None;
                }
                self.add(Act::Connect, &host, marks, line);
                Some(Value::path("socket"))
            }
            (_, "dup2")
                if parts
                    .args
                    .iter()
                    .any(|v| v.path.as_deref().is_some_and(|p| p.contains("fileno"))) =>
            {
                self.add(Act::RemoteShell, "os.dup2", Marks::default(), line);
                Some(Value::default())
            }
            (
                "WebSocket"
                | "TCPSocket.new"
                | "TCPSocket.open"
                | "websocket.create_connection"
                | "net.sockets.tcpclient",
                _,
            ) => {
                let target = parts.first().map(address_of).unwrap_or_default();
                self.add(Act::Connect, &target, parts.marks(), line);
                Some(Value::path("WebSocket"))
            }
            (
                _,
                "gethostbyname" | "getaddrinfo" | "resolve" | "resolve4" | "resolvetxt" | "lookup",
            ) if path.contains("dns") || path.contains("socket") || path.contains("resolver") => {
                let first = parts.first().cloned().unwrap_or_default();
                self.add(Act::Lookup, first.as_text().unwrap_or_default(), first.all_marks(), line);
                Some(Value::default())
            }
            (_, "sendmail" | "send_message" | "sendmessage")
                if path.contains("smtp")
                    || path.contains("SMTP")
                    || path.contains("transporter")
                    || path.contains("mail") =>
            {
                self.add(Act::Mail, path, parts.marks(), line);
                Some(Value::default())
            }
            (_, "smtp" | "smtp_ssl") => Some(Value::path("smtplib.SMTP")),
            (
                _,
                "storbinary" | "storlines" | "put" | "upload_file" | "upload_fileobj"
                | "put_object",
            ) if ["ftp", "sftp", "paramiko", "s3", "boto3"]
                .iter()
                .any(|p| path.to_ascii_lowercase().contains(p)) =>
            {
                self.add(Act::Copy, path, parts.marks(), line);
                Some(Value::default())
            }
            _ => None,
        }
    }

    pub(super) fn request(&mut self, parts: &Parts<'_>) -> Value {
        let line = parts.line;
        let is_url = |v: &&Value| v.as_text().is_some_and(|t| t.contains("://"));
        let options = parts.args.iter().filter(|v| v.fields.is_some());
        let by_name = |v: &Value, names: &[&str]| names.iter().find_map(|n| v.field(n).cloned());
        let from_options =
            options.clone().find_map(|v| by_name(v, &["url", "uri", "hostname", "host"]));
        let named = parts.named(&["url", "uri"]).cloned();
        let url = parts.args.iter().find(is_url).cloned().or(named).or(from_options);
        let url = url.or_else(|| parts.args.first().cloned()).unwrap_or_default();
        let proofs = ["headers", "auth", "cookies", "Authorization", "token"];
        let (mut data, mut proof) = (url.marks.clone(), Marks::default());
        for value in parts.args {
            match &value.fields {
                Some(fields) => {
                    for (name, field) in fields.iter() {
                        let to =
                            if proofs.contains(&name.as_ref()) { &mut proof } else { &mut data };
                        to.add(&field.all_marks());
                    }
                    if fields.len() <= 1 {
                        data.add(&value.marks);
                    }
                }
                None => data.add(&value.all_marks()),
            }
        }
        for (name, value) in parts.named {
            let to = if proofs.contains(&name.as_ref()) { &mut proof } else { &mut data };
            to.add(&value.all_marks());
        }
        let target = url.as_text().unwrap_or_default().to_owned();
        self.add_with_proof(Act::Http, &target, data, proof, line);
        Value {
            path: Some("response".into()),
            ..Value::marked(self.mark(Origin::Fetched, target, line))
        }
    }
}

/// `("host", 443)`, `{host: …, port: …}` or a text.
fn address_of(value: &Value) -> String {
    let host = value.items.as_ref().and_then(|items| items.first()).or(value.field("host"));
    host.unwrap_or(value).as_text().unwrap_or_default().to_owned()
}
