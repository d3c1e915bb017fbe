//! `tolerance`, `optimize` and `synthesize` against closed forms and reference values.

use crate::common;

use common::{folder, fourbar, json, whole};
use serde_json::Value;

const HELD: &str = include_str!("data/fourbar_held.yaml");

#[test]
fn a_file_may_hold_its_own_optimisation() {
    let f = folder("optimize_file");
    let text = SLIDER.replace(
        "measures: {out: last(P.x)}}",
        "measures: {out: last(P.x)}, optimize: {vary: {l: 100..200 mm}, fit: {left: last(P.x) - 180 mm}, keep: {long: 'min(P.x) > 1 mm'}}}",
    );
    assert_ne!(text, SLIDER);
    std::fs::write(f.join("slider.yaml"), &text).expect("the file");
    let o = json(&fourbar(&f, &["optimize", "slider.yaml", "--starts", "1", "--json"]));
    // x = r cos a + sqrt(l^2 - r^2 sin^2 a) = 0.18.
    let (r, a) = (0.05_f64, 0.3_f64);
    let l = (0.18 - r * a.cos()).hypot(r * a.sin());
    assert!((of(&o["set"]["l"]) - l).abs() < 1e-9 && o["method"] == "least-squares", "{l}: {o:#}");
    // Misspelt keys are reported by name.
    std::fs::write(f.join("bad.yaml"), text.replace("keep: {long", "kep: {long")).expect("the file");
    let words = whole(&fourbar(&f, &["check", "bad.yaml"]));
    assert!(words.contains("M012") && words.contains("`kep`"), "{words}");
}

/// The slider-crank of the sweeps, with tolerances.
const SLIDER: &str = "fourbar: 1
title: Slider-crank
parameters: {r: 50 mm, l: 150 mm, start: 0.3, turn: 2*pi, pin: r*sin(start), head: r*cos(start) + sqrt(l^2 - pin^2)}
bodies:
  crank: {mass: 1, inertia: [1e-3, 1e-3, 1e-3], at: [0, 0, 0], orientation: {axis: [0, 0, 1], angle: start}}
  rod: {mass: 1, inertia: [1e-3, 1e-3, 1e-3], at: [head, 0, 0], orientation: {axis: [0, 0, 1], angle: 'atan2(-pin, head - r*cos(start))'}}
  piston: {mass: 2, inertia: [1e-3, 1e-3, 1e-3], at: [head, 0, 0]}
joints:
  O: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}
  A: {type: revolute, bodies: [crank, rod], at: [r*cos(start), pin, 0], axis: [0, 0, 1]}
  B: {type: revolute, bodies: [rod, piston], at: [head, 0, 0], axis: [0, 0, 1]}
  bore: {type: prismatic, bodies: [ground, piston], at: [head, 0, 0], axis: [1, 0, 0]}
drives: {motor: {joint: O, angle: turn*t}}
points: {P: {body: piston, at: [0, 0, 0]}}
study: {t_end: 1, output_step: 50 ms, measures: {out: last(P.x)}}
tolerances: {r: 0.3 mm, l: {uniform: 0.2 mm}, start: {sigma: 0.2 deg}}
";

fn of(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("no number: {v}"))
}

