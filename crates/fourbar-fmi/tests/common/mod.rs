//! Units on disk, and instances used like by an importer.

use fourbar::study::Study;
use fourbar_fmi::border::*;
use fourbar_fmi::{Source, Unit, contents};
use fourbar_io::examples::example;
use fourbar_io::{ReadOptions, read_model};
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The text of a shipped model, otherwise the text itself.
pub fn text_of(name: &str) -> &str {
    example(name).map_or(name, |e| e.text)
}

/// A unit whose resources are in a separate folder.
pub struct OnDisk {
    pub unit: Unit,
    pub folder: PathBuf,
}

impl OnDisk {
    pub fn new(name: &str) -> Self {
        Self::with(name, |_| {})
    }

    pub fn with(name: &str, change: impl FnOnce(&mut Study)) -> Self {
        let loaded = read_model(text_of(name), &ReadOptions::default()).expect("the model is good");
        let model = loaded.spec.build().expect("the model is good");
        let mut study = Study::of(&model);
        change(&mut study);
        let source = Source::new(model.title.clone(), "model.yaml".into(), vec![], study, vec![], false);
        let (unit, files) = contents(source, &loaded, None).expect("a unit");
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("fourbar-fmi-{}-{number}", std::process::id()));
        for (name, bytes) in &files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, bytes).expect("written");
        }
        Self { unit, folder }
    }

    pub fn reference(&self, name: &str) -> u32 {
        self.unit.variables.iter().position(|v| v.name == name).unwrap_or_else(|| panic!("no variable {name}")) as u32
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Messages of an instance.
pub type Log = Mutex<Vec<(Status, String, String)>>;

extern "C" fn log(environment: *mut c_void, status: Status, category: *const c_char, message: *const c_char) {
    #[allow(unsafe_code, reason = "the other side of the border")]
    // SAFETY: the environment is the log of the importer below, the texts are those of the library.
    let (log, category, message) =
        unsafe { (&*environment.cast::<Log>(), CStr::from_ptr(category).to_string_lossy(), CStr::from_ptr(message).to_string_lossy()) };
    log.lock().expect("a log").push((status, category.into_owned(), message.into_owned()));
}

/// An importer with one instance.
pub struct Importer {
    pub c: *mut Component,
    pub log: Box<Log>,
}

impl Importer {
    pub fn new(unit: &OnDisk, events: bool) -> Self {
        Self::asked(&unit.folder.join("resources").display().to_string(), &unit.unit.source.token, events)
    }

    pub fn asked(resources: &str, token: &str, events: bool) -> Self {
        let log_of = Box::new(Log::default());
        let (name, token, path) = (CString::new("one").unwrap(), CString::new(token).unwrap(), CString::new(resources).unwrap());
        let environment = (&raw const *log_of).cast_mut().cast::<c_void>();
        let c = fmi3InstantiateCoSimulation(
            name.as_ptr(),
            token.as_ptr(),
            path.as_ptr(),
            false,
            true,
            events,
            false,
            std::ptr::null(),
            0,
            environment,
            Some(log),
            std::ptr::null(),
        );
        Self { c, log: log_of }
    }

    /// An instance after initialisation with default values.
    pub fn begun(unit: &OnDisk) -> Self {
        let one = Self::new(unit, false);
        one.begin();
        one
    }

    pub fn begin(&self) {
        assert_eq!(fmi3EnterInitializationMode(self.c, false, 0.0, 0.0, false, 0.0), Status::Ok);
        assert_eq!(fmi3ExitInitializationMode(self.c), Status::Ok, "{:?}", self.said());
    }

    pub fn said(&self) -> Vec<(Status, String, String)> {
        self.log.lock().expect("a log").clone()
    }

    pub fn get(&self, reference: u32) -> f64 {
        let mut x = f64::NAN;
        assert_eq!(fmi3GetFloat64(self.c, &reference, 1, &mut x, 1), Status::Ok, "{:?}", self.said());
        x
    }

    pub fn set(&self, reference: u32, x: f64) -> Status {
        fmi3SetFloat64(self.c, &reference, 1, &x, 1)
    }

    pub fn step(&self, t: f64, by: f64) -> (Status, [bool; 3], f64) {
        let (mut a, mut b, mut c, mut last) = (false, false, false, f64::NAN);
        let status = fmi3DoStep(self.c, t, by, true, &mut a, &mut b, &mut c, &mut last);
        (status, [a, b, c], last)
    }

    /// Bits of all variables.
    pub fn all(&self, unit: &OnDisk) -> Vec<u64> {
        let references: Vec<u32> = (0..unit.unit.variables.len() as u32).collect();
        let mut values = vec![f64::NAN; references.len()];
        assert_eq!(fmi3GetFloat64(self.c, references.as_ptr(), references.len(), values.as_mut_ptr(), values.len()), Status::Ok);
        values.iter().map(|x| x.to_bits()).collect()
    }
}

impl Drop for Importer {
    fn drop(&mut self) {
        fmi3FreeInstance(self.c);
    }
}
