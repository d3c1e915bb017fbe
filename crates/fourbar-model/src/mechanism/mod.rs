//! Mechanisms defined in Rust, section by section as in a file.
//!
//! ```
//! use fourbar_model::mechanism::{Body, GROUND, Mechanism, on};
//!
//! let model = Mechanism::new()
//!     .title("A crank that swings a rocker")
//!     .gravity([0.0, -9.81, 0.0])
//!     .parameter("speed", 2.0 * std::f64::consts::PI)
//!     .body("crank", Body::new().mass(0.1).inertia([1e-6, 5e-5, 5e-5]).at([0.04, 0.0, 0.0]))
//!     .body("coupler", Body::new().mass(0.2).inertia([1e-5, 7e-4, 7e-4]).at([0.17, 0.06, 0.0]).turned([0.0, 0.0, 1.0], 0.65))
//!     .body("rocker", Body::new().mass(0.2).inertia([4e-4, 1e-5, 4e-4]).at([0.22, 0.06, 0.0]))
//!     .revolute("O", GROUND, "crank").at([0.0, 0.0, 0.0]).axis([0.0, 0.0, 1.0])
//!     .revolute("A", "crank", "coupler").at([0.08, 0.0, 0.0]).axis([0.0, 0.0, 1.0])
//!     .revolute("B", "coupler", "rocker").at([0.24, 0.12, 0.0]).axis([0.0, 0.0, 1.0])
//!     .revolute("C", GROUND, "rocker").at([0.2, 0.0, 0.0]).axis([0.0, 0.0, 1.0])
//!     .drive("motor", "O").angle("speed*t")
//!     .point("P", on("coupler", [0.0, 0.05, 0.0]))
//!     .build()?;
//! assert_eq!(model.joints.len(), 4);
//! # Ok::<(), fourbar_model::Error>(())
//! ```
//!
//! The method named like its type in files begins an element, and further methods set its keys; the next element, or [`Mechanism::build`],
//! ends it. Errors are not reported immediately but all together at the end, with the same codes as for files. Numbers are SI and radians.
//! Expressions are numbers or texts; they may use `t`, `pi`, parameters, inputs, states, tables and functions defined before them, and in
//! forces the coordinates of joints and points, such as `O.angle` or `P.vx`.

mod auxiliary;
mod body;
mod constraint;
mod contact;
mod data;
mod drive;
mod event;
mod expression;
mod force;
mod joint;

pub use crate::spec::BodySpec as Body;
pub use expression::Written;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::model::Model;
use crate::spec::*;
use std::marker::PhantomData;

/// The world as a body, for joints and forces.
pub const GROUND: &str = "ground";

/// A place on a body, in the body frame.
pub fn on(body: impl Into<String>, at: V3) -> Place {
    Place { body: body.into(), at: At::Body(at) }
}

/// A place on a body, given by its drawn position in the world.
pub fn drawn(body: impl Into<String>, at: V3) -> Place {
    Place { body: body.into(), at: At::World(at) }
}

/// The kind of the element begun last, which determines the keys it takes.
pub mod last {
    /// An element without keys.
    #[derive(Clone, Copy, Debug)]
    pub struct Nothing;
    /// A joint with a place and an axis.
    #[derive(Clone, Copy, Debug)]
    pub struct Axial;
    /// A joint with a place only.
    #[derive(Clone, Copy, Debug)]
    pub struct Pointed;
    /// A universal joint.
    #[derive(Clone, Copy, Debug)]
    pub struct Universal;
    /// A joint that keeps a distance.
    #[derive(Clone, Copy, Debug)]
    pub struct Distance;
    /// A joint that keeps an angle.
    #[derive(Clone, Copy, Debug)]
    pub struct Angle;
    /// A gear.
    #[derive(Clone, Copy, Debug)]
    pub struct Gear;
    /// A rolling element.
    #[derive(Clone, Copy, Debug)]
    pub struct Rolling;
    /// A constraint that may be written in two ways.
    #[derive(Clone, Copy, Debug)]
    pub struct Dp1;
    /// A drive.
    #[derive(Clone, Copy, Debug)]
    pub struct Drive;
    /// A spring along a line.
    #[derive(Clone, Copy, Debug)]
    pub struct Spring;
    /// A torsion spring.
    #[derive(Clone, Copy, Debug)]
    pub struct Torsion;
    /// A force or a torque by components.
    #[derive(Clone, Copy, Debug)]
    pub struct Components;
    /// A bushing.
    #[derive(Clone, Copy, Debug)]
    pub struct Bushing;
    /// Friction of a joint.
    #[derive(Clone, Copy, Debug)]
    pub struct Friction;
    /// A rope.
    #[derive(Clone, Copy, Debug)]
    pub struct Rope;
    /// A column of the results.
    #[derive(Clone, Copy, Debug)]
    pub struct Output;
    /// An event.
    #[derive(Clone, Copy, Debug)]
    pub struct Event;
}

