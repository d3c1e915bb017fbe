//! Divide and conquer on large mechanisms: the tree, the equations, the motion, and threads.
#![allow(non_snake_case)]

use fourbar::absolute::chart::Ra;
use fourbar::absolute::equations::Equations;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::dca::tree::{NONE, Tree};
use fourbar::formulation::dca::{Settings, Solver, State, system};
use fourbar::integrator::implicit;
use fourbar::motion::Instant;
use fourbar::random::Random;
use fourbar::spec::*;
use fourbar::study::Study;
use fourbar::{Configuration, Model, Twist, Wrench};
use fourbar_bench::*;

fn tree(model: &Model) -> Tree {
    Tree::new(&fourbar::constraint::ConstraintSet::new(model.all_constraints(), |_| false), model.moving())
}

/// The four mechanisms of many bodies: deep, looped, heavily looped, wide.
fn large() -> Vec<(&'static str, Model)> {
    vec![("chain", chain(1000, false)), ("ladder", ladder(300)), ("lattice", lattice(20, 20)), ("branches", branches(200, 5))]
}

#[test]
fn the_tree_is_as_deep_as_the_logarithm_of_its_bodies() {
    for n in [7, 64, 1000, 4097] {
        for (name, model) in [("chain", chain(n, false)), ("ring", ring(n)), ("ladder", ladder(n / 2)), ("branches", branches(n / 5, 5))] {
            let t = tree(&model);
            let log2 = (model.moving() as f64).log2();
            // Halves are at least 0.4 of the whole, so log(n)/log(1/0.6) levels at worst; observed are at most three more than log2 n.
            assert!(t.levels() as f64 <= log2 + 3.0, "{name} {n}: {} levels", t.levels());
            // An eliminated body has at most two remaining neighbours; loops over several bodies need more at the cuts.
            assert!(t.widest() <= 4, "{name} {n}: {} bodies in a front", t.widest());
        }
    }
}

/// The longest path from a leaf to the root in multiply-adds: logarithmic in the number of bodies for chains, rings, trees and ladders, as
/// the fronts have bounded width; for lattices a power, as the uppermost fronts grow with the square root of the number: 1.18 was measured,
/// while the total work grows with 1.5.
#[test]
fn the_longest_path_is_logarithmic_in_work_too() {
    let path = |model: &Model| {
        let c = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
        let s = Solver::<6>::new(model, &c.q, Settings::default());
        s.layout.critical_path::<6>(&s.set)
    };
    type Make = fn(usize) -> Model;
    let kinds: [(&str, Make); 4] =
        [("chain", |n| chain(n, false)), ("ring", ring), ("ladder", |n| ladder(n / 2)), ("branches", |n| branches(n / 5, 5))];
    for (name, make) in kinds {
        let points: Vec<(f64, [f64; 2])> =
            [64, 256, 1024, 4096].iter().map(|&n| make(n)).map(|m| ((m.moving() as f64).log2(), path(&m))).collect();
        let per_level: Vec<f64> = points.iter().map(|(log, p)| p[1] / log).collect();
        println!("{name}: {per_level:.0?} multiply-adds per level");
        assert!(per_level[3] < 1.1 * per_level[1] && per_level[1] < 2e4, "{name}: {per_level:?}");
        // The total work is proportional to the number of bodies.
        let each: Vec<f64> = points.iter().map(|(log, p)| p[0] / log.exp2()).collect();
        assert!(each[3] < 1.3 * each[1], "{name}: {each:?}");
    }
    let points: Vec<(f64, f64)> =
        [6, 12, 24].iter().map(|&k| lattice(k, k)).map(|m| ((m.moving() as f64).ln(), path(&m)[1].ln())).collect();
    let slope = (points[2].1 - points[0].1) / (points[2].0 - points[0].0);
    println!("lattices: power {slope:.2}");
    assert!(slope < 1.3, "{slope}");
}