#[test]
fn a_slider_crank_stacks_up_as_its_formula_says() {
    let f = folder("tolerance_slider");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    let o = json(&fourbar(&f, &["tolerance", "slider.yaml", "--samples", "2000", "--keep", "last(P.x) > 197 mm", "-o", "s.csv", "--json"]));
    assert_eq!(of(&o["exit_code"]), 0.0, "{o:#}");
    // x = r cos a + sqrt(l^2 - r^2 sin^2 a).
    let (r, l, a) = (0.05_f64, 0.15_f64, 0.3_f64);
    let root = (l * l - (r * a.sin()).powi(2)).sqrt();
    let slopes = [("r", a.cos() - r * a.sin().powi(2) / root), ("l", l / root), ("start", -r * a.sin() - r * r * a.sin() * a.cos() / root)];
    let sigmas = [1e-4, 2e-4 / 3f64.sqrt(), 0.2_f64.to_radians()];
    let linear = &o["measures"]["out"]["linear"];
    for (name, slope) in slopes {
        assert!((of(&linear["slopes"][name]) - slope).abs() < 1e-6 * slope.abs(), "{name} {slope}: {linear:#}");
    }
    let variance: f64 = slopes.iter().zip(sigmas).map(|((_, j), s)| (j * s).powi(2)).sum();
    assert!((of(&linear["sigma"]) / variance.sqrt() - 1.0).abs() < 1e-6, "{linear:#}");
    let worst: f64 = slopes.iter().zip([3e-4, 2e-4, 3.0 * sigmas[2]]).map(|((_, j), t)| j.abs() * t).sum();
    assert!((of(&linear["worst_case"]) / worst - 1.0).abs() < 1e-6, "{linear:#}");
    let shares: f64 = ["r", "l", "start"].iter().map(|n| of(&linear["shares"][n])).sum();
    assert!((shares - 1.0).abs() < 1e-12);
    // The samples agree within their errors; a Sobol sequence is more accurate than random sampling.
    let samples = &o["measures"]["out"]["samples"];
    assert!((of(&samples["sigma"]) - variance.sqrt()).abs() < 4.0 * of(&samples["sigma_error"]), "{o:#}");
    assert!((of(&samples["mean"]) - (r * a.cos() + root)).abs() < 4.0 * of(&samples["mean_error"]), "{o:#}");
    // The yield compared with the distribution of a nearly normal sum.
    let z = (r * a.cos() + root - 0.197) / variance.sqrt();
    let expected = 1.0 - fourbar_design::sweep::upper_tail(z);
    let (low, high) = (of(&o["yield"]["interval"][0]), of(&o["yield"]["interval"][1]));
    assert!(low - 0.01 < expected && expected < high + 0.01, "{expected}: {o:#}");
    let csv = std::fs::read_to_string(f.join("s.csv")).expect("samples");
    assert!(csv.starts_with("sample,set.r,set.l,set.start,status,code,out,margin_1\n0,") && csv.lines().count() == 2001);
    // No sample failed: the column of codes is empty, and is omitted like columns of text.
    let list = whole(&fourbar(&f, &["plot", "s.csv"]));
    assert!(list.contains("6 columns, 2000 rows") && list.contains("margin_1") && list.lines().all(|l| l.trim() != "code"), "{list}");
    let drawn = whole(&fourbar(&f, &["plot", "s.csv", "out", "--x", "set.r"]));
    assert!(drawn.contains("set.r") && !drawn.contains("U007"), "{drawn}");
}

/// A second tolerance, or second bounds, of one parameter would have no effect.
#[test]
fn nothing_is_given_twice() {
    let f = folder("given_twice");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    let tolerance = ["tolerance", "slider.yaml", "--tolerance", "l=1mm", "--tolerance", "l=2mm"];
    let optimize = ["optimize", "slider.yaml", "--vary", "l=100..200mm", "--vary", "l=140..160mm", "--fit", "x=last(P.x) - 180 mm"];
    for (words, code) in [(&tolerance[..], "U437"), (&optimize, "U430")] {
        let output = fourbar(&f, words);
        let told = whole(&output);
        assert!(output.status.code() == Some(2) && told.contains(code) && told.contains("`l`") && told.contains("twice"), "{told}");
    }
    // Blanks between names and repeated names are accepted.
    let o = json(&fourbar(&f, &["sensitivities", "slider.yaml", "--of", "last(P.x)", "--to", "l, r, l", "--json"]));
    assert_eq!(o["outputs"][0]["parameters"].as_array().map(Vec::len), Some(2), "{o:#}");
}

