//! Pages of the codes that tables, functions and outputs can give.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "M620",
        "A table with too few points",
        "A table is the cubic spline through its points. It needs three of them, and four with `ends: periodic`, the last being the first one again.\n\n    tables:\n      lift: {ends: periodic, points: [[0, 0], [1, 5], [2, 2], [3, 0]]}",
    ),
    page(
        "M621",
        "A table that does not rise in x",
        "The points of a table are sorted by x, and no x stands there twice: otherwise it is not known which value holds. The message names the first point that is not beyond the one before it, with its line where the points come from a file. Sort the lines of the file, and leave out repeated ones.",
    ),
    page(
        "M622",
        "A table with something that is not a finite number",
        "A line of the file of a table, or a point of its list, holds something other than finite numbers, has fewer columns than asked for, or the points are so far apart that the spline has no finite coefficients. Decimals are written with a point. Lines that start with `#` and empty ones are left out; the first line may hold headings.",
    ),
    page(
        "M623",
        "A table that repeats without being closed",
        "With `ends: periodic` the last point is the first one again, one period later, so its value must be the same.\n\n    lift: {ends: periodic, points: [[0, 0], [90 deg, 8 mm], [180 deg, 3 mm], [360 deg, 0]]}\n\nA value that differs in its last digits is a mistake of the file; one that differs much needs other `ends`.",
    ),
    page(
        "M624",
        "A table with a name that is taken",
        "A table is called like a function, `lift(x)`, so it may not have the name of one that every expression knows (`sin`, `max`, `if`), nor that of a parameter. Choose another name.",
    ),
    page(
        "M625",
        "The file of a table cannot be read",
        "The file is no text, larger than 64 MB, or the mechanism itself came from standard input and has no folder in which the file could be. A table is a text file with one point per line beside the mechanism, or `points: [[x, y], ...]` in it.",
    ),
    page(
        "M626",
        "A function with a name that is taken",
        "Functions, parameters and tables are used by their names in expressions, so no two of them may share one. Choose another name for the function.",
    ),
    page(
        "M627",
        "Functions that name each other in a circle",
        "A function may use others, in any order, but not itself, neither directly nor through others.\n\n    functions: {a: 2*b, b: a + t}      # a -> b -> a\n\nThe message prints the circle. Write one of its functions without the others.",
    ),
    page(
        "S620",
        "A table is read beyond its points",
        "The table has `outside: error`, and at the time of the message it is read where it has no points. The rows before are good. Give the table more points, or say what holds there: `outside: linear` goes on along the last tangent, `outside: hold` with the last value. This is checked once per output row.",
    ),
    page(
        "W620",
        "A table rounded too coarsely",
        "The points of the table stand so close together that the digits they are written with bend the curve: second derivatives, and so the accelerations and forces of what the table drives, show the rounding. More points make it worse, not better: with four digits the second derivative of a smooth rise is best with some 20 points and useless with 80. Write more digits, or keep every second or fourth point.",
    ),
    page(
        "W621",
        "A table is read beyond its points, and the file does not say what holds there",
        "Beyond its first and last point a table goes on along its tangent, or, with `ends: flat`, with its last value. That is rarely meant. Give it more points, let it repeat (`ends: periodic`), or say what is meant: `outside: linear`, `outside: hold`, or `outside: error` to stop there.",
    ),
];
