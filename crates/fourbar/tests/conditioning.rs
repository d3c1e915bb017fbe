//! Reactions of ill-conditioned loops and at any mass ratio: every formulation against a dense solve of the same equations at the same
//! state; reported uniqueness against the rank; starts that rounding must not spoil.
#![allow(non_snake_case)]

use fourbar::analysis::assembly::assemble;
use fourbar::analysis::rank::rank;
use fourbar::analysis::uniqueness::not_unique;
use fourbar::constraint::{ConstraintSet, Owner};
use fourbar::force::{Force, Friction, eval};
use fourbar::integrator::least_tolerance;
use fourbar::motion::{Instant, Loads, Outcome, Reaction};
use fourbar::random::Random;
use fourbar::study::{FORMULATIONS, Study};
use fourbar::{Configuration, Diagnostic, Model, Wrench};
use fourbar_testing::common;
use fourbar_testing::common::parse;
use fourbar_testing::families::{self, family_of};
use fourbar_testing::mechanism::{Recipe, mechanism};
use nalgebra::{DMatrix, DVector, Vector3};
use std::fmt::Write;

/// One of each family of formulations.
const FAMILIES: [&str; 5] = ["ra", "lie", "dca", "grcr", "natural"];

fn found(name: &str) -> Model {
    let path = format!("{}/tests/data/found/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    parse(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}")))
}

/// Reactions by a dense solve of the equations of motion at a state without redundant rows; and how much rounding of the state may change
/// them, relative to the largest: the condition number enters squared.
fn dense(model: &Model, at: &Instant) -> (Vec<Reaction>, f64) {
    let set = ConstraintSet::new(model.all_constraints(), |_| false);
    let (m, n, L) = (set.rows(), 6 * model.moving(), model.length);
    let mut G = vec![0.0; set.values];
    set.jacobian(&at.q, &mut G);
    // Rotations are measured as L omega, rows are scaled to unit length.
    let unit = |l: usize| if l < 3 { 1.0 } else { 1.0 / L };
    let mut J = DMatrix::zeros(m, n);
    for c in 0..set.list.len() {
        for b in set.blocks_of(c) {
            for k in 0..set.row_start[c + 1] - set.row_start[c] {
                for l in 0..6 {
                    J[(set.row_start[c] + k, 6 * (b.body - 1) + l)] = G[b.start + 6 * k + l] * unit(l);
                }
            }
        }
    }
    let norms: Vec<f64> = J.row_iter().map(|r| r.norm()).collect();
    let mut gamma = vec![0.0; m];
    set.gamma(&at.q, &at.v, at.t, &mut gamma);
    let mut f = vec![Wrench::zero(); model.bodies.len()];
    let loads = vec![0.0; model.joints.len()];
    eval::applied(model, &eval::Plain { t: at.t, q: &at.q, v: &at.v, turns: &at.turns, loads: &loads, z: &at.z }, &mut f);
    let heaviest = model.bodies.iter().map(|b| b.mass).fold(0.0, f64::max);
    let (mut K, mut b) = (DMatrix::zeros(n + m, n + m), DVector::zeros(n + m));
    for (k, body) in model.bodies.iter().enumerate().skip(1) {
        let at6 = 6 * (k - 1);
        let w = at.v[k].w;
        let torque = f[k].T - w.cross(&(body.J_bar * w));
        for i in 0..3 {
            K[(at6 + i, at6 + i)] = body.mass / heaviest;
            b[at6 + i] = f[k].F[i] / heaviest;
            b[at6 + 3 + i] = torque[i] / L / heaviest;
            for j in 0..3 {
                K[(at6 + 3 + i, at6 + 3 + j)] = body.J_bar[(i, j)] / (L * L * heaviest);
            }
        }
    }
    for i in 0..m {
        for j in 0..n {
            let x = J[(i, j)] / norms[i];
            K[(n + i, j)] = x;
            K[(j, n + i)] = x;
        }
        b[n + i] = gamma[i] / norms[i];
    }
    let s = K.view((n, 0), (m, n)).into_owned().singular_values();
    let lu = K.clone().full_piv_lu();
    let mut x = lu.solve(&b).expect("regular");
    for _ in 0..3 {
        x += lu.solve(&(&b - &K * &x)).expect("regular");
    }
    let lambda: Vec<f64> = (0..m).map(|i| x[n + i] * heaviest / norms[i]).collect();
    let loads = Loads::new(model, &set);
    let w = (0..model.joints.len()).map(|k| loads.reaction(model, &set, k, &at.q, &lambda)).collect();
    // The smallest mass enters as well.
    (w, 1e-14 / (s.min() / s.max()).powi(2))
}