#[test]
fn tolerances_and_clearances_of_a_four_bar() {
    let f = folder("tolerance_fourbar");
    std::fs::write(f.join("held.yaml"), HELD).expect("the file");
    let tolerances = ["a", "b", "c", "g"].map(|n| format!("{n}=0.5mm"));
    let clearances = ["O", "A", "B", "C"].map(|n| format!("{n}=clearance:20um"));
    let mut words = vec![
        "tolerance",
        "held.yaml",
        "--t-end",
        "0.01",
        "--samples",
        "200",
        "--measure",
        "x=last(P.x)",
        "--measure",
        "z=last(P.z)",
        "--json",
    ];
    for t in tolerances.iter().chain(&clearances) {
        words.extend(["--tolerance", t]);
    }
    let o = json(&fourbar(&f, &words));
    // Exact derivatives of the closed form.
    for (name, sigma, worst, clearance) in [
        ("x", 0.00021850080016546652, 0.0011331971061872173, 6.830938235336861e-05),
        ("z", 0.00011845551934580848, 0.0005368698295771367, 4.005374054907952e-05),
    ] {
        let linear = &o["measures"][name]["linear"];
        // Slopes are derivatives of the run; pins are shifted by the full clearance.
        assert!((of(&linear["sigma"]) / sigma - 1.0).abs() < 1e-9, "{o:#}");
        assert!((of(&linear["worst_case"]) / worst - 1.0).abs() < 1e-9, "{o:#}");
        assert!((of(&linear["clearance"]) / clearance - 1.0).abs() < 2e-9, "{o:#}");
        assert_eq!(o["slopes"], "derivatives");
        let samples = &o["measures"][name]["samples"];
        assert!((of(&samples["sigma"]) - sigma).abs() < 4.0 * of(&samples["sigma_error"]), "{o:#}");
    }
}

#[test]
fn samples_that_cannot_be_assembled_are_counted_by_loop() {
    let f = folder("tolerance_open");
    std::fs::write(f.join("held.yaml"), HELD).expect("the file");
    // The margin of the coupler is 1.1 mm: about one sample in seven is too short.
    let o = json(&fourbar(
        &f,
        &[
            "tolerance",
            "held.yaml",
            "--t-end",
            "0.01",
            "--set",
            "b=0.059",
            "--tolerance",
            "b=3mm",
            "--samples",
            "60",
            "--measure",
            "x=last(P.x)",
            "-o",
            "open.csv",
            "--json",
        ],
    ));
    // Samples without a measure leave gaps in the plot.
    let list = whole(&fourbar(&f, &["plot", "open.csv"]));
    assert!(list.contains("3 columns, 60 rows") && list.lines().all(|l| l.trim() != "code"), "{list}");
    // The probability of a normal distribution beyond the length at which crank and ground can still be connected.
    let (a, c, g, crank) = (0.15_f64, 0.3, 0.4, 1.1_f64);
    let least = (g - a * crank.cos()).hypot(a * crank.sin()) - c;
    let expected = fourbar_design::sweep::upper_tail((least - 0.059) / 1e-3);
    let (low, high) = (of(&o["assembled"]["interval"][0]), of(&o["assembled"]["interval"][1]));
    assert!(low < expected && expected < high && expected < 0.95, "{expected}: {o:#}");
    let words = o["failures"][0]["words"].as_str().expect("words");
    assert!(words.contains("loop") && ["`O`", "`A`", "`B`", "`C`"].iter().all(|j| words.contains(j)), "{words}");
    // The largest gap equals the missing length of the shortest coupler.
    let drawn = std::fs::read_to_string(f.join("open.csv")).expect("samples");
    let place = drawn.lines().next().and_then(|l| l.split(',').position(|c| c == "set.b")).expect("a column of b");
    let shortest = drawn.lines().skip(1).filter_map(|l| l.split(',').nth(place)?.parse::<f64>().ok()).fold(f64::INFINITY, f64::min);
    let told = words.split("stays open by up to ").nth(1).and_then(|w| w.strip_suffix(" mm")?.parse::<f64>().ok()).expect(words);
    assert!((told - 1e3 * (least - shortest)).abs() < 0.02 * told, "{words}: {} mm", 1e3 * (least - shortest));
    for (words, code) in [
        (&["--tolerance", "a=0mm", "--measure", "x=last(P.x)"][..], "U437"),
        (&["--tolerance", "q=1mm", "--measure", "x=last(P.x)"], "U437"),
        (&["--tolerance", "a=IT77", "--measure", "x=last(P.x)"], "U437"),
        (&["--tolerance", "Q=clearance:1um", "--measure", "x=last(P.x)"], "U437"),
        (&["--measure", "x=last(P.x)"], "U437"),
        (&["--tolerance", "a=1mm"], "U436"),
    ] {
        let output = fourbar(&f, &[&["tolerance", "held.yaml"][..], words].concat());
        assert!(output.status.code() == Some(2) && whole(&output).contains(code), "{words:?}: {}", whole(&output));
    }
}

