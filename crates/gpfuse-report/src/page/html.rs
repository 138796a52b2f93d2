//! A page as one HTML file: its style and its script in it, and nothing from elsewhere.

use super::document::{Block, Cell, Claim, Column, Document, Figure, Section, Table};
use crate::figure::{Scene, escaped, inline};

const STYLE: &str = include_str!("web/page.css");
const SCRIPT: &str = include_str!("web/page.js");

/// The SHA-256 of the style, by which the browser knows it: no other style is used, whatever a column
/// of a table is called.
const STYLE_HASH: &str = "HuINoKpSs4ACLlcTUX+jA2dhDZJhluqf1O2MfcM49vo=";
/// The same for the script: no other is run.
const SCRIPT_HASH: &str = "TrcMnCa6QJrOhlGU00mtoYOthh9KmQrrbw1moOG0A+Q=";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A cell longer than this is broken into lines.
const LONGEST_LINE: usize = 32;

/// Markup. It is made of words of this program, which no text of a user can be, and of escaped
/// texts: there is no other way to make it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Html(String);

impl From<&'static str> for Html {
    fn from(words: &'static str) -> Html {
        Html(words.into())
    }
}

/// Words of this program and other markup, one after another.
macro_rules! html {
    ($($part:expr),* $(,)?) => {
        each([$(Html::from($part)),*], |part| part)
    };
}

impl Html {
    /// A drawing with a name for those who do not see it.
    pub(super) fn drawing(scene: &Scene, name: &str) -> Html {
        Html(inline(scene, name))
    }
}

/// A text, none of it markup.
fn text(text: &str) -> Html {
    Html(escaped(text))
}

/// A text with what stands between backticks as code, none of it markup.
fn words(words: &str) -> Html {
    let parts: Vec<&str> = words.split('`').collect();
    // A backtick without a second one stays a backtick.
    let paired = parts.len() - 1 - (parts.len() - 1) % 2;
    each(parts.iter().enumerate(), |(i, part)| match i {
        0 => text(part),
        i if i > paired => html!["`", text(part)],
        i if i % 2 == 1 => html!["<code>", text(part), "</code>"],
        _ => text(part),
    })
}

/// The markup of each of some things.
fn each<T>(things: impl IntoIterator<Item = T>, markup: impl FnMut(T) -> Html) -> Html {
    Html(things.into_iter().map(markup).map(|markup| markup.0).collect())
}

/// Write a page as HTML. All its texts are escaped.
pub fn html(page: &Document) -> String {
    let policy = html![
        html!["default-src 'none'; style-src 'sha256-", STYLE_HASH, "'; script-src 'sha256-"],
        html![SCRIPT_HASH, "'; img-src data:; base-uri 'none'; form-action 'none'"],
    ];
    let link = |section: &Section| {
        html!["<li><a href=\"#", section.id, "\">", text(&section.heading), "</a></li>\n"]
    };
    let page = html![
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"",
        policy,
        "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
        "<meta name=\"color-scheme\" content=\"light dark\">\n",
        "<meta name=\"generator\" content=\"gpfuse ",
        VERSION,
        "\">\n<title>",
        text(&page.title),
        "</title>\n<style>",
        STYLE,
        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n",
        "<header>\n<div>\n<h1>",
        text(&page.title),
        "</h1>\n<p class=\"under\">",
        words(&page.under),
        "</p>\n</div>\n",
        "<button id=\"theme\" type=\"button\" aria-pressed=\"false\" hidden>Dark</button>\n",
        "</header>\n<nav aria-label=\"Contents\">\n<ul>\n",
        each(&page.sections, link),
        "</ul>\n</nav>\n<main id=\"main\" tabindex=\"-1\">\n",
        each(&page.sections, section),
        "</main>\n<footer><p>Made by gpfuse ",
        VERSION,
        ". This file needs no network and runs nothing but its own few lines of script.</p>",
        "</footer>\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n<script>",
        SCRIPT,
        "</script>\n</body>\n</html>\n",
    ];
    page.0
}

fn section(section: &Section) -> Html {
    let id = section.id;
    html![
        html!["<section id=\"", id, "\" aria-labelledby=\"", id, "-heading\">\n"],
        html!["<h2 id=\"", id, "-heading\">", text(&section.heading), "</h2>\n"],
        each(&section.blocks, block),
        "</section>\n",
    ]
}

