//! Outputs of implicit methods: the state is projected onto the constraints, and accelerations and reactions are evaluated at that state.

use crate::absolute::equations::Equations;
use crate::analysis::assembly::update_turns;
use crate::diagnostic::Diagnostic;
use crate::motion::{Instant, LeastLoads};
use crate::settings::count;
use crate::singular::Detector;
use crate::state::{Configuration, Twist};
use crate::structure::Structure;

/// Below this pivot the index-1 multipliers count as ill-defined only if singular values confirm it; then those of the step are written.
const ILL_DEFINED: f64 = 1e-6;

/// Data for outputs in addition to the equations.
pub(super) struct Output {
    pub loads: LeastLoads,
    pub detector: Detector,
    /// Multipliers at the last output.
    pub lambda: Vec<f64>,
    /// Outputs whose reactions are not well defined.
    pub flagged: usize,
}

impl Output {
    pub fn new(structure: &Structure<'_>, start: &Configuration) -> Self {
        let set = &structure.rows;
        Self { loads: structure.reactions(&start.q), detector: Detector::new(structure, start), lambda: vec![0.0; set.rows()], flagged: 0 }
    }

    /// Projects the output state and evaluates accelerations and reactions there; `a` and `lambda` are those of the step.
    pub fn finish(&mut self, e: &mut Equations<'_>, a: &[Twist], lambda: &[f64], o: &mut Instant) {
        let model = e.model;
        e.set.choose(o.t);
        e.z.copy_from_slice(&o.z);
        for _ in 0..2 {
            e.jacobian(&o.q);
            e.constraints(&o.q, &o.turns, o.t);
            if e.Phi.iter().all(|x| x.abs() < 1e-14 * model.length) {
                break;
            }
            e.factor(1.0);
            e.p.x.copy_from_slice(&e.Phi);
            e.normal_part();
            for (q, d) in o.q.iter_mut().zip(&e.p.dq) {
                *q = q.moved(&d.scaled(-1.0));
            }
        }
        update_turns(model, &o.q, &mut o.turns);
        e.jacobian(&o.q);
        e.factor(1.0);
        e.project_velocity(o.t, &mut o.v);
        o.a.copy_from_slice(a);
        let defined = e.regular_pivot.0 > ILL_DEFINED || !self.detector.is_singular(model, &e.set, &o.q);
        if defined {
            e.refined = o.loaded;
            e.index1_polished(&o.q, &o.v, &o.turns, o.t, &mut o.a, &mut self.lambda);
        } else {
            self.lambda.copy_from_slice(lambda);
            self.flagged += 1;
        }
        o.errors = e.errors(&o.q, &o.v, &o.a, &o.turns, o.t);
        self.loads.fill(model, &e.set, &self.lambda, o);
    }

    /// The warning for outputs with ill-defined reactions.
    pub fn warning(&self) -> Option<Diagnostic> {
        (self.flagged > 0).then(|| {
            Diagnostic::new("W231", format!("at {} the reactions are not well defined, because the mechanism is at a singular position; the step's own values are written", count(self.flagged, "output time")))
                .help("read reactions near singular positions with care")
        })
    }
}
