//! Rows of a sweep as numpy columns, as an Arrow stream and as Parquet.

use crate::errors::raised;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::{DataType, Field, Schema};
use fourbar_io::results::{CaseRow, SweepPlan, case_columns, parquet::Cells, part_of, rows_of_part};
use numpy::IntoPyArray;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList, PyTuple};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows of a sweep, in the order of their cases.
#[pyclass(frozen, module = "fourbar._fourbar")]
pub struct CaseTable {
    plan: SweepPlan,
    schema: Value,
    rows: Vec<CaseRow>,
}

impl CaseTable {
    /// Rows of a plan.
    pub fn new(plan: &SweepPlan, schema: &Value, rows: Vec<CaseRow>) -> Self {
        Self { plan: plan.clone(), schema: schema.clone(), rows }
    }
}

fn bad(e: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("this is not a stored sweep: {e}"))
}

#[pymethods]
impl CaseTable {
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// Names of the columns.
    fn names(&self) -> Vec<String> {
        self.plan.header()
    }

    /// Description of the columns, as JSON.
    fn schema(&self) -> String {
        self.schema.to_string()
    }

    /// A column: an array, or a list of texts.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let columns = case_columns(&self.plan, self.rows.iter());
        let c = columns.into_iter().find(|c| c.name == name).ok_or_else(|| PyKeyError::new_err(name.to_string()))?;
        Ok(match c.cells {
            Cells::Integers(x) => x.into_pyarray(py).into_any(),
            Cells::Numbers(x) => x.into_pyarray(py).into_any(),
            Cells::Texts(x) => PyList::new(py, x)?.into_any(),
        })
    }

    /// An Arrow stream with one batch; units and meanings are in the metadata of the fields.
    fn arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
        let described = self.schema["columns"].as_array().cloned().unwrap_or_default();
        for c in case_columns(&self.plan, self.rows.iter()) {
            let (kind, array): (DataType, ArrayRef) = match c.cells {
                Cells::Integers(x) => (DataType::Int64, Arc::new(Int64Array::from(x))),
                Cells::Numbers(x) => {
                    let there = |x: f64| if x.is_nan() { None } else { Some(x) };
                    (DataType::Float64, Arc::new(x.into_iter().map(there).collect::<Float64Array>()))
                }
                Cells::Texts(x) => {
                    let there = |x: String| if x.is_empty() { None } else { Some(x) };
                    (DataType::Utf8, Arc::new(x.into_iter().map(there).collect::<StringArray>()))
                }
            };
            let own = described.iter().find(|d| d["name"] == c.name.as_str());
            let word = |key: &str| own.and_then(|d| d[key].as_str()).unwrap_or_default().to_string();
            let metadata = HashMap::from([("unit".to_string(), word("unit")), ("about".to_string(), word("about"))]);
            let optional = kind != DataType::Int64;
            fields.push(Field::new(c.name, kind, optional).with_metadata(metadata));
            arrays.push(array);
        }
        let metadata = HashMap::from([("fourbar".to_string(), self.schema.to_string())]);
        let schema = Arc::new(Schema::new(fields).with_metadata(metadata));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(bad)?;
        let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// A Parquet file.
    fn parquet<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = part_of(&self.plan, &self.schema, &self.rows).map_err(|d| raised(py, &[d], ""))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Restores the rows from a Parquet file with its plan and schema.
    #[staticmethod]
    fn restored(py: Python<'_>, plan: &str, schema: &str, bytes: Vec<u8>) -> PyResult<Self> {
        let plan: SweepPlan = serde_json::from_str(plan).map_err(bad)?;
        let schema: Value = serde_json::from_str(schema).map_err(bad)?;
        let rows = rows_of_part(bytes, &plan, "what was stored").map_err(|d| raised(py, &[d], ""))?;
        Ok(Self { plan, schema, rows })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, own) = (slf.py(), slf.get());
        let parts = (json!(own.plan).to_string(), own.schema.to_string(), own.parquet(py)?);
        Ok((py.get_type::<Self>().getattr("restored")?, parts.into_pyobject(py)?))
    }
}
