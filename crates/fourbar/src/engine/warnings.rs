//! Warnings before a run.

use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::schur::lightest_and_heaviest;

/// Mass ratios above this cost digits, since they weight squared distances from dependence.
const MASS_RATIO: f64 = 1e9;

/// Warning about a light body connected to a much heavier one.
pub fn mass_warning(model: &Model) -> Option<Diagnostic> {
    let ratio = |[light, heavy]: [usize; 2]| model.bodies[heavy].mass / model.bodies[light].mass;
    let [light, heavy] =
        lightest_and_heaviest(model).into_iter().skip(1).filter(|e| e[0] != 0).max_by(|a, b| ratio(*a).total_cmp(&ratio(*b)))?;
    let names = [light, heavy].map(|b| model.bodies[b].name.clone());
    (ratio([light, heavy]) > MASS_RATIO).then(|| {
        Diagnostic::new("W282", format!("`{}` is {:.0e} times as heavy as `{}`, with which joints connect it: rounding of the heavy one's motion is of the size of the light one's forces", names[1], ratio([light, heavy]), names[0]))
            .names(names)
            .help("compare with `fourbar verify`; `grcr`, `dca` and `natural` keep more digits there than the others. Remove a negligible mass: a `distance` joint is a rod without a body")
    })
}

/// Warning about load-dependent friction on a reaction that is not unique, which has no definite value.
pub fn friction_warning(model: &Model, not_unique: &[(String, Vec<String>)]) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    for (name, f) in &model.forces {
        if let Some(joint) = f.touches().loaded_joint() {
            let joint = &model.joints[joint].name;
            let forces = not_unique.iter().find(|(j, c)| j == joint && c.iter().any(|c| c.starts_with("force")));
            if forces.is_some() {
                list.push(
                    Diagnostic::new("W230", format!("friction `{name}` depends on the load of joint `{joint}`, which is not unique: the mechanism is over-constrained there"))
                        .names([name.clone(), joint.clone()])
                        .help("every formulation distributes such loads differently, so that motions may differ; remove the redundancy (make a hinge spherical or cylindrical) or define friction that does not depend on the load"),
                );
            }
        }
    }
    list
}
