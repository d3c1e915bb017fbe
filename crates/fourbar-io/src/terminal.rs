//! Output to a terminal: all text passes through this module, which replaces characters that could move the cursor, change the order of
//! letters or hide them. Styles are marks in the text, which only this module turns into escape sequences.

use std::fmt::Write;

/// A style of the text that follows, until [`Style::Off`] or the end of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// No style.
    Off,
    /// Bold text.
    Bold,
    /// The accent colour.
    Accent,
    /// The colour of errors.
    Error,
    /// The colour of warnings.
    Warning,
    /// Frames and margins.
    Quiet,
}

/// Marks are characters that Unicode guarantees never to assign.
const FIRST_MARK: u32 = 0xfdd0;
const STYLES: [(Style, &str); 6] = [
    (Style::Off, "\x1b[0m"),
    (Style::Bold, "\x1b[1m"),
    (Style::Accent, "\x1b[36m"),
    (Style::Error, "\x1b[1;31m"),
    (Style::Warning, "\x1b[1;33m"),
    (Style::Quiet, "\x1b[34m"),
];

impl Style {
    /// The mark of this style in a text.
    pub fn mark(self) -> char {
        char::from_u32(FIRST_MARK + self as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn of(c: char) -> Option<&'static str> {
        let k = u32::from(c).checked_sub(FIRST_MARK)? as usize;
        STYLES.get(k).map(|s| s.1)
    }
}

/// Whether a character is not visible as itself: control characters, direction marks, zero-width and unassigned characters.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f | 0x2028..=0x202e
            | 0x2060..=0x206f | 0x3164 | 0xfdd0..=0xfdef | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
        || u32::from(c) & 0xfffe == 0xfffe
}

/// A piece of text for a terminal: every hidden character is replaced by a visible one, so that lengths stay.
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' | '\n' => ' ',
            c if is_hidden(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}

/// A complete text for a terminal: line breaks stay, style marks become colours if requested, and everything else is made [`visible`].
pub fn paint(text: &str, colour: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut styled = false;
    for c in text.chars() {
        match (c, Style::of(c)) {
            ('\n', _) => {
                // A style ends with its line.
                if std::mem::take(&mut styled) {
                    out.push_str(STYLES[0].1);
                }
                out.push('\n');
            }
            ('\t', _) => out.push(' '),
            (_, Some(sequence)) => {
                if colour {
                    styled = c != Style::Off.mark();
                    out.push_str(sequence);
                }
            }
            (c, None) if is_hidden(c) => out.push(char::REPLACEMENT_CHARACTER),
            (c, None) => out.push(c),
        }
    }
    if styled {
        out.push_str(STYLES[0].1);
    }
    out
}

/// JSON for a terminal: hidden characters, which occur only inside strings, are written as escapes and read back unchanged.
pub fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut units = [0; 2];
    for c in json.chars() {
        let plain = c == '\n' || (' '..='~').contains(&c);
        if !plain && is_hidden(c) {
            for unit in c.encode_utf16(&mut units) {
                // Writing to a `String` cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_pass_and_tricks_do_not() {
        for good in ["four-bar", "Gelenkviereck größer", "四連桿", "ω = 2π", "\u{1f980}", "שלום"] {
            assert_eq!(visible(good), good);
            assert_eq!(paint(good, true), good);
        }
        for bad in ["\x1b[2J", "\x07", "\u{9b}31m", "\u{202e}", "\u{200b}", "\u{2066}", "\u{feff}", "\r", "\u{fdd1}", "\u{e0041}", "\u{ad}"]
        {
            let seen = visible(bad);
            assert!(!seen.chars().any(is_hidden), "{bad:?}");
            assert_eq!(seen.chars().count(), bad.chars().count());
            assert!(!paint(bad, false).chars().any(is_hidden), "{bad:?}");
        }
    }

    #[test]
    fn styles_end_with_their_line() {
        let text = format!("{}a\nb{}c{}d", Style::Bold.mark(), Style::Accent.mark(), Style::Off.mark());
        assert_eq!(paint(&text, true), "\x1b[1ma\x1b[0m\nb\x1b[36mc\x1b[0md");
        assert_eq!(paint(&text, false), "a\nbcd");
    }

    #[test]
    fn json_reads_back_as_it_was() {
        let text = "\u{202e}a\u{e0041}\u{9b}\u{200b}";
        let json = escaped_json(&serde_json::to_string(text).expect("JSON"));
        assert!(!json.chars().any(is_hidden), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), text);
    }
}
