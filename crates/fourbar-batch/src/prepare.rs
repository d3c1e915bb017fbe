//! From a mechanism and its study to a lane: what it shares with others, its numbers, and everything that records it.

use crate::kernel::loops::{LoopRow, Loops, Mover, Says};
use crate::kernel::{Form, Node, Numbers};
use crate::passes::Joint;
use fourbar::analysis::jumps;
use fourbar::constraint::{Owner, Rows};
use fourbar::coordinate::Coordinate;
use fourbar::formulation::grcr::schedule::Role;
use fourbar::formulation::grcr::tree::Tree;
use fourbar::formulation::grcr::{Mechanism, Options};
use fourbar::integrator::control::next_end;
use fourbar::integrator::first_order::Tableau;
use fourbar::integrator::{tau, tolerance};
use fourbar::joint::JointKind;
use fourbar::judge::Judge;
use fourbar::model::Model;
use fourbar::motion::{Instant, Loads};
use fourbar::structure::Structure;
use fourbar::study::{self, Analysis, Study};
use fourbar::trajectory::outputs::Watch;
use fourbar::trajectory::{Recorder, WantedColumns};
use nalgebra::{Matrix3, Vector3};

/// Columns of a mechanism with loops, at most: its equations are dense.
const MOST: usize = 40;

/// Steps below this share of the characteristic time lead nowhere.
pub const SMALLEST: f64 = 5e-10;

/// How lanes move.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Drives prescribe everything.
    Kinematics,
    /// By an explicit method.
    Explicit(&'static Tableau),
}

impl PartialEq for Way {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Way::Kinematics, Way::Kinematics) => true,
            (Way::Explicit(a), Way::Explicit(b)) => a.name == b.name,
            _ => false,
        }
    }
}

/// A case that can share a batch.
pub struct Prepared<'m> {
    pub form: Form,
    pub way: Way,
    pub numbers: Numbers,
    /// Coordinates and speeds at the start.
    pub q: Vec<f64>,
    pub u: Vec<f64>,
    pub t: f64,
    pub case: Case<'m>,
}

/// What belongs to one mechanism alone.
pub struct Case<'m> {
    pub model: &'m Model,
    pub mechanism: Mechanism<'m>,
    pub loads: Loads,
    pub judge: Judge<'m>,
    pub recorder: Recorder,
    pub watch: Watch,
    pub now: Instant,
    /// Rotations from the frames of nodes to body axes.
    pub own: Vec<Matrix3<f64>>,
    /// Counted angles at the end of the last step.
    pub turns: Vec<f64>,
    pub no_loads: Vec<f64>,
    /// Room for residuals.
    pub G: Vec<f64>,
    pub rows: [Vec<f64>; 2],
    pub wanted: WantedColumns,
    pub times: Vec<f64>,
    /// Where steps whose size the error decides end, beside the last of the times.
    pub ends: Vec<f64>,
    pub fixed: Option<f64>,
    pub tol: f64,
    pub tau: f64,
    pub little: f64,
}

impl Case<'_> {
    /// The least step at a time that leads somewhere.
    pub fn least(&self, t: f64) -> f64 {
        (SMALLEST * self.tau).max(16.0 * f64::EPSILON * t.abs())
    }

    /// Where a step from a time ends at the latest, if its error decides.
    pub fn end(&self, t: f64) -> f64 {
        next_end(&self.ends, t + self.least(t), self.times[self.times.len() - 1])
    }
}

