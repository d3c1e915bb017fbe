//! Settings of a run: those of the file, changed by the command line or restored from a checkpoint.

use crate::args::{AnalysisName, StudyArgs};
use fourbar::Diagnostic;
use fourbar::formulation::dca;
use fourbar::model::Model;
use fourbar::study::{Analysis, Changes, Study};
use fourbar_io::read_inputs;
use serde_json::Value;

/// The file's study with the changes of the command line.
pub fn study(model: &Model, args: &StudyArgs) -> Result<Study, Diagnostic> {
    let analysis = args.analysis.map(|name| match name {
        AnalysisName::Dynamics => Analysis::Dynamics,
        AnalysisName::Kinematics => Analysis::Kinematics,
    });
    let mut study = Study::with(
        model,
        &Changes {
            analysis,
            formulation: args.formulation.clone(),
            integrator: args.integrator.clone(),
            t_end: args.t_end,
            output_step: args.output_step,
            step: args.step,
            tol: args.tol,
            options: args.option.clone(),
            mode: args.mode,
        },
    );
    study.inputs = read_inputs(model, &args.input)?;
    Ok(study)
}

/// The study of a checkpoint; missing settings come from the file.
pub fn restored(model: &Model, saved: &Value) -> Study {
    let mut study = Study::of(model);
    let text = |key: &str| saved[key].as_str().map(String::from);
    study.analysis = match saved["analysis"].as_str() {
        Some("kinematics") => Some(Analysis::Kinematics),
        Some("dynamics") => Some(Analysis::Dynamics),
        _ => None,
    };
    (study.formulation, study.integrator) = (text("formulation"), text("integrator"));
    (study.step, study.tol) = (saved["step"].as_f64(), saved["tol"].as_f64());
    study.t_end = saved["t_end"].as_f64().unwrap_or(study.t_end);
    study.output_step = saved["output_step"].as_f64().unwrap_or(study.output_step);
    study.options = serde_json::from_value(saved["options"].clone()).unwrap_or(study.options);
    study.inputs = serde_json::from_value(saved["inputs"].clone()).unwrap_or_default();
    study.mode = saved["mode"].as_u64().and_then(|k| u16::try_from(k).ok());
    study
}

/// Sets the number of threads; a warning if the run uses fewer than requested.
pub fn threads(args: &StudyArgs, model: &Model, study: &Study) -> Option<Diagnostic> {
    let n = usize::from(args.threads?);
    let taken = dca::use_threads(n);
    if n == 1 {
        return None;
    }
    // An unknown formulation is rejected later.
    let (f, _) = study.method(model).ok()?;
    let why = if study.analysis == Some(Analysis::Kinematics) {
        "kinematics uses one".into()
    } else if f.name != "dca" {
        format!("`{}` uses one", f.name)
    } else if model.moving() < dca::FEWEST {
        format!("`dca` uses one below {} bodies", dca::FEWEST)
    } else if !taken {
        "this program was built for one".into()
    } else {
        return None;
    };
    Some(Diagnostic::new("W301", format!("{n} threads were requested; {why}")).help("leave `--threads` out"))
}
