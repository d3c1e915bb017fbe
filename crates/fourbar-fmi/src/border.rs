//! The functions of FMI 3.0, as the standard names them, around an [`Instance`].
//!
//! All arguments are checked here: null pointers and wrong lengths are errors, and a panic ends the instance with the status "fatal"
//! instead of unwinding into the importer. Functions that the unit does not offer return an error with a message.
#![allow(non_snake_case, reason = "the standard names the functions")]
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "importers call these functions from C, where nothing is marked as unsafe")]
#![allow(unsafe_code, reason = "the standard is an interface in C: pointers of the importer are read and written here and nowhere else")]

mod absent;

use crate::description::CATEGORIES;
use crate::instance::{Instance, Level, Refused};
use crate::saved::Saved;
use crate::unit::Unit;
use fourbar::diagnostic::Diagnostic;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Result of a call: `fmi3Status` of the standard.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Successful.
    Ok = 0,
    /// Successful, with a warning.
    Warning = 1,
    /// No effect.
    Discard = 2,
    /// The instance must be reset or ended.
    Error = 3,
    /// The instance can no longer be used.
    Fatal = 4,
}

/// `fmi3LogMessageCallback`: environment, status, category, message.
pub type LogMessage = Option<unsafe extern "C" fn(*mut c_void, Status, *const c_char, *const c_char)>;

/// The object behind a pointer of the importer.
pub struct Component {
    instance: Instance,
    log: LogMessage,
    environment: *mut c_void,
    logging: bool,
    /// Categories to be reported; all if empty.
    categories: Vec<String>,
    events: bool,
    broken: bool,
}

impl Component {
    fn send(&self, status: Status, category: &str, text: &str) {
        let Some(log) = self.log else { return };
        // Zeros inside the text would end it early.
        let c = |s: &str| CString::new(s.replace('\0', " ")).unwrap_or_default();
        let (category, text) = (c(category), c(text));
        // SAFETY: the importer provided the function for these arguments; both texts live until it returns.
        unsafe { log(self.environment, status, category.as_ptr(), text.as_ptr()) };
    }

    fn wanted(&self, category: &str) -> bool {
        self.logging && (self.categories.is_empty() || self.categories.iter().any(|c| c == category || c == "logAll"))
    }

    fn tell(&mut self) {
        for m in self.instance.messages() {
            let (status, category) = match m.level {
                Level::Event => (Status::Ok, "logEvents"),
                Level::Warning => (Status::Warning, "logStatusWarning"),
                Level::Discard => (Status::Discard, "logStatusDiscard"),
                Level::Error => (Status::Error, "logStatusError"),
            };
            // Errors are always reported, as they give the reason for the end of a simulation.
            if m.level == Level::Error || m.level == Level::Discard || self.wanted(category) {
                self.send(status, category, &m.text);
            }
        }
    }

    fn run(&mut self, f: impl FnOnce(&mut Self) -> Result<(), Refused>) -> Status {
        if self.broken {
            return Status::Fatal;
        }
        let status = match catch_unwind(AssertUnwindSafe(|| f(self))) {
            Ok(Ok(())) => Status::Ok,
            Ok(Err(Refused::Discard(d))) => {
                self.instance.tell(Level::Discard, d.to_string());
                Status::Discard
            }
            Ok(Err(Refused::Error(d))) => {
                self.instance.tell(Level::Error, d.to_string());
                self.instance.give_up();
                Status::Error
            }
            Err(_) => {
                self.broken = true;
                self.send(Status::Fatal, "logStatusError", "the engine failed unexpectedly; please report the model");
                return Status::Fatal;
            }
        };
        self.tell();
        status
    }
}

/// Calls a function with the instance.
fn with(component: *mut Component, f: impl FnOnce(&mut Component) -> Result<(), Refused>) -> Status {
    // SAFETY: the importer passes the pointer from `fmi3InstantiateCoSimulation`, from one thread at a time.
    match unsafe { component.as_mut() } {
        Some(c) => c.run(f),
        None => Status::Error,
    }
}

fn bad(what: &str) -> Refused {
    Refused::Error(Diagnostic::new("U508", format!("a call of the importer is not possible: {what}")))
}

/// The elements of an array of the importer.
fn list<'a, T>(first: *const T, n: usize) -> Result<&'a [T], Refused> {
    match (first.is_null(), n) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(bad("a list is missing")),
        // SAFETY: the importer guarantees this number of elements for the duration of the call.
        _ => Ok(unsafe { std::slice::from_raw_parts(first, n) }),
    }
}

