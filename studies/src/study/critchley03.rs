//! The study of [Critchley03, section 6] and of the cost of loops: the five-bar by ACS and by GCL, growth of work and time with the number
//! of loops, compared with cut joints. Writes `docs/studies/critchley03/`.

use super::report::{KEEP_TIMES, Report, Series, digits};
use crate::root;
use fourbar::formulation::grcr::cut_joints::Cut;
use fourbar::formulation::grcr::{Coupling, Mechanism, Options};
use fourbar::spec::*;
use fourbar::study::{Analysis, Study};
use fourbar::{Configuration, Model, Trajectory};
use fourbar_bench::{ladder, peak, shipped, shortest};
use fourbar_io::plot::Scale;
use std::time::Instant;

/// Numbers of loops for the recursion, and the largest one for cut joints.
const LOOPS: [usize; 10] = [1, 3, 10, 30, 100, 200, 500, 1000, 3000, 10_000];
const CUT: usize = 500;
/// Slopes are fitted from this number of loops on; those of cut joints in two parts, because their highest power appears late.
const FIT: usize = 10;
const FIT_CUT: usize = 100;

const GROWTH: &str = "Work and time against the number of loops";

const CLAIMS: &str = "\
**The paper claims** that recursive coordinate reduction breaks down on its five-bar, that arbitrary dependents (ACS) and fictitious joints (GCL) both cure that, that loops cost \
O(n + m) where cut joints cost O(n + n m^2 + m^3), and that constraints drift less than with cut joints. **We found** all of it: the plain method is refused at the first slide, \
arbitrary dependents and both topologies of its Fig. 8 give one motion, the slopes are 1.0 against 2.7, and drift is 3 to 290 times smaller where dependent speeds are eliminated, as in the paper (where accelerations alone are closed, recursion and cut joints drift alike). **They differ** \
in the dependents q2, q3, q5 of its example, which are singular in the position that it starts from (the second rod stands across the line of the slides, so that turning it moves the slides alone): the run begins with others; and \
in form: phantom bodies are rows here, and the recursion is a frontal elimination that contains the paper's; the paper prints curves only, so that the motion is compared with an independent reference.";

/// Runs the study.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let mut report = Report::new("critchley03", "Recursive coordinate reduction: the five-bar, and the cost of loops")?;
    report.text(CLAIMS);
    five_bar(&mut report)?;
    choices(&mut report)?;
    drift(&mut report)?;
    if !(arguments.iter().any(|a| a == KEEP_TIMES) && report.keep(GROWTH)) {
        growth(&mut report)?;
    }
    report.write()
}

fn five_bar(report: &mut Report) -> Result<(), String> {
    report.heading("The planar five-bar with two prismatic joints (Fig. 7)");
    let (acs, gcl, cut) =
        (five_bar_with(&[("coupling", "acs")])?, five_bar_with(&[("coupling", "gcl")])?, five_bar_with(&[("loops", "cut")])?);
    let text = std::fs::read_to_string(root().join("crates/fourbar/tests/data/grcr_five_bar.csv")).map_err(|e| e.to_string())?;
    let mut lines = text.lines().filter(|l| !l.starts_with('#'));
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').filter_map(|x| x.parse().ok()).collect()).collect();
    let places = |t: &Trajectory| -> Vec<(usize, usize)> {
        let ours = |h: &str| h.rsplit_once('.').filter(|x| ["x", "y", "z"].contains(&x.1)).and_then(|(b, c)| t.find(&format!("{b}.r.{c}")));
        header.iter().enumerate().filter_map(|(i, h)| Some((i, ours(h)?))).collect()
    };
    let from_reference = |t: &Trajectory| {
        let (places, time) = (places(t), t.column("t").unwrap_or_default());
        let mut worst = 0.0_f64;
        for row in &rows {
            if let Some(k) = time.iter().position(|t| (t - row[0]).abs() < 1e-9) {
                worst = places.iter().map(|(i, j)| (row[*i] - t.row(k)[*j]).abs()).fold(worst, f64::max);
            }
        }
        worst
    };
    let rows = vec![
        vec!["ACS: real joints, rows carried".into(), digits(from_reference(&acs)), "0".into()],
        vec!["GCL: fictitious joints at the end of the loop".into(), digits(from_reference(&gcl)), digits(farthest(&gcl, &acs))],
        vec!["cut joints".into(), digits(from_reference(&cut)), digits(farthest(&cut, &acs))],
    ];
    report.text("Positions of all centres of mass over 2 s, dop853 at 1e-13, in metres.");
    report.table(&["treatment", "from the reference", "from ACS"], &rows);
    let series: Vec<Series> = [("q1", "J1.angle"), ("q2", "J2.angle"), ("q3", "J3.angle"), ("q4", "J4.distance"), ("q5", "J5.distance")]
        .iter()
        .filter_map(|(name, column)| {
            let (t, y) = (acs.column("t")?, acs.column(column)?);
            // Angles of the paper are measured from the drawn position: pi/4, pi/2, -pi/2.
            let drawn = match *name {
                "q1" => std::f64::consts::FRAC_PI_4,
                "q2" => std::f64::consts::FRAC_PI_2,
                "q3" => -std::f64::consts::FRAC_PI_2,
                _ => 0.0,
            };
            Some(Series { name: (*name).into(), points: t.iter().copied().zip(y.iter().map(|y| y + drawn)).collect() })
        })
        .collect();
    report.figure("fig7.svg", "Coordinates of the five-bar", [("t", "s"), ("rad, m", "")], Scale::default(), &series)
}

