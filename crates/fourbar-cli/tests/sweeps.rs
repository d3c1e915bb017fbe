//! `sweep`: plans, rows and files; the same bytes for any number of threads, after a killed process, and from shards.

use crate::common;

use common::{command, folder, fourbar, json, whole};
use std::fmt::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A slider-crank with lengths as parameters. The stroke is twice the crank; the piston is at r cos a + sqrt(l^2 - r^2 sin^2 a).
pub const SLIDER: &str = "fourbar: 1
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
study:
  t_end: 1
  output_step: 50 ms
  measures: {out: last(P.x), stroke: range(P.x)}
  sweep: {vary: {r: '40..60 mm:5', l: '140, 160 mm'}}
";

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn ok(f: &Path, words: &[&str]) -> String {
    let output = fourbar(f, words);
    assert_eq!(output.status.code(), Some(0), "{words:?}\n{}", whole(&output));
    whole(&output)
}

#[test]
fn a_sweep_is_plotted_over_its_first_parameter() {
    let f = folder("sweep_plot");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    ok(&f, &["sweep", "slider.yaml", "--vary", "r=40..60mm:5", "--out", "cranks"]);
    // Results by folder and by file of rows; names with their units, without text columns.
    for source in ["cranks", "cranks/cases.csv"] {
        let text = ok(&f, &["plot", source, "stroke"]);
        assert!(text.contains("stroke [m]") && text.contains("set.r [m]"), "{text}");
        assert!(text.contains("0.07999") && text.contains("0.12"), "the stroke is twice the crank, but for the output step: {text}");
    }
    let list = ok(&f, &["plot", "cranks"]);
    assert!(list.contains("4 columns, 5 rows") && list.contains("case") && !list.contains("status"), "{list}");
    let text = ok(&f, &["plot", "cranks", "stroke", "--x", "out"]);
    assert!(text.contains("out [m]"), "{text}");
}

