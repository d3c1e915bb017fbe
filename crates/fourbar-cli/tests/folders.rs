//! Result folders and other files: no existing file is lost by a typing error, a second run, a full disk or a killed process.

use crate::common;

use common::{command, folder, fourbar, interrupt, json, start, wait_for_rows, whole};
use std::collections::BTreeMap;
use std::path::Path;

/// A long run that is stopped far from its end.
const LONG: &[&str] = &["run", "ra_double_pendulum", "--t-end", "1000", "--output-step", "1 ms", "--columns", "*.r.*", "--out", "r"];

/// Files of a folder with their bytes, without those of incomplete runs.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let unfinished = name.ends_with(".part") || name == "checkpoint.json" || name == "run.lock";
        if entry.path().is_file() && !unfinished {
            all.insert(name, std::fs::read(entry.path()).expect("readable"));
        }
    }
    all
}

/// Codes of the diagnostics of a command, its exit code first.
fn codes(folder: &Path, arguments: &[&str]) -> (i32, Vec<String>) {
    let output = fourbar(folder, &[arguments, &["--json"]].concat());
    let list = json(&output)["diagnostics"].as_array().cloned().unwrap_or_default();
    (output.status.code().unwrap_or(-1), list.iter().filter_map(|d| d["code"].as_str().map(String::from)).collect())
}

fn refused(folder: &Path, arguments: &[&str], code: &str) {
    assert_eq!(codes(folder, arguments), (2, vec![code.to_string()]), "{arguments:?}");
}

fn done(folder: &Path, arguments: &[&str]) {
    let output = fourbar(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{}", whole(&output));
}

#[test]
fn a_slip_of_the_pen_changes_nothing() {
    let f = folder("slips");
    done(&f, &["run", "fourbar", "--out", "r", "--view", "--no-open"]);
    let before = files(&f.join("r"));
    assert_eq!(before.len(), 4);
    for slip in [
        &["--formulation", "rb"][..],
        &["--integrator", "eulr"],
        &["--option", "rh=1"],
        &["--analysis", "dynamics", "--formulation", "ra", "--option", "rho=7"],
        &["--tol", "1e-30"],
        &["--columns", "crnk"],
        &["--t-end", "1e9", "--output-step", "1e-9"],
        &["--analysis", "dynamics", "--step", "1e-14"],
        &["--set", "crank_length=-1"],
        &["--set", "crank_length=900 mm"],
        &["--set", "nothing=1"],
        &["--analysis", "dynamics", "--formulation", "lie", "--integrator", "rk4"],
    ] {
        let output = fourbar(&f, &[&["run", "fourbar", "--out", "r"], slip].concat());
        assert_ne!(output.status.code(), Some(0), "{slip:?}");
        assert!(files(&f.join("r")) == before, "{slip:?} changed the older result");
        assert!(!f.join("r/trajectory.csv.part").exists() && !f.join("r/run.lock").exists(), "{slip:?}");
        // Nothing is created where nothing was.
        let output = fourbar(&f, &[&["run", "fourbar", "--out", "new"], slip].concat());
        assert!(output.status.code() != Some(0) && !f.join("new").exists(), "{slip:?}");
    }
}

/// Random numbers: Lehmer's generator with the multiplier of Park and Miller.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        (self.0 % n as u64) as usize
    }
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

