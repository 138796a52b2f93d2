//! Eight numbers in vector registers, spelled out where the compiler does not find them.
//!
//! Elementwise loops vectorise by themselves; sums over rows do not, because they would be
//! added in another order. A [`Wide`] holds eight partial sums, on every machine, so the order
//! of additions is the same everywhere.
#![allow(unsafe_code)]

use super::{Lanes, ROWS, WIDTH};

/// Eight numbers, and the few operations that sums and products need.
pub(crate) trait Wide: Copy {
    /// Eight times one number.
    fn splat(v: f64) -> Self;
    /// From memory.
    fn load(v: &[f64; WIDTH]) -> Self;
    /// To memory.
    fn store(self, out: &mut [f64; WIDTH]);
    /// `self * b + c`.
    fn fma(self, b: Self, c: Self) -> Self;
    /// `self * b`.
    fn mul(self, b: Self) -> Self;
}

/// Group `c` of the numbers of a column.
#[inline(always)]
pub(crate) fn group(column: &Lanes, c: usize) -> &[f64; WIDTH] {
    const { assert!(ROWS.is_multiple_of(WIDTH)) };
    &column.as_chunks::<WIDTH>().0[c]
}

impl Wide for [f64; WIDTH] {
    #[inline(always)]
    fn splat(v: f64) -> Self {
        [v; WIDTH]
    }
    #[inline(always)]
    fn load(v: &[f64; WIDTH]) -> Self {
        *v
    }
    #[inline(always)]
    fn store(self, out: &mut [f64; WIDTH]) {
        *out = self;
    }
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        std::array::from_fn(|i| self[i] * b[i] + c[i])
    }
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        std::array::from_fn(|i| self[i] * b[i])
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    //! AVX2 and AVX-512. The types are made only by functions compiled for, and called on,
    //! machines that have them (see [`super::super::simd`]), which is what makes every
    //! intrinsic here sound.
    use std::arch::x86_64::*;

    use super::{WIDTH, Wide};

    /// Eight numbers in two AVX registers.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256d, __m256d);

    /// Eight numbers in one AVX-512 register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512d);

    impl Wide for Avx2 {
        #[inline(always)]
        fn splat(v: f64) -> Self {
            // SAFETY: AVX is there, as the module says.
            unsafe { Avx2(_mm256_set1_pd(v), _mm256_set1_pd(v)) }
        }
        #[inline(always)]
        fn load(v: &[f64; WIDTH]) -> Self {
            // SAFETY: AVX is there, and both loads stay within the eight numbers.
            unsafe { Avx2(_mm256_loadu_pd(v.as_ptr()), _mm256_loadu_pd(v.as_ptr().add(4))) }
        }
        #[inline(always)]
        fn store(self, out: &mut [f64; WIDTH]) {
            // SAFETY: AVX is there, and both stores stay within the eight numbers.
            unsafe {
                _mm256_storeu_pd(out.as_mut_ptr(), self.0);
                _mm256_storeu_pd(out.as_mut_ptr().add(4), self.1);
            }
        }
        #[inline(always)]
        fn fma(self, b: Self, c: Self) -> Self {
            // SAFETY: FMA is there, as the module says.
            unsafe { Avx2(_mm256_fmadd_pd(self.0, b.0, c.0), _mm256_fmadd_pd(self.1, b.1, c.1)) }
        }
        #[inline(always)]
        fn mul(self, b: Self) -> Self {
            // SAFETY: AVX is there, as the module says.
            unsafe { Avx2(_mm256_mul_pd(self.0, b.0), _mm256_mul_pd(self.1, b.1)) }
        }
    }

    impl Wide for Avx512 {
        #[inline(always)]
        fn splat(v: f64) -> Self {
            // SAFETY: AVX-512 is there, as the module says.
            unsafe { Avx512(_mm512_set1_pd(v)) }
        }
        #[inline(always)]
        fn load(v: &[f64; WIDTH]) -> Self {
            // SAFETY: AVX-512 is there, and the load is of the eight numbers.
            unsafe { Avx512(_mm512_loadu_pd(v.as_ptr())) }
        }
        #[inline(always)]
        fn store(self, out: &mut [f64; WIDTH]) {
            // SAFETY: AVX-512 is there, and the store is of the eight numbers.
            unsafe { _mm512_storeu_pd(out.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn fma(self, b: Self, c: Self) -> Self {
            // SAFETY: AVX-512 is there, as the module says.
            unsafe { Avx512(_mm512_fmadd_pd(self.0, b.0, c.0)) }
        }
        #[inline(always)]
        fn mul(self, b: Self) -> Self {
            // SAFETY: AVX-512 is there, as the module says.
            unsafe { Avx512(_mm512_mul_pd(self.0, b.0)) }
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(crate) mod arm {
    //! NEON, which every aarch64 machine has.
    use std::arch::aarch64::*;

    use super::{WIDTH, Wide};

    /// Eight numbers in four NEON registers.
    #[derive(Clone, Copy)]
    pub(crate) struct Neon([float64x2_t; 4]);

    impl Wide for Neon {
        #[inline(always)]
        fn splat(v: f64) -> Self {
            // SAFETY: NEON is part of every aarch64 machine.
            unsafe { Neon([vdupq_n_f64(v); 4]) }
        }
        #[inline(always)]
        fn load(v: &[f64; WIDTH]) -> Self {
            // SAFETY: NEON is there, and the loads stay within the eight numbers.
            unsafe { Neon(std::array::from_fn(|i| vld1q_f64(v.as_ptr().add(2 * i)))) }
        }
        #[inline(always)]
        fn store(self, out: &mut [f64; WIDTH]) {
            for i in 0..4 {
                // SAFETY: NEON is there, and the stores stay within the eight numbers.
                unsafe { vst1q_f64(out.as_mut_ptr().add(2 * i), self.0[i]) }
            }
        }
        #[inline(always)]
        fn fma(self, b: Self, c: Self) -> Self {
            // SAFETY: NEON is part of every aarch64 machine.
            unsafe { Neon(std::array::from_fn(|i| vfmaq_f64(c.0[i], self.0[i], b.0[i]))) }
        }
        #[inline(always)]
        fn mul(self, b: Self) -> Self {
            // SAFETY: NEON is part of every aarch64 machine.
            unsafe { Neon(std::array::from_fn(|i| vmulq_f64(self.0[i], b.0[i]))) }
        }
    }
}
