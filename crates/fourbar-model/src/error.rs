//! The error type of the library: one or several diagnostics.

use crate::diagnostic::{Code, Diagnostic};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;

/// The reasons for a failure: at least one [`Diagnostic`], the first cause first.
///
/// It dereferences to a slice of diagnostics, each with code, message, names, position in the file, time and remedy. It is printed as one
/// line per diagnostic. All errors of this library convert to it with `?`.
///
/// ```
/// use fourbar_model::mechanism::{GROUND, Mechanism};
/// let error = Mechanism::new().spherical("ball", GROUND, "rod").at([0.0; 3]).build().unwrap_err();
/// assert_eq!(error.code().0, "M118");
/// let messages: Vec<&str> = error.iter().map(|d| d.message.as_str()).collect();
/// assert_eq!(messages, ["the mechanism has no bodies", "there is no body `rod`"]);
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Diagnostic>", into = "Vec<Diagnostic>")]
pub struct Error {
    /// Never empty.
    list: Vec<Diagnostic>,
}

impl Error {
    /// From a list of diagnostics; `None` if it is empty.
    pub fn of(list: Vec<Diagnostic>) -> Option<Self> {
        (!list.is_empty()).then_some(Self { list })
    }

    /// The first cause.
    pub fn cause(&self) -> &Diagnostic {
        &self.list[0]
    }

    /// The code of the first cause.
    pub fn code(&self) -> Code {
        self.cause().code
    }

    /// All diagnostics, by value.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.list
    }
}

impl Deref for Error {
    type Target = [Diagnostic];
    fn deref(&self) -> &[Diagnostic] {
        &self.list
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, d) in self.list.iter().enumerate() {
            write!(f, "{}{d}", if k > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

/// Same output as `Display`, since a program that ends with an error prints its `Debug` form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

impl From<Diagnostic> for Error {
    fn from(d: Diagnostic) -> Self {
        Self { list: vec![d] }
    }
}

impl From<Box<Diagnostic>> for Error {
    fn from(d: Box<Diagnostic>) -> Self {
        Self::from(*d)
    }
}

impl TryFrom<Vec<Diagnostic>> for Error {
    type Error = &'static str;
    fn try_from(list: Vec<Diagnostic>) -> Result<Self, &'static str> {
        Self::of(list).ok_or("an error has at least one diagnostic")
    }
}

impl From<Error> for Vec<Diagnostic> {
    fn from(e: Error) -> Self {
        e.list
    }
}

impl IntoIterator for Error {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Error {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_prints_all_its_diagnostics_and_survives_json() {
        let e = Error::of(vec![Diagnostic::new("M106", "there is no body `a`").at("joints.pin"), Diagnostic::new("M118", "no bodies")]);
        let e = e.expect("two diagnostics");
        assert_eq!(e.to_string(), "[M106] there is no body `a` (at joints.pin)\n[M118] no bodies");
        let text = serde_json::to_string(&e).expect("json");
        assert_eq!(serde_json::from_str::<Error>(&text).expect("the same"), e);
        assert!(serde_json::from_str::<Error>("[]").is_err());
        assert!(serde_json::from_str::<Error>(r#"[{"code": "X999", "message": "?"}]"#).is_err(), "codes are those with a page");
        assert!(Error::of(Vec::new()).is_none());
    }
}