#[test]
fn no_drawn_command_that_fails_changes_a_result_or_a_file() {
    let f = folder("drawn");
    let model = include_str!("data/rough.yaml");
    let at = |name: &str| f.join(name).to_string_lossy().into_owned();
    for name in ["mine.yaml", "notes.txt"] {
        std::fs::write(f.join(name), model).expect("written");
    }
    done(&f, &["run", "fourbar", "--t-end", "0.1", "--out", "r"]);
    done(&f, &["run", "hoeken", "--t-end", "0.1", "--out", "s"]);
    let (mut failed, mut went) = (0, 0);
    for seed in 1..=150_u64 {
        let mut dice = Dice(seed * 7919);
        let mine = at("mine.yaml");
        let verb = dice.pick(&["run", "run", "run", "kinematics", "view", "plot", "assemble", "convert", "new", "examples", "check"]);
        let model = dice.pick(&["fourbar", "fourbar", "fourbar", "hoeken", "fourbr", &mine, "a01_simple_pendulum"]).to_string();
        let folder = at(dice.pick(&["r", "r", "r", "s", "notes.txt", "r/model.yaml"]));
        let target = at(dice.pick(&[
            "r/model.yaml",
            "r/summary.json",
            "r/trajectory.csv",
            "mine.yaml",
            "notes.txt",
            "s",
            "r/page.html",
            "new.svg",
            "new.html",
        ]));
        let mut words = vec!["fourbar".to_string(), verb.to_string()];
        match verb {
            "run" | "kinematics" => words.extend([model, "--out".into(), folder]),
            "view" => words.extend([model, "--no-open".into(), "-o".into(), target]),
            "plot" => words.extend([at("r"), dice.pick(&["P.x", "P.q", "*", "t"]).into(), "-o".into(), target]),
            "assemble" => words.extend([model, "-o".into(), target]),
            "convert" => words.extend([model, target]),
            "new" => words.push(target),
            "examples" => words.extend(["fourbar".into(), "-o".into(), target]),
            _ => words.extend([model, "--modes".into(), target]),
        }
        if ["run", "kinematics", "view"].contains(&verb) {
            for _ in 0..dice.below(3) {
                let (key, values): (&str, &[&str]) = [
                    ("--t-end", &["0.1", "0.05", "soon", "-1", "1e15"][..]),
                    ("--tol", &["1e-6", "1e-31", "nan"]),
                    ("--formulation", &["ra", "rb", "lie", "natural"]),
                    ("--integrator", &["dopri5", "rk4", "taylr"]),
                    ("--option", &["rho=0.5", "rh=1", "order=1000", "rho"]),
                    ("--output-step", &["10 ms", "1e-12", "0"]),
                    ("--step", &["1 ms", "1e-16"]),
                    ("--set", &["crank_length=60 mm", "crank_length=-1", "x=1"]),
                    ("--columns", &["*.angle", "nothing"]),
                ][dice.below(9)];
                if verb != "view" || key != "--columns" {
                    words.extend([key.to_string(), dice.pick(values).to_string()]);
                }
            }
        }
        let before = [files(&f), files(&f.join("r")), files(&f.join("s"))];
        let list: Vec<&str> = words.iter().map(String::as_str).collect();
        let exit = fourbar_cli::exit_code_of(&list);
        let after = [files(&f), files(&f.join("r")), files(&f.join("s"))];
        // Files of the user are always kept, since no command here has `--force`.
        assert!(
            after[0]["mine.yaml"] == before[0]["mine.yaml"] && after[0]["notes.txt"] == before[0]["notes.txt"],
            "seed {seed}: {words:?}"
        );
        assert!(after[2] == before[2] || (exit == 0 && words.contains(&at("s"))), "seed {seed}: {words:?} gave {exit}");
        if exit != 0 {
            failed += 1;
            assert!(before == after, "seed {seed}: {words:?} failed with {exit} and changed files");
        } else {
            went += 1;
        }
    }
    assert!(failed > 60 && went > 10, "{failed} failed, {went} went");
}

