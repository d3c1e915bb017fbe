//! The reply of a command: text, fields of the JSON object, diagnostics, exit code.

use crate::screen::{Screen, print_error};
use fourbar::Diagnostic;
use fourbar_io::marked;
use serde_json::{Map, Value, json};

/// Largest number of errors, and of warnings, that are shown.
const MOST: usize = 50;

/// Diagnostics about a file.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// The diagnostics.
    pub list: Vec<Diagnostic>,
    /// Name of the file.
    pub name: String,
}

/// The answer of a verb.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Text for the user.
    pub text: String,
    /// Fields for a program.
    pub fields: Map<String, Value>,
    /// Warnings and errors.
    pub notes: Notes,
    /// Exit code.
    pub exit: u8,
}

/// A verb that ends with errors and nothing else.
#[derive(Clone, Debug)]
pub struct Stop(pub Box<Notes>);

impl Reply {
    /// Exit code of bad usage or a bad file.
    pub const BAD_USAGE: u8 = 2;
    /// Exit code of a failed analysis.
    pub const FAILED: u8 = 1;
    /// Exit code of an interrupted run.
    pub const INTERRUPTED: u8 = crate::stop::EXIT;

    /// The answer of a command that was interrupted before the first result.
    pub fn interrupted() -> Self {
        Self { text: "interrupted before the first case was computed\n".into(), exit: Self::INTERRUPTED, ..Self::default() }
    }

    /// An answer in text and fields.
    pub fn new(text: String, fields: Value) -> Self {
        let fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
        Self { text, fields, ..Self::default() }
    }

    /// Prints the reply and returns the exit code.
    pub fn show(&self, verb: &str, screen: &Screen) -> u8 {
        if screen.json {
            let mut object = Map::new();
            object.insert("fourbar".into(), json!(env!("CARGO_PKG_VERSION")));
            object.insert("verb".into(), json!(verb));
            object.insert("exit_code".into(), json!(self.exit));
            object.extend(self.fields.clone());
            let (shown, left_out) = self.notes.shown(false);
            object.insert("diagnostics".into(), json!(shown));
            if left_out > 0 {
                object.insert("diagnostics_left_out".into(), json!(left_out));
            }
            return self.after(screen.print_json(&Value::Object(object)));
        }
        let (mut shown, left_out) = self.notes.shown(screen.quiet);
        shown.retain(|d| !repeated(d, verb));
        let mut placed = marked(&shown, &self.notes.name);
        if left_out > 0 {
            placed += &format!("and {left_out} more like these, which are not shown\n");
        }
        let printed = if screen.quiet { Ok(()) } else { screen.print(&self.text) };
        screen.print_error(&placed);
        self.after(printed)
    }

    /// The exit code after printing.
    fn after(&self, printed: std::io::Result<()>) -> u8 {
        let Err(e) = printed else { return self.exit };
        print_error(&format!("error[U003]: standard output cannot be written: {e}\n"));
        self.exit.max(Self::BAD_USAGE)
    }
}

/// Whether a warning only repeats the text of a verb, or belongs to `check`.
fn repeated(d: &Diagnostic, verb: &str) -> bool {
    match d.code.0 {
        "W050" => verb != "check",
        "W201" => matches!(verb, "check" | "assemble" | "run" | "kinematics" | "demo"),
        _ => false,
    }
}

impl Notes {
    /// The diagnostics to show, and the number of omitted ones.
    fn shown(&self, quiet: bool) -> (Vec<Diagnostic>, usize) {
        let mut room = [MOST, MOST];
        let mut left_out = 0;
        let mut fits = |d: &&Diagnostic| {
            let room = &mut room[usize::from(d.is_warning())];
            let fits = *room > 0;
            *room = room.saturating_sub(1);
            left_out += usize::from(!fits);
            fits
        };
        let wanted = self.list.iter().filter(|d| !(quiet && d.is_warning()));
        let shown = wanted.filter(&mut fits).cloned().collect();
        (shown, left_out)
    }
}

impl Stop {
    /// A diagnostic without a location in a file.
    pub fn plain(d: Diagnostic) -> Self {
        Self(Box::new(Notes { list: vec![d], ..Notes::default() }))
    }

    /// Converts to a reply.
    pub fn into_reply(self) -> Reply {
        let exit = exit_code(self.0.list.iter());
        let mut reply = Reply { notes: *self.0, exit, ..Reply::default() };
        if reply.exit == 0 {
            reply.exit = Reply::FAILED;
        }
        reply
    }
}

impl From<Diagnostic> for Stop {
    fn from(d: Diagnostic) -> Self {
        Self::plain(d)
    }
}

/// The exit code for errors: 1 for a failed analysis, otherwise 2.
pub fn exit_code<'a>(diagnostics: impl Iterator<Item = &'a Diagnostic>) -> u8 {
    let errors = diagnostics.filter(|d| !d.is_warning());
    errors.map(|d| if d.code.0.starts_with('S') { Reply::FAILED } else { Reply::BAD_USAGE }).max().unwrap_or(0)
}
