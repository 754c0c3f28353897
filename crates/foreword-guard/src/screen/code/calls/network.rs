//! Calls that make requests, open connections or send mail.

use std::rc::Rc;

use super::Parts;
use crate::screen::code::effect::Act;
use crate::screen::code::machine::Machine;
use crate::screen::code::places::{METADATA, is_metadata};
use crate::screen::code::value::{HOLE, Marks, Origin, Value};

/// Where something came from whose address a program decodes first.
pub(crate) const HIDDEN_ADDRESS: &str = "a hidden address";

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
        if matches!(
            last,
            "httpsconnection" | "httpconnection" | "smtp" | "smtp_ssl" | "ftp" | "ftp_tls"
        ) || path == "Net.HTTP.new"
            || path == "Net.HTTP.start"
        {
            // An object that later requests go through.
            let host = parts.first().map(address_of).unwrap_or_default();
            let plain = last == "httpconnection" || last == "ftp";
            let scheme = if plain { "http" } else { "https" };
            if !host.is_empty() {
                self.connected.insert(self.file, format!("{scheme}://{host}"));
            }
            if last == "start" {
                return Some(Value::path("Net.HTTP"));
            }
            if last.starts_with("smtp") {
                return Some(Value::path("smtplib.SMTP"));
            }
            return Some(Value::path(if last.starts_with("ftp") {
                "ftplib.FTP"
            } else {
                "http.client"
            }));
        }
        if path.starts_with("Net.HTTP.") && last == "new" {
            // Ruby: a request on its way; its body is given later.
            let mut request = Value::path("Net.HTTP.request");
            request.text = parts.first().and_then(|v| v.text.clone());
            request.marks = parts.marks();
            return Some(request);
        }
        if fetches || REQUESTS.contains(&last) && (is_http() || by_url()) {
            let url = parts.args.iter().filter_map(Value::as_text).find(|t| t.contains("://"));
            if let Some(url) = url.filter(|_| last == "open") {
                // What is asked of the object afterwards comes from there.
                self.connected.insert(self.file, url.to_owned());
            }
            if last == "uploadfile"
                && let Some(file) = parts.args.get(1)
            {
                let marks = self.read_path(file, line).marks;
                let target = parts.first().and_then(Value::as_text).unwrap_or_default().to_owned();
                self.add(Act::Http, &target, marks, line);
            }
            let secure = path.starts_with("https") || path.contains("HTTPS");
            let mut response = self.request(parts, secure);
            if matches!(path, "http.request" | "https.request") {
                // Node.js: what is written to the request follows.
                response.path = Some(path.into());
            }
            if matches!(last, "urlretrieve" | "downloadfile")
                && let Some(to) = parts.args.get(1).and_then(Value::as_text)
            {
                let to = to.to_owned();
                self.stage(&to, &response);
                return Some(Value::text(to));
            }
            return Some(response);
        }
        if last == "open"
            && (path.contains("XMLHttpRequest") || parts.has_text(&["POST", "GET", "PUT"]))
        {
            return Some(self.request(parts, false));
        }
        match (path, last) {
            (
                _,
                "send" | "sendall" | "sendto" | "write" | "end" | "puts" | "print" | "syswrite",
            ) if [
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
                let own = parts.receiver.and_then(Value::as_text).unwrap_or_default();
                let target = match own.is_empty() {
                    true => self.connected.get(&self.file).cloned().unwrap_or_default(),
                    false => own.to_owned(),
                };
                self.add(Act::Connect, &target, parts.given(), line);
                Some(Value { text: Some(target.into()), ..Value::path(path) })
            }
            (_, "connect" | "createconnection" | "connect_ex" | "create_connection")
                if path.contains("socket")
                    || path.contains("paramiko")
                    || path.contains("net")
                    || path.contains("tls")
                    || path.starts_with('.') =>
            {
                let marks = parts.marks();
                let hosts = parts.args.iter().map(address_of);
                let host = hosts.into_iter().find(|host| !host.is_empty()).unwrap_or_default();
                if path.starts_with('.') && host.is_empty() {
                    return None;
                }
                if !host.is_empty() {
                    self.connected.insert(self.file, host.clone());
                }
                self.add(Act::Connect, &host, marks, line);
                let marks = self.mark(Origin::Fetched, host.clone(), line);
                Some(Value { text: Some(host.into()), marks, ..Value::path("socket") })
            }
            (_, "recv" | "recvfrom" | "gets" | "readline" | "readlines" | "receive")
                if path.contains("socket") || path.contains("Socket") =>
            {
                let own = parts.receiver.and_then(Value::as_text).unwrap_or_default();
                let from = match own.is_empty() {
                    true => self.connected.get(&self.file).cloned().unwrap_or_default(),
                    false => own.to_owned(),
                };
                Some(Value::marked(self.mark(Origin::Fetched, from, line)))
            }
            (_, "bind" | "listen" | "createserver" | "accept")
                if ["socket", "net.", "tls."].iter().any(|p| path.starts_with(p)) =>
            {
                self.add(Act::Listen, path, Marks::default(), line);
                Some(Value::path("socket"))
            }
            (_, "open_connection" | "openconnection") if path.contains("asyncio") => {
                let host = parts.first().map(address_of).unwrap_or_default();
                self.add(Act::Connect, &host, parts.marks(), line);
                let end = Value { text: Some(host.into()), ..Value::path("socket") };
                Some(Value { items: Some(Rc::new(vec![end.clone(), end])), ..Value::default() })
            }
            (_, "setopt" | "perform") if path.to_ascii_lowercase().contains("curl") => {
                let url = parts.args.iter().find_map(|v| v.as_text().filter(|t| t.contains("://")));
                if let Some(url) = url {
                    self.connected.insert(self.file, url.to_owned());
                }
                let target = self.connected.get(&self.file).cloned().unwrap_or_default();
                self.add(Act::Http, &target, parts.given(), line);
                Some(Value::default())
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
                | "ws"
                | "ws.WebSocket"
                | "io"
                | "socket.io-client.io"
                | "TCPSocket.new"
                | "TCPSocket.open"
                | "websocket.create_connection"
                | "net.sockets.tcpclient",
                _,
            ) => {
                let target = parts.first().map(address_of).unwrap_or_default();
                self.add(Act::Connect, &target, parts.marks(), line);
                let marks = self.mark(Origin::Fetched, target.clone(), line);
                Some(Value { text: Some(target.into()), marks, ..Value::path("WebSocket") })
            }
            (
                _,
                "gethostbyname" | "getaddrinfo" | "resolve" | "resolve4" | "resolvetxt" | "lookup"
                | "query" | "getaddress" | "resolve6" | "gethostentry" | "gethostaddresses"
                | "resolveany" | "getaddresses" | "getbyname",
            ) if ["dns", "socket", "resolver", "Resolv", "InetAddress"]
                .iter()
                .any(|p| path.contains(p)) =>
            {
                Some(self.look_up(parts))
            }
            // Go, PHP, Perl and C, where the name of the function is enough.
            (
                _,
                "lookuphost" | "lookuptxt" | "lookupip" | "lookupaddr" | "lookupcname" | "lookupmx"
                | "lookupns" | "to_socket_addrs" | "gethostbyname" | "dns_get_record"
                | "checkdnsrr" | "lookup_host" | "getaddrinfo",
            ) if self.language().is_loose() => Some(self.look_up(parts)),
            (_, "urlunsplit" | "urlunparse") => {
                let host = parts.first().and_then(|v| v.items.as_ref()?.get(1).cloned());
                let whole = host.unwrap_or_default();
                self.note_link(&whole, line);
                Some(Value { text: whole.text.clone(), ..Value::marked(parts.marks()) })
            }
            (_, "_replace") if parts.named(&["netloc"]).is_some() => {
                let host = parts.named(&["netloc"]).cloned().unwrap_or_default();
                self.note_link(&host, line);
                Some(Value::marked(parts.marks()))
            }
            (_, "sendmail" | "send_message" | "sendmessage" | "mail" | "wp_mail" | "deliver")
                if matches!(path, "mail" | "wp_mail") && self.language().is_loose()
                    || path.contains("smtp")
                    || path.contains("SMTP")
                    || path.contains("transporter")
                    || parts
                        .first()
                        .is_some_and(|v| v.field("to").or(v.field("bcc")).is_some())
                    || path.contains("mail") =>
            {
                let mut target = recipients(parts);
                if target.is_empty() {
                    target = self.connected.get(&self.file).cloned().unwrap_or_default();
                }
                self.add(Act::Mail, &target, parts.marks(), line);
                Some(Value::default())
            }
            (
                _,
                "storbinary" | "storlines" | "put" | "upload_file" | "upload_fileobj"
                | "put_object",
            ) if ["ftp", "sftp", "paramiko", "s3", "boto3"]
                .iter()
                .any(|p| path.to_ascii_lowercase().contains(p)) =>
            {
                let mut marks = parts.given();
                if let Some(file) =
                    parts.first().filter(|v| v.text.is_some() || last == "upload_file")
                {
                    marks.add(&self.read_path(file, line).marks);
                }
                let bucket = parts.args.get(1).or(parts.named(&["Bucket", "bucket"]));
                let others = bucket.into_iter().flat_map(Value::alternatives).skip(1);
                let others: Vec<String> =
                    others.filter_map(Value::as_text).map(str::to_owned).collect();
                for other in others.iter().filter(|_| last != "put" && !last.starts_with("stor")) {
                    self.add(Act::Copy, &format!("s3://{other}"), marks.clone(), line);
                }
                let bucket = bucket.and_then(Value::as_text).map(|b| format!("s3://{b}"));
                let target = if last == "put" || last.starts_with("stor") {
                    self.connected.get(&self.file).cloned()
                } else {
                    bucket
                };
                self.add(Act::Copy, &target.unwrap_or_default(), marks, line);
                Some(Value::default())
            }
            // The client sends it later; where to and what stands here.
            (_, "putobjectcommand") => {
                let given = parts.first_or_nothing();
                let given = given.field("params").unwrap_or(given);
                let marks = given.all_marks();
                let buckets = given.field("Bucket").into_iter().flat_map(Value::alternatives);
                let buckets: Vec<String> =
                    buckets.filter_map(Value::as_text).map(str::to_owned).collect();
                for bucket in buckets {
                    self.add(Act::Copy, &format!("s3://{bucket}"), marks.clone(), line);
                }
                Some(Value::marked(marks))
            }
            _ => None,
        }
    }

    /// The host of a link gets another end, or another name altogether.
    pub(in crate::screen::code) fn note_link(&mut self, host: &Value, line: u32) {
        for host in host.alternatives().filter_map(Value::as_text) {
            let partly = host.contains(HOLE) && host.contains('.') && host.len() < 120;
            if partly && !host.ends_with(HOLE) {
                let target = format!("https://{host}");
                self.add(Act::Relink, &target, Marks::default(), line);
            }
        }
    }

    /// A name is looked up.
    fn look_up(&mut self, parts: &Parts<'_>) -> Value {
        let texts = parts.args.iter().chain(parts.receiver);
        let name = texts.into_iter().find(|v| v.text.is_some() || !v.marks.is_empty());
        let name = name.cloned().unwrap_or_default();
        let target = name.as_text().unwrap_or_default().to_owned();
        self.add(Act::Lookup, &target, name.all_marks(), parts.line);
        Value::marked(self.mark(Origin::Fetched, target, parts.line))
    }

    pub(super) fn request(&mut self, parts: &Parts<'_>, secure: bool) -> Value {
        let line = parts.line;
        let is_url = |v: &&Value| v.as_text().is_some_and(|t| t.contains("://"));
        let options = parts.args.iter().filter(|v| v.fields.is_some());
        let by_name = |v: &Value, names: &[&str]| names.iter().find_map(|n| v.field(n).cloned());
        let from_options =
            options.clone().find_map(|v| by_name(v, &["url", "uri", "hostname", "host"]));
        let named = parts.named(&["url", "uri"]).cloned();
        let url = parts.args.iter().find(is_url).cloned().or(named).or(from_options);
        let url = url.or_else(|| parts.args.first().cloned()).unwrap_or_default();
        let proofs = ["auth", "cookies", "Authorization", "token"];
        let (mut data, mut proof) = (url.marks.clone(), Marks::default());
        for value in parts.args {
            match &value.fields {
                Some(fields) => {
                    for (name, field) in fields.iter() {
                        if name.as_ref() == "headers" {
                            split_headers(field, &mut data, &mut proof);
                            continue;
                        }
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
            data.add(&self.environment(value, line));
        }
        for (name, value) in parts.named {
            data.add(&self.environment(value, line));
            if name.as_ref() == "headers" {
                split_headers(value, &mut data, &mut proof);
                continue;
            }
            let to = if proofs.contains(&name.as_ref()) { &mut proof } else { &mut data };
            to.add(&value.all_marks());
        }
        let mut target = url.as_text().unwrap_or_default().to_owned();
        let bare_host = options.clone().any(|v| v.field("host").or(v.field("hostname")).is_some());
        if !target.contains("://") {
            let through = parts.receiver.and_then(|r| r.path.as_deref()).unwrap_or_default();
            if bare_host && !target.is_empty() {
                target = format!("{}://{target}", if secure { "https" } else { "http" });
            } else if through.starts_with("http.client") || through.starts_with("Net.HTTP") {
                let known = self.connected.get(&self.file).cloned();
                target = known.unwrap_or(target);
            }
        }
        if url.disguised && target.contains("://") {
            self.add(Act::Disguise, &target, url.marks.clone(), line);
        }
        for other in url.others.iter().flat_map(|others| others.iter()) {
            if let Some(other) = other.as_text().filter(|t| t.contains("://")) {
                self.add_with_proof(Act::Http, other, data.clone(), proof.clone(), line);
            }
        }
        self.add_with_proof(Act::Http, &target, data, proof, line);
        let hidden = target.is_empty() && url.marks.has(&Origin::Decoded);
        let from = if hidden { HIDDEN_ADDRESS.to_owned() } else { target.clone() };
        let mut marks = self.mark(Origin::Fetched, from, line);
        if is_metadata(&target) {
            marks.add(&self.mark(Origin::Credential, METADATA, line));
        }
        Value {
            text: Some(target.into()).filter(|_| bare_host),
            path: Some("response".into()),
            ..Value::marked(marks)
        }
    }
}

/// Fields of a mail that say whom it goes to.
const RECIPIENTS: [&str; 8] = ["to", "cc", "bcc", "To", "Cc", "Bcc", "BCC", "CC"];

/// The mail boxes that a mail goes to, as far as they stand in the program. Who sends it is none.
fn recipients(parts: &Parts<'_>) -> String {
    let senders = ["from", "From", "from_addr", "sender", "reply_to", "replyTo", "Reply-To"];
    let mut found = String::new();
    let mut add = |value: &Value| {
        let texts = value.all_texts();
        let is_box = |t: &&str| t.contains('@') && t.len() < 80 && !found.contains(t);
        let boxes: Vec<&str> =
            texts.split([' ', ',', ';', '<', '>']).filter(is_box).take(4).collect();
        for one in boxes {
            found.push_str(one);
            found.push(' ');
        }
    };
    // `sendmail(from, to, message)`
    let from_first = parts.receiver.is_some() && parts.args.len() >= 3;
    let skip = usize::from(from_first);
    let all = parts.args.iter().skip(skip).chain(parts.receiver);
    let named = parts.named.iter().filter(|(name, _)| !senders.contains(&name.as_ref()));
    for value in all.chain(named.map(|(_, value)| value)) {
        match &value.fields {
            Some(fields) => {
                for (name, field) in fields.iter() {
                    if RECIPIENTS.contains(&name.as_ref()) || name.starts_with('+') {
                        add(field);
                    }
                }
            }
            None => add(value),
        }
    }
    found
}

/// Headers that say who calls are a proof; any other carries data.
fn split_headers(headers: &Value, data: &mut Marks, proof: &mut Marks) {
    let Some(fields) = &headers.fields else { return proof.add(&headers.all_marks()) };
    for (name, value) in fields.iter() {
        let to = if is_proof_header(name) { &mut *proof } else { &mut *data };
        to.add(&value.all_marks());
    }
}

/// Whether a header says who calls.
pub(in crate::screen::code) fn is_proof_header(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let words = [
        "auth",
        "key",
        "token",
        "cookie",
        "secret",
        "signature",
        "bearer",
        "password",
        "agent",
        "session",
        "credential",
        "project",
        "account",
        "tenant",
        "org",
    ];
    // An entry whose name is not known may be one.
    lower.is_empty() || words.iter().any(|word| lower.contains(word))
}

/// `("host", 443)`, `{host: …, port: …}` or a text.
fn address_of(value: &Value) -> String {
    let host = value.items.as_ref().and_then(|items| items.first()).or(value.field("host"));
    host.unwrap_or(value).as_text().unwrap_or_default().to_owned()
}
