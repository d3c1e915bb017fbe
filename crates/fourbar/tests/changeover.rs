//! If the choice of `auto` cannot continue, another formulation continues from the last good state on the same trajectory. A formulation
//! given by name never changes.

use fourbar::analysis::assembly::assemble;
use fourbar_testing::common::{assert_resumes, model, parse, run};

use fourbar::formulation::lie;
use fourbar::motion::{Event, Instant, drive};
use fourbar::study::{self, FORMULATIONS, FormulationInfo, Observer, Study};
use fourbar::trajectory::Column;
use fourbar::{Configuration, Model, Trajectory};
use fourbar_testing::families;
use fourbar_testing::mechanism::{Recipe, mechanism};
use std::path::PathBuf;
use std::time::{Duration, Instant as Clock};

/// A mechanism from an earlier failure.
fn found(name: &str) -> Model {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/found").join(format!("{name}.yaml"));
    parse(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// A governor whose springs turn out to be stiff after a few outputs: `auto` begins with an explicit method and continues with an implicit
/// one.
fn governor() -> (Model, Study) {
    let model = model("a05_flyball_governor");
    let study = Study { t_end: 1.0, output_step: 0.005, formulation: None, integrator: None, ..Study::of(&model) };
    (model, study)
}

/// Instants of a run with one formulation from a configuration, at the times from `first` on.
fn moved(model: &Model, study: &Study, info: &FormulationInfo, from: &Configuration, first: usize) -> Result<Vec<Instant>, String> {
    let integrator = info.integrators.iter().copied().find(|i| *i == "dop853").unwrap_or(info.integrators[0]);
    let said = |d: fourbar::Diagnostic| format!("{} with {integrator}: {}: {}", info.name, d.code, d.message);
    let mut motion = (info.start)(&fourbar::Structure::new(model, from), study, integrator, from).map_err(said)?;
    let mut now = Instant::new(model, from);
    let mut list = Vec::new();
    drive(motion.as_mut(), study.output_times().enumerate().skip(first), &mut now, &mut |event| {
        if let Event::At(_, now, _) = event {
            list.push(now.clone());
        }
        true
    })
    .map_err(said)?;
    Ok(list)
}

/// Largest distance of poses in lengths and radians, of counted angles, and of work relative to the energy present.
fn apart(model: &Model, a: &Instant, b: &Instant) -> f64 {
    let poses = a.q.iter().zip(&b.q).map(|(a, b)| {
        let d = a.increment_to(b);
        (d.v.norm() / model.length).max(d.w.norm())
    });
    let turns = a.turns.iter().zip(&b.turns).map(|(a, b)| (a - b).abs());
    poses.chain(turns).fold(0.0, |m, x| if x.is_nan() { f64::INFINITY } else { m.max(x) })
}

fn named(name: &str) -> &'static FormulationInfo {
    study::formulation(name).unwrap_or_else(|d| panic!("{d}"))
}

#[test]
fn what_auto_could_not_run_runs_and_moves_as_another_formulation_does() {
    let list = [
        "four_legs",
        "stewart_circle",
        "spatial_bush",
        "parallelogram_flat",
        "not_unique_min",
        "it_runs_natural_seed50083",
        "it_runs_grcr_seed50085",
        "bushing_natural",
    ];
    for name in list {
        let model = found(name);
        let own = Study::of(&model);
        let (rows, report) = run(&model, &own);
        assert!(report.t == own.t_end && rows.len() == own.output_times().count(), "{name}: it ended at t = {}", report.t);
        // A changeover is reported.
        let first = own.candidates(&model).expect("candidates")[0].formulation.name;
        let changed = report.warnings.iter().filter(|w| w.code.to_string() == "W290").count();
        assert!((report.formulation != first) == (changed > 0), "{name}: {first}, then {}: {changed} warnings", report.formulation);
        // A flat parallelogram may fold in either direction.
        if name == "parallelogram_flat" {
            continue;
        }
        let start = assemble(&model).expect("it assembles").configuration;
        let t_end = own.t_end.min(0.5);
        let short = Study { tol: Some(1e-9), t_end, output_step: t_end / 5.0, ..own };
        let (rows, report) = run(&model, &short);
        let truth = moved(&model, &short, named("dca"), &start, 0).unwrap_or_else(|e| panic!("{name}: {e}"));
        for (k, at) in truth.iter().enumerate() {
            for (b, body) in model.bodies.iter().enumerate().skip(1) {
                for (axis, x) in ["x", "y", "z"].iter().zip(at.q[b].r.iter()) {
                    let y = rows.column(&format!("{}.r.{axis}", body.name)).expect("a column")[k];
                    assert!((x - y).abs() < 1e-6 * model.length, "{name}, {}: {} at t = {}: {x} {y}", report.formulation, body.name, at.t);
                }
            }
        }
    }
}

/// Every formulation can continue from the middle of a run, including time, counted turns, time-dependent forces and drives.
#[test]
fn any_formulation_goes_on_from_the_middle_of_a_run() {
    for name in ["fourbar", "slider_crank_engine", "screw_jack", "watt_governor", "ra_slider_crank", "universal_joint_shaft", "nc_rscr"] {
        let model = model(name);
        let own = Study::of(&model);
        let t_end = own.t_end.min(0.4);
        let study = Study { tol: Some(1e-10), step: None, integrator: None, t_end, output_step: t_end / 4.0, ..own };
        let start = assemble(&model).expect("it assembles").configuration;
        let whole = moved(&model, &study, named("lie"), &start, 0).unwrap_or_else(|e| panic!("{name}: {e}"));
        let middle = &whole[2];
        let at = Configuration { t: middle.t, q: middle.q.clone(), v: middle.v.clone(), turns: middle.turns.clone(), z: middle.z.clone() };
        let at = lie::closed(&model, &at).expect("it is nearly closed");
        for info in FORMULATIONS.iter().filter(|f| (f.applies)(&model).is_ok()) {
            // Second-order methods have a larger tolerance.
            let second = info.integrators[0] == "gen-alpha";
            let study = Study { tol: Some(if second { 1e-7 } else { 1e-10 }), ..study.clone() };
            let rest = moved(&model, &study, info, &at, 3).unwrap_or_else(|e| panic!("{name}: {e}"));
            let d = apart(&model, rest.last().expect("rows"), &whole[4]);
            assert!(d < if second { 1e-4 } else { 1e-6 }, "{name}: {} is {d:.1e} off at the end", info.name);
        }
    }
}

#[test]
fn a_formulation_that_is_named_never_changes() {
    let model = found("four_legs");
    let study = Study { formulation: Some("natural".into()), ..Study::of(&model) };
    assert_eq!(study.candidates(&model).expect("one").len(), 1);
    let failed = study::run(&model, &study, &mut Trajectory::default()).expect_err("natural cannot");
    assert!(failed.diagnostic.code.to_string().starts_with("S28"), "{}", failed.diagnostic);
}

/// Where one method cannot continue, or not efficiently, the next one continues the same trajectory.
#[test]
fn a_run_that_changes_over_in_flight_is_one_trajectory() {
    let (model, study) = governor();
    let (rows, report) = run(&model, &study);
    let note = report.notes.iter().find(|n| n.contains("with radau moves the mechanism instead of")).expect("it says so");
    let from: f64 = note.split("from t = ").nth(1).and_then(|n| n.split(' ').next()).and_then(|t| t.parse().ok()).expect("a time");
    let times = rows.column("t").expect("times");
    assert_eq!(times, study.output_times().collect::<Vec<f64>>());
    let before = times.iter().filter(|t| **t <= from).count();
    assert!(before > 2 && before < times.len(), "{note}");
    // The part before the change equals that of the explicit method alone, to the bit.
    let named = Study { formulation: Some("grcr".into()), integrator: Some("dop853".into()), ..study.clone() };
    let (alone, _) = run(&model, &named);
    assert!(alone.values.iter().zip(&rows.values).all(|(a, b)| a[..before] == b[..before]), "{before} rows");
    // Energy minus work is continuous as well.
    let (energy, work) = (rows.column("energy.total").expect("energy"), rows.column("energy.work").expect("work"));
    let kept: Vec<f64> = energy.iter().zip(work).map(|(e, w)| e - w).collect();
    let size = energy.iter().fold(0.0_f64, |m, e| m.max(e.abs()));
    assert!(kept.iter().all(|k| (k - kept[0]).abs() < 1e-5 * size), "{kept:?}");
}

#[test]
fn a_run_that_changed_over_resumes_to_the_bit() {
    let legs = found("four_legs");
    assert_resumes(&legs, &Study { t_end: 0.4, ..Study::of(&legs) }, 5, "four_legs");
    let (model, study) = governor();
    let rows = study.output_times().count();
    // Stopped before and after the change.
    for stop_after in [2, rows - 1] {
        assert_resumes(&model, &study, stop_after, "governor");
    }
}

/// Number of random mechanisms for [`auto_runs_whatever_another_formulation_runs`]; `FOURBAR_AUTO` sets another number, `FOURBAR_SEED`
/// another seed.
const DRAWN: u64 = 40;
/// Runs take milliseconds; one that has not ended by then is abandoned, which is not a failure.
const PATIENCE: Duration = Duration::from_secs(5);

/// Stops a run that takes too long.
struct Patient(Clock);

impl Observer for Patient {
    fn begin(&mut self, _: &[Column]) {}
    fn row(&mut self, _: &[f64]) {}
    fn go_on(&mut self, _: f64, _: f64) -> bool {
        self.0.elapsed() < PATIENCE
    }
}

/// Half are randomly joined bodies, half belong to textbook families.
#[test]
fn auto_runs_whatever_another_formulation_runs() {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (first, count) = (number("FOURBAR_SEED", 40_000), number("FOURBAR_AUTO", DRAWN));
    let (mut ran, mut slow, mut changed, mut broken) = (0, 0, Vec::new(), Vec::new());
    for seed in first..first + count {
        let spec = if seed % 2 == 0 { mechanism(&Recipe::of(seed), seed) } else { families::mechanism(seed) };
        let Ok(model) = spec.build() else { continue };
        let Ok(assembled) = assemble(&model) else { continue };
        let study = Study { t_end: model.study.t_end.min(0.5), formulation: None, integrator: None, step: None, ..Study::of(&model) };
        match study::run(&model, &study, &mut Patient(Clock::now())) {
            Ok(report) => {
                (ran, slow) = (ran + 1, slow + u64::from(report.stopped));
                changed.extend(report.warnings.iter().filter(|w| w.code.to_string() == "W290").map(|w| format!("{seed}: {}", w.message)));
            }
            Err(failed) => {
                let others = FORMULATIONS.iter().filter(|f| (f.applies)(&model).is_ok());
                // A run past a dead point with open joints is not a success.
                let closed = |list: Vec<Instant>| list.iter().all(|i| i.errors[0] <= 1e-3 * model.length);
                let able = others.filter(|f| moved(&model, &study, f, &assembled.configuration, 0).is_ok_and(closed));
                let names: Vec<&str> = able.map(|f| f.name).collect();
                if !names.is_empty() {
                    broken.push(format!("seed {seed}, `{}`: {} runs, auto says {}", spec.title, names.join(", "), failed.diagnostic));
                }
            }
        }
    }
    println!("{ran} of {count} ran, {slow} of them given up; changed over:\n{}", changed.join("\n"));
    assert!(ran * 10 >= count * 8 && broken.is_empty(), "{ran} of {count} ran; {}", broken.join("\n"));
}

/// Steep friction at rest restricts a Taylor series to tiny steps: `auto` changes to the implicit method.
#[test]
fn a_series_that_crawls_gives_way() {
    for friction in ["{type: friction, joint: C, preload: 8, speed: 1e-5}", "{type: actuator, joint: C, effort: '-8*tanh(C.speed/1e-5)'}"] {
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  crank: {{mass: 0.4, inertia: [0.001, 0.001, 0.001], at: [0.03, 0.08, 0]}}
  coupler: {{mass: 1, inertia: [0.03, 0.03, 0.03], at: [0.45, 0.4, 0]}}
  rocker: {{mass: 1, inertia: [0.03, 0.03, 0.03], at: [0.95, 0.35, 0]}}
joints:
  O: {{type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}}
  A: {{type: revolute, bodies: [crank, coupler], at: [0.1, 0.25, 0], axis: [0, 0, 1]}}
  B: {{type: revolute, bodies: [coupler, rocker], at: [0.9, 0.7, 0], axis: [0, 0, 1]}}
  C: {{type: revolute, bodies: [ground, rocker], at: [1, 0, 0], axis: [0, 0, 1]}}
forces: {{rub: {friction}}}
study: {{t_end: 10, output_step: 0.1}}
"
        ));
        let study = Study { formulation: None, integrator: None, ..Study::of(&model) };
        assert_eq!(study.chosen(&model).unwrap_or_else(|d| panic!("{d}")).formulation.name, "natural");
        let clock = Clock::now();
        let report = study::run(&model, &study, &mut Trajectory::default()).unwrap_or_else(|e| panic!("{}", e.diagnostic));
        assert_eq!(report.integrator, "radau", "{:?}", report.notes);
        assert!(clock.elapsed() < Duration::from_secs(20), "{:?}", clock.elapsed());
    }
}

