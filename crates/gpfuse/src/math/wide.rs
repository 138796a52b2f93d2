//! Eight numbers in vector registers, spelled out where the compiler does not find them.
//!
//! Elementwise loops vectorise by themselves; sums over rows do not, because they would be
//! added in another order. A [`Wide`] holds eight partial sums, on every machine, so the order
//! of additions is the same everywhere.
#![allow(unsafe_code)]

use super::{Lanes, ROWS, WIDTH};

/// Eight numbers, and the few operations that sums and products need.
pub(crate) trait Wide: Copy {
    /// Whether a few dozen of them fit the machine's registers, rather than a few.
    const MANY_REGISTERS: bool = false;
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
    /// `self + b`.
    fn add(self, b: Self) -> Self;
    /// `self - b`.
    fn sub(self, b: Self) -> Self;
    /// The point `(cos, sin)` turned by as many quarter turns as the lowest two bits of `self`
    /// say: `(sin, cos)` of the turned point.
    fn quarters(self, sin: Self, cos: Self) -> (Self, Self);
    /// `v`, its sign flipped where the lowest bit of `self` is set.
    fn flip(self, v: Self) -> Self;
}

/// Group `c` of the numbers of a column.
#[inline(always)]
pub(crate) fn group(column: &Lanes, c: usize) -> &[f64; WIDTH] {
    const { assert!(ROWS.is_multiple_of(WIDTH)) };
    &column.as_chunks::<WIDTH>().0[c]
}

