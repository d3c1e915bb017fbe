//! Random mechanisms for tests: trees and loops, planar and spatial, with random masses, frames, springs and velocities.
//!
//! Bodies are placed at random and joints are added at their positions, so that every loop is closed by construction; a third of them is
//! then drawn inexactly, with exact frames on the bodies, so that assembly has to close it. The same seed gives the same mechanism.

use fourbar::random::Random;
use fourbar::spec::*;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};

type V = Vector3<f64>;

/// The kind of random mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Moving bodies.
    pub bodies: usize,
    /// Largest number of joints that close loops.
    pub loops: usize,
    /// Whether all joints are planar in a common plane.
    pub planar: bool,
    /// Whether nothing is joined to the ground, and gravity is zero.
    pub floating: bool,
    /// Whether energy is conserved: no dampers and no follower forces.
    pub conservative: bool,
    /// Whether bodies are drawn inexactly.
    pub rough: bool,
}

impl Recipe {
    /// A recipe by seed.
    pub fn of(seed: u64) -> Self {
        let mut r = source(seed ^ 0x5eed);
        let bodies = 2 + below(&mut r, 4);
        Self {
            bodies,
            loops: below(&mut r, 3),
            planar: below(&mut r, 3) == 0,
            floating: below(&mut r, 4) == 0,
            conservative: below(&mut r, 2) == 0,
            rough: below(&mut r, 3) == 0,
        }
    }
}

fn source(seed: u64) -> Random {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    // The first numbers of neighbouring seeds are similar, so they are discarded.
    for _ in 0..8 {
        r.number();
    }
    r
}

/// An integer below `n`.
fn below(r: &mut Random, n: usize) -> usize {
    (((r.number() + 1.0) * 0.5 * n as f64) as usize).min(n - 1)
}

fn between(r: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * (r.number() + 1.0) * 0.5
}

fn unit(r: &mut Random) -> V {
    loop {
        let v = r.vector();
        let n = v.norm();
        if n > 0.1 && n < 1.0 {
            return v / n;
        }
    }
}

/// A direction perpendicular to `d`.
fn across(r: &mut Random, d: &V) -> V {
    loop {
        let v = d.cross(&unit(r));
        if v.norm() > 0.3 {
            return v.normalize();
        }
    }
}

fn three(v: &V) -> V3 {
    [v.x, v.y, v.z]
}

/// Rows of a rotation matrix.
pub fn matrix(A: &Matrix3<f64>) -> Orientation {
    Orientation::Matrix(std::array::from_fn(|i| std::array::from_fn(|j| A[(i, j)])))
}

/// A body under construction: pose of its frame.
struct Thrown {
    at: V,
    A: Matrix3<f64>,
    com: V,
    /// Tree: parent (0 is the ground) and freedoms of the joint to it.
    parent: usize,
    freedoms: usize,
}

/// Freedoms of a type of joint.
fn freedoms(kind: PairKind) -> usize {
    match kind {
        PairKind::Revolute | PairKind::Prismatic | PairKind::Screw { .. } => 1,
        PairKind::Cylindrical | PairKind::Universal => 2,
        PairKind::Spherical | PairKind::Planar => 3,
        PairKind::PointOnLine => 4,
        PairKind::PointOnPlane => 5,
        PairKind::Fixed => 0,
    }
}

/// Generates a mechanism.
pub fn mechanism(recipe: &Recipe, seed: u64) -> ModelSpec {
    let mut r = source(seed);
    let normal = unit(&mut r);
    let mut spec = ModelSpec { title: format!("random mechanism {seed}"), ..ModelSpec::default() };
    spec.gravity = Some(if recipe.floating { [0.0; 3] } else { three(&(unit(&mut r) * between(&mut r, 2.0, 10.0))) });
    spec.study = StudySpec { analysis: Some("dynamics".into()), t_end: 0.4, output_step: Some(0.1), ..StudySpec::default() };
    let mut bodies = vec![Thrown { at: V::zeros(), A: Matrix3::identity(), com: V::zeros(), parent: 0, freedoms: 0 }];
    for k in 1..=recipe.bodies {
        // A floating mechanism is connected through its first body.
        let parent = if recipe.floating { if k == 1 { 0 } else { 1 + below(&mut r, k - 1) } } else { below(&mut r, k) };
        let root = recipe.floating && k == 1;
        let pin = bodies[parent].at + in_plane(&mut r, recipe, &normal, if parent == 0 { 1.0 } else { 0.6 });
        let com_world = pin + in_plane(&mut r, recipe, &normal, 0.5);
        let A = so3::exp(&(unit(&mut r) * between(&mut r, 0.0, 3.0)));
        let at = pin + unit(&mut r) * between(&mut r, 0.0, 0.3);
        let mut freedoms_here = 6;
        if !root {
            let kind = if recipe.planar {
                [PairKind::Revolute, PairKind::Revolute, PairKind::Revolute, PairKind::Prismatic][below(&mut r, 4)]
            } else {
                [
                    PairKind::Revolute,
                    PairKind::Revolute,
                    PairKind::Spherical,
                    PairKind::Universal,
                    PairKind::Cylindrical,
                    PairKind::Prismatic,
                ][below(&mut r, 6)]
            };
            freedoms_here = freedoms(kind);
            let joint = placed(&mut r, kind, [parent, k], &pin, recipe.planar.then_some(&normal));
            spec.joints.push((format!("j{k}"), joint));
        }
        bodies.push(Thrown { at, A, com: A.tr_mul(&(com_world - at)), parent, freedoms: freedoms_here });
        spec.bodies.push((name(k), body(&mut r, &bodies[k])));
    }
    let mut closed = Vec::new();
    for k in 0..recipe.loops {
        close(&mut r, recipe, &mut spec, &bodies, &mut closed, &normal, k);
    }
    forces(&mut r, recipe, &mut spec);
    if recipe.rough {
        rough(&mut r, &mut spec, &bodies);
    }
    spec
}

