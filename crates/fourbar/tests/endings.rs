//! Every run ends, exactly at the end time of its study or with a diagnostic, for any times, steps and sizes.

use fourbar::random::Random;
use fourbar::study::{self, Analysis, FORMULATIONS, Observer, Study};
use fourbar::trajectory::Column;
use fourbar::{Diagnostic, Model};
use fourbar_testing::common::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::{Duration, Instant};

/// Stores the times of the rows and ends a run that takes too long.
struct Deadline {
    times: Vec<f64>,
    until: f64,
    asked: usize,
    late: bool,
}

impl Deadline {
    fn of(seconds: f64) -> Self {
        Self { times: Vec::new(), until: computing() + seconds, asked: 0, late: false }
    }
}

/// Computing time of this thread in seconds, so that a busy machine does not count; wall time where it is not known.
fn computing() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let own = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = own.and_then(|s| s.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed().as_secs_f64(), |n| 1e-9 * n)
}

impl Observer for Deadline {
    fn begin(&mut self, _: &[Column]) {}
    fn row(&mut self, row: &[f64]) {
        self.times.push(row[0]);
    }
    fn go_on(&mut self, _: f64, _: f64) -> bool {
        self.asked += 1;
        self.late |= self.asked.is_multiple_of(16) && computing() > self.until;
        !self.late
    }
}

/// Runs a test under a watchdog, which also detects runs that never call their observer. The work stores its case in the text.
fn watched(limit: u64, work: impl FnOnce(&Mutex<String>) + Send + 'static) {
    let case = Arc::new(Mutex::new(String::new()));
    let (told, done) = mpsc::channel();
    let noted = Arc::clone(&case);
    std::thread::spawn(move || {
        let ended = catch_unwind(AssertUnwindSafe(|| work(&noted)));
        let _ = told.send(ended);
    });
    match done.recv_timeout(Duration::from_secs(limit)) {
        Ok(Ok(())) => {}
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => panic!("no end after {limit} s: {}", case.lock().map(|c| c.clone()).unwrap_or_default()),
    }
}

fn note(case: &Mutex<String>, text: String) {
    *case.lock().expect("the case") = text;
}

/// Runs a study, which must end in time, and returns its outcome and the times of its rows.
fn ends(model: &Model, study: &Study, seconds: f64, what: &str) -> (Result<(), Diagnostic>, Vec<f64>) {
    let mut d = Deadline::of(seconds);
    let outcome = study::run(model, study, &mut d);
    assert!(!d.late, "{what}: no end after {seconds} s");
    (outcome.map(|_| ()).map_err(|f| *f.diagnostic), d.times)
}

/// Rows from zero to the end to the bit, each later than the one before.
fn assert_times(times: &[f64], study: &Study, what: &str) {
    assert_eq!(times.first(), Some(&0.0), "{what}");
    assert_eq!(times.last().map(|t| t.to_bits()), Some(study.t_end.to_bits()), "{what}: {:?} for {:?}", times.last(), study.t_end);
    assert!(times.windows(2).all(|w| w[0] < w[1]), "{what}: {times:?}");
}

#[test]
fn drawn_ends_and_output_steps_are_met() {
    watched(240, |case| {
        let seed = 20_261_116;
        let mut draw = Random(seed);
        let models: Vec<(String, Model)> =
            ["a01_simple_pendulum", "fourbar", "lie_heavy_top", "fourbar_3d", "ra_slider_crank", "nc_rscr", "planetary_gear"]
                .iter()
                .map(|name| (name.to_string(), model(name)))
                .collect();
        let mut good = 0;
        for n in 0..2000 {
            let mut part = |k: usize| ((draw.number() + 1.0) * 0.5 * k as f64) as usize;
            let (name, m) = &models[part(models.len())];
            let f = &FORMULATIONS[part(FORMULATIONS.len())];
            let known = integrators_of(f);
            let integrator = known[part(known.len())];
            // Ends with two or three decimals, at least 0.01 s; output steps that are decimals, parts of the end, or longer than it.
            let t_end = if part(2) == 0 { (1 + part(12)) as f64 / 100.0 } else { (10 + part(110)) as f64 / 1000.0 };
            let output_step = match part(5) {
                0 => t_end / (1 + part(9)) as f64,
                1 => (1 + part(3)) as f64 / 100.0,
                2 => t_end * (1.0 + draw.number().abs()),
                3 => t_end * (1.0 + 1e-15 * draw.number()) / 3.0,
                _ => t_end * (0.11 + 0.4 * draw.number().abs()),
            };
            let no_estimate = WITHOUT_ESTIMATE.contains(&integrator);
            let step = (no_estimate || n % 5 == 0).then(|| output_step.min(t_end) * (0.05 + 0.5 * draw.number().abs()));
            let analysis = Some(if name == "fourbar" && n % 3 == 0 { Analysis::Kinematics } else { Analysis::Dynamics });
            let study = Study {
                analysis,
                formulation: Some(f.name.into()),
                integrator: Some(integrator.into()),
                t_end,
                output_step,
                step,
                tol: Some(1e-4),
                options: Vec::new(),
                inputs: Vec::new(),
                mode: None,
            };
            let what =
                format!("seed {seed}, case {n}: {name} {} {integrator} t_end {t_end:?} output_step {output_step:?} step {step:?}", f.name);
            note(case, what.clone());
            let (outcome, times) = ends(m, &study, 10.0, &what);
            if outcome.is_ok() {
                assert_times(&times, &study, &what);
                good += 1;
            }
        }
        // Coarse fixed steps may end with a diagnostic, which is also valid.
        assert!(good > 1800, "{good}");
    });
}