use last::Nothing;

/// A mechanism under construction; `L` is the kind of element begun last. See the [module](self).
#[derive(Clone, Debug)]
pub struct Mechanism<L = Nothing> {
    /// Boxed, because every call passes it on.
    state: Box<State>,
    last: PhantomData<L>,
}

/// The definitions so far.
#[derive(Clone, Debug, Default)]
struct State {
    spec: ModelSpec,
    parameters: Vec<(String, f64)>,
    data: data::Data,
    errors: Vec<Diagnostic>,
    /// Required keys that the last element still lacks; the path and the title of the element.
    lacks: Vec<&'static str>,
    element: (String, &'static str),
}

impl State {
    /// Reports missing keys of the last element, and begins another one.
    fn begin(&mut self, section: &str, name: &str, title: &'static str, lacks: &[&'static str]) {
        self.end();
        self.element = (format!("{section}.{name}"), title);
        self.lacks = lacks.to_vec();
    }

    /// Marks a key of the last element as given.
    fn given(&mut self, key: &str) {
        self.lacks.retain(|k| *k != key);
    }

    fn end(&mut self) {
        let lacks = std::mem::take(&mut self.lacks);
        if lacks.is_empty() {
            return;
        }
        let (path, title) = &self.element;
        let name = path.split_once('.').map_or(path.as_str(), |(_, name)| name);
        let keys: Vec<String> = lacks.iter().map(|k| format!("`{k}`")).collect();
        let message = format!("`{name}`, {title}, lacks {}", keys.join(" and "));
        self.errors.push(Diagnostic::new("M013", message).at(path.clone()).name(name).help("call the methods with these names after it"));
    }
}

impl Mechanism {
    /// An empty mechanism.
    pub fn new() -> Self {
        Self::of(Box::default())
    }
}

impl Default for Mechanism {
    fn default() -> Self {
        Self::new()
    }
}

impl From<ModelSpec> for Mechanism {
    /// Continues from an existing mechanism.
    fn from(spec: ModelSpec) -> Self {
        Self::of(Box::new(State { spec, ..State::default() }))
    }
}

impl<L> Mechanism<L> {
    fn of(state: Box<State>) -> Self {
        Self { state, last: PhantomData }
    }

    /// As above, with another element begun.
    fn next<M>(self) -> Mechanism<M> {
        Mechanism::of(self.state)
    }

    /// Ends the last element and changes the specification.
    fn stated(mut self, change: impl FnOnce(&mut ModelSpec)) -> Mechanism {
        self.state.end();
        change(&mut self.state.spec);
        self.next()
    }

    /// Ends the last element, for loops, in which the mechanism must have a single type.
    ///
    /// ```
    /// use fourbar_model::mechanism::{Body, GROUND, Mechanism};
    /// let mut chain = Mechanism::new();
    /// let mut base = GROUND.to_string();
    /// for k in 1..=3 {
    ///     let link = format!("link{k}");
    ///     let x = f64::from(k);
    ///     chain = chain
    ///         .body(&link, Body::new().mass(1.0).inertia([0.1, 0.1, 0.1]).at([x - 0.5, 0.0, 0.0]))
    ///         .revolute(format!("pin{k}"), &base, &link).at([x - 1.0, 0.0, 0.0]).axis([0.0, 1.0, 0.0])
    ///         .end();
    ///     base = link;
    /// }
    /// assert_eq!(chain.build()?.joints.len(), 3);
    /// # Ok::<(), fourbar_model::Error>(())
    /// ```
    pub fn end(self) -> Mechanism {
        self.stated(|_| {})
    }

    /// Free text.
    pub fn title(self, text: impl Into<String>) -> Mechanism {
        self.stated(|s| s.title = text.into())
    }

