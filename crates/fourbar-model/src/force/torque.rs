//! A torque on a body.

use super::StateLaw;
use super::element::*;
use super::eval::{Plain, States, law_value};
use crate::build::Resolve;
use crate::diagnostic::Diagnostic;
use crate::expr::Dimension;
use crate::model::{BodyId, Model};
use crate::spec::{ForceFrame, StateExpr};
use fourbar_math::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// A torque as specified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TorqueSpec {
    /// The body, by name.
    pub body: String,
    /// Components.
    pub torque: [StateExpr; 3],
    /// Frame of the components.
    pub frame: ForceFrame,
}

/// A torque on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Torque {
    /// The body.
    pub body: BodyId,
    /// Components.
    pub torque: [StateLaw; 3],
    /// Frame of the components.
    pub frame: ForceFrame,
}

impl Torque {
    fn components<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> Vector3<S> {
        Vector3::from_fn(|k, _| law_value(model, &self.torque[k], x, (S::zero(), S::zero())))
    }
    /// The torque in body axes.
    fn own<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> Vector3<S> {
        let T = self.components(model, x);
        if self.frame == ForceFrame::World { x.pose(self.body.index()).A.tr_mul(&T) } else { T }
    }
}

impl Element for Torque {
    type Spec = TorqueSpec;
    const WORDS: Words = Words {
        kind: "torque",
        title: "a torque",
        doc: "A torque on a body.",
        keys: &[
            may("body", Holds::Body, "the body"),
            may("on", Holds::Place, "instead of `body`: `{body: NAME}`"),
            PLACE,
            need("torque", Holds::Expressions(Dimension::TORQUE), "components"),
            FRAME,
        ],
        own: &[],
    };

    fn read(x: &mut dyn Given) -> Option<TorqueSpec> {
        Some(TorqueSpec { body: x.acting_body()?, torque: x.expressions("torque")?, frame: frame_given(x) })
    }

    fn write(spec: &TorqueSpec, out: &mut dyn Spelling) {
        out.word("body", &spec.body);
        out.expressions("torque", &spec.torque);
        spell_frame(out, spec.frame);
    }

    fn build(spec: &TorqueSpec, b: &mut Resolve<'_, '_>) -> Option<Self> {
        let body = b.body(&spec.body);
        let torque = b.laws("torque", &spec.torque);
        Some(Self { body: body?, torque: torque?, frame: spec.frame })
    }

    fn touches(&self) -> Touches<'_> {
        Touches { turned: smallvec![self.body], laws: self.torque.iter().collect(), ..Touches::default() }
    }

    fn laws_mut(&mut self) -> SmallVec<[&mut StateLaw; 3]> {
        self.torque.iter_mut().collect()
    }

    fn wrench<S: Scalar>(&self, model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        add(self.body.index(), Vector3::zeros(), self.own(model, x));
    }

    fn act<S: Scalar>(&self, model: &Model, _name: &str, x: &mut impl Acts<S>) -> Result<(), Diagnostic> {
        let T = self.components(model, &*x);
        x.twists(self.body, T, self.frame);
        Ok(())
    }

    fn quantities(&self, _model: &Model) -> Quantities {
        let mut list = SmallVec::from_slice(&vector!("torque", "N*m"));
        list.push(("power", "W"));
        list
    }

    fn values(&self, model: &Model, x: &Plain<'_>) -> Values {
        let own = self.own(model, x);
        let T = x.pose(self.body.index()).A * own;
        smallvec![T.x, T.y, T.z, own.dot(&x.velocity(self.body.index()).w)]
    }

    fn glyph(&self) -> Glyph {
        Glyph::Body(self.body)
    }
}
