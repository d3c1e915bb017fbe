//! Cases of a sweep: in this process on all cores, or in parts by an external executor.

use crate::cases::CaseTable;
use crate::errors::raised;
use crate::guard::{Flag, detached, stoppable};
use crate::model::Core;
use crate::verbs::{handed, words_about};
use fourbar::{Diagnostic, Trajectory};
use fourbar_cli::design::sweep::{Cases as Ready, Refused};
use fourbar_cli::hand::Handed;
use fourbar_io::results::{CaseRow, Shard, SweepFolder, part_of};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// A sweep that is ready to run.
#[pyclass(frozen, module = "fourbar._fourbar")]
pub struct Cases {
    ready: Arc<Ready>,
    /// Flag that ends the computation.
    flag: Flag,
    /// Only one thread at a time may run the sweep.
    busy: Mutex<()>,
    name: String,
    /// Keeps the mechanism registered as long as the sweep exists.
    _handed: Handed,
}

/// A computed case, with its trajectory as a file if it is kept.
type Computed = (CaseRow, Option<Vec<u8>>);
/// Rows as a Parquet file, and the kept trajectories as Parquet files by case.
type Part<'py> = (Bound<'py, PyBytes>, Vec<(usize, Bound<'py, PyBytes>)>);

#[pymethods]
impl Core {
    /// The sweep of a command line without verb and mechanism.
    fn cases(&self, py: Python<'_>, rest: Vec<String>) -> PyResult<Cases> {
        let (handed, flag) = (handed(self), Flag::new());
        let (words, stop) = (words_about(self, &handed, "sweep", rest), flag.0);
        match detached(py, || Ready::of(&words, stop))? {
            Ok(ready) => Ok(Cases { ready: Arc::new(ready), flag, busy: Mutex::new(()), name: self.name().into(), _handed: handed }),
            Err(Refused::Usage(text)) => Err(PyValueError::new_err(text)),
            Err(Refused::Told(list, name)) => Err(raised(py, &list, &name)),
        }
    }
}

impl Cases {
    fn claim(&self) -> PyResult<MutexGuard<'_, ()>> {
        match self.busy.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(e)) => Ok(e.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err("the sweep is being run by another thread")),
        }
    }

    /// Runs a computation with Ctrl-C handled; `progress` is called with the finished and total numbers.
    fn listened<T: Send + 'static>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&AtomicUsize) -> Result<T, Diagnostic> + Send + 'static,
        all: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<T> {
        let _busy = self.claim()?;
        let count = Arc::new(AtomicUsize::new(0));
        let done = Arc::clone(&count);
        let mut told = |py: Python<'_>| {
            let now = count.load(Ordering::Relaxed) as f64;
            progress.as_ref().map_or(Ok(()), |f| f.call1(py, (now, all as f64)).map(|_| ()))
        };
        let value = stoppable(py, &self.flag, move || run(&done), &mut told)?;
        value.map_err(|d| raised(py, &[d], &self.name))
    }

    fn computed(&self, py: Python<'_>, numbers: Vec<usize>, threads: usize, progress: Option<Py<PyAny>>) -> PyResult<Vec<Computed>> {
        let ready = Arc::clone(&self.ready);
        if let Some(k) = numbers.iter().find(|k| **k >= ready.plan.len()) {
            return Err(PyValueError::new_err(format!("there is no case {k}: the sweep has {}", ready.plan.len())));
        }
        let all = numbers.len();
        let run = move |count: &AtomicUsize| {
            let (mut list, mut problem) = (Vec::with_capacity(numbers.len()), None);
            let keep = |case: usize, rows: Trajectory| match ready.described.trajectories {
                Some(_) => ready.trajectory(case, &rows, true).map(Some),
                None => Ok(None),
            };
            ready.run(&numbers, threads, keep, |row, kept| {
                count.fetch_add(1, Ordering::Relaxed);
                kept.map(|kept| list.push((row, kept))).map_err(|d| problem = Some(d)).is_ok()
            });
            list.sort_by_key(|(row, _)| row.case);
            problem.map_or(Ok(list), Err)
        };
        self.listened(py, run, all, progress)
    }
}

#[pymethods]
impl Cases {
    fn __len__(&self) -> usize {
        self.ready.plan.len()
    }

    /// SHA-256 of everything that determines the rows.
    #[getter]
    fn hash(&self) -> String {
        self.ready.described.hash()
    }

    /// Values of the varied parameters of a case, SI.
    fn values(&self, number: usize) -> PyResult<Vec<f64>> {
        if number < self.ready.plan.len() { Ok(self.ready.plan.case(number)) } else { Err(PyValueError::new_err("there is no such case")) }
    }