#[test]
fn a_folder_belongs_to_one_mechanism_file() {
    let f = folder("owner");
    done(&f, &["run", "fourbar", "--out", "r", "--view", "--no-open"]);
    // The usual case: the same file with other settings.
    done(&f, &["run", "fourbar", "--out", "r", "--t-end", "0.5"]);
    let text = whole(&fourbar(&f, &["run", "fourbar", "--out", "r", "--t-end", "0.6"]));
    assert!(text.contains("in place of an older result"), "{text}");
    assert!(!f.join("r/page.html").exists(), "the page of the older run is gone");
    let before = files(&f.join("r"));
    refused(&f, &["run", "hoeken", "--out", "r"], "U331");
    assert!(files(&f.join("r")) == before);
    done(&f, &["run", "hoeken", "--out", "r", "--force"]);
    assert_eq!(
        json(&fourbar(&f, &["plot", "r", "t", "--json"]))["rows"].as_u64(),
        Some(files(&f.join("r"))["trajectory.csv"].iter().filter(|b| **b == b'\n').count() as u64 - 1)
    );
    // A changed file with the same name is still the same mechanism.
    let mine = include_str!("data/rough.yaml");
    std::fs::write(f.join("mine.yaml"), mine).expect("written");
    done(&f, &["run", "mine.yaml", "--out", "m", "--t-end", "0.1"]);
    std::fs::write(f.join("mine.yaml"), format!("{mine}# changed\n")).expect("written");
    done(&f, &["run", "./mine.yaml", "--out", "m", "--t-end", "0.1"]);
    // An edited copy belongs to the user.
    std::fs::write(f.join("m/model.yaml"), "mine").expect("written");
    refused(&f, &["run", "mine.yaml", "--out", "m", "--t-end", "0.1"], "U330");
    // So do a model.yaml, a trajectory and other files in a folder without a run.
    for name in ["model.yaml", "trajectory.csv", "summary.json", "checkpoint.json"] {
        std::fs::create_dir_all(f.join(name).with_extension("d")).expect("made");
        let d = format!("{}.d", name.split('.').next().unwrap_or(""));
        std::fs::write(f.join(&d).join(name), "{\"mine\": 1}\n").expect("written");
        refused(&f, &["run", "fourbar", "--out", &d], "U330");
        assert_eq!(files(&f.join(&d)).get(name).map_or("{\"mine\": 1}\n".as_bytes(), Vec::as_slice), b"{\"mine\": 1}\n", "{name}");
        done(&f, &["run", "fourbar", "--out", &d, "--force"]);
    }
    // A mechanism with the name model.yaml may use its own folder.
    std::fs::create_dir(f.join("own")).expect("made");
    std::fs::write(f.join("own/model.yaml"), format!("\u{feff}{mine}")).expect("written");
    done(&f, &["run", "own/model.yaml", "--out", "own", "--t-end", "0.1"]);
    assert_eq!(std::fs::read_to_string(f.join("own/model.yaml")).ok(), Some(format!("\u{feff}{mine}")));
}

#[test]
fn files_of_others_are_replaced_by_force_only() {
    let f = folder("others");
    done(&f, &["run", "fourbar", "--out", "r"]);
    for (arguments, file) in [
        (&["view", "fourbar", "--no-open", "-o", "x.yaml"][..], "x.yaml"),
        (&["view", "r", "--no-open"], "r/page.html"),
        (&["assemble", "fourbar", "-o", "x.json"], "x.json"),
        (&["plot", "r", "P.x", "-o", "x.svg"], "x.svg"),
        (&["plot", "r", "P.x", "-o", "x.png"], "x.png"),
        (&["check", "fourbar", "--modes", "m.html"], "m.html"),
        (&["check", "fourbar", "--modes", "m.json"], "m.json"),
        (&["run", "fourbar", "--view", "--no-open"], "fourbar.html"),
    ] {
        std::fs::write(f.join(file), "mine").expect("written");
        refused(&f, arguments, "U330");
        assert_eq!(std::fs::read(f.join(file)).ok().as_deref(), Some(b"mine".as_slice()), "{arguments:?}");
        done(&f, &[arguments, &["--force"]].concat());
        // Files written by the program may be replaced.
        done(&f, arguments);
        std::fs::remove_file(f.join(file)).expect("there");
    }
    for (arguments, file) in [
        (&["new", "n.yaml"][..], "n.yaml"),
        (&["examples", "fourbar", "-o", "e.yaml"], "e.yaml"),
        (&["convert", "fourbar", "c.yaml", "--to", "fourbar"], "c.yaml"),
    ] {
        done(&f, arguments);
        refused(&f, arguments, "U004");
        assert!(f.join(file).is_file());
        done(&f, &[arguments, &["--force"]].concat());
    }
    assert!(std::fs::read_dir(&f).expect("there").flatten().all(|e| !e.file_name().to_string_lossy().ends_with(".part")));
}