#[test]
fn every_body_and_constraint_has_one_place_in_the_tree() {
    for (name, model) in large() {
        let list = model.all_constraints();
        let t = tree(&model);
        let mut bodies = t.order.clone();
        bodies.sort_unstable();
        assert!(bodies.iter().copied().eq(1..model.bodies.len()), "{name}");
        let mut constraints = t.constraints.clone();
        constraints.sort_unstable();
        assert!(constraints.iter().copied().eq(0..list.len()), "{name}");
        for (k, node) in t.nodes.iter().enumerate() {
            // The remaining rows belong to nodes above, and the parent contains them.
            let parent = t.nodes.iter().find(|p| p.children.contains(&k));
            match parent {
                Some(p) => assert!(node.boundary.iter().all(|b| p.own.contains(b) || p.boundary.contains(b)), "{name}: node {k}"),
                None => assert!(node.boundary.is_empty() && k + 1 == t.nodes.len(), "{name}"),
            }
            assert!(node.children.iter().all(|&c| c == NONE || c < k));
        }
        // The same mechanism gives the same tree.
        assert_eq!(t.order, tree(&model).order, "{name}");
    }
}

/// A consistent state away from the start.
fn moving(model: &Model) -> Configuration {
    let mut c = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let mut random = Random(5);
    let mut solver = Solver::<6>::new(model, &c.q, Settings::default());
    random.disturb(&mut c.q, &vec![false; model.bodies.len()], 1e-4, 1e-4);
    assert!(solver.project_position(0.0, &c.turns, &mut c.q).is_some());
    for v in &mut c.v[1..] {
        *v = v.plus(&Twist { v: random.vector(), w: random.vector() });
    }
    solver.project_velocity(0.0, &c.q, &c.turns, false, &mut c.v);
    c
}

/// Residuals of the equations of motion and of the rows, relative to the largest force and acceleration. As the masses are regular, small
/// residuals determine the accelerations.
fn residuals(model: &Model, s: &Solver<'_, 6>, c: &Configuration, a: &[Twist]) -> [f64; 2] {
    let set = &s.set;
    let mut G = vec![0.0; set.values];
    set.jacobian(&c.q, &mut G);
    let mut f = vec![Wrench::zero(); model.bodies.len()];
    set.add_transposed(&G, &s.lambda, 1.0, &mut f);
    let (mut worst, mut size) = (0.0_f64, 0.0_f64);
    for b in 1..f.len() {
        let body = &model.bodies[b];
        size = size.max(f[b].F.amax()).max(f[b].T.amax());
        let r = f[b].F + body.mass * (a[b].v - model.gravity);
        let m = f[b].T + body.J_bar * a[b].w + c.v[b].w.cross(&(body.J_bar * c.v[b].w));
        worst = worst.max(r.amax()).max(m.amax());
    }
    let (mut gamma, mut rate) = (vec![0.0; set.rows()], vec![0.0; set.rows()]);
    set.gamma(&c.q, &c.v, 0.0, &mut gamma);
    set.multiply(&G, a, &mut rate);
    let most = a.iter().fold(0.0_f64, |m, a| m.max(a.v.amax()));
    let row = gamma.iter().zip(&rate).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
    [worst / size, row / most]
}

#[test]
fn large_mechanisms_satisfy_their_equations() {
    for (name, model) in large() {
        let c = moving(&model);
        let mut s = Solver::<6>::new(&model, &c.q, Settings::default());
        let mut a = vec![Twist::zero(); model.bodies.len()];
        let ended = s.accelerate(&State { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, z: &c.z }, false, &mut a);
        let [force, row] = residuals(&model, &s, &c, &a);
        println!("{name}: {} iterations, force {force:.1e}, rows {row:.1e}", ended.iterations);
        assert!(ended.iterations <= 8 && force < 1e-10 && row < 1e-10, "{name}: {ended:?} {force:.1e} {row:.1e}");
    }
}

