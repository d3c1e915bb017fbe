//! The reference gallery: the rigid-body benchmarks of the IFToMM library, A01 to A05, and Andrews' squeezer, with every
//! formulation. Writes `docs/benchmarks.md` and work-precision figures.

use super::precision::{Case, Line, all};
use super::report::{Report, Series, digits};
use crate::root;
use fourbar::Model;
use fourbar::model::{BodyId, PointOn};
use fourbar::motion::Instant;
use fourbar::study::Study;
use fourbar_bench::shipped;
use fourbar_io::plot::Scale;
use nalgebra::Vector3;

/// Longer runs are not refined further, in seconds.
const PATIENCE: f64 = 1.0;
/// Formulations in the figures, each with its fastest integrator; the curves of other Lie groups are close to `lie`.
const DRAWN: [&str; 7] = ["ra", "rp", "reps", "lie", "dca", "grcr", "natural"];

/// A benchmark: model, end time, accuracy of the table, description, and results of other codes.
struct Benchmark {
    model: &'static str,
    t_end: f64,
    accuracy: f64,
    what: &'static str,
    others: &'static [[&'static str; 3]],
}

const ALL: &[Benchmark] = &[
    Benchmark {
        model: "a01_simple_pendulum",
        t_end: 10.0,
        accuracy: 1e-6,
        what: "A01, simple pendulum: a point mass on a massless bar, 10 s. Exact: elliptic functions.",
        others: &[["OpenSim 3.2, published", "not given", "0.637 s"]],
    },
    Benchmark {
        model: "a02_n_fourbar_N2",
        t_end: 10.0,
        accuracy: 1e-6,
        what: "A02, N four-bars, N = 2, 10 s: ten passages through singular positions. Exact: one equation of one freedom.",
        others: &[
            ["Pinocchio 4.1.0, RK4 h = 1e-2", "5.3e-7 m", "0.026 s"],
            ["Exudyn 1.13.6, 2D gen-alpha h = 1e-4", "3.3e-7 m", "3.37 s"],
            ["MuJoCo 4.0.0, RK4 h = 1e-4", "1.4e-5 m", "1.36 s"],
            ["Simbody 3.7, RKM, constraint tolerance 1e-10", "1.2e-3 m", "0.037 s"],
            ["OpenSim 3.2, published", "not given", "0.455 s"],
        ],
    },
    Benchmark {
        model: "a02_n_fourbar_N40",
        t_end: 10.0,
        accuracy: 1e-5,
        what: "A02, N four-bars, N = 40, the first 10 s.",
        others: &[
            ["MuJoCo 4.0.0, Euler h = 1e-3", "4.6e-5 m (1.5 J of drift)", "0.379 s"],
            ["Pinocchio 4.1.0, RK4 h = 1e-3", "4.3e-7 m", "13.8 s"],
            ["Exudyn 1.13.6, 2D sparse h = 1e-3", "3.7e-5 m", "5.64 s"],
            ["Simbody 3.7", "lost", "37.7 s"],
        ],
    },
    Benchmark {
        model: "a03_andrews_beta0_m0p0620",
        t_end: 0.05,
        accuracy: 1e-6,
        what: "A03, Andrews' squeezer with the benchmark's start, 0.05 s.",
        others: &[],
    },
    Benchmark {
        model: "andrews",
        t_end: 0.03,
        accuracy: 1e-6,
        what: "Andrews' squeezer with the start of the test set for initial value problems, 0.03 s.",
        others: &[
            ["IDAS, index 1, through CasADi 3.8.2, rtol 1e-8", "2.7e-7 rad", "0.0219 s"],
            ["DOP853 of SciPy 1.17.1 on a reduced equation, 1e-9", "3.6e-9 rad", "0.0678 s"],
            ["Exudyn 1.13.6, gen-alpha h = 1e-6", "2.2e-6 rad", "1.225 s"],
        ],
    },
    Benchmark {
        model: "a04_bricard",
        t_end: 10.0,
        accuracy: 1e-6,
        what: "A04, Bricard's linkage, 10 s: six hinges, over-constrained, one freedom.",
        others: &[
            ["Simbody 3.7, RKM accuracy 1e-6", "1.2e-5 J", "0.040 s"],
            ["MuJoCo 4.0.0, RK4 h = 1e-3", "1.3e-6 J", "0.147 s"],
            ["OpenSim 3.2, published", "not given", "0.258 s"],
        ],
    },
    Benchmark {
        model: "a05_flyball_governor",
        t_end: 10.0,
        accuracy: 1e-6,
        what: "A05, stiff flyball governor, 10 s: springs and dampers with time constants of 0.1 ms.",
        others: &[],
    },
];