/// Tolerances and given points have the dimension of their quantity; a goal with a sign is not a sum of squares.
#[test]
fn units_and_goals_that_do_not_fit_are_refused() {
    let f = folder("studies_units");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    for given in ["r=0.1kg", "r=sigma:0.1kg", "r=uniform:0.1s", "r=1deg"] {
        let output = fourbar(&f, &["tolerance", "slider.yaml", "--measure", "a=max(P.x)", "--tolerance", given, "--samples", "4"]);
        let text = whole(&output);
        assert!(output.status.code() == Some(2) && text.contains("U437"), "{given}: {text}");
    }
    let text =
        whole(&fourbar(&f, &["tolerance", "fourbar", "--measure", "a=max(P.y)", "--tolerance", "B=clearance:20kg", "--samples", "4"]));
    assert!(text.contains("U437") && text.contains("exit code 2"), "{text}");
    for written in ["r: 0.1 kg", "r: {sigma: 0.1 kg}", "r: {uniform: 1 s}", "r: {plus_minus: 2 N}"] {
        std::fs::write(f.join("own.yaml"), format!("{SLIDER}\ntolerances: {{{written}}}\n")).expect("the file");
        let output = fourbar(&f, &["check", "own.yaml"]);
        assert_eq!(output.status.code(), Some(2), "{written}: {}", whole(&output));
    }
    for words in [
        &["--function", "40kg,70deg;45deg,76deg;50deg,83deg"][..],
        &["--function", "40deg,70deg;45deg,76deg;50deg,83mm"],
        &["--motion", "0,0,0; 0.4s,0.3,30deg; 0.9,0.2,75deg", "--fixed", "0,0;1,0"],
        &["--function", "40deg,70deg;45deg,76deg;50deg,83deg", "--ground", "0"],
    ] {
        let output = fourbar(&f, &[&["synthesize"], words].concat());
        let text = whole(&output);
        assert!(output.status.code() == Some(2) && text.contains("U439") && !text.contains("do not determine"), "{words:?}: {text}");
    }
    for goal in ["--maximize", "--minimize"] {
        let words = ["optimize", "slider.yaml", "--vary", "r=40..60mm", goal, "max(P.x)", "--method", "least-squares"];
        let output = fourbar(&f, &words);
        let text = whole(&output);
        assert!(output.status.code() == Some(2) && text.contains("U438") && text.contains("--fit"), "{goal}: {text}");
    }
}