/// Largest difference of components, relative to the largest of the second.
fn difference(L: f64, a: &[Reaction], b: &[Reaction], unique: &[[bool; 6]]) -> f64 {
    let six = |w: &Reaction| -> [f64; 6] { std::array::from_fn(|k| if k < 3 { w.force[k] } else { w.torque[k - 3] / L }) };
    let size = b.iter().flat_map(six).fold(1e-300_f64, |s, x| s.max(x.abs()));
    let mut worst = 0.0_f64;
    for ((a, b), unique) in a.iter().zip(b).zip(unique) {
        for k in (0..6).filter(|&k| unique[k]) {
            let d = (six(a)[k] - six(b)[k]).abs();
            worst = if d.is_nan() { f64::INFINITY } else { worst.max(d) };
        }
    }
    worst / size
}

/// Instants of a formulation at the start and at a time, if it supports the mechanism.
fn instants(model: &Model, start: &Configuration, formulation: &str, t: Option<f64>) -> Result<Vec<Instant>, String> {
    let info = FORMULATIONS.iter().find(|f| f.name == formulation).expect("known");
    let tol = least_tolerance(info.integrators[0]).max(1e-8);
    let study = Study { tol: Some(tol), ..Study::of(model) };
    let mut out = vec![Instant::new(model, start)];
    let mut motion = (info.start)(&fourbar::Structure::new(model, start), &study, info.integrators[0], start).map_err(|d| d.to_string())?;
    motion.instant(start.t, &mut out[0]).map_err(|d| d.to_string())?;
    if let Some(t) = t {
        motion.advance(t, &mut |_| true).map_err(|d| d.to_string())?;
        out.push(out[0].clone());
        motion.instant(t, &mut out[1]).map_err(|d| d.to_string())?;
    }
    Ok(out)
}

fn numbers(v: &Vector3<f64>) -> String {
    format!("[{}, {}, {}]", v.x, v.y, v.z)
}

/// A loop of four joints with random positions, axes and velocities. With `flat` the axes differ by at most that much from a common one:
/// the smaller, the closer the rows are to dependence.
fn four_joints(kinds: &str, flat: Option<f64>, seed: u64) -> String {
    let mut random = Random(seed);
    let common = random.vector().normalize();
    let axis = |random: &mut Random| match flat {
        Some(d) => (common + d * random.vector()).normalize(),
        None => random.vector().normalize(),
    };
    let corners: Vec<Vector3<f64>> =
        [[-1.0, 0.0], [-0.5, 0.8], [0.6, 0.7], [0.9, -0.1]].iter().map(|c| Vector3::new(c[0], c[1], 0.0) + 0.4 * random.vector()).collect();
    let mut text = format!("fourbar: 1\ngravity: {}\nbodies:\n", numbers(&(6.0 * random.vector())));
    for k in 0..3 {
        let middle = 0.5 * (corners[k] + corners[k + 1]) + 0.1 * random.vector();
        let m = 10f64.powf(random.number());
        let j: Vec<f64> = (0..3).map(|_| m * (0.05 + 0.015 * random.number())).collect();
        let (v, w) = (numbers(&random.vector()), numbers(&random.vector()));
        writeln!(text, "  b{k}: {{mass: {m}, inertia: {j:?}, at: {}, velocity: {v}, omega: {w}}}", numbers(&middle)).expect("text");
    }
    text += "joints:\n";
    for (k, kind) in kinds.chars().enumerate() {
        let bodies = ["[ground, b0]", "[b0, b1]", "[b1, b2]", "[b2, ground]"][k];
        let (at, a) = (numbers(&corners[k]), axis(&mut random));
        let rest = match kind {
            'R' => format!("type: revolute, axis: {}", numbers(&a)),
            'C' => format!("type: cylindrical, axis: {}", numbers(&a)),
            'P' => format!("type: prismatic, axis: {}", numbers(&a)),
            'S' => "type: spherical".into(),
            'U' => format!("type: universal, axes: [{}, {}]", numbers(&a), numbers(&a.cross(&random.vector()).normalize())),
            _ => unreachable!("known kinds"),
        };
        writeln!(text, "  j{k}: {{bodies: {bodies}, at: {at}, {rest}}}").expect("text");
    }
    text + "study: {t_end: 0.2, output_step: 0.05}\n"
}

