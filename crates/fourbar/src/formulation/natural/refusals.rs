//! Elements that natural coordinates do not support, determined from the mechanism alone.

use crate::analysis::contacts::refuse_rigid;
use crate::diagnostic::Diagnostic;
use crate::force::Force;
use crate::joint::Rigid;
use crate::model::Model;
use crate::time::TimeFunction;
use fourbar_dae::{Node, Tape};

/// Whether natural coordinates apply to a mechanism, and if not, why.
pub fn applies(model: &Model) -> Result<(), Diagnostic> {
    if let Some(r) = model.rolling.first() {
        return Err(Diagnostic::new(
            "S280",
            format!("`{}` constrains velocities, which has no place in a Lagrangian with constraints C(t, q)", r.name),
        )
        .name(r.name.clone())
        .at(format!("constraints.{}", r.name))
        .help("use formulation `ra`"));
    }
    if all_fixed(model) {
        return Err(nothing_moves());
    }
    for j in model.joints.iter().filter(|j| !j.open) {
        if let Some(why) = j.kind.shared().refused {
            return Err(Diagnostic::new("S291", format!("joint `{}` {why}", j.name))
                .name(j.name.clone())
                .at(format!("joints.{}", j.name))
                .help("use formulation `ra`, or leave the choice to `auto`"));
        }
    }
    refuse_rigid(model)?;
    for (name, force) in &model.forces {
        if let Force::Contact(contact) = force
            && !contact.is_recordable()
        {
            let n = contact.law.n;
            let (why, help) = if n.fract() != 0.0 {
                (
                    format!("grows with the power {n} of the overlap, which has no Taylor series where bodies begin to touch"),
                    "give it a whole `exponent`, or use another formulation",
                )
            } else {
                ("searches for the place where bodies touch, which a Taylor series cannot follow".to_string(), "use another formulation")
            };
            return Err(Diagnostic::new("S321", format!("contact `{name}` {why}"))
                .name(name)
                .at(format!("contacts.{name}"))
                .help(format!("{help}: `ra`, `lie`, `grcr` and `dca` support it")));
        }
        if let Force::Stop(stop) = force
            && stop.exponent.fract() != 0.0
        {
            return Err(Diagnostic::new(
                "S300",
                format!(
                    "the springy limit `{name}` grows with the power {} of the depth, which has no Taylor series where it begins to act",
                    stop.exponent
                ),
            )
            .name(name)
            .help("give it a whole `exponent`, use formulation `ra` or `grcr`, or leave the choice to `auto`"));
        }
        let touches = force.touches();
        if let Some(joint) = touches.loaded_joint() {
            let joint = &model.joints[joint].name;
            return Err(Diagnostic::new(
                "S282",
                format!(
                    "friction `{name}` depends on the load of joint `{joint}`; in natural coordinates the bodies of a joint share its points, and no unknown is its load"
                ),
            )
            .names([name.clone(), joint.clone()])
            .at(format!("forces.{name}"))
            .help("use formulation `ra`, or state the friction as an actuator that depends on the joint's speed"));
        }
        for law in touches.laws {
            without_jumps("forces", name, law.variables.len(), |x| law.expr.eval(x))?;
        }
    }
    let drives = model.drives.iter().map(|d| ("drives", &d.name, &d.value));
    let bare = model.bare.iter().map(|b| ("constraints", &b.name, &b.value));
    for (section, name, f) in drives.chain(bare) {
        let (expression, count) = match f {
            TimeFunction::Value(e) => (e, 1),
            TimeFunction::Integral(i) => (i.rate(), 1 + i.inputs().len()),
        };
        without_jumps(section, name, count, |x| expression.eval(x))?;
    }
    for s in &model.states {
        without_jumps("states", &s.name, s.rate.variables.len(), |x| s.rate.expr.eval(x))?;
    }
    Ok(())
}

/// Without coordinates there is no motion to compute.
pub(super) fn nothing_moves() -> Diagnostic {
    Diagnostic::new("S290", "natural coordinates have nothing to compute: every body is fixed to the ground, which leaves no coordinate")
        .help("use formulation `ra` for the reactions of a mechanism at rest")
}

/// Whether fixed joints hold every body to the ground.
fn all_fixed(model: &Model) -> bool {
    let fixed = || model.joints.iter().filter(|j| !j.open && j.kind.shared().rigid == Rigid::Welded);
    // Most mechanisms return here: bodies held by fixed joints alone are rare.
    if fixed().count() < model.moving() {
        return false;
    }
    let mut held = vec![false; model.bodies.len()];
    held[0] = true;
    loop {
        let before = held.iter().filter(|h| **h).count();
        for [a, b] in fixed().map(|j| j.bodies.map(|b| b.index())) {
            let either = held[a] || held[b];
            (held[a], held[b]) = (either, either);
        }
        if held.iter().filter(|h| **h).count() == before {
            return before == held.len();
        }
    }
}

/// Refuses an expression of `n` variables whose jumps cannot be located in advance.
fn without_jumps(section: &str, name: &str, n: usize, f: impl FnOnce(&[Node]) -> Node) -> Result<(), Diagnostic> {
    let (tape, _) = Tape::record_around(0.0, || {
        let x: Vec<Node> = (0..n).map(|_| Node::variable(0.5, 0.0)).collect();
        f(&x)
    });
    match tape.refused().first() {
        None => Ok(()),
        Some(what) => Err(Diagnostic::new("S283", format!("`{name}` uses {what}, whose jumps a Taylor series cannot follow"))
            .name(name)
            .at(format!("{section}.{name}"))
            .help("use formulation `ra`, or write it with `step`, `if`, `min` and `max`")),
    }
}
