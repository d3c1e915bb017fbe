//! The result of a study: one page of text and tables in `docs/studies/NAME/README.md`, with figures beside it.

use crate::root;
use fourbar_io::plot::{Curve, Scale, svg_scaled};
use std::path::PathBuf;

/// A page under construction.
pub struct Report {
    page: PathBuf,
    /// Folder of the figures, and its prefix in links of the page.
    folder: PathBuf,
    prefix: String,
    text: String,
}

/// A curve of a figure: name and points.
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points.
    pub points: Vec<(f64, f64)>,
}

/// The command line option that keeps the stored timing results: for machines with other load.
pub const KEEP_TIMES: &str = "--keep-times";

/// A section of a page, with its heading.
pub fn section(page: &std::path::Path, heading: &str) -> Option<String> {
    let text = std::fs::read_to_string(page).ok()?;
    let from = text.find(&format!("\n## {heading}\n"))?;
    let rest = &text[from + 1..];
    let end = rest.find("\n## ").map_or(rest.len(), |k| k + 1);
    Some(format!("\n{}\n", rest[..end].trim_end()))
}

impl Report {
    /// A page with a title and the command that generates it.
    pub fn new(name: &str, title: &str) -> Result<Self, String> {
        let folder = root().join("docs/studies").join(name);
        Self::at(folder.join("README.md"), folder, String::new(), name, title)
    }

    /// Sets the command that generates the page if it differs from the default.
    pub fn made_by(mut self, command: &str) -> Self {
        let (first, rest) = self.text.split_once("Made by `").unwrap_or(("", ""));
        let after = rest.split_once('`').map_or("", |r| r.1);
        self.text = format!("{first}Made by `{command}`{after}");
        self
    }

    /// A page without figures, `docs/studies/NAME.md`.
    pub fn single(name: &str, title: &str) -> Result<Self, String> {
        let folder = root().join("docs/studies");
        Self::at(folder.join(format!("{name}.md")), folder, String::new(), name, title)
    }

    /// A page directly in `docs/`, with its figures in the folder of the study.
    pub fn page(name: &str, title: &str) -> Result<Self, String> {
        let docs = root().join("docs");
        Self::at(docs.join(format!("{name}.md")), docs.join("studies").join(name), format!("studies/{name}/"), name, title)
    }

    fn at(page: PathBuf, folder: PathBuf, prefix: String, name: &str, title: &str) -> Result<Self, String> {
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(Self { page, folder, prefix, text: format!("# {title}\n\nMade by `cargo xtask study {name}`.\n") })
    }

    /// Keeps a section of the stored page; returns whether there is one.
    pub fn keep(&mut self, heading: &str) -> bool {
        let kept = section(&self.page, heading);
        self.text += kept.as_deref().unwrap_or_default();
        kept.is_some()
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) {
        println!("\n{text}");
        self.text += &format!("\n## {text}\n");
    }

    /// A paragraph.
    pub fn text(&mut self, text: &str) {
        self.text += &format!("\n{}\n", text.trim());
    }

    /// A table, which is also printed.
    pub fn table<H: AsRef<str>>(&mut self, header: &[H], rows: &[Vec<String>]) {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let mut table = line(header.iter().map(AsRef::as_ref).collect());
        table += &line(header.iter().map(|_| "---").collect());
        for row in rows {
            table += &line(row.iter().map(String::as_str).collect());
        }
        print!("{table}");
        self.text += &format!("\n{table}");
    }

    /// A figure in the folder of the study, shown on the page.
    pub fn figure(&mut self, file: &str, title: &str, axes: [(&str, &str); 2], scale: Scale, series: &[Series]) -> Result<(), String> {
        let columns: Vec<(Vec<f64>, Vec<f64>)> = series.iter().map(|s| s.points.iter().copied().unzip()).collect();
        let curves: Vec<Curve<'_>> = series.iter().zip(&columns).map(|(s, (x, y))| Curve { name: &s.name, unit: "", x, y }).collect();
        let Some(picture) = svg_scaled(title, axes[0], axes[1], scale, &curves) else {
            return Err(format!("figure {file} has no points"));
        };
        std::fs::write(self.folder.join(file), picture).map_err(|e| format!("{file}: {e}"))?;
        self.text += &format!("\n![{title}]({}{file})\n", self.prefix);
        Ok(())
    }

    /// Writes the page.
    pub fn write(self) -> Result<(), String> {
        std::fs::write(&self.page, self.text).map_err(|e| format!("{}: {e}", self.page.display()))
    }
}

/// A number for tables: three digits, small and large ones with an exponent.
pub fn digits(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".into()
    } else if (0.01..1e4).contains(&size) {
        let places = (2 - size.log10().floor() as i32).clamp(0, 4) as usize;
        format!("{x:.places$}")
    } else {
        format!("{x:.1e}")
    }
}
