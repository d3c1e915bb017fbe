//! The description of a force element, for reading, building, recording and drawing it.
//!
//! Every element is one file beside this one and one line in the list of [`super`]: its data as specified and as resolved, its keys in
//! files, the bodies it acts on, its wrench, potential and power for any scalar, its columns in results, and its drawing.

use super::eval::{self, Plain, States};
use super::{Law, StateLaw};
use crate::build::Resolve;
use crate::contact::Spots;
use crate::coordinate::Follows;
use crate::diagnostic::Diagnostic;
use crate::expr::Dimension;
use crate::model::{BodyId, JointCoordinate, Model, PointOn};
use crate::spec::{ForceFrame, Orientation, Place, SpringLaw, StateExpr};
use fourbar_math::Scalar;
use nalgebra::Vector3;
use smallvec::{SmallVec, smallvec};

/// The type of the value of a key of a force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Holds {
    /// A number; `None` if its dimension depends on the joint.
    Number(Option<Dimension>),
    /// Three numbers along and three about axes.
    Six(Dimension, Dimension),
    /// An expression of the state.
    Expression(Option<Dimension>),
    /// Three expressions of the state.
    Expressions(Dimension),
    /// Name of a joint.
    Joint,
    /// Name of a body.
    Body,
    /// A place on a body.
    Place,
    /// Two places.
    Places,
    /// One or more places.
    Path,
    /// An orientation.
    Orientation,
    /// `world` or `body`.
    Frame,
    /// True or false.
    Flag,
}

/// A key of a force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForceKey {
    /// Its name in files.
    pub name: &'static str,
    /// Type of its value.
    pub holds: Holds,
    /// Whether it is required.
    pub required: bool,
    /// One line about it.
    pub doc: &'static str,
}

pub(super) const fn need(name: &'static str, holds: Holds, doc: &'static str) -> ForceKey {
    ForceKey { name, holds, required: true, doc }
}

pub(super) const fn may(name: &'static str, holds: Holds, doc: &'static str) -> ForceKey {
    ForceKey { name, holds, required: false, doc }
}

pub(super) const BETWEEN: ForceKey = need("between", Holds::Places, "the two places");
pub(super) const JOINT: ForceKey = need("joint", Holds::Joint, "the joint");
pub(super) const FRAME: ForceKey = may("frame", Holds::Frame, "axes of the components; default: world");
pub(super) const PLACE: ForceKey =
    may("place", Holds::Place, "a synonym for `on`, which YAML 1.1 parsers (PyYAML) read as a truth value unless it is quoted");

/// The words of a force in files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Words {
    /// Its `type`.
    pub kind: &'static str,
    /// Its name in messages: "a spring".
    pub title: &'static str,
    /// One line about it.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [ForceKey],
    /// Its own variables, which its expressions may use: its coordinate and rate.
    pub own: &'static [&'static str],
}

/// The values of the keys of a force as read from a file. Values of the wrong type have already been rejected.
pub trait Given {
    /// Whether a key is given.
    fn has(&self, key: &str) -> bool;
    /// A number.
    fn number(&self, key: &str) -> Option<f64>;
    /// Six numbers.
    fn six(&self, key: &str) -> Option<[f64; 6]>;
    /// A name or a word.
    fn text(&self, key: &str) -> Option<String>;
    /// True or false.
    fn flag(&self, key: &str) -> Option<bool>;
    /// An expression.
    fn expression(&self, key: &str) -> Option<StateExpr>;
    /// Three expressions.
    fn expressions(&self, key: &str) -> Option<[StateExpr; 3]>;
    /// An orientation.
    fn orientation(&self, key: &str) -> Option<Orientation>;
    /// Two places; reports a missing body.
    fn places(&mut self, key: &str) -> Option<[Place; 2]>;
    /// One or more places; reports a missing body.
    fn path(&mut self, key: &str) -> Option<Vec<Place>>;
    /// Where it acts: `on`, `place`, or the centre of mass of `body`; an error if none or several are given.
    fn acting_place(&mut self) -> Option<Place>;
    /// The body on which it acts: `body`, or the body of `on` or `place`; an error if none or several are given.
    fn acting_body(&mut self) -> Option<String>;
    /// Reports that one of several keys is needed.
    fn needs(&mut self, what: &str, help: &str);
    /// Rejects keys that another one excludes; `true` if one is given.
    fn excludes(&mut self, key: &str, others: &[&str]) -> bool;
}

/// Frame of the components as read from a file.
pub(super) fn frame_given(x: &dyn Given) -> ForceFrame {
    if x.text("frame").as_deref() == Some("body") { ForceFrame::Body } else { ForceFrame::World }
}