/// Distance of multipliers from those of minimum norm: the part of `D^-1/2 lambda` outside of the range of `D^1/2 Phi_q`, relative, by
/// conjugate gradients on the normal equations.
fn outside_of_range(set: &fourbar::constraint::ConstraintSet, c: &Configuration, alpha: &[f64], lambda: &[f64]) -> f64 {
    let mut G = vec![0.0; set.values];
    set.jacobian(&c.q, &mut G);
    let root: Vec<f64> = alpha.iter().map(|a| a.sqrt()).collect();
    let dot = |x: &[Wrench]| x.iter().map(|x| x.F.dot(&x.F) + x.T.dot(&x.T)).sum::<f64>();
    let gradient = |r: &[f64]| {
        let scaled: Vec<f64> = r.iter().zip(&root).map(|(r, s)| r * s).collect();
        let mut g = vec![Wrench::zero(); c.q.len()];
        set.add_transposed(&G, &scaled, 1.0, &mut g);
        g
    };
    let mut r: Vec<f64> = lambda.iter().zip(&root).map(|(l, s)| l / s).collect();
    let size = r.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut g = gradient(&r);
    let mut p = g.clone();
    let (mut gg, mut rows) = (dot(&g), vec![0.0; r.len()]);
    let start = gg;
    for _ in 0..20_000 {
        // Steepest descent in the metric of the components.
        let along: Vec<Twist> = p.iter().map(|f| Twist { v: f.F, w: f.T }).collect();
        set.multiply(&G, &along, &mut rows);
        rows.iter_mut().zip(&root).for_each(|(x, s)| *x *= s);
        let step = gg / rows.iter().map(|x| x * x).sum::<f64>();
        r.iter_mut().zip(&rows).for_each(|(r, x)| *r -= step * x);
        g = gradient(&r);
        let next = dot(&g);
        p = g.iter().zip(&p).map(|(g, p)| g.plus(&p.scaled(next / gg))).collect();
        gg = next;
        if gg < 1e-24 * start {
            break;
        }
    }
    r.iter().map(|x| x * x).sum::<f64>().sqrt() / size
}

/// Comparison with the sparse elimination of rA, which is independent of the tree; multipliers of redundant rows are compared with their
/// definition.
#[test]
fn large_mechanisms_accelerate_as_in_ra_with_the_least_multipliers() {
    for (name, model) in large() {
        let c = moving(&model);
        let mut s = Solver::<6>::new(&model, &c.q, Settings::default());
        let mut a = vec![Twist::zero(); model.bodies.len()];
        let state = State { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, z: &c.z };
        s.accelerate(&state, false, &mut a);
        s.refine(&state, &mut a);
        let mut e = Equations::new(&model, &c);
        let mut other = vec![Twist::zero(); model.bodies.len()];
        let mut lambda = vec![0.0; e.set.rows()];
        e.accelerate((&c.q, &c.v, &c.turns, 0.0), None, true, &mut other, &mut lambda);
        let size = other.iter().fold(0.0_f64, |m, a| m.max(a.v.amax()).max(model.length * a.w.amax()));
        let d = a.iter().zip(&other).fold(0.0_f64, |m, (a, b)| m.max((a.v - b.v).amax()).max(model.length * (a.w - b.w).amax()));
        let outside = if matches!(name, "ladder" | "lattice") { outside_of_range(&s.set, &c, &s.alpha, &s.lambda) } else { 0.0 };
        println!("{name}: accelerations {:.1e}, multipliers {outside:.1e}", d / size);
        assert!(d < 1e-8 * size && outside < 1e-8, "{name}: {:.1e} {outside:.1e}", d / size);
    }
}

