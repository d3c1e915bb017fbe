//! Checks the documentation: links must be valid, and the files and commands of its pages are executed, with outputs compared and pictures
//! generated.
//!
//! In a page, blocks are marked after the language:
//!
//! - ```` ```yaml file=my.yaml ```` is written to `my.yaml` in a separate folder for the page (`file=` is valid for any language),
//! - ```` ```yaml section=my.yaml ```` replaces the sections of that file with the same names, or adds them,
//! - ```` ```console ```` is executed: lines that start with `$ fourbar` are commands, the following lines are their output; without such
//!   lines the output is not compared. A command continues after a line that ends in `\`. A line `...` matches any lines, and at the end
//!   of a line the rest of the line. ```` ```console exit=1 ```` gives the exit code of the last command. The folder of a page contains a
//!   copy of `models`, and pages are written but not opened,
//! - ```` ```yaml ```` with a whole file (its first line is `fourbar: 1`) and without a mark is checked with `fourbar check`,
//! - a picture `![...](.../pictures/NAME.svg)` must be written by a command of the page as `NAME.svg`, and agree with the picture stored
//!   with the page: the same elements and words, with visually equal numbers.
//!
//! With `FOURBAR_UPDATE_DOCS=1` printed lines and pictures are updated instead; check the changes before committing them.

use crate::common;

use common::{folder, fourbar, whole};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn updating() -> bool {
    std::env::var_os("FOURBAR_UPDATE_DOCS").is_some()
}

/// All pages: the README and everything under `docs`.
fn pages() -> Vec<PathBuf> {
    fn add(folder: &Path, list: &mut Vec<PathBuf>) {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                add(&path, list);
            } else if path.extension().is_some_and(|e| e == "md") {
                list.push(path);
            }
        }
    }
    let mut list = vec![root().join("README.md")];
    add(&root().join("docs"), &mut list);
    list
}

/// A fenced block: the words after the fence, its lines, and the index of its first line.
struct Block<'a> {
    marks: Vec<&'a str>,
    lines: Vec<&'a str>,
    first: usize,
}

impl<'a> Block<'a> {
    fn mark(&self, key: &str) -> Option<&'a str> {
        self.marks.iter().find_map(|m| m.strip_prefix(key)?.strip_prefix('='))
    }
    fn text(&self) -> String {
        self.lines.iter().map(|l| format!("{l}\n")).collect()
    }
}

/// Blocks of a page, in order.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut list: Vec<Block<'_>> = Vec::new();
    let mut open = false;
    for (k, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), open) {
            (Some(marks), false) => {
                list.push(Block { marks: marks.split_whitespace().collect(), lines: Vec::new(), first: k + 1 });
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => list.last_mut().expect("a block is open").lines.push(line),
            (None, false) => {}
        }
    }
    list
}

/// The sections of a mechanism file: each starts with a line without indentation and includes the comments before it.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = Vec::new();
    let mut before = String::new();
    for line in text.lines() {
        let name = line.split(':').next().unwrap_or("");
        let starts = !name.is_empty() && line.contains(':') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if starts {
            list.push((name.to_string(), format!("{}{line}\n", std::mem::take(&mut before))));
        } else if line.starts_with('#') || line.trim().is_empty() {
            before += &format!("{line}\n");
        } else if let Some(last) = list.last_mut() {
            last.1 += &format!("{}{line}\n", std::mem::take(&mut before));
        }
    }
    list
}

/// A file whose sections are replaced by those of a block.
fn replaced(file: &str, block: &str) -> String {
    let mut list = sections(file);
    for (name, text) in sections(block) {
        match list.iter_mut().find(|(n, _)| *n == name) {
            Some(old) => old.1 = text,
            None => list.push((name, text)),
        }
    }
    list.into_iter().map(|(_, text)| text).collect()
}

