//! Pages of functional mock-up units.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U500",
        "The library of units is not there",
        "A functional mock-up unit carries a shared library that simulates its model. `fourbar fmu` looks for it beside the command, in the folder `deps` of a cargo build, and in `../lib`. Where it is elsewhere, or was not built:\n\n  cargo build --release -p fourbar-fmi\n  fourbar fmu my.yaml -o my.fmu --library target/release/libfourbar_fmi.so\n\n`--library` may be given several times, for several platforms.",
    ),
    page(
        "U501",
        "This is not a library that a unit can carry",
        "`--library` takes the shared library of the crate fourbar-fmi for Linux, Windows or macOS. Its platform is known from its first bytes; anything else, or a second library of the same platform, is refused.",
    ),
    page(
        "U502",
        "The resources of a unit cannot be read",
        "The library of a unit reads `resources/fourbar.json` and the model beside it. They are missing, were changed, or were written by another version of the program. Write the unit again with `fourbar fmu`.",
    ),
    page(
        "U503",
        "Parameters make it another mechanism",
        "The variables of a unit are fixed when it is written. With the values that were set the mechanism has other bodies, joints or points. Write a unit of its own with `fourbar fmu my.yaml --set NAME=VALUE`.",
    ),
    page(
        "U504",
        "A function of the unit was called in the wrong order",
        "The standard says in which mode which function may be called: first initialization mode, then steps, then the end. After an error only `fmi3Reset` and `fmi3FreeInstance` lead on. This is a matter of the program that simulates the unit.",
    ),
    page(
        "U505",
        "A step of the unit is not possible",
        "A step begins where the last one ended, or at a state that was restored, and its length is positive. This is a matter of the program that simulates the unit.",
    ),
    page(
        "U506",
        "A variable of the unit cannot be read or set",
        "Outputs are computed. Parameters are set before the motion begins, and so are inputs from which a drive takes its speed; other inputs may change between steps. `modelDescription.xml` in the unit lists all variables.",
    ),
    page(
        "U507",
        "A state of the unit cannot be restored",
        "A state belongs to the unit that kept it: the same model, settings and version. Bytes that were changed or cut are refused.",
    ),
    page(
        "U508",
        "The program that simulates the unit asks for something that is not there",
        "A list or a path is missing, or a function was called that the description of the unit does not offer, such as those of model exchange, clocks and partial derivatives.",
    ),
];
