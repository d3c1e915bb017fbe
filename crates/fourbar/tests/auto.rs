//! The choice of `auto` on every shipped model: it runs, the reason is reported, and another formulation gives the same motion.

use fourbar::study::{self, Analysis, Study};
use fourbar::{Model, Trajectory};
use fourbar_testing::common;
use fourbar_testing::common::{model, run, shipped};
use fourbar_testing::families;

/// Largest distance of two trajectories in positions of bodies, and the column.
fn apart(a: &Trajectory, b: &Trajectory, bodies: &[String]) -> f64 {
    let mut worst = 0.0_f64;
    for body in bodies {
        for axis in ["x", "y", "z"] {
            let name = format!("{body}.r.{axis}");
            let (x, y) = (a.column(&name).expect("a body"), b.column(&name).expect("a body"));
            assert_eq!(x.len(), y.len());
            worst = x.iter().zip(y).fold(worst, |m, (x, y)| if (x - y).is_nan() { f64::INFINITY } else { m.max((x - y).abs()) });
        }
    }
    worst
}

#[test]
fn every_shipped_model_runs_with_its_choice_and_says_why() {
    let mut taken = std::collections::BTreeSet::new();
    for name in shipped() {
        let model = model(&name);
        let own = Study::of(&model);
        let t_end = own.t_end.min(0.5);
        let study = Study {
            analysis: Some(Analysis::Dynamics),
            formulation: Some("auto".into()),
            step: None,
            tol: Some(1e-9),
            t_end,
            output_step: t_end / 5.0,
            ..own
        };
        let (chosen, report) = run(&model, &study);
        let said = format!("{} with {} was chosen: ", report.formulation, report.integrator);
        let reason = |n: &String| n.starts_with(&said) && n.len() > said.len() + 10;
        // Or stiffness was detected during the run.
        let stiff = |n: &String| {
            n.contains("turned out to be stiff") && n.contains(&format!("`{}` with {}", report.formulation, report.integrator))
        };
        assert!(report.notes.iter().any(|n| reason(n) || stiff(n)), "{name}: {:?}", report.notes);
        taken.insert(report.formulation);
        let other = if report.formulation == "lie" { "grcr" } else { "lie" };
        let (second, _) = run(&model, &Study { formulation: Some(other.into()), integrator: Some("dop853".into()), ..study });
        let bodies: Vec<String> = model.bodies[1..].iter().map(|b| b.name.clone()).collect();
        let d = apart(&chosen, &second, &bodies);
        // A tolerance of 1e-9 per step, over tens of steps.
        assert!(d < 1e-6 * model.length, "{name}: {} and {other} differ by {d:.1e} m", report.formulation);
    }
    assert!(["grcr", "natural", "lie"].iter().all(|f| taken.contains(f)), "{taken:?}");
}

#[test]
fn an_integrator_that_nobody_has_is_refused_with_the_nearest_name() {
    let model = model("fourbar");
    let study = Study { integrator: Some("eulr".into()), ..Study::of(&model) };
    let refused = study.method(&model).expect_err("no such integrator");
    assert_eq!(refused.code.0, "U302");
    assert_eq!(refused.help, "did you mean `euler`?");
}

/// A block on a slide with friction; `speed` is the smoothing speed.
fn rubbing(speed: f64) -> fourbar::Model {
    common::parse(&format!(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {{block: {{mass: 1, inertia: [0.1, 0.1, 0.1], velocity: [2, 0, 0]}}}}
joints: {{slide: {{type: prismatic, bodies: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}}}}
forces: {{rub: {{type: friction, joint: slide, coulomb: 0.3, speed: {speed:e}}}}}
study: {{t_end: 2, output_step: 0.1}}
"
    ))
}

#[test]
fn friction_calls_for_an_implicit_method_only_where_it_is_stiff() {
    let pick = |model: &fourbar::Model, tol: f64| {
        let study = Study { tol: Some(tol), ..Study::of(model) };
        study.method(model).expect("a choice").1
    };
    for tol in [1e-3, 1e-6, 1e-10] {
        assert_ne!(pick(&rubbing(1e-2), tol), "radau");
        assert_eq!(pick(&rubbing(1e-5), tol), "radau");
    }
}

