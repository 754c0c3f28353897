//! Scripts in pages and pictures.

use super::Pieces;
use crate::screen::code::language::Language;

/// The scripts and event handlers of a page or picture.
pub(super) fn markup(text: &str, found: &mut Pieces) {
    let lower = text.to_ascii_lowercase();
    let (mut at, mut counted, mut line) = (0, 0, 1);
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
        found.add(Language::JavaScript, code, Some("script in a page".into()), || {
            let more = text.get(counted..body).unwrap_or_default().matches('\n').count();
            (counted, line) = (body, u32::try_from(more).map_or(line, |more| line + more));
            line
        });
        at = end.max(start + 1);
    }
    for (line, raw) in (1..).zip(text.lines()) {
        let lower = raw.to_ascii_lowercase();
        for event in ["onload=", "onerror=", "onbegin="] {
            let Some(at) = lower.find(event) else { continue };
            let rest = raw.get(at + event.len()..).unwrap_or_default();
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
            let code = quote.and_then(|q| rest.get(1..).and_then(|rest| rest.split(q).next()));
            let trigger = Some(event.trim_end_matches('=').to_owned());
            found.add(Language::JavaScript, code.unwrap_or_default(), trigger, || line);
        }
    }
}
