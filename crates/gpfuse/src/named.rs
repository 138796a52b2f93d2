//! Names of variants, as on the command line and in files.

/// The one of some names that is meant: in any case, with or without dashes.
pub fn meant<'n>(names: impl IntoIterator<Item = &'n str>, word: &str) -> Option<&'n str> {
    let plain = |text: &str| text.trim().replace(['-', '_', ' '], "").to_lowercase();
    let word = plain(word);
    names.into_iter().find(|name| plain(name) == word)
}

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
                let known = $crate::named::meant($type::ALL.map($type::name), name);
                $type::ALL.into_iter().find(|one| Some(one.name()) == known).ok_or_else(|| {
                    let names = $type::ALL.map($type::name).join(", ");
                    let problem = format!("unknown {} `{name}`: use {names}", $what);
                    $crate::Error::setting($what, problem)
                })
            }
        }
    };
}

pub(crate) use named;
