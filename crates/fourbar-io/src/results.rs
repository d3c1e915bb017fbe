//! Results on disk: `trajectory.csv`, written line by line under a temporary name, `summary.json` at the end, `checkpoint.json` in between.
//!
//! A killed run leaves a readable prefix: whole lines are written, at least every second. Files are written under a temporary name and then
//! renamed, so that a reader sees a complete file, old or new.

mod beside;
mod cases;
mod checkpoint;
pub mod columns;
mod folder;
pub mod parquet;
mod parts;
mod read;
mod summary;
mod words;
mod write;

pub use beside::MODEL;
pub use cases::{CASES, CASES_PARQUET, CaseRow, PLAN, SCHEMA, Shard, SweepFolder, SweepPlan, TRAJECTORIES, TrajectoryPlace};
pub use checkpoint::{CHECKPOINT, Checkpoint, read_checkpoint, write_checkpoint};
pub(crate) use folder::MAX_JSON;
pub use folder::{Claim, Kept, LOCK, PAGE, ResultFolder, Standing, TRAJECTORY_PARQUET, inspect};
pub use parts::{case_columns, part_of, rows_of_part};
pub use read::{Table, read_table, trajectory_of};
pub use summary::{RunFacts, Totals, Watched, summary};
pub use words::work_words;
pub use write::{CsvWriter, EVENTS, SUMMARY, TRAJECTORY, number, prefix, write_json};
