//! Enums whose variants have names, as on the command line and in files.

/// Give an enum `ALL`, `name`, `Display` and `FromStr` from the names of its variants; `$what` is the
/// setting that a wrong name is blamed on.
macro_rules! named {
    ($type:ident, $what:literal, $($variant:ident => $name:literal),+ $(,)?) => {
        impl $type {
            /// All of them, in the order of their declaration.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            /// The name, as on the command line and in files.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(name: &str) -> $crate::Result<$type> {
                $type::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
                    let names = $type::ALL.map($type::name).join(", ");
                    let problem = format!("unknown {} `{name}`: use {names}", $what);
                    $crate::Error::setting($what, problem)
                })
            }
        }
    };
}

pub(crate) use named;