/// Compares every family of formulations with the dense solve, at the start and, if it moves, during the motion. Returns the number of
/// comparisons.
fn judge(what: &str, model: &Model, moves: bool, faults: &mut Vec<String>) -> usize {
    let Ok(assembled) = assemble(model) else { return 0 };
    let start = assembled.configuration;
    let set = ConstraintSet::new(model.all_constraints(), |_| false);
    if rank(model, &set, &start.q).redundant() > 0 {
        return 0;
    }
    let everything = vec![[true; 6]; model.joints.len()];
    let mut judged = 0;
    for name in FAMILIES {
        let Ok(both) = instants(model, &start, name, moves.then_some(0.05)) else { continue };
        for (k, out) in both.iter().enumerate() {
            let (w, known) = dense(model, out);
            // Two solves of the same equations, both accurate to rounding.
            let allowed = (10.0 * known).max(1e-8);
            if allowed > 1e-3 {
                continue;
            }
            let d = difference(model.length, &out.reactions, &w, &everything);
            judged += 1;
            println!("{what}: {name} at {} {d:.1e} of {allowed:.1e}", ["the start", "0.05 s"][k]);
            if d > allowed {
                faults.push(format!("{what}: {name} at {}: {d:.1e}, allowed {allowed:.1e}", ["the start", "0.05 s"][k]));
            }
        }
    }
    judged
}

#[test]
fn reactions_of_badly_conditioned_loops_are_those_of_a_dense_solve() {
    let (mut faults, mut judged) = (Vec::new(), 0);
    for (k, kinds) in ["RUSR", "RSCR", "CCCR", "RPSC"].iter().enumerate() {
        for (i, flat) in [None, Some(1e-1), Some(1e-2), Some(1e-3), Some(1e-4)].into_iter().enumerate() {
            for j in 0..2 {
                let seed = (1000 * k + 10 * i + j + 1) as u64;
                let text = four_joints(kinds, flat, seed);
                // With nearly parallel axes the loop moves only at high rates, which takes long to compute.
                let moves = flat.is_none_or(|d| d > 0.05);
                judged += judge(&format!("{kinds}, axes {flat:?}, seed {seed}"), &parse(&text), moves, &mut faults);
            }
        }
    }
    assert!(faults.is_empty(), "{} of {judged}:\n{}", faults.len(), faults.join("\n"));
    assert!(judged > 120, "only {judged}");
}

/// The instant at the start and the warning of a formulation about its reactions; `None` if it rejects the mechanism.
fn doubts(model: &Model, start: &Configuration, formulation: &str) -> Option<(Instant, Option<Diagnostic>)> {
    let info = FORMULATIONS.iter().find(|f| f.name == formulation).expect("known");
    let mut out = Instant::new(model, start);
    let mut motion = (info.start)(&fourbar::Structure::new(model, start), &Study::of(model), info.integrators[0], start).ok()?;
    motion.instant(start.t, &mut out).ok()?;
    let mut outcome = Outcome::default();
    motion.report(&mut outcome);
    Some((out, outcome.warnings.into_iter().find(|w| w.code.0 == "W281")))
}

