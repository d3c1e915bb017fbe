//! Pages of the diagnostic codes of tables, functions and outputs.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "M620",
        "A table with too few points",
        "A table is the cubic spline through its points. It needs at least three points, or four with `ends: periodic`, where the last point repeats the first.\n\n    tables:\n      lift: {ends: periodic, points: [[0, 0], [1, 5], [2, 2], [3, 0]]}",
    ),
    page(
        "M621",
        "The x values of a table do not increase",
        "The points of a table are sorted by x, and every x occurs only once: otherwise its value is ambiguous. The message names the first point whose x is not larger than the previous one, with its line if the points come from a file. Sort the lines of the file, and remove repeated ones.",
    ),
    page(
        "M622",
        "A table contains a value that is not a finite number",
        "A line of a table file, or a point of its list, contains something other than finite numbers, has fewer columns than required, or the points are so far apart that the spline has no finite coefficients. Decimals are written with a point. Lines that start with `#` and empty lines are ignored; the first line may contain headings.",
    ),
    page(
        "M623",
        "A periodic table that is not closed",
        "With `ends: periodic` the last point is the first one, one period later, so its value must be the same.\n\n    lift: {ends: periodic, points: [[0, 0], [90 deg, 8 mm], [180 deg, 3 mm], [360 deg, 0]]}\n\nCorrect a value that differs only in its last digits; if it differs more, choose other `ends`.",
    ),
    page(
        "M624",
        "A table with a name that is already used",
        "A table is called as a function, `lift(x)`, so it may not have the name of a built-in function (`sin`, `max`, `if`) or of a parameter. Choose another name.",
    ),
    page(
        "M625",
        "The file of a table cannot be read",
        "The file is not text, is larger than 64 MB, or the mechanism was read from standard input and has no folder in which to find the file. A table is a text file with one point per line in the folder of the mechanism, or `points: [[x, y], ...]` in the mechanism file.",
    ),
    page(
        "M626",
        "A function with a name that is already used",
        "Functions, parameters and tables are used by their names in expressions, so no two of them may share one. Choose another name for the function.",
    ),
    page(
        "M627",
        "Circular definition of functions",
        "A function may use others, in any order, but not itself, directly or through others.\n\n    functions: {a: 2*b, b: a + t}      # a -> b -> a\n\nThe message prints the cycle. Define one of its functions without the others.",
    ),
    page(
        "S620",
        "A table is read beyond its points",
        "The table has `outside: error`, and at the time in the message it is evaluated outside its points. The rows before are valid. Give the table more points, or define its continuation: `outside: linear` continues along the last tangent, `outside: hold` with the last value. This is checked once per output row.",
    ),
    page(
        "W620",
        "A table rounded too coarsely",
        "The points of the table are so close together that the rounding of their digits distorts the curve: second derivatives, and therefore accelerations and forces, show the rounding. More points make it worse: with four digits the second derivative of a smooth rise is best with about 20 points and useless with 80. Write more digits, or keep every second or fourth point.",
    ),
    page(
        "W621",
        "A table is read beyond its points without `outside`",
        "Beyond its first and last point a table continues along its tangent, or, with `ends: flat`, with its last value. This is rarely intended. Give it more points, make it periodic (`ends: periodic`), or state the continuation: `outside: linear`, `outside: hold`, or `outside: error` to stop there.",
    ),
];
