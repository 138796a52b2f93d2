//! Forward-mode automatic differentiation: numbers with a slope.

use std::iter::Sum;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `value + slope h` with `h^2 = 0`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dual {
    pub(crate) value: f64,
    pub(crate) slope: f64,
}

/// A constant: a number without a slope.
pub(crate) fn constant(value: f64) -> Dual {
    Dual { value, slope: 0.0 }
}

/// A point of which no coordinate moves.
pub(crate) fn constants(q: &[f64]) -> Vec<Dual> {
    q.iter().map(|v| constant(*v)).collect()
}

/// The point `q` moving along coordinate `i`.
pub(crate) fn moving(q: &[f64], i: usize) -> Vec<Dual> {
    let mut q = constants(q);
    q[i].slope = 1.0;
    q
}

impl Dual {
    /// A function of this number, from its value and derivative here.
    fn chain(self, value: f64, derivative: f64) -> Dual {
        Dual { value, slope: derivative * self.slope }
    }

    pub(crate) fn exp(self) -> Dual {
        let e = self.value.exp();
        self.chain(e, e)
    }

    pub(crate) fn ln(self) -> Dual {
        self.chain(self.value.ln(), 1.0 / self.value)
    }

    pub(crate) fn sin(self) -> Dual {
        self.chain(self.value.sin(), self.value.cos())
    }

    pub(crate) fn cos(self) -> Dual {
        self.chain(self.value.cos(), -self.value.sin())
    }

    pub(crate) fn sqrt(self) -> Dual {
        let root = self.value.sqrt();
        self.chain(root, 0.5 / root)
    }

    pub(crate) fn square(self) -> Dual {
        self * self
    }
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, o: Dual) -> Dual {
        Dual { value: self.value + o.value, slope: self.slope + o.slope }
    }
}

impl Sub for Dual {
    type Output = Dual;
    fn sub(self, o: Dual) -> Dual {
        Dual { value: self.value - o.value, slope: self.slope - o.slope }
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, o: Dual) -> Dual {
        let slope = self.slope * o.value + self.value * o.slope;
        Dual { value: self.value * o.value, slope }
    }
}

impl Mul<f64> for Dual {
    type Output = Dual;
    fn mul(self, o: f64) -> Dual {
        Dual { value: self.value * o, slope: self.slope * o }
    }
}

impl Div for Dual {
    type Output = Dual;
    fn div(self, o: Dual) -> Dual {
        let value = self.value / o.value;
        Dual { value, slope: (self.slope - value * o.slope) / o.value }
    }
}

impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        self * -1.0
    }
}

impl Sum for Dual {
    fn sum<I: Iterator<Item = Dual>>(all: I) -> Dual {
        all.fold(constant(0.0), Add::add)
    }
}