/// The same for writing.
fn list_mut<'a, T>(first: *mut T, n: usize) -> Result<&'a mut [T], Refused> {
    match (first.is_null(), n) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(bad("a list is missing")),
        // SAFETY: the importer guarantees that this number of elements may be written there without other access.
        _ => Ok(unsafe { std::slice::from_raw_parts_mut(first, n) }),
    }
}

/// Writes a result to a location of the importer; a null pointer means that it is not requested.
fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: the importer provided a location for one value.
        unsafe { to.write(value) };
    }
}

fn text(from: *const c_char) -> Option<String> {
    // SAFETY: the importer provided a zero-terminated text.
    (!from.is_null()).then(|| unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned())
}

/// The version of the standard.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

/// Creates an instance; a null pointer on failure, after the reason was logged.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3InstantiateCoSimulation(
    _name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    logging: bool,
    events: bool,
    _early_return: bool,
    _intermediate: *const u32,
    _intermediate_count: usize,
    environment: *mut c_void,
    log: LogMessage,
    _update: *const c_void,
) -> *mut Component {
    let made = catch_unwind(AssertUnwindSafe(|| {
        let missing = |what: &str| Diagnostic::new("U508", format!("a call of the importer is not possible: {what} is missing"));
        let resources = text(resources).ok_or_else(|| missing("the path of the resources"))?;
        // Some importers pass a file URI.
        let path = resources.strip_prefix("file://").unwrap_or(&resources);
        let unit = Unit::open(Path::new(path))?;
        if text(token).ok_or_else(|| missing("the instantiation token"))? != unit.source.token {
            return Err(Diagnostic::new("U502", "the instantiation token belongs to another unit")
                .help("unpack the unit again: description and resources do not belong together"));
        }
        Ok(unit)
    }));
    let failed = |why: &str| {
        if let (Some(log), Ok(why)) = (log, CString::new(why.replace('\0', " "))) {
            // SAFETY: the importer provided the function for these arguments; both texts live until it returns.
            unsafe { log(environment, Status::Error, c"logStatusError".as_ptr(), why.as_ptr()) };
        }
        std::ptr::null_mut()
    };
    match made {
        Ok(Ok(unit)) => {
            let instance = Instance::new(Arc::new(unit));
            Box::into_raw(Box::new(Component { instance, log, environment, logging, categories: Vec::new(), events, broken: false }))
        }
        Ok(Err(d)) => failed(&d.to_string()),
        Err(_) => failed("the engine failed unexpectedly; please report the model"),
    }
}

/// Frees an instance.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3FreeInstance(component: *mut Component) {
    if !component.is_null() {
        // SAFETY: it comes from `fmi3InstantiateCoSimulation`, and the importer no longer uses it.
        let owned = unsafe { Box::from_raw(component) };
        // A panic must not leave the library.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(owned)));
    }
}

/// Selects the reported categories.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3SetDebugLogging(component: *mut Component, on: bool, n: usize, categories: *const *const c_char) -> Status {
    with(component, |c| {
        let names: Vec<String> = list(categories, n)?.iter().filter_map(|p| text(*p)).collect();
        if let Some(unknown) = names.iter().find(|n| *n != "logAll" && !CATEGORIES.iter().any(|(k, _)| k == n)) {
            return Err(Refused::Discard(Diagnostic::new("U508", format!("there is no category `{unknown}` of messages"))));
        }
        (c.logging, c.categories) = (on, names);
        Ok(())
    })
}

/// Enters the mode for setting start values.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3EnterInitializationMode(
    component: *mut Component,
    tolerance_defined: bool,
    tolerance: f64,
    start: f64,
    _stop_defined: bool,
    _stop: f64,
) -> Status {
    with(component, |c| c.instance.enter_initialization(tolerance_defined.then_some(tolerance), start))
}

/// Assembles the mechanism at its start.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3ExitInitializationMode(component: *mut Component) -> Status {
    with(component, |c| c.instance.exit_initialization(c.events))
}

/// Enters event mode, between steps after an event.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3EnterEventMode(component: *mut Component) -> Status {
    with(component, |c| c.instance.enter_event_mode())
}

/// Updates discrete states; events of the mechanism have already been handled.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3UpdateDiscreteStates(
    component: *mut Component,
    needs_update: *mut bool,
    terminate: *mut bool,
    nominals_changed: *mut bool,
    values_changed: *mut bool,
    next_event_defined: *mut bool,
    next_event: *mut f64,
) -> Status {
    with(component, |c| {
        let ended = c.instance.update_discrete_states()?;
        put(needs_update, false);
        put(terminate, ended);
        put(nominals_changed, false);
        put(values_changed, false);
        put(next_event_defined, false);
        put(next_event, 0.0);
        Ok(())
    })
}