/// The five-bar with options, over 2 s.
fn five_bar_with(options: &[(&str, &str)]) -> Result<Trajectory, String> {
    let model = shipped("grcr_five_bar");
    let study = Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some("grcr".into()),
        integrator: Some("dop853".into()),
        step: None,
        tol: Some(1e-13),
        options: options.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        ..Study::of(&model)
    };
    let mut t = Trajectory::default();
    fourbar::study::run(&model, &study, &mut t).map_err(|f| f.diagnostic.to_string())?;
    Ok(t)
}

/// Largest distance of centres of mass between two runs.
fn farthest(a: &Trajectory, b: &Trajectory) -> f64 {
    let places: Vec<usize> = (0..a.columns.len()).filter(|k| a.columns[*k].name.contains(".r.")).collect();
    (0..a.len()).flat_map(|i| places.iter().map(move |k| (i, *k))).map(|(i, k)| (a.row(i)[k] - b.row(i)[k]).abs()).fold(0.0, f64::max)
}

/// Dependents by name, the plain method, and both topologies of Fig. 8.
fn choices(report: &mut Report) -> Result<(), String> {
    report.heading("Dependents, the plain method, and the topologies of Fig. 8");
    let usual = five_bar_with(&[])?;
    let mut rows = Vec::new();
    for (what, options) in [
        ("chosen by the program", &[][..]),
        ("q2, q3, q5 as in the paper", &[("dependents", "J2,J3,J5")][..]),
        ("q1, q3, q5", &[("dependents", "J1,J3,J5")][..]),
        ("q1, q3, q4", &[("dependents", "J1,J3,J4")][..]),
        ("q3, q4, q5, the last three", &[("dependents", "J3,J4,J5")][..]),
        ("plain RCR", &[("coupling", "rcr")][..]),
        ("GCL, Fig. 8a: loops on different bodies", &[("coupling", "gcl"), ("fictitious", "parent")][..]),
        ("GCL, Fig. 8b: loops on the ground", &[("coupling", "gcl"), ("fictitious", "ground")][..]),
    ] {
        let option = options.iter().map(|(k, v)| format!("`--option {k}={v}`")).collect::<Vec<_>>().join(" ");
        let found = match five_bar_with(options) {
            Ok(t) => format!("{} m from the first", digits(farthest(&t, &usual))),
            Err(why) => format!("refused: {}", why.lines().next().unwrap_or_default()),
        };
        rows.push(vec![what.to_string(), option, found]);
    }
    report.table(&["dependents", "option", "motion over 2 s"], &rows);
    report.text(
        "The figures of the paper are not in its text; which of its two topologies has loops on one base body is said in words (8b).",
    );
    Ok(())
}

