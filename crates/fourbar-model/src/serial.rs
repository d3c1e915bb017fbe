//! Serde implementations that cannot be derived: codes that have a page, expressions as text, optional bounds.

use crate::codes;
use crate::diagnostic::Code;
use crate::expr::{Dimension, Expr, Names, Outside, Symbol, Table};
use fourbar_math::Piecewise;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Name of a variable in a text; its meaning is stored with the expression.
fn variable(k: u32) -> String {
    format!("x{k}")
}

/// A table that an expression calls, with the spline it represents.
#[derive(Serialize, Deserialize)]
struct Called {
    name: String,
    breakpoints: Vec<f64>,
    pieces: Vec<[f64; 4]>,
    period: Option<f64>,
    x: Option<Dimension>,
    y: Option<Dimension>,
    outside: Option<Outside>,
}

impl Called {
    fn new(t: &Table) -> Self {
        let f = &t.function;
        let (breakpoints, pieces) = (f.breakpoints().to_vec(), f.pieces().to_vec());
        Self { name: t.name.to_string(), breakpoints, pieces, period: f.period(), x: t.x, y: t.y, outside: t.outside }
    }

    fn table(self) -> Option<Table> {
        let function = Piecewise::from_pieces(&self.breakpoints, &self.pieces, self.period)?;
        Some(Table { name: self.name.into(), function: function.into(), x: self.x, y: self.y, outside: self.outside })
    }
}

/// As text with the variables `x0`, `x1` and so on, which reads back to the same program; with the tables it calls, if any.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Saved {
    Text(String),
    Calling { text: String, tables: Vec<Called> },
}

/// The meaning of the names in a saved expression.
struct Meaning(Vec<Table>);

impl Names for Meaning {
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        name.strip_prefix('x').and_then(|k| k.parse().ok()).filter(|k| variable(*k) == name).map(Symbol::Variable)
    }
    fn table(&mut self, name: &str) -> Option<Table> {
        self.0.iter().find(|t| &*t.name == name).cloned()
    }
}

impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.to_text(variable);
        match self.tables() {
            [] => Saved::Text(text).serialize(serializer),
            tables => Saved::Calling { text, tables: tables.iter().map(Called::new).collect() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (text, tables) = match Saved::deserialize(deserializer)? {
            Saved::Text(text) => (text, Vec::new()),
            Saved::Calling { text, tables } => (text, tables),
        };
        let tables: Option<Vec<Table>> = tables.into_iter().map(Called::table).collect();
        let tables = tables.ok_or_else(|| D::Error::custom("the pieces of a table are inconsistent"))?;
        Expr::parse_quantity(&text, &mut Meaning(tables)).map(|(expr, _)| expr).map_err(D::Error::custom)
    }
}

/// Only codes that have a page are read.
impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let page = codes::pages().find(|p| p.code == text);
        page.map(|p| Code(p.code)).ok_or_else(|| D::Error::custom(format!("there is no code `{text}`")))
    }
}

/// Two bounds; JSON has no infinite numbers, so a missing bound is null.
pub(crate) mod bounds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(range: &[f64; 2], serializer: S) -> Result<S::Ok, S::Error> {
        range.map(|x| Some(x).filter(|x| x.is_finite())).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[f64; 2], D::Error> {
        let [low, high] = <[Option<f64>; 2]>::deserialize(deserializer)?;
        Ok([low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)])
    }
}