/// The linear law, or the expression behind `key`; `rest` is the key of the coordinate at rest.
pub(super) fn law_given(x: &mut dyn Given, key: &str, rest: &str, rest_default: Option<f64>) -> Option<SpringLaw> {
    if let Some(expression) = x.expression(key) {
        if x.excludes(key, &["stiffness", rest, "damping"]) {
            return None;
        }
        return Some(SpringLaw::Expression(expression));
    }
    let (stiffness, damping) = (x.number("stiffness"), x.number("damping"));
    if stiffness.is_none() && damping.is_none() {
        x.needs(&format!("`stiffness` or `damping` or `{key}`"), "give its strength");
        return None;
    }
    let rest_value = match (x.number(rest), stiffness, rest_default) {
        (Some(value), ..) | (None, _, Some(value)) => value,
        (None, None, None) => 0.0,
        (None, Some(_), None) => {
            x.needs(&format!("`{rest}`"), "give its free length");
            return None;
        }
    };
    Some(SpringLaw::Linear { stiffness: stiffness.unwrap_or(0.0), rest: rest_value, damping: damping.unwrap_or(0.0) })
}

/// Writes the keys of a force to a file, in their order.
pub trait Spelling {
    /// A number.
    fn number(&mut self, key: &str, x: f64);
    /// One or more numbers, omitted if all are zero.
    fn unless_zero(&mut self, key: &str, x: &[f64]);
    /// Several numbers.
    fn numbers(&mut self, key: &str, x: &[f64]);
    /// A name or a word.
    fn word(&mut self, key: &str, word: &str);
    /// Places.
    fn places(&mut self, key: &str, places: &[Place; 2]);
    /// Places, omitted if there are none.
    fn path(&mut self, key: &str, places: &[Place]);
    /// A place.
    fn place(&mut self, key: &str, place: &Place);
    /// An orientation, omitted if it is that of the world.
    fn orientation(&mut self, key: &str, o: &Orientation);
    /// An expression; `own` is the word for the coordinate of the element.
    fn expression(&mut self, key: &str, e: &StateExpr, own: &str);
    /// Three expressions.
    fn expressions(&mut self, key: &str, e: &[StateExpr; 3]);
}

/// Writes the frame of components, if it is not the world.
pub(super) fn spell_frame(out: &mut dyn Spelling, frame: ForceFrame) {
    if frame == ForceFrame::Body {
        out.word("frame", "body");
    }
}

/// Writes a law; an expression goes to `key`, the coordinate at rest to `rest`.
pub(super) fn spell_law(out: &mut dyn Spelling, law: &SpringLaw, key: &str, rest_key: &str) {
    match law {
        SpringLaw::Linear { stiffness, rest, damping } => {
            out.number("stiffness", *stiffness);
            out.number(rest_key, *rest);
            out.unless_zero("damping", &[*damping]);
        }
        SpringLaw::Expression(e) => out.expression(key, e, rest_key),
    }
}

/// The bodies that a force acts on and reads.
#[derive(Clone, Debug, Default)]
pub struct Touches<'a> {
    /// Points at which it pulls or pushes.
    pub places: SmallVec<[PointOn; 2]>,
    /// Bodies whose axes it reads, or on which it exerts a torque.
    pub turned: SmallVec<[BodyId; 2]>,
    /// The joint along whose coordinate it acts.
    pub joint: Option<usize>,
    /// Whether it reads the counted angle of that joint.
    pub angle: bool,
    /// Whether it depends on the force across that joint, a constraint reaction.
    pub load: bool,
    /// The rolling element on whose normal force it depends.
    pub spot: Option<usize>,
    /// Its expressions.
    pub laws: SmallVec<[&'a StateLaw; 3]>,
}

impl<'a> Touches<'a> {
    /// An element between two points without torques.
    pub(super) fn between(ends: &[PointOn; 2]) -> Self {
        Self { places: SmallVec::from_slice(ends), ..Self::default() }
    }
    /// An element on a joint.
    pub(super) fn joint(joint: usize) -> Self {
        Self { joint: Some(joint), ..Self::default() }
    }
    /// As above, with the expression of a law, if it has one.
    pub(super) fn law(mut self, law: &'a Law) -> Self {
        if let Law::Expression(e) = law {
            self.laws.push(e);
        }
        self
    }
    /// The joint on whose load it depends.
    pub fn loaded_joint(&self) -> Option<usize> {
        self.joint.filter(|_| self.load)
    }
    /// Whether it depends on a constraint reaction.
    pub fn is_loaded(&self) -> bool {
        self.spot.is_some() || self.loaded_joint().is_some()
    }
    /// The bodies at the ends; ground by default.
    pub fn ends(&self) -> [usize; 2] {
        [0, 1].map(|k| self.places.get(k).map_or(0, |p: &PointOn| p.body.index()))
    }
}

/// A result quantity of an element: the suffix of its column name, and its unit.
pub type Quantity = (&'static str, &'static str);