fn block(block: &Block) -> Html {
    match block {
        Block::Text { text } => html!["<p>", words(text), "</p>\n"],
        Block::Heading { text } => html!["<h3>", words(text), "</h3>\n"],
        Block::List { items } => html!["<ul class=\"points\">\n", list(items), "</ul>\n"],
        Block::Code { label, text: lines } => html![
            "<pre tabindex=\"0\" role=\"region\" aria-label=\"",
            text(label),
            "\"><code>",
            text(lines),
            "</code></pre>\n",
        ],
        Block::Verdicts { claims } => {
            html!["<ol class=\"claims\">\n", each(claims, claim), "</ol>\n"]
        }
        Block::Figure(figure) => drawn(figure),
        Block::Table(rows) => table(rows),
    }
}

fn list(items: &[String]) -> Html {
    each(items, |item| html!["<li>", words(item), "</li>\n"])
}

fn claim(claim: &Claim) -> Html {
    let found = each(&claim.found, |found| {
        let see = each(found.figure.iter().zip(&found.figure_name), |(id, name)| {
            html![", see <a href=\"#", text(id), "\">", text(name), "</a>"]
        });
        html![
            "<li>",
            verdict(found.class, found.verdict),
            html![" <strong>", text(&found.basis), "</strong>", see],
            html!["\n<ul class=\"contrasts\">\n", list(&found.tests), "</ul></li>\n"],
        ]
    });
    html!["<li>\n<h3>", text(&claim.says), "</h3>\n<ul>\n", found, "</ul>\n</li>\n"]
}

fn verdict(class: &'static str, name: &str) -> Html {
    html!["<span class=\"verdict ", class, "\">", text(name), "</span>"]
}

fn drawn(figure: &Figure) -> Html {
    html![
        html!["<figure id=\"", text(&figure.id), "\">\n<div class=\"sheet\" tabindex=\"0\" "],
        html!["role=\"region\" aria-label=\"", text(&figure.name), ", scrolls sideways\">"],
        figure.svg.clone(),
        html!["</div>\n<figcaption><strong>", text(&figure.name), ".</strong> "],
        html![words(&figure.caption), "</figcaption>\n</figure>\n"],
    ]
}

fn table(table: &Table) -> Html {
    let rows = each(&table.rows, |row| {
        let mut cells = row.iter().zip(&table.columns);
        let name =
            each(cells.next(), |(name, _)| html!["<th scope=\"row\">", text(&name.text), "</th>"]);
        let rest = each(cells, |(shown, column)| cell(shown, column));
        html!["<tr>", name, rest, "</tr>\n"]
    });
    html![
        "<div class=\"scroll",
        if table.long { " long" } else { "" },
        html!["\" tabindex=\"0\" role=\"region\" aria-label=\"", text(&table.caption)],
        html!["\">\n<table>\n<caption>", text(&table.caption), "</caption>\n<thead><tr>\n"],
        each(&table.columns, head),
        html!["</tr></thead>\n<tbody>\n", rows, "</tbody>\n</table>\n</div>\n"],
    ]
}

fn head(column: &Column) -> Html {
    html![
        "<th scope=\"col\"",
        if column.number { " class=\"number\"" } else { "" },
        html![" aria-sort=\"none\"><button type=\"button\">", text(&column.name)],
        each(&column.unit, |unit| html![" <span class=\"unit\">(", text(unit), ")</span>"]),
        "</button></th>\n",
    ]
}

fn cell(cell: &Cell, column: &Column) -> Html {
    let class = match column.number {
        true => " class=\"number\"",
        false if cell.text.chars().count() > LONGEST_LINE => " class=\"text\"",
        false => "",
    };
    let value = |value: f64| html![" data-value=\"", text(&value.to_string()), "\""];
    html![
        html!["<td", each(cell.value, value), class, ">"],
        cell.class.map_or_else(|| words(&cell.text), |class| verdict(class, &cell.text)),
        each(&cell.error, |error| html!["<span class=\"error\"> \u{b1} ", text(error), "</span>"]),
        "</td>",
    ]
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
        let shown = |text: &str| words(text).0;
        assert_eq!(shown("use `a<b`."), "use <code>a&lt;b</code>.");
        assert_eq!(shown("one ` alone & `two`"), "one <code> alone &amp; </code>two`");
        assert_eq!(shown("`"), "`");
        assert_eq!(shown(""), "");
        assert_eq!(shown("`<img src=x onerror='y'>`").matches('<').count(), 2);
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
        let text = html(&page);
        assert!(!text.contains("<img") && text.contains("&lt;img"));
        assert_eq!(text.matches("</script>").count(), 1);
        assert_eq!(text.matches("</style>").count(), 1);
        assert!(!text.contains(" onerror=alert(1)>"));
    }
}
