//! Results as pages, folders and Arrow streams.

use crate::errors::raised;
use crate::guard::detached;
use crate::model::Core;
use crate::run::Ran;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, Field, Schema};
use fourbar::Diagnostic;
use fourbar::trajectory::Column;
use fourbar_io::page::{Note, RunSummary, Shown, page};
use fourbar_io::results::parquet::write_table;
use fourbar_io::results::{Claim, CsvWriter, ResultFolder, RunFacts, Table, inspect, summary};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Columns of numbers from Python: one row of the array per column.
fn table(names: Vec<String>, units: Vec<String>, values: &PyReadonlyArray2<'_, f64>) -> PyResult<Table> {
    let values = values.as_array();
    if names.len() != values.nrows() || units.len() != names.len() {
        return Err(PyValueError::new_err(format!("{} names, {} units and {} columns", names.len(), units.len(), values.nrows())));
    }
    Ok(Table { names, units, columns: values.rows().into_iter().map(|r| r.to_vec()).collect() })
}

/// A result to show: label; names, units and numbers of its columns; report of the run.
type Given<'py> = (String, Vec<String>, Vec<String>, PyReadonlyArray2<'py, f64>, Option<Py<Ran>>);

#[pymethods]
impl Core {
    /// The page of one or more results; the first is drawn in full, the others are compared with it.
    fn page(&self, py: Python<'_>, results: Vec<Given<'_>>) -> PyResult<String> {
        let mut list = Vec::with_capacity(results.len());
        for (label, names, units, values, ran) in results {
            let mut said = ran.as_ref().and_then(|r| r.get().report.as_ref()).map(RunSummary::from).unwrap_or_default();
            said.notes.splice(0..0, self.loaded.warnings.iter().map(Note::from));
            said.notes.extend(ran.as_ref().and_then(|r| r.get().error.as_ref()).map(Note::from));
            list.push((label, table(names, units, &values)?, said));
        }
        let made = detached(py, || {
            let shown: Vec<Shown<'_>> = list.iter().map(|(label, table, summary)| Shown { label: label.clone(), table, summary }).collect();
            page(&self.model, self.folder(), &shown)
        })?;
        made.map(|p| p.html).map_err(|d| raised(py, &[d], self.name()))
    }

    /// Writes a result folder like the command: rows, summary, mechanism.
    fn save(
        &self,
        py: Python<'_>,
        ran: &Ran,
        names: Vec<String>,
        units: Vec<String>,
        values: PyReadonlyArray2<'_, f64>,
        folder: PathBuf,
        force: bool,
    ) -> PyResult<()> {
        let table = table(names, units, &values)?;
        let columns: Vec<Column> =
            table.names.iter().zip(&table.units).map(|(n, u)| Column { name: n.clone(), unit: u.clone().into() }).collect();
        let warnings = self.loaded.warnings.iter().chain(ran.report.iter().flat_map(|r| &r.warnings));
        let complete = ran.error.is_none() && !ran.interrupted;
        let fields = summary(&RunFacts {
            file: self.name(),
            title: &self.model.title,
            has_events: self.model.has_events(),
            hash: &self.loaded.hash,
            data: &self.loaded.data,
            parameters: &self.loaded.parameters,
            set: self.set(),
            study: &ran.study,
            complete,
            interrupted: ran.interrupted,
            totals: &ran.totals,
            wall_time: ran.wall_time,
            report: ran.report.as_ref(),
            diagnostics: warnings.chain(&ran.error).collect(),
            columns: &columns,
        });
        let claim = Claim {
            file: self.name(),
            hash: &self.loaded.hash,
            text: self.loaded.places.source(),
            model: &self.model,
            data: &self.loaded.data,
            folder: self.folder(),
            page: false,
            force,
        };
        let write = || {
            inspect(&folder, &claim)?;
            let mut out = ResultFolder::open(&folder, &claim)?;
            let mut writer = CsvWriter::create(&out.rows(), &columns, (0..columns.len()).collect())?;
            let mut row = vec![0.0; columns.len()];
            for k in 0..table.rows() {
                row.iter_mut().zip(&table.columns).for_each(|(x, column)| *x = column[k]);
                writer.row(&row)?;
            }
            writer.flush()?;
            out.finish(&fields, complete, false)?;
            Ok::<_, Diagnostic>(())
        };
        detached(py, write)?.map_err(|d| raised(py, &[d], self.name()))
    }
}

/// A Parquet file of columns of numbers; units are in its metadata, together with `facts` (a JSON object).
#[pyfunction]
pub fn parquet_file<'py>(
    py: Python<'py>,
    names: Vec<String>,
    units: Vec<String>,
    values: PyReadonlyArray2<'py, f64>,
    facts: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let facts: serde_json::Value = serde_json::from_str(facts).map_err(|e| PyValueError::new_err(e.to_string()))?;
    if !facts.is_object() {
        return Err(PyValueError::new_err("facts are an object of JSON"));
    }
    let table = table(names, units, &values)?;
    let made = detached(py, || write_table(&table, facts))?;
    made.map(|bytes| PyBytes::new(py, &bytes)).map_err(|d| raised(py, &[d], ""))
}

/// An Arrow stream with one batch; units are in the metadata of the fields.
#[pyfunction]
pub fn arrow_stream<'py>(
    py: Python<'py>,
    names: Vec<String>,
    units: Vec<String>,
    values: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let Table { names, units, columns } = table(names, units, &values)?;
    let field = |(name, unit): (String, String)| {
        Field::new(name, DataType::Float64, false).with_metadata(HashMap::from([("unit".to_string(), unit)]))
    };
    let schema = Arc::new(Schema::new(names.into_iter().zip(units).map(field).collect::<Vec<_>>()));
    let columns: Vec<ArrayRef> = columns.into_iter().map(|c| Arc::new(Float64Array::from(c)) as ArrayRef).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}