/// A table that turns at a speed, or is lifted with an acceleration, and on it a four-bar across its weight: three hinges and a ball, one
/// hinge tilted by `lean`, which alone locks it.
fn locked(lean: f64, speed: f64, lift: f64) -> Model {
    let joints = [[0.2, 0.1], [0.5, 0.8], [1.6, 1.0], [1.4, -0.1]];
    let omega = format!("omega: [0, 0, {speed}]");
    let mut text = format!("fourbar: 1\ngravity: [0, 0, -9.81]\nbodies:\n  table: {{mass: 5, inertia: [1, 1, 2], {omega}}}\n");
    for k in 0..3 {
        let [x, y] = [0, 1].map(|i| 0.5 * (joints[k][i] + joints[k + 1][i]) + 0.07 * (k as f64 + 1.0));
        let velocity = format!("velocity: [{}, {}, 0]", -speed * y, speed * x);
        writeln!(text, "  b{k}: {{mass: {}, inertia: [0.1, 0.2, 0.15], at: [{x}, {y}, 0.05], {velocity}, {omega}}}", k + 1).expect("text");
    }
    let stand = if lift == 0.0 { "revolute" } else { "prismatic" };
    writeln!(text, "joints:\n  stand: {{type: {stand}, bodies: [ground, table], at: [0, 0, 0], axis: [0, 0, 1]}}").expect("text");
    for (k, kind) in ["revolute, axis: [0, 0, 1]", "spherical", "revolute, axis: [0, 0, 1]", "revolute"].iter().enumerate() {
        let bodies = ["[table, b0]", "[b0, b1]", "[b1, b2]", "[b2, table]"][k];
        let lean = if k == 3 { format!(", axis: [{lean}, 0, 1]") } else { String::new() };
        writeln!(text, "  j{k}: {{type: {kind}{lean}, bodies: {bodies}, at: [{}, {}, 0]}}", joints[k][0], joints[k][1]).expect("text");
    }
    if lift != 0.0 {
        writeln!(text, "drives: {{lift: {{joint: stand, distance: {lift}/2*t^2}}}}").expect("text");
    }
    parse(&(text + "study: {t_end: 0.2, output_step: 0.05}\n"))
}