/// Why a mechanism is run alone.
pub fn refusal(model: &Model, study: &Study) -> Option<String> {
    let named = |what: &str, name: Option<&str>| name.map(|n| format!("it has {what} (`{n}`)"));
    if model.has_modes() {
        return Some("it has events, or forces or drives that switch".into());
    }
    let first = |list: &mut dyn Iterator<Item = &str>| list.next().map(String::from);
    if !model.coils.is_empty() {
        return Some("it has springs with mass".into());
    }
    named("rigid contacts", model.contacts.first().map(|c| c.name.as_str()))
        .or_else(|| named("gears or racks", model.couplings.first().map(|c| c.name.as_str())))
        .or_else(|| named("bare constraints", model.bare.first().map(|c| c.name.as_str())))
        .or_else(|| named("rolling elements", model.rolling.first().map(|c| c.name.as_str())))
        .or_else(|| (model.auxiliaries() > 0).then(|| "it has inputs or states".into()))
        .or_else(|| {
            let rubs = first(&mut model.forces.iter().filter(|(_, f)| f.touches().load).map(|(n, _)| n.as_str()));
            named("friction that follows the load of its joint", rubs.as_deref())
        })
        .or_else(|| {
            let tables = first(&mut model.drives.iter().filter(|d| !d.value.knots().is_empty()).map(|d| d.name.as_str()));
            named("a drive by a table", tables.as_deref())
        })
        .or_else(|| {
            let open = first(&mut model.joints.iter().filter(|j| j.open).map(|j| j.name.as_str()));
            named("a joint that does not act", open.as_deref())
        })
        .or_else(|| study.options.first().map(|(k, _)| format!("the option `{k}` is given")))
}

/// Makes a case ready, or states why it is run alone. What is wrong with it the run alone will say.
pub fn prepare<'m>(model: &'m Model, study: &Study, wanted: WantedColumns) -> Result<Prepared<'m>, String> {
    if let Some(why) = refusal(model, study) {
        return Err(why);
    }
    let trouble = |d: fourbar::Diagnostic| format!("it cannot be started: {}", d.message);
    study::check(study).map_err(trouble)?;
    let start = study.assemble(model).map_err(trouble)?.configuration;
    let structure = Structure::new(model, &start);
    let analysis = study.analysis_of(&structure);
    jumps::check(model, analysis, study.t_end).map_err(trouble)?;
    let (way, tol) = match analysis {
        Analysis::Kinematics => (Way::Kinematics, 0.0),
        Analysis::Dynamics => {
            let chosen = study.chosen(model).map_err(trouble)?;
            let tableau = Tableau::named(chosen.integrator).filter(|t| chosen.formulation.name == "grcr" && t.product.is_empty());
            let Some(tableau) = tableau else {
                return Err(format!(
                    "{} with {} is not an explicit method in joint coordinates",
                    chosen.formulation.name, chosen.integrator
                ));
            };
            (Way::Explicit(tableau), tolerance(study, tableau.name).map_err(trouble)? * model.length)
        }
    };
    let mechanism = Mechanism::asked(model, &start, &Options::default()).map_err(trouble)?;
    let (form, numbers) = formed(model, &mechanism)?;
    if way == Way::Kinematics && form.loops.rows.is_empty() && form.nodes.iter().any(|n| n.joint != Joint::Weld && !n.driven) {
        return Err("its drives do not prescribe everything".into());
    }
    if way == Way::Kinematics && !form.loops.independent.is_empty() {
        return Err("its drives do not prescribe everything".into());
    }
    let (tau, t) = (tau(study).map_err(trouble)?, start.t);
    let mut now = Instant::new(model, &start);
    now.loaded = wanted.loads;
    let case = Case {
        model,
        loads: Loads::new(model, &mechanism.closings.set),
        judge: Judge::new(&structure, study, analysis),
        recorder: Recorder::new(model, wanted),
        watch: Watch::new(model),
        own: mechanism.tree.nodes.iter().map(|n| n.R_own).collect(),
        turns: start.turns.clone(),
        no_loads: vec![0.0; model.joints.len()],
        G: vec![0.0; structure.rows.values],
        rows: [vec![0.0; structure.rows.rows()], vec![0.0; structure.rows.rows()]],
        times: study.output_times().collect(),
        ends: model.time_marks(study.t_end),
        fixed: study.fixed_step(),
        little: fourbar::judge::little_energy(model, tau),
        now,
        wanted,
        tol,
        tau,
        mechanism,
    };
    let (q, u) = (case.mechanism.q.clone(), case.mechanism.u.clone());
    Ok(Prepared { form, way, numbers, q, u, t, case })
}