/// A command line as words; quoted words may contain blanks.
fn words(line: &str) -> Vec<String> {
    let (mut list, mut word, mut quote, mut any) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match (quote, c) {
            (None, '\'' | '"') => (quote, any) = (Some(c), true),
            (Some(q), c) if q == c => quote = None,
            (None, ' ') => {
                if any || !word.is_empty() {
                    list.push(std::mem::take(&mut word));
                }
                any = false;
            }
            // A comment ends the command.
            (None, '#') if word.is_empty() => break,
            (_, c) => word.push(c),
        }
    }
    if any || !word.is_empty() {
        list.push(word);
    }
    list
}

/// Whether printed lines agree with the page; `...` matches any lines.
fn agrees(page: &[&str], printed: &[&str]) -> bool {
    match page.split_first() {
        None => printed.is_empty(),
        Some((&"...", rest)) => (0..=printed.len()).any(|k| agrees(rest, &printed[k..])),
        Some((line, rest)) => printed.first().is_some_and(|p| same(line.trim_end(), p.trim_end())) && agrees(rest, &printed[1..]),
    }
}

/// Whether a line agrees with the page; `...` at its end matches the rest of the line.
fn same(page: &str, printed: &str) -> bool {
    page.strip_suffix("...").map_or(page == printed, |start| printed.starts_with(start))
}

/// A command of a block with the lines of the page after it.
struct Command<'a> {
    line: String,
    /// Line numbers of its printed lines in the page.
    after: std::ops::Range<usize>,
    printed: Vec<&'a str>,
}

fn commands<'a>(block: &Block<'a>) -> Vec<Command<'a>> {
    let mut list: Vec<Command<'a>> = Vec::new();
    let mut goes_on = false;
    for (k, line) in block.lines.iter().enumerate() {
        let at = block.first + k;
        let (text, continued) = line.strip_suffix('\\').map_or((*line, false), |l| (l, true));
        match (line.strip_prefix("$ "), list.last_mut()) {
            (_, Some(last)) if goes_on => {
                last.line = format!("{} {}", last.line.trim_end(), text.trim());
                last.after = at + 1..at + 1;
                goes_on = continued;
            }
            (Some(_), _) => {
                list.push(Command { line: text[2..].to_string(), after: at + 1..at + 1, printed: Vec::new() });
                goes_on = continued;
            }
            (None, Some(last)) => {
                last.printed.push(line);
                last.after.end = at + 1;
            }
            (None, None) => panic!("a block starts with what nothing printed: {line}"),
        }
    }
    list
}

