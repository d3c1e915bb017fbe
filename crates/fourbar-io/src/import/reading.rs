//! State of an import: the texts of the file, their errors and the content that is not converted.

use super::xml::{Attribute, Element};
use crate::file::{Limits, ReadOptions};
use crate::places::{Span, placed};
use crate::reader::problem::suggest;
use fourbar::{Diagnostic, Error};
use nalgebra::{Matrix3, Vector3};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Largest number of problems, and of notes, reported for a file.
const MOST: usize = 50;
/// Largest number of included files.
const MOST_FILES: usize = 200;

/// A location in one of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Index of the text; the first is the file itself.
    pub file: u16,
    /// Range of bytes.
    pub span: Span,
}

impl Spot {
    /// The start of the file itself.
    pub const START: Self = Self { file: 0, span: Span::EMPTY };
}

/// A text that was read.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Name of an included file; `None` for the file itself.
    pub name: Option<String>,
    /// The text.
    pub text: Arc<str>,
}

/// A file that is being read.
pub(crate) struct Reading<'a> {
    /// Options for reading.
    pub options: &'a ReadOptions<'a>,
    /// The folder of the file, if it has one.
    pub folder: Option<PathBuf>,
    sources: RefCell<Vec<Source>>,
    problems: RefCell<Vec<Diagnostic>>,
    notes: RefCell<Vec<Diagnostic>>,
}

impl<'a> Reading<'a> {
    pub fn new(text: Arc<str>, options: &'a ReadOptions<'a>) -> Self {
        let folder = options.path.map(|p| match p.parent() {
            Some(f) if !f.as_os_str().is_empty() => f.to_path_buf(),
            _ => PathBuf::from("."),
        });
        Self {
            options,
            folder,
            sources: RefCell::new(vec![Source { name: None, text }]),
            problems: RefCell::default(),
            notes: RefCell::default(),
        }
    }

    /// A diagnostic with its location.
    pub fn placed(&self, d: Diagnostic, spot: Spot) -> Diagnostic {
        let sources = self.sources.borrow();
        let Some(source) = sources.get(spot.file as usize) else { return d };
        let mut d = placed(d, &source.text, spot.span);
        if let (Some(place), Some(name)) = (&mut d.place, &source.name) {
            place.file = Some(name.clone());
        }
        d
    }

    /// Reports an error in the file.
    pub fn problem(&self, d: Diagnostic, spot: Spot) {
        if self.problems.borrow().len() < MOST {
            let d = self.placed(d, spot);
            let mut problems = self.problems.borrow_mut();
            // A repeated problem is reported once.
            if !problems.contains(&d) {
                problems.push(d);
            }
        }
    }

    /// Reports an error as it is, with or without a location.
    pub fn refuse(&self, d: Diagnostic) {
        self.problems.borrow_mut().push(d);
    }

    /// Adds a note: content that is not converted, or an assumption.
    pub fn note(&self, d: Diagnostic, spot: Spot) {
        if self.notes.borrow().len() < MOST {
            let d = self.placed(d, spot);
            self.notes.borrow_mut().push(d);
        }
    }

    /// Whether there are no errors so far.
    pub fn good(&self) -> bool {
        self.problems.borrow().is_empty()
    }

    /// The texts and the notes, or the problems.
    pub fn finish(self) -> Result<(Vec<Source>, Vec<Diagnostic>), Error> {
        match Error::of(self.problems.into_inner()) {
            Some(e) => Err(e),
            None => Ok((self.sources.into_inner(), self.notes.into_inner())),
        }
    }