#[test]
fn two_runs_do_not_write_into_one_folder() {
    let f = folder("locked");
    let mut first = start(&f, LONG);
    wait_for_rows(&f.join("r"));
    for force in [&[][..], &["--force"]] {
        let output = fourbar(&f, &[&["run", "ra_double_pendulum", "--out", "r", "--json"], force].concat());
        let told = json(&output)["diagnostics"][0].clone();
        assert_eq!((output.status.code(), told["code"].as_str()), (Some(2), Some("U332")), "{told:#}");
        assert!(told["message"].as_str().is_some_and(|m| m.contains(&format!("process {}", first.id()))), "{told:#}");
    }
    refused(&f, &["run", "ra_double_pendulum", "--resume", "r"], "U332");
    first.kill().expect("killed");
    let _ = first.wait();
    // The lock of a dead process is void, even if its file exists.
    assert!(f.join("r/run.lock").is_file());
    assert_eq!(json(&fourbar(&f, &["plot", "r", "t", "--json"]))["exit_code"], 0);
    done(&f, &["run", "ra_double_pendulum", "--out", "r", "--t-end", "0.1"]);
    assert!(!f.join("r/run.lock").exists() && !f.join("r/trajectory.csv.part").exists() && !f.join("r/checkpoint.json").exists());
    // Several at once: each successful one leaves a complete result, the others report the reason.
    let many: Vec<_> = (0..6).map(|_| start(&f, &["run", "ra_double_pendulum", "--out", "r", "--t-end", "2"])).collect();
    let outputs: Vec<_> = many.into_iter().map(|c| c.wait_with_output().expect("ends")).collect();
    let succeeded = outputs.iter().filter(|o| o.status.success()).count();
    assert!(succeeded > 0);
    for o in outputs.iter().filter(|o| !o.status.success()) {
        assert!(o.status.code() == Some(2) && String::from_utf8_lossy(&o.stderr).contains("U332"), "{}", whole(o));
    }
    let table = fourbar_io::results::read_table(&f.join("r")).expect("readable");
    assert_eq!(table.column("t").and_then(|t| t.last().copied()), Some(2.0));
}

#[test]
fn a_run_that_is_stopped_leaves_the_older_result_alone() {
    let f = folder("beside");
    done(&f, &["run", "ra_double_pendulum", "--out", "r", "--t-end", "0.2"]);
    let before = files(&f.join("r"));
    // Killed: the older result is complete.
    let mut child = start(&f, LONG);
    wait_for_rows(&f.join("r"));
    child.kill().expect("killed");
    let _ = child.wait();
    assert!(files(&f.join("r")) == before);
    // Stopped: the same, with a message.
    std::fs::remove_file(f.join("r/trajectory.csv.part")).expect("the rows of the killed run");
    let child = start(&f, LONG);
    wait_for_rows(&f.join("r"));
    interrupt(&child);
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(130), "{}", whole(&output));
    assert!(whole(&output).contains("W330"), "{}", whole(&output));
    assert!(files(&f.join("r")) == before);
    done(&f, &["plot", "r/trajectory.csv.part", "t"]);
    let rows = std::fs::read_to_string(f.join("r/trajectory.csv.part")).expect("rows").lines().count();
    // Continued to its end it replaces the older result.
    let last = (rows + 200) as f64 * 1e-3;
    done(&f, &["run", "ra_double_pendulum", "--resume", "r", "--t-end", &format!("{last}")]);
    let after = files(&f.join("r"));
    assert!(after["trajectory.csv"] != before["trajectory.csv"]);
    assert!(!f.join("r/trajectory.csv.part").exists() && !f.join("r/summary.json.part").exists() && !f.join("r/checkpoint.json").exists());
}