/// Group `c` of the numbers of a column, to write to.
#[inline(always)]
pub(crate) fn group_mut(column: &mut Lanes, c: usize) -> &mut [f64; WIDTH] {
    &mut column.as_chunks_mut::<WIDTH>().0[c]
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
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        std::array::from_fn(|i| self[i] + b[i])
    }
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        std::array::from_fn(|i| self[i] - b[i])
    }
    #[inline(always)]
    fn quarters(self, sin: Self, cos: Self) -> (Self, Self) {
        let turned: [(f64, f64); WIDTH] = std::array::from_fn(|i| {
            let count = self[i].to_bits();
            let (s, c) = if count & 1 == 0 { (sin[i], cos[i]) } else { (cos[i], sin[i]) };
            let (s_sign, c_sign) = ((count & 2) << 62, (count.wrapping_add(1) & 2) << 62);
            (f64::from_bits(s.to_bits() ^ s_sign), f64::from_bits(c.to_bits() ^ c_sign))
        });
        (turned.map(|t| t.0), turned.map(|t| t.1))
    }
    #[inline(always)]
    fn flip(self, v: Self) -> Self {
        std::array::from_fn(|i| f64::from_bits(v[i].to_bits() ^ (self[i].to_bits() << 63)))
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
        #[inline(always)]
        fn add(self, b: Self) -> Self {
            // SAFETY: AVX is there, as the module says.
            unsafe { Avx2(_mm256_add_pd(self.0, b.0), _mm256_add_pd(self.1, b.1)) }
        }
        #[inline(always)]
        fn sub(self, b: Self) -> Self {
            // SAFETY: AVX is there, as the module says.
            unsafe { Avx2(_mm256_sub_pd(self.0, b.0), _mm256_sub_pd(self.1, b.1)) }
        }
        #[inline(always)]
        fn quarters(self, sin: Self, cos: Self) -> (Self, Self) {
            let (low, high) = (half(self.0, sin.0, cos.0), half(self.1, sin.1, cos.1));
            return (Avx2(low.0, high.0), Avx2(low.1, high.1));
            #[inline(always)]
            fn half(count: __m256d, sin: __m256d, cos: __m256d) -> (__m256d, __m256d) {
                // SAFETY: AVX2 is there, as the module says.
                unsafe {
                    let sign = _mm256_set1_pd(-0.0);
                    let count = _mm256_castpd_si256(count);
                    // Bit 0 as the sign bit, which is all that a blend looks at; bit 1 as a sign.
                    let odd = _mm256_castsi256_pd(_mm256_slli_epi64::<63>(count));
                    let s_sign = _mm256_castsi256_pd(_mm256_slli_epi64::<62>(count));
                    // Bit 1 of count + 1 is bit 1 of count, flipped where bit 0 is set.
                    let c_sign = _mm256_xor_pd(s_sign, odd);
                    let s = _mm256_blendv_pd(sin, cos, odd);
                    let c = _mm256_blendv_pd(cos, sin, odd);
                    (
                        _mm256_xor_pd(s, _mm256_and_pd(s_sign, sign)),
                        _mm256_xor_pd(c, _mm256_and_pd(c_sign, sign)),
                    )
                }
            }
        }
        #[inline(always)]
        fn flip(self, v: Self) -> Self {
            // SAFETY: AVX2 is there, as the module says.
            unsafe {
                let low = _mm256_slli_epi64::<63>(_mm256_castpd_si256(self.0));
                let high = _mm256_slli_epi64::<63>(_mm256_castpd_si256(self.1));
                Avx2(
                    _mm256_xor_pd(v.0, _mm256_castsi256_pd(low)),
                    _mm256_xor_pd(v.1, _mm256_castsi256_pd(high)),
                )
            }
        }
    }

    impl Wide for Avx512 {
        const MANY_REGISTERS: bool = true;
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
        #[inline(always)]
        fn add(self, b: Self) -> Self {
            // SAFETY: AVX-512 is there, as the module says.
            unsafe { Avx512(_mm512_add_pd(self.0, b.0)) }
        }
        #[inline(always)]
        fn sub(self, b: Self) -> Self {
            // SAFETY: AVX-512 is there, as the module says.
            unsafe { Avx512(_mm512_sub_pd(self.0, b.0)) }
        }
        #[inline(always)]
        fn quarters(self, sin: Self, cos: Self) -> (Self, Self) {
            // SAFETY: AVX-512 is there, as the module says.
            unsafe {
                let sign = _mm512_set1_pd(-0.0);
                let count = _mm512_castpd_si512(self.0);
                let odd = _mm512_test_epi64_mask(count, _mm512_set1_epi64(1));
                let s_sign = _mm512_castsi512_pd(_mm512_slli_epi64::<62>(count));
                let next = _mm512_add_epi64(count, _mm512_set1_epi64(1));
                let c_sign = _mm512_castsi512_pd(_mm512_slli_epi64::<62>(next));
                let s = _mm512_mask_blend_pd(odd, sin.0, cos.0);
                let c = _mm512_mask_blend_pd(odd, cos.0, sin.0);
                (
                    Avx512(_mm512_xor_pd(s, _mm512_and_pd(s_sign, sign))),
                    Avx512(_mm512_xor_pd(c, _mm512_and_pd(c_sign, sign))),
                )
            }
        }
        #[inline(always)]
        fn flip(self, v: Self) -> Self {
            // SAFETY: AVX-512 is there, as the module says.
            unsafe {
                let sign = _mm512_slli_epi64::<63>(_mm512_castpd_si512(self.0));
                Avx512(_mm512_xor_pd(v.0, _mm512_castsi512_pd(sign)))
            }
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
        #[inline(always)]
        fn add(self, b: Self) -> Self {
            // SAFETY: NEON is part of every aarch64 machine.
            unsafe { Neon(std::array::from_fn(|i| vaddq_f64(self.0[i], b.0[i]))) }
        }
        #[inline(always)]
        fn sub(self, b: Self) -> Self {
            // SAFETY: NEON is part of every aarch64 machine.
            unsafe { Neon(std::array::from_fn(|i| vsubq_f64(self.0[i], b.0[i]))) }
        }
        #[inline(always)]
        fn quarters(self, sin: Self, cos: Self) -> (Self, Self) {
            // SAFETY: NEON is part of every aarch64 machine.
            let pair = |count: float64x2_t, sin: float64x2_t, cos: float64x2_t| unsafe {
                let one = vdupq_n_u64(1);
                let sign = vdupq_n_u64(1 << 63);
                let count = vreinterpretq_u64_f64(count);
                let odd = vtstq_u64(count, one);
                let s_sign = vandq_u64(vshlq_n_u64::<62>(count), sign);
                let c_sign = vandq_u64(vshlq_n_u64::<62>(vaddq_u64(count, one)), sign);
                let s = vreinterpretq_u64_f64(vbslq_f64(odd, cos, sin));
                let c = vreinterpretq_u64_f64(vbslq_f64(odd, sin, cos));
                (
                    vreinterpretq_f64_u64(veorq_u64(s, s_sign)),
                    vreinterpretq_f64_u64(veorq_u64(c, c_sign)),
                )
            };
            let turned: [_; 4] = std::array::from_fn(|i| pair(self.0[i], sin.0[i], cos.0[i]));
            (Neon(turned.map(|t| t.0)), Neon(turned.map(|t| t.1)))
        }
        #[inline(always)]
        fn flip(self, v: Self) -> Self {
            // SAFETY: NEON is part of every aarch64 machine.
            let one = |count: float64x2_t, v: float64x2_t| unsafe {
                let sign = vshlq_n_u64::<63>(vreinterpretq_u64_f64(count));
                vreinterpretq_f64_u64(veorq_u64(vreinterpretq_u64_f64(v), sign))
            };
            Neon(std::array::from_fn(|i| one(self.0[i], v.0[i])))
        }
    }
}
