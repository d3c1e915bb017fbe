//! The values of one group of keys.

use super::contact::SidePlane;
use super::csv::Column;
use super::curve::LoosePlane;
use super::data::Written;
use super::geometry::Mass;
use crate::places::Span;
use fourbar::diagnostic::nearest;
use fourbar::expr::{Expr, Kind};
use fourbar::spec::{At, ContactFriction, Inertia, Orientation, PlotSpec, Shape, SideSpec, StateExpr, TableauSpec, V3};

/// A place or direction whose body may still be missing.
#[derive(Clone, Debug)]
pub(crate) struct LoosePlace {
    pub body: Option<String>,
    pub at: Option<At>,
    /// Whether it is given by three numbers alone: a place in the world, a direction in its body.
    pub bare: bool,
    pub span: Span,
}

/// A joint frame as written.
#[derive(Clone, Debug)]
pub(crate) struct LooseFrame {
    pub body: String,
    pub at: V3,
    pub axis: Option<V3>,
    pub x: Option<V3>,
    pub span: Span,
}

/// The value of a key.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Number(f64),
    Vector(V3),
    Numbers(Vec<f64>),
    Points(Vec<V3>),
    Rows(Vec<Vec<f64>>),
    Plane(LoosePlane),
    Flag(bool),
    Inertia(Inertia),
    Function(Expr),
    State(StateExpr),
    States(Box<[StateExpr; 3]>),
    Text(String),
    Names(Vec<String>),
    Plots(Vec<PlotSpec>),
    Places(Vec<LoosePlace>),
    Frames(Vec<LooseFrame>),
    Orientation(Orientation),
    Shapes(Vec<Shape>),
    Solid(Vec<Mass>),
    Options(Vec<(String, String)>),
    Unit(Written),
    Column(Column),
    Pairs(Vec<[(f64, Kind); 2]>),
    Sides(Box<[SideSpec; 2]>),
    SidePlane(SidePlane),
    Friction(ContactFriction),
    Tableau(TableauSpec),
    /// A section, read elsewhere.
    Elsewhere,
}

/// The values of one group of keys.
pub(crate) struct Record {
    /// Path of the group.
    pub path: String,
    /// Name in the file.
    pub name: String,
    /// Name in messages.
    pub title: &'static str,
    /// Location for messages about the whole group.
    pub span: Span,
    pub values: Vec<(&'static str, Value, Span)>,
    /// Words that are not keys, perhaps misspelled ones.
    pub unknown: Vec<String>,
    /// Whether a part was rejected: then missing keys are not reported.
    pub broken: bool,
}

macro_rules! getter {
    ($(#[$doc:meta])* $name:ident, $variant:ident, $type:ty) => {
        $(#[$doc])*
        pub fn $name(&self, key: &str) -> Option<$type> {
            match self.get(key) {
                Some(Value::$variant(x)) => Some(x.clone()),
                _ => None,
            }
        }
    };
}

impl Record {
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.iter().find(|(k, ..)| *k == key).map(|(_, v, _)| v)
    }
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
    /// Whether an unknown word resembles this key: then the key is misspelled rather than missing.
    pub fn misspells(&self, key: &str) -> bool {
        self.unknown.iter().any(|word| nearest(word, [key]).is_some())
    }
    /// Location of the value of a key.
    pub fn span_of(&self, key: &str) -> Span {
        self.values.iter().find(|(k, ..)| *k == key).map_or(self.span, |(_, _, span)| *span)
    }
    getter!(number, Number, f64);
    getter!(vector, Vector, V3);
    getter!(numbers, Numbers, Vec<f64>);
    getter!(points, Points, Vec<V3>);
    getter!(plane, Plane, LoosePlane);
    getter!(flag, Flag, bool);
    getter!(inertia, Inertia, Inertia);
    getter!(function, Function, Expr);
    getter!(state, State, StateExpr);
    getter!(states, States, Box<[StateExpr; 3]>);
    getter!(text, Text, String);
    getter!(names, Names, Vec<String>);
    getter!(plots, Plots, Vec<PlotSpec>);
    getter!(places, Places, Vec<LoosePlace>);
    getter!(frames, Frames, Vec<LooseFrame>);
    getter!(orientation, Orientation, Orientation);
    getter!(shapes, Shapes, Vec<Shape>);
    getter!(solid, Solid, Vec<Mass>);
    getter!(unit, Unit, Written);
    getter!(pairs, Pairs, Vec<[(f64, Kind); 2]>);
    getter!(options, Options, Vec<(String, String)>);
    getter!(sides, Sides, Box<[SideSpec; 2]>);
    getter!(side_plane, SidePlane, SidePlane);
    getter!(friction, Friction, ContactFriction);
    getter!(tableau, Tableau, TableauSpec);
    getter!(rows, Rows, Vec<Vec<f64>>);

    /// Two names.
    pub fn pair(&self, key: &str) -> Option<[String; 2]> {
        self.names(key)?.try_into().ok()
    }
    /// One place.
    pub fn place(&self, key: &str) -> Option<LoosePlace> {
        self.places(key)?.into_iter().next()
    }
}
