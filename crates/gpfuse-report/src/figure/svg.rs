//! A drawing as SVG: text that any browser shows and that follows the colours of a page.

use std::fmt::Write;

use super::Scene;
use super::colour::Colour;
use super::scene::{Anchor, Form, Item, Mark, Paint, Point, Text};

/// A drawing as SVG, which grows and shrinks with the room that it is given.
pub fn svg(scene: &Scene) -> String {
    written(scene, "", Colour::hex)
}

/// A drawing for a page: with a name for those who do not see it, in the colours of the page.
pub(crate) fn inline(scene: &Scene, name: &str) -> String {
    written(scene, &format!(" role=\"group\" aria-label=\"{}\"", escaped(name)), Colour::css)
}

/// Text in which nothing is markup.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
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
    out
}

/// A length with two decimals at most.
fn number(value: f64) -> String {
    // Not minus zero.
    let text = format!("{:.2}", (100.0 * value).round() / 100.0 + 0.0);
    text.trim_end_matches('0').trim_end_matches('.').into()
}

fn written(scene: &Scene, attributes: &str, colour: fn(Colour) -> String) -> String {
    let [width, height] = [scene.width, scene.height].map(number);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\"{attributes} viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"DejaVu Sans, Verdana, sans-serif\" \
         stroke-linejoin=\"round\">\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        colour(super::colour::WHITE)
    );
    for item in &scene.items {
        match item {
            Item::Shape(form, paint) => shape(&mut out, form, &painted(paint, colour)),
            Item::Text(text) => letters(&mut out, text, colour),
            Item::Open(kind, title) => {
                let title = escaped(title);
                out += &format!("<g class=\"mark {}\"><title>{title}</title>\n", class(*kind));
            }
            Item::Close => out += "</g>\n",
        }
    }
    out + "</svg>\n"
}

/// The class of a group, and what else it needs.
fn class(kind: Mark) -> &'static str {
    match kind {
        Mark::Box => "box\" tabindex=\"0",
        Mark::Line => "line\" tabindex=\"0",
        Mark::Band => "band",
        Mark::Bar => "bar\" tabindex=\"0",
        Mark::Dot => "dot",
        Mark::Heat => "heat\" shape-rendering=\"crispEdges",
        Mark::Strip => "strip\" pointer-events=\"all",
    }
}

fn painted(paint: &Paint, colour: fn(Colour) -> String) -> String {
    let mut out = format!(" fill=\"{}\"", paint.fill.map_or("none".into(), colour));
    if let Some(stroke) = paint.stroke {
        let width = number(stroke.width);
        out += &format!(" stroke=\"{}\" stroke-width=\"{width}\"", colour(stroke.colour));
        if !stroke.dashes.is_empty() {
            let dashes: Vec<String> = stroke.dashes.iter().map(|d| number(*d)).collect();
            out += &format!(" stroke-dasharray=\"{}\"", dashes.join(" "));
        }
    }
    if paint.opacity < 1.0 {
        out += &format!(" opacity=\"{}\"", number(paint.opacity));
    }
    out
}

fn shape(out: &mut String, form: &Form, paint: &str) {
    let _ = match form {
        Form::Line(points) => writeln!(out, "<path d=\"{}\"{paint}/>", path(points)),
        Form::Area(outlines) => {
            let d: String = outlines.iter().map(|points| path(points) + "Z").collect();
            writeln!(out, "<path d=\"{d}\"{paint}/>")
        }
        Form::Rect((x0, y0), (x1, y1)) => {
            let [x, y, w, h] = [*x0, *y0, x1 - x0, y1 - y0].map(number);
            writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"{paint}/>")
        }
        Form::Circles(centres, radius) => centres.iter().try_for_each(|(x, y)| {
            let [x, y, r] = [*x, *y, *radius].map(number);
            writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{paint}/>")
        }),
    };
}

/// Points as the steps of a path, the shortest way of writing each.
fn path(points: &[Point]) -> String {
    let mut out = String::new();
    let mut last: Option<[String; 2]> = None;
    for (x, y) in points {
        let next = [*x, *y].map(number);
        match &last {
            None => out += &format!("M{} {}", next[0], next[1]),
            Some(last) if *last == next => continue,
            Some(last) if last[1] == next[1] => out += &format!("H{}", next[0]),
            Some(last) if last[0] == next[0] => out += &format!("V{}", next[1]),
            Some(_) => out += &format!("L{} {}", next[0], next[1]),
        }
        last = Some(next);
    }
    out
}

fn letters(out: &mut String, text: &Text, colour: fn(Colour) -> String) {
    let [x, y, size] = [text.at.0, text.at.1, text.size].map(number);
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let bold = if text.bold { " font-weight=\"bold\"" } else { "" };
    let turn =
        if text.upright { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let (fill, content) = (colour(text.colour), escaped(&text.content));
    *out += &format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{bold} fill=\"{fill}\"{turn}>\
         {content}</text>\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_paths_are_short() {
        assert_eq!(
            [0.0, -0.001, 12.5, 100.0, -2.71].map(number),
            ["0", "0", "12.5", "100", "-2.71"]
        );
        let points = [(0.0, 0.0), (4.0, 0.0), (4.0, 0.001), (4.0, 2.0), (1.5, 1.0)];
        assert_eq!(path(&points), "M0 0H4V2L1.5 1");
    }
}