/// Columns of reference trajectories with names that differ from our bodies and points.
const OTHER_NAMES: &[(&str, &str, &str)] = &[("a05_flyball_governor", "ball.z", "ball_right.z")];

/// A time, and world coordinates by point and axis.
type Places = (f64, Vec<(PointOn, usize, f64)>);

/// Reference trajectories stored with the tests: times and world positions of the bodies and points in the model.
fn reference(model: &Model, name: &str) -> Result<Vec<Places>, String> {
    let path = root().join("crates/fourbar/tests/data").join(format!("{name}.csv"));
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut lines = text.lines().filter(|l| !l.starts_with('#'));
    let point = |name: &str| {
        let body = model.bodies.iter().position(|b| b.name == name).map(|b| PointOn { body: BodyId(b as u32), s: Vector3::zeros() });
        body.or_else(|| model.points.iter().find(|p| p.0 == name).map(|p| p.1))
    };
    let columns: Vec<Option<(PointOn, usize)>> = lines
        .next()
        .unwrap_or_default()
        .split(',')
        .map(|c| {
            let c = OTHER_NAMES.iter().find(|o| (o.0, o.1) == (name, c)).map_or(c, |o| o.2);
            let (name, axis) = c.rsplit_once('.')?;
            Some((point(name)?, ["x", "y", "z"].iter().position(|a| *a == axis)?))
        })
        .collect();
    Ok(lines
        .map(|l| {
            let x: Vec<f64> = l.split(',').map(|x| x.parse().unwrap_or(f64::NAN)).collect();
            let places = columns.iter().zip(&x).filter_map(|(c, x)| c.map(|(p, k)| (p, k, *x))).collect();
            (x[0], places)
        })
        .collect())
}

/// Largest distance of our reference motion from the external reference, at common times, and their number.
fn against_reference(model: &Model, name: &str, truth: &[Instant]) -> Result<(f64, usize), String> {
    let (mut worst, mut count) = (0.0_f64, 0);
    for (t, places) in reference(model, name)? {
        let Some(s) = truth.iter().find(|s| (s.t - t).abs() < 1e-9) else { continue };
        for (p, k, x) in places {
            let q = &s.q[p.body.index()];
            worst = worst.max(((q.r + q.A * p.s)[k] - x).abs());
            count += 1;
        }
    }
    if count == 0 { Err(format!("nothing of {name} could be compared with its reference")) } else { Ok((worst, count)) }
}

