//! Recursive coordinate reduction against the dense solve in absolute coordinates, at random consistent states.
#![allow(non_snake_case)]

use fourbar::Configuration;
use fourbar::absolute::equations::Equations;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::grcr::{Coupling, Mechanism, Options};
use fourbar::random::Random;
use fourbar::spec::{BodySpec, Inertia, JointSpec, ModelSpec, PairKind, Placement};
use fourbar::state::Twist;
use fourbar_testing::common::*;

/// Largest difference of body accelerations from the dense solve at the state of the mechanism, relative to the largest one.
fn difference(m: &mut Mechanism<'_>, e: &mut Equations<'_>) -> (f64, [f64; 3]) {
    m.accelerate(0.0);
    m.globals();
    let n = m.poses.len();
    let mut a = vec![Twist::zero(); n];
    m.body_accelerations(&mut a);
    let L = m.model.length;
    e.jacobian(&m.poses);
    e.factor(1.0);
    let (mut dense, mut lambda) = (vec![Twist::zero(); n], vec![0.0; e.set.rows()]);
    e.index1(&m.poses, &m.velocities, &m.turns, 0.0, &mut dense, &mut lambda);
    let size = |v: &Twist| v.v.norm().max(L * v.w.norm());
    let top = dense.iter().map(size).fold(1e-3, f64::max);
    let d = a.iter().zip(&dense).map(|(a, b)| size(&a.plus(&b.scaled(-1.0)))).fold(0.0, f64::max);
    let errors = e.errors(&m.poses, &m.velocities, &a, &m.turns, 0.0);
    (d / top, errors.map(|x| x / (1.0 + top)))
}

/// Moves the independent coordinates at random and closes the loops again; if that fails, by a smaller amount.
fn disturb(m: &mut Mechanism<'_>, random: &mut Random, size: f64) -> bool {
    let (q0, u0) = (m.q.clone(), m.u.clone());
    let d: Vec<f64> = (0..m.tree.speeds).map(|_| random.number()).collect();
    let u: Vec<f64> = (0..m.tree.speeds).map(|_| 3.0 * random.number()).collect();
    let mut factor = size;
    for _ in 0..6 {
        let mut q = q0.clone();
        for n in m.tree.nodes.iter().skip(1) {
            let (k, from) = (&n.kind, &q0[n.q..n.q + n.kind.stored()]);
            let scale = |c: usize| factor * if k.slides(c) { m.model.length } else { 1.0 };
            let d: Vec<f64> = (0..k.speeds()).map(|c| scale(c) * d[n.u + c]).collect();
            k.retract(from, &d, &mut q[n.q..n.q + k.stored()]);
        }
        if m.close(0.0, &q, &u).is_ok() && m.closure.smallest.0 > 0.02 {
            return true;
        }
        factor *= 0.4;
    }
    let _ = m.close(0.0, &q0, &u0);
    false
}