/// Columns of a vector in the world.
macro_rules! vector {
    ($name:literal, $unit:literal) => {
        [(concat!($name, ".x"), $unit), (concat!($name, ".y"), $unit), (concat!($name, ".z"), $unit)]
    };
}
pub(super) use vector;

/// Names and units of the result quantities of an element.
pub type Quantities = SmallVec<[Quantity; 8]>;
/// Their values.
pub type Values = SmallVec<[f64; 8]>;

/// How an element is drawn.
#[derive(Clone, Debug)]
pub enum Glyph {
    /// A coil between two points.
    Coil([PointOn; 2]),
    /// A line over points, slack if it is shorter than `length`.
    Line {
        /// The points.
        path: Vec<PointOn>,
        /// Length beyond which it is taut, m.
        length: f64,
    },
    /// An arrow at a point.
    Arrow {
        /// Where.
        on: PointOn,
        /// Its components, if they are constant.
        vector: Option<[f64; 3]>,
        /// Frame of the components.
        frame: ForceFrame,
    },
    /// Something in a joint.
    Joint(usize),
    /// Something on a body.
    Body(BodyId),
    /// Where bodies may touch.
    Contact(Box<Spots>),
}

/// A state to which an element adds its energies and virtual power, for formulations that derive their equations from these.
pub trait Acts<S: Scalar>: States<S> {
    /// Rate of a value along the motion.
    fn rate(&self, y: S) -> S;
    /// Vector between two points, in any fixed frame.
    fn apart(&self, ends: &[PointOn; 2]) -> Vector3<S>;
    /// Rate of a coordinate of a joint.
    fn speed(&self, joint: usize, which: JointCoordinate) -> S;
    /// Adds a potential energy; the force is its negative gradient.
    fn stores(&mut self, energy: S);
    /// A force without potential, with the rate along which it does work.
    fn works(&mut self, rate: S, force: S);
    /// A torque on a body without potential, given in world or body axes.
    fn twists(&mut self, body: BodyId, torque: Vector3<S>, frame: ForceFrame);
    /// A wrench on a body: force in the world at the centre of mass, torque in body axes; its power is not counted.
    fn pushes(&mut self, body: BodyId, force: Vector3<S>, torque: Vector3<S>);
    /// Power of forces without potential that [`Acts::works`] does not include.
    fn gives(&mut self, power: S);
}

/// A resisting law along a coordinate: its elastic part is a potential.
pub(super) fn resists<S: Scalar>(model: &Model, law: &Law, y: S, x: &mut impl Acts<S>) {
    let rate = x.rate(y);
    match law {
        Law::Linear { stiffness, rest, damping } => {
            let stretch = y - S::of(*rest);
            x.stores(stretch * stretch * S::of(0.5 * stiffness));
            if *damping != 0.0 {
                x.works(rate, rate * S::of(-damping));
            }
        }
        Law::Expression(_) => {
            let force = law.value(model, x, (y, rate));
            x.works(rate, -force);
        }
    }
}

/// Length between the ends of `what` for [`Element::act`]; a line without length has no direction.
pub(super) fn length_of<S: Scalar>(model: &Model, what: &str, name: &str, ends: &[PointOn; 2], x: &impl Acts<S>) -> Result<S, Diagnostic> {
    let d = x.apart(ends);
    let square = d.dot(&d);
    if square.value().sqrt() < 1e-9 * model.length {
        return Err(Diagnostic::new("S281", format!("{what} `{name}` has no length at the start, so it has no direction"))
            .name(name)
            .at(format!("forces.{name}"))
            .help("move one of its ends, or use formulation `ra`"));
    }
    Ok(square.sqrt())
}

/// Power of the wrenches of an element on all bodies.
pub(super) fn power_of_wrench<S: Scalar, E: Element>(element: &E, model: &Model, x: &impl States<S>) -> S {
    let mut sum = S::zero();
    element.wrench(model, x, &mut |b, F, T| {
        let v = x.velocity(b);
        sum += F.dot(&v.v) + T.dot(&v.w);
    });
    sum
}

/// State of an element that acts on only one side of a bound: a contact, a stop, a rope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// Distance from the start of action, m or rad; negative where it acts.
    pub gap: f64,
    /// Rate of the gap.
    pub rate: f64,
    /// Positive if it pushes, negative if its law would give a pull, which is set to zero; dimensionless.
    pub push: f64,
    /// How the gap depends on the poses of the bodies.
    pub follows: Follows,
    /// Distance, m, that a body has to move from first contact until it separates on the other side; infinite if it never does.
    pub through: f64,
}

/// State of such an element there: separated, acting, or touching without force.
pub mod doing {
    /// Separated: no force.
    pub const APART: i64 = 0;
    /// It acts by its law.
    pub const ACTS: i64 = 1;
    /// It touches but would pull: no force.
    pub const IDLE: i64 = 2;
}

