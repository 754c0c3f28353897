//! Which styles keep an element from being seen.

use std::collections::BTreeSet;

/// More names than this in one document are not kept.
const MAX_NAMES: usize = 4096;

/// Whether declarations hide an element: not displayed, without size, off the screen, transparent, or
/// white where no background is set.
pub(super) fn hides(declarations: &str) -> bool {
    declarations.split(';').any(|declaration| {
        let Some((name, value)) = declaration.split_once(':') else { return false };
        let name = name.trim().to_ascii_lowercase();
        let value: String = value.chars().filter(|c| !c.is_whitespace()).collect();
        let value = value.to_ascii_lowercase();
        let value = value.strip_suffix("!important").unwrap_or(&value);
        match name.as_str() {
            "display" => value == "none",
            "visibility" => matches!(value, "hidden" | "collapse"),
            "opacity" => is_zero(value),
            "font-size" => is_zero(value) || matches!(value, "1px" | "0.1px" | "1pt"),
            "left" | "right" | "top" | "text-indent" | "margin-left" => is_far(value),
            "color" => is_unseen(value) && !declarations.contains("background"),
            "clip" => value.starts_with("rect(0"),
            "clip-path" => value.starts_with("inset(100%") || value.starts_with("inset(50%"),
            "transform" => value.starts_with("scale(0)"),
            "width" | "height" | "max-height" => {
                is_zero(value) && declarations.contains("overflow")
            }
            _ => false,
        }
    })
}

fn is_zero(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    number.parse::<f32>().is_ok_and(|number| number.abs() < 0.02)
}

/// Off the screen.
fn is_far(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    number.parse::<f32>().is_ok_and(|number| number <= -500.0)
}

fn is_unseen(value: &str) -> bool {
    matches!(
        value,
        "white"
            | "#fff"
            | "#ffffff"
            | "transparent"
            | "rgb(255,255,255)"
            | "#fefefe"
            | "#fdfdfd"
            | "snow"
    ) || (value.starts_with("rgba(") && value.ends_with(",0)"))
}

/// Adds the names that a style sheet hides, as `.class` and `#id`. Only selectors of one name count:
/// others depend on the state of the page.
pub(super) fn hidden_names(sheet: &str, names: &mut BTreeSet<String>) {
    for rule in sheet.split('}') {
        let Some((selectors, declarations)) = rule.rsplit_once('{') else { continue };
        if !hides(declarations) {
            continue;
        }
        let selectors = selectors.rsplit(['{', ';', '/']).next().unwrap_or_default();
        for selector in selectors.split(',').map(str::trim) {
            let simple = selector.strip_prefix(['.', '#']).is_some_and(|name| {
                !name.is_empty()
                    && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
            });
            if simple && names.len() < MAX_NAMES {
                names.insert(selector.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hiding_styles_are_known() {
        for style in [
            "display:none",
            "color: red; DISPLAY : NONE !important",
            "visibility:hidden",
            "opacity:0.0",
            "font-size:0px",
            "font-size: 1px",
            "position:absolute;left:-9999px",
            "text-indent:-1000em",
            "color:#fff",
            "color: rgba(0,0,0,0)",
            "height:0;overflow:hidden",
        ] {
            assert!(hides(style), "{style}");
        }
        for style in [
            "",
            "display:block",
            "color:white;background:#000",
            "left:-5px",
            "height:0",
            "opacity:.5",
        ] {
            assert!(!hides(style), "{style}");
        }
    }

    #[test]
    fn names_are_found_in_style_sheets() {
        let mut names = BTreeSet::new();
        let sheet =
            "p{color:red} .a, #b { display:none } .c:hover{display:none} /* x */ .d{font-size:0}";
        hidden_names(sheet, &mut names);
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["#b", ".a", ".d"]);
    }
}
