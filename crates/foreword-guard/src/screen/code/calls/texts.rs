//! Calls that change texts: encodings, joins, and everything that is not known.

use std::rc::Rc;

use super::Parts;
use super::formats::filled;
use super::walks::RANDOM_BYTES;
use crate::screen::code::effect::Act;
use crate::screen::code::language::{Dialect, Language};
use crate::screen::code::machine::{BACKWARDS, Machine, is_passive};
use crate::screen::code::places::secret_at;
use crate::screen::code::text::Encoding;
use crate::screen::code::value::{Mark, Origin, Value};

/// An object that a program talks to another machine with.
const CLIENT: &str = "client-of";

/// How methods that send something begin.
const SENDERS: [&str; 14] = [
    "send",
    "upload",
    "publish",
    "post",
    "chat_post",
    "files_upload",
    "create_gist",
    "insert",
    "fastput",
    "submit",
    "put_",
    "create_issue",
    "single",
    "emit",
];

impl Machine<'_> {
    /// What takes an encoding off.
    pub(super) fn decoding(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let line = parts.line;
        let first = parts.first_or_nothing();
        if path == "xor-of" {
            let mut value = Value::marked(parts.given());
            let data = |v: &Value| v.text.as_ref().is_some_and(|t| t.len() > 16);
            if !value.marks.is_empty() || parts.args.iter().any(data) {
                value.marks.add(&self.mark(Origin::Decoded, "encoded data", line));
            }
            return Some(value);
        }
        let encoding = match last {
            "b64decode" | "urlsafe_b64decode" | "standard_b64decode" | "atob" | "decode64"
            | "urlsafe_decode64" | "strict_decode64" | "frombase64string" | "decodebytes"
            | "a2b_base64" => Encoding::Base64,
            "b32decode" => Encoding::Base32,
            "fromhex" | "unhexlify" | "a2b_hex" | "b16decode" => Encoding::Hex,
            "decompress" | "inflate" | "gunzipSync" | "inflateSync" | "decrypt" | "b85decode"
            | "a85decode" => Encoding::Opaque,
            "unescape" | "decodeURIComponent" | "unquote" => Encoding::Percent,
            // Ruby and Perl.
            "unpack1" | "unpack" if parts.args.iter().any(|v| v.constant() == Some("m")) => {
                Encoding::Base64
            }
            "reversed" | "reverse"
                if first.text.is_some() || parts.receiver.is_some_and(|r| r.text.is_some()) =>
            {
                Encoding::Reversed
            }
            "from" if path == "Buffer.from" => {
                if parts.has_text(&["base64", "base64url"]) {
                    Encoding::Base64
                } else if parts.has_text(&["hex"]) {
                    Encoding::Hex
                } else if first.items.is_some() {
                    return Some(Self::text_of_codes(first));
                } else {
                    return Some(first.clone());
                }
            }
            "decode"
                if path.contains("codecs")
                    || parts.has_text(&["rot13", "rot_13", "hex", "base64"]) =>
            {
                if parts.has_text(&["rot13", "rot_13"]) {
                    Encoding::Rot13
                } else if parts.has_text(&["hex", "hex_codec"]) {
                    Encoding::Hex
                } else if parts.has_text(&["base64", "base64_codec"]) {
                    Encoding::Base64
                } else {
                    return Some(first.clone().or(parts.receiver_or_nothing()));
                }
            }
            "fromCharCode" | "fromCodePoint" | "chr" | "bytes" | "bytearray" | "pack" => {
                if first.items.is_some() || first.number.is_some() {
                    if first.items.is_some() {
                        return Some(Self::text_of_codes(first));
                    }
                    let codes = Some(Rc::new(parts.args.to_vec()));
                    return Some(Self::text_of_codes(&Value { items: codes, ..Value::default() }));
                }
                let receiver = parts.receiver.filter(|_| last == "pack");
                return Some(receiver.unwrap_or(first).clone());
            }
            _ => return None,
        };
        let is_template = last.starts_with("unpack") && parts.receiver.is_some();
        let text = if !is_template && (first.text.is_some() || encoding != Encoding::Reversed) {
            first
        } else {
            parts.receiver_or_nothing()
        };
        // A file that a program decodes for its own use is no code.
        if encoding == Encoding::Opaque && text.text.is_none() && text.marks.is_empty() {
            return Some(text.clone());
        }
        Some(self.decoded(text, encoding, line))
    }

    /// A secret that is handed to a client of some service, whatever library it is of.
    fn handed_over(&mut self, last: &str, parts: &Parts<'_>) -> Option<Value> {
        let line = parts.line;
        let receiver = parts.receiver_or_nothing();
        let is_client = receiver.path.as_deref() == Some(CLIENT);
        let lower = last.to_ascii_lowercase();
        let sends = SENDERS.iter().any(|verb| lower.starts_with(verb));
        let named =
            parts.named(&["host", "hostname", "server", "broker", "endpoint", "url", "dsn"]);
        let address = named.into_iter().chain(parts.args.iter().take(1)).find_map(|value| {
            let text = value.as_text()?;
            (text.contains("://") || named.is_some() && text.contains('.')).then_some(text)
        });
        if sends || is_client {
            let mut marks = parts.given();
            for path in parts.args.iter().chain(parts.named.iter().map(|(_, value)| value)) {
                if sends && path.as_text().is_some_and(|t| t.len() < 200 && secret_at(t).is_some())
                {
                    marks.add(&self.read_path(path, line).marks);
                }
            }
            let strong = |m: &Mark| m.origin.is_secret() && m.origin != Origin::SecretVariable;
            if marks.iter().any(strong) {
                let own = receiver.as_text().filter(|_| is_client);
                let target = own.or(address).unwrap_or_default().to_owned();
                self.add(Act::Connect, &target, marks, line);
            }
        }
        if is_client {
            return Some(Value { text: receiver.text.clone(), ..Value::path(CLIENT) });
        }
        let makes = last.starts_with(|c: char| c.is_ascii_uppercase())
            || matches!(last, "connect" | "createClient" | "create_client" | "from_url");
        let address = address.filter(|_| makes && last != "Request")?;
        Some(Value { text: Some(address.into()), marks: parts.marks(), ..Value::path(CLIENT) })
    }

    /// A text written as character codes.
    fn text_of_codes(codes: &Value) -> Value {
        let items = codes.items.iter().flat_map(|items| items.iter());
        let text: Option<String> = items
            .map(|item| item.number.and_then(|n| u32::try_from(n).ok()).and_then(char::from_u32))
            .collect();
        let mut value = Value::marked(codes.all_marks());
        value.text = text.filter(|text| text.len() > 2).map(|text| text.as_str().into());
        value.disguised = value.text.is_some();
        value
    }

    /// What is done to texts and lists, and everything that is not known.
    pub(super) fn texts(&mut self, last: &str, parts: &Parts<'_>) -> Value {
        let first = parts.first_or_nothing();
        let receiver = parts.receiver_or_nothing();
        if let Some(client) = self.handed_over(last, parts) {
            return client;
        }
        let mut value = match last {
            "range-of" => return range(parts.args),
            "join" if receiver.items.is_some() && receiver.others.is_some() => {
                let between = first.constant().unwrap_or_default();
                let lists = receiver.alternatives().filter_map(|v| v.items.as_ref());
                let mut texts = Vec::new();
                for list in lists {
                    let text = Value::joined(list, between);
                    self.note_pieces(list, &text);
                    texts.push(text);
                }
                Value::one_of(texts)
            }
            "join" => {
                let (list, between) = if receiver.items.is_some() {
                    (receiver.items.as_ref(), first.constant().unwrap_or_default())
                } else {
                    // `[string]::Join('', $list)`
                    let second = parts.args.get(1).and_then(|list| list.items.as_ref());
                    match second.zip(first.constant()) {
                        Some((list, between)) => (Some(list), between),
                        None => (first.items.as_ref(), receiver.constant().unwrap_or_default()),
                    }
                };
                match list {
                    None if first.text.is_some() && parts.args.len() == 1 => first.clone(),
                    Some(list) => {
                        let mut value = Value::joined(list, between);
                        self.note_pieces(list, &value);
                        // Short pieces put together are a disguise; a list of words is none.
                        let short = |v: &Value| {
                            v.as_text().is_some_and(|t| t.len() <= 6 && !t.contains('/'))
                        };
                        value.disguised |=
                            between.is_empty() && list.len() >= 3 && list.iter().all(short);
                        value
                    }
                    None => Value::default(),
                }
            }
            "replace" | "replaceAll" | "gsub" if parts.args.len() >= 2 => {
                self.note_replacement(parts.args, parts.line);
                let text = receiver.as_text().zip(parts.args.first().and_then(Value::constant));
                let with = parts.args.get(1).and_then(Value::as_text);
                let text = text.zip(with).filter(|((_, from), _)| !from.is_empty());
                let lua = self.language() == Language::Loose(Dialect::Lua);
                let text = text.map(|((text, from), with)| match lua {
                    // `%` takes its meaning from a sign.
                    true => text.replace(
                        &from.replace("%%", "\0").replace('%', "").replace('\0', "%"),
                        with,
                    ),
                    false => text.replace(from, with),
                });
                let disguised = receiver.disguised;
                Value { text: text.map(|t| t.as_str().into()), disguised, ..Value::default() }
            }
            // Python and Ruby: `text % values`. What is no text is a number.
            "sub" | "subn" if parts.args.len() >= 2 => {
                self.note_replacement(parts.args, parts.line);
                Value::default()
            }
            "filled-in" => filled(first, parts.args.get(1..).unwrap_or_default(), &[]),
            "format" if receiver.text.is_some() => filled(receiver, parts.args, parts.named),
            "format" | "sprintf" | "Sprintf" if first.text.is_some() => {
                filled(first, parts.args.get(1..).unwrap_or_default(), &[])
            }
            "format" => receiver.clone(),
            "dedent" | "cleandoc" | "stripIndent" | "trimIndent" | "strip_heredoc" => {
                let text = if first.text.is_some() { first } else { receiver };
                Value { text: text.as_text().map(|t| dedent(t).into()), ..text.clone() }
            }
            // What is left of a text does not say what it was.
            "hexdigest" | "sha1" | "sha256" | "sha512" | "md5" | "createHash" | "blake2b"
            | "digest" | "base64digest" | "sha3_256"
                if last != "digest"
                    || receiver.path.as_deref().is_some_and(|p| p.contains("ash")) =>
            {
                let path = Some("hash".into()).filter(|_| !last.ends_with("digest"));
                return Value { path, ..Value::default() };
            }
            "update" if receiver.path.as_deref() == Some("hash") => return receiver.clone(),
            "first-of" => {
                let known = parts.args.iter().find(|v| v.text.is_some());
                known.cloned().unwrap_or_default()
            }
            "concat" | "append" | "push" if receiver.text.is_some() => {
                let mut all = vec![receiver.clone()];
                all.extend(parts.args.iter().cloned());
                Value::joined(&all, "")
            }
            _ if is_passive(last) && receiver.text.is_some() => receiver.clone(),
            "urandom" | "randomBytes" | "random_bytes" | "token_bytes"
                if !parts.args.is_empty() && first.number.is_none() =>
            {
                return Value::path(RANDOM_BYTES);
            }
            "first" | "last" if receiver.text.is_some() => receiver.clone(),
            "dumps" | "stringify" | "to_json" | "to_yaml" | "Counter" | "list" | "sorted"
            | "tuple" | "set" | "freeze" | "compact" | "uniq" | "select" | "reject" | "sort"
            | "first" => {
                let from = if parts.args.is_empty() { receiver } else { first };
                Value { items: from.items.clone(), fields: from.fields.clone(), ..Value::default() }
            }
            "chain" | "zip" | "enumerate" if parts.args.len() == 1 => {
                Value { items: first.items.clone(), ..Value::default() }
            }
            "map" | "filter" | "split" | "slice" | "flat" | "reverse" => {
                Value { items: receiver.items.clone(), ..Value::default() }
            }
            "encodeURIComponent" | "quote" | "bytes" | "str" | "String" | "encode"
            | "b64encode" | "hexlify" | "btoa" => Value {
                text: first.text.clone().filter(|_| last != "btoa" && last != "b64encode"),
                ..Value::default()
            },
            _ => Value::default(),
        };
        let path = match last {
            // What makes an object of a library keeps its name.
            _ if last.chars().next().is_some_and(char::is_uppercase)
                || matches!(
                    last,
                    "socket"
                        | "session"
                        | "client"
                        | "create"
                        | "request"
                        | "new"
                        | "open_sftp"
                        | "from_transport"
                        | "resource"
                ) =>
            {
                receiver.path.as_deref().map_or(last.to_owned(), |p| format!("{p}.{last}"))
            }
            _ => String::new(),
        };
        if !path.is_empty() {
            value.path = Some(path.into());
        }
        value.marks.add(&parts.marks());
        value
    }
}

/// A text without the indentation that all its lines have.
fn dedent(text: &str) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let indent = lines().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines = text.lines().map(|line| line.get(indent..).unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The numbers from one to another. What counts down to nothing turns a text around.
fn range(ends: &[Value]) -> Value {
    let (from, to) = (ends.first().and_then(|v| v.number), ends.get(1).and_then(|v| v.number));
    let (Some(from), Some(to)) = (from, to) else {
        return if to == Some(0) { Value::path(BACKWARDS) } else { Value::default() };
    };
    let count = from.abs_diff(to).min(4_096);
    let step = if from <= to { 1 } else { -1 };
    let numbers = (0..=count).filter_map(|n| from.checked_add(step * i64::try_from(n).ok()?));
    let items = numbers.map(|number| Value { number: Some(number), ..Value::default() }).collect();
    Value { items: Some(Rc::new(items)), ..Value::default() }
}
