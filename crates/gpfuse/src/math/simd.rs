//! Which instruction set to use, found out once at run time, and the macro that compiles a
//! kernel for each of them from one source.
#![allow(unsafe_code)]

use std::sync::OnceLock;

/// An instruction set that this machine has. The value is the proof: it can only be had from
/// [`Level::detect`] or [`Level::available`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(Set);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Level {
    /// The best instruction set of this machine, or the one named by the environment variable
    /// `GPFUSE_SIMD` (`scalar`, `avx2`, `avx512`, `neon`) where the machine has it. `gpfuse
    /// --version` tells which there are and which is used.
    pub fn detect() -> Level {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        *LEVEL.get_or_init(|| {
            let have = Level::available();
            let wanted = std::env::var("GPFUSE_SIMD").ok();
            have.iter()
                .find(|level| Some(level.name()) == wanted.as_deref())
                .or(have.last())
                .copied()
                .unwrap_or(Level(Set::Scalar))
        })
    }

    /// Every instruction set that this machine can run, slowest first.
    pub fn available() -> Vec<Level> {
        let mut have = vec![Level(Set::Scalar)];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            have.push(Level(Set::Avx2));
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                have.push(Level(Set::Avx512));
            }
        }
        #[cfg(target_arch = "aarch64")]
        have.push(Level(Set::Neon));
        have
    }

    /// The name, as `GPFUSE_SIMD` takes it.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            Set::Neon => "neon",
        }
    }

    pub(crate) fn set(self) -> Set {
        self.0
    }
}

/// `vectorised! { fn name = kernel(arg: Type, ...) -> Ret; }` makes a function `name(level,
/// arg, ...)` that runs `kernel::<FMA>(arg, ...)` compiled for the instruction set of `level`.
/// The kernel must be `#[inline(always)]`, so that its loops are compiled inside. With
/// `fn name = kernel<wide>(...)` the kernel is generic over a [`Wide`](super::wide::Wide)
/// type instead of `FMA`.
macro_rules! vectorised {
    ($(#[$meta:meta])* $vis:vis fn $name:ident = $kernel:ident<wide>
     ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?;) => {
        $crate::math::simd::vectorised! {
            @ $(#[$meta])* $vis fn $name = $kernel
            [[f64; $crate::math::WIDTH]] [$crate::math::wide::x86::Avx2]
            [$crate::math::wide::x86::Avx512] [$crate::math::wide::arm::Neon]
            ($($arg: $ty),*) $(-> $ret)?;
        }
    };
    ($(#[$meta:meta])* $vis:vis fn $name:ident = $kernel:ident
     ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?;) => {
        $crate::math::simd::vectorised! {
            @ $(#[$meta])* $vis fn $name = $kernel [false] [true] [true] [true]
            ($($arg: $ty),*) $(-> $ret)?;
        }
    };
    (@ $(#[$meta:meta])* $vis:vis fn $name:ident = $kernel:ident
     [$($scalar:tt)*] [$($avx2:tt)*] [$($avx512:tt)*] [$($neon:tt)*]
     ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?;) => {
        $(#[$meta])*
        #[allow(unsafe_code)]
        $vis fn $name(level: $crate::math::simd::Level, $($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $ty),*) $(-> $ret)? {
                $kernel::<$($avx2)*>($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
            fn avx512($($arg: $ty),*) $(-> $ret)? {
                $kernel::<$($avx512)*>($($arg),*)
            }
            match level.set() {
                $crate::math::simd::Set::Scalar => $kernel::<$($scalar)*>($($arg),*),
                // SAFETY: a `Level` with this set exists only where the machine has it.
                #[cfg(target_arch = "x86_64")]
                $crate::math::simd::Set::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::math::simd::Set::Avx512 => unsafe { avx512($($arg),*) },
                // NEON and its fused multiply-add are part of every aarch64 machine.
                #[cfg(target_arch = "aarch64")]
                $crate::math::simd::Set::Neon => $kernel::<$($neon)*>($($arg),*),
            }
        }
    };
}
pub(crate) use vectorised;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalar_is_always_there_and_detection_is_among_the_available() {
        let have = Level::available();
        assert_eq!(have[0].name(), "scalar");
        assert!(have.contains(&Level::detect()));
    }
}