/// Executes a page; returns a list of errors.
fn execute(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).expect("a page");
    let name = page.strip_prefix(root()).expect("inside").display().to_string();
    let mut wrong = Vec::new();
    let all = blocks(&text);
    let whole_file = |b: &Block<'_>| b.marks == ["yaml"] && b.lines.first().is_some_and(|l| l.starts_with("fourbar: 1"));
    if !all.iter().any(|b| b.marks.first() == Some(&"console") || whole_file(b)) {
        return wrong;
    }
    let f = folder(&format!("docs_{}", name.replace(['/', '.'], "_")));
    if text.contains("models/") {
        copied(&root().join("models"), &f.join("models"));
    }
    let mut edits: Vec<(std::ops::Range<usize>, Vec<String>)> = Vec::new();
    for block in &all {
        if let Some(file) = block.mark("file") {
            std::fs::write(f.join(file), block.text()).expect("writable");
        } else if let Some(file) = block.mark("section") {
            let old = std::fs::read_to_string(f.join(file)).unwrap_or_else(|_| panic!("{name}: `{file}` is not there yet"));
            std::fs::write(f.join(file), replaced(&old, &block.text())).expect("writable");
        }
        if whole_file(block) {
            std::fs::write(f.join("whole.yaml"), block.text()).expect("writable");
            let output = fourbar(&f, &["check", "whole.yaml"]);
            if !output.status.success() {
                wrong.push(format!("{name}: the file in line {} is refused\n{}", block.first + 1, whole(&output)));
            }
        }
        if block.marks.first() != Some(&"console") {
            continue;
        }
        let list = commands(block);
        for (k, command) in list.iter().enumerate() {
            let Some(rest) = command.line.strip_prefix("fourbar ") else {
                wrong.push(format!("{name}: `{}` is not a command of the program", command.line));
                continue;
            };
            let arguments = words(rest);
            let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            // Tests do not open a browser.
            if matches!(arguments[0], "view" | "demo" | "playground") && !arguments.iter().any(|a| matches!(*a, "--export" | "--no-open")) {
                arguments.push("--no-open");
            }
            let output = fourbar(&f, &arguments);
            let expected = if k + 1 == list.len() { block.mark("exit").map_or(0, |e| e.parse().expect("a number")) } else { 0 };
            let code = output.status.code().unwrap_or(-1);
            if code != expected {
                wrong.push(format!("{name}: `{}` ends with {code}, not {expected}\n{}", command.line, whole(&output)));
                continue;
            }
            let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
            let text = String::from_utf8_lossy(&text).into_owned();
            let printed: Vec<&str> = text.trim_end().lines().collect();
            if command.printed.is_empty() || agrees(&command.printed, &printed) {
                continue;
            }
            if updating() && !command.printed.iter().any(|l| l.ends_with("...")) {
                edits.push((command.after.clone(), printed.iter().map(|l| l.trim_end().to_string()).collect()));
            } else {
                let (said, page) = (printed.join("\n"), command.printed.join("\n"));
                wrong.push(format!("{name}: `{}` prints\n{said}\n--- the page says\n{page}", command.line));
            }
        }
    }
    let executed = all.iter().any(|b| b.marks.first() == Some(&"console"));
    for picture in pictures(&text).into_iter().filter(|_| executed) {
        let file = picture.rsplit('/').next().unwrap_or_default();
        let kept = page.parent().expect("a folder").join(&picture);
        let made = f.join(file);
        if !made.is_file() {
            wrong.push(format!("{name}: no command of the page writes `{file}`"));
        } else if updating() {
            std::fs::create_dir_all(kept.parent().expect("a folder")).expect("writable");
            std::fs::copy(&made, &kept).expect("writable");
        } else if let Ok(old) = std::fs::read_to_string(&kept) {
            if let Some(difference) = drawn_otherwise(&old, &std::fs::read_to_string(&made).expect("a picture")) {
                wrong.push(format!("{name}: `{picture}` is out of date: {difference}"));
            }
        } else {
            wrong.push(format!("{name}: `{picture}` is not kept with the page"));
        }
    }
    if !edits.is_empty() {
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        for (range, new) in edits.into_iter().rev() {
            lines.splice(range, new);
        }
        std::fs::write(page, lines.join("\n") + "\n").expect("writable");
    }
    wrong
}

/// A part of a picture: a number, or the characters between two numbers.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    /// A number, and whether it is part of a text rather than of the drawing.
    Number(f64, bool),
    Other(&'a str),
}

fn pieces(svg: &str) -> Vec<Piece<'_>> {
    let bytes = svg.as_bytes();
    let digit = |k: usize| bytes.get(k).is_some_and(u8::is_ascii_digit);
    let (mut list, mut from, mut at, mut tag) = (Vec::new(), 0, 0, false);
    while at < bytes.len() {
        // Digits in names and colours are not numbers; commands of a path such as `M` and `L` are single letters.
        if bytes[at] == b'#' || bytes[at].is_ascii_alphabetic() && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic) {
            at += 1;
            while bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) {
                at += 1;
            }
            continue;
        }
        if digit(at) || matches!(bytes[at], b'-' | b'.') && (digit(at + 1) || bytes.get(at + 1) == Some(&b'.') && digit(at + 2)) {
            let mut end = at + 1;
            while digit(end) || bytes.get(end) == Some(&b'.') && digit(end + 1) {
                end += 1;
            }
            if bytes.get(end) == Some(&b'e') && (digit(end + 1) || bytes.get(end + 1) == Some(&b'-') && digit(end + 2)) {
                end += 2;
                while digit(end) {
                    end += 1;
                }
            }
            if let Ok(x) = svg[at..end].parse() {
                list.extend([Piece::Other(&svg[from..at]), Piece::Number(x, !tag)]);
                (from, at) = (end, end);
                continue;
            }
        }
        match bytes[at] {
            b'<' => tag = true,
            b'>' => tag = false,
            _ => {}
        }
        at += 1;
    }
    list.push(Piece::Other(&svg[from..]));
    list
}