/// The tree and the loops of a mechanism, and its numbers.
fn formed(model: &Model, m: &Mechanism<'_>) -> Result<(Form, Numbers), String> {
    let tree = &m.tree;
    let name = |j: Option<usize>| j.map_or("a free body".to_string(), |j| format!("`{}`", model.joints[j].name));
    let mut nodes = Vec::with_capacity(tree.nodes.len());
    let mut shapes = Vec::with_capacity(tree.nodes.len());
    let mut counted = vec![None; model.angles.len()];
    for (k, n) in tree.nodes.iter().enumerate() {
        let joint = match n.joint.map(|j| &model.joints[j].kind) {
            Some(JointKind::Revolute(_)) => Joint::Hinge,
            Some(JointKind::Prismatic(_)) if n.reversed => Joint::SlideBack,
            Some(JointKind::Prismatic(_)) => Joint::Slide,
            Some(JointKind::Fixed(_)) => Joint::Weld,
            None if k == 0 => Joint::Weld,
            _ => return Err(format!("{} is not a hinge, slide or weld", name(n.joint))),
        };
        if n.shift {
            return Err("it is a chain of more than 23 joints".into());
        }
        let driven = tree.prescribed.iter().any(|p| p.node == k);
        nodes.push(Node { parent: n.parent, joint, column: n.u, driven, body: n.body });
        if let Some(memory) = n.joint.and_then(|j| model.joints[j].memory) {
            counted[memory] = Some(n.u);
        }
        if k > 0 {
            let (s, mut x) = (&tree.shapes[k], [0.0; 22]);
            // Row by row: matrices are stored by columns.
            let all = s.R.transpose();
            let list = all.iter().chain(s.s.iter()).chain(s.c.iter()).chain(std::iter::once(&s.mass)).chain(s.J.0.iter());
            x.iter_mut().zip(list).for_each(|(x, y)| *x = *y);
            shapes.push(x);
        }
    }
    let drives: Vec<(usize, usize)> = tree.prescribed.iter().map(|p| (p.drive, p.column)).collect();
    if drives.len() < model.drives.len() {
        return Err("a drive acts where a loop closes".into());
    }
    if tree.prescribed.iter().any(|p| p.factor != 1.0) {
        return Err("a drive acts on a screw".into());
    }
    let (loops, rows, weights) = looped(m)?;
    let form = Form {
        columns: tree.speeds,
        slides: tree.slides.clone(),
        drives,
        counted,
        loops,
        worked: model.has_work(),
        loaded: !model.forces.is_empty(),
        nodes,
    };
    let numbers = Numbers { centre: tree.centre.into(), gravity: tree.gravity.into(), shapes, rows, weights, ell: m.closings.ell };
    Ok((form, numbers))
}

type LoopNumbers = (Loops, Vec<[f64; 10]>, Vec<f64>);