/// Returns to step mode.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3EnterStepMode(component: *mut Component) -> Status {
    with(component, |c| c.instance.enter_step_mode())
}

/// Ends the simulation.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3Terminate(component: *mut Component) -> Status {
    with(component, |c| c.instance.terminate())
}

/// Resets the instance to its initial state.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3Reset(component: *mut Component) -> Status {
    with(component, |c| {
        c.instance.reset();
        Ok(())
    })
}

/// Advances to the next communication point.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3DoStep(
    component: *mut Component,
    t: f64,
    by: f64,
    _no_restore: bool,
    event_handling: *mut bool,
    terminate: *mut bool,
    early_return: *mut bool,
    last: *mut f64,
) -> Status {
    with(component, |c| {
        put(event_handling, false);
        put(terminate, false);
        put(early_return, false);
        put(last, t);
        let s = c.instance.step(t, by)?;
        put(event_handling, s.events && c.events);
        put(terminate, s.terminate);
        put(last, s.t);
        Ok(())
    })
}

/// Reads variables.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetFloat64(component: *mut Component, references: *const u32, n: usize, values: *mut f64, n_values: usize) -> Status {
    with(component, |c| {
        let (references, values) = (list(references, n)?, list_mut(values, n_values)?);
        if n != n_values {
            return Err(bad("the number of values differs from the number of variables"));
        }
        for (r, x) in references.iter().zip(values) {
            *x = c.instance.get(*r)?;
        }
        Ok(())
    })
}

/// Sets variables, up to the first one with an invalid value.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3SetFloat64(
    component: *mut Component,
    references: *const u32,
    n: usize,
    values: *const f64,
    n_values: usize,
) -> Status {
    with(component, |c| {
        let (references, values) = (list(references, n)?, list(values, n_values)?);
        if n != n_values {
            return Err(bad("the number of values differs from the number of variables"));
        }
        references.iter().zip(values).try_for_each(|(r, x)| c.instance.set(*r, *x))
    })
}

/// Saves the state, replacing an older one if there is one.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetFMUState(component: *mut Component, state: *mut *mut Saved) -> Status {
    with(component, |c| {
        if state.is_null() {
            return Err(bad("the pointer to the state is missing"));
        }
        let saved = c.instance.save();
        // SAFETY: the importer provided the location of a pointer, which is null or was returned by this library.
        unsafe {
            match (*state).as_mut() {
                Some(old) => *old = saved,
                None => *state = Box::into_raw(Box::new(saved)),
            }
        }
        Ok(())
    })
}

/// A state passed by the importer.
fn kept<'a>(state: *const Saved) -> Result<&'a Saved, Refused> {
    // SAFETY: it was returned by this library and is not freed yet.
    unsafe { state.as_ref() }.ok_or_else(|| bad("there is no state"))
}

/// Restores a state.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3SetFMUState(component: *mut Component, state: *const Saved) -> Status {
    with(component, |c| c.instance.restore(kept(state)?))
}

/// Frees a state.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3FreeFMUState(component: *mut Component, state: *mut *mut Saved) -> Status {
    with(component, |_| {
        // SAFETY: the importer provided the location of a pointer, which is null or was returned by this library.
        unsafe {
            if let Some(p) = state.as_mut()
                && !p.is_null()
            {
                drop(Box::from_raw(*p));
                *p = std::ptr::null_mut();
            }
        }
        Ok(())
    })
}

/// Size of a serialised state in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3SerializedFMUStateSize(component: *mut Component, state: *const Saved, size: *mut usize) -> Status {
    with(component, |_| {
        put(size, kept(state)?.bytes()?.len());
        Ok(())
    })
}

/// Writes a state as bytes.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3SerializeFMUState(component: *mut Component, state: *const Saved, bytes: *mut u8, size: usize) -> Status {
    with(component, |_| {
        let own = kept(state)?.bytes()?;
        let to = list_mut(bytes, size)?;
        let Some(to) = to.get_mut(..own.len()) else { return Err(bad("the buffer for the state is too small")) };
        to.copy_from_slice(&own);
        Ok(())
    })
}

/// Creates a state from bytes.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3DeserializeFMUState(component: *mut Component, bytes: *const u8, size: usize, state: *mut *mut Saved) -> Status {
    with(component, |_| {
        if state.is_null() {
            return Err(bad("the pointer to the state is missing"));
        }
        let saved = Saved::from_bytes(list(bytes, size)?)?;
        // SAFETY: as in `fmi3GetFMUState`.
        unsafe {
            match (*state).as_mut() {
                Some(old) => *old = saved,
                None => *state = Box::into_raw(Box::new(saved)),
            }
        }
        Ok(())
    })
}
