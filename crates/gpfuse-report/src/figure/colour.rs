//! Colours, and the looks by which series are told apart with and without them.

/// A colour of the page mixed with its paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Colour {
    /// The variable that holds it in the style of a page, where it follows from light to dark.
    variable: &'static str,
    /// What it is on white paper.
    rgb: [u8; 3],
    /// How much of it there is; the rest is paper.
    part: f64,
}

/// Lines and letters.
pub(super) const INK: Colour = Colour::new("ink", 0x222222);
/// What is said by the way.
pub(super) const GREY: Colour = Colour::new("soft", 0x666666);
/// Grids.
pub(super) const FAINT: Colour = Colour::new("faint", 0xe4e4e4);
/// Every other column.
pub(super) const SHADE: Colour = Colour::new("shade", 0xf6f6f6);
/// Paper.
pub(super) const WHITE: Colour = Colour::new("paper", 0xffffff);
/// The largest density: light enough for dots and lines on it.
pub(super) const HEAT: Colour = Colour::new("heat", 0x7e98ba);
// The palette of Okabe and Ito (2008), without the yellow that cannot be seen on white.
pub(super) const BLUE: Colour = Colour::new("blue", 0x0072b2);
pub(super) const RED: Colour = Colour::new("red", 0xd55e00);
const GREEN: Colour = Colour::new("green", 0x009e73);
const PINK: Colour = Colour::new("pink", 0xcc79a7);
const ORANGE: Colour = Colour::new("orange", 0xe69f00);
const SKY: Colour = Colour::new("sky", 0x56b4e9);

impl Colour {
    const fn new(variable: &'static str, hex: u32) -> Colour {
        let [_, r, g, b] = hex.to_be_bytes();
        Colour { variable, rgb: [r, g, b], part: 1.0 }
    }

    /// With so much of it, the rest paper.
    pub(super) fn tint(self, part: f64) -> Colour {
        Colour { part, ..self }
    }

    /// Its channels on white paper.
    pub(super) fn rgb(self) -> [u8; 3] {
        self.rgb.map(|c| (255.0 - self.part * (255.0 - f64::from(c))).round() as u8)
    }

    /// For a file of its own.
    pub(super) fn hex(self) -> String {
        let [r, g, b] = self.rgb();
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    /// For a page, whose style says what ink and paper are.
    pub(super) fn css(self) -> String {
        let Colour { variable, part, .. } = self;
        match part < 1.0 {
            true => {
                format!("color-mix(in srgb, var(--{variable}) {:.1}%, var(--paper))", 100.0 * part)
            }
            false => format!("var(--{variable})"),
        }
    }
}

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Diamond,
    Up,
    Down,
}

/// How a series is told from the others: by colour, and without it by dashes and shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub(super) colour: Colour,
    /// Lengths of dashes and gaps; none for a whole line.
    pub(super) dashes: &'static [f64],
    /// The shape of its points.
    pub(super) shape: Shape,
}

const LOOKS: [Look; 7] = [
    Look { colour: BLUE, dashes: &[], shape: Shape::Circle },
    Look { colour: RED, dashes: &[8.0, 3.0], shape: Shape::Square },
    Look { colour: GREEN, dashes: &[2.5, 2.5], shape: Shape::Diamond },
    Look { colour: PINK, dashes: &[9.0, 3.0, 2.0, 3.0], shape: Shape::Up },
    Look { colour: ORANGE, dashes: &[5.0, 2.0], shape: Shape::Down },
    Look { colour: SKY, dashes: &[14.0, 4.0], shape: Shape::Circle },
    Look { colour: INK, dashes: &[1.5, 4.0], shape: Shape::Square },
];

impl Look {
    /// Of series `i`; after seven they come again.
    pub(super) fn of(i: usize) -> Look {
        LOOKS[i % LOOKS.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tints_are_mixtures_with_the_paper() {
        assert_eq!((BLUE.hex(), BLUE.css()), ("#0072b2".into(), "var(--blue)".into()));
        let tint = BLUE.tint(0.4);
        assert_eq!(tint.hex(), "#99c7e0");
        assert_eq!(tint.css(), "color-mix(in srgb, var(--blue) 40.0%, var(--paper))");
    }

    /// A colour that the style does not have would be black on a page.
    #[test]
    fn the_style_of_a_page_has_every_colour() {
        let style = include_str!("../page/web/page.css");
        let looks = LOOKS.map(|look| look.colour);
        for colour in looks.iter().chain(&[INK, GREY, FAINT, SHADE, WHITE, HEAT]) {
            // Light, dark by the system's wish, dark by the button.
            let declared = style.matches(&format!("--{}: #", colour.variable)).count();
            assert!(declared >= 3, "{}", colour.variable);
        }
    }
}
