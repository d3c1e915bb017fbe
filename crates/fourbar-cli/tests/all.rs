//! All tests of the command in one program: linked once, run with one process per test.

mod commands;
mod common;
mod design;
mod docs;
mod export;
mod first_contact;
mod folders;
mod hostile;
mod inputs;
mod interrupt;
mod modes;
mod runs;
mod scale;
mod studies;
mod sweeps;
mod tasks;
mod view;
