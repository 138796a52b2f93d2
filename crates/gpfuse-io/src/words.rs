//! How messages show what was found in a file: in one line, whatever it is.

/// The first line of a message, so that one error stays one line.
pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// A value or name as it is shown in a message: one line, and not long.
pub(crate) fn show(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

/// A whole message in one line: what would end it or move the cursor is spelt out.
pub(crate) fn in_one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() {
            true => out.extend(c.escape_debug()),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_one_line() {
        assert_eq!(first_line(" a\nb"), "a");
        assert_eq!(show("r\nge-4"), r"r\nge-4");
        assert_eq!(show(&"x".repeat(41)), format!("{}...", "x".repeat(40)));
        assert_eq!(in_one_line("data `r\n\u{1b}[2Kge`: é 'q'"), r"data `r\n\u{1b}[2Kge`: é 'q'");
    }
}
