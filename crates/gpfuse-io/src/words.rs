//! How messages show what was found in a file: in one line, whatever it is.

use std::path::Path;

pub(crate) use gpfuse::in_one_line;
use gpfuse::shorten;
pub(crate) use gpfuse::show;

/// The first line of a message, so that one error stays one line.
pub(crate) fn first_line(text: &str) -> String {
    in_one_line(text.lines().next().unwrap_or_default().trim())
}

/// A setting as it is shown where it differs from another: one line, and not long.
pub(crate) fn setting(text: Option<&str>) -> String {
    text.map_or("not given".into(), |text| in_one_line(&shorten(text, 60)))
}

/// A path as it is shown in a message: it may come from a file, and a name may hold anything.
pub(crate) fn show_path(path: &Path) -> String {
    in_one_line(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_one_line() {
        assert_eq!(first_line(" a\nb"), "a");
        assert_eq!(first_line("a\u{1b}[2K\rb\nc"), r"a\u{1b}[2K\rb");
        assert_eq!(show("r\nge-4"), r"r\nge-4");
        assert_eq!(show(&"x".repeat(41)), format!("{}...", "x".repeat(40)));
        assert_eq!(setting(Some("\"a\nb\"")), r#""a\nb""#);
        assert_eq!(setting(Some(&"\t".repeat(61))), format!("{}...", r"\t".repeat(60)));
        assert_eq!(setting(None), "not given");
        assert_eq!(show_path(Path::new("a\nb.csv")), r"a\nb.csv");
    }
}