#[test]
fn the_piston_is_where_the_formula_puts_it() {
    let f = folder("sweep_slider");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    // The plan of the file: five cranks with two rods.
    let o = json(&fourbar(&f, &["sweep", "slider.yaml", "--json"]));
    let rows = o["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 10, "{o:#}");
    for row in rows {
        let (r, l) = (row["set"]["r"].as_f64().expect("r"), row["set"]["l"].as_f64().expect("l"));
        let a: f64 = 0.3;
        let x = r * a.cos() + (l * l - (r * a.sin()).powi(2)).sqrt();
        let out = row["measures"]["out"].as_f64().expect("a measure");
        assert!((out - x).abs() < 1e-12, "{r} {l}: {out} {x}");
    }
    assert_eq!(rows[3]["set"]["r"].as_f64(), Some(45.0 * 1e-3));
    // A case equals the run with the same values bit for bit.
    let text = ok(&f, &["run", "slider.yaml", "--set", "r=45mm", "--set", "l=160mm", "--out", "one", "--columns", "P.x"]);
    let one = String::from_utf8(bytes(&f.join("one/trajectory.csv"))).expect("text");
    let last: f64 = one.lines().last().and_then(|l| l.split(',').nth(1)).and_then(|x| x.parse().ok()).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(rows[3]["measures"]["out"].as_f64().map(f64::to_bits), Some(last.to_bits()));
    // Measures may use parameters, with their values in each case.
    let o = json(&fourbar(&f, &["sweep", "slider.yaml", "--vary", "r=40..60mm:5", "--measure", "left=last(P.x) - head", "--json"]));
    let left: Vec<f64> = o["rows"].as_array().into_iter().flatten().filter_map(|r| r["measures"]["left"].as_f64()).collect();
    assert!(left.len() == 5 && left.iter().all(|x| x.abs() < 1e-12), "{o:#}");
}

#[test]
fn cases_that_cannot_be_assembled_are_rows() {
    let f = folder("sweep_failures");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    // A rod shorter than the crank stops during the run; one shorter than the height of the pin cannot be assembled.
    let o = json(&fourbar(&f, &["sweep", "slider.yaml", "--vary", "l=10,40,150mm", "--out", "d", "--json"]));
    assert_eq!((o["exit_code"].as_u64(), o["status"]["ok"].as_u64()), (Some(0), Some(1)), "{o:#}");
    assert_eq!(o["diagnostics"][0]["code"], "W443");
    let rows = o["rows"].as_array().expect("rows");
    assert_eq!((rows[0]["status"].as_str(), rows[1]["status"].as_str()), (Some("not-built"), Some("not-assembled")), "{o:#}");
    assert!(rows[1]["names"].as_array().is_some_and(|n| !n.is_empty()) && rows[1]["time"].as_f64().is_some_and(|t| t > 0.0), "{o:#}");
    let csv = String::from_utf8(bytes(&f.join("d/cases.csv"))).expect("text");
    assert!(csv.starts_with("case,set.l,status,code,time,names,message,out,stroke\n0,0.01,not-built,"), "{csv}");
    let schema: serde_json::Value = serde_json::from_slice(&bytes(&f.join("d/schema.json"))).expect("JSON");
    let unit = |name: &str| schema["columns"].as_array().into_iter().flatten().find(|c| c["name"] == name).map(|c| c["unit"].clone());
    assert_eq!((unit("set.l"), unit("out")), (Some("m".into()), Some("m".into())), "{schema:#}");
    // If all cases fail, the sweep fails.
    let o = json(&fourbar(&f, &["sweep", "slider.yaml", "--vary", "l=10,11mm", "--json"]));
    assert_eq!((o["exit_code"].as_u64(), o["diagnostics"][0]["code"].as_str()), (Some(1), Some("S440")), "{o:#}");
}

/// A random plan as words of the command line.
fn drawn(draw: &fourbar_design::sweep::Draw, case: u64) -> Vec<String> {
    let pick = |k: u64, n: u64| draw.bits(case, k) % n;
    let mut words = Vec::new();
    let from = 30 + pick(1, 20);
    match pick(0, 3) {
        0 => {
            let _ = write!(words_slot(&mut words, "--vary"), "r={from}..{}mm:{}", from + 5 + pick(2, 60), 2 + pick(3, 6));
            let _ = write!(words_slot(&mut words, "--vary"), "l={},{},{}mm", 20 + pick(4, 200), 20 + pick(5, 200), 151);
        }
        kind => {
            let _ = write!(words_slot(&mut words, "--vary"), "r={from}..{}mm", from + 5 + pick(2, 60));
            let _ = write!(words_slot(&mut words, "--vary"), "l={}..{}mm", 20 + pick(4, 50), 100 + pick(5, 200));
            let _ = write!(words_slot(&mut words, if kind == 1 { "--lhs" } else { "--sobol" }), "{}", 3 + pick(6, 20));
            let _ = write!(words_slot(&mut words, "--seed"), "{}", pick(7, 1000));
        }
    }
    words
}

fn words_slot<'a>(words: &'a mut Vec<String>, key: &str) -> &'a mut String {
    words.push(key.into());
    words.push(String::new());
    let last = words.len() - 1;
    &mut words[last]
}

#[test]
fn the_same_bytes_whatever_the_threads_and_from_shards() {
    let f = folder("sweep_bytes");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    let seed = std::process::id() as u64;
    println!("seed {seed}");
    let draw = fourbar_design::sweep::Draw::new(seed);
    for case in 0..3 {
        let plan = drawn(&draw, case);
        let plan: Vec<&str> = plan.iter().map(String::as_str).collect();
        println!("{plan:?}");
        let run = |out: &str, more: &[&str]| {
            let output = fourbar(&f, &[&["sweep", "slider.yaml", "--out", out][..], &plan, more].concat());
            // A plan whose cases all fail is valid.
            assert!(matches!(output.status.code(), Some(0 | 1)), "{}", whole(&output));
        };
        let name = |k: &str| format!("{k}{case}");
        run(&name("one"), &["--threads", "1"]);
        let whole_rows = bytes(&f.join(name("one")).join("cases.csv"));
        for threads in ["2", "5"] {
            let out = format!("{}_{threads}", name("threads"));
            run(&out, &["--threads", threads]);
            assert_eq!(bytes(&f.join(out).join("cases.csv")), whole_rows);
        }
        let shards = name("shards");
        for k in [2, 1, 3] {
            assert_eq!(fourbar(&f, &["sweep", "--merge", &shards]).status.code(), Some(2), "not before all are there");
            run(&shards, &["--shard", &format!("{k}/3")]);
        }
        ok(&f, &["sweep", "--merge", &shards]);
        assert_eq!(bytes(&f.join(shards).join("cases.csv")), whole_rows);
    }
}

