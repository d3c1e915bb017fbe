//! Shared by the tests: shipped models, reference files, comparison.

use fourbar::study::{self, Observer, Report, Study};
use fourbar::trajectory::Column;
use fourbar::{Model, Trajectory};
use fourbar_io::{ReadOptions, read_model};
use std::path::PathBuf;

/// Explicit methods without an error estimate: they need a fixed step.
pub const WITHOUT_ESTIMATE: [&str; 6] = ["rk4", "euler", "cg3", "cg4", "cf3", "cf4"];

/// Integrators of a formulation that need only a name; a user-defined tableau needs coefficients.
pub fn integrators_of(f: &fourbar::study::FormulationInfo) -> Vec<&'static str> {
    f.integrators.iter().copied().filter(|i| *i != "tableau").collect()
}

/// A shipped model by name.
pub fn model(name: &str) -> Model {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models").join(format!("{name}.yaml"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    parse(&text)
}

/// A model from text.
pub fn parse(text: &str) -> Model {
    let loaded = read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    loaded.spec.build().unwrap_or_else(|e| panic!("{e}"))
}

/// Names of the shipped models that every method can run quickly: all except the stiff ones and those with contacts or events.
pub fn shipped() -> Vec<String> {
    files().into_iter().filter(|n| ![STIFF, CONTACT, EVENT].iter().any(|kind| n.starts_with(kind))).collect()
}

/// Names of the shipped models with events, limits or one-way joints.
pub fn eventful() -> Vec<String> {
    files().into_iter().filter(|n| n.starts_with(EVENT)).collect()
}

/// Names of the shipped models with contacts, whose forces have kinks or are impacts.
pub fn contacts() -> Vec<String> {
    files().into_iter().filter(|n| n.starts_with(CONTACT)).collect()
}

/// Names of the stiff shipped models, on which explicit methods are very slow.
pub fn stiff() -> Vec<String> {
    files().into_iter().filter(|n| n.starts_with(STIFF)).collect()
}

/// Prefixes of the names of stiff models, of those with contacts, and of those with events.
const STIFF: &str = "stiff_";
const CONTACT: &str = "contact_";
const EVENT: &str = "event_";

fn files() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("models are there")
        .filter_map(|e| e.ok()?.file_name().to_str()?.strip_suffix(".yaml").map(String::from))
        .collect();
    names.sort();
    names
}

/// Runs a study; panics with the diagnostic if it fails.
pub fn run(model: &Model, study: &Study) -> (Trajectory, Report) {
    let mut trajectory = Trajectory::default();
    let report = study::run(model, study, &mut trajectory).unwrap_or_else(|f| panic!("{}", f.diagnostic));
    (trajectory, report)
}

/// Stores the rows of a run, stops it after some of them, and stores the checkpoint from which it could continue.
pub struct Stopping {
    /// Rows so far.
    pub rows: Vec<Vec<f64>>,
    /// The last checkpoint offered.
    pub checkpoint: String,
    stop_after: usize,
}

impl Stopping {
    /// Stops after the given number of rows.
    pub fn after(stop_after: usize) -> Self {
        Self { rows: Vec::new(), checkpoint: String::new(), stop_after }
    }
}

impl Observer for Stopping {
    fn begin(&mut self, _: &[Column]) {}
    fn row(&mut self, row: &[f64]) {
        self.rows.push(row.to_vec());
    }
    fn go_on(&mut self, _: f64, _: f64) -> bool {
        self.rows.len() < self.stop_after
    }
    fn checkpoint(&mut self, state: &dyn Fn() -> String) {
        self.checkpoint = state();
    }
}

/// Runs once without interruption and once in two parts; both must agree: rows to the bit, and the same singular positions at the end.
pub fn assert_resumes(model: &Model, study: &Study, stop_after: usize, what: &str) {
    let go = |stop_after: usize, checkpoint: Option<&str>| {
        let mut r = Stopping::after(stop_after);
        let report = study::run_from(model, study, checkpoint, &mut r).unwrap_or_else(|f| panic!("{what}: {}", f.diagnostic));
        (r, report)
    };
    let (whole, report) = go(usize::MAX, None);
    let (first, _) = go(stop_after, None);
    let (rest, resumed) = go(usize::MAX, Some(&first.checkpoint));
    assert!(first.rows.len() == stop_after && !rest.rows.is_empty(), "{what}: it did not stop on the way");
    let joined: Vec<Vec<f64>> = first.rows.into_iter().chain(rest.rows).collect();
    assert_eq!(joined.len(), whole.rows.len(), "{what}");
    assert!(joined == whole.rows, "{what}: rows differ");
    assert_eq!(resumed.singular, report.singular, "{what}");
}

