//! Scripts in pages and pictures.

use super::{Embedded, MAX_PIECES};
use crate::screen::code::language::Language;

/// The scripts and event handlers of a page or picture.
pub(super) fn markup(text: &str) -> Vec<Embedded> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = lower.get(at..).and_then(|rest| rest.find("<script")) {
        let start = at + start;
        let Some(open) = lower.get(start..).and_then(|rest| rest.find('>')) else { break };
        let body = start + open + 1;
        let end = lower
            .get(body..)
            .and_then(|rest| rest.find("</script"))
            .map_or(lower.len(), |e| body + e);
        let code = text.get(body..end).unwrap_or_default();
        let code = code.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let above = text.get(..body).unwrap_or_default().matches('\n').count();
        if !code.trim().is_empty() {
            found.push(Embedded {
                language: Language::JavaScript,
                code,
                line: u32::try_from(above).unwrap_or(0) + 1,
                trigger: Some("script in a page".into()),
            });
        }
        at = end.max(start + 1);
        if found.len() >= MAX_PIECES {
            break;
        }
    }
    for (line, raw) in (1..).zip(text.lines()).take(20_000) {
        let lower = raw.to_ascii_lowercase();
        for event in ["onload=", "onerror=", "onbegin="] {
            let Some(at) = lower.find(event) else { continue };
            let rest = raw.get(at + event.len()..).unwrap_or_default();
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
            let code = quote.and_then(|q| rest.get(1..).and_then(|rest| rest.split(q).next()));
            let trigger = Some(event.trim_end_matches('=').to_owned());
            found.extend(code.map(|code| Embedded {
                language: Language::JavaScript,
                code: code.to_owned(),
                line,
                trigger,
            }));
        }
    }
    found
}
