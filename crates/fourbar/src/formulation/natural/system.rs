//! The Lagrangian system of a mechanism: coordinates, energies, constraint rows and which of them are in use.

use super::builder::{Builder, Choice, Listed};
use super::force::{self, Actions};
use super::refusals::applies;
use super::rows::{Chosen, Row, Rows};
use crate::coordinate::PoseOf;
use crate::diagnostic::Diagnostic;

use crate::model::{BodyId, Model};
use crate::settings::{Study, count, number, tau};
use crate::state::Configuration;
use fourbar_dae::{Node, Options, Problem, State, Tape};

/// Default tolerance.
const DEFAULT_TOL: f64 = 1e-9;
/// Factor between local errors and the tolerance, so that the whole run meets the tolerance.
pub(super) const LOCAL: f64 = 1e-2;

/// Pose of a body as results on the tape.
#[derive(Clone, Copy, Debug)]
pub struct RecordedPose {
    /// Centre of mass and rotation in the world; a thin rod has its axis alone in the rotation.
    pub pose: PoseOf<Node>,
    /// Number of axes in the rotation: three, one for a thin rod, none for a particle.
    pub axes: usize,
}

/// A mechanism as a Lagrangian system.
#[derive(Clone, Debug)]
pub struct System {
    /// Tape on which all the following is recorded.
    pub tape: Tape,
    /// Names of the variables: coordinates and integrals of time functions.
    pub names: Vec<String>,
    /// Rates of those variables that are integrals.
    pub integrals: Vec<Option<Node>>,
    /// Size relative to which changes of each variable are measured.
    pub weights: Vec<f64>,
    /// Fixed error sizes of variables that grow with every turn.
    pub sizes: Vec<Option<f64>>,
    /// All constraint rows.
    pub rows: Vec<Row>,
    /// The independent ones.
    pub active: Vec<bool>,
    /// Whether the start is a singular position.
    pub singular_start: bool,
    /// Energies and forces.
    lagrangian: Node,
    loads: Vec<(Node, Node)>,
    power: Node,
    /// Poses by body, ground first.
    pub poses: Vec<RecordedPose>,
    /// Whether the whole motion is in parallel planes.
    pub planar: bool,
    /// Numbers of inputs, slopes and states among the variables.
    pub carried: Vec<usize>,
    /// Angles that are coordinates, by angle memory.
    pub counted: Vec<Option<Node>>,
    table: Vec<Listed>,
}

/// The options of a study that concern this formulation.
pub fn choice(options: &[(String, String)]) -> Result<Choice, Diagnostic> {
    let mut choice = Choice::default();
    for (key, text) in options {
        match (key.as_str(), text.as_str()) {
            ("coordinates", "assigned") => choice = Choice { parallelograms: choice.parallelograms, ..Choice::default() },
            ("coordinates", "unassigned") => choice.assign = false,
            ("coordinates", "twelve") => choice.twelve = true,
            ("coordinates", "file") => choice = Choice { parallelograms: choice.parallelograms, file: true, ..Choice::default() },
            ("parallelograms", "assign") => choice.parallelograms = true,
            ("parallelograms", "equate") => choice.parallelograms = false,
            ("coordinates", other) => {
                return Err(Diagnostic::new("U304", format!("option `coordinates` is `{other}`"))
                    .help("it is assigned, file, unassigned or twelve"));
            }
            ("parallelograms", other) => {
                return Err(Diagnostic::new("U304", format!("option `parallelograms` is `{other}`")).help("it is assign or equate"));
            }
            _ => {}
        }
    }
    Ok(choice)
}

