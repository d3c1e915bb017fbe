//! The functions of FMI 3.0. The standard hands over bare pointers, so this file alone may follow them: every pointer is the one that
//! `fmi3InstantiateCoSimulation` or `fmi3GetFMUState` gave, or an array of the length beside it, as the standard promises.
#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use crate::unit::Unit;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

const OK: i32 = 0;
const ERROR: i32 = 3;

type Log = unsafe extern "C" fn(*mut c_void, i32, *const c_char, *const c_char);

/// What an importer holds: the unit, and how to speak to it.
struct Instance {
    unit: Unit,
    environment: *mut c_void,
    log: Option<Log>,
}

impl Instance {
    fn say(&self, message: &str) {
        if let (Some(log), Ok(text)) = (self.log, CString::new(message.replace('\0', " "))) {
            // SAFETY: the importer gave the function and its environment together.
            unsafe { log(self.environment, ERROR, c"logStatusError".as_ptr(), text.as_ptr()) };
        }
    }
}

/// Does something with the instance behind a pointer; what goes wrong is logged, and nothing unwinds into C.
fn with(p: *mut c_void, f: impl FnOnce(&mut Unit) -> Result<(), String>) -> i32 {
    // SAFETY: the importer hands back what it was given, and one thread at a time.
    let Some(instance) = (unsafe { p.cast::<Instance>().as_mut() }) else { return ERROR };
    let done = catch_unwind(AssertUnwindSafe(|| f(&mut instance.unit))).unwrap_or_else(|_| Err("the mechanism failed unexpectedly".into()));
    match done {
        Ok(()) => OK,
        Err(message) => {
            instance.say(&message);
            ERROR
        }
    }
}

/// The elements of an array of the importer.
unsafe fn slice<'a, T>(p: *const T, n: usize) -> &'a [T] {
    // SAFETY: the importer promises `n` elements; none where there is no array.
    if p.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(p, n) } }
}

/// The same to be written.
unsafe fn slice_mut<'a, T>(p: *mut T, n: usize) -> &'a mut [T] {
    // SAFETY: as above.
    if p.is_null() { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(p, n) } }
}

/// Version of the standard.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

/// Reads the mechanism of the unit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    _name: *const c_char,
    _token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    _logging: bool,
    _events: bool,
    _early_return: bool,
    _variables: *const u32,
    _count: usize,
    environment: *mut c_void,
    log: Option<Log>,
    _update: *const c_void,
) -> *mut c_void {
    if resources.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: a text that ends with zero, as the standard says.
    let folder = unsafe { CStr::from_ptr(resources) }.to_string_lossy().into_owned();
    let path = std::path::Path::new(folder.strip_prefix("file://").unwrap_or(&folder)).join("model.yaml");
    let made = catch_unwind(|| std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display())).and_then(Unit::new));
    match made.unwrap_or_else(|_| Err("the mechanism cannot be read".into())) {
        Ok(unit) => Box::into_raw(Box::new(Instance { unit, environment, log })).cast(),
        Err(message) => {
            if let (Some(log), Ok(text)) = (log, CString::new(message)) {
                // SAFETY: the importer gave the function and its environment together.
                unsafe { log(environment, ERROR, c"logStatusError".as_ptr(), text.as_ptr()) };
            }
            std::ptr::null_mut()
        }
    }
}

/// Lets a unit go.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeInstance(p: *mut c_void) {
    if !p.is_null() {
        // SAFETY: made by `Box::into_raw` above, freed once.
        drop(unsafe { Box::from_raw(p.cast::<Instance>()) });
    }
}

/// The run starts at time zero: drives and forces are functions of it.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3EnterInitializationMode(p: *mut c_void, _given: bool, _tolerance: f64, start: f64, _ends: bool, _stop: f64) -> i32 {
    with(p, |_| if start == 0.0 { Ok(()) } else { Err(format!("mechanisms start at time 0, not {start}")) })
}

/// Assembles the mechanism.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3ExitInitializationMode(p: *mut c_void) -> i32 {
    with(p, Unit::start)
}

/// Back to the state before the start.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3Reset(p: *mut c_void) -> i32 {
    with(p, |u| {
        u.reset();
        Ok(())
    })
}

/// Moves on by one step of communication.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DoStep(
    p: *mut c_void,
    t: f64,
    h: f64,
    _no_back: bool,
    event: *mut bool,
    end: *mut bool,
    early: *mut bool,
    last: *mut f64,
) -> i32 {
    let done = with(p, |u| {
        if (t - u.t()).abs() > 1e-9 * (1.0 + t.abs()) {
            return Err(format!("the step begins at {t}, but the unit stands at {}", u.t()));
        }
        u.step(t + h)
    });
    // SAFETY: places for the answers, as the standard says.
    for flag in [event, end, early] {
        if let Some(flag) = unsafe { flag.as_mut() } {
            *flag = false;
        }
    }
    if let Some(last) = unsafe { last.as_mut() } {
        *last = if done == OK { t + h } else { t };
    }
    done
}

/// Values of variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFloat64(p: *mut c_void, references: *const u32, n: usize, values: *mut f64, m: usize) -> i32 {
    // SAFETY: arrays of the lengths given.
    let (references, values) = unsafe { (slice(references, n), slice_mut(values, m)) };
    with(p, |u| {
        for (k, value) in references.iter().zip(values) {
            *value = u.get(*k as usize)?;
        }
        Ok(())
    })
}

/// Sets parameters and inputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFloat64(p: *mut c_void, references: *const u32, n: usize, values: *const f64, m: usize) -> i32 {
    // SAFETY: arrays of the lengths given.
    let (references, values) = unsafe { (slice(references, n), slice(values, m)) };
    with(p, |u| references.iter().zip(values).try_for_each(|(k, x)| u.set(*k as usize, *x)))
}

