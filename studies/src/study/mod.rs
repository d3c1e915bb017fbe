//! Studies: figures of the papers, and questions too long for tests. `cargo xtask study NAME`.
//!
//! A study is a function in a separate file and a line in the list; [`report`] gives tables and figures a common form.

mod assembly;
mod auto;
mod benchmarks;
mod critchley03;
mod import;
mod kissel21;
mod malczyk12;
pub mod memory;
mod mueller13;
mod precision;
mod properties;
mod pryce20;
mod remainder;
pub mod report;
mod scale;
mod tolerance;
mod verify;

/// A study: name, arguments, description, and the function.
type Study = (&'static str, &'static str, &'static str, fn(&[String]) -> Result<(), String>);

/// All studies.
const STUDIES: &[Study] = &[
    ("assembly", "[--starts N]", "how reliably assembly closes rough starts", assembly::run),
    (
        "auto",
        "[MODEL...] [--drawn N] [--seed S] [--points FILE]",
        "whether `auto` picks the fastest formulation at equal accuracy",
        auto::run,
    ),
    ("benchmarks", "", "the benchmarks of IFToMM and Andrews with every formulation, docs/benchmarks.md", benchmarks::run),
    (
        "import",
        "FOLDER... [--mesh-path FOLDER]",
        "robots of other programs: what is read, and how far it is from the truth beside it",
        import::run,
    ),
    ("kissel21", "", "rA, rp and reps, Tables 8 to 10 and Figs. 2 to 7, docs/studies/kissel21/", kissel21::run),
    ("malczyk12", "", "divide and conquer on the paper's examples, Figs. 5 to 11, docs/studies/malczyk12/", malczyk12::run),
    ("critchley03", "[--keep-times]", "the five-bar by ACS and GCL, cost of loops, docs/studies/critchley03/", critchley03::run),
    ("memory", "", "how much memory a large mechanism takes", memory::run),
    ("mueller13", "[--keep-times]", "SE(3) against SO(3) x R3, Figs. 2 to 15, docs/studies/mueller13/", mueller13::run),
    ("pryce20", "[--keep-times]", "natural coordinates: Mechanism0, Table 4, times", pryce20::run),
    ("scale", "[--most N]", "time and memory of whole runs against the number of bodies, docs/studies/scale.md", scale::run),
    ("properties", "[--count N] [--seed S]", "laws that every formulation obeys, on random mechanisms", properties::run),
    ("tolerance", "[MODEL...] [--patience S]", "errors of whole runs against their tolerance, docs/studies/tolerance.md", tolerance::run),
    ("verify", "[--count N] [--seed S]", "whether formulations agree, on random mechanisms of every family", verify::run),
];

/// Runs the named study.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let name = arguments.first().map(String::as_str);
    match STUDIES.iter().find(|s| Some(s.0) == name) {
        Some((.., run)) => run(&arguments[1..]),
        None => Err(format!("there are the studies\n{}", list())),
    }
}

/// The studies, one line each.
pub fn list() -> String {
    STUDIES.iter().map(|(name, arguments, what, _)| format!("  {:<28}{what}\n", format!("{name} {arguments}"))).collect()
}