impl System {
    /// Builds the system of a mechanism around an assembled start.
    pub fn new(model: &Model, start: &Configuration, choice: Choice) -> Result<Self, Diagnostic> {
        applies(model)?;
        if choice.file && model.basis.is_empty() {
            return Err(Diagnostic::new(
                "U304",
                "option `coordinates` is `file`, but the file does not describe its bodies by points and vectors",
            )
            .help("MechSpec files do; leave the option out, and points and vectors are chosen"));
        }
        let (tape, built) = Tape::record_around(start.t, || {
            let mut b = Builder::new(model, start, choice);
            b.build();
            let poses: Vec<RecordedPose> = (0..model.bodies.len())
                .map(|k| {
                    let body = BodyId(k as u32);
                    let axes = match b.layout.coils[k] {
                        Some(_) => 1,
                        None => b.axes[b.layout.group_of(body)].as_ref().map_or(0, |a| a.e.len()),
                    };
                    RecordedPose { pose: b.pose(body), axes }
                })
                .collect();
            let mut counted = vec![None; model.angles.len()];
            for (k, j) in model.joints.iter().enumerate() {
                if let Some(m) = j.memory {
                    counted[m] = b.coordinate[k][0];
                }
            }
            let actions = force::actions(&b);
            force::carry(&mut b);
            let carried: Vec<usize> = b.carried.iter().map(|c| c.1).collect();
            (carried, actions, poses, counted, b.layout.normal.is_some(), b.parts_out())
        });
        let (carried, actions, poses, counted, planar, (rows, names, integrals, weights, sizes, table)) = built;
        let Actions { lagrangian, loads, power } = actions?;
        let mut system = Self {
            active: vec![true; rows.len()],
            tape,
            names,
            integrals,
            weights,
            sizes,
            rows,
            singular_start: false,
            lagrangian,
            loads,
            power,
            poses,
            planar,
            carried,
            counted,
            table,
        };
        let x: Vec<f64> = system.tape.variables().iter().map(|v| v[0]).collect();
        let Chosen { active, singular } = system.view().choose(start.t, &x);
        (system.active, system.singular_start) = (active, singular);
        Ok(system)
    }