/// Keeps the state of a unit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFMUState(p: *mut c_void, state: *mut *mut c_void) -> i32 {
    with(p, |u| {
        // SAFETY: a place for one pointer, which holds none or one that this function gave.
        let place = unsafe { state.as_mut() }.ok_or("no place for the state")?;
        if !place.is_null() {
            // SAFETY: made below, and replaced here.
            drop(unsafe { Box::from_raw((*place).cast::<String>()) });
        }
        *place = Box::into_raw(Box::new(u.save())).cast();
        Ok(())
    })
}

/// Goes back to a state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFMUState(p: *mut c_void, state: *mut c_void) -> i32 {
    // SAFETY: what `fmi3GetFMUState` gave.
    with(p, |u| u.restore(unsafe { state.cast::<String>().as_ref() }.ok_or("no state")?))
}

/// Lets a state go.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeFMUState(_p: *mut c_void, state: *mut *mut c_void) -> i32 {
    // SAFETY: as above; the place is emptied.
    if let Some(place) = unsafe { state.as_mut() }
        && !place.is_null()
    {
        drop(unsafe { Box::from_raw((*place).cast::<String>()) });
        *place = std::ptr::null_mut();
    }
    OK
}

/// Bytes of a state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializedFMUStateSize(p: *mut c_void, state: *mut c_void, size: *mut usize) -> i32 {
    with(p, |_| {
        // SAFETY: as above.
        let (state, size) = unsafe { (state.cast::<String>().as_ref(), size.as_mut()) };
        *size.ok_or("no place for the size")? = state.ok_or("no state")?.len();
        Ok(())
    })
}

/// A state as bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializeFMUState(p: *mut c_void, state: *mut c_void, bytes: *mut u8, size: usize) -> i32 {
    with(p, |_| {
        // SAFETY: as above.
        let (state, bytes) = unsafe { (state.cast::<String>().as_ref(), slice_mut(bytes, size)) };
        let state = state.ok_or("no state")?.as_bytes();
        bytes.get_mut(..state.len()).ok_or("too few bytes for the state")?.copy_from_slice(state);
        Ok(())
    })
}

/// A state from bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DeserializeFMUState(p: *mut c_void, bytes: *const u8, size: usize, state: *mut *mut c_void) -> i32 {
    with(p, |_| {
        // SAFETY: as above.
        let (bytes, place) = unsafe { (slice(bytes, size), state.as_mut()) };
        let text = String::from_utf8(bytes.to_vec()).map_err(|_| "the bytes are no state")?;
        *place.ok_or("no place for the state")? = Box::into_raw(Box::new(text)).cast();
        Ok(())
    })
}

/// What a unit of co-simulation may be asked for and need not do.
macro_rules! accepted { ($($name:ident),* $(,)?) => { $(
    #[doc = "Nothing to do here."]
    #[unsafe(no_mangle)]
    pub extern "C" fn $name() -> i32 { OK }
)* } }
/// What this unit has not.
macro_rules! refused { ($($name:ident),* $(,)?) => { $(
    #[doc = "This unit has none."]
    #[unsafe(no_mangle)]
    pub extern "C" fn $name() -> i32 { ERROR }
)* } }
macro_rules! no_instance { ($($name:ident),* $(,)?) => { $(
    #[doc = "This unit is for co-simulation."]
    #[unsafe(no_mangle)]
    pub extern "C" fn $name() -> *mut c_void { std::ptr::null_mut() }
)* } }

accepted!(fmi3SetDebugLogging, fmi3Terminate, fmi3EnterConfigurationMode, fmi3ExitConfigurationMode, fmi3EnterStepMode, fmi3EnterEventMode,);
refused!(
    fmi3ActivateModelPartition,
    fmi3CompletedIntegratorStep,
    fmi3EnterContinuousTimeMode,
    fmi3EvaluateDiscreteStates,
    fmi3GetAdjointDerivative,
    fmi3GetBinary,
    fmi3GetBoolean,
    fmi3GetClock,
    fmi3GetContinuousStateDerivatives,
    fmi3GetContinuousStates,
    fmi3GetDirectionalDerivative,
    fmi3GetEventIndicators,
    fmi3GetFloat32,
    fmi3GetInt16,
    fmi3GetInt32,
    fmi3GetInt64,
    fmi3GetInt8,
    fmi3GetIntervalDecimal,
    fmi3GetIntervalFraction,
    fmi3GetNominalsOfContinuousStates,
    fmi3GetNumberOfContinuousStates,
    fmi3GetNumberOfEventIndicators,
    fmi3GetNumberOfVariableDependencies,
    fmi3GetOutputDerivatives,
    fmi3GetShiftDecimal,
    fmi3GetShiftFraction,
    fmi3GetString,
    fmi3GetUInt16,
    fmi3GetUInt32,
    fmi3GetUInt64,
    fmi3GetUInt8,
    fmi3GetVariableDependencies,
    fmi3SetBinary,
    fmi3SetBoolean,
    fmi3SetClock,
    fmi3SetContinuousStates,
    fmi3SetFloat32,
    fmi3SetInt16,
    fmi3SetInt32,
    fmi3SetInt64,
    fmi3SetInt8,
    fmi3SetIntervalDecimal,
    fmi3SetIntervalFraction,
    fmi3SetShiftDecimal,
    fmi3SetShiftFraction,
    fmi3SetString,
    fmi3SetTime,
    fmi3SetUInt16,
    fmi3SetUInt32,
    fmi3SetUInt64,
    fmi3SetUInt8,
    fmi3UpdateDiscreteStates,
);
no_instance!(fmi3InstantiateModelExchange, fmi3InstantiateScheduledExecution);