    /// The text of a file that the model refers to, as a further source. It must be in the folder of the model or below it.
    pub fn beside(&self, name: &str, asked: Spot) -> Option<(u16, Arc<str>)> {
        let refuse = |why: &str, help: &str| {
            self.problem(Diagnostic::new("M657", format!("`{name}` cannot be read: {why}")).name(name).help(help), asked);
            None
        };
        let Some(folder) = &self.folder else {
            return refuse("the text has no folder in which to look for it", "read the mechanism from a file");
        };
        if self.sources.borrow().len() >= MOST_FILES {
            return refuse(&format!("more than {MOST_FILES} files are included"), "put them together");
        }
        let outside = "keep it in the folder of the file or below it";
        let Some(path) = below(folder, name) else { return refuse("it is not in the folder of the file", outside) };
        match (folder.canonicalize(), path.canonicalize()) {
            (Ok(folder), Ok(path)) if !path.starts_with(&folder) => return refuse("it is not in the folder of the file", outside),
            (Ok(_), Ok(path)) if path.is_file() => {}
            _ => return refuse("there is no such file", "check the name, which is relative to the folder of the file"),
        }
        // The limit applies to all texts together.
        let read: u64 = self.sources.borrow().iter().map(|s| s.text.len() as u64).sum();
        let limit = Limits::of(self.options.large).bytes.saturating_sub(read);
        let mut bytes = Vec::new();
        if let Err(e) = std::fs::File::open(&path).and_then(|f| f.take(limit + 1).read_to_end(&mut bytes)) {
            return refuse(&e.to_string(), "check the file");
        }
        if bytes.len() as u64 > limit {
            let most = Limits::of(self.options.large).bytes >> 20;
            return refuse(&format!("with it the files exceed {most} MB"), "`--large` reads larger files");
        }
        let Ok(text) = String::from_utf8(bytes) else { return refuse("it is not UTF-8 text", "save it as plain text") };
        let text: Arc<str> = Arc::from(text.strip_prefix('\u{feff}').unwrap_or(&text));
        let mut sources = self.sources.borrow_mut();
        sources.push(Source { name: Some(path.display().to_string()), text: text.clone() });
        Some((sources.len() as u16 - 1, text))
    }

    /// Numbers of an attribute, with bounds on their number.
    pub fn numbers(&self, a: Attribute<'_>, least: usize, most: usize) -> Option<Vec<f64>> {
        let list: Result<Vec<f64>, &str> = a.value.split_whitespace().map(|w| w.parse::<f64>().map_err(|_| w)).collect();
        let wrong = |why: String| {
            let count = match (least, most) {
                (1, 1) => "a number".to_string(),
                (a, b) if a == b => format!("{a} numbers"),
                (a, b) => format!("{a} to {b} numbers"),
            };
            let d = Diagnostic::new("M651", format!("`{}` {why}", a.name))
                .name(a.name)
                .help(format!("write {count}, with a point for decimals"));
            self.problem(d, a.spot);
            None
        };
        match list {
            Err(word) => wrong(format!("has `{}`, which is not a number", crate::tree::shorten(word))),
            Ok(list) if list.iter().any(|x| !x.is_finite()) => wrong("is not finite".into()),
            Ok(list) if list.len() < least || list.len() > most => wrong(format!("has {} numbers", list.len())),
            Ok(list) => Some(list),
        }
    }

    /// A number, or its default.
    pub fn number(&self, a: Option<Attribute<'_>>, without: f64) -> f64 {
        a.and_then(|a| self.numbers(a, 1, 1)).map_or(without, |x| x[0])
    }

    /// Three numbers, or their default.
    pub fn vector(&self, a: Option<Attribute<'_>>, without: Vector3<f64>) -> Vector3<f64> {
        a.and_then(|a| self.numbers(a, 3, 3)).map_or(without, |x| Vector3::new(x[0], x[1], x[2]))
    }

    /// A direction of unit length, or its default.
    pub fn direction(&self, a: Option<Attribute<'_>>, without: Vector3<f64>) -> Vector3<f64> {
        let v = self.vector(a, without);
        match (v.norm() > 1e-12, a) {
            (true, _) => v.normalize(),
            (false, Some(a)) => {
                self.problem(Diagnostic::new("M651", format!("`{}` is zero and has no direction", a.name)).help("give an axis"), a.spot);
                without
            }
            (false, None) => without,
        }
    }