/// A spring on the path of a slide changes sides where its ends meet, which a series cannot represent: `auto` continues without a series.
#[test]
fn ends_of_a_spring_may_meet() {
    let model = parse(
        "
fourbar: 1
bodies:
  wheel: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [0, 0.5, 0]}
  sled: {mass: 3, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0], velocity: [2, 0, 0]}
joints:
  W: {type: revolute, bodies: [ground, wheel], at: [0, 0.5, 0], axis: [0, 0, 1]}
  S: {type: prismatic, bodies: [ground, sled], at: [0, 0, 0], axis: [1, 0, 0]}
  R: {type: rack, joints: [W, S], radius: 0.5}
forces: {spring: {type: spring, between: [{body: sled}, {body: ground, at: [0.7, 0, 0]}], stiffness: 40, length: 0.3}}
study: {t_end: 1.5, output_step: 0.05}
",
    );
    let of = |formulation: Option<&str>| {
        // A force that jumps costs digits: errors are about a hundred times the tolerance.
        let study = Study { formulation: formulation.map(String::from), integrator: None, tol: Some(1e-8), ..Study::of(&model) };
        let mut t = Trajectory::default();
        study::run(&model, &study, &mut t).map(|report| (report, t)).map_err(|e| e.diagnostic)
    };
    let refused = of(Some("natural")).expect_err("its force jumps");
    assert!(refused.code.0 == "S284" && refused.names.contains(&"spring".to_string()), "{refused}");
    let (_, right) = of(Some("grcr")).unwrap_or_else(|d| panic!("{d}"));
    let (_, chosen) = of(None).unwrap_or_else(|d| panic!("{d}"));
    let end = |t: &Trajectory| *t.column("S.distance").and_then(|c| c.last()).expect("a column");
    for end in [end(&right), end(&chosen)] {
        assert!((end - 0.7547868765).abs() < 5e-6, "{end}");
    }
}
