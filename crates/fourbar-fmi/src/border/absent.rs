//! Functions that the standard requires in every library, for features that the description declares as not offered.

use super::{Component, Refused, Status, bad, with};
use std::ffi::{c_char, c_void};

/// A call that is valid only for zero variables.
fn nothing(component: *mut Component, n: usize, what: &str) -> Status {
    with(component, |_| if n == 0 { Ok(()) } else { Err(Refused::Discard(bad(what).diagnostic().clone())) })
}

fn not_offered(component: *mut Component, what: &str) -> Status {
    with(component, |_| Err(Refused::Discard(bad(what).diagnostic().clone())))
}

macro_rules! types {
    ($($get:ident $set:ident $type:ty),* $(,)?) => {$(
        /// No variable has this type.
        #[unsafe(no_mangle)]
        pub extern "C" fn $get(component: *mut Component, _references: *const u32, n: usize, _values: *mut $type, _n_values: usize) -> Status {
            nothing(component, n, "all variables of the unit are of type Float64")
        }
        /// No variable has this type.
        #[unsafe(no_mangle)]
        pub extern "C" fn $set(component: *mut Component, _references: *const u32, n: usize, _values: *const $type, _n_values: usize) -> Status {
            nothing(component, n, "all variables of the unit are of type Float64")
        }
    )*};
}

types!(
    fmi3GetFloat32 fmi3SetFloat32 f32,
    fmi3GetInt8 fmi3SetInt8 i8,
    fmi3GetUInt8 fmi3SetUInt8 u8,
    fmi3GetInt16 fmi3SetInt16 i16,
    fmi3GetUInt16 fmi3SetUInt16 u16,
    fmi3GetInt32 fmi3SetInt32 i32,
    fmi3GetUInt32 fmi3SetUInt32 u32,
    fmi3GetInt64 fmi3SetInt64 i64,
    fmi3GetUInt64 fmi3SetUInt64 u64,
    fmi3GetBoolean fmi3SetBoolean bool,
    fmi3GetString fmi3SetString *const c_char,
);

macro_rules! absent {
    ($what:literal: $($name:ident ( $($argument:ident : $type:ty),* )),* $(,)?) => {$(
        #[doc = concat!("Not offered: ", $what, ".")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(component: *mut Component $(, $argument: $type)*) -> Status {
            $(let _ = $argument;)*
            not_offered(component, concat!("the unit has no ", $what))
        }
    )*};
}

absent!("binary variables":
    fmi3GetBinary(references: *const u32, n: usize, sizes: *mut usize, values: *mut *const u8, n_values: usize),
    fmi3SetBinary(references: *const u32, n: usize, sizes: *const usize, values: *const *const u8, n_values: usize),
);
absent!("clocks":
    fmi3GetClock(references: *const u32, n: usize, values: *mut bool),
    fmi3SetClock(references: *const u32, n: usize, values: *const bool),
    fmi3GetIntervalDecimal(references: *const u32, n: usize, intervals: *mut f64, qualifiers: *mut i32),
    fmi3GetIntervalFraction(references: *const u32, n: usize, counters: *mut u64, resolutions: *mut u64, qualifiers: *mut i32),
    fmi3GetShiftDecimal(references: *const u32, n: usize, shifts: *mut f64),
    fmi3GetShiftFraction(references: *const u32, n: usize, counters: *mut u64, resolutions: *mut u64),
    fmi3SetIntervalDecimal(references: *const u32, n: usize, intervals: *const f64),
    fmi3SetIntervalFraction(references: *const u32, n: usize, counters: *const u64, resolutions: *const u64),
    fmi3SetShiftDecimal(references: *const u32, n: usize, shifts: *const f64),
    fmi3SetShiftFraction(references: *const u32, n: usize, counters: *const u64, resolutions: *const u64),
    fmi3ActivateModelPartition(clock: u32, t: f64),
);
absent!("partial derivatives":
    fmi3GetDirectionalDerivative(unknowns: *const u32, n_unknowns: usize, knowns: *const u32, n_knowns: usize, seed: *const f64, n_seed: usize, sensitivity: *mut f64, n_sensitivity: usize),
    fmi3GetAdjointDerivative(unknowns: *const u32, n_unknowns: usize, knowns: *const u32, n_knowns: usize, seed: *const f64, n_seed: usize, sensitivity: *mut f64, n_sensitivity: usize),
    fmi3GetOutputDerivatives(references: *const u32, n: usize, orders: *const i32, values: *mut f64, n_values: usize),
    fmi3GetNumberOfVariableDependencies(reference: u32, n: *mut usize),
    fmi3GetVariableDependencies(dependent: u32, elements: *mut usize, independents: *mut u32, independent_elements: *mut usize, kinds: *mut i32, n: usize),
);
absent!("structural parameters":
    fmi3EnterConfigurationMode(),
    fmi3ExitConfigurationMode(),
);
absent!("model exchange":
    fmi3EnterContinuousTimeMode(),
    fmi3CompletedIntegratorStep(no_restore: bool, enter_event_mode: *mut bool, terminate: *mut bool),
    fmi3SetTime(t: f64),
    fmi3SetContinuousStates(states: *const f64, n: usize),
    fmi3GetContinuousStateDerivatives(derivatives: *mut f64, n: usize),
    fmi3GetEventIndicators(indicators: *mut f64, n: usize),
    fmi3GetContinuousStates(states: *mut f64, n: usize),
    fmi3GetNominalsOfContinuousStates(nominals: *mut f64, n: usize),
    fmi3GetNumberOfEventIndicators(n: *mut usize),
    fmi3GetNumberOfContinuousStates(n: *mut usize),
);

/// Nothing to evaluate: the mechanism handles its events inside a step.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3EvaluateDiscreteStates(component: *mut Component) -> Status {
    with(component, |_| Ok(()))
}

/// Not offered: units are for co-simulation.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3InstantiateModelExchange(
    _name: *const c_char,
    _token: *const c_char,
    _resources: *const c_char,
    _visible: bool,
    _logging: bool,
    _environment: *mut c_void,
    _log: super::LogMessage,
) -> *mut Component {
    std::ptr::null_mut()
}

/// Not offered: units are for co-simulation.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3InstantiateScheduledExecution(
    _name: *const c_char,
    _token: *const c_char,
    _resources: *const c_char,
    _visible: bool,
    _logging: bool,
    _environment: *mut c_void,
    _log: super::LogMessage,
    _clock: *const c_void,
    _lock: *const c_void,
    _unlock: *const c_void,
) -> *mut Component {
    std::ptr::null_mut()
}
