//! HTML under construction.

use std::fmt::Write as _;

use foreword::Invisible;

use crate::layout::Id;

/// A piece of HTML. Tags come from literals only, so text from outside cannot become markup.
#[derive(Clone, Debug, Default)]
pub(crate) struct Markup(String);

impl Markup {
    /// Adds markup as it is written in the source code.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds text. What would be markup is escaped, and invisible characters are shown by number, so
    /// that a reader sees what a model reads.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.escape(text, "<span class=\"cp\">", "</span>")
    }

    /// Adds text to an attribute's value or a title, where no tag can stand.
    pub(crate) fn attribute(&mut self, text: &str) -> &mut Self {
        self.escape(text, "", "")
    }

    fn escape(&mut self, text: &str, before: &'static str, after: &'static str) -> &mut Self {
        let mut previous = ' ';
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                _ if hides(c, previous) => {
                    let _ = write!(self.0, "{before}U+{:04X}{after}", u32::from(c));
                }
                _ => self.0.push(c),
            }
            previous = c;
        }
        self
    }

    /// Adds an ID of the layout.
    pub(crate) fn id(&mut self, id: Id) -> &mut Self {
        let _ = write!(self.0, "{id}");
        self
    }

    /// Adds other markup.
    pub(crate) fn append(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// Adds the stylesheet: ours, and rules made of numbers.
    pub(crate) fn style(&mut self, style: &str) -> &mut Self {
        self.0.push_str(style);
        self
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Whether a reader would not see a character. The selector of an emoji's own form stays.
fn hides(c: char, previous: char) -> bool {
    if c == '\u{2800}' {
        return true;
    }
    let selects = matches!(c, '\u{FE0E}' | '\u{FE0F}')
        && !previous.is_ascii()
        && Invisible::of(previous).is_none();
    Invisible::of(c).is_some() && !selects
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> String {
        Markup::default().text(text).0.clone()
    }

    #[test]
    fn text_stays_text_and_what_hides_is_shown() {
        assert_eq!(
            text("</script><img onerror='x'>"),
            "&lt;/script&gt;&lt;img onerror=&#39;x&#39;&gt;"
        );
        assert_eq!(text("a\u{202e}b\tc\n"), "a<span class=\"cp\">U+202E</span>b\tc\n");
        assert_eq!(
            text("⚠\u{fe0f} \u{0}\r"),
            "⚠\u{fe0f} <span class=\"cp\">U+0000</span><span class=\"cp\">U+000D</span>"
        );
        let mut attribute = Markup::default();
        attribute.attribute("\" onclick=\"\u{200b}");
        assert_eq!(attribute.0, "&quot; onclick=&quot;U+200B");
    }

    proptest! {
        #[test]
        fn no_text_opens_a_tag_or_ends_an_attribute(any in any::<String>()) {
            let shown = text(&any).replace("<span class=\"cp\">", "").replace("</span>", "");
            prop_assert!(!shown.contains(['<', '>', '"', '\'']));
            let mut attribute = Markup::default();
            attribute.attribute(&any);
            prop_assert!(!attribute.0.contains(['<', '>', '"', '\'']));
        }
    }
}