/// A visible difference between two pictures: positions by more than half a pixel, numbers in texts by more than a thousandth.
fn drawn_otherwise(kept: &str, made: &str) -> Option<String> {
    let (kept, made) = (pieces(kept), pieces(made));
    for (k, pair) in kept.iter().zip(&made).enumerate() {
        let alike = match pair {
            (Piece::Number(a, true), Piece::Number(b, true)) => (a - b).abs() <= 1e-3 * a.abs().max(b.abs()) || a.abs().max(b.abs()) < 1e-9,
            (Piece::Number(a, false), Piece::Number(b, false)) => (a - b).abs() <= 0.5,
            (a, b) => a == b,
        };
        if !alike {
            return Some(format!("its piece {k} is {:?} and was {:?}", pair.1, pair.0));
        }
    }
    (kept.len() != made.len()).then(|| format!("it has {} pieces and had {}", made.len(), kept.len()))
}

/// Copies a folder with its files, including one level of subfolders.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("writable");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copied(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("writable");
        }
    }
}

/// Pictures of a page that must be written by its commands.
fn pictures(text: &str) -> Vec<String> {
    links(text).into_iter().filter(|l| l.contains("pictures/") && l.ends_with(".svg")).collect()
}

/// Targets of links and pictures outside blocks and code.
fn links(text: &str) -> Vec<String> {
    let mut list = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            open = !open;
            continue;
        }
        if open {
            continue;
        }
        // Inline code contains no links.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        let mut rest = plain.as_str();
        while let Some(k) = rest.find("](") {
            rest = &rest[k + 2..];
            let end = rest.find(')').unwrap_or(rest.len());
            list.push(rest[..end].to_string());
        }
    }
    list
}