impl Side {
    /// Its initial state. An element that just touches and does not separate is active.
    pub fn doing(&self) -> i64 {
        match () {
            _ if self.gap > 0.0 || self.gap == 0.0 && self.rate > 0.0 => doing::APART,
            _ if self.push >= 0.0 => doing::ACTS,
            _ => doing::IDLE,
        }
    }

    /// Distances from the ends of its present state.
    pub fn guards(&self, doing: i64) -> [f64; 2] {
        match doing {
            doing::APART => [self.gap, f64::INFINITY],
            doing::ACTS => [-self.gap, self.push],
            _ => [-self.gap, -self.push],
        }
    }

    /// The state beyond one of these ends.
    pub fn behind(&self, doing: i64, guard: usize) -> i64 {
        match (doing, guard) {
            (doing::APART, _) if self.push < 0.0 => doing::IDLE,
            (doing::APART, _) | (doing::IDLE, 1) => doing::ACTS,
            (_, 0) => doing::APART,
            _ => doing::IDLE,
        }
    }
}

/// A force element.
pub(crate) trait Element: Sized {
    /// The element as specified.
    type Spec;
    /// Its words in files.
    const WORDS: Words;

    /// Reads it from the values of a file.
    fn read(x: &mut dyn Given) -> Option<Self::Spec>;
    /// Writes it to a file.
    fn write(spec: &Self::Spec, out: &mut dyn Spelling);
    /// Resolves its names and checks its numbers.
    fn build(spec: &Self::Spec, b: &mut Resolve<'_, '_>) -> Option<Self>;

    /// The bodies that it acts on and reads.
    fn touches(&self) -> Touches<'_>;
    /// Its expressions, in the order of [`Touches::laws`], for modification.
    fn laws_mut(&mut self) -> SmallVec<[&mut StateLaw; 3]> {
        smallvec![]
    }
    /// Its own coordinate and the rate of it, which its expressions may read.
    fn own_coordinate(&self, _model: &Model, _x: &Plain<'_>) -> (f64, f64) {
        (0.0, 0.0)
    }
    /// Number of sides on which it acts only beyond a bound.
    fn sides(&self) -> usize {
        0
    }
    /// Its state on one of these sides.
    fn side(&self, _model: &Model, _x: &Plain<'_>, _k: usize) -> Option<Side> {
        None
    }
    /// Sets its state on one side to [`doing`], regardless of the gap: its law continues smoothly beyond the end.
    fn set_doing(&mut self, _side: usize, _doing: i64) {}
    /// Its wrench: `add(body, force in the world at the centre of mass, torque in body axes)`.
    fn wrench<S: Scalar>(&self, model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>));
    /// Its potential energy, J; elements without one have none.
    fn potential<S: Scalar>(&self, _model: &Model, _x: &impl States<S>) -> S {
        S::zero()
    }
    /// Power of its part without a potential, W.
    fn power<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> S {
        power_of_wrench(self, model, x)
    }
    /// Energies and virtual power, for formulations that are derived from them; from its wrench on bodies by default.
    fn act<S: Scalar>(&self, model: &Model, _name: &str, x: &mut impl Acts<S>) -> Result<(), Diagnostic> {
        let mut wrenches = SmallVec::<[(usize, Vector3<S>, Vector3<S>); 2]>::new();
        self.wrench(model, &*x, &mut |body, F, T| wrenches.push((body, F, T)));
        for (body, F, T) in wrenches.into_iter().filter(|w| w.0 > 0) {
            x.pushes(BodyId(body as u32), F, T);
        }
        let power = self.power(model, &*x);
        x.gives(power);
        Ok(())
    }
    /// Stiffness and damping between its ends, N/m and N s/m, if they are constant: they bound explicit steps.
    fn stiffness(&self) -> SmallVec<[(f64, f64); 3]> {
        smallvec![]
    }
    /// Rate at which it brings a body of a given weight per mass to rest, 1/s; zero if it does not stick.
    fn sticking_rate(&self, _gravity: f64) -> f64 {
        0.0
    }
    /// Whether its law is almost constant in most states and changes within a narrow range.
    fn saturates(&self) -> bool {
        false
    }
    /// Its result quantities.
    fn quantities(&self, model: &Model) -> Quantities;
    /// The values of [`Element::quantities`] at a state.
    fn values(&self, model: &Model, x: &Plain<'_>) -> Values;
    /// How it is drawn.
    fn glyph(&self) -> Glyph;
}

/// Unit of the effort along the coordinate on which forces in a joint act.
pub(super) fn effort_unit(model: &Model, joint: usize) -> &'static str {
    if eval::acted_on(&model.joints[joint]) == JointCoordinate::Angle { "N*m" } else { "N" }
}
