//! Explicit Runge-Kutta methods.