#[test]
fn an_optimum_is_written_as_a_file() {
    let f = folder("optimize_slider");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    // Start 0.3 and l: the stroke is 2 r at the dead points; fit both end positions of the piston: r + l = 0.21, l - r = 0.09.
    let o = json(&fourbar(
        &f,
        &[
            "optimize",
            "slider.yaml",
            "--set",
            "start=0",
            "--vary",
            "r=30..80mm",
            "--vary",
            "l=100..200mm",
            "--fit",
            "far=max(P.x) - 0.21 m",
            "--fit",
            "near=min(P.x) - 0.09 m",
            "--starts",
            "3",
            "-o",
            "best.yaml",
            "--history",
            "way.csv",
            "--json",
        ],
    ));
    assert_eq!(of(&o["exit_code"]), 0.0, "{o:#}");
    assert!((of(&o["set"]["r"]) - 0.06).abs() < 1e-8 && (of(&o["set"]["l"]) - 0.15).abs() < 1e-8, "{o:#}");
    let text = std::fs::read_to_string(f.join("best.yaml")).expect("the file");
    assert!(text.contains("title: Slider-crank") && text.contains("r: 60.0") && text.contains("start: 0,"), "{text}");
    let way = std::fs::read_to_string(f.join("way.csv")).expect("the history");
    assert!(way.starts_with("start,goal,violation,set.r,set.l\n0,"), "{way}");
    // One parameter with a condition: the shortest rod with the piston beyond 80 mm is l = 0.08 + r.
    let o = json(&fourbar(
        &f,
        &[
            "optimize",
            "slider.yaml",
            "--set",
            "start=0",
            "--vary",
            "l=100..200mm",
            "--minimize",
            "max(P.x)",
            "--keep",
            "min(P.x) > 80 mm",
            "--evaluations",
            "150",
            "--json",
        ],
    ));
    assert_eq!(o["method"], "cma");
    assert!((of(&o["set"]["l"]) - 0.13).abs() < 1e-5 && of(&o["violation"]) < 1e-6, "{o:#}");
    assert_eq!(of(&o["exit_code"]), 0.0, "a condition that is active at the best values is met: {o:#}");
    // A value in the file outside the bounds: the report on the file uses the original value, 50 mm.
    let words = ["optimize", "slider.yaml", "--set", "start=0", "--vary", "r=60..80mm", "--minimize", "max(P.x)", "--evaluations", "40"];
    let o = json(&fourbar(&f, &[&words[..], &["--json"]].concat()));
    assert!((of(&o["goal_before"]) - 0.2).abs() < 1e-9 && (of(&o["goal"]) - 0.21).abs() < 1e-6, "{o:#}");
    let text = whole(&fourbar(&f, &words)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("0.2 with the values of the file (`r` lies outside the bounds)"), "{text}");
    // An active bound is reported.
    let o = json(&fourbar(
        &f,
        &["optimize", "slider.yaml", "--vary", "l=120..200mm", "--maximize", "max(P.x)", "--evaluations", "120", "--json"],
    ));
    assert!(o["diagnostics"].as_array().is_some_and(|d| d.iter().any(|d| d["code"] == "W440")), "{o:#}");
    for (words, code) in [
        (&["--vary", "r=30..80mm"][..], "U438"),
        (&["--vary", "r=30..80mm", "--minimize", "max(P.x)", "--keep", "max(P.x)"], "U438"),
        (&["--vary", "r=30..80mm", "--minimize", "max(P.x)", "--keep", "max(P.x) == 0.2"], "conditions use `<` or `>`"),
        (&["--minimize", "max(P.x)"], "U438"),
        (&["--vary", "r=80..30mm", "--minimize", "max(P.x)"], "U430"),
        (&["--vary", "l=1..2mm", "--minimize", "max(P.x)", "--evaluations", "20"], "S440"),
    ] {
        let output = fourbar(&f, &[&["optimize", "slider.yaml"][..], words].concat());
        assert!(whole(&output).contains(code), "{words:?}: {}", whole(&output));
    }
}

#[test]
fn a_four_bar_is_recovered_from_its_coupler_curve() {
    let f = folder("optimize_path");
    // Points on the coupler curve of another four-bar, from a run.
    let truth = [("crank_length", 0.07), ("coupler_length", 0.19), ("rocker_length", 0.17)];
    let set: Vec<String> = truth.iter().map(|(n, x)| format!("{n}={x}")).collect();
    let mut words = vec!["run", "fourbar", "--out", "truth", "--columns", "P", "--output-step", "0.125"];
    set.iter().for_each(|s| words.extend(["--set", s]));
    assert_eq!(fourbar(&f, &words).status.code(), Some(0));
    let csv = std::fs::read_to_string(f.join("truth/trajectory.csv")).expect("rows");
    let mut fits = Vec::new();
    for line in csv.lines().skip(1).take(8) {
        let x: Vec<f64> = line.split(',').filter_map(|c| c.parse().ok()).collect();
        for (axis, value) in [("x", x[1]), ("y", x[2])] {
            fits.push(format!("{axis}{}=at(P.{axis}, {} s) - {value} m", fits.len(), x[0]));
        }
    }
    let mut words = vec!["optimize", "fourbar", "--output-step", "0.125", "--starts", "1", "--json"];
    let vary = ["crank_length=50..90mm", "coupler_length=150..250mm", "rocker_length=130..200mm"];
    vary.iter().for_each(|v| words.extend(["--vary", v]));
    fits.iter().for_each(|s| words.extend(["--fit", s]));
    let o = json(&fourbar(&f, &words));
    for (name, x) in truth {
        assert!((of(&o["set"][name]) - x).abs() < 1e-7, "{o:#}");
    }
}

