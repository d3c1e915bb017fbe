//! Forces on the bodies in addition to the constraints. Every element is one file and one line in the list below; all that readers,
//! formulations, results and pictures need is in its file.

mod actuator;
mod bushing;
mod contact;
mod element;
pub mod eval;
mod friction;
pub mod load;
mod point;
mod rope;
mod rub;
mod spring;
mod stop;
mod torque;
mod torsion;

pub use element::{Acts, ForceKey, Given, Glyph, Holds, Quantities, Quantity, Side, Spelling, Touches, Values, Words, doing};

use crate::build::Resolve;
use crate::diagnostic::Diagnostic;
use crate::expr::Expr;
use crate::model::Model;
use element::Element;
use eval::{Plain, States};
use fourbar_math::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

macro_rules! forces {
    ($($(#[$doc:meta])* $variant:ident ( $type:path ) as $spec_variant:ident ( $spec:path );)*) => {
        /// A force element as specified by the author. Expressions may use the variables of [`crate::spec::StateVariable`].
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum ForceSpec { $($(#[$doc])* $spec_variant($spec),)* }

        $(impl From<$spec> for ForceSpec {
            fn from(spec: $spec) -> Self {
                ForceSpec::$spec_variant(spec)
            }
        })*

        /// A force element with its references resolved.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Force {
            $($(#[$doc])* $variant($type),)*
            /// A compliant contact; specified under `contacts`.
            Contact(Contact),
            /// Friction of bodies that slide on each other between two events; not part of the specification.
            Rub(Rub),
        }

        /// The words and readers of all forces in files.
        pub const KINDS: &[Kind] = &[$(Kind {
            words: <$type as Element>::WORDS,
            read: |x| <$type as Element>::read(x).map(ForceSpec::$spec_variant),
        },)*];

        impl ForceSpec {
            /// Its words in files.
            pub fn words(&self) -> &'static Words {
                match self { $(ForceSpec::$spec_variant(_) => &<$type as Element>::WORDS,)* }
            }
            /// Writes it to a file.
            pub fn write(&self, out: &mut dyn Spelling) {
                match self { $(ForceSpec::$spec_variant(s) => <$type as Element>::write(s, out),)* }
            }
            /// Resolves its names and checks its numbers.
            pub(crate) fn build(&self, b: &mut Resolve<'_, '_>) -> Option<Force> {
                match self { $(ForceSpec::$spec_variant(s) => <$type as Element>::build(s, b).map(Force::$variant),)* }
            }
        }

        impl Force {
            /// Its friction element if it can stick, otherwise `None`.
            pub fn sticks(&self) -> Option<&Friction> {
                match self {
                    Force::Friction(f) if f.stick => Some(f),
                    _ => None,
                }
            }
            /// The same force while its joint slides in a direction; zero leaves it unchanged.
            pub fn sliding(self, direction: f64) -> Self {
                match self {
                    Force::Friction(f) if direction != 0.0 => Force::Friction(Friction { slides: direction, ..f }),
                    other => other,
                }
            }
            /// The same without the dry part of sticking friction, which a time-stepping method handles.
            pub fn stepped(self) -> Self {
                match self {
                    Force::Friction(f) if f.stick => Force::Friction(Friction { stepped: true, ..f }),
                    other => other,
                }
            }
            /// Its words in files.
            pub fn words(&self) -> &'static Words {
                match self { $(Force::$variant(_) => &<$type as Element>::WORDS,)* Force::Contact(_) | Force::Rub(_) => &CONTACT }
            }
            /// The bodies that it acts on and reads.
            pub fn touches(&self) -> Touches<'_> {
                match self { $(Force::$variant(f) => f.touches(),)* Force::Contact(f) => f.touches(), Force::Rub(f) => f.touches() }
            }
            /// Its expressions, in the order of [`Touches::laws`].
            pub fn laws_mut(&mut self) -> SmallVec<[&mut StateLaw; 3]> {
                match self { $(Force::$variant(f) => f.laws_mut(),)* Force::Contact(_) | Force::Rub(_) => SmallVec::new() }
            }
            /// Its own coordinate and the rate of it, which its expressions may read.
            pub fn own_coordinate(&self, model: &Model, x: &Plain<'_>) -> (f64, f64) {
                match self { $(Force::$variant(f) => f.own_coordinate(model, x),)* Force::Contact(_) | Force::Rub(_) => (0.0, 0.0) }
            }
            /// Number of sides on which it acts only beyond a bound.
            pub fn sides(&self) -> usize {
                match self { $(Force::$variant(f) => f.sides(),)* Force::Contact(f) => f.sides(), Force::Rub(_) => 0 }
            }
            /// Its state on one of these sides.
            pub fn side(&self, model: &Model, x: &Plain<'_>, k: usize) -> Option<Side> {
                match self { $(Force::$variant(f) => f.side(model, x, k),)* Force::Contact(f) => f.side(x, k), Force::Rub(_) => None }
            }
            /// Sets its state on one side to [`doing`], regardless of the gap.
            pub fn set_doing(&mut self, side: usize, doing: i64) {
                match self { $(Force::$variant(f) => f.set_doing(side, doing),)* Force::Contact(f) => f.set_doing(side, doing), Force::Rub(_) => {} }
            }
            /// Adds its wrench: `add(body, force in the world at the centre of mass, torque in body axes)`.
            pub fn wrench<S: Scalar>(&self, model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
                match self { $(Force::$variant(f) => f.wrench(model, x, add),)* Force::Contact(f) => f.wrench(x, add), Force::Rub(f) => f.wrench(x, add) }
            }
            /// Its potential energy, J; elements without a potential have none.
            pub fn potential<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> S {
                match self { $(Force::$variant(f) => f.potential(model, x),)* Force::Contact(f) => f.potential(x), Force::Rub(_) => S::zero() }
            }
            /// Power of its part without a potential, W.
            pub fn power<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> S {
                match self { $(Force::$variant(f) => f.power(model, x),)* Force::Contact(f) => f.power(x), Force::Rub(f) => f.power(x) }
            }
            /// Its energies and virtual power.
            pub fn act<S: Scalar>(&self, model: &Model, name: &str, x: &mut impl Acts<S>) -> Result<(), Diagnostic> {
                match self { $(Force::$variant(f) => f.act(model, name, x),)* Force::Contact(f) => { f.act(x); Ok(()) } Force::Rub(_) => Ok(()) }
            }
            /// Stiffness and damping between its ends, N/m and N s/m, if they are constant.
            pub fn stiffness(&self) -> SmallVec<[(f64, f64); 3]> {
                match self { $(Force::$variant(f) => f.stiffness(),)* Force::Contact(f) => f.stiffness(), Force::Rub(_) => SmallVec::new() }
            }
            /// Rate at which it brings a body of a given weight per mass to rest, 1/s; zero if it does not stick.
            pub fn sticking_rate(&self, gravity: f64) -> f64 {
                match self { $(Force::$variant(f) => f.sticking_rate(gravity),)* Force::Contact(f) => f.sticking_rate(gravity), Force::Rub(_) => 0.0 }
            }
            /// Whether its law is almost constant in most states and changes within a narrow range.
            pub fn saturates(&self) -> bool {
                match self { $(Force::$variant(f) => f.saturates(),)* Force::Contact(_) | Force::Rub(_) => false }
            }
            /// Names and units of its result quantities.
            pub fn quantities(&self, model: &Model) -> Quantities {
                match self { $(Force::$variant(f) => f.quantities(model),)* Force::Contact(_) => Contact::quantities(), Force::Rub(_) => Quantities::new() }
            }
            /// Values of its result quantities, at a state with the loads of joints.
            pub fn values(&self, model: &Model, x: &Plain<'_>) -> Values {
                match self { $(Force::$variant(f) => f.values(model, x),)* Force::Contact(f) => f.values(x), Force::Rub(f) => f.values(x) }
            }
            /// How it is drawn.
            pub fn glyph(&self) -> Glyph {
                match self { $(Force::$variant(f) => f.glyph(),)* Force::Contact(f) => f.glyph(), Force::Rub(f) => f.glyph() }
            }
        }
    };
}

// The list of force elements, in the order of the documentation. A new one needs a file and a line here.
forces! {
    /// Along the line of two points.
    Spring(spring::Spring) as Spring(spring::SpringSpec);
    /// On the angle of a joint.
    Torsion(torsion::Torsion) as Torsion(torsion::TorsionSpec);
    /// At a point.
    Point(point::PointForce) as Force(point::PointForceSpec);
    /// On a body.
    Torque(torque::Torque) as Torque(torque::TorqueSpec);
    /// Along a joint coordinate.
    Actuator(actuator::Actuator) as Actuator(actuator::ActuatorSpec);
    /// Elastic connection in six directions.
    Bushing(bushing::Bushing) as Bushing(bushing::BushingSpec);
    /// In a joint.
    Friction(friction::Friction) as Friction(friction::FrictionSpec);
    /// Along the line of two points, pulling only.
    Rope(rope::Rope) as Rope(rope::RopeSpec);
    /// In a joint, beyond a bound.
    Stop(stop::Stop) as Stop(stop::StopSpec);
}

pub use actuator::{Actuator, ActuatorSpec};
pub use bushing::{Bushing, BushingSpec};
pub use contact::Contact;
pub use friction::{Friction, FrictionSpec};
pub use point::{PointForce, PointForceSpec};
pub use rope::{Rope, RopeSpec};
pub use rub::Rub;
pub use spring::{Spring, SpringSpec};
pub use stop::{Stop, StopSpec};
pub use torque::{Torque, TorqueSpec};
pub use torsion::{Torsion, TorsionSpec};

/// The description of a compliant contact, whose keys are in a separate section.
const CONTACT: Words = Words {
    kind: "contact",
    title: "a contact",
    doc: "Pushes bodies apart where they overlap: stiffness*overlap^exponent*(1 + damping*rate), never negative, with dry friction along the surface.",
    keys: &[],
    own: &[],
};

/// A kind of force in files.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Its words.
    pub words: Words,
    /// Reads it from the values of its keys.
    pub read: fn(&mut dyn Given) -> Option<ForceSpec>,
}

impl Force {
    /// Bodies that it reads or pushes, ground omitted, in order.
    pub fn bodies(&self, model: &Model) -> Vec<usize> {
        let touches = self.touches();
        let mut list: Vec<usize> = touches.places.iter().map(|p| p.body.index()).collect();
        list.extend(touches.turned.iter().map(|b| b.index()));
        let joint = |list: &mut Vec<usize>, j: usize| list.extend(model.joints[j].bodies.map(|b| b.index()));
        touches.joint.into_iter().for_each(|j| joint(&mut list, j));
        list.extend(bodies_read(model, touches.laws.iter().copied()));
        if touches.laws.iter().any(|l| model.reads_state(l)) {
            list.extend(bodies_read(model, model.states.iter().map(|s| &s.rate)));
        }
        sorted(list)
    }
}

/// Bodies whose motion some expressions read, ground omitted, in order.
pub fn bodies_read<'l>(model: &Model, laws: impl IntoIterator<Item = &'l StateLaw>) -> Vec<usize> {
    let mut list = Vec::new();
    for v in laws.into_iter().flat_map(|l| &l.variables) {
        match *v {
            Variable::JointAngle(j) | Variable::JointDistance(j) | Variable::JointSpeed(j) => {
                list.extend(model.joints[j].bodies.map(|b| b.index()));
            }
            Variable::PointPosition(p, _) | Variable::PointVelocity(p, _) => list.push(model.points[p].1.body.index()),
            Variable::BodyPosition(b, _) | Variable::BodyVelocity(b, _) => list.push(b),
            Variable::Time | Variable::Length | Variable::Rate | Variable::Auxiliary(_) => {}
        }
    }
    sorted(list)
}

fn sorted(mut list: Vec<usize>) -> Vec<usize> {
    list.retain(|&b| b != 0);
    list.sort_unstable();
    list.dedup();
    list
}

/// A spring law.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// `stiffness (x - rest) + damping x'`.
    Linear {
        /// Stiffness.
        stiffness: f64,
        /// Coordinate at rest.
        rest: f64,
        /// Damping.
        damping: f64,
    },
    /// An expression.
    Expression(StateLaw),
}

/// An expression over the state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateLaw {
    /// The expression.
    pub expr: Expr,
    /// The quantities read by its variables.
    pub variables: Vec<Variable>,
}

/// The quantity read by a variable of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// Time.
    Time,
    /// The spring's own length or angle.
    Length,
    /// Its rate.
    Rate,
    /// A joint's angle.
    JointAngle(usize),
    /// A joint's distance.
    JointDistance(usize),
    /// Rate of a joint's angle, or of its distance where it has no angle.
    JointSpeed(usize),
    /// Component of a named point's position.
    PointPosition(usize, usize),
    /// Component of a named point's velocity.
    PointVelocity(usize, usize),
    /// An input or a state, by its index in the auxiliary values.
    Auxiliary(usize),
    /// Component of the position of a body's centre of mass.
    BodyPosition(usize, usize),
    /// Component of the velocity of a body's centre of mass.
    BodyVelocity(usize, usize),
}