/// `ground`, or the name of a body.
fn name(k: usize) -> String {
    if k == 0 { "ground".into() } else { format!("b{k}") }
}

fn in_plane(r: &mut Random, recipe: &Recipe, normal: &V, far: f64) -> V {
    let d = if recipe.planar { across(r, normal) } else { unit(r) };
    d * between(r, 0.4 * far, far)
}

fn body(r: &mut Random, b: &Thrown) -> BodySpec {
    let mass = between(r, 0.2, 2.0);
    // Principal values of any three positive second moments satisfy the triangle inequality.
    let [x, y, z] = std::array::from_fn(|_| mass * between(r, 0.01, 0.08));
    let R = so3::exp(&r.vector());
    let J = R * Matrix3::from_diagonal(&V::new(y + z, z + x, x + y)) * R.transpose();
    BodySpec {
        mass,
        inertia: Inertia::Tensor([J[(0, 0)], J[(1, 1)], J[(2, 2)], J[(0, 1)], J[(0, 2)], J[(1, 2)]]),
        at: three(&b.at),
        orientation: matrix(&b.A),
        com: three(&b.com),
        velocity: three(&r.vector()),
        omega: three(&(r.vector() * 2.0)),
        shapes: Vec::new(),
    }
}

/// A joint at the current positions of its bodies; in planar mechanisms its axis is the normal, or lies in the plane for a slide.
fn placed(r: &mut Random, kind: PairKind, bodies: [usize; 2], at: &V, normal: Option<&V>) -> JointSpec {
    let axis = match (normal, kind) {
        (Some(n), PairKind::Prismatic) => across(r, n),
        (Some(n), _) => *n,
        (None, _) => unit(r),
    };
    let axis_moving = (kind == PairKind::Universal).then(|| three(&across(r, &axis)));
    let placement = Placement::World { at: three(at), axis: three(&axis), axis_moving };
    JointSpec::Pair { kind, bodies: bodies.map(name), placement }
}

/// Closes a loop if the chain between two bodies has enough freedoms. `closed` contains the loops so far: the bodies whose joints to their
/// parents they include, and the freedoms they removed, which are no longer available to a loop over the same joints.
fn close(
    r: &mut Random,
    recipe: &Recipe,
    spec: &mut ModelSpec,
    bodies: &[Thrown],
    closed: &mut Vec<(Vec<usize>, usize)>,
    normal: &V,
    k: usize,
) {
    let n = bodies.len();
    for _ in 0..20 {
        let (mut a, mut b) = (below(r, n), below(r, n));
        if recipe.floating && (a == 0 || b == 0) {
            continue;
        }
        let ends = [a, b];
        // Freedoms and joints along the tree between them.
        let mut chain = Vec::new();
        while a != b {
            let deeper = if a > b { &mut a } else { &mut b };
            chain.push(*deeper);
            *deeper = bodies[*deeper].parent;
        }
        if chain.len() < 2 {
            continue;
        }
        let shared = closed.iter().filter(|(other, _)| other.iter().any(|b| chain.contains(b)));
        let taken: usize = shared.map(|(_, taken)| taken).sum();
        let spare = chain.iter().map(|&b| bodies[b].freedoms).sum::<usize>().saturating_sub(taken);
        let [i, j] = ends;
        let at = (bodies[i].at + bodies[j].at) * 0.5 + unit(r) * 0.2;
        let joint = if recipe.planar {
            (spare >= 3).then(|| (placed(r, PairKind::Revolute, ends, &at, Some(normal)), 2))
        } else if spare >= 7 && below(r, 2) == 0 {
            Some((placed(r, PairKind::Revolute, ends, &at, None), 5))
        } else if spare >= 4 {
            Some((placed(r, PairKind::Spherical, ends, &at, None), 3))
        } else if spare >= 2 {
            let place = |k: usize, at: V| Place { body: name(k), at: At::World(three(&at)) };
            let there = bodies[j].at + unit(r) * 0.2;
            Some((JointSpec::Distance { from: place(i, at), to: place(j, there), length: None }, 1))
        } else {
            None
        };
        if let Some((joint, takes)) = joint {
            spec.joints.push((format!("close{k}"), joint));
            closed.push((chain, takes));
            return;
        }
    }
}

