//! Forces of a draft: formulas, actuators, springs, damping and friction of joints.

use super::super::draft::*;
use super::super::reading::Spot;
use super::Lowering;
use fourbar::Diagnostic;
use fourbar::expr::{Expr, Symbol};
use fourbar::spec::*;

/// Speed at which dry friction is half of its full value, rad/s or m/s.
const DRY_SPEED: f64 = 0.01;

impl Lowering<'_, '_> {
    /// A formula in the coordinates of the source, expressed in those of the specification.
    fn shifted(&self, text: &str) -> String {
        if self.shifts.is_empty() {
            return text.into();
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.') {
            out += &rest[..start];
            rest = &rest[start..];
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            match word.strip_prefix('q').and_then(|k| k.parse().ok()).and_then(|k: usize| self.shifts.get(&k)) {
                Some(shift) => out += &format!("({word}+({shift:?}))"),
                None => out += word,
            }
            rest = after;
        }
        out + rest
    }

    /// Converts a formula of the draft, see [`Effort`].
    pub(super) fn formula(&self, draft: &Draft, text: &str, spot: Spot) -> StateExpr {
        let mut variables: Vec<StateVariable> = Vec::new();
        let text = &self.shifted(text);
        let parsed = Expr::parse(text, &mut |word| {
            let variable = match word.split_at_checked(1) {
                _ if word == "t" => StateVariable::Time,
                _ if word == "length" => StateVariable::Length,
                _ if word == "rate" => StateVariable::Rate,
                Some((letter, index)) => {
                    let k: usize = index.parse().ok()?;
                    let joint = || self.joints.get(k).filter(|n| !n.is_empty()).cloned();
                    match letter {
                        "q" if draft.joints.get(k)?.turns() == Some(true) => StateVariable::JointAngle(joint()?),
                        "q" => StateVariable::JointDistance(joint()?),
                        "v" => StateVariable::JointSpeed(joint()?),
                        "i" => StateVariable::Auxiliary(self.inputs.get(k)?.clone()),
                        "s" => StateVariable::Auxiliary(self.states.get(k)?.clone()),
                        _ => return None,
                    }
                }
                None => return None,
            };
            let k = variables.iter().position(|v| *v == variable).unwrap_or_else(|| {
                variables.push(variable);
                variables.len() - 1
            });
            Some(Symbol::Variable(k as u32))
        });
        match parsed {
            Ok(expr) => {
                variables.shrink_to_fit();
                StateExpr { expr, variables }
            }
            Err(e) => {
                let d = Diagnostic::new("W450", format!("a formula is not converted: {} in `{text}`", e.kind));
                self.reading.note(d, spot);
                StateExpr::constant(0.0)
            }
        }
    }

    pub(super) fn forces(&mut self, draft: &mut Draft) {
        for k in 0..draft.joints.len() {
            if !self.joints[k].is_empty() {
                self.passive(draft, k);
            }
        }
        for e in std::mem::take(&mut draft.efforts) {
            let force: Vec<(&str, ForceSpec)> = match &e.acts {
                Acts::Joint(joint, _) if self.joints[*joint].is_empty() => Vec::new(),
                Acts::Joint(joint, formula) => {
                    let effort = self.formula(draft, formula, e.spot);
                    vec![("motor", ForceSpec::Actuator(ActuatorSpec { joint: self.joints[*joint].clone(), effort }))]
                }
                Acts::Link(0, ..) => Vec::new(),
                Acts::Link(link, at, force, torque) => {
                    let body = self.bodies[*link].clone();
                    let mut list = Vec::new();
                    if force.iter().any(|f| f != "0") {
                        let force = [0, 1, 2].map(|i| self.formula(draft, &force[i], e.spot));
                        let on = Place { body: body.clone(), at: At::Body(*at) };
                        list.push(("force", ForceSpec::Force(PointForceSpec { on, force, frame: ForceFrame::Body })));
                    }
                    if torque.iter().any(|f| f != "0") {
                        let torque = [0, 1, 2].map(|i| self.formula(draft, &torque[i], e.spot));
                        list.push(("torque", ForceSpec::Torque(TorqueSpec { body, torque, frame: ForceFrame::Body })));
                    }
                    list
                }
                Acts::Spring(links, at, formula) => {
                    let between = [0, 1].map(|k| Place { body: self.bodies[links[k]].clone(), at: At::Body(at[k]) });
                    let law = SpringLaw::Expression(self.formula(draft, formula, e.spot));
                    vec![("spring", ForceSpec::Spring(SpringSpec { between, law, mass: 0.0 }))]
                }
            };
            for (suffix, force) in force {
                let name = self.name("forces", &e.name, suffix, e.spot);
                self.spec.forces.push((name, force));
            }
        }
    }

    /// Springs, damping and friction of a joint.
    fn passive(&mut self, draft: &Draft, k: usize) {
        let j = &draft.joints[k];
        let Passive { stiffness, rest, damping, dry, .. } = j.passive;
        let joint = self.joints[k].clone();
        match j.turns() {
            Some(true) if stiffness != 0.0 || damping != 0.0 => {
                let name = self.name("forces", &format!("{joint}_spring"), "force", j.spot);
                let law = SpringLaw::Linear { stiffness, rest, damping };
                self.spec.forces.push((name, ForceSpec::Torsion(TorsionSpec { joint: joint.clone(), law })));
            }
            Some(false) if stiffness != 0.0 || damping != 0.0 => {
                let name = self.name("forces", &format!("{joint}_spring"), "force", j.spot);
                let effort = self.formula(
                    draft,
                    &format!("-({stiffness:?})*(q{k}-({:?}))-({damping:?})*v{k}", rest + self.shifts.get(&k).unwrap_or(&0.0)),
                    j.spot,
                );
                self.spec.forces.push((name, ForceSpec::Actuator(ActuatorSpec { joint: joint.clone(), effort })));
            }
            None if j.kind != Kind::Pair(PairKind::Spherical) && (stiffness != 0.0 || damping != 0.0) => {
                let message =
                    format!("the spring and the damping of `{joint}` are not converted: a joint of this kind has no single coordinate");
                let d = Diagnostic::new("W450", message).name(&joint);
                self.reading.note(d.help("the joint moves without them"), j.spot);
            }
            None if stiffness != 0.0 || damping != 0.0 => {
                let name = self.name("forces", &format!("{joint}_spring"), "force", j.spot);
                let between = [0, 1].map(|i| Place { body: self.bodies[j.links[i]].clone(), at: At::Body(j.frames[i].p.into()) });
                let both = |x: f64| [0.0, 0.0, 0.0, x, x, x];
                let spec = BushingSpec { between, frame: Orientation::World, stiffness: both(stiffness), damping: both(damping) };
                self.spec.forces.push((name, ForceSpec::Bushing(spec)));
            }
            _ => {}
        }
        if dry != 0.0 && j.turns().is_some() {
            let name = self.name("forces", &format!("{joint}_friction"), "force", j.spot);
            let effort = self.formula(draft, &format!("-({dry:?})*tanh(v{k}/{DRY_SPEED:?})"), j.spot);
            self.spec.forces.push((name, ForceSpec::Actuator(ActuatorSpec { joint: joint.clone(), effort })));
            let message = format!("dry friction of `{joint}` is smoothed: it grows over {DRY_SPEED} rad/s or m/s and does not stick");
            self.reading.note(Diagnostic::new("W458", message).name(&joint), j.spot);
        }
    }
}
