//! Natural coordinates.
mod common;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::natural::{Choice, System};

#[test]
fn explore() {
    let mut names: Vec<String> = std::fs::read_dir("../../models").unwrap().filter_map(|e| e.unwrap().file_name().into_string().ok()?.strip_suffix(".yaml").map(String::from)).collect();
    names.sort();
    for name in names {
        let m = common::model(&name);
        let a = assemble(&m).expect("assembles");
        for (w, c) in [("", Choice::default()), ("par", Choice { parallelograms: true, ..Choice::default() }), ("unassigned", Choice { assign: false, ..Choice::default() }), ("twelve", Choice { twelve: true, ..Choice::default() })] {
            match System::new(&m, &a.configuration, c) {
                Ok(s) => {
                    let (q, n) = s.size();
                    println!("{name} {w}: {q}/{n}/{} rows {} dropped {:?} planar {} sing {}", q + n, s.rows.len(), s.dropped().count(), s.planar, s.singular_start);
                    if std::env::var("SHOW").is_ok_and(|x| x == name) { for l in s.describe() { println!("   {l}"); } }
                    match s.record() { Ok(_) => {}, Err(e) => println!("   RECORD {e}") }
                }
                Err(d) => println!("{name} {w}: {d}"),
            }
        }
    }
}