/// The loops of a mechanism: those rows that its active combinations are made of.
fn looped(m: &Mechanism<'_>) -> Result<LoopNumbers, String> {
    let (tree, closings) = (&m.tree, &m.closings);
    if closings.is_empty() {
        return Ok((Loops::default(), Vec::new(), Vec::new()));
    }
    if tree.speeds > MOST {
        return Err(format!("it has loops and more than {MOST} joint coordinates"));
    }
    let mut loops = Loops { active: closings.active, ..Loops::default() };
    let (mut data, mut weights) = (Vec::new(), Vec::new());
    // Rows in use, by closing and row.
    let mut used: Vec<(usize, usize)> = Vec::new();
    for (active, closing, row, weight) in closings.parts() {
        let place = match used.iter().position(|x| *x == (closing, row)) {
            Some(place) => place,
            None => {
                used.push((closing, row));
                let (says, numbers) = said(m, closing, row)?;
                loops.rows.push(says);
                data.push(numbers);
                used.len() - 1
            }
        };
        loops.terms.push((active, place));
        weights.push(weight);
    }
    for row in &loops.rows {
        loops.movers.push(movers(tree, row.nodes));
    }
    for (c, role) in m.selection.roles.iter().enumerate() {
        match role {
            Role::Dependent => loops.dependent.push(c),
            Role::Independent => loops.independent.push(c),
            Role::Prescribed => {}
        }
    }
    // In the order of the drives, as their efforts are.
    loops.prescribed = tree.prescribed.iter().map(|p| p.column).collect();
    if loops.dependent.len() != loops.active {
        return Err("its loops are singular at the start".into());
    }
    Ok((loops, data, weights))
}

/// Columns that lie on the way to one of two nodes and not on that to the other.
fn movers(tree: &Tree, nodes: [usize; 2]) -> Vec<Mover> {
    let way = |mut k: usize| {
        let mut list = Vec::new();
        while k != 0 {
            list.push(k);
            k = tree.nodes[k].parent;
        }
        list
    };
    let ways = nodes.map(way);
    let mut list = Vec::new();
    for (side, way) in ways.iter().enumerate() {
        for &k in way.iter().filter(|k| !ways[1 - side].contains(k)) {
            if tree.nodes[k].kind.speeds() == 1 {
                list.push(Mover { node: k, column: tree.nodes[k].u, second: side == 1 });
            }
        }
    }
    list
}

/// What a row of a closing says, with its numbers in the frames of the nodes.
fn said(m: &Mechanism<'_>, closing: usize, row: usize) -> Result<(LoopRow, [f64; 10]), String> {
    let (tree, constraint) = (&m.tree, &m.closings.set.list[closing]);
    let refused = || Err(format!("`{}` closes a loop in a way that batches do not support", constraint.name));
    let Owner::Joint(joint) = constraint.owner else { return refused() };
    let (mut first, mut found) = (0, None);
    for rows in &constraint.rows {
        if row < first + rows.count() {
            found = Some((rows, row - first));
            break;
        }
        first += rows.count();
    }
    let Some((rows, k)) = found else { return refused() };
    let node = |slot: usize| tree.of_body[constraint.bodies[slot].index()];
    let direction = |k: usize, a: &Vector3<f64>| tree.nodes[k].R_own.tr_mul(a);
    let point = |k: usize, s: &Vector3<f64>| tree.nodes[k].R_own.tr_mul(&(s - tree.nodes[k].s_own));
    let (says, ij, a, p, b, constant) = match rows {
        // Points are compared along the axes of the joint on its base.
        Rows::Point { ij, s_i, s_j } => {
            let [i, j] = ij.map(node);
            let axis = m.model.joints[joint].F.axis(k);
            (Says::Along, [i, j], direction(i, &axis), point(i, s_i), point(j, s_j), 0.0)
        }
        Rows::Sum { terms, constant, driven: None } if terms.len() == 1 => {
            let (c, y) = &terms[0];
            match y {
                Coordinate::Dp1 { ij, a_i, a_j } => {
                    let [i, j] = ij.map(node);
                    (Says::Directions, [i, j], direction(i, a_i) * *c, Vector3::zeros(), direction(j, a_j), *constant)
                }
                Coordinate::Dp2 { ij, a_i, s_i, s_j } => {
                    let [i, j] = ij.map(node);
                    (Says::Along, [i, j], direction(i, a_i) * *c, point(i, s_i), point(j, s_j), *constant)
                }
                _ => return refused(),
            }
        }
        _ => return refused(),
    };
    let numbers = [a.x, a.y, a.z, p.x, p.y, p.z, b.x, b.y, b.z, constant];
    Ok((LoopRow { says, nodes: ij }, numbers))
}
