//! Specifications, settings, states and reports survive JSON: the values read equal those written, numbers to the bit.

use fourbar::study::{self, Report, Study};
use fourbar::{Configuration, ModelSpec, Simulation, Trajectory};
use fourbar_testing::common::model;
use fourbar_testing::families;
use std::sync::Arc;

fn again<T: serde::Serialize + serde::de::DeserializeOwned>(x: &T) -> T {
    let text = serde_json::to_string(x).expect("it can be written");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn specifications_come_back() {
    let read = |text: &str| fourbar_io::read_model(text, &fourbar_io::ReadOptions::default()).expect("a good file").spec;
    let shipped = fourbar_io::examples::examples().map(|e| read(e.text));
    let random = (0..116).map(families::mechanism);
    let mut count = 0;
    for spec in shipped.chain(random) {
        assert_eq!(again(&spec), spec);
        count += 1;
    }
    assert!(count > 150, "{count}");
    // Omitted values have their defaults, and a text that is not an expression is rejected.
    let small: ModelSpec = serde_json::from_str(r#"{"bodies": [["a", {"mass": 2}]]}"#).expect("a body");
    assert_eq!((small.bodies[0].1.mass, small.study.t_end), (2.0, 1.0));
    let wrong = r#"{"drives": [["m", {"joint": "a", "quantity": "Angle", "value": "2*(x0"}]]}"#;
    assert!(serde_json::from_str::<ModelSpec>(wrong).is_err());
}

#[test]
fn settings_and_reports_come_back() {
    for name in ["fourbar", "ra_slider_crank", "a04_bricard", "lie_heavy_top"] {
        let m = model(name);
        let study = Study { t_end: 0.05, output_step: 0.01, options: Vec::new(), ..Study::of(&m) };
        assert_eq!(again(&study), study);
        let report = study::run(&m, &study, &mut Trajectory::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!report.work.is_empty());
        assert_eq!(again(&report), report);
    }
    let wrong = r#"{"analysis": "dynamics", "formulation": "none", "integrator": "rk4", "t": 1, "stopped": false, "work": [], "rows": 0,
        "redundant": 0, "not_unique": [], "singular": [], "notes": [], "warnings": [], "length": 1}"#;
    assert!(serde_json::from_str::<Report>(wrong).is_err(), "there is no such formulation");
}

#[test]
fn states_come_back_and_can_be_gone_on_from() {
    let m = Arc::new(model("ra_double_pendulum"));
    let study = Study { tol: Some(1e-8), ..Study::of(&m) };
    let mut s = Simulation::new(&m, &study).expect("it moves");
    s.advance(0.37).expect("on the way");
    let kept: Configuration = again(&s.state());
    assert_eq!(kept, s.state());
    s.advance(0.5).expect("further");
    s.set_state(&kept).expect("back");
    assert_eq!(s.t(), 0.37);
}