/// A reference trajectory: column names and rows.
pub struct Reference {
    /// Names, those of the reference file.
    pub columns: Vec<String>,
    /// Values by row.
    pub rows: Vec<Vec<f64>>,
}

/// The thinned copy of a reference trajectory.
pub fn reference(name: &str) -> Reference {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fourbar/tests/data").join(format!("{name}.csv"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines = text.lines().filter(|l| !l.starts_with('#'));
    let columns = lines.next().expect("a header").split(',').map(String::from).collect();
    let rows = lines.map(|l| l.split(',').map(|x| x.parse().expect("a number")).collect()).collect();
    Reference { columns, rows }
}

/// Our name of a reference column, if it is a quantity of a body or a drive.
pub fn translate(name: &str, trajectory: &Trajectory) -> Option<String> {
    if name == "tau_driver" {
        return Some("motor.effort".into());
    }
    if name == "s" {
        return Some("slider.r.z".into());
    }
    let (body, c) = name.rsplit_once('.')?;
    let axis = |skip: usize| &c[skip..];
    let ours = match c {
        "x" | "y" | "z" if trajectory.find(&format!("{body}.r.x")).is_some() => format!("{body}.r.{c}"),
        "x" | "y" | "z" => format!("{body}.{c}"),
        "e0" | "e1" | "e2" | "e3" => format!("{body}.p.{}", axis(1)),
        "vx" | "vy" | "vz" => format!("{body}.v.{}", axis(1)),
        "wx" | "wy" | "wz" => format!("{body}.omega.{}", axis(1)),
        "ax" | "ay" | "az" => format!("{body}.a.{}", axis(1)),
        "alx" | "aly" | "alz" => format!("{body}.alpha.{}", axis(2)),
        _ => return None,
    };
    trajectory.find(&ours).map(|_| ours)
}

/// Largest difference from the reference up to `until`, over columns whose reference name passes `choose`; and the number of values
/// compared. Quaternions are compared up to sign.
pub fn worst(trajectory: &Trajectory, reference: &Reference, until: f64, choose: impl Fn(&str) -> bool) -> (f64, usize) {
    let pairs: Vec<(usize, usize, Option<usize>)> = reference
        .columns
        .iter()
        .enumerate()
        .filter(|(_, c)| choose(c))
        .filter_map(|(i, c)| {
            let ours = translate(c, trajectory)?;
            // The sign of a quaternion follows from all four entries, starting at this index.
            let first = ours.rsplit_once(".p.").and_then(|(b, _)| trajectory.find(&format!("{b}.p.0")));
            Some((i, trajectory.find(&ours)?, first))
        })
        .collect();
    let t = trajectory.find("t").expect("time");
    let (mut k, mut worst, mut count) = (0, 0.0_f64, 0);
    for row in reference.rows.iter().filter(|r| r[0] <= until + 1e-12) {
        while k < trajectory.len() && trajectory.values[t][k] < row[0] - 1e-9 {
            k += 1;
        }
        assert!(k < trajectory.len() && (trajectory.values[t][k] - row[0]).abs() < 1e-9, "no output at t = {}", row[0]);
        let ours = trajectory.row(k);
        for &(i, j, quaternion) in &pairs {
            let sign = match quaternion {
                Some(first) => {
                    let start = i - (j - first);
                    (0..4).map(|q| row[start + q] * ours[first + q]).sum::<f64>().signum()
                }
                None => 1.0,
            };
            let d = (row[i] - sign * ours[j]).abs();
            assert!(d.is_finite());
            worst = worst.max(d);
            count += 1;
        }
    }
    (worst, count)
}

/// Two runs combined so that errors of order h^2 cancel: `(4 fine - coarse) / 3`.
pub fn extrapolate(coarse: &Trajectory, fine: &Trajectory) -> Trajectory {
    let better = |(c, f): (&Vec<f64>, &Vec<f64>)| c.iter().zip(f).map(|(c, f)| f + (f - c) / 3.0).collect();
    Trajectory { columns: fine.columns.clone(), values: coarse.values.iter().zip(&fine.values).map(better).collect() }
}
