//! A drawing made ready to stand inside a page.

use crate::figure::{self, Scene};

use super::html::escape;
use super::recolour::recolour;

/// The SVG of a drawing with a name for those who do not see it, and with the names inside it made
/// its own, since all drawings of a page share one space of names.
pub(super) fn inline(scene: &Scene, id: &str, name: &str) -> String {
    let text = figure::svg(scene);
    let mut label = String::new();
    escape(name, &mut label);
    // The page has a style of its own, and lets no other in.
    let text = match (text.find("<style>"), text.find("</style>")) {
        (Some(from), Some(to)) if from < to => {
            format!("{}{}", &text[..from], &text[to + "</style>".len()..])
        }
        _ => text,
    };
    // Quotes inside texts are escaped, so that what follows stands in attributes only.
    recolour(&text)
        .replace(" id=\"", &format!(" id=\"{id}-"))
        .replace("=\"url(#", &format!("=\"url(#{id}-"))
        .replace("href=\"#", &format!("href=\"#{id}-"))
        .replacen("<svg ", &format!("<svg role=\"group\" aria-label=\"{label}\" "), 1)
}