/// Rounding of forces is divided by the smallest singular value, rounding of accelerations by its square: if these do not load the weak
/// direction, as when the table is lifted, its reactions are undetermined.
#[test]
fn reactions_are_right_or_it_is_said_that_they_are_not() {
    let (mut wrong, mut warned, mut right) = (Vec::new(), 0, 0);
    for lean in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 3e-7] {
        for (what, speed, lift) in [("still", 0.0, 0.0), ("turning", 5.0, 0.0), ("lifted", 0.0, 7.0)] {
            let model = locked(lean, speed, lift);
            let start = assemble(&model).expect("assembles").configuration;
            let set = ConstraintSet::new(model.all_constraints(), |_| false);
            let rank = rank(&model, &set, &start.q);
            assert!(rank.redundant() == 0, "lean {lean:.0e}");
            println!("lean {lean:.0e}, {what}: smallest singular value {:.1e}", rank.smallest.unwrap_or(0.0));
            for name in ["ra", "rp", "lie", "se3", "dca", "natural"] {
                let Some((out, warning)) = doubts(&model, &start, name) else { continue };
                let (w, known) = dense(&model, &out);
                let d = difference(model.length, &out.reactions, &w, &vec![[true; 6]; model.joints.len()]);
                println!("    {name}: off by {d:.0e}, {:?}", warning.as_ref().map(|w| &w.message));
                let named = |w: &Diagnostic| ["j0", "j1", "j2", "j3"].iter().all(|j| w.names.iter().any(|n| n == j));
                match warning {
                    None if d > 1e-5 => wrong.push(format!("lean {lean:.0e}, {what}, {name}: off by {d:.0e}")),
                    None => right += 1,
                    Some(w) if known < 1e-7 || !named(&w) => wrong.push(format!("lean {lean:.0e}, {what}, {name}: {w}")),
                    Some(_) => warned += 1,
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), warned + right, wrong.join("\n"));
    assert!(warned > 10 && right > 40, "{warned} warned of, {right} not");
}

/// Redundant rows give no warning, nor do reactions that are negligible beside the forces.
#[test]
fn reactions_that_are_known_raise_no_doubt() {
    for name in
        ["pantograph", "bennett", "a04_bricard", "fourbar_3d", "a02_n_fourbar_N2", "slider_crank_engine", "planetary_gear", "sarrus"]
    {
        let model = common::model(name);
        let start = assemble(&model).expect("assembles").configuration;
        for f in ["ra", "lie", "dca", "natural"] {
            if let Some((_, Some(w))) = doubts(&model, &start, f) {
                panic!("{name}, {f}: {w}");
            }
        }
    }
    let mut model = common::model("a01_simple_pendulum");
    model.gravity *= 1e21;
    let start = assemble(&model).expect("assembles").configuration;
    for f in ["ra", "lie", "dca", "natural"] {
        assert!(doubts(&model, &start, f).is_none_or(|(_, w)| w.is_none()), "{f}");
    }
}

#[test]
fn loops_whose_reactions_were_wrong_are_right() {
    let mut faults = Vec::new();
    for name in ["reactions_cccr", "reactions_rpsc", "reactions_rsrs", "reactions_ruur"] {
        let judged = judge(name, &found(name), true, &mut faults);
        assert!(judged >= 6, "{name}: {judged}");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Whether rows that belong to no joint are dependent, which no joint reaction shows.
fn depends_without_joints(model: &Model, start: &Configuration) -> bool {
    let list = model.all_constraints().into_iter().filter(|c| !matches!(c.owner, Owner::Joint(_))).collect();
    let set = ConstraintSet::new(list, |_| false);
    rank(model, &set, &start.q).redundant() > 0
}

fn unique(model: &Model, start: &Configuration) -> Vec<[bool; 6]> {
    let open = not_unique(model, start);
    let parts = ["force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"];
    let is_open = |joint: &str, k: usize| open.iter().any(|(j, c)| j == joint && c.iter().any(|c| c == parts[k]));
    model.joints.iter().map(|j| std::array::from_fn(|k| !is_open(&j.name, k))).collect()
}

#[test]
fn a_redundant_row_always_shows_in_some_reaction() {
    let (mut redundant, mut regular) = (0, 0);
    let joined = (1..=300).map(|seed| (format!("seed {seed}"), mechanism(&Recipe::of(seed), seed)));
    let families = (0..300).map(|seed| (format!("{}, seed {seed}", family_of(seed).name), families::mechanism(seed)));
    for (what, spec) in joined.chain(families) {
        let Ok(model) = spec.build() else { continue };
        let Ok(assembled) = assemble(&model) else { continue };
        let start = assembled.configuration;
        let set = ConstraintSet::new(model.all_constraints(), |_| false);
        let count = rank(&model, &set, &start.q).redundant();
        let open = not_unique(&model, &start);
        if count == 0 {
            assert!(open.is_empty(), "{what}: no row is redundant, yet {open:?}");
            regular += 1;
        } else {
            assert!(!open.is_empty() || depends_without_joints(&model, &start), "{what}: {count} rows are redundant");
            redundant += 1;
        }
    }
    assert!(redundant > 100 && regular > 100, "{redundant} redundant, {regular} not");
    // One of the few mechanisms whose pivots do not reveal the redundancy.
    let model = found("not_unique");
    let start = assemble(&model).expect("assembles").configuration;
    assert!(!not_unique(&model, &start).is_empty());
}

#[test]
fn unique_reactions_agree_between_all_families() {
    let (mut faults, mut judged) = (Vec::new(), 0);
    let mut cases: Vec<(String, Model)> = vec![("not_unique".into(), found("not_unique"))];
    for seed in 1..=60 {
        if let Ok(model) = mechanism(&Recipe::of(seed), seed).build() {
            cases.push((format!("seed {seed}"), model));
        }
    }
    for seed in 0..87 {
        if let Ok(model) = families::mechanism(seed).build() {
            cases.push((format!("{}, seed {seed}", family_of(seed).name), model));
        }
    }
    for (what, model) in &cases {
        let Ok(assembled) = assemble(model) else { continue };
        let start = assembled.configuration;
        let set = ConstraintSet::new(model.all_constraints(), |_| false);
        let unique = unique(model, &start);
        // If friction depends on a load that is not unique, the motion is not unique either.
        let rough =
            |f: &Force| matches!(f, Force::Friction(Friction { joint, coulomb, .. }) if *coulomb > 0.0 && unique[*joint].contains(&false));
        if model.forces.iter().any(|(_, f)| rough(f)) {
            continue;
        }
        let first = |name: &str| {
            let info = FORMULATIONS.iter().find(|f| f.name == name).expect("known");
            let mut out = Instant::new(model, &start);
            let mut motion = (info.start)(&fourbar::Structure::new(model, &start), &Study::of(model), info.integrators[0], &start).ok()?;
            motion.instant(start.t, &mut out).ok()?;
            Some(out)
        };
        // Weak constraints amplify rounding by the square of their singular value.
        let smallest = rank(model, &set, &start.q).smallest.unwrap_or(1.0);
        let allowed = (1e-13 / (smallest * smallest)).max(1e-6);
        let Some(reference) = first("lie") else { continue };
        // An unloaded mechanism at rest without gravity shows only rounding.
        let size = |out: &Instant| out.reactions.iter().fold(0.0_f64, |s, w| s.max(w.force.amax()).max(w.torque.amax() / model.length));
        let mass: f64 = model.bodies.iter().map(|b| b.mass).sum();
        let nothing = 1e-9 * mass * (model.gravity.norm() + model.length);
        for name in FAMILIES.into_iter().filter(|n| *n != "lie") {
            if let Some(out) = first(name) {
                let d = difference(model.length, &out.reactions, &reference.reactions, &unique);
                judged += usize::from(allowed == 1e-6);
                if d > allowed && size(&out).max(size(&reference)) > nothing {
                    let sizes = [size(&out), size(&reference)];
                    faults.push(format!("{what}: {name} and lie differ by {d:.1e}, allowed {allowed:.1e}; largest {sizes:?} N"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} of {judged}:\n{}", faults.len(), faults.join("\n"));
    assert!(judged > 120, "only {judged}");
}

/// Masses and inertias times powers of ten, drawn in `[-spread, spread]`.
fn weigh(model: &mut Model, spread: f64, random: &mut Random) {
    for b in model.bodies.iter_mut().skip(1) {
        let k = 10f64.powf(spread * random.number());
        b.mass *= k;
        b.J_bar *= k;
    }
}

#[test]
fn starts_are_found_at_any_ratio_of_masses() {
    for name in ["fourbar_3d", "slider_crank_engine", "dca_five_bar", "andrews", "bennett", "nc_closed_chain_robot", "pantograph"] {
        for (k, spread) in [2.0, 4.0, 6.0, 8.0, 10.0, 12.0].into_iter().enumerate() {
            let seed = 31 * k as u64 + 7;
            let mut random = Random(seed);
            let mut model = common::model(name);
            weigh(&mut model, spread, &mut random);
            for b in model.bodies.iter_mut().skip(1) {
                b.v += random.vector() * model.length;
                b.omega += random.vector();
            }
            let a = assemble(&model).unwrap_or_else(|d| panic!("{name}, masses by 1e{spread} either way, seed {seed}: {d}"));
            let c = a.configuration;
            let set = ConstraintSet::new(model.all_constraints(), |_| false);
            let (mut G, mut nu, mut rate) = (vec![0.0; set.values], vec![0.0; set.rows()], vec![0.0; set.rows()]);
            set.jacobian(&c.q, &mut G);
            set.nu(0.0, &mut nu);
            set.multiply(&G, &c.v, &mut rate);
            let left = rate.iter().zip(&nu).fold(0.0_f64, |s, (x, y)| s.max((x - y).abs()));
            let speed = c.v.iter().fold(0.0_f64, |s, v| s.max(v.v.amax()).max(model.length * v.w.amax()));
            assert!(left < 1e-9 * speed.max(model.length), "{name}, 1e{spread}, seed {seed}: {left:.1e} m/s of {speed:.1e} are left");
        }
    }
}

/// The speed of a heavy crank is kept although the light links start without speed.
#[test]
fn light_bodies_follow_the_heavy_one() {
    for exponent in [2, 4, 6, 9, 12] {
        let mut model = found("mass_ratio");
        model.start.clear();
        let heavy = 10f64.powi(exponent);
        for (b, m) in model.bodies.iter_mut().skip(1).zip([heavy, 1.0, 1.0]) {
            b.J_bar *= m / b.mass;
            b.mass = m;
        }
        model.bodies[1].omega = Vector3::new(0.0, 5.0, 0.0);
        model.bodies[1].v = Vector3::new(0.25, 0.0, 0.0);
        let c = assemble(&model).expect("assembles").configuration;
        let speed = (c.q[1].A * c.v[1].w).y;
        let allowed = 100.0 / heavy + 1e-5;
        assert!((speed - 5.0).abs() < 5.0 * allowed, "1e{exponent}: {speed}");
    }
}

/// A crank-rocker with a mass for each link.
fn crank_rocker([a, b, c]: [f64; 3]) -> Model {
    parse(&format!(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  crank: {{mass: {a}, inertia: [{a}*1e-4, {a}*0.01/12, {a}*0.01/12], at: [0, 0, 0.05], orientation: {{x: [0, 0, 1], y: [0, 1, 0]}}}}
  coupler: {{mass: {b}, inertia: [{b}*1e-4, {b}*0.09/12, {b}*0.09/12], at: [0.15, 0, 0.2]}}
  rocker: {{mass: {c}, inertia: [{c}*1e-4, {c}*0.05/12, {c}*0.05/12], at: [0.35, 0, 0.15]}}
joints:
  A: {{type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}}
  B: {{type: revolute, bodies: [crank, coupler], at: [0, 0, 0.1], axis: [0, 1, 0]}}
  C: {{type: revolute, bodies: [coupler, rocker], at: [0.3, 0, 0.3], axis: [0, 1, 0]}}
  D: {{type: revolute, bodies: [ground, rocker], at: [0.4, 0, 0], axis: [0, 1, 0]}}
start: {{A.speed: 5.0}}
study: {{t_end: 0.3, output_step: 0.1}}
"
    ))
}

/// Formulations that reduce the equations to joint coordinates lose accuracy for light bodies; the others agree at any ratio.
#[test]
fn motions_agree_at_any_ratio_of_masses() {
    let mut random = Random(2024);
    let mut cases = vec![[1e6, 1.0, 1e-6], [1e-6, 1e6, 1.0]];
    for spread in [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] {
        cases.push(std::array::from_fn(|_| 10f64.powf(spread * random.number())));
    }
    for masses in cases {
        let model = crank_rocker(masses);
        let start = assemble(&model).unwrap_or_else(|d| panic!("{masses:?}: {d}")).configuration;
        let ratio = masses.iter().fold(0.0_f64, |s, x| s.max(*x)) / masses.iter().fold(f64::INFINITY, |s, x| s.min(*x));
        let names: &[&str] = if ratio < 1e4 { &["dca", "natural", "lie", "ra"] } else { &["dca", "natural"] };
        let at = |name: &str| instants(&model, &start, name, Some(0.3)).unwrap_or_else(|d| panic!("{masses:?}, {name}: {d}"))[1].clone();
        let reference = at("grcr");
        for name in names {
            let other = at(name);
            let d = (1..4).fold(0.0_f64, |s, b| s.max((reference.q[b].r - other.q[b].r).norm()));
            // Errors of the tolerance, 1e-8; for ra, second-order errors.
            let allowed = if *name == "ra" { 1e-4 } else { 1e-7 };
            assert!(d < allowed * model.length, "{masses:?}: {name} and grcr differ by {d:.1e} m");
        }
        // A loss of digits is reported.
        let study = Study { t_end: 0.01, output_step: 0.01, formulation: Some("grcr".into()), ..Study::of(&model) };
        let (_, report) = common::run(&model, &study);
        assert_eq!(report.warnings.iter().any(|w| w.code.0 == "W282"), ratio > 1e9, "{masses:?}: {:?}", report.warnings);
    }
}
