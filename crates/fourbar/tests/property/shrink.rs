//! Reduces a mechanism as far as possible while it still violates a law.

use fourbar::spec::*;

/// Largest number of trials, so that slow mechanisms end too.
const TRIES: usize = 300;

/// Removes forces, joints, bodies and velocities one by one as long as `fails` remains true.
pub fn shrink(spec: &ModelSpec, fails: impl Fn(&ModelSpec) -> bool) -> ModelSpec {
    let mut best = spec.clone();
    let mut tries = 0;
    loop {
        let smaller = candidates(&best).into_iter().find(|s| {
            tries += 1;
            tries <= TRIES && s.build().is_ok() && fails(s)
        });
        match smaller {
            Some(s) => best = s,
            None => return best,
        }
    }
}

/// Mechanisms with one element removed, large elements first.
fn candidates(spec: &ModelSpec) -> Vec<ModelSpec> {
    let mut list = Vec::new();
    for k in (0..spec.bodies.len()).rev() {
        list.extend(without_body(spec, k));
    }
    for k in (0..spec.joints.len()).rev() {
        let mut s = spec.clone();
        let (name, _) = s.joints.remove(k);
        s.forces.retain(|(_, f)| !matches!(f, ForceSpec::Torsion(TorsionSpec { joint, .. }) if *joint == name));
        list.push(s);
    }
    for k in (0..spec.forces.len()).rev() {
        let mut s = spec.clone();
        s.forces.remove(k);
        list.push(s);
    }
    for k in 0..spec.bodies.len() {
        let b = &spec.bodies[k].1;
        for (v, w) in [([0.0; 3], b.omega), (b.velocity, [0.0; 3])] {
            if (v, w) != (b.velocity, b.omega) {
                let mut s = spec.clone();
                (s.bodies[k].1.velocity, s.bodies[k].1.omega) = (v, w);
                list.push(s);
            }
        }
    }
    if spec.gravity.is_some_and(|g| g != [0.0; 3]) {
        list.push(ModelSpec { gravity: Some([0.0; 3]), ..spec.clone() });
    }
    list
}

/// A mechanism without a body and all elements connected to it.
fn without_body(spec: &ModelSpec, k: usize) -> Option<ModelSpec> {
    if spec.bodies.len() < 2 {
        return None;
    }
    let mut s = spec.clone();
    let (name, _) = s.bodies.remove(k);
    let mut gone: Vec<String> = Vec::new();
    s.joints.retain(|(joint, j)| {
        let touches = match j {
            JointSpec::Pair { bodies, .. } | JointSpec::Angle { bodies, .. } => bodies.contains(&name),
            JointSpec::Distance { from, to, .. } => from.body == name || to.body == name,
            _ => false,
        };
        if touches {
            gone.push(joint.clone());
        }
        !touches
    });
    s.forces.retain(|(_, f)| match f {
        ForceSpec::Spring(SpringSpec { between, .. }) => between.iter().all(|p| p.body != name),
        ForceSpec::Force(PointForceSpec { on, .. }) => on.body != name,
        ForceSpec::Torsion(TorsionSpec { joint, .. }) => !gone.contains(joint),
        _ => true,
    });
    Some(s)
}