/// Writes `docs/benchmarks.md`.
pub fn run(_: &[String]) -> Result<(), String> {
    let mut report = Report::page("benchmarks", "Benchmarks")?;
    report.text(
        "The rigid-body problems A01 to A05 of the IFToMM library of computational benchmark problems, and Andrews' squeezing mechanism, with \
         every formulation. Inputs are the shipped models of the names given (`fourbar examples NAME`); `fourbar verify NAME` compares the \
         formulations, `cargo xtask study benchmarks` repeats this page.\n\nErrors are the largest of all bodies over the whole run: positions \
         relative to the characteristic length of the model, angles in radians; the motion they are taken from comes from the formulation named, at \
         tolerance 1e-12 (1e-10 where that takes over 10 s), and its distance from the independent reference trajectory is given. Times are \
         of one thread, shortest of up to six runs, starting from the built model, output at 100 times included; figures show each \
         formulation with its quickest integrator. The machine is shared (two cores of an AMD EPYC): ratios within a \
         table mean more than its milliseconds. Figures of other codes were measured on the same machine at another hour, with their own error \
         measures, and are given for orientation; those of OpenSim 3.2 are its authors' (\"MBS benchmarks in OpenSim\", Intel Core \
         i5-4570, Windows).",
    );
    for b in ALL {
        println!("{}", b.model);
        let model = shipped(b.model);
        let mut study = Study::of(&model);
        study.t_end = b.t_end;
        study.output_step = b.t_end / 100.0;
        let case = Case::new(model, study)?;
        let (distance, count) = against_reference(&case.model, b.model, &case.truth)?;
        let lines = all(&case, 1e-10, PATIENCE, &["dop853", "dopri5", "rk4", "bdf2"]);
        report.heading(b.model);
        report.text(&format!(
            "{} Truth by `{}`; another formulation differs by {}, the reference trajectory by {} m ({count} values). Time for an error of {:.0e}:",
            b.what,
            case.by,
            digits(case.doubt),
            digits(distance),
            b.accuracy
        ));
        report.table(&["formulation", "integrator", "time", "best error reached", "energy error there [J]"], &rows(&lines, b.accuracy));
        if !b.others.is_empty() {
            report.text("Other codes, for orientation:");
            let others: Vec<Vec<String>> = b.others.iter().map(|o| o.map(String::from).to_vec()).collect();
            report.table(&["code", "error", "time"], &others);
        }
        let series: Vec<Series> = DRAWN
            .iter()
            .filter_map(|name| quickest(&lines, name, b.accuracy))
            .map(|l| Series {
                name: format!("{} {}", l.formulation, l.integrator),
                points: l.points.iter().map(|p| (p.error, p.seconds)).collect(),
            })
            .collect();
        let scale = Scale { log_x: true, log_y: true, dots: true, ..Scale::default() };
        report.figure(
            &format!("{}.svg", b.model),
            &format!("Work and precision: {}", b.model),
            [("error", ""), ("time", "s")],
            scale,
            &series,
        )?;
    }
    report.write()
}

/// The integrator that brings a formulation to an accuracy in the shortest time, or closest to it.
fn quickest<'a>(lines: &'a [Line], formulation: &str, accuracy: f64) -> Option<&'a Line> {
    let nearest = |l: &Line| l.points.iter().fold(f64::INFINITY, |m, p| m.min(p.error));
    let judged = lines.iter().filter(|l| l.formulation == formulation && l.points.len() > 1);
    let judged = judged.map(|l| (l.time_for(accuracy).unwrap_or(f64::INFINITY), nearest(l), l));
    judged.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|x| x.2)
}

fn rows(lines: &[Line], accuracy: f64) -> Vec<Vec<String>> {
    let mut list: Vec<(f64, Vec<String>)> = lines
        .iter()
        .map(|l| {
            let time = l.time_for(accuracy);
            let best = l.points.iter().min_by(|a, b| a.error.total_cmp(&b.error));
            let shown = match (&l.failure, time) {
                (Some(why), _) => format!("no: {}", why.lines().next().unwrap_or_default().chars().take(90).collect::<String>()),
                (None, Some(t)) => format!("{:.2} ms", 1e3 * t),
                (None, None) => "not reached".into(),
            };
            let cells = vec![
                l.formulation.to_string(),
                l.integrator.to_string(),
                shown,
                best.map_or(String::new(), |p| digits(p.error)),
                best.map_or(String::new(), |p| digits(p.energy)),
            ];
            (time.unwrap_or(f64::INFINITY), cells)
        })
        .collect();
    list.sort_by(|a, b| a.0.total_cmp(&b.0));
    list.into_iter().map(|x| x.1).collect()
}
