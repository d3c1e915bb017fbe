//! Formats of other programs: small files for every feature, compared with closed forms; hostile files.
#![allow(non_snake_case)]

mod asmt;
mod gcon;
mod hostile;
mod mjcf;
mod sdf;
mod urdf;
mod written;
mod xml;

use fourbar::Model;
use fourbar::analysis::{assembly, rank};
use fourbar::study::{Study, run};
use fourbar::trajectory::Trajectory;
use fourbar_io::{Loaded, ReadOptions, read_model, read_model_file, write_model};
use nalgebra::{Matrix3, Vector3};
use std::path::PathBuf;

/// Reads a text; every note must have a location, and the converted file must give the same mechanism.
pub fn read(text: &str) -> Loaded {
    let loaded = read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    checked(loaded)
}

/// The same from a file.
pub fn read_file(path: &std::path::Path) -> Loaded {
    checked(read_model_file(path, &[]).unwrap_or_else(|e| panic!("{e}")))
}

fn checked(loaded: Loaded) -> Loaded {
    for w in &loaded.warnings {
        assert!(w.is_warning() && w.line() > 0, "{w}");
        assert!(fourbar::codes::page(w.code.0).is_some(), "{w}");
    }
    let again =
        read_model(&write_model(&loaded.spec), &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}\n{}", write_model(&loaded.spec)));
    assert_eq!(again.spec, loaded.spec);
    loaded
}

/// The mechanism of a text.
pub fn model(loaded: &Loaded) -> Model {
    loaded.spec.build().unwrap_or_else(|e| panic!("{e}"))
}

/// Codes of the notes.
pub fn codes(loaded: &Loaded) -> Vec<&'static str> {
    loaded.warnings.iter().map(|w| w.code.0).collect()
}

/// Degrees of freedom and redundant rows after assembly.
pub fn mobility(model: &Model) -> (usize, usize) {
    let start = assembly::assemble(model).unwrap_or_else(|e| panic!("{e}")).configuration;
    let m = rank::mobility(model, &start, false);
    (m.start.mobility(), m.start.redundant())
}

/// A run with a tight tolerance.
pub fn motion(model: &Model, t_end: f64) -> Trajectory {
    let mut study = Study::of(model);
    study.t_end = t_end;
    study.output_step = t_end / 10.0;
    study.tol = Some(1e-11);
    let mut trajectory = Trajectory::default();
    if let Err(e) = run(model, &study, &mut trajectory) {
        panic!("{e:?}");
    }
    trajectory
}

/// The last value of a column.
pub fn last(t: &Trajectory, column: &str) -> f64 {
    let values =
        t.column(column).unwrap_or_else(|| panic!("no column `{column}` in {:?}", t.columns.iter().map(|c| &c.name).collect::<Vec<_>>()));
    values[values.len() - 1]
}

/// A body by name.
pub fn body<'m>(model: &'m Model, name: &str) -> &'m fourbar::model::Body {
    model.bodies.iter().find(|b| b.name == name).unwrap_or_else(|| panic!("no body `{name}`"))
}

/// Asserts that vectors are equal to rounding.
#[track_caller]
pub fn near(a: Vector3<f64>, b: [f64; 3]) {
    assert!((a - Vector3::from(b)).amax() < 1e-13, "{a:?} {b:?}");
}

/// Inertia of a body in the world.
pub fn inertia(b: &fourbar::model::Body) -> Matrix3<f64> {
    b.A * b.J_bar * b.A.transpose()
}

/// A folder with files that is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    /// Writes the files.
    pub fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("fourbar-import-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for (file, text) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
