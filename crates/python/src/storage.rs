//! Files and folders in the making, and folders for a while, for Python.

use crate::border::call;
use pyo3::prelude::*;
use std::path::PathBuf;
use wayword::storage;

/// A file in the making: Python writes to `temporary` and calls `finish`, or drops it.
#[pyclass(module = "wayword._core")]
pub struct NewFile {
    inner: Option<storage::NewFile>,
    #[pyo3(get)]
    temporary: Option<PathBuf>,
}

#[pymethods]
impl NewFile {
    /// Begins a file. `temporary` is None when there is a device or pipe, to be opened as it is.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        call(py, || {
            if !storage::replaces(&path)? {
                return Ok(NewFile { inner: None, temporary: None });
            }
            let inner = storage::NewFile::create(&path)?;
            let temporary = inner.temporary().map(PathBuf::from);
            Ok(NewFile { inner: Some(inner), temporary })
        })
    }

    /// Brings all bytes to the disk and gives the file its name.
    fn finish(&mut self, py: Python<'_>) -> PyResult<()> {
        call(py, || self.inner.take().map_or(Ok(()), storage::NewFile::finish))
    }

    /// Removes what was written.
    fn discard(&mut self) {
        self.inner = None;
    }
}

/// A folder in the making: Python fills `temporary` and calls `finish`, or drops it.
#[pyclass(module = "wayword._core")]
pub struct NewFolder {
    inner: Option<storage::NewFolder>,
    #[pyo3(get)]
    temporary: PathBuf,
}

#[pymethods]
impl NewFolder {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let inner = call(py, || storage::NewFolder::create(&path))?;
        Ok(NewFolder { temporary: inner.temporary().into(), inner: Some(inner) })
    }

    /// Gives the folder its name.
    fn finish(&mut self, py: Python<'_>) -> PyResult<()> {
        call(py, || self.inner.take().map_or(Ok(()), storage::NewFolder::finish))
    }

    /// Removes it.
    fn discard(&mut self) {
        self.inner = None;
    }
}

/// A folder that goes when it is removed, or with the next one when the process was killed.
#[pyclass(module = "wayword._core")]
pub struct TempFolder {
    inner: Option<std::sync::Arc<storage::TempFolder>>,
    #[pyo3(get)]
    path: PathBuf,
}

#[pymethods]
impl TempFolder {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        let folder = storage::TempFolder::new(None);
        let path = call(py, || folder.path())?;
        Ok(TempFolder { inner: Some(folder), path })
    }

    /// Removes it with all that is in it.
    fn remove(&mut self) {
        self.inner = None;
    }
}
