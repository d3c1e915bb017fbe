//! Pages of functional mock-up units.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U500",
        "The library of units was not found",
        "A functional mock-up unit contains a shared library that simulates its model. `fourbar fmu` searches for it next to the command, in the folder `deps` of a cargo build, and in `../lib`. If it is elsewhere, or was not built:\n\n  cargo build --release -p fourbar-fmi\n  fourbar fmu my.yaml -o my.fmu --library target/release/libfourbar_fmi.so\n\n`--library` may be given several times, for several platforms.",
    ),
    page(
        "U501",
        "Not a library for functional mock-up units",
        "`--library` takes the shared library of the crate fourbar-fmi for Linux, Windows or macOS. Its platform is recognised by its first bytes; any other file, or a second library for the same platform, is rejected.",
    ),
    page(
        "U502",
        "The resources of a unit cannot be read",
        "The library of a unit reads `resources/fourbar.json` and the model in the same folder. They are missing, were changed, or were written by another version of the program. Write the unit again with `fourbar fmu`.",
    ),
    page(
        "U503",
        "Parameters change the structure of the mechanism",
        "The variables of a unit are fixed when it is written. With these parameter values the mechanism has other bodies, joints or points. Write a separate unit with `fourbar fmu my.yaml --set NAME=VALUE`.",
    ),
    page(
        "U504",
        "A function of the unit was called in the wrong order",
        "The standard defines the functions that may be called in each mode: first initialization mode, then steps, then termination. After an error only `fmi3Reset` and `fmi3FreeInstance` are allowed. The error is in the program that simulates the unit.",
    ),
    page(
        "U505",
        "A step of the unit is not possible",
        "A step begins where the last one ended, or at a restored state, and its length is positive. The error is in the program that simulates the unit.",
    ),
    page(
        "U506",
        "A variable of the unit cannot be read or set",
        "Outputs are computed. Parameters, and inputs that define the speed of a drive, are set before the motion begins; other inputs may change between steps. `modelDescription.xml` in the unit lists all variables.",
    ),
    page(
        "U507",
        "A state of the unit cannot be restored",
        "A state can be restored only by a unit with the same model, settings and version. Modified or truncated bytes are rejected.",
    ),
    page(
        "U508",
        "The program that simulates the unit made an unsupported request",
        "A list or a path is missing, or a function was called that the description of the unit does not declare, such as those of model exchange, clocks and partial derivatives.",
    ),
];