fn forces(r: &mut Random, recipe: &Recipe, spec: &mut ModelSpec) {
    let n = recipe.bodies;
    for k in 0..1 + below(r, 2) {
        let (a, b) = (below(r, n + 1), 1 + below(r, n));
        if a == b || (recipe.floating && a == 0) {
            continue;
        }
        let mut place = |k: usize| Place { body: name(k), at: At::Body(three(&(r.vector() * 0.4))) };
        let between_ = [place(a), place(b)];
        let damping = if recipe.conservative { 0.0 } else { between(r, 0.1, 1.0) };
        let law = SpringLaw::Linear { stiffness: between(r, 5.0, 40.0), rest: between(r, 0.2, 0.6), damping };
        spec.forces.push((format!("spring{k}"), ForceSpec::Spring(SpringSpec { between: between_, law, mass: 0.0 })));
    }
    let hinge = spec.joints.iter().find(|(_, j)| matches!(j, JointSpec::Pair { kind: PairKind::Revolute, .. })).map(|(n, _)| n.clone());
    if let Some(joint) = hinge.filter(|_| below(r, 2) == 0) {
        let damping = if recipe.conservative { 0.0 } else { between(r, 0.01, 0.1) };
        let law = SpringLaw::Linear { stiffness: between(r, 0.5, 3.0), rest: 0.0, damping };
        spec.forces.push(("torsion".into(), ForceSpec::Torsion(TorsionSpec { joint, law })));
    }
    if !recipe.conservative && !recipe.floating {
        let force = std::array::from_fn(|_| StateExpr::constant(r.number()));
        let on = Place { body: name(1 + below(r, n)), at: At::Body(three(&(r.vector() * 0.2))) };
        spec.forces.push(("push".into(), ForceSpec::Force(PointForceSpec { on, force, frame: ForceFrame::Body })));
    }
}

/// Replaces world positions by exact frames on the bodies, then displaces the drawn bodies slightly.
fn rough(r: &mut Random, spec: &mut ModelSpec, bodies: &[Thrown]) {
    let index = |n: &str| n.strip_prefix('b').and_then(|k| k.parse::<usize>().ok()).unwrap_or(0);
    for (_, joint) in &mut spec.joints {
        match joint {
            JointSpec::Pair { bodies: ends, placement, .. } => {
                let Placement::World { at, axis, axis_moving } = placement.clone() else { continue };
                let z = [V::from(axis).normalize(), axis_moving.map_or(V::from(axis), V::from).normalize()];
                let x = across(r, &z[0]);
                let frame = |side: usize| {
                    let b = &bodies[index(&ends[side])];
                    // A universal joint has no angle coordinate, so its frames need no common x axis.
                    let x = if axis_moving.is_some() { None } else { Some(three(&b.A.tr_mul(&x))) };
                    FrameSpec { at: three(&b.A.tr_mul(&(V::from(at) - b.at))), axis: three(&b.A.tr_mul(&z[side])), x }
                };
                *placement = Placement::Frames { base: frame(0), moving: frame(1) };
            }
            JointSpec::Distance { from, to, length } => {
                let world = |p: &Place| match p.at {
                    At::World(x) => V::from(x),
                    At::Body(x) => bodies[index(&p.body)].at + bodies[index(&p.body)].A * V::from(x),
                };
                *length = Some((world(to) - world(from)).norm());
                for p in [from, to] {
                    let (b, x) = (&bodies[index(&p.body)], world(p));
                    p.at = At::Body(three(&b.A.tr_mul(&(x - b.at))));
                }
            }
            _ => {}
        }
    }
    for (n, b) in &mut spec.bodies {
        let thrown = &bodies[index(n)];
        b.at = three(&(thrown.at + r.vector() * 0.02));
        b.orientation = matrix(&(so3::exp(&(r.vector() * 0.03)) * thrown.A));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourbar::analysis::assembly::assemble;
    use fourbar::analysis::rank::mobility;

    #[test]
    fn the_same_seed_gives_the_same_mechanism_and_all_of_them_assemble_and_most_move() {
        let (mut loops, mut rough, mut floating, mut redundant, mut moving) = (0, 0, 0, 0, 0);
        for seed in 1..=60 {
            let recipe = Recipe::of(seed);
            let spec = mechanism(&recipe, seed);
            assert_eq!(spec, mechanism(&recipe, seed));
            let model = spec.build().unwrap_or_else(|e| panic!("{seed}: {e:?}"));
            let a = assemble(&model).unwrap_or_else(|e| panic!("{seed}: {e}"));
            let m = mobility(&model, &a.configuration, false);
            moving += usize::from(m.generic.mobility() > 0);
            loops += usize::from(spec.joints.iter().any(|(n, _)| n.starts_with("close")));
            rough += usize::from(recipe.rough && a.start_was_inconsistent(&model));
            floating += usize::from(recipe.floating);
            redundant += usize::from(m.generic.redundant() > 0);
        }
        // A loop may happen to be rigid; most are not.
        assert!(moving >= 55, "{moving}");
        assert!(loops > 10 && rough > 5 && floating > 5 && redundant > 3, "{loops} {rough} {floating} {redundant}");
    }
}