    /// The rows of some cases.
    #[pyo3(signature = (numbers, threads, progress=None))]
    fn rows(&self, py: Python<'_>, numbers: Vec<usize>, threads: usize, progress: Option<Py<PyAny>>) -> PyResult<CaseTable> {
        let rows = self.computed(py, numbers, threads, progress)?.into_iter().map(|(row, _)| row).collect();
        Ok(CaseTable::new(&self.ready.described, &self.ready.schema, rows))
    }

    /// For a sweep in batches: number of cases of this process that ran alone, the most frequent reason, and the first of these cases.
    fn alone(&self) -> Option<(usize, String, usize)> {
        self.ready.alone()
    }

    /// The rows of some cases as a Parquet file, for storage elsewhere.
    fn part<'py>(&self, py: Python<'py>, numbers: Vec<usize>, threads: usize) -> PyResult<Part<'py>> {
        let (rows, kept): (Vec<CaseRow>, Vec<Option<Vec<u8>>>) = self.computed(py, numbers, threads, None)?.into_iter().unzip();
        let bytes = part_of(&self.ready.described, &self.ready.schema, &rows).map_err(|d| raised(py, &[d], &self.name))?;
        let kept = rows.iter().zip(kept).filter_map(|(row, kept)| Some((row.case, PyBytes::new(py, &kept?)))).collect();
        Ok((PyBytes::new(py, &bytes), kept))
    }

    /// Runs all cases that are missing in a folder, each row on disk before the next one. Returns their number.
    #[pyo3(signature = (folder, threads, progress=None))]
    fn fill(&self, py: Python<'_>, folder: &Folder, threads: usize, progress: Option<Py<PyAny>>) -> PyResult<usize> {
        let (ready, held) = (Arc::clone(&self.ready), Arc::clone(&folder.held));
        let all = folder.lock().missing(&ready.plan).len();
        let run = move |count: &AtomicUsize| {
            let mut folder = held.lock().unwrap_or_else(PoisonError::into_inner);
            ready.fill(&mut folder, threads, |_| {
                count.fetch_add(1, Ordering::Relaxed);
                true
            })
        };
        self.listened(py, run, all, progress)
    }

    /// Opens the folder of the sweep, either new or with the same plan.
    fn open(&self, py: Python<'_>, path: PathBuf, resume: bool, force: bool) -> PyResult<Folder> {
        let ready = Arc::clone(&self.ready);
        let how = [resume, force, true];
        let open = || SweepFolder::open(&path, ready.described.clone(), &ready.schema, Shard::WHOLE, how);
        let folder = detached(py, open)?.map_err(|d| raised(py, &[d], &self.name))?;
        Ok(Folder { held: Arc::new(Mutex::new(folder)), ready })
    }

    /// A table of rows from parts.
    fn table(&self, py: Python<'_>, parts: Vec<Vec<u8>>) -> PyResult<CaseTable> {
        let mut rows = Vec::new();
        for bytes in parts {
            let part = fourbar_io::results::rows_of_part(bytes, &self.ready.described, "a part");
            rows.extend(part.map_err(|d| raised(py, &[d], &self.name))?);
        }
        rows.sort_by_key(|r| r.case);
        rows.dedup_by_key(|r| r.case);
        Ok(CaseTable::new(&self.ready.described, &self.ready.schema, rows))
    }
}

/// The folder of a sweep.
#[pyclass(frozen, module = "fourbar._fourbar")]
pub struct Folder {
    held: Arc<Mutex<SweepFolder>>,
    ready: Arc<Ready>,
}

impl Folder {
    fn lock(&self) -> MutexGuard<'_, SweepFolder> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Folder {
    /// Case numbers that have no row yet.
    fn missing(&self) -> Vec<usize> {
        self.lock().missing(&self.ready.plan)
    }

    /// Adds a part computed elsewhere, with the trajectories of its cases, which is on disk when this returns. Returns the number of rows.
    fn add(&self, py: Python<'_>, part: Vec<u8>, trajectories: Vec<(usize, Vec<u8>)>) -> PyResult<usize> {
        let done = detached(py, || {
            let mut folder = self.lock();
            let place = folder.trajectories();
            trajectories.iter().try_for_each(|(case, bytes)| place.write(*case, bytes))?;
            folder.add_part(part)
        })?;
        done.map_err(|d| raised(py, &[d], ""))
    }

    /// Releases the folder, so that others can write to it.
    fn close(&self) {
        self.lock().release();
    }

    /// Writes the finished table; returns its path.
    fn finish(&self, py: Python<'_>) -> PyResult<PathBuf> {
        detached(py, || self.lock().finish(&self.ready.plan))?.map_err(|d| raised(py, &[d], ""))
    }

    /// The rows so far.
    fn table(&self) -> CaseTable {
        let rows = self.lock().rows().values().cloned().collect();
        CaseTable::new(&self.ready.described, &self.ready.schema, rows)
    }
}