/// Drift of the positions if fewer levels are projected in every evaluation, recursive and with cut joints.
fn drift(report: &mut Report) -> Result<(), String> {
    report.heading("Drift against cut joints");
    let mut rows = Vec::new();
    for name in ["grcr_five_bar", "dca_five_bar", "dca_double_loop", "a04_bricard"] {
        let model = shipped(name);
        let largest = |loops: &str, closed: &str| -> Result<f64, String> {
            let study = Study {
                analysis: Some(Analysis::Dynamics),
                formulation: Some("grcr".into()),
                integrator: Some("rk4".into()),
                step: Some(2e-3),
                t_end: 2.0,
                output_step: 0.1,
                options: [("loops", loops), ("closed", closed)].iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
                ..Study::of(&model)
            };
            let mut t = Trajectory::default();
            fourbar::study::run(&model, &study, &mut t).map_err(|f| f.diagnostic.to_string())?;
            Ok(t.column("error.position").unwrap_or_default().iter().fold(0.0, |m, x| m.max(*x)))
        };
        let mut row = vec![name.to_string()];
        for (loops, closed) in [("cut", "nothing"), ("recursive", "nothing"), ("recursive", "velocities"), ("recursive", "positions")] {
            row.push(largest(loops, closed).map_or_else(|why| why.lines().next().unwrap_or_default().to_string(), digits));
        }
        rows.push(row);
    }
    report.text("rk4 at 2 ms over 2 s: largest residual of the constraints, m. The usual treatment of cut joints closes accelerations alone. Recursive reduction has no dependent speeds to integrate: they follow from the independent ones in every evaluation (`closed=velocities`), so that positions drift with the errors of one quadrature instead of two. Closing positions too is the default.");
    report.table(
        &[
            "mechanism",
            "cut joints, accelerations closed",
            "recursive, accelerations closed",
            "recursive, speeds eliminated as in the paper",
            "recursive, positions closed",
        ],
        &rows,
    );
    Ok(())
}

fn bar(from: V3, to: V3) -> BodySpec {
    let angle = (to[1] - from[1]).atan2(to[0] - from[0]);
    let length = (to[0] - from[0]).hypot(to[1] - from[1]);
    BodySpec {
        mass: 1.0,
        inertia: Inertia::Principal([1e-3, length * length / 12.0, length * length / 12.0]),
        at: [0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1]), 0.0],
        orientation: Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle },
        ..BodySpec::default()
    }
}

fn hinge(a: &str, b: &str, at: V3) -> JointSpec {
    let placement = Placement::World { at, axis: [0.0, 0.0, 1.0], axis_moving: None };
    JointSpec::Pair { kind: PairKind::Revolute, bodies: [a.into(), b.into()], placement }
}

/// Four-bars stacked on each other: every loop has another base body.
fn standing(n: usize) -> Result<Model, String> {
    let mut spec = ModelSpec { title: format!("{n} four-bars on each other"), gravity: Some([0.0, -9.81, 0.0]), ..ModelSpec::default() };
    for k in 1..=n {
        let (low, high) = (k as f64 - 1.0, k as f64);
        let base = if k == 1 { "ground".to_string() } else { format!("bar{}", k - 1) };
        let [left, right, top] = [format!("left{k}"), format!("right{k}"), format!("bar{k}")];
        spec.bodies.push((left.clone(), bar([0.0, low, 0.0], [0.1, high, 0.0])));
        spec.bodies.push((right.clone(), bar([1.0, low, 0.0], [1.0, high, 0.0])));
        spec.bodies.push((top.clone(), bar([0.1, high, 0.0], [1.0, high, 0.0])));
        let foot = if k == 1 { 0.0 } else { 0.1 };
        spec.bodies[3 * (k - 1)].1 = bar([foot, low, 0.0], [0.1, high, 0.0]);
        spec.joints.push((format!("A{k}"), hinge(&base, &left, [foot, low, 0.0])));
        spec.joints.push((format!("B{k}"), hinge(&left, &top, [0.1, high, 0.0])));
        spec.joints.push((format!("C{k}"), hinge(&right, &top, [1.0, high, 0.0])));
        spec.joints.push((format!("D{k}"), hinge(&base, &right, [1.0, low, 0.0])));
    }
    spec.build().map_err(|e| e[0].to_string())
}

