//! First steps of a new user: starter files, lists, plots of files, animations, and warnings that appear once.

use crate::common;

use common::{folder, fourbar, json, whole};
use std::path::Path;

fn out(folder: &Path, arguments: &[&str]) -> String {
    let output = fourbar(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{}", whole(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn refused(folder: &Path, arguments: &[&str], code: &str) -> String {
    let output = fourbar(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{}", whole(&output));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains(&format!("error[{code}]")), "{text}");
    text
}

#[test]
fn every_kind_of_starter_runs_without_a_warning_and_its_own_hints_work() {
    let f = folder("starters");
    for s in fourbar_io::STARTERS {
        let file = format!("{}.yaml", s.kind);
        let said = out(&f, &["new", &file, "--kind", s.kind]);
        assert!(said.starts_with(s.what) && said.contains(&format!("fourbar check {file}")), "{said}");
        for verb in ["check", "run"] {
            let output = fourbar(&f, &[verb, &file]);
            assert_eq!(output.status.code(), Some(0), "{verb} {file}\n{}", whole(&output));
            assert!(output.stderr.is_empty(), "{verb} {file}: {}", String::from_utf8_lossy(&output.stderr));
        }
        // The starter file is consistent: assembly changes nothing.
        let start = json(&fourbar(&f, &["assemble", &file, "--json"]));
        assert!(s.kind == "suspension" || start["diagnostics"].as_array().is_some_and(Vec::is_empty), "{file}: {start:#}");
    }
    assert_eq!(out(&f, &["new", "plain.yaml"]).lines().next(), Some("a four-bar linkage to start from is in plain.yaml"));
    let output = fourbar(&f, &["new", "other.yaml", "--kind", "car"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("four-bar, slider-crank"), "{}", whole(&output));
}

#[test]
fn the_starters_move_as_their_geometry_says() {
    let f = folder("starters_move");
    let column = |kind: &str, columns: &[&str]| -> Vec<Vec<f64>> {
        let file = format!("{kind}.yaml");
        out(&f, &["new", &file, "--kind", kind]);
        out(&f, &["run", &file, "--out", kind]);
        let text = std::fs::read_to_string(f.join(kind).join("trajectory.csv")).expect("rows");
        let names: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
        let places: Vec<usize> = columns.iter().map(|c| names.iter().position(|n| n == c).expect(c)).collect();
        let rows: Vec<Vec<f64>> = text.lines().skip(1).map(|l| l.split(',').map(|x| x.parse().expect("a number")).collect()).collect();
        places.iter().map(|k| rows.iter().map(|r| r[*k]).collect()).collect()
    };
    let most = |x: &[f64]| x.iter().fold(f64::MIN, |a, b| a.max(*b));
    let least = |x: &[f64]| x.iter().fold(f64::MAX, |a, b| a.min(*b));
    // The stroke of a slider-crank is twice the crank length; it starts at the outer end.
    let c = column("slider-crank", &["guide.distance", "main_bearing.speed"]);
    assert!((least(&c[0]) + 0.08).abs() < 1e-6 && most(&c[0]).abs() < 1e-9, "{} {}", least(&c[0]), most(&c[0]));
    assert!(c[1].iter().all(|w| (w - 10.0 * std::f64::consts::PI).abs() < 1e-6));
    // The pads touch the object, and the grip follows from virtual work: torque = grip * d(gap)/d(angle).
    let c = column("gripper", &["grip.length", "grip.tension", "hinge_l.angle"]);
    let (gap, tension, angle) = (c[0].last().expect("rows"), c[1].last().expect("rows"), c[2].last().expect("rows"));
    assert!((gap - 0.04).abs() < 2e-4, "{gap}");
    // A finger is at (-30, 60) mm and turns about y: its end moves by the z component of its arm, and both pads move.
    let arm = 0.06 * angle.cos() + 0.03 * angle.sin();
    assert!((tension + 0.3 / (2.0 * arm)).abs() < 0.01 * tension.abs(), "{tension} {}", 0.3 / (2.0 * arm));
    // The arm of the robot comes to rest, and its shoulder carries the weights of both arms and of the load.
    let c = column("robot", &["shoulder_motor.effort", "shoulder.angle", "elbow.angle", "tool.x"]);
    let last = |k: usize| *c[k].last().expect("rows");
    assert!((last(1) - 20.0_f64.to_radians()).abs() < 1e-9 && (last(2) + 60.0_f64.to_radians()).abs() < 1e-9);
    let rod = |length: f64, radius: f64| 2700.0 * std::f64::consts::PI * radius * radius * (length + 4.0 / 3.0 * radius);
    let (upper, fore) = (rod(0.4, 0.04), rod(0.35, 0.03));
    let (a, b) = (20.0_f64.to_radians().cos(), (-40.0_f64).to_radians().cos());
    let weight = 9.81 * (upper * 0.2 * a + fore * (0.4 * a + 0.175 * b) + 2.0 * (0.4 * a + 0.35 * b));
    assert!((last(0) - weight).abs() < 1e-6 * weight, "{} {weight}", last(0));
}

#[test]
fn shipped_models_are_listed_in_groups_and_found_under_both_names() {
    let f = folder("listed");
    let text = out(&f, &["examples"]);
    assert!(text.starts_with("First steps\n  fourbar "), "{text}");
    assert!(text.contains("\nVehicles\n") && text.contains("  bricard ") && !text.contains("a04_bricard"), "{text}");
    assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
    assert_eq!(out(&f, &["examples", "bricard"]), out(&f, &["examples", "a04_bricard"]));
    out(&f, &["run", "simple_pendulum", "--t-end", "0.1"]);
    let error = refused(&f, &["examples", "bricardd"], "U002");
    assert!(error.contains("did you mean `bricard`?"), "{error}");
}

#[test]
fn joints_and_forces_are_listed_first_and_alone() {
    let f = folder("lists");
    let text = out(&f, &["list"]);
    assert!(text.starts_with("Joints\nrevolute "), "{text}");
    let place = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word}"));
    assert!(place("\nForces\n") < place("\nFormulations") && place("\nUnits") < place("\nFormulations"));
    assert!(out(&f, &["list", "forces"]).contains("bushing") && !out(&f, &["list", "forces"]).contains("revolute"));
    assert!(out(&f, &["list", "functions"]).contains("smoothstep") && out(&f, &["list", "units"]).contains("rpm"));
    assert!(!text.contains("name of a integrator") && !text.contains("of a integrator"));
}

#[test]
fn plots_take_files_groups_several_results_and_paths() {
    let f = folder("plots");
    out(&f, &["new", "my.yaml"]);
    // A file, a group of columns, a shipped model.
    let text = out(&f, &["plot", "my.yaml", "tracer"]);
    assert!(["tracer.x [m]", "tracer.y [m]", "tracer.z [m]"].iter().all(|c| text.contains(c)), "{text}");
    assert!(
        out(&f, &["plot", "pendulum.yaml", "energy.total"].map(|w| if w == "pendulum.yaml" { "simple_pendulum" } else { w }))
            .contains("energy.total")
    );
    // Two results.
    out(&f, &["run", "my.yaml", "--out", "out/a"]);
    out(&f, &["run", "my.yaml", "--set", "speed=30 rpm", "--out", "out/b"]);
    out(&f, &["plot", "out/a", "out/b", "C.angle", "-o", "two.svg"]);
    let picture = std::fs::read_to_string(f.join("two.svg")).expect("the picture");
    assert!(picture.contains("a: C.angle [rad]") && picture.contains("b: C.angle [rad]"), "{picture}");
    // The path of the end of the crank is a circle of 0.1 m, drawn with equal scales.
    let text = out(&f, &["plot", "out/a", "--path", "tracer"]);
    assert!(text.starts_with("path of `tracer`") && text.contains("x [m]") && text.contains("z [m]"), "{text}");
    out(&f, &["plot", "out/a", "--path", "tracer", "--path", "crank", "-o", "paths.svg"]);
    let error = refused(&f, &["plot", "out/a", "--path", "trace"], "U481");
    assert!(error.contains("`tracer`"), "{error}");
    refused(&f, &["plot", "out/a", "C.angle", "--path", "tracer"], "U480");
    let error = refused(&f, &["plot", "out/a", "trcer"], "U008");
    assert!(error.contains("`a` has no column `trcer`"), "{error}");
}

#[test]
fn a_moving_picture_moves_as_the_mechanism_does() {
    let f = folder("moving");
    out(&f, &["new", "my.yaml"]);
    out(&f, &["view", "my.yaml", "--export", "motion.svg"]);
    let text = std::fs::read_to_string(f.join("motion.svg")).expect("the picture");
    assert!(text.contains("<title>Four-bar linkage</title>") && !text.contains("<script") && text.len() < 300_000, "{}", text.len());
    // Dots are strokes of zero length: those of the pins O, A, B, C, each drawn twice, and of the tracer.
    let dots: Vec<Vec<[f64; 2]>> = text
        .lines()
        .filter(|l| l.contains("stroke-width=\"7\""))
        .map(|l| {
            let values =
                l.split("values=\"").nth(1).and_then(|v| v.split('"').next()).unwrap_or_else(|| l.split('"').nth(1).expect("a path"));
            values
                .split(';')
                .map(|d| {
                    let mut numbers = d.trim_start_matches('M').split(['L', ' ']).map(|n| n.parse::<f64>().expect("a number"));
                    [numbers.next().expect("x"), numbers.next().expect("y")]
                })
                .collect()
        })
        .collect();
    assert_eq!(dots.len(), 5, "{text}");
    let apart = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let (o, a, b, c) = (dots[0][0], &dots[1], &dots[2], dots[3][0]);
    // Links keep the lengths of the file to a tenth of a pixel; the ground pins are 300 mm apart.
    let scale = apart(&o, &c) / 0.3;
    assert!(a.len() > 60 && a.len() == b.len());
    for (a, b) in a.iter().zip(b) {
        for (found, length) in [(apart(&o, a), 0.1), (apart(a, b), 0.26_f64.hypot(0.08)), (apart(&c, b), 0.04_f64.hypot(0.18))] {
            assert!((found / scale - length).abs() < 0.2 / scale, "{} instead of {length}", found / scale);
        }
    }
    // The crank is vertical at the start.
    assert!((a[0][0] - o[0]).abs() < 0.2 && a[0][1] < o[1] - 50.0, "{a:?}");
    refused(&f, &["view", "my.yaml", "--export", "motion.avi"], "U482");
    refused(&f, &["view", "my.yaml", "fourbar", "--export", "motion.svg"], "U483");
    // Spatial mechanisms can also be exported.
    for model in ["stewart_platform", "bricard", "bicycle"] {
        out(&f, &["view", model, "--export", "spatial.svg", "--force"]);
    }
}

#[test]
fn results_keep_the_columns_of_the_file_or_of_the_command_line() {
    let f = folder("results");
    let text = fourbar_io::starter().to_string() + "results: {columns: [motor.effort, tracer, '*.angle']}\n";
    std::fs::write(f.join("my.yaml"), text).expect("writable");
    let header = |arguments: &[&str]| {
        out(&f, arguments);
        let text = std::fs::read_to_string(f.join("out/trajectory.csv")).expect("rows");
        text.lines().next().expect("a header").to_string()
    };
    let of_file = header(&["run", "my.yaml", "--out", "out"]);
    assert_eq!(of_file, "t,O.angle,A.angle,B.angle,C.angle,motor.effort,tracer.x,tracer.y,tracer.z");
    assert_eq!(header(&["run", "my.yaml", "--out", "out", "--columns", "C.angle"]), "t,C.angle");
    let bad = std::fs::read_to_string(f.join("my.yaml")).expect("readable").replace("motor.effort", "motor.efort");
    std::fs::write(f.join("bad.yaml"), bad).expect("writable");
    refused(&f, &["run", "bad.yaml", "--out", "out2"], "U005");
    // The writer keeps these settings.
    out(&f, &["convert", "my.yaml", "copy.yaml", "--to", "fourbar"]);
    let copy = std::fs::read_to_string(f.join("copy.yaml")).expect("readable");
    assert!(copy.contains("results: {columns: [\"motor.effort\", \"tracer\", \"*.angle\"]}"), "{copy}");
}

#[test]
fn a_warning_is_said_where_it_helps_and_not_by_every_command() {
    let f = folder("once");
    let text = fourbar_io::starter().replace("parameters:\n", "parameters:\n  spare: 3\n");
    std::fs::write(f.join("my.yaml"), text).expect("writable");
    let said = |arguments: &[&str]| String::from_utf8_lossy(&fourbar(&f, arguments).stderr).into_owned();
    assert_eq!(said(&["check", "my.yaml"]).matches("W050").count(), 1);
    assert_eq!(said(&["run", "my.yaml"]), "");
    assert_eq!(json(&fourbar(&f, &["run", "my.yaml", "--json"]))["diagnostics"][0]["code"], "W050");
    assert!(said(&["run", "my.yaml", "--set", "spare=4"]).contains("warning[W481]: `--set spare=...` changes nothing"));
    // A start that is not closed is described in the text, once.
    std::fs::write(f.join("rough.yaml"), include_str!("data/rough.yaml")).expect("writable");
    let output = fourbar(&f, &["run", "rough.yaml", "--t-end", "0.01"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("W201"), "{}", whole(&output));
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("start         assembled from the drawing; largest change:"),
        "{}",
        whole(&output)
    );
    // If requested with `start:` it is not a warning.
    let asked = fourbar_io::STARTERS.iter().find(|s| s.kind == "pendulum").expect("a pendulum").text;
    std::fs::write(f.join("asked.yaml"), asked).expect("writable");
    assert_eq!(said(&["check", "asked.yaml"]), "");
}

/// Uniform random numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

#[test]
fn pictures_of_drawn_models_and_lengths_are_well_formed() {
    let f = folder("drawn_pictures");
    let seed = std::env::var("FOURBAR_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20_261_117);
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let quick = |e: &fourbar_io::examples::Example| !e.name.starts_with("stiff") && !e.name.ends_with("N40");
    let models: Vec<&str> = fourbar_io::examples::examples().filter(quick).map(|e| e.listed()).collect();
    let start = std::time::Instant::now();
    for _ in 0..12 {
        if start.elapsed() > std::time::Duration::from_secs(60) {
            break;
        }
        let model = models[dice.below(models.len())];
        let step = ["1 ms", "7 ms", "20 ms"][dice.below(3)];
        let end = ["3 ms", "50 ms", "0.2"][dice.below(3)];
        println!("{model} {step} {end}");
        out(&f, &["view", model, "--t-end", end, "--output-step", step, "--export", "m.svg", "--force"]);
        let text = std::fs::read_to_string(f.join("m.svg")).expect("the picture");
        assert!(
            text.starts_with("<svg") && text.trim_end().ends_with("</svg>") && !text.contains("NaN") && !text.contains("inf"),
            "{model}"
        );
        for line in text.lines().filter(|l| l.contains("<animate")) {
            let part = |key: &str| line.split(&format!("{key}=\"")).nth(1).and_then(|v| v.split('"').next()).expect(key);
            let (keys, values): (Vec<&str>, Vec<&str>) = (part("keyTimes").split(';').collect(), part("values").split(';').collect());
            assert_eq!(keys.len(), values.len(), "{model}");
            let times: Vec<f64> = keys.iter().map(|k| k.parse().expect("a number")).collect();
            assert!(times[0] == 0.0 && times[times.len() - 1] == 1.0 && times.windows(2).all(|w| w[0] <= w[1]), "{model}: {keys:?}");
            // Paths can be interpolated only if they have the same commands.
            let shape = |d: &str| d.chars().filter(|c| c.is_ascii_alphabetic()).collect::<String>();
            assert!(values.iter().all(|v| shape(v) == shape(values[0])), "{model}");
        }
    }
}

#[test]
fn words_of_refusals_are_plain() {
    let f = folder("plain-words");
    let text = refused(&f, &["check", "nowhere.yaml"], "M010");
    assert!(text.contains("`nowhere.yaml` cannot be read: it does not exist"), "{text}");
    let text = refused(&f, &["explain", "S999"], "U006");
    assert!(!text.contains("`M") && text.contains("`fourbar explain` lists all codes"), "{text}");
    let text = refused(&f, &["synthesize", "--path", "1,2"], "U439");
    assert!(text.contains("a path of 1 point does not"), "{text}");
    // The folder of results has the same short option as output files elsewhere.
    out(&f, &["run", "simple_pendulum", "--t-end", "0.1", "-o", "short"]);
    assert!(f.join("short/trajectory.csv").is_file());
    // A run that ends before its first row has no times and no work counts.
    let output = fourbar(&f, &["kinematics", "simple_pendulum"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("ended at t = 0 s, before the first output row"), "{text}");
    assert!(text.lines().all(|l| l.trim_end() != "work"), "{text}");
}

/// Pictures of reports have the width of their display, so that text is legible, and adapt to dark pages.
#[test]
fn pictures_of_a_report_can_be_read_on_a_phone() {
    let f = folder("report-pictures");
    out(&f, &["run", "dc_motor_slider_crank", "--out", "dc"]);
    out(&f, &["report", "dc"]);
    let page = std::fs::read_to_string(f.join("dc/report.html")).expect("the page");
    let widths: Vec<f64> = page.split("viewBox=\"0 0 ").skip(1).filter_map(|rest| rest.split(' ').next()?.parse().ok()).collect();
    assert!(widths.len() >= 3 && widths.iter().all(|w| *w <= 480.0), "{widths:?}");
    assert!(
        page.contains("prefers-color-scheme:dark") && page.contains(".pictures svg{filter:invert"),
        "pictures stay white on dark pages"
    );
}
