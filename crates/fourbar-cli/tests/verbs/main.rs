//! Hostile input for every verb, in one process: mutated files, results and checkpoints, with random options.
//!
//! Every input ends with a known exit code: no panic, no hang. A run that is interrupted ends. A successful run has reached its exact end,
//! contains finite values only, and has no open joint. A fixed number of cases runs with the tests; `cargo xtask fuzz` runs more, with
//! other seeds. A failing case is saved and reported with its seed.

mod cases;
#[path = "../../../fourbar-io/tests/fuzz/mutate.rs"]
#[allow(dead_code)]
mod mutate;
#[path = "../../../fourbar-io/tests/fuzz/random.rs"]
#[allow(dead_code)]
mod random;

use cases::{Case, Corpus};
use random::Random;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Number of cases of each test, unless set by `FOURBAR_FUZZ_CASES`.
const CASES: u64 = 2_500;
/// Time after which a case is interrupted, as by Ctrl-C.
const SHORT: Duration = Duration::from_millis(200);
/// A longer case is considered hanging; those that cannot be interrupted end within a second on an idle machine.
const PATIENCE: Duration = Duration::from_secs(40);

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|x| x.parse().ok()).unwrap_or(default)
}

/// A thread that runs commands one after the other.
struct Worker {
    commands: Sender<Vec<String>>,
    codes: Receiver<Result<u8, String>>,
}

impl Worker {
    fn new() -> Self {
        let (commands, to_do) = channel::<Vec<String>>();
        let (send, codes) = channel();
        let work = move || {
            for words in to_do {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let code = catch_unwind(AssertUnwindSafe(|| fourbar_cli::exit_code_of(&words))).map_err(|p| {
                    let text = p.downcast_ref::<String>().cloned();
                    text.or_else(|| p.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_else(|| "a panic".into())
                });
                if send.send(code).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().stack_size(8 << 20).spawn(work).expect("a thread");
        Self { commands, codes }
    }

    /// The exit code of a command, or its failure: a panic or a hang.
    fn code(&self, words: &[String]) -> Result<u8, String> {
        fourbar_cli::interrupt(false);
        self.commands.send(words.to_vec()).map_err(|_| "ended the thread".to_string())?;
        let mut outcome = self.codes.recv_timeout(SHORT);
        if matches!(outcome, Err(RecvTimeoutError::Timeout)) {
            fourbar_cli::interrupt(true);
            outcome = self.codes.recv_timeout(PATIENCE);
        }
        match outcome {
            Ok(Ok(code)) => Ok(code),
            Ok(Err(panic)) => Err(format!("panicked: {panic}")),
            Err(RecvTimeoutError::Timeout) => Err(format!("did not end within {} s after it was asked to stop", PATIENCE.as_secs())),
            Err(RecvTimeoutError::Disconnected) => Err("ended the thread".into()),
        }
    }
}

/// Checks the results of a successful run.
fn sound(folder: &Path, t_end: Option<f64>) -> Result<(), String> {
    let text = std::fs::read_to_string(folder.join("trajectory.csv")).map_err(|e| format!("no trajectory: {e}"))?;
    let summary = std::fs::read_to_string(folder.join("summary.json")).map_err(|e| format!("no summary: {e}"))?;
    let summary: serde_json::Value = serde_json::from_str(&summary).map_err(|e| format!("the summary is broken: {e}"))?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let error = names.iter().position(|n| *n == "error.position");
    // A warning is issued if options disable the control of gaps, which then may be large.
    let warned = summary["diagnostics"].as_array().is_some_and(|all| all.iter().any(|w| w["code"] == "W241"));
    let length = summary["characteristic_length"].as_f64().ok_or("no characteristic length")?;
    let allowed = if warned { f64::INFINITY } else { 1e-3 * length };
    let mut last = None;
    for line in lines {
        let row: Vec<f64> = line.split(',').map(|x| x.parse().unwrap_or(f64::NAN)).collect();
        if row.len() != names.len() || row.iter().any(|x| !x.is_finite()) {
            return Err(format!("a row that is not whole: {}", &line[..line.len().min(80)]));
        }
        if error.is_some_and(|k| row[k] > allowed) {
            return Err(format!("at t = {} a joint is open by {}", row[0], row[error.unwrap_or(0)]));
        }
        last = Some(row[0]);
    }
    match (last, t_end.or(summary["t_end"].as_f64())) {
        (Some(t), Some(end)) if t == end => Ok(()),
        (t, end) => Err(format!("it ends at {t:?}, not at {end:?}")),
    }
}

/// Runs cases one after the other and counts their ends by verb and exit code.
fn run(name: &str, verbs: &[&'static str]) {
    let (count, first) = (setting("FOURBAR_FUZZ_CASES", CASES), setting("FOURBAR_FUZZ_SEED", 1));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("verbs-{name}"));
    let corpus = Corpus::new(&folder);
    let worker = Worker::new();
    let mut ends: BTreeMap<(&str, u8), usize> = BTreeMap::new();
    let mut slowest = (Duration::ZERO, String::new());
    for k in 0..count {
        let seed = first.wrapping_mul(1_000_003).wrapping_add(k);
        let case = Case::draw(&mut Random::new(seed), &corpus, verbs);
        let clock = Instant::now();
        let outcome = worker.code(&case.words).and_then(|code| match code {
            0 if case.verb == "run" || case.verb == "kinematics" => sound(&case.out, case.t_end).map(|()| code),
            0 | 1 | 2 | 130 => Ok(code),
            other => Err(format!("exit code {other}")),
        });
        match outcome {
            Ok(code) => *ends.entry((case.verb, code)).or_default() += 1,
            Err(problem) => {
                let kept = folder.with_file_name(format!("verbs-failed-{seed}"));
                let _ = std::fs::remove_dir_all(&kept);
                std::fs::rename(&folder, &kept).expect("the failing case");
                panic!("seed {seed}: {}\n{problem}\nits files are in {}", case.words.join(" "), kept.display());
            }
        }
        let took = clock.elapsed();
        if took > slowest.0 {
            slowest = (took, format!("seed {seed}: {}", case.words.join(" ")));
        }
    }
    println!("{name}: {count} cases end with {ends:?}; the slowest took {:.2} s, {}", slowest.0.as_secs_f64(), slowest.1);
    // If all cases were rejected, only the first checks would be tested.
    for verb in verbs {
        let of = |good: bool| ends.iter().filter(|((v, c), _)| v == verb && (*c == 0) == good).map(|(_, n)| n).sum::<usize>();
        assert!(count < 500 || (of(true) > 0 && of(false) > 0), "{verb}: {} good, {} not; {ends:?}", of(true), of(false));
    }
}

#[test]
fn files_are_checked_assembled_and_converted_or_refused() {
    run("files", &["check", "assemble", "convert", "assemble", "convert"]);
}

#[test]
fn runs_end_and_are_sound_or_refused() {
    run("runs", &["run", "run", "run", "kinematics", "resume"]);
}

#[test]
fn results_are_drawn_or_refused() {
    run("results", &["plot", "plot", "plot", "view"]);
}

/// Each case runs all applicable formulations, so there are fewer cases.
#[test]
fn comparisons_end() {
    run("comparisons", &["assemble", "assemble", "convert", "plot", "verify"]);
}

#[test]
fn analyses_end_in_an_answer_or_a_refusal() {
    run("analyses", &["equilibrium", "modes", "linearize"]);
}

#[test]
fn studies_end_in_an_answer_or_a_refusal() {
    run("studies", &["sweep", "tolerance", "optimize"]);
}