#[test]
fn accelerations_equal_the_dense_solve_on_every_shipped_model() {
    let mut bad = Vec::new();
    for name in shipped() {
        let model = model(&name);
        let start: Configuration = assemble(&model).unwrap_or_else(|d| panic!("{name}: {d}")).configuration;
        let mut e = Equations::new(&model, &start);
        let mut m = Mechanism::new(&model, &start);
        let (q, u) = (m.q.clone(), m.u.clone());
        m.close(0.0, &q, &u).unwrap_or_else(|d| panic!("{name}: {d}"));
        let (mut worst, mut errors) = difference(&mut m, &mut e);
        let first = worst;
        let mut random = Random(0x1357_9bdf_0246_8ace);
        let mut moved = 0;
        for _ in 0..5 {
            let ok = disturb(&mut m, &mut random, 0.15);
            moved += usize::from(ok);
            if ok {
                let s = m.choose();
                m.adopt(s);
                let (q, u) = (m.q.clone(), m.u.clone());
                m.close(0.0, &q, &u).unwrap_or_else(|d| panic!("{name}: {d}"));
                let (d, e) = difference(&mut m, &mut e);
                worst = worst.max(d);
                errors = [0, 1, 2].map(|k| errors[k].max(e[k]));
            }
        }
        let s = &m.selection;
        let line = format!(
            "{name}: start {first:.1e} worst {worst:.1e} of {moved}; errors {:.1e}; n {} rank {} redundant {} carriers {}",
            errors.iter().fold(0.0_f64, |m, x| m.max(*x)),
            m.tree.speeds,
            s.rank,
            s.redundant,
            m.schedule.carriers()
        );
        println!("{line}");
        // The dense solve contains the compliance of redundant rows; both agree to nine digits.
        if !(worst < 1e-9 && errors.iter().all(|x| *x < 1e-9)) {
            bad.push(line);
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// A random graph: bodies connected by joints of all kinds, with the moving body on either side, and two closing joints between any bodies,
/// so that loops have separate bases, share them, or end at the ground.
fn graph(random: &mut Random) -> ModelSpec {
    let kinds = [
        PairKind::Revolute,
        PairKind::Prismatic,
        PairKind::Cylindrical,
        PairKind::Spherical,
        PairKind::Universal,
        PairKind::Planar,
        PairKind::Screw { lead: 0.2 },
        PairKind::Revolute,
        PairKind::Fixed,
    ];
    let pick = |random: &mut Random, n: usize| ((0.5 * (random.number() + 1.0) * n as f64) as usize).min(n - 1);
    let v3 = |v: nalgebra::Vector3<f64>| [v.x, v.y, v.z];
    let mut spec = ModelSpec { title: "graph".into(), gravity: Some([0.3, -9.81, 0.2]), ..ModelSpec::default() };
    let name = |k: usize| if k == 0 { "ground".to_string() } else { format!("body{k}") };
    let n = 7;
    for k in 1..=n {
        spec.bodies.push((
            name(k),
            BodySpec { mass: 1.5, inertia: Inertia::Principal([0.2, 0.3, 0.25]), at: v3(random.vector()), ..BodySpec::default() },
        ));
    }
    let join = |random: &mut Random, spec: &mut ModelSpec, kind: PairKind, a: usize, b: usize| {
        let (z, other) = (random.vector(), random.vector());
        let across = z.cross(&other);
        let axis_moving = matches!(kind, PairKind::Universal).then(|| v3(across));
        let placement = Placement::World { at: v3(random.vector()), axis: v3(z), axis_moving };
        let bodies = if random.number() > 0.0 { [name(a), name(b)] } else { [name(b), name(a)] };
        spec.joints.push((format!("J{}", spec.joints.len()), JointSpec::Pair { kind, bodies, placement }));
    };
    for k in 1..=n {
        let (on, kind) = (pick(random, k), kinds[pick(random, kinds.len())]);
        join(random, &mut spec, kind, on, k);
    }
    for _ in 0..2 {
        let (a, b) = (pick(random, n), n - pick(random, 2));
        if a < b {
            let kind = if random.number() > 0.0 { PairKind::Spherical } else { PairKind::Universal };
            join(random, &mut spec, kind, a, b);
        }
    }
    spec
}

/// Trees traversed along and against their joints, closing joints with both orders of their bodies, real and fictitious tree joints.
#[test]
fn random_graphs_agree_with_the_dense_solve_in_every_direction_of_traversal() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut done, mut reversed, mut carried, mut bad) = (0, 0, 0, Vec::new());
    for k in 0..60 {
        let Ok(model) = graph(&mut random).build() else { continue };
        let Ok(found) = assemble(&model) else { continue };
        let mut e = Equations::new(&model, &found.configuration);
        for coupling in [Coupling::Acs, Coupling::Gcl] {
            let mut m = Mechanism::with_options(&model, &found.configuration, &Options { coupling, ..Options::default() });
            if !disturb(&mut m, &mut random, 0.1) {
                continue;
            }
            let s = m.choose();
            m.adopt(s);
            let (q, u) = (m.q.clone(), m.u.clone());
            m.close(0.0, &q, &u).unwrap_or_else(|d| panic!("graph {k}: {d}"));
            let (worst, errors) = difference(&mut m, &mut e);
            done += 1;
            reversed += m.tree.nodes.iter().filter(|n| n.reversed).count();
            carried += m.schedule.carriers();
            // As on shipped models.
            if !(worst < 1e-9 && errors.iter().all(|x| *x < 1e-9)) {
                bad.push(format!("graph {k} {coupling:?}: {worst:.1e} {errors:?}"));
            }
        }
    }
    println!("{done} states, {reversed} joints against their direction, {carried} carried bases");
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert!(done > 60 && reversed > 60 && carried > 20, "{done} {reversed} {carried}");
}