#[test]
fn seven_coordinates_give_the_same_accelerations() {
    for (name, model) in [("ring", ring(33)), ("ladder", ladder(8)), ("lattice", lattice(3, 3)), ("five-bar", shipped("dca_five_bar"))] {
        let c = moving(&model);
        let mut six = vec![Twist::zero(); model.bodies.len()];
        let mut seven = six.clone();
        let state = State { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, z: &c.z };
        let mut s6 = Solver::<6>::new(&model, &c.q, Settings::default());
        let mut s7 = Solver::<7>::new(&model, &c.q, Settings::default());
        s6.accelerate(&state, false, &mut six);
        s7.accelerate(&state, false, &mut seven);
        let size = six.iter().fold(0.0_f64, |m, a| m.max(a.v.amax()).max(a.w.amax()));
        let d = six.iter().zip(&seven).fold(0.0_f64, |m, (a, b)| m.max((a.v - b.v).amax()).max((a.w - b.w).amax()));
        assert!(d < 1e-11 * size, "{name}: {:.1e}", d / size);
    }
}

/// Positions at the end of a short motion from rest, by a formulation.
fn short_motion(model: &Model, from: &Configuration, dca: bool, step: Option<f64>, t_end: f64) -> Instant {
    let options = Vec::new();
    let study = Study { t_end, output_step: t_end, step, tol: Some(1e-9), options, ..Study::of(model) };
    let structure = fourbar::Structure::new(model, from);
    let started =
        if dca { system::start(&structure, &study, "dopri5", from) } else { implicit::start::<Ra>(&structure, &study, "gen-alpha", from) };
    let mut motion = started.unwrap_or_else(|d| panic!("{d}"));
    let mut out = Instant::new(model, from);
    motion.advance(t_end, &mut |_| true).unwrap_or_else(|d| panic!("{d}"));
    motion.instant(t_end, &mut out).unwrap_or_else(|d| panic!("{d}"));
    out
}

#[test]
fn large_mechanisms_move_as_in_ra() {
    for (name, model) in large() {
        let from = assemble(&model).unwrap_or_else(|d| panic!("{d}")).configuration;
        let t = 0.02;
        let ours = short_motion(&model, &from, true, None, t);
        let (coarse, fine) = (short_motion(&model, &from, false, Some(t / 8.0), t), short_motion(&model, &from, false, Some(t / 16.0), t));
        let (mut worst, mut moved) = (0.0_f64, 0.0_f64);
        for b in 1..ours.q.len() {
            let exact = fine.q[b].r + (fine.q[b].r - coarse.q[b].r) / 3.0;
            worst = worst.max((ours.q[b].r - exact).amax());
            moved = moved.max((ours.q[b].r - from.q[b].r).amax());
        }
        println!("{name}: moved {moved:.1e}, differs by {worst:.1e}, {:.0e} {:.0e}", ours.errors[0], ours.errors[1]);
        // Extrapolated steps of 1.25 ms have an error of order h^4; rows of long mechanisms hold to rounding errors of their size.
        assert!(moved > 1e-4 && worst < 1e-8, "{name}: moved {moved:.1e}, differs by {worst:.1e}");
        assert!(ours.errors[0] < 1e-11 && ours.errors[1] < 1e-10, "{name}: {:?}", ours.errors);
    }
}

#[test]
fn results_do_not_depend_on_threads_to_the_last_bit() {
    for (name, model) in [("chain", chain(700, false)), ("lattice", lattice(8, 8)), ("branches", branches(60, 5))] {
        let c = moving(&model);
        let compute = |settings: Settings| {
            let mut s = Solver::<6>::new(&model, &c.q, settings);
            let mut a = vec![Twist::zero(); model.bodies.len()];
            let mut q = c.q.clone();
            s.accelerate(&State { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, z: &c.z }, false, &mut a);
            s.project_position(0.0, &c.turns, &mut q);
            (a, s.lambda.clone(), q)
        };
        // Small tasks, so that many run concurrently.
        let settings = Settings { task: 8, ..Settings::default() };
        let alone = compute(Settings { parallel: false, ..settings });
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            assert!(pool.install(|| compute(settings)) == alone, "{name} with {threads} threads");
        }
    }
}