/// The nine points of Wampler, Morgan and Sommese (1992), the largest number that a four-bar can pass: one of the linkages found by
/// polynomial methods, the only crank-rocker that passes them in order on one branch.
#[test]
fn nine_points_are_passed_to_rounding() {
    let f = folder("synthesize_nine");
    let nine = "0.25,0; 0.52,0.1; 0.8,0.7; 1.2,1; 1.4,1.3; 1.1,1.48; 0.7,1.4; 0.2,1; 0.02,0.4";
    let o = json(&fourbar(&f, &["synthesize", "--path", nine, "--starts", "10", "--json"]));
    let best = &o["found"][0];
    assert!(of(&best["error"]) < 1e-26 && of(&best["worst"]) < 1e-13, "{best:#}");
    let known = [
        [0.7168152983894477, 0.5410682815219171, 0.6397635572513758, 0.7397920006789971],
        [0.8109133477771566, 0.6120956019364862, 0.8369062564334873, 0.72374684128836],
    ];
    let own = ["ground", "crank", "coupler", "rocker"].map(|n| of(&best["linkage"][n]));
    let apart = known.map(|k| k.iter().zip(&own).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())));
    assert!(apart[0].min(apart[1]) < 1e-11, "{own:?}");
}

#[test]
fn linkages_are_synthesised_and_run() {
    let f = folder("synthesize");
    let o = json(&fourbar(&f, &["synthesize", "--function", "40deg,70deg; 45deg,76deg; 50deg,83deg", "--json"]));
    // Solution with 30 digits.
    for (name, x) in [("crank", 1.2247697343871524), ("coupler", 0.3394938561823698), ("rocker", 0.8088042962754692)] {
        assert!((of(&o["linkage"][name]) - x).abs() < 1e-9, "{o:#}");
    }
    let five = "3,3,30deg; 2.759,3.363,45deg; 2.372,3.663,60deg; 1.89,3.862,75deg; 1.355,3.943,90deg";
    let o = json(&fourbar(
        &f,
        &[
            "synthesize",
            "--path",
            five,
            "--timing",
            "given",
            "--place",
            "0,0",
            "--tilt",
            "0",
            "--starts",
            "40",
            "-o",
            "five.yaml",
            "--json",
        ],
    ));
    let errors: Vec<f64> = o["found"].as_array().into_iter().flatten().map(|l| of(&l["error"])).collect();
    assert!(errors.iter().any(|e| (e - 7.415751e-7).abs() < 1e-11), "{errors:?}");
    // The file has the motion of the synthesis: its coupler point is at the first point at the start.
    assert_eq!(fourbar(&f, &["run", "five.yaml", "--out", "five", "--columns", "P"]).status.code(), Some(0));
    let csv = std::fs::read_to_string(f.join("five/trajectory.csv")).expect("rows");
    let first: Vec<f64> = csv.lines().nth(1).unwrap_or_default().split(',').filter_map(|c| c.parse().ok()).collect();
    assert!((first[1] - 3.0).hypot(first[2] - 3.0) < 0.01, "{first:?}");
    let o = json(&fourbar(&f, &["synthesize", "--motion", "0,0,0.1; 0.4,0.3,0.6; 0.9,0.2,1.3", "--fixed", "0.2,-0.8; 1.1,-0.5", "--json"]));
    assert_eq!(of(&o["exit_code"]), 0.0, "{o:#}");
    for (words, code) in [
        (&["--path", "1,2; 3,4"][..], "U439"),
        (&["--path", "1,2; 3,4; 5,6; 6,7", "--timing", "never"], "U439"),
        (&["--path", "1,2; 3,x; 5,6"], "U439"),
        (&["--motion", "0,0,0; 1,0,0; 2,0,0", "--moving", "0.1,0.2; 0.5,0.3"], "S441"),
        (&["--motion", "0,0,0; 1,0,0", "--moving", "0.1,0.2; 0.5,0.3"], "U439"),
    ] {
        let output = fourbar(&f, &[&["synthesize"][..], words].concat());
        assert!(whole(&output).contains(code), "{words:?}: {}", whole(&output));
    }
}

#[test]
fn one_condition_that_is_active_is_met() {
    let f = folder("optimize_active");
    let words = ["optimize", "fourbar", "--vary", "crank_length=50..90mm", "--maximize", "max(P.y)", "--keep", "max(P.y) < 0.21"];
    let o = json(&fourbar(&f, &[&words[..], &["--json"]].concat()));
    assert_eq!(of(&o["exit_code"]), 0.0, "{o:#}");
    assert!((of(&o["goal"]) - 0.21).abs() < 1e-6, "{o:#}");
    // An infeasible condition is still reported as violated.
    let words = ["optimize", "fourbar", "--vary", "crank_length=50..90mm", "--maximize", "max(P.y)", "--keep", "max(P.y) < 0.01"];
    let output = fourbar(&f, &words);
    assert!(whole(&output).contains("S440"), "{}", whole(&output));
}