/// Two rails of hinged links with rungs between them, hanging from the ground: nested loops, each with separate base bodies.
fn nested(n: usize) -> Result<Model, String> {
    let mut spec = ModelSpec { title: format!("{n} nested loops"), gravity: Some([0.0, -9.81, 0.0]), ..ModelSpec::default() };
    let name = |side: &str, k: usize| if k == 0 { "ground".to_string() } else { format!("{side}{k}") };
    for k in 1..=n {
        let (high, low) = (1.0 - k as f64, -(k as f64));
        let shift = if k % 2 == 0 { 0.1 } else { -0.1 };
        for (side, x) in [("left", 0.0), ("right", 1.0)] {
            let (from, to) = ([x - shift, high, 0.0], [x + shift, low, 0.0]);
            let from = if k == 1 { [x, high, 0.0] } else { from };
            spec.bodies.push((name(side, k), bar(from, to)));
            spec.joints.push((format!("{side}_pin{k}"), hinge(&name(side, k - 1), &name(side, k), from)));
        }
        spec.bodies.push((format!("rung{k}"), bar([shift, low, 0.0], [1.0 + shift, low, 0.0])));
        spec.joints.push((format!("from{k}"), hinge(&name("left", k), &format!("rung{k}"), [shift, low, 0.0])));
        spec.joints.push((format!("to{k}"), hinge(&name("right", k), &format!("rung{k}"), [1.0 + shift, low, 0.0])));
    }
    spec.build().map_err(|e| e[0].to_string())
}

/// One size of one mechanism.
struct Point {
    loops: usize,
    n: usize,
    m: usize,
    carriers: usize,
    operations: f64,
    time: f64,
    set_up: f64,
    cut: Option<(f64, f64)>,
}

fn measure(model: &Model, loops: usize) -> Result<Point, String> {
    let start = Configuration::start(model);
    let options = Options { coupling: Coupling::Acs, ..Options::default() };
    let since = Instant::now();
    let mut m = Mechanism::with_options(model, &start, &options);
    let set_up = since.elapsed().as_secs_f64();
    let (q, u) = (m.q.clone(), m.u.clone());
    m.close(0.0, &q, &u).map_err(|d| d.to_string())?;
    let calls = (3000 / loops).max(1);
    let time = shortest(5, || (0..calls).for_each(|_| m.accelerate(0.0))) / calls as f64;
    let (n, rows) = (m.tree.speeds, m.closings.active);
    let cut = (loops <= CUT).then(|| {
        let mut cut = Cut::new(&m);
        let calls = (100 / (loops * loops)).max(1);
        let time = shortest(3, || (0..calls).for_each(|_| cut.accelerate(&mut m, 0.0))) / calls as f64;
        // Tree without constraint rows, one solution of the tree per row, the dense factorisation.
        let (n, m) = (n as f64, rows as f64);
        (n * 114.0 + m * n * 48.0 + m * m * m / 3.0, time)
    });
    Ok(Point { loops, n, m: rows, carriers: m.schedule.carriers(), operations: m.schedule.cost(&m.tree), time, set_up, cut })
}

/// Slope of a straight line through the logarithms.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|(x, y)| (x.ln(), y.ln())).unzip();
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let cross: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    cross / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}