/// The anchor of a heading, as generated by the renderers of these pages.
fn anchor(heading: &str) -> String {
    let plain = heading.trim_start_matches('#').trim().to_lowercase();
    plain.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn files_and_commands_of_the_pages_do_what_they_say() {
    let all = pages();
    // Two at a time, since the program itself uses threads.
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(page) = all.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let found = execute(page);
                    wrong.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Every command of the program in a page must be in a block that is executed. Exceptions are the pages of diagnostics, whose commands
/// refer to `my.yaml` of the user, and `text` blocks, which show the syntax of a verb.
#[test]
fn commands_of_the_pages_are_executed() {
    let mut wrong = Vec::new();
    for page in pages().iter().filter(|p| !p.ends_with("diagnostics.md")) {
        let text = std::fs::read_to_string(page).expect("a page");
        // Commands that build or install something are also skipped.
        let other = |l: &&str| ["cargo ", "pip "].iter().any(|tool| l.starts_with(tool));
        let shown = |b: &Block<'_>| matches!(b.marks.first(), Some(&"console" | &"text")) || b.lines.iter().any(other);
        for block in blocks(&text).iter().filter(|b| !shown(b)) {
            if let Some(line) = block.lines.iter().find(|l| l.trim_start().trim_start_matches("$ ").starts_with("fourbar ")) {
                wrong.push(format!("{}:{}: {line}", page.display(), block.first + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "not executed:\n{}", wrong.join("\n"));
}

#[test]
fn links_of_the_pages_lead_somewhere() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, wanted) = link.split_once('#').map_or((link.as_str(), None), |(f, a)| (f, Some(a)));
            let target = if file.is_empty() { page.clone() } else { page.parent().expect("a folder").join(file) };
            if !target.exists() {
                wrong.push(format!("{}: {link}", page.display()));
            } else if let Some(wanted) = wanted.filter(|_| target.extension().is_some_and(|e| e == "md")) {
                let text = std::fs::read_to_string(&target).expect("a page");
                let headings = text.lines().filter(|l| l.starts_with('#')).map(anchor);
                if !headings
                    .chain(text.lines().filter_map(|l| l.split("id=\"").nth(1)?.split('"').next().map(String::from)))
                    .any(|a| a == wanted)
                {
                    wrong.push(format!("{}: {link} has no such heading", page.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_contents_of_the_site_name_pages_once() {
    // Their existence is checked with the other links; unlisted pages are at the end of the site.
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("the contents of the site");
    let listed: Vec<PathBuf> = links(&summary).iter().map(|l| docs.join(l)).collect();
    let unique: BTreeSet<&PathBuf> = listed.iter().collect();
    assert_eq!(unique.len(), listed.len(), "a page is listed twice");
    assert!(listed.len() > 40, "{}", listed.len());
}

/// The animated pictures of the README agree with those that the program writes now.
#[test]
fn moving_pictures_of_the_gallery_are_up_to_date() {
    let f = folder("moving_pictures");
    let mut wrong = Vec::new();
    for name in ["stewart_platform", "pantograph", "jansen_leg"] {
        let file = format!("{name}.svg");
        let output = fourbar(&f, &["view", name, "--export", &file]);
        assert!(output.status.success(), "{}", whole(&output));
        let kept = root().join("docs/gallery").join(&file);
        if updating() {
            std::fs::copy(f.join(&file), &kept).expect("writable");
            continue;
        }
        let [old, new] = [kept, f.join(&file)].map(|p| std::fs::read_to_string(p).expect("a picture"));
        wrong.extend(drawn_otherwise(&old, &new).map(|difference| format!("docs/gallery/{file} is out of date: {difference}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pictures_are_compared_as_they_are_seen() {
    let svg = r##"<path d="M10,20.5L30,-4e1h14.5z" stroke="#1e2730"/><text x="5">speed2 in 0.25 m</text>"##;
    assert_eq!(drawn_otherwise(svg, svg), None);
    // Rounding may move points by a fraction of a pixel.
    for (old, new) in [("20.5", "20.6"), ("L30", "L30.2"), ("h14.5", "h14.4")] {
        assert_eq!(drawn_otherwise(svg, &svg.replace(old, new)), None, "{old} and {new}");
    }
    for (old, new) in [
        ("20.5", "22"),
        ("0.25", "0.26"),
        ("#1e2730", "#1e2731"),
        ("speed2", "speed3"),
        ("-4e1", "-4e1L1,2"),
        ("M10", "L10"),
        ("h14.5", "h-14.5"),
    ] {
        assert!(drawn_otherwise(svg, &svg.replace(old, new)).is_some(), "{old} and {new}");
    }
}

#[test]
fn the_helpers_of_this_file_read_as_they_say() {
    assert_eq!(words("run my.yaml --set a='2 mm' # so"), ["run", "my.yaml", "--set", "a=2 mm"]);
    assert!(agrees(&["a", "...", "d"], &["a", "b", "c", "d"]) && agrees(&["..."], &[]) && !agrees(&["a"], &["a", "b"]));
    assert!(agrees(&["a b..."], &["a b c"]) && !agrees(&["a b..."], &["a c"]));
    let file = "fourbar: 1\n# About bodies.\nbodies:\n  a: {mass: 1}\n  b: {mass: 2}\nstudy: {t_end: 1}\n";
    assert_eq!(
        replaced(file, "study: {t_end: 2}\nview: {trace: [p]}\n"),
        format!("{}view: {{trace: [p]}}\n", file.replace("t_end: 1", "t_end: 2"))
    );
    assert_eq!(replaced(file, "bodies:\n  c: {mass: 3}\n"), "fourbar: 1\nbodies:\n  c: {mass: 3}\nstudy: {t_end: 1}\n");
    assert_eq!(links("see [a](b.md#c) and `[x](y)`\n```\n[n](m)\n```\n![p](q.svg)"), ["b.md#c", "q.svg"]);
    assert_eq!(anchor("## Stops, and `if`"), "stops-and-if");
    let page = "```console\n$ fourbar sweep a \\\n    --out b\ndone\n$ fourbar list\n```";
    let blocks = blocks(page);
    let list = commands(&blocks[0]);
    assert_eq!(list.iter().map(|c| c.line.as_str()).collect::<Vec<_>>(), ["fourbar sweep a --out b", "fourbar list"]);
    assert!(list[0].printed == ["done"] && list[0].after == (3..4) && list[1].printed.is_empty());
}