/// Linkages of random lengths, most of which cannot rotate fully: the written file passes the pairs in their order.
#[test]
fn written_linkages_pass_what_they_were_made_for() {
    use fourbar_design::synthesis::{Complex, FourBar};
    let f = folder("synthesize_runs");
    let mut random = fourbar::random::Random(20_261_121);
    let (mut done, mut swings) = (0, 0);
    while done < 8 {
        let mut length = || 0.9 + 0.5 * random.number();
        let pins = [Complex::default(), Complex::new(1.0, 0.0)];
        let l = FourBar { ground: pins, crank: length(), coupler: length(), rocker: length(), point: Complex::default(), mode: 1.0 };
        let (first, a, b) = (3.0 * random.number(), 0.5 * random.number(), 0.5 * random.number());
        let cranks = [first, first + a, first + a + b];
        let mut least = (0..=400).map(|k| {
            let (low, high) =
                (cranks.iter().copied().fold(f64::INFINITY, f64::min), cranks.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            let p = l.position(low + (high - low) * f64::from(k) / 400.0)?;
            let (c, r) = (p.B - p.A, p.B - pins[1]);
            Some((c.cross(r) / (c.abs() * r.abs())).abs())
        });
        // Only linkages away from dead points and with distinguishable steps.
        if !least.try_fold(1.0_f64, |m, x| Some(m.min(x?))).is_some_and(|x| x > 0.2) || a.abs().min(b.abs()).min((a + b).abs()) < 0.05 {
            continue;
        }
        let pairs = cranks.map(|c| [c, l.position(c).map_or(f64::NAN, |p| (p.B - pins[1]).arg())]);
        let text = pairs.map(|[x, y]| format!("{x:?},{y:?}")).join("; ");
        let o = json(&fourbar(&f, &["synthesize", "--function", &text, "--ground", "1", "-o", "l.yaml", "--force", "--json"]));
        if o["one_branch"] != true || o["exit_code"] != 0 || (of(&o["linkage"]["crank"]) - l.crank).abs() > 1e-6 {
            continue;
        }
        done += 1;
        swings += usize::from(!l.crank_turns());
        let output = fourbar(&f, &["run", "l.yaml", "--out", "l", "--columns", "O.angle", "--columns", "C.angle", "--force"]);
        assert_eq!(output.status.code(), Some(0), "{l:?} {pairs:?}\n{}", whole(&output));
        let csv = std::fs::read_to_string(f.join("l/trajectory.csv")).expect("rows");
        let rows: Vec<Vec<f64>> = csv.lines().skip(1).map(|l| l.split(',').filter_map(|c| c.parse().ok()).collect()).collect();
        let mut row = 0;
        for [crank, rocker] in &pairs {
            let wrap = |x: f64| x.sin().atan2(x.cos());
            let [dc, dr] = [crank - pairs[0][0], rocker - pairs[0][1]];
            // The first row from here on with the crank past the angle.
            row = (row..rows.len() - 1)
                .find(|&k| {
                    let [p, q] = [k, k + 1].map(|k| wrap(rows[k][1] - dc));
                    p.abs() < 1e-5 || (p * q <= 0.0 && (p - q).abs() < 1.0)
                })
                .unwrap_or_else(|| panic!("{dc} is not passed in order: {pairs:?} {l:?}"));
            let [p, q] = [row, row + 1].map(|k| (wrap(rows[k][1] - dc), rows[k][2]));
            let share = if p.0 == q.0 { 0.0 } else { (p.0 / (p.0 - q.0)).clamp(0.0, 1.0) };
            let got = p.1 + share * (q.1 - p.1);
            assert!(wrap(got - dr).abs() < 5e-3, "at {dc} the rocker is at {got} and not at {dr}: {pairs:?} {l:?}");
        }
    }
    assert!(swings > 2, "{swings}");
}
