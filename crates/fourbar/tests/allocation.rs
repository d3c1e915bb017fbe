//! No allocation inside a step.

use fourbar::absolute::chart::Chart;
use fourbar::absolute::reps::Reps;
use fourbar::absolute::rp::Rp;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::dca;
use fourbar::integrator::Method;
use fourbar::integrator::index3::Stepper;
use fourbar::kinematics::Kinematics;
use fourbar::study::Study;
use fourbar_testing::common::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// Counts allocations of the current thread; all calls are forwarded to the system allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count() -> usize {
    COUNT.with(|c| c.get())
}

#[test]
fn the_counter_counts() {
    let before = count();
    let v = vec![1.0; 100];
    assert!(count() > before && v.len() == 100);
}

#[test]
fn a_kinematics_step_allocates_nothing() {
    for name in ["ra_slider_crank", "stewart_platform", "jansen_leg"] {
        let model = model(name);
        let start = assemble(&model).expect("assembles").configuration;
        let mut k = Kinematics::new(&model, &start).expect("starts");
        k.step_to(1e-3).expect("steps");
        let before = count();
        for i in 2..200 {
            k.step_to(1e-3 * i as f64).expect("steps");
            k.reactions();
        }
        assert_eq!(count() - before, 0, "{name}");
    }
}

#[test]
fn a_dynamics_step_allocates_nothing() {
    for (name, h) in [
        ("a02_n_fourbar_N2", 1e-3),
        ("a04_bricard", 1e-3),
        ("andrews", 1e-6),
        ("a05_flyball_governor", 1e-3),
        ("dc_motor_slider_crank", 1e-3),
        ("a02_n_fourbar_N40", 1e-3),
    ] {
        for method in [Method::GenAlpha { rho: 0.8 }, Method::Bdf2, Method::BackwardEuler] {
            let model = model(name);
            let start = assemble(&model).expect("assembles").configuration;
            let mut s = Stepper::new(&model, &start, method);
            s.start(h);
            for _ in 0..3 {
                s.attempt(h).and_then(|()| s.accept(h)).expect("steps");
            }
            let before = count();
            for _ in 0..100 {
                s.attempt(h).and_then(|()| s.accept(h)).expect("steps");
            }
            assert_eq!(count() - before, 0, "{name} {method:?}");
        }
    }
}

#[test]
fn a_step_in_euler_parameters_or_angles_allocates_nothing() {
    fn check<C: Chart>() {
        // Includes changes of chart: the top passes the singularity of its Euler angles in this time.
        for (name, h, steps) in [("a02_n_fourbar_N2", 1e-3, 100), ("dc_motor_slider_crank", 1e-3, 100), ("lie_heavy_top", 1e-3, 300)] {
            for method in [Method::GenAlpha { rho: 0.8 }, Method::Bdf2, Method::BackwardEuler] {
                let model = model(name);
                let start = assemble(&model).expect("assembles").configuration;
                let mut s = Stepper::<C>::in_chart(&model, &start, method);
                s.start(h);
                s.attempt(h).and_then(|()| s.accept(h)).expect("steps");
                let before = count();
                for _ in 0..steps {
                    s.attempt(h).and_then(|()| s.accept(h)).expect("steps");
                }
                assert_eq!(count() - before, 0, "{name} {} {method:?}", C::NAME);
                assert!(!C::SINGULAR || name != "lie_heavy_top" || s.work.recharts > 0);
            }
        }
        let model = model("ra_slider_crank");
        let start = assemble(&model).expect("assembles").configuration;
        let mut k = Kinematics::<C>::in_chart(&model, &start).expect("starts");
        k.step_to(1e-3).expect("steps");
        let before = count();
        for i in 2..1000 {
            k.step_to(1e-3 * i as f64).expect("steps");
        }
        assert_eq!(count() - before, 0, "kinematics in {}", C::NAME);
    }
    check::<Rp>();
    check::<Reps>();
}

#[test]
fn a_step_on_a_lie_group_or_in_joint_coordinates_allocates_nothing() {
    for (name, h) in
        [("a04_bricard", 1e-3), ("andrews", 1e-5), ("lie_closed_3bar", 1e-3), ("dc_motor_slider_crank", 1e-3), ("a02_n_fourbar_N40", 1e-3)]
    {
        for formulation in ["so3xr3", "se3", "lie", "grcr"] {
            for (integrator, step) in [("rk4", Some(h)), ("dopri5", None), ("dop853", None)] {
                let model = model(name);
                let start = assemble(&model).expect("assembles").configuration;
                let study = Study {
                    formulation: Some(formulation.into()),
                    integrator: Some(integrator.into()),
                    step,
                    output_step: 10.0 * h,
                    t_end: 50.0 * h,
                    ..Study::of(&model)
                };
                let (info, integrator) = study.method(&model).expect("exists");
                let mut motion = (info.start)(&fourbar::Structure::new(&model, &start), &study, integrator, &start).expect("starts");
                motion.advance(10.0 * h, &mut |_| true).expect("moves");
                let before = count();
                motion.advance(50.0 * h, &mut |_| true).expect("moves");
                assert_eq!(count() - before, 0, "{name} {formulation} {integrator}");
            }
        }
    }
}

#[test]
fn a_step_of_radau_allocates_nothing() {
    // Stiff; with a redundant loop; with states.
    let names = ["a05_flyball_governor", "watt_governor", "dc_motor_slider_crank"];
    for (name, formulation) in names.iter().flat_map(|n| ["ra", "grcr"].map(|f| (n, f))) {
        let model = model(name);
        let start = assemble(&model).expect("assembles").configuration;
        let study = Study { formulation: Some(formulation.into()), integrator: Some("radau".into()), tol: Some(1e-6), ..Study::of(&model) };
        let (info, integrator) = study.method(&model).expect("exists");
        let mut m = (info.start)(&fourbar::Structure::new(&model, &start), &study, integrator, &start).expect("starts");
        m.run_ahead(0.02);
        m.advance(0.02, &mut |_| true).expect("advances");
        m.run_ahead(0.2);
        let before = count();
        m.advance(0.2, &mut |_| true).expect("advances");
        assert_eq!(count() - before, 0, "{name} {formulation}");
    }
}

#[test]
fn a_step_of_divide_and_conquer_allocates_nothing() {
    for (name, h) in
        [("dca_five_bar", 5e-3), ("dca_double_loop", 5e-3), ("a04_bricard", 5e-3), ("andrews", 2e-5), ("ra_slider_crank", 1e-3)]
    {
        let model = model(name);
        let start = assemble(&model).expect("assembles").configuration;
        for options in [vec![], vec![("projection".to_string(), "stabilised".to_string())]] {
            let study = Study { t_end: 1e3 * h, output_step: h, step: Some(h), options, ..Study::of(&model) };
            let mut motion = dca::system::start(&fourbar::Structure::new(&model, &start), &study, "dopri5", &start).expect("starts");
            motion.advance(3.0 * h, &mut |_| true).expect("steps");
            let before = count();
            motion.advance(50.0 * h, &mut |_| true).expect("steps");
            assert_eq!(count() - before, 0, "{name} {:?}", study.options);
        }
    }
}