#[test]
fn loops_in_space_that_move_but_a_little_do_without_a_series() {
    let model = model("nc_rscr");
    let pick = |t_end: f64| {
        let study = Study { analysis: Some(Analysis::Dynamics), formulation: None, integrator: None, t_end, ..Study::of(&model) };
        study.method(&model).expect("a choice").0.name
    };
    assert_eq!(pick(3.0), "natural");
    assert_eq!(pick(0.5), "lie");
}

/// Formulation and integrator chosen for a study, and the reason.
fn choice(model: &Model, study: &Study) -> (&'static str, &'static str, String) {
    let chosen = study.chosen(model).expect("a choice");
    (chosen.formulation.name, chosen.integrator, chosen.why.expect("a reason"))
}

/// Two mechanisms of each family.
const DRAWN: u64 = 58;

#[test]
fn the_same_study_gets_the_same_choice_and_the_same_numbers_on_any_thread() {
    let mut taken = std::collections::BTreeSet::new();
    for seed in 70_000..70_000 + DRAWN {
        let Ok(model) = families::mechanism(seed).build() else { continue };
        let own = Study::of(&model);
        let study = Study { t_end: own.t_end.min(0.3), ..own };
        let first = choice(&model, &study);
        assert!(first.2.len() > 20 && first.2.contains(' '), "{seed}: {first:?}");
        let run = || {
            let mut rows = Trajectory::default();
            let report = study::run(&model, &study, &mut rows).ok().map(|r| (r.formulation, r.integrator));
            (choice(&model, &study), report, rows.values.iter().flatten().map(|x| x.to_bits()).collect::<Vec<u64>>())
        };
        let here = run();
        // Two at once on separate threads.
        let others = std::thread::scope(|s| [s.spawn(run), s.spawn(run)].map(|t| t.join().expect("it runs")));
        assert!(here.0 == first && others.iter().all(|o| *o == here), "{seed}: {first:?}");
        taken.insert(first.0);
    }
    assert!(["grcr", "natural", "lie"].iter().all(|f| taken.contains(f)), "{taken:?}");
}

#[test]
fn structure_and_length_of_the_motion_decide() {
    let far = |name: &str, t_end: f64| {
        let model = model(name);
        let study = Study { analysis: Some(Analysis::Dynamics), formulation: None, integrator: None, t_end, ..Study::of(&model) };
        choice(&model, &study).0
    };
    // A series pays for planar loops at shorter spans than for spatial ones, for gears at any span.
    assert_eq!([far("andrews", 1e-3), far("andrews", 10.0)], ["lie", "natural"]);
    assert_eq!([far("a04_bricard", 0.5), far("a04_bricard", 10.0)], ["lie", "natural"]);
    assert_eq!([far("lie_heavy_top", 0.1), far("lie_heavy_top", 10.0)], ["grcr", "grcr"]);
}

/// A slide and a hinge that close a loop with a third joint, and friction on the hinge.
fn rubbing_loop(third: &str) -> Model {
    common::parse(&format!(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  nut: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0.2]}}
  spindle: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0.6]}}
joints:
  bearing: {{type: revolute, bodies: [ground, spindle], at: [0, 0, 0.6], axis: [0, 0, 1]}}
  slide: {{type: prismatic, bodies: [ground, nut], at: [0, 0, 0.2], axis: [0, 0, 1]}}
  third: {{type: {third}, bodies: [spindle, nut], at: [0, 0, 0.3], axis: [0, 0, 1]}}
forces: {{rub: {{type: friction, joint: bearing, coulomb: 0.2, radius: 0.02, speed: 0.1}}}}
study: {{t_end: 0.5, output_step: 0.1}}
"
    ))
}

#[test]
fn friction_on_loads_that_are_not_unique_goes_to_divide_and_conquer() {
    let pick = |third: &str| {
        let model = rubbing_loop(third);
        choice(&model, &Study::of(&model)).0
    };
    assert_eq!(pick("screw, lead: 0.05"), "dca");
}