fn growth(report: &mut Report) -> Result<(), String> {
    report.heading(GROWTH);
    report.text(&format!(
        "One acceleration at the start position, positions closed beforehand; the shortest of several runs on a shared machine whose core reached \
         {:.1} G multiply-adds per second. n speeds, m active rows; `carried` is the largest number of base bodies in a front. Slopes are those of \
         straight lines through the logarithms against n + m, from {FIT} loops on. `set-up` is the time to choose tree, dependents and active \
         rows, once per run, fitted from {FIT_CUT} loops on, because small mechanisms compare more. Cut joints: an answer of the tree to every row, order 2, and a dense factor, order 3, which shows as the loops \
         become many.",
        peak() / 1e9,
    ));
    let (mut rows, mut slopes, mut times, mut works) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    type Make = fn(usize) -> Result<Model, String>;
    for (what, make) in [("ladder", (|n| Ok(ladder(n))) as Make), ("standing", standing), ("nested", nested)] {
        let points = LOOPS.iter().map(|&n| measure(&make(n)?, n)).collect::<Result<Vec<_>, String>>()?;
        for p in &points {
            let cut = |f: fn(&(f64, f64)) -> f64| p.cut.as_ref().map_or("".into(), |c| digits(f(c)));
            rows.push(vec![
                what.into(),
                p.loops.to_string(),
                p.n.to_string(),
                p.m.to_string(),
                p.carriers.to_string(),
                digits(p.operations),
                digits(1e6 * p.time),
                digits(1e3 * p.set_up),
                cut(|c| c.0),
                cut(|c| 1e6 * c.1),
            ]);
        }
        let of = |f: &dyn Fn(&Point) -> Option<f64>| -> Vec<(f64, f64)> {
            points.iter().filter_map(|p| Some(((p.n + p.m) as f64, f(p)?))).collect()
        };
        let fit = |sizes: std::ops::RangeInclusive<usize>, f: &dyn Fn(&Point) -> Option<f64>| {
            let inside = points.iter().filter(|p| sizes.contains(&p.loops));
            let line: Vec<(f64, f64)> = inside.filter_map(|p| Some(((p.n + p.m) as f64, f(p)?))).collect();
            if line.len() < 2 { String::new() } else { format!("{:.2}", slope(&line)) }
        };
        slopes.push(vec![
            what.into(),
            fit(FIT..=usize::MAX, &|p| Some(p.operations)),
            fit(FIT..=usize::MAX, &|p| Some(p.time)),
            fit(FIT_CUT..=usize::MAX, &|p| Some(p.set_up)),
            fit(FIT..=FIT_CUT, &|p| p.cut.map(|c| c.0)),
            fit(FIT_CUT..=CUT, &|p| p.cut.map(|c| c.0)),
            fit(FIT..=FIT_CUT, &|p| p.cut.map(|c| c.1)),
            fit(FIT_CUT..=CUT, &|p| p.cut.map(|c| c.1)),
        ]);
        times.push(Series { name: format!("{what}, recursive"), points: of(&|p| Some(1e6 * p.time)) });
        times.push(Series { name: format!("{what}, cut"), points: of(&|p| p.cut.map(|c| 1e6 * c.1)) });
        works.push(Series { name: format!("{what}, recursive"), points: of(&|p| Some(p.operations)) });
        works.push(Series { name: format!("{what}, cut"), points: of(&|p| p.cut.map(|c| c.0)) });
        // The sizes from which the recursion is always faster.
        let slower = points.iter().rposition(|p| p.cut.is_some_and(|c| p.time >= c.1));
        let crossover = points.get(slower.map_or(0, |k| k + 1)).map_or("none".into(), |p| p.loops.to_string());
        report.text(&format!("{what}: the recursion is faster from {crossover} loops on (of the sizes measured)."));
    }
    let range = |what: &str, a: usize, b: usize| format!("{what}, cut, {a} to {b} loops");
    let header = [
        "mechanism".to_string(),
        "operations".into(),
        "time".into(),
        "set-up".into(),
        range("operations", FIT, FIT_CUT),
        range("operations", FIT_CUT, CUT),
        range("time", FIT, FIT_CUT),
        range("time", FIT_CUT, CUT),
    ];
    report.table(&header, &slopes);
    report.table(&["mechanism", "loops", "n", "m", "carried", "operations", "us", "set-up, ms", "operations, cut", "us, cut"], &rows);
    let both = Scale { log_x: true, log_y: true, dots: true, ..Scale::default() };
    report.figure("time.svg", "Time of one acceleration", [("n + m", ""), ("time", "us")], both, &times)?;
    report.figure("operations.svg", "Operations of one acceleration", [("n + m", ""), ("operations", "")], both, &works)
}