#[test]
fn the_documentation_draws_the_tree_of_the_double_loop() {
    let model = shipped("dca_double_loop");
    let drawing = tree(&model).drawing(&model.all_constraints(), |b| model.bodies[b].name.clone());
    let page = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/formulations/dca.md")).expect("page");
    assert!(page.contains(&drawing), "docs/formulations/dca.md should hold\n{drawing}");
}

#[test]
fn bodies_without_rotational_inertia_need_no_care() {
    // Joints constrain every direction of a ladder, and of a chain of hinges with different axes.
    for mut model in [ladder(6), chain(8, false)] {
        for b in &mut model.bodies {
            b.J_bar = nalgebra::Matrix3::zeros();
        }
        let c = moving(&model);
        let mut s = Solver::<6>::new(&model, &c.q, Settings::default());
        let mut a = vec![Twist::zero(); model.bodies.len()];
        s.accelerate(&State { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, z: &c.z }, false, &mut a);
        let [force, row] = residuals(&model, &s, &c, &a);
        assert!(force < 1e-10 && row < 1e-10, "{}: {force:.1e} {row:.1e}", model.title);
    }
}

#[test]
fn a_thin_rod_between_two_balls_keeps_its_spin() {
    let mut spec = ModelSpec { gravity: Some([0.0, -9.81, 1.0]), ..ModelSpec::default() };
    let thin = BodySpec { mass: 1.0, inertia: Inertia::Principal([0.0, 0.1, 0.1]), at: [0.5, 0.0, 0.0], ..BodySpec::default() };
    spec.bodies.push(("rod".into(), thin.clone()));
    spec.bodies.push(("next".into(), BodySpec { at: [1.5, 0.0, 0.0], ..thin }));
    for (name, x, bodies) in [("A", 0.0, ["ground", "rod"]), ("B", 1.0, ["rod", "next"])] {
        let placement = Placement::World { at: [x, 0.0, 0.0], axis: [0.0, 0.0, 1.0], axis_moving: None };
        spec.joints.push((name.into(), JointSpec::Pair { kind: PairKind::Spherical, bodies: bodies.map(String::from), placement }));
    }
    let model = spec.build().unwrap_or_else(|e| panic!("{}", e[0]));
    let mut c = moving(&model);
    // A thin rod has no angular momentum about itself: any spin is consistent, and it is kept.
    c.v[1].w.x = 3.0;
    let mut s = Solver::<6>::new(&model, &c.q, Settings::default());
    let mut a = vec![Twist::zero(); 3];
    s.accelerate(&State { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, z: &c.z }, false, &mut a);
    let [force, row] = residuals(&model, &s, &c, &a);
    assert!(force < 1e-10 && row < 1e-10 && a[1].w.x.abs() < 1e-6 && a[2].w.x.abs() < 1e-6, "{force:.1e} {row:.1e} {a:?}");
}

/// The stiffness of the lowest longitudinal mode of a chain decreases with the inverse square of its length. A force of 100 N in four
/// thousand links had an error of 4e-4 N when the compliance of the rows was corrected only once.
#[test]
fn forces_along_a_long_chain_do_not_depend_on_the_formulation() {
    let model = chain(4000, false);
    let mut settings = fourbar_check::verify::Settings::of(&model);
    (settings.study.t_end, settings.study.output_step) = (0.02, 0.005);
    settings.formulations = ["grcr", "lie"].map(String::from).to_vec();
    settings.patience = std::time::Duration::from_secs(600);
    let done = fourbar_check::verify::verify(&model, &settings, &|_| {}).unwrap_or_else(|d| panic!("{d}"));
    assert!(done.verdict.agree, "{:?}", done.verdict.words);
    for r in &done.rows {
        assert!(r.difference[3] < 1e-6, "{}: {:.1e} N", r.formulation, r.difference[3]);
    }
}
