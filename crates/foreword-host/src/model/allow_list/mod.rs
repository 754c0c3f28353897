//! What a request body may consist of: the fields, block types and values that the host passes on.
//!
//! A provider does more than answer: it fetches images and documents by URL, opens stored files, runs
//! tools of its own and connects to MCP servers. New ways appear without notice, so a list of what to
//! refuse is never complete. The lists here say what may be sent ([`anthropic`], [`openai`]);
//! everything else is refused with its place in the body.
//!
//! A body is checked while it is parsed, so that a long one costs no memory. That is also why an object
//! is checked field by field and not as a variant of its `type`, which may be its last field: an object
//! may have the fields of all its types, and none of these leads out of the body.

mod anthropic;
mod openai;
mod walk;

use foreword_protocol::Provider;

pub(super) use walk::NotAllowed;

/// The longest inline image or document, in base64 characters.
const MAX_INLINE_BYTES: usize = 10 << 20;

/// What may stand at one place of a body. `null` may stand everywhere.
enum Shape {
    /// A string, a number or a boolean that the provider does not act on.
    Scalar,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// The number 1.
    One,
    /// `false`.
    False,
    /// Inline data of a limited length.
    Inline,
    /// Inline data as a `data:` URL of a limited length.
    DataUrl,
    /// A reference of a JSON Schema to a part of itself.
    LocalRef,
    /// A list of these.
    List(&'static Shape),
    /// An object with these fields and no others.
    Object(&'static [(&'static str, &'static Shape)]),
    /// The first of these that has the JSON type of the value.
    Either(&'static [&'static Shape]),
    /// Any JSON: arguments of tool calls, which go to tools and not to the provider.
    Data,
    /// A JSON Schema that refers to nothing outside itself.
    Schema,
}

/// Checks a body and estimates how many tokens the model will read.
pub(super) fn check(provider: Provider, body: &str) -> Result<u64, NotAllowed> {
    let shape = match provider {
        Provider::Anthropic => &anthropic::BODY,
        Provider::OpenAi => &openai::BODY,
    };
    walk::check(shape, body)
}

#[cfg(test)]
mod tests;
