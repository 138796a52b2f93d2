//! The colours of a drawing as those of the page, so that it follows from light to dark.
//!
//! Greys and full colours become variables of the style. A tint, a colour on the way to white, becomes the same
//! mixture of that colour and of the paper, whatever the paper is.

/// Greys of the drawings and what the page calls them.
const GREYS: [(&str, &str); 6] = [
    ("#222222", "var(--ink)"),
    ("#666666", "var(--soft)"),
    ("#e4e4e4", "var(--faint)"),
    ("#f6f6f6", "var(--shade)"),
    ("#ffffff", "var(--paper)"),
    ("white", "var(--paper)"),
];

/// Colours that drawings have tints of. The first is the density's.
const FULL: [([f64; 3], &str); 7] = [
    ([126.0, 152.0, 186.0], "var(--heat)"),
    ([0.0, 114.0, 178.0], "var(--blue)"),
    ([213.0, 94.0, 0.0], "var(--red)"),
    ([0.0, 158.0, 115.0], "var(--green)"),
    ([204.0, 121.0, 167.0], "var(--pink)"),
    ([230.0, 159.0, 0.0], "var(--orange)"),
    ([86.0, 180.0, 233.0], "var(--sky)"),
];

/// A tint is rounded by up to one in each channel.
const ROUNDING: f64 = 1.6;

/// The drawing with its fills and strokes in the colours of the page.
pub(super) fn recolour(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len() + svg.len() / 4);
    let mut rest = svg;
    // Quotes inside texts are escaped, so that these stand in attributes only.
    while let Some(at) = [" fill=\"", " stroke=\""]
        .iter()
        .filter_map(|key| rest.find(key).map(|at| at + key.len()))
        .min()
    {
        let end = rest[at..].find('"').map_or(rest.len(), |n| at + n);
        out.push_str(&rest[..at]);
        out.push_str(&of_page(&rest[at..end]));
        rest = &rest[end..];
    }
    out + rest
}

fn of_page(colour: &str) -> String {
    if let Some((_, name)) = GREYS.iter().find(|(grey, _)| *grey == colour) {
        return (*name).into();
    }
    let Some(rgb) = channels(colour) else { return colour.into() };
    let tint = |(full, name): &([f64; 3], &'static str)| {
        let depth: f64 = full.iter().map(|f| 255.0 - f).sum();
        let part = rgb.iter().map(|c| 255.0 - c).sum::<f64>() / depth;
        let off = |i: usize| (255.0 - part * (255.0 - full[i]) - rgb[i]).abs();
        let worst = (0..3).map(off).fold(0.0, f64::max);
        (worst < ROUNDING && part <= 1.001).then_some((worst, part, *name))
    };
    let found = FULL.iter().filter_map(tint).min_by(|a, b| a.0.total_cmp(&b.0));
    match found {
        Some((_, part, name)) if part > 0.995 => name.into(),
        Some((_, part, name)) => {
            format!("color-mix(in srgb, {name} {:.1}%, var(--paper))", 100.0 * part)
        }
        None => colour.into(),
    }
}

fn channels(colour: &str) -> Option<[f64; 3]> {
    let digits = colour.strip_prefix('#').filter(|d| d.len() == 6 && d.is_ascii())?;
    let channel = |i: usize| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok();
    Some([f64::from(channel(0)?), f64::from(channel(1)?), f64::from(channel(2)?)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greys_and_tints_follow_the_page_and_texts_stay() {
        let svg =
            r##"<rect fill="#222222" stroke="#99c6e0" /><text fill="none">a fill=&quot;</text>"##;
        // A tint of six tenths, as drawings have it: rounded down in each channel.
        let mix = "color-mix(in srgb, var(--blue) 40.2%, var(--paper))";
        let wanted = format!(
            r#"<rect fill="var(--ink)" stroke="{mix}" /><text fill="none">a fill=&quot;</text>"#
        );
        assert_eq!(recolour(svg), wanted);
        assert_eq!(of_page("#d55e00"), "var(--red)");
        assert_eq!(of_page("#12ab34"), "#12ab34");
        assert_eq!(of_page("url(#a)"), "url(#a)");
    }
}