#[cfg(unix)]
/// Cases in batches: the rows of single runs, the same bytes for any number of threads and from shards, and unsuitable cases alone.
#[test]
fn cases_in_batches_are_those_of_plain_runs() {
    let f = folder("sweep_batch");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    let seed = 71_u64;
    println!("seed {seed}");
    let mut random = fourbar::random::Random(seed);
    let mut between = |least: f64, most: f64| least + (most - least) * (0.5 + 0.5 * random.number());
    let (least, most, count) = (between(35.0, 45.0), between(50.0, 60.0), between(9.0, 24.0) as usize);
    // The last rod is too short to be assembled.
    let plan = ["--vary", &format!("r={least:.3}..{most:.3}mm:{count}"), "--vary", "l=140,160,20mm"];
    let alone = json(&fourbar(&f, &[&["sweep", "slider.yaml", "--json"][..], &plan].concat()));
    let o = json(&fourbar(&f, &[&["sweep", "slider.yaml", "--batch", "--json"][..], &plan].concat()));
    let (rows, others) = (o["rows"].as_array().expect("rows"), alone["rows"].as_array().expect("rows"));
    assert_eq!((rows.len(), others.len()), (3 * count, 3 * count));
    for (a, b) in rows.iter().zip(others) {
        assert_eq!((&a["case"], &a["set"], &a["status"], &a["code"]), (&b["case"], &b["set"], &b["status"], &b["code"]));
        for m in ["out", "stroke"] {
            let (x, y) = (a["measures"][m].as_f64(), b["measures"][m].as_f64());
            let near = x.zip(y).map_or(x == y, |(x, y)| (x - y).abs() < 1e-9);
            assert!(near, "{m}: {a} instead of {b}");
        }
    }
    // Cases that could not be assembled ran alone, and are counted.
    let failed = rows.iter().filter(|r| r["status"] != "ok").count();
    assert!(failed >= count, "{failed}");
    assert_eq!(o["alone"]["cases"].as_u64(), Some(failed as u64), "{:#}", o["alone"]);
    // The bytes do not depend on the distribution of the work.
    let base = [&["sweep", "slider.yaml", "--batch", "--trajectories", "P.x"][..], &plan].concat();
    ok(&f, &[&base[..], &["--out", "one", "--threads", "1"]].concat());
    ok(&f, &[&base[..], &["--out", "two", "--threads", "2"]].concat());
    for k in ["1/2", "2/2"] {
        ok(&f, &[&base[..], &["--out", "shards", "--shard", k]].concat());
    }
    ok(&f, &["sweep", "--merge", "shards"]);
    let whole = bytes(&f.join("one/cases.csv"));
    assert!(whole == bytes(&f.join("two/cases.csv")) && whole == bytes(&f.join("shards/cases.csv")));
    // A mechanism unsuitable for batches runs as usual, with a message.
    let text = ok(&f, &["sweep", "bicycle", "--batch", "--vary", "v=4,5", "--measure", "z=last(frame.r.z)", "--t-end", "0.2"]);
    assert!(text.contains("2 of 2 cases ran individually, not in a batch; case 0: it has rolling elements (`road_r`)"), "{text}");
}