    /// Acceleration of gravity in the world, m/s^2.
    pub fn gravity(self, g: V3) -> Mechanism {
        self.stated(|s| s.gravity = Some(g))
    }

    /// A number that later expressions use by name.
    pub fn parameter(mut self, name: impl Into<String>, value: f64) -> Mechanism {
        self.state.parameters.push((name.into(), value));
        self.end()
    }

    /// A body.
    pub fn body(self, name: impl Into<String>, body: Body) -> Mechanism {
        self.stated(|s| s.bodies.push((name.into(), body)))
    }

    /// A point to report, to trace and to use in expressions.
    pub fn point(self, name: impl Into<String>, place: Place) -> Mechanism {
        self.stated(|s| s.points.push((name.into(), place)))
    }

    /// Joints or bodies that must not move in assembly.
    pub fn hold<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Mechanism {
        self.stated(|s| s.hold.extend(names.into_iter().map(Into::into)))
    }

    /// A start condition for assembly: a coordinate such as `pin.angle`, `pin.speed`, `tip.x` or `tip.vx`, and its value.
    pub fn start(mut self, coordinate: &str, value: f64) -> Mechanism {
        match expression::coordinate(coordinate) {
            Some(variable) => self.state.spec.start.push((variable, value)),
            None => self.state.errors.push(
                Diagnostic::new("M113", format!("`{coordinate}` is not a coordinate of the start"))
                    .at("start")
                    .help("write the element and its coordinate: `pin.angle`, `pin.distance`, `pin.speed`, `tip.x` or `tip.vx`"),
            ),
        }
        self.end()
    }

    /// Points or bodies to trace in pictures.
    pub fn trace<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Mechanism {
        self.stated(|s| s.trace.extend(names.into_iter().map(Into::into)))
    }

    /// Columns of results to keep, such as `motor.effort`, `tip` or `*.angle`; without any, all.
    pub fn columns<N: Into<String>>(self, patterns: impl IntoIterator<Item = N>) -> Mechanism {
        self.stated(|s| s.columns.extend(patterns.into_iter().map(Into::into)))
    }

    /// A path that a point is to follow, for inverse dynamics.
    pub fn path(self, name: impl Into<String>, path: PathSpec) -> Mechanism {
        self.stated(|s| s.paths.push((name.into(), path)))
    }

    /// A motor that drives the motion along a path.
    pub fn motor(self, name: impl Into<String>, motor: MotorSpec) -> Mechanism {
        self.stated(|s| s.motors.push((name.into(), motor)))
    }

    /// A plot that pages show first: columns over time.
    pub fn plot<N: Into<String>>(self, columns: impl IntoIterator<Item = N>) -> Mechanism {
        self.stated(|s| s.plots.push(PlotSpec { y: columns.into_iter().map(Into::into).collect(), x: None }))
    }

    /// A plot that pages show first: one column over another.
    pub fn plot_over(self, y: impl Into<String>, x: impl Into<String>) -> Mechanism {
        self.stated(|s| s.plots.push(PlotSpec { y: vec![y.into()], x: Some(x.into()) }))
    }

    /// The body that the camera of a page follows.
    pub fn follow(self, body: impl Into<String>) -> Mechanism {
        self.stated(|s| s.follow = Some(body.into()))
    }

    /// The study of a run.
    pub fn study(self, study: StudySpec) -> Mechanism {
        self.stated(|s| s.study = study)
    }

    /// Changes any other part of the specification.
    pub fn with(self, change: impl FnOnce(&mut ModelSpec)) -> Mechanism {
        self.stated(change)
    }

    /// The specification, checked only by its methods so far.
    pub fn spec(mut self) -> Result<ModelSpec, Error> {
        self.state.end();
        Error::of(self.state.errors).map_or(Ok(self.state.spec), Err)
    }

    /// Checks the mechanism; all errors are reported together.
    pub fn build(mut self) -> Result<Model, Error> {
        self.state.end();
        let mut errors = self.state.errors;
        match self.state.spec.build() {
            Ok(model) => Error::of(errors).map_or(Ok(model), Err),
            Err(more) => {
                let first = more.cause().clone();
                errors.extend(more);
                Err(Error::of(errors).unwrap_or_else(|| first.into()))
            }
        }
    }
}
