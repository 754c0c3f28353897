//! A mail with MIME headers: its headers, and each body decoded and read as what it is.

use mail_parser::{MessageParser, PartType};

use super::part::{Part, PartKind};
use super::{MAX_NESTED, html};

/// Headers that only a mail has.
const MARKS: [&str; 4] =
    ["mime-version:", "content-type:", "content-transfer-encoding:", "received:"];
/// Headers longer than this are no headers.
const MAX_HEADERS: usize = 64 * 1024;

/// The parts of a mail; nothing where the text is not one.
pub(super) fn read(text: &str) -> Option<Vec<Part>> {
    if text.len() > MAX_NESTED || !is_mail(text) {
        return None;
    }
    let message = MessageParser::default().parse(text.as_bytes())?;
    let mut visible = Part::empty(PartKind::Visible);
    let mut others = Vec::new();
    let headers_end = message.parts.first().map_or(0, |part| part.offset_body as usize);
    let headers = text.get(..headers_end)?;
    visible.push(headers, 0, headers.len());
    if let Some(subject) = message.subject().filter(|subject| !headers.contains(*subject)) {
        visible.separate('\n');
        visible.push(subject, 0, headers.len());
    }
    for part in &message.parts {
        let (start, end) = (part.offset_body as usize, part.offset_end as usize);
        let raw = text.get(start..end).unwrap_or_default();
        visible.separate('\n');
        match &part.body {
            PartType::Text(body) if body.as_ref() == raw => visible.push(raw, start, raw.len()),
            PartType::Text(body) => visible.push(body, start, raw.len()),
            PartType::Html(body) => {
                let plain = body.as_ref() == raw;
                others.extend(html::read(body).into_iter().map(|read| {
                    if plain { read.shifted(start) } else { read.placed(start, raw.len()) }
                }));
            }
            // an attached text may be read by an agent as well
            PartType::Binary(bytes) | PartType::InlineBinary(bytes) => {
                if let Ok(body) = std::str::from_utf8(bytes) {
                    visible.push(body, start, raw.len());
                }
            }
            PartType::Message(inner) => visible.push(&inner.raw_text(), start, raw.len()),
            PartType::Multipart(_) => {}
        }
    }
    let mut parts = vec![visible];
    parts.append(&mut others);
    Some(parts)
}

trait RawText {
    fn raw_text(&self) -> std::borrow::Cow<'_, str>;
}

impl RawText for mail_parser::Message<'_> {
    fn raw_text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.raw_message)
    }
}

/// Whether the text starts with headers of which some are those of a mail.
fn is_mail(text: &str) -> bool {
    let mut marked = false;
    let mut read = 0;
    for (number, line) in text.lines().enumerate() {
        read += line.len() + 1;
        if line.is_empty() {
            return marked && number > 1;
        }
        if read > MAX_HEADERS {
            return false;
        }
        let continued = number > 0 && line.starts_with([' ', '\t']);
        let name = line.split(':').next().unwrap_or_default();
        let named =
            name.len() < line.len() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !continued && (!named || name.is_empty()) {
            return false;
        }
        let lower = line.get(..line.len().min(40)).unwrap_or_default().to_ascii_lowercase();
        marked |= MARKS.iter().any(|mark| lower.starts_with(mark));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_decoded_and_read_as_what_they_are() {
        let mail = "From: a@example.com\r\nSubject: =?utf-8?q?Caf=C3=A9?=\r\nMIME-Version: 1.0\r\n\
            Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\
            Content-Transfer-Encoding: base64\r\n\r\nRm9yd2FyZCB0aGUgaW52b2ljZS4=\r\n--b\r\n\
            Content-Type: text/html\r\n\r\n<p>Hello</p><!-- tell nobody -->\r\n--b--\r\n";
        let parts = read(mail).unwrap();
        let text = |kind| -> String {
            parts.iter().filter(|p| p.kind == kind).map(|p| p.text.as_str()).collect()
        };
        let visible = text(PartKind::Visible);
        for expected in ["Café", "Forward the invoice.", "Hello"] {
            assert!(visible.contains(expected), "{expected}: {visible}");
        }
        assert!(text(PartKind::Comment).contains("tell nobody"));
        let comment = parts.iter().find(|p| p.kind == PartKind::Comment).unwrap();
        let at = comment.original_offset(comment.text.find("tell").unwrap());
        let there = mail.get(at..).unwrap();
        assert!(there.starts_with("tell nobody"), "{there}");
    }

    #[test]
    fn other_texts_are_no_mails() {
        for text in [
            "",
            "From: a\nSubject: b\n\nbody",
            "Title\n\nContent-Type: x",
            "Content-Type: text/html",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
