//! Lists in pages. A cursor is the name of the last entry that was shown.

use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

/// Entries in a page.
pub(crate) const PAGE: usize = 100;

/// The entries after the cursor, and the next cursor if there are more.
pub(crate) fn page<T>(
    items: Vec<T>,
    request: Option<PaginatedRequestParams>,
    name: impl Fn(&T) -> &str,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let skip = match request.and_then(|request| request.cursor) {
        None => 0,
        Some(cursor) => {
            let last = items.iter().position(|item| name(item) == cursor);
            let gone = || {
                let message =
                    "there is no such cursor, or the list has changed; list it from the start";
                ErrorData::invalid_params(message, None)
            };
            last.ok_or_else(gone)? + 1
        }
    };
    let more = items.len() > skip.saturating_add(PAGE);
    let items: Vec<T> = items.into_iter().skip(skip).take(PAGE).collect();
    let next = more.then(|| items.last().map(|item| name(item).to_owned())).flatten();
    Ok((items, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(cursor: Option<&str>) -> Option<PaginatedRequestParams> {
        Some(PaginatedRequestParams::default().with_cursor(cursor.map(str::to_owned)))
    }

    #[test]
    fn all_entries_come_once_and_in_order() {
        for count in [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE] {
            let all: Vec<String> = (0..count).map(|index| format!("n{index:04}")).collect();
            let (mut seen, mut cursor) = (Vec::new(), None::<String>);
            loop {
                let request = after(cursor.as_deref());
                let (items, next) = page(all.clone(), request, String::as_str).unwrap();
                assert!(items.len() <= PAGE);
                assert!(!items.is_empty() || count == 0);
                seen.extend(items);
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(seen, all);
        }
    }

    #[test]
    fn a_cursor_nobody_gave_out_is_refused() {
        let error = page(vec!["a"], after(Some("b")), |item| item).unwrap_err();
        assert_eq!(error.code.0, -32602);
    }
}
