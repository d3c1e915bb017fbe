//! A force at a point of a body.

use super::StateLaw;
use super::element::*;
use super::eval::{Plain, States, law_value, push_at};
use crate::build::Resolve;
use crate::diagnostic::Diagnostic;
use crate::expr::Dimension;
use crate::model::{Model, PointOn};
use crate::spec::{ForceFrame, Place, StateExpr};
use fourbar_math::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// A force at a point as specified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointForceSpec {
    /// Where it acts.
    pub on: Place,
    /// Components.
    pub force: [StateExpr; 3],
    /// Frame of the components.
    pub frame: ForceFrame,
}

/// A force at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointForce {
    /// Where.
    pub on: PointOn,
    /// Components.
    pub force: [StateLaw; 3],
    /// Frame of the components.
    pub frame: ForceFrame,
}

impl PointForce {
    /// The force in the world.
    fn world<S: Scalar>(&self, model: &Model, x: &impl States<S>) -> Vector3<S> {
        let F = Vector3::from_fn(|k, _| law_value(model, &self.force[k], x, (S::zero(), S::zero())));
        if self.frame == ForceFrame::Body { x.pose(self.on.body.index()).A * F } else { F }
    }
}

impl Element for PointForce {
    type Spec = PointForceSpec;
    const WORDS: Words = Words {
        kind: "force",
        title: "a force",
        doc: "A force at a place, or at the centre of mass of a `body`.",
        keys: &[
            may("on", Holds::Place, "where it acts"),
            PLACE,
            may("body", Holds::Body, "instead of `on`: acts at the centre of mass"),
            need("force", Holds::Expressions(Dimension::FORCE), "components"),
            FRAME,
        ],
        own: &[],
    };

    fn read(x: &mut dyn Given) -> Option<PointForceSpec> {
        Some(PointForceSpec { on: x.acting_place()?, force: x.expressions("force")?, frame: frame_given(x) })
    }

    fn write(spec: &PointForceSpec, out: &mut dyn Spelling) {
        out.place("on", &spec.on);
        out.expressions("force", &spec.force);
        spell_frame(out, spec.frame);
    }

    fn build(spec: &PointForceSpec, b: &mut Resolve<'_, '_>) -> Option<Self> {
        let on = b.place("on", &spec.on);
        let force = b.laws("force", &spec.force);
        Some(Self { on: on?, force: force?, frame: spec.frame })
    }

    fn touches(&self) -> Touches<'_> {
        let turned = if self.frame == ForceFrame::Body { smallvec![self.on.body] } else { smallvec![] };
        Touches { places: smallvec![self.on], turned, laws: self.force.iter().collect(), ..Touches::default() }
    }

    fn laws_mut(&mut self) -> SmallVec<[&mut StateLaw; 3]> {
        self.force.iter_mut().collect()
    }

    fn wrench<S: Scalar>(&self, model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        push_at(&self.on, self.world(model, x), x, add);
    }

    fn act<S: Scalar>(&self, model: &Model, _name: &str, x: &mut impl Acts<S>) -> Result<(), Diagnostic> {
        let F = self.world(model, &*x);
        let (_, v) = x.place(&self.on);
        (0..3).for_each(|k| x.works(v[k], F[k]));
        Ok(())
    }

    fn quantities(&self, _model: &Model) -> Quantities {
        let mut list = SmallVec::from_slice(&vector!("force", "N"));
        list.push(("power", "W"));
        list
    }

    fn values(&self, model: &Model, x: &Plain<'_>) -> Values {
        let F = self.world(model, x);
        let (_, v) = x.place(&self.on);
        smallvec![F.x, F.y, F.z, F.dot(&v)]
    }

    fn glyph(&self) -> Glyph {
        let [x, y, z] = &self.force;
        let constant = || Some([x.expr.constant_value()?, y.expr.constant_value()?, z.expr.constant_value()?]);
        // A constant arrow would misrepresent a changing force.
        Glyph::Arrow { on: self.on, vector: constant(), frame: self.frame }
    }
}
