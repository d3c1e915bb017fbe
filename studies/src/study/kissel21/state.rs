//! rA in state space compared with the index-3 form and the index-1 form with projections: errors against references and time.

use super::measure::reference;
use fourbar::study::{Analysis, Study};
use fourbar::{Model, Trajectory};
use fourbar_bench::{cpu_clock, shipped};

/// One run.
pub struct Compared {
    pub model: &'static str,
    pub freedoms: usize,
    pub method: &'static str,
    pub tol: f64,
    /// Largest distance from the reference, metres.
    pub error: f64,
    /// Largest residual of positions and of velocities.
    pub residuals: [f64; 2],
    pub steps: f64,
    /// Evaluations of accelerations, or Newton iterations.
    pub evaluations: f64,
    pub factorisations: f64,
    /// Processor time in milliseconds, the shortest of several runs.
    pub time: f64,
}

/// Models with the end time of the comparison.
const MODELS: [(&str, f64); 4] = [("ra_double_pendulum", 2.0), ("a02_n_fourbar_N2", 4.0), ("dca_five_bar", 5.0), ("nc_rscr", 2.0)];
/// Name, formulation, integrator, and value of the option `constraints`.
type Method = (&'static str, &'static str, &'static str, Option<&'static str>);
const METHODS: [Method; 4] = [
    ("index 3, gen-alpha", "ra", "gen-alpha", None),
    ("index 3, radau", "ra", "radau", None),
    ("state space, dopri5", "so3xr3", "dopri5", Some("independent")),
    ("index 1 with projections, dopri5", "so3xr3", "dopri5", Some("project")),
];

/// All runs.
pub fn compared() -> Result<Vec<Compared>, String> {
    let mut list = Vec::new();
    for (name, until) in MODELS {
        let model = shipped(name);
        for method in METHODS {
            for tol in [1e-6_f64, 1e-8] {
                // The smallest tolerance of generalised-alpha is 1e-7.
                let tol = if method.2 == "gen-alpha" { tol.max(1e-7) } else { tol };
                list.push(one(name, &model, method, tol, until)?);
            }
        }
    }
    Ok(list)
}

fn one(
    name: &'static str,
    model: &Model,
    (method, formulation, integrator, constraints): Method,
    tol: f64,
    until: f64,
) -> Result<Compared, String> {
    let study = Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some(formulation.into()),
        integrator: Some(integrator.into()),
        step: None,
        tol: Some(tol),
        t_end: until,
        options: constraints.iter().map(|c| ("constraints".to_string(), c.to_string())).collect(),
        ..Study::of(model)
    };
    let mut time = f64::INFINITY;
    let mut last = None;
    for _ in 0..5 {
        let mut t = Trajectory::default();
        let clock = cpu_clock();
        let report = fourbar::study::run(model, &study, &mut t).map_err(|f| format!("{name} {method}: {}", f.diagnostic))?;
        time = time.min(1e3 * (cpu_clock() - clock));
        last = Some((t, report));
    }
    let (t, report) = last.ok_or("no run")?;
    let work = |key: &str| report.work.iter().find(|(k, _)| k == key).map(|x| x.1);
    let worst = |column: &str| t.column(column).map_or(f64::NAN, |x| x.iter().fold(0.0_f64, |m, x| m.max(x.abs())));
    let freedoms = fourbar::Structure::new(model, &fourbar::analysis::assembly::assemble(model).map_err(|d| d.to_string())?.configuration)
        .driven()
        .generic
        .mobility();
    println!("{name} {method} {tol:e}: {time:.1} ms");
    Ok(Compared {
        model: name,
        freedoms,
        method,
        tol,
        error: error(name, &t, until)?,
        residuals: [worst("error.position"), worst("error.velocity")],
        steps: work("steps").unwrap_or(f64::NAN),
        evaluations: work("evaluations").or(work("newton_iterations")).unwrap_or(f64::NAN),
        factorisations: work("factorisations").unwrap_or(f64::NAN),
        time,
    })
}

/// Largest distance from the reference over all bodies in it; NaN if there are none.
fn error(name: &str, t: &Trajectory, until: f64) -> Result<f64, String> {
    let time = t.column("t").ok_or("no time")?;
    let mut most = f64::NAN;
    for (k, c) in t.columns.iter().enumerate() {
        let Some((body, axis)) = c.name.split_once(".r.") else { continue };
        let Ok(truth) = reference(name, &format!("{body}.{axis}")) else { continue };
        for (at, x) in truth.iter().filter(|(at, _)| *at <= until + 1e-9) {
            if let Some(row) = time.iter().position(|t| (t - at).abs() < 1e-9) {
                most = most.max((t.values[k][row] - x).abs());
            }
        }
    }
    Ok(most)
}
