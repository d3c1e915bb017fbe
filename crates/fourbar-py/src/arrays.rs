//! Conversion of matrices and vectors of the engine to and from numpy arrays.

use fourbar::state::Twist;
use nalgebra::{DMatrix, DVector, Vector3};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A matrix from numbers by rows.
pub fn matrix_of(py: Python<'_>, values: Vec<f64>, shape: [usize; 2]) -> PyResult<Bound<'_, PyArray2<f64>>> {
    values.into_pyarray(py).reshape(shape)
}

/// A matrix, by rows.
pub fn matrix<'py>(py: Python<'py>, m: &DMatrix<f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let values = m.row_iter().flat_map(|r| r.iter().copied().collect::<Vec<_>>()).collect();
    matrix_of(py, values, [m.nrows(), m.ncols()])
}

/// A vector.
pub fn vector<'py>(py: Python<'py>, v: &DVector<f64>) -> Bound<'py, PyArray1<f64>> {
    v.as_slice().to_vec().into_pyarray(py)
}

/// Three numbers.
pub fn three<'py>(py: Python<'py>, v: &Vector3<f64>) -> Bound<'py, PyArray1<f64>> {
    vec![v.x, v.y, v.z].into_pyarray(py)
}

/// Six numbers for every moving body: linear, then angular.
pub fn twists<'py>(py: Python<'py>, list: &[Twist]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let values = list.iter().skip(1).flat_map(|x| [x.v.x, x.v.y, x.v.z, x.w.x, x.w.y, x.w.z]).collect();
    matrix_of(py, values, [list.len().saturating_sub(1), 6])
}

/// Finite numbers of an array-like object of a given shape, by rows.
pub fn numbers(what: &str, given: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<Vec<f64>> {
    let numpy = given.py().import("numpy")?;
    let refused = || PyTypeError::new_err(format!("{what} must be an array of numbers of shape {shape:?}"));
    let array = numpy.call_method1("asarray", (given, "float64")).map_err(|_| refused())?;
    let array: PyReadonlyArrayDyn<'_, f64> = array.extract().map_err(|_| refused())?;
    if array.shape() != shape {
        return Err(PyValueError::new_err(format!("{what} has shape {:?}, it must have {shape:?}", array.shape())));
    }
    let values: Vec<f64> = array.as_array().iter().copied().collect();
    match values.iter().position(|x| !x.is_finite()) {
        Some(k) => Err(PyValueError::new_err(format!("{what} contains {}, which is not a finite number", values[k]))),
        None => Ok(values),
    }
}
