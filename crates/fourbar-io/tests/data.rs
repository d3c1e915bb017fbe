//! Tables, functions and outputs in files: accepted ones, rejected ones with their messages, and hostile ones.

use fourbar::spec::{ModelSpec, TableEnds};
use fourbar_io::{Loaded, ReadOptions, read_model, read_model_file, render, write_model};
use std::path::PathBuf;

const BODY: &str = "fourbar: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints: {J: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}\npoints: {tip: {body: a, at: [1, 0, 0]}}\n";

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("data-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Reads a file with the given sections from a folder.
fn in_folder(folder: &std::path::Path, rest: &str) -> Result<Loaded, fourbar::Error> {
    let path = folder.join("model.yaml");
    std::fs::write(&path, format!("{BODY}{rest}\n")).unwrap();
    read_model_file(&path, &[]).inspect_err(|errors| {
        assert!(render(errors, "model.yaml", false).len() < 20_000);
    })
}

fn read(rest: &str) -> Result<Loaded, fourbar::Error> {
    read_model(&format!("{BODY}{rest}\n"), &ReadOptions::default())
}

fn spec(rest: &str) -> ModelSpec {
    read(rest).unwrap_or_else(|e| panic!("{:?}", e.iter().map(|d| d.to_string()).collect::<Vec<_>>())).spec
}

/// Code and message of the only problem.
fn problem(result: Result<Loaded, fourbar::Error>) -> (String, String) {
    let errors = result.map(|_| ()).expect_err("refused");
    assert_eq!(errors.len(), 1, "{errors:?}");
    let d = &errors[0];
    (d.code.0.to_string(), format!("{} | {}", d.message, d.help))
}

fn refused(rest: &str, code: &str, words: &str) {
    let (got, message) = problem(read(rest));
    assert!(got == code && message.contains(words), "{rest}: {got} {message}");
}

#[test]
fn a_table_is_read_from_a_file_beside_the_model() {
    let folder = folder("file");
    let lines = "# cam 7\nangle,lift,other\n0,0,1\n90,8.5,1\n180,2,1\n\n360,0,1\n";
    std::fs::create_dir_all(folder.join("cams")).unwrap();
    std::fs::write(folder.join("cams/seven.csv"), lines).unwrap();
    for columns in ["", ", x: 1, y: 2", ", x: angle, y: lift", ", y: lift"] {
        let rest = format!(
            "tables: {{lift: {{file: cams/seven.csv{columns}, x_unit: deg, y_unit: mm, ends: periodic}}}}\ndrives: {{m: {{joint: J, angle: lift(90 deg*t)/(1 mm)}}}}"
        );
        let loaded = in_folder(&folder, &rest).unwrap();
        let (name, table) = &loaded.spec.tables[0];
        assert_eq!((name.as_str(), table.points.len(), table.ends), ("lift", 4, TableEnds::Periodic));
        assert!((table.points[1][0] - std::f64::consts::FRAC_PI_2).abs() < 1e-15 && (table.points[1][1] - 8.5e-3).abs() < 1e-15);
        assert_eq!(loaded.data.len(), 1);
        assert!(loaded.data[0].0 == "cams/seven.csv" && loaded.data[0].1.len() == 64);
        let value = &loaded.spec.drives[0].1.value;
        assert!((value.eval(&[1.0]) - 8.5).abs() < 1e-12 && (value.eval(&[6.0]) - 2.0).abs() < 1e-12);
    }
    // A written file is self-contained.
    let loaded = in_folder(&folder, "tables: {lift: {file: cams/seven.csv, outside: hold}}").unwrap();
    let written = write_model(&loaded.spec);
    assert!(written.contains("points: [[0, 0], [90, 8.5]") && !written.contains("seven"), "{written}");
    assert_eq!(read_model(&written, &ReadOptions::default()).unwrap().spec, loaded.spec);
}

#[test]
fn bad_files_are_refused_with_their_line() {
    let folder = folder("bad");
    let check = |text: &[u8], keys: &str, code: &str, words: &str| {
        std::fs::write(folder.join("t.csv"), text).unwrap();
        let (got, message) = problem(in_folder(&folder, &format!("tables: {{lift: {{file: t.csv{keys}}}}}")));
        assert!(got == code && message.contains(words), "{words}: {got} {message}");
    };
    check(b"x,y\n0,0\n2,1\n1,2\n", "", "M621", "line 4 of `t.csv`");
    check(b"0,0\n1,1\n1,2\n3,3\n", "", "M621", "line 3 of `t.csv`");
    check(b"0,0\n1,1\n", "", "M620", "fewer than 3");
    check(b"0,0\n1,1\n2,0\n", ", ends: periodic", "M620", "fewer than 4");
    check(b"0,0\n1,1\n2,0\n3,1e-3\n", ", ends: periodic", "M623", "last value");
    check(b"0,0\n1,nan\n2,0\n", "", "M622", "line 2");
    check(b"0,0\n1,inf\n2,0\n", "", "M622", "line 2");
    check(b"0,0\n1,1e999\n2,0\n", "", "M622", "line 2");
    check(b"0;0\n1;1,5\n2;0\n", "", "M622", "with a point");
    check(b"0,0\n1,one\n2,0\n", "", "M622", "`t.csv`, line 2: `one` is not a number");
    check(b"0,0\n1\n2,0\n", "", "M622", "line 2: the line has no column 2");
    check(b"a,b\n0,0\n1,1\n2,0\n", ", y: c", "M622", "no column has the heading `c`");
    check(b"0,0\n1,1\n2,0\n", ", y: 7", "M622", "no column 7");
    check(b"", "", "M622", "holds no points");
    check(&[0xff, 0xfe, 0, 1, 2], "", "M625", "UTF-8");
    check(b"0,-1e200\n1e-300,1e200\n1,0\n", "", "M622", "no finite value");
}

#[test]
fn paths_stay_in_the_folder_and_devices_are_left_alone() {
    let folder = folder("paths");
    std::fs::write(folder.join("../outside.csv"), "0,0\n1,1\n2,0\n").unwrap();
    for (file, code) in [
        ("../outside.csv", "M040"),
        ("/etc/hostname", "M040"),
        ("'a\\b.csv'", "M040"),
        ("'C:/t.csv'", "M040"),
        ("missing.csv", "M041"),
        ("''", "M040"),
    ] {
        let got = problem(in_folder(&folder, &format!("tables: {{lift: {{file: {file}}}}}")));
        assert_eq!(got.0, code, "{file}: {}", got.1);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../outside.csv", folder.join("link.csv")).unwrap();
        assert_eq!(problem(in_folder(&folder, "tables: {lift: {file: link.csv}}")).0, "M040");
        // A pipe has no end.
        let made = std::process::Command::new("mkfifo").arg(folder.join("pipe.csv")).status();
        if made.is_ok_and(|s| s.success()) {
            assert_eq!(problem(in_folder(&folder, "tables: {lift: {file: pipe.csv}}")).0, "M041");
        }
    }
    std::fs::create_dir_all(folder.join("t.csv")).unwrap();
    assert_eq!(problem(in_folder(&folder, "tables: {lift: {file: t.csv}}")).0, "M041");
    // Without a folder there is no file to read.
    refused("tables: {lift: {file: t.csv}}", "M625", "has no folder");
}

#[test]
fn large_tables_are_read_and_larger_ones_refused() {
    let folder = folder("large");
    let lines = |n: usize| (0..n).map(|k| format!("{k},{}\n", k % 7)).collect::<String>();
    std::fs::write(folder.join("t.csv"), lines(200_000)).unwrap();
    let loaded = in_folder(&folder, "tables: {lift: {file: t.csv}}\nforces: {f: {type: actuator, joint: J, effort: lift(1e3*t)}}").unwrap();
    assert_eq!(loaded.spec.tables[0].1.points.len(), 200_000);
    std::fs::write(folder.join("t.csv"), lines(1_000_002)).unwrap();
    let (code, message) = problem(in_folder(&folder, "tables: {lift: {file: t.csv}}"));
    assert!(code == "M622" && message.contains("more than 1000000 points"), "{message}");
}

#[test]
fn points_in_the_file_itself() {
    let table = |rest: &str| spec(&format!("parameters: {{r: 2, w: 5 mm}}\ntables: {{lift: {{{rest}}}}}")).tables.remove(0).1;
    let t = table("points: [[0, 0], [1, r], [2, 3*r]]");
    assert_eq!((t.points, t.x_dimension), (vec![[0.0, 0.0], [1.0, 2.0], [2.0, 6.0]], None));
    // Plain numbers are in the unit of the table, quantities and parameters keep their own.
    let t = table("points: [[0, 0], [100, 2 m], [200, w]], x_unit: mm, y_unit: mm, slopes: [0, 1]");
    assert_eq!((t.points, t.ends), (vec![[0.0, 0.0], [0.1, 2.0], [0.2, 5e-3]], TableEnds::Slopes(0.0, 1.0)));
    refused("tables: {lift: {points: [[0, 0], [1, 2 kg], [2, 3]], y_unit: mm}}", "M031", "point 2");
    refused("tables: {lift: {points: [[0, 0], [1, 2 kg], [2, 3 mm]]}}", "M031", "several dimensions");
    refused("tables: {lift: {points: [[0, 0], [1, 2, 3], [2, 3]]}}", "M017", "2 entries");
    refused("tables: {lift: {points: [[0, 0], [1, t], [2, 3]]}}", "M021", "may not appear in a constant");
    refused("tables: {lift: {points: [[0, 0], [2, 1], [1, 3]]}}", "M621", "point 3");
    refused("tables: {lift: {points: [[0, 0], [1, 1]]}}", "M620", "fewer than 3");
    refused("tables: {lift: {points: 3}}", "M011", "a list");
    refused("tables: {lift: {points: [[0, 0], [1, .nan], [2, 3]]}}", "M025", "");
    refused("tables: {lift: {ends: flat}}", "M013", "has no points");
    refused("tables: {lift: {points: [[0, 0], [1, 1], [2, 0]], file: a.csv}}", "M014", "both");
    refused("tables: {lift: {points: [[0, 0], [1, 1], [2, 0]], x: 1}}", "M014", "both");
    refused("tables: {lift: {points: [[0, 0], [1, 1], [2, 0]], ends: flat, slopes: [0, 0]}}", "M014", "both");
    refused("tables: {lift: {points: [[0, 0], [1, 1], [2, 1], [3, 0]], ends: periodic, outside: hold}}", "M014", "no outside");
    refused("tables: {lift: {points: [[0, 0], [1, 1], [2, 0]], ends: round}}", "M015", "round");
    refused("tables: {lift: {points: [[0, 0], [1, 1], [2, 0]], x_unit: furlong}}", "M030", "furlong");
    refused("tables: {sin: {points: [[0, 0], [1, 1], [2, 0]]}}", "M624", "name of a function");
    refused("parameters: {lift: 1}\ntables: {lift: {points: [[0, 0], [1, 1], [2, 0]]}}", "M624", "name of a parameter");
}

const LIFT: &str = "tables: {lift: {points: [[0, 0], [1, 1], [2, 0]], x_unit: m}}\n";

#[test]
fn calls_of_tables_are_checked_with_suggestions() {
    let with = |force: &str| format!("{LIFT}forces: {{f: {{type: actuator, joint: J, effort: '{force}'}}}}");
    assert!(read(&with("lift(tip.x) + lift(2*J.angle) + lift(30 mm)")).is_ok());
    refused(&with("lifts(t)"), "M022", "did you mean `lift`?");
    refused(&with("lift + 1"), "M021", "is a table: give its argument");
    refused(&with("lift(t, 2)"), "M023", "takes 1 argument");
    refused(&with("lift(2 kg + t)"), "M032", "is read at a length, not at a mass");
    // A table in a constant is a number.
    let spec = spec(&format!("{LIFT}start: {{J.angle: lift(0.5)}}"));
    assert!((spec.start[0].1 - 0.6875).abs() < 1e-15);
    // Parameters are evaluated before tables.
    refused("parameters: {p: lift(1)}\ntables: {lift: {points: [[0, 0], [1, 1], [2, p]]}}", "M022", "lift");
}

#[test]
fn rounded_tables_are_warned_of() {
    let line = |k: i32, unit: f64| {
        let s = f64::from(k) / 80.0;
        let y = s.powi(3) * (10.0 - 15.0 * s + 6.0 * s * s);
        format!("[{s}, {}]", (y * unit).round() / unit)
    };
    let warnings = |unit: f64| {
        let points: Vec<String> = (0..=80).map(|k| line(k, unit)).collect();
        let text = format!("tables: {{rise: {{points: [{}]}}}}", points.join(", "));
        read(&text).unwrap().warnings.iter().map(|w| w.code.0).collect::<Vec<_>>()
    };
    assert_eq!(warnings(1e4), ["W620"]);
    assert!(warnings(1e12).is_empty());
}

#[test]
fn functions_name_each_other_in_any_order() {
    let s = spec("parameters: {w: 2}\nfunctions: {c: a + b, a: w*t, b: 'a^2 + lift(t)', k: 3*w, unused: t}\ntables: {lift: {points: [[0, 0], [1, 1], [2, 0]]}}\ndrives: {m: {joint: J, angle: c + k}}\nforces: {f: {type: actuator, joint: J, effort: 'c*tip.x + t'}}\nbodies: {a: {mass: k, inertia: [1, 1, 1]}}".replace("bodies: {a: {mass: k, inertia: [1, 1, 1]}}", "start: {tip.vx: k}").as_str());
    let at = 0.5_f64;
    let lift = 1.5 * at - 0.5 * at.powi(3);
    let c = 2.0 * at + 4.0 * at * at + lift;
    assert!((s.drives[0].1.value.eval(&[at]) - (c + 6.0)).abs() < 1e-14);
    assert_eq!(s.start[0].1, 6.0);
    let fourbar::spec::ForceSpec::Actuator(fourbar::spec::ActuatorSpec { effort, .. }) = &s.forces[0].1 else { panic!("an actuator") };
    let names: Vec<String> = effort.variables.iter().map(|v| v.to_string()).collect();
    let values: Vec<f64> = names.iter().map(|n| if n == "t" { at } else { 10.0 }).collect();
    assert!((effort.expr.eval(&values) - (10.0 * c + at)).abs() < 1e-12, "{names:?}");
    // Written out they read back to the same mechanism.
    assert_eq!(read_model(&write_model(&s), &ReadOptions::default()).unwrap().spec, s);
}

#[test]
fn functions_that_make_no_sense_are_refused() {
    refused("functions: {a: b, b: 2*c, c: a}", "M627", "a -> b -> c -> a");
    refused("functions: {a: a + 1}", "M627", "a -> a");
    refused("functions: {a: tip.x}", "M021", "tip.x");
    refused("functions: {pi: t}", "M626", "predefined constant");
    refused("parameters: {w: 2}\nfunctions: {w: t}", "M626", "a parameter has this name");
    refused("functions: {t: 1}", "M016", "taken");
    refused("functions: {a: [1]}", "M011", "a number or an expression");
    refused("functions: 3", "M011", "a group of names");
    refused("functions: {a: t}\nstart: {tip.x: a}", "M021", "changes with time");
    refused("functions: {a: t}\ndrives: {m: {joint: J, angle: a(t)}}", "M022", "without parentheses");
    // What depends on a rejected function is not reported again.
    refused("functions: {a: 1/0, b: a, c: b}\ndrives: {m: {joint: J, angle: c}}", "M024", "");
    // Each function doubles the previous one: the size must stay bounded.
    let many: Vec<String> = (1..60).map(|k| format!("f{k}: f{} + f{}", k - 1, k - 1)).collect();
    let (code, message) = problem(read(&format!("functions: {{f0: sin(t) + t^2, {}}}", many.join(", "))));
    assert!(code == "M027" && message.contains("20000 operations"), "{message}");
    // Long chains are accepted.
    let chain: Vec<String> = (1..5000).rev().map(|k| format!("g{k}: g{} + 0", k - 1)).collect();
    assert!(read(&format!("functions: {{{}, g0: t}}", chain.join(", "))).is_ok());
}

#[test]
fn outputs_have_their_units() {
    let s = spec(
        "outputs: {a: 'hypot(tip.x - 200 mm, tip.y)', b: {value: J.angle, unit: deg}, c: tip.x, d: '3', e: {value: 'J.speed', unit: 1/s}}",
    );
    let units: Vec<Option<(&str, f64)>> = s.outputs.iter().map(|(_, o)| o.unit.as_ref().map(|(u, x)| (u.as_str(), *x))).collect();
    assert_eq!(units, [Some(("m", 1.0)), Some(("deg", std::f64::consts::PI / 180.0)), None, Some(("1", 1.0)), Some(("1/s", 1.0))]);
    assert_eq!(read_model(&write_model(&s), &ReadOptions::default()).unwrap().spec, s);
    refused("outputs: {a: {unit: mm}}", "M013", "lacks `value`");
    refused("outputs: {a: {value: 'tip.x + 1 kg', unit: mm}}", "M031", "must be a length");
    refused("outputs: {a: {value: tip.x, unit: mm + mm}}", "M030", "unknown unit");
    refused("outputs: {a: tip.q}", "M021", "has `tip.x`");
    refused("outputs: {a: [1]}", "M011", "");
    refused("outputs: {energy: t}", "M016", "taken");
    // Columns share one namespace with all other elements.
    let taken = spec("outputs: {tip: t}").build().map(|_| ()).expect_err("two of a name");
    assert_eq!(taken[0].code.0, "M100");
}