#[test]
fn a_run_that_fails_leaves_the_older_result_alone() {
    let f = folder("fails");
    let text = include_str!("data/pulled.yaml");
    std::fs::write(f.join("m.yaml"), text).expect("written");
    done(&f, &["kinematics", "m.yaml", "--out", "r", "--t-end", "0.01"]);
    let before = files(&f.join("r"));
    let output = fourbar(&f, &["kinematics", "m.yaml", "--out", "r", "--t-end", "100", "--output-step", "0.01", "--view", "--no-open"]);
    assert_eq!(output.status.code(), Some(1), "{}", whole(&output));
    assert!(files(&f.join("r")) == before && whole(&output).contains("W330"), "{}", whole(&output));
    // Without an older result the valid rows get their final name.
    let output = fourbar(&f, &["kinematics", "m.yaml", "--out", "s", "--t-end", "100", "--output-step", "0.01"]);
    assert_eq!(output.status.code(), Some(1), "{}", whole(&output));
    assert!(f.join("s/trajectory.csv").is_file() && f.join("s/summary.json").is_file() && !f.join("s/checkpoint.json").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_without_room_is_told_and_leaves_nothing_half() {
    let f = folder("no_room");
    done(&f, &["run", "fourbar", "--out", "r"]);
    let before = files(&f.join("r"));
    let limited = |blocks: &str, arguments: &[&str]| {
        let line = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut c = std::process::Command::new("sh");
        c.args(["-c", &line, env!("CARGO_BIN_EXE_fourbar")]).args(arguments).current_dir(&f).env("NO_COLOR", "1");
        c.output().expect("runs")
    };
    for (blocks, arguments) in [
        ("0", &["run", "fourbar", "--out", "r"][..]),
        ("8", &["run", "fourbar", "--out", "r"]),
        ("40", &["run", "fourbar", "--out", "r", "--t-end", "1"]),
        ("8", &["run", "fourbar", "--out", "new"]),
        ("0", &["run", "fourbar", "--out", "none"]),
        ("8", &["view", "fourbar", "--no-open", "-o", "p.html"]),
        ("1", &["plot", "r", "P.*", "-o", "p.svg"]),
        ("0", &["assemble", "fourbar", "-o", "a.json"]),
        ("0", &["new", "n.yaml"]),
    ] {
        let output = limited(blocks, arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{blocks} {arguments:?}: {}", whole(&output));
        assert!(told.contains("error[U003]") && told.contains("ulimit -f"), "{arguments:?}: {told}");
        assert!(files(&f.join("r")) == before, "{arguments:?}");
    }
    assert_eq!(files(&f).len(), 0, "{:?}", files(&f).keys());
    assert!(!f.join("none").exists());
    // The remaining rows are whole lines.
    for left in ["r/trajectory.csv.part", "new/trajectory.csv.part"] {
        if let Ok(text) = std::fs::read_to_string(f.join(left)) {
            assert!(text.ends_with('\n') && fourbar_io::results::read_table(&f.join(left)).is_ok(), "{left}");
        }
    }
}

#[test]
fn checkpoints_are_believed_only_as_they_were_written() {
    let f = folder("edited");
    let child = start(&f, LONG);
    wait_for_rows(&f.join("r"));
    interrupt(&child);
    assert_eq!(child.wait_with_output().expect("ends").status.code(), Some(130));
    let before = files(&f.join("r"));
    let path = f.join("r/checkpoint.json");
    let good = std::fs::read_to_string(&path).expect("a checkpoint");
    refused(&f, &["run", "ra_double_pendulum", "--resume", "r", "--t-end", "1e-3"], "U333");
    // Every changed digit is detected.
    let digits: Vec<usize> = good.bytes().enumerate().filter(|(_, b)| b.is_ascii_digit()).map(|(k, _)| k).collect();
    let mut dice = Dice(20_261);
    for _ in 0..25 {
        let at = digits[dice.below(digits.len())];
        let mut bytes = good.clone().into_bytes();
        bytes[at] = b'0' + (bytes[at] - b'0' + 1 + dice.below(9) as u8) % 10;
        std::fs::write(&path, &bytes).expect("written");
        // Two decimal numbers may have the same binary value.
        let value = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).ok();
        if value(&bytes) == value(good.as_bytes()) {
            continue;
        }
        assert!(fourbar_io::results::read_checkpoint(&f.join("r")).is_err_and(|d| d.code.0 == "U009"), "byte {at}");
    }
    for bad in ["", "{}", "null", "[1]", &good[..good.len() / 2], &good.replace("\"rows\"", "\"row\"")] {
        std::fs::write(&path, bad).expect("written");
        refused(&f, &["run", "ra_double_pendulum", "--resume", "r"], "U009");
    }
    std::fs::write(&path, &good).expect("written");
    // Rows that do not match the checkpoint are rejected as well.
    let rows = String::from_utf8(before["trajectory.csv"].clone()).expect("text");
    for changed in [
        rows.replacen("t,", "u,", 1),
        rows.lines().take(3).map(|l| format!("{l}\n")).collect(),
        rows.replacen("\n0,", "\n0,0,", 1).replacen('\n', "\n9,9\n", 1),
    ] {
        std::fs::write(f.join("r/trajectory.csv"), &changed).expect("written");
        refused(&f, &["run", "ra_double_pendulum", "--resume", "r"], "U009");
        assert_eq!(std::fs::read_to_string(f.join("r/trajectory.csv")).ok(), Some(changed));
    }
    std::fs::write(f.join("r/trajectory.csv"), rows).expect("written");
    let last = json(&fourbar(&f, &["plot", "r", "t", "--json"]))["rows"].as_u64().expect("rows") as f64 * 1e-3 + 0.1;
    done(&f, &["run", "ra_double_pendulum", "--resume", "r", "--t-end", &format!("{last}")]);
}

#[test]
fn a_run_that_is_killed_at_once_can_be_repeated_with_its_settings() {
    let f = folder("young");
    let settings = ["run", "ra_double_pendulum", "--t-end", "60", "--output-step", "1 ms", "--columns", "*.r.*", "--out"];
    let mut child = start(&f, &[&settings[..], &["r"]].concat());
    wait_for_rows(&f.join("r"));
    child.kill().expect("killed");
    let _ = child.wait();
    assert!(f.join("r/checkpoint.json").is_file());
    done(&f, &["run", "ra_double_pendulum", "--resume", "r"]);
    done(&f, &[&settings[..], &["d"]].concat());
    assert!(files(&f.join("r"))["trajectory.csv"] == files(&f.join("d"))["trajectory.csv"]);
}

#[test]
#[cfg(unix)]
fn what_has_no_end_is_not_read() {
    let f = folder("endless");
    assert!(std::process::Command::new("mkfifo").arg(f.join("pipe")).status().is_ok_and(|s| s.success()));
    std::fs::create_dir(f.join("c")).expect("made");
    std::os::unix::fs::symlink("/dev/zero", f.join("c/checkpoint.json")).expect("linked");
    std::fs::create_dir(f.join("z")).expect("made");
    std::os::unix::fs::symlink("/dev/zero", f.join("z/trajectory.csv")).expect("linked");
    std::os::unix::fs::symlink("/dev/zero", f.join("z/summary.json")).expect("linked");
    for (arguments, code) in [
        (&["plot", "/dev/zero", "t"][..], "U007"),
        (&["plot", "pipe", "t"], "U007"),
        (&["plot", "z", "t"], "U007"),
        (&["view", "z", "--no-open"], "M010"),
        (&["check", "pipe"], "M010"),
        (&["check", "/dev/zero"], "M010"),
        (&["run", "fourbar", "--resume", "c"], "U009"),
        (&["run", "fourbar", "--out", "z"], "U330"),
    ] {
        refused(&f, arguments, code);
    }
    // A device can be written to.
    done(&f, &["plot", "--help"]);
    let output = command(&f, &["assemble", "fourbar", "-o", "/dev/null"]).output().expect("runs");
    assert_eq!(output.status.code(), Some(0), "{}", whole(&output));
}

/// A mechanism whose drive reads a file, with a user-defined output.
const BY_TABLE: &str = "fourbar: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1], at: [1, 0, 0]}, b: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [2, 0, 0]}}\njoints:\n  O: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}\n  A: {type: revolute, bodies: [a, b], at: [1.5, 0, 0], axis: [0, 0, 1]}\ndrives: {m: {joint: O, angle: lift(t)}}\ntables: {lift: {file: data/lift.csv, x: time, y: angle, x_unit: s, y_unit: deg, ends: periodic}}\npoints: {tip: {body: b, at: [0.5, 0, 0]}}\noutputs: {reach: {value: 'hypot(tip.x, tip.y)', unit: mm}}\nstudy: {analysis: dynamics, t_end: 1000, output_step: 1 ms}\n";

#[test]
fn a_result_stands_alone_with_the_files_of_its_tables() {
    let f = folder("by-table");
    std::fs::create_dir_all(f.join("data")).expect("made");
    std::fs::write(f.join("arm.yaml"), BY_TABLE).expect("written");
    let table = "time,angle\n0,0\n0.5,30\n1,10\n2,-20\n3,0\n";
    std::fs::write(f.join("data/lift.csv"), table).expect("written");
    done(&f, &["run", "arm.yaml", "--t-end", "0.2", "--columns", "t,reach,O.angle", "--out", "r"]);
    assert_eq!(std::fs::read_to_string(f.join("r/data/lift.csv")).ok().as_deref(), Some(table));
    let rows = std::fs::read_to_string(f.join("r/trajectory.csv")).expect("rows");
    assert!(rows.starts_with("t,O.angle,reach\n") || rows.starts_with("t,reach,O.angle\n"), "{}", &rows[..40]);
    let summary: serde_json::Value = serde_json::from_slice(&std::fs::read(f.join("r/summary.json")).expect("there")).expect("JSON");
    assert_eq!((summary["units"]["reach"].as_str(), summary["tables"]["data/lift.csv"].as_str().map(str::len)), (Some("mm"), Some(64)));
    // Without the original files all commands for results still work.
    std::fs::rename(f.join("data"), f.join("gone")).expect("moved");
    done(&f, &["run", "arm.yaml", "--t-end", "0.1", "--out", "r"].map(|a| if a == "arm.yaml" { "r/model.yaml" } else { a }));
    done(&f, &["plot", "r", "reach"]);
    done(&f, &["view", "r", "--no-open", "--output", "p.html"]);
    assert!(std::fs::read_to_string(f.join("p.html")).expect("a page").contains("reach"));
    refused(&f, &["run", "arm.yaml", "--out", "other"], "M041");
    std::fs::rename(f.join("gone"), f.join("data")).expect("moved back");
    // A run continues only with the same data.
    let child = start(&f, &["run", "arm.yaml", "--columns", "t,reach", "--out", "long"]);
    wait_for_rows(&f.join("long"));
    interrupt(&child);
    assert_eq!(child.wait_with_output().expect("ends").status.code(), Some(130));
    std::fs::write(f.join("data/lift.csv"), table.replace("30", "31")).expect("written");
    refused(&f, &["run", "arm.yaml", "--resume", "long", "--t-end", "900"], "U009");
    std::fs::write(f.join("data/lift.csv"), table).expect("written");
    let last = json(&fourbar(&f, &["plot", "long", "t", "--json"]))["rows"].as_u64().expect("rows") as f64 * 1e-3 + 0.1;
    done(&f, &["run", "arm.yaml", "--resume", "long", "--t-end", &format!("{last}")]);
    // Standard input has no folder, and the message has a help text.
    let output = common::fourbar_with(&f, &["check", "-", "--json"], BY_TABLE.as_bytes());
    assert!(String::from_utf8_lossy(&output.stdout).contains("M625"), "{}", whole(&output));
}