#[test]
fn a_sweep_that_is_killed_is_continued_to_the_same_bytes() {
    let f = folder("sweep_killed");
    // Runs long enough to be killed midway.
    std::fs::write(f.join("slider.yaml"), SLIDER.replace("t_end: 1", "t_end: 4").replace("50 ms", "2 ms")).expect("the file");
    let plan = ["--vary", "r=30..70mm:60", "--measure", "out=last(P.x)", "--measure", "effort=max(abs(motor.effort))"];
    ok(&f, &[&["sweep", "slider.yaml", "--out", "whole", "--trajectories", "P.x"][..], &plan].concat());
    let draw = fourbar_design::sweep::Draw::new(u64::from(std::process::id()));
    for signal in ["-KILL", "-INT"] {
        let out = format!("killed{signal}");
        let wanted = 2 + (draw.bits(0, signal.len() as u64) % 30) as usize;
        println!("{signal} after {wanted} lines");
        let mut child =
            command(&f, &[&["sweep", "slider.yaml", "--out", &out, "--trajectories", "P.x", "--threads", "2"][..], &plan].concat())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the command runs");
        let part = f.join(&out).join("cases.csv.part");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(100) && child.try_wait().expect("a state").is_none() {
            if std::fs::read_to_string(&part).is_ok_and(|t| t.lines().count() > wanted) {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        let status = child.wait().expect("it ends");
        if status.success() {
            println!("it was too quick to be killed");
            continue;
        }
        let before = std::fs::read_to_string(&part).expect("rows stay").lines().count() - 1;
        assert!(before >= wanted, "{before}");
        // A crash may leave an incomplete line at the end.
        let mut text = bytes(&part);
        text.extend_from_slice(b"59,0.0");
        std::fs::write(&part, text).expect("written");
        // An existing sweep is not restarted by mistake.
        let again = fourbar(&f, &[&["sweep", "slider.yaml", "--out", &out, "--trajectories", "P.x"][..], &plan].concat());
        assert!(whole(&again).contains("U432"), "{}", whole(&again));
        let o = json(&fourbar(&f, &["sweep", "slider.yaml", "--resume", &out, "--json"]));
        assert_eq!((o["exit_code"].as_u64(), o["computed"].as_u64()), (Some(0), Some(60 - before as u64)), "{o:#}");
        assert_eq!(bytes(&f.join(&out).join("cases.csv")), bytes(&f.join("whole/cases.csv")));
        assert!(!part.exists());
        for k in [0, 31, 59] {
            let name = format!("trajectories/case={k}/trajectory.csv");
            assert_eq!(bytes(&f.join(&out).join(&name)), bytes(&f.join("whole").join(&name)));
        }
    }
    // The plan contains the settings of the runs: others on the command line would have no effect.
    for other in [["--t-end", "0.5"], ["--tol", "1e-6"], ["--output-step", "1ms"], ["--formulation", "ra"], ["--mode", "2"]] {
        let output = fourbar(&f, &[&["sweep", "slider.yaml", "--resume", "whole"][..], &other].concat());
        assert!(output.status.code() == Some(2) && whole(&output).contains("cannot be used with"), "{}", whole(&output));
    }
    // A changed file cannot be continued.
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    assert!(whole(&fourbar(&f, &["sweep", "slider.yaml", "--resume", "whole"])).contains("U432"));
}

#[test]
fn tables_are_written_as_parquet_where_it_is_built_in() {
    use fourbar_io::results::parquet::{self, Cells};
    let f = folder("sweep_parquet");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    let words = ["sweep", "slider.yaml", "--out", "s", "--trajectories", "P.x", "--format", "parquet"];
    let run = ["run", "slider.yaml", "--out", "r", "--format", "parquet", "--columns", "P.x,motor.*"];
    if parquet::available().is_err() {
        // Rejected before anything is computed or written.
        for words in [&words[..], &run] {
            let output = fourbar(&f, words);
            assert!(output.status.code() == Some(2) && whole(&output).contains("U440"), "{}", whole(&output));
        }
        assert!(!f.join("s").exists() && !f.join("r").exists());
        return;
    }
    ok(&f, &words);
    let (columns, told) = parquet::read(bytes(&f.join("s/cases.parquet"))).expect("read");
    let csv = String::from_utf8(bytes(&f.join("s/cases.csv"))).expect("text");
    let names: Vec<&str> = csv.lines().next().expect("a head").split(',').collect();
    assert!(columns.iter().map(|c| c.name.as_str()).eq(names.iter().copied()), "{names:?}");
    let Some(Cells::Numbers(stroke)) = columns.last().map(|c| &c.cells) else { panic!("{columns:?}") };
    let last = |line: &str| line.rsplit(',').next().and_then(|x| x.parse::<f64>().ok());
    assert!(stroke.iter().map(|x| Some(*x)).eq(csv.lines().skip(1).map(last)), "{stroke:?}\n{csv}");
    assert_eq!(told["columns"][1]["unit"], "m");
    let (columns, told) = parquet::read(bytes(&f.join("s/trajectories/case=7/trajectory.parquet"))).expect("read");
    assert!(columns.iter().any(|c| c.name == "P.x") && told["case"] == 7 && told["columns"][0]["unit"] == "s");
    // Continuing, merging and viewing work as before.
    ok(&f, &["sweep", "slider.yaml", "--resume", "s"]);
    ok(&f, &["view", "s/cases.parquet", "--no-open", "--output", "page.html"]);
    ok(&f, &run);
    let (columns, told) = parquet::read(bytes(&f.join("r/trajectory.parquet"))).expect("read");
    let unit = |name: &str| told["columns"].as_array().and_then(|l| l.iter().find(|c| c["name"] == name)).map(|c| c["unit"].clone());
    assert_eq!(unit("motor.effort"), Some("N*m".into()), "{told}");
    assert!(columns.iter().all(|c| matches!(&c.cells, Cells::Numbers(x) if x.len() == 21)), "{columns:?}");
    // A later run without this option removes the outdated table.
    ok(&f, &["run", "slider.yaml", "--out", "r"]);
    assert!(!f.join("r/trajectory.parquet").exists());
}

/// A measure without a value in a case does not affect the others of its row.
#[test]
fn one_measure_without_a_value_leaves_the_others() {
    let f = folder("sweep_partly");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    let far = "first(t, P.x > 1000)";
    let output = fourbar(
        &f,
        &["sweep", "slider.yaml", "--vary", "r=40,50mm", "--measure", "a=max(P.x)", "--measure", &format!("b={far}"), "--out", "o"],
    );
    let csv = std::fs::read_to_string(f.join("o/cases.csv")).unwrap_or_else(|e| panic!("{e}: {}", whole(&output)));
    assert!(csv.lines().next().is_some_and(|head| head.ends_with(",a,b")), "{csv}");
    for line in csv.lines().skip(1) {
        let values: Vec<&str> = line.rsplit(',').take(2).collect();
        assert!(values[0].is_empty() && values[1].parse::<f64>().is_ok_and(|x| x > 0.0) && line.contains(",failed,S431,"), "{line}");
    }
}

#[test]
fn bad_plans_are_refused_with_a_cure() {
    let f = folder("sweep_refusals");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    for (words, code) in [
        (&["--vary", "q=1..2:3"][..], "U430"),
        (&["--vary", "r=1..2kg:3"], "U430"),
        (&["--vary", "r=1..2mm"], "U430"),
        (&["--vary", "r=1..2mm:9000", "--vary", "l=1..2mm:9000", "--vary", "start=0..1:9000"], "U431"),
        (&["--vary", "r=40,50mm", "--set", "r=45mm", "--measure", "a=max(P.x)"], "`r` is varied and set"),
        (&["--vary", "r=40,50mm", "--measure", "case=max(P.x)"], "U436"),
        (&["--vary", "r=40,50mm", "--measure", "a=max(Q.x)"], "U4"),
        (&["--vary", "r=40,50mm", "--shard", "1/2"], "U432"),
        (&["--vary", "r=40..50mm:4000000000"], "asks for 4000000000 values"),
        (&["--vary", "r=40,50mm", "--measure", "a=max(P.x)", "--formulation", "nope"], "U301"),
        (&["--vary", "r=40,50mm", "--measure", "a=max(P.x)", "--integrator", "nope"], "U302"),
        (&["--vary", "r=40,50mm", "--measure", "a=max(P.x)", "--format", "parquet"], "needs a folder"),
    ] {
        let output = fourbar(&f, &[&["sweep", "slider.yaml"][..], words].concat());
        let text = whole(&output);
        assert!(output.status.code() == Some(2) && text.contains(code), "{words:?}: {text}");
    }
    assert!(whole(&fourbar(&f, &["sweep", "fourbar", "--vary", "crank_length=60,70mm"])).contains("U436"));
    assert!(whole(&fourbar(&f, &["sweep", "--merge", "nowhere"])).contains("U432"));
}

#[test]
fn a_sweep_has_a_page() {
    let f = folder("sweep_page");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    ok(&f, &["sweep", "slider.yaml", "--vary", "r=40..60mm:4", "--vary", "l=30..160mm:4", "--out", "d"]);
    ok(&f, &["view", "d", "--no-open"]);
    let page = String::from_utf8(bytes(&f.join("d/page.html"))).expect("text");
    assert!(page.contains("id=\"fourbar-data\"") && page.contains("script-src 'sha256-") && !page.contains("unsafe-inline"));
    // The live page in which a case moves is stored as text here, and has separate tests. It contains the address of an SVG namespace.
    let (head, rest) = page.split_once("id=\"fourbar-live\">").expect("a block");
    let (live, tail) = rest.split_once("</script>").expect("its end");
    assert!(live.len() > 500_000 && head.contains("script-src 'sha256-") && head.contains("'wasm-unsafe-eval'"));
    for part in [head, tail] {
        assert!(!part.contains("http://") && !part.contains("https://"), "nothing is loaded from outside");
    }
    ok(&f, &["view", "d/cases.csv", "--no-open", "-o", "other.html"]);
    assert_eq!(bytes(&f.join("other.html")), page.into_bytes());
}

/// Measures of runs with events, compared with closed forms.
#[test]
fn measures_around_events_are_those_of_closed_forms() {
    let f = folder("sweep_events");
    let head = "fourbar: 1\ngravity: [0, 0, -9.81]\n";
    let body = "bodies: {b: {mass: 1, inertia: [0.01, 0.01, 0.01]}}\n";
    // A block that slides until it rests: t = v0/(mu g).
    let text = format!(
        "{head}parameters: {{mu: 0.2, v0: 2 m/s}}\n{body}joints: {{x: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}}}\n\
         forces: {{f: {{type: friction, joint: x, coulomb: mu, stick: true}}}}\nstart: {{x.speed: v0}}\n\
         study: {{t_end: 2, output_step: 20 ms, tol: 1e-10}}\n"
    );
    std::fs::write(f.join("block.yaml"), text).expect("the file");
    let words = ["sweep", "block.yaml", "--vary", "v0=1,2,3", "--measure", "ts=first(t, x.speed < 1e-6 m/s)", "--json"];
    let o = json(&fourbar(&f, &words));
    let rows = o["rows"].as_array().unwrap_or_else(|| panic!("{o:#}"));
    assert_eq!(rows.len(), 3);
    for row in rows {
        let exact = row["set"]["v0"].as_f64().expect("a speed") / (0.2 * 9.81);
        let got = row["measures"]["ts"].as_f64().unwrap_or_else(|| panic!("{row:#}"));
        assert!((got - exact).abs() < 1e-5, "{got} instead of {exact}");
    }
    // A ball that falls for sqrt(2 h/g) and rebounds with half its speed; its height is also an output in millimetres.
    let text = format!(
        "{head}parameters: {{h: 1 m}}\n{body}joints: {{z: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [0, 0, 1], \
         limits: {{min: -h, restitution: 0.5}}}}}}\noutputs: {{s: {{value: z.distance, unit: mm}}}}\n\
         study: {{t_end: 1.2, output_step: 10 ms, tol: 1e-10}}\n"
    );
    std::fs::write(f.join("ball.yaml"), text).expect("the file");
    let measures = [
        "before=at(z.distance, 0.4515)",
        "after=at(z.speed, 0.455)",
        "low=first(t, z.distance < -0.999 m)",
        "up=first(t, z.speed > 1 m/s)",
        "low_mm=first(t, s < -999 mm)",
        "deep=min(s)",
    ];
    let mut words = vec!["sweep", "ball.yaml", "--vary", "h=1", "--json"];
    measures.iter().for_each(|m| words.extend(["--measure", *m]));
    let o = json(&fourbar(&f, &words));
    let of = |name: &str| o["rows"][0]["measures"][name].as_f64().unwrap_or_else(|| panic!("{name}: {o:#}"));
    let (g, hit) = (9.81_f64, (2.0 / 9.81_f64).sqrt());
    for (name, exact) in [
        ("before", -0.5 * g * 0.4515_f64.powi(2)),
        ("after", 0.5 * g * hit - g * (0.455 - hit)),
        ("low", (2.0 * 0.999 / g).sqrt()),
        ("up", hit),
        ("low_mm", (2.0 * 0.999 / g).sqrt()),
        ("deep", -1.0),
    ] {
        assert!((of(name) - exact).abs() < 1e-7, "{name}: {} instead of {exact}", of(name));
    }
}

#[test]
fn counts_of_spread_cases_and_shards_that_fail_are_told() {
    let f = folder("sweep_told");
    std::fs::write(f.join("slider.yaml"), SLIDER).expect("the file");
    let text = ok(&f, &["sweep", "slider.yaml", "--vary", "r=40..60mm:3", "--sobol", "5"]);
    assert!(text.contains("the number of values given for `r` is ignored"), "{text}");
    let text = ok(&f, &["sweep", "slider.yaml", "--vary", "r=40..60mm", "--sobol", "5"]);
    assert!(!text.contains("is ignored"), "{text}");
    // The first shard has the case that can be assembled, the second none: both are complete, and together they form a sweep.
    for shard in ["1/2", "2/2"] {
        let text = ok(&f, &["sweep", "slider.yaml", "--vary", "l=150,1mm", "--out", "parts", "--shard", shard]);
        assert_eq!(text.contains("W443"), shard == "2/2", "{text}");
    }
    let text = ok(&f, &["sweep", "--merge", "parts"]);
    assert!(text.contains(" m (case 0: l 150 mm)"), "measures have their units: {text}");
    let output = fourbar(&f, &["optimize", "slider.yaml", "--vary", "l=100..200mm:3", "--minimize", "max(P.x)"]);
    assert!(whole(&output).contains("U430"), "{}", whole(&output));
}
