//! Text in lines of at most 100 characters: wrapped words, facts with a margin, lists of names, tables.

/// Widest line.
pub const WIDTH: usize = 100;

/// Words wrapped into lines of at most [`WIDTH`] characters, all but the first indented.
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
    /// An empty list with labels of at most `margin` characters.
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

/// `a`, `a and b`, `a, b and c`.
pub fn joined(parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// Rows of words under a header, columns aligned; those in `right` to the right.
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
