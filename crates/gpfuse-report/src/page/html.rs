//! A page as one HTML file: the template, its style and its script, and nothing from elsewhere.

use anyhow::Context;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};

use super::document::Document;

const TEMPLATE: &str = include_str!("web/page.html");
const STYLE: &str = include_str!("web/page.css");
const SCRIPT: &str = include_str!("web/page.js");

/// The SHA-256 of the style and of the script, by which the browser knows them: no other style and
/// no other script is used or run, whatever a column of a table is called.
const STYLE_HASH: &str = "qaBJuEYYQcHgnfkvfJxkbmvsNqowOHu2Nix0pQDGX7Y=";
const SCRIPT_HASH: &str = "TrcMnCa6QJrOhlGU00mtoYOthh9KmQrrbw1moOG0A+Q=";

/// Write a page as HTML. All its texts are escaped.
pub fn html(page: &Document) -> anyhow::Result<String> {
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.add_filter("words", words);
    templates.add_template("page.html", TEMPLATE)?;
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; \
         img-src data:; base-uri 'none'; form-action 'none'"
    );
    let filled = templates.get_template("page.html")?.render(context! {
        page => Serde(page),
        policy,
        style => STYLE,
        script => SCRIPT,
        version => env!("CARGO_PKG_VERSION"),
    });
    filled.context("the page cannot be written")
}

/// A text with what stands between backticks as code, all of it escaped.
fn words(text: &str) -> Value {
    let mut out = String::with_capacity(text.len());
    let parts: Vec<&str> = text.split('`').collect();
    // A backtick without its partner is one.
    let pairs = parts.len() - 1 - (parts.len() - 1) % 2;
    for (i, part) in parts.iter().enumerate() {
        match (i, i % 2) {
            (0, _) => {}
            (_, _) if i > pairs => out.push('`'),
            (_, 1) => out.push_str("<code>"),
            (_, _) => out.push_str("</code>"),
        }
        escape(part, &mut out);
    }
    Value::from_safe_string(out)
}

/// Escape what HTML would read as its own.
pub(super) fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::page::document::{Block, Cell, Column, Section, Table};

    #[test]
    fn the_browser_will_know_style_and_script() {
        for (text, hash, name) in
            [(STYLE, STYLE_HASH, "STYLE_HASH"), (SCRIPT, SCRIPT_HASH, "SCRIPT_HASH")]
        {
            // A browser reads either end of a line as the same.
            let found = BASE64_STANDARD.encode(Sha256::digest(text.replace("\r\n", "\n")));
            assert_eq!(found, hash, "{name} is out of date");
        }
        assert!(!SCRIPT.contains("</") && !STYLE.contains("</"));
    }

    #[test]
    fn backticks_make_code_and_all_is_escaped() {
        let said = |text: &str| words(text).to_string();
        assert_eq!(said("use `a<b`."), "use <code>a&lt;b</code>.");
        assert_eq!(said("one ` alone & `two`"), "one <code> alone &amp; </code>two`");
        assert_eq!(said("`"), "`");
        assert_eq!(said(""), "");
        assert_eq!(said("`<img src=x onerror='y'>`").matches('<').count(), 2);
    }

    /// Wherever a text may stand, it does not become markup.
    #[test]
    fn no_text_becomes_markup() {
        let bad = "<img src=x onerror=alert(1)>\"'</script></style>";
        let table = Table {
            caption: bad.into(),
            long: true,
            columns: vec![Column::unit(bad, bad), Column::words(bad)],
            rows: vec![vec![Cell::words(bad), Cell::words(bad)]],
        };
        let section = Section::new("s", bad)
            .with(Block::text(format!("{bad} `{bad}`")))
            .with(Block::heading(bad))
            .with(Block::List { items: vec![bad.into()] })
            .with(Block::code(bad, bad))
            .with(Block::Table(table));
        let page = Document { title: bad.into(), under: bad.into(), sections: vec![section] };
        let text = html(&page).unwrap();
        assert!(!text.contains("<img") && text.contains("&lt;img"));
        assert_eq!(text.matches("</script>").count(), 1);
        assert_eq!(text.matches("</style>").count(), 1);
        assert!(!text.contains(" onerror=alert(1)>"));
    }
}
