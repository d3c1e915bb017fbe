//! What reaches the terminal: colour only where a person looks, tables of at most 100 columns. Every text goes through
//! [`fourbar_io::terminal`], which lets nothing pass that could move the cursor or hide letters.

pub use fourbar::diagnostic::number;
use fourbar_io::terminal::{Style, escaped_json, paint, visible};
use std::io::{IsTerminal, Write};

/// Widest line.
pub const WIDTH: usize = 100;

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// One JSON object instead of text.
    pub json: bool,
    /// Errors only.
    pub quiet: bool,
    colour_out: bool,
    /// Whether diagnostics are coloured.
    pub colour_err: bool,
}

impl Screen {
    /// Looks at the terminal and at `NO_COLOR`.
    pub fn new(json: bool, quiet: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
        Self { json, quiet, colour_out: wanted && std::io::stdout().is_terminal(), colour_err: wanted && std::io::stderr().is_terminal() }
    }

    /// Text that stands out.
    pub fn bold(&self, text: &str) -> String {
        self.styled(text, Style::Bold)
    }

    /// Text in the accent colour.
    pub fn accent(&self, text: &str) -> String {
        self.styled(text, Style::Accent)
    }

    fn styled(&self, text: &str, style: Style) -> String {
        if self.colour_out { format!("{}{}{}", style.mark(), visible(text), Style::Off.mark()) } else { text.into() }
    }

    /// Prints to standard output. A reader who has gone away is no failure; a full disk is.
    pub fn print(&self, text: &str) -> std::io::Result<()> {
        put(&paint(text, self.colour_out))
    }

    /// Prints an object to standard output.
    pub fn print_json(&self, object: &serde_json::Value) -> std::io::Result<()> {
        put(&format!("{}\n", escaped_json(&format!("{object:#}"))))
    }

    /// Prints to standard error.
    pub fn print_error(&self, text: &str) {
        let _ = std::io::stderr().lock().write_all(paint(text, self.colour_err).as_bytes());
    }

    /// Writes over the last line of a terminal, or clears it.
    pub fn status(&self, text: &str) {
        let _ = std::io::stderr().lock().write_all(format!("\r\x1b[K{}", visible(text)).as_bytes());
    }
}

fn put(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e),
        _ => Ok(()),
    }
}

/// Prints to standard error, without colours.
pub fn print_error(text: &str) {
    let _ = std::io::stderr().lock().write_all(paint(text, false).as_bytes());
}

/// Words broken into lines of at most [`WIDTH`], all but the first indented.
pub fn wrapped(text: &str, first: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut column = first;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if !out.is_empty() && column > indent {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

/// Facts with a common margin: `label   text`, long texts wrapped.
#[derive(Debug)]
pub struct Facts {
    margin: usize,
    /// The lines so far.
    pub text: String,
}

impl Facts {
    /// Labels of at most `margin` characters.
    pub fn new(margin: usize) -> Self {
        Self { margin, text: String::new() }
    }

    /// Adds a fact; an empty label continues the one above.
    pub fn add(&mut self, label: &str, text: &str) {
        let margin = self.margin + 2;
        self.text += &format!("{label:<margin$}{}\n", wrapped(text, margin, margin));
    }
}

/// Names in backquotes, with commas; long lists are cut.
pub fn names<S: AsRef<str>>(list: &[S]) -> String {
    const SHOWN: usize = 12;
    let mut text = list.iter().take(SHOWN).map(|n| format!("`{}`", n.as_ref())).collect::<Vec<_>>().join(", ");
    if list.len() > SHOWN {
        text += &format!(" and {} more", list.len() - SHOWN);
    }
    text
}

/// Rows of words under a header, columns aligned; numbers to the right.
pub fn table(header: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    let mut widths: Vec<usize> = header.iter().map(|h| h.chars().count()).collect();
    for row in rows {
        for (w, cell) in widths.iter_mut().zip(row) {
            *w = (*w).max(cell.chars().count());
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (k, (cell, w)) in cells.zip(&widths).enumerate() {
            if k > 0 {
                text.push_str("  ");
            }
            text += &if right.contains(&k) { format!("{cell:>w$}") } else { format!("{cell:<w$}") };
        }
        format!("{}\n", text.trim_end())
    };
    let mut out = line(&mut header.iter().copied());
    for row in rows {
        out += &line(&mut row.iter().map(String::as_str));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_wrapped_within_the_width() {
        let text = wrapped(&"word ".repeat(60), 10, 10);
        assert!(text.lines().enumerate().all(|(k, l)| l.chars().count() + if k == 0 { 10 } else { 0 } <= WIDTH), "{text}");
        assert!(text.lines().skip(1).all(|l| l.starts_with("          word")));
    }

    #[test]
    fn columns_are_aligned() {
        let rows = vec![vec!["a".to_string(), "1.5".into()], vec!["longer".into(), "10".into()]];
        assert_eq!(table(&["name", "x"], &rows, &[1]), "name      x\na       1.5\nlonger   10\n");
    }
}