#[test]
fn every_shipped_file_ends_with_its_own_study() {
    watched(240, |case| {
        let names = shipped().into_iter().chain(["andrews", "mechanism0", "robot", "rscr"].map(|n| format!("mechspec/{n}")));
        for name in names {
            note(case, name.clone());
            let m = model(&name);
            let study = Study::of(&m);
            let (outcome, times) = ends(&m, &study, 60.0, &name);
            assert!(outcome.is_ok(), "{name}: {outcome:?}");
            assert_times(&times, &study, &name);
        }
    });
}

#[test]
fn motions_go_on_beyond_the_end_of_the_study() {
    watched(120, |case| {
        let m = model("a01_simple_pendulum");
        for f in FORMULATIONS {
            for integrator in integrators_of(f) {
                for step in [None, Some(1e-3)] {
                    if step.is_none() && WITHOUT_ESTIMATE.contains(&integrator) {
                        continue;
                    }
                    let what = format!("{} {integrator} {step:?}", f.name);
                    note(case, what.clone());
                    let study = Study { t_end: 0.01, output_step: 0.01, step, tol: Some(1e-3), ..Study::of(&m) };
                    let start = fourbar::analysis::assembly::assemble(&m).expect("assembles").configuration;
                    let mut motion = (f.start)(&fourbar::Structure::new(&m, &start), &study, integrator, &start).expect("starts");
                    let mut now = fourbar::motion::Instant::new(&m, &start);
                    // The end, again the end, one bit beyond, far beyond, and back inside.
                    for t in [0.01, 0.01, 0.01_f64.next_up(), 0.010_000_1, 0.4, 0.4, 0.399_999_999] {
                        let until = Instant::now() + Duration::from_secs(10);
                        let on = motion.advance(t, &mut |_| Instant::now() < until).unwrap_or_else(|d| panic!("{what} to {t}: {d}"));
                        assert!(on && motion.t() >= t, "{what}: {} for {t}", motion.t());
                        motion.instant(t.min(motion.t()), &mut now).unwrap_or_else(|d| panic!("{what} at {t}: {d}"));
                    }
                }
            }
        }
    });
}

/// A pendulum on a slider with a spring, of extreme proportions.
fn extreme(x: &[f64; 7]) -> String {
    let [gravity, mass, inertia, length, speed, stiffness, turn] = x;
    format!(
        "fourbar: 1\ngravity: [{gravity:e}, -9.81, 0]\nbodies:\n  cart: {{mass: {mass:e}, inertia: [1, 1, 1], at: [0, 0, 0], velocity: [{speed:e}, 0, 0]}}\n  bob: {{mass: 1, inertia: [{inertia:e}, {inertia:e}, {inertia:e}], at: [0, -{length:e}, 0], velocity: [{speed:e}, 0, 0], omega: [0, 0, {turn:e}]}}\n\
         joints:\n  slide: {{type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}}\n  pin: {{type: revolute, bodies: [cart, bob], at: [0, 0, 0], axis: [0, 0, 1]}}\n\
         forces:\n  spring: {{type: spring, between: [{{body: ground, at: [-1, 0, 0]}}, {{body: cart, at: [0, 0, 0]}}], stiffness: {stiffness:e}, length: 1}}\n\
         study: {{analysis: dynamics, t_end: 1, output_step: 0.25}}\n"
    )
}

#[test]
fn extreme_sizes_are_given_up_in_time() {
    watched(240, |case| {
        let seed = 3_000_017;
        let mut draw = Random(seed);
        let mut given_up = 0;
        let heavy = parse(include_str!("data/found/gravity1e30.yaml"));
        let mut models = vec![("gravity 1e30".to_string(), heavy)];
        for n in 0..24 {
            let mut x = [9.81, 1.0, 0.1, 1.0, 0.0, 1.0, 0.0];
            // One or two of them are scaled by twenty to thirty powers of ten; masses and lengths in both directions.
            for _ in 0..1 + n % 2 {
                let k = ((draw.number() + 1.0) * 3.5) as usize % 7;
                let power = draw.number();
                let power = (20.0 + 10.0 * power.abs()).copysign(power);
                x[k] = 10f64.powf(if k == 0 || k > 3 { power.abs() } else { power });
            }
            let text = extreme(&x);
            // Files must be accepted by the reader.
            let Ok(read) = fourbar_io::read_model(&text, &fourbar_io::ReadOptions::default()) else { panic!("it does not read:\n{text}") };
            if let Ok(m) = read.spec.build() {
                models.push((format!("seed {seed}, case {n}: {x:?}"), m));
            }
        }
        assert!(models.len() > 15, "{}", models.len());
        for (name, m) in &models {
            for f in FORMULATIONS {
                let what = format!("{name} in {}", f.name);
                note(case, what.clone());
                let study = Study { formulation: Some(f.name.into()), ..Study::of(m) };
                let (outcome, _) = ends(m, &study, 2.0, &what);
                given_up += usize::from(outcome.is_err());
            }
        }
        assert!(given_up > 20, "nothing extreme was met: {given_up}");
    });
}