    /// A required attribute.
    pub fn need<'e>(&self, e: Element<'e>, name: &str) -> Option<Attribute<'e>> {
        let found = e.get(name);
        if found.is_none() {
            let d = Diagnostic::new("M654", format!("`{}` lacks `{name}`", e.tag())).name(e.tag());
            self.problem(d.help(format!("add the attribute `{name}`")), e.spot());
        }
        found
    }

    /// Reports an unknown name.
    pub fn unknown<'k>(&self, what: &str, word: &str, known: impl Iterator<Item = &'k str>, spot: Spot) {
        // The search for similar names takes time and is skipped if the problem would not be reported.
        if self.problems.borrow().len() >= MOST {
            return;
        }
        // The order of the names is arbitrary, that in messages must not be.
        let mut list: Vec<&str> = known.collect();
        list.sort_unstable();
        let known = list.iter().copied();
        let d = Diagnostic::new("M655", format!("there is no {what} `{}`", crate::tree::shorten(word))).name(word);
        self.problem(d.help(suggest(word, known, "known:")), spot);
    }

    /// Reports an essential feature that is not supported.
    pub fn unsupported(&self, what: &str, help: &str, spot: Spot) {
        self.problem(
            Diagnostic::new("M653", format!("{what} is not read, and the mechanism would be a different one without it")).help(help),
            spot,
        );
    }

    /// Lists content that was not read, one note for each kind of element or attribute.
    pub fn left_over(&self, root: Element<'_>) {
        let mut kinds: BTreeMap<&str, (Vec<&str>, usize, Spot)> = BTreeMap::new();
        let mut listed: HashSet<(&str, &str)> = HashSet::new();
        root.unseen(&mut |tag, attribute, spot| {
            let entry = kinds.entry(tag).or_insert((Vec::new(), 0, spot));
            entry.1 += 1;
            entry.0.extend(attribute.filter(|a| listed.insert((tag, a))));
        });
        for (tag, (attributes, count, spot)) in kinds {
            let times = if count == 1 { String::new() } else { format!(" ({count} places)") };
            let message = match attributes.as_slice() {
                [] => format!("`{tag}` is not converted{times}"),
                list => {
                    let words: Vec<String> = list.iter().take(12).map(|a| format!("`{a}`")).collect();
                    format!("{} of `{tag}` {} not converted{times}", words.join(", "), if list.len() == 1 { "is" } else { "are" })
                }
            };
            self.note(Diagnostic::new("W450", message).name(tag).names(attributes.iter().map(|a| a.to_string())), spot);
        }
    }
}

/// The path of a name that must stay below a folder; with separators of either kind.
fn below(folder: &Path, name: &str) -> Option<PathBuf> {
    let name = name.replace('\\', "/");
    if name.is_empty() || name.contains(['\0', ':']) {
        return None;
    }
    let mut path = folder.to_path_buf();
    let mut depth = 0i32;
    for c in Path::new(&name).components() {
        match c {
            Component::Normal(x) => {
                path.push(x);
                depth += 1;
            }
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
                depth -= 1;
                if depth < 0 {
                    return None;
                }
            }
            _ => return None,
        }
    }
    Some(path)
}

/// Rotation by a quaternion of any length, scalar part first.
pub(crate) fn from_quaternion(q: &[f64]) -> Option<Matrix3<f64>> {
    let q = nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
    (q.norm() > 1e-12).then(|| nalgebra::UnitQuaternion::new_normalize(q).to_rotation_matrix().into_inner())
}

/// Rotation about an axis of unit length.
pub(crate) fn about(axis: &Vector3<f64>, angle: f64) -> Matrix3<f64> {
    nalgebra::Rotation3::from_axis_angle(&nalgebra::Unit::new_unchecked(*axis), angle).into_inner()
}

/// Rotation by roll, pitch and yaw: about the fixed x, then y, then z.
pub(crate) fn from_rpy(rpy: &[f64]) -> Matrix3<f64> {
    about(&Vector3::z(), rpy[2]) * about(&Vector3::y(), rpy[1]) * about(&Vector3::x(), rpy[0])
}