    /// The rows as functions of the coordinates.
    pub fn view(&self) -> Rows<'_> {
        Rows { tape: &self.tape, rows: &self.rows, weight: &self.weights }
    }

    /// Number of coordinates and of independent rows.
    pub fn size(&self) -> (usize, usize) {
        let q = self.integrals.iter().filter(|i| i.is_none()).count();
        (q, self.active.iter().filter(|a| **a).count())
    }

    /// Names of rows that are omitted.
    pub fn dropped(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().zip(&self.active).filter(|(_, a)| !**a).map(|(r, _)| r.name.as_str())
    }

    /// Records the equations with the rows in use. Outputs: the power of forces without potential, then the rates of the
    /// prescribed motions among the rows, negative.
    pub fn record(&self) -> Result<Problem, fourbar_dae::Error> {
        let is_q = |j: &usize| self.integrals[*j].is_none();
        let q: Vec<usize> = (0..self.names.len()).filter(is_q).collect();
        let extra: Vec<usize> = (0..self.names.len()).filter(|j| !is_q(j)).collect();
        let names: Vec<&str> = q.iter().map(|&j| self.names[j].as_str()).collect();
        let extras: Vec<&str> = extra.iter().map(|&j| self.names[j].as_str()).collect();
        let used: Vec<&Row> = self.rows.iter().zip(&self.active).filter(|(_, a)| **a).map(|(r, _)| r).collect();
        let roots = used.iter().flat_map(|r| [Some(r.value), r.nu]).flatten();
        let roots = roots.chain([self.lagrangian, self.power]).chain(self.loads.iter().flat_map(|l| [l.0, l.1]));
        let list = self.tape.needed(roots.chain(self.integrals.iter().flatten().copied()));
        Problem::lagrangian_with(&names, &extras, |t, nodes, _, others, m| {
            let mut x = vec![t; self.names.len()];
            q.iter().zip(nodes).for_each(|(&j, n)| x[j] = *n);
            extra.iter().zip(others).for_each(|(&j, n)| x[j] = *n);
            let played = self.tape.replay(&list, t, &x);
            let of = |result: Node| result.among(&played);
            m.lagrangian(of(self.lagrangian));
            for (rate, force) in &self.loads {
                m.load(of(*rate), of(*force));
            }
            for r in &used {
                m.constraint(r.name.clone(), of(r.value));
            }
            for (k, &j) in extra.iter().enumerate() {
                if let Some(rate) = self.integrals[j] {
                    m.rate_of(k, of(rate));
                }
            }
            if self.power.constant().is_none() {
                m.output("power", of(self.power));
            }
            for r in &used {
                if let Some(nu) = r.nu.filter(|nu| nu.constant().is_none()) {
                    m.output(format!("rate of {}", r.name), of(nu));
                }
            }
        })
    }

    /// Number of each variable in the recorded problem: coordinates come first, then integrals, both in order.
    pub fn numbers(&self) -> Vec<usize> {
        let (mut next, mut extra) = (0, self.size().0);
        let number = |integral: &Option<Node>| {
            let j = if integral.is_none() { &mut next } else { &mut extra };
            *j += 1;
            *j - 1
        };
        self.integrals.iter().map(number).collect()
    }

    /// Values and rates of the variables as a state of a recorded problem.
    pub fn state(&self, problem: &Problem, t: f64, x: impl IntoIterator<Item = [f64; 2]>) -> State {
        let mut state = problem.zero_state(t);
        for (j, x) in self.numbers().into_iter().zip(x) {
            state.set(j, 0, x[0]);
            state.set(j, 1, x[1]);
        }
        state
    }

    /// Solver options for a recorded problem: tolerances and sizes of errors, and the order that a study requires.
    pub fn options(&self, model: &Model, study: &Study) -> Result<Options, Diagnostic> {
        let tol = study.tol.unwrap_or(DEFAULT_TOL);
        let mut options = Options::new((LOCAL * tol).clamp(1e-15, 1e-2));
        options.abs = options.rel * 0.1 * model.length.min(1.0);
        for (name, size) in self.names.iter().zip(&self.sizes) {
            options.sizes.extend(size.map(|s| (name.clone(), s)));
        }
        // States with small initial values are scaled by their change in a characteristic time.
        for &j in &self.carried {
            let [value, rate] = self.tape.variables()[j];
            let size = value.abs().max(tau(study)? * rate.abs());
            options.least.extend((size > 0.0).then(|| (self.names[j].clone(), size)));
        }
        if let Some(order) = number(&study.options, "order")? {
            if !(4.0..=60.0).contains(&order) {
                return Err(Diagnostic::new("U304", format!("order = {order} is out of range")).help("the order lies between 4 and 60"));
            }
            options.order = Some(order as usize);
        }
        Ok(options)
    }

    /// The start as a state of a recorded problem.
    pub fn start_state(&self, problem: &Problem, t: f64) -> State {
        self.state(problem, t, self.tape.variables().iter().copied())
    }

    /// The table of items that are brought in, assigned and equated, with the running count of freedoms [Pryce20, Tables 1 and 3].
    pub fn describe(&self) -> Vec<String> {
        let (nq, nc) = self.size();
        let mut lines = vec![format!(
            "{}: {}, {}, size {} ({} in first order)",
            if self.planar { "planar" } else { "spatial" },
            count(nq, "coordinate"),
            count(nc, "constraint"),
            nq + nc,
            2 * nq + nc
        )];
        let list = |v: &[String]| if v.is_empty() { "-".to_string() } else { v.join(", ") };
        let mut freedoms = 0i64;
        for listed in &self.table {
            if listed.coordinates == 0 && listed.rows == 0 && listed.assigned.is_empty() {
                continue;
            }
            freedoms += listed.coordinates as i64 - listed.rows as i64;
            lines.push(format!(
                "{}: brings in {}; assigns {}; equates {}; {:+} {:+} -> {}",
                listed.part,
                list(&listed.brought),
                list(&listed.assigned),
                list(&listed.equated),
                listed.coordinates,
                -(listed.rows as i64),
                freedoms
            ));
        }
        for name in self.dropped() {
            freedoms += 1;
            lines.push(format!("omitted as dependent: {name} -> {freedoms}"));
        }
        if self.singular_start {
            lines.push("the start is a singular position: rows are independent nearby, but not there".to_string());
        }
        lines
    }
}

/// Description of a mechanism in natural coordinates: sizes, the table of section 4.2 of \[Pryce20\], rows omitted.
pub fn describe(model: &Model, start: &Configuration, choice: Choice) -> Result<Vec<String>, Diagnostic> {
    Ok(System::new(model, start, choice)?.describe())
}
