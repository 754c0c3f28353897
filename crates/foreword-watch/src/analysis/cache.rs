//! What a lost cache costs, who wrote the text that broke it, and whether the cache is used at all.

use foreword::Usage;

use super::compare::{Comparison, cached_parts};
use super::{Counted, ReadCall, ReportOptions, cause, dollars, heading_above};
use crate::report::{Cache, CacheBreak, Cause, Origin, Region};
use crate::wire::{Caching, ModelRequest, RequestPart};

/// The shortest prefix that providers cache.
const MIN_CACHED_TOKENS: u64 = 1_024;

/// What a call has in common with the one it is compared with, and what broke the cache.
pub(super) fn find(
    read: &ReadCall<'_>,
    comparison: &Comparison,
    calls: &[ReadCall<'_>],
    counted: &mut Counted<'_>,
    options: &ReportOptions<'_>,
) -> Option<Cache> {
    let request = read.request.as_ref()?;
    let previous = calls.iter().find(|call| call.number() == comparison.previous)?;
    let own = read.cached();
    let whole: u64 = own.iter().take(comparison.common_parts).map(|(_, count)| count).sum();
    let partial = own.get(comparison.common_parts).map_or("", |(part, _)| {
        part.text.get(..part.text.floor_char_boundary(comparison.offset)).unwrap_or_default()
    });
    let common_tokens = whole + counted.text(partial);
    let reusable = previous.cached();
    let reusable_tokens: u64 =
        reusable.iter().take(comparison.reusable_parts).map(|(_, count)| count).sum();
    let price = options.prices.of(&request.model);
    let lost = |tokens: u64| {
        let written = if request.caching == Caching::Marks {
            Usage { cache_write_tokens: tokens, ..Usage::default() }
        } else {
            Usage { input_tokens: tokens, ..Usage::default() }
        };
        let cached = Usage { cache_read_tokens: tokens, ..Usage::default() };
        price.map(|price| dollars(price.cost(written).saturating_sub(price.cost(cached))))
    };
    let broken = match &comparison.difference {
        Some(difference) => {
            let lost_tokens = reusable_tokens.saturating_sub(common_tokens);
            let part = read.parts().iter().find(|part| part.place == difference.place);
            let mut advice = cause::advice(difference.cause, difference.region).to_owned();
            if let Some(detail) = &difference.detail {
                advice = format!("{detail}: {advice}");
            }
            Some(CacheBreak {
                cause: difference.cause,
                place: difference.place.clone(),
                byte: comparison.common_bytes,
                line: difference.line,
                section: part.and_then(|part| heading_above(&part.text, difference.line)),
                before: difference.before.clone(),
                after: difference.after.clone(),
                origin: read.origin(&difference.place, difference.line),
                lost_tokens,
                lost_usd: lost(lost_tokens),
                advice,
            })
        }
        None => breakpoint_problem(request, previous, comparison, common_tokens).map(
            |(cause, place)| CacheBreak {
                cause,
                byte: comparison.common_bytes,
                line: 1,
                section: None,
                before: String::new(),
                after: String::new(),
                origin: Origin::Vendor,
                place,
                lost_tokens: common_tokens,
                lost_usd: lost(common_tokens),
                advice: cause::advice(cause, Region::System).to_owned(),
            },
        ),
    };
    Some(Cache {
        previous: comparison.previous,
        common_bytes: comparison.common_bytes,
        common_tokens,
        reusable_tokens,
        provider_read_tokens: read.answer.usage.map(|usage| usage.cache_read_tokens),
        broken,
    })
}

/// Whether nothing in the common prefix is marked for the cache, where the provider needs marks.
fn breakpoint_problem(
    request: &ModelRequest,
    previous: &ReadCall<'_>,
    comparison: &Comparison,
    common_tokens: u64,
) -> Option<(Cause, String)> {
    if request.caching != Caching::Marks || common_tokens < MIN_CACHED_TOKENS {
        return None;
    }
    let marked = |parts: &[&RequestPart]| parts.iter().any(|part| part.cache_mark);
    let own = cached_parts(request);
    let earlier: Vec<&RequestPart> = previous.cached().into_iter().map(|(part, _)| part).collect();
    let end = own.get(comparison.common_parts.saturating_sub(1));
    let place = end.map_or("system".to_owned(), |part| part.place.clone());
    if !marked(&own) && !marked(&earlier) {
        return Some((Cause::BreakpointMissing, place));
    }
    let inside = |parts: &[&RequestPart]| {
        parts.iter().take(comparison.common_parts).any(|part| part.cache_mark)
    };
    (!inside(&earlier) && !inside(&own)).then_some((Cause::BreakpointMisplaced, place))
}
