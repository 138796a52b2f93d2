//! The types that settings have, and the names of their values.

use std::fmt;

use serde::de::{self, DeserializeOwned, Deserializer, Visitor};

use super::Form;

/// A type that a setting can have.
pub(crate) trait Typed {
    /// How values of it are written.
    fn form() -> Form;

    /// The value as a number, and as it is shown; none for what has no bounds.
    fn number(&self) -> Option<(f64, String)> {
        None
    }
}

macro_rules! numbers {
    ($($type:ty => $form:expr),+) => {$(
        impl Typed for $type {
            fn form() -> Form {
                $form
            }

            fn number(&self) -> Option<(f64, String)> {
                Some((*self as f64, self.to_string()))
            }
        }
    )+};
}

macro_rules! others {
    ($($type:ty => $form:expr),+ $(,)?) => {$(
        impl Typed for $type {
            fn form() -> Form {
                $form
            }
        }
    )+};
}

numbers!(usize => Form::Whole, u64 => Form::Whole, f64 => Form::Number);

others! {
    bool => Form::Flag,
    Vec<f64> => Form::Frequencies,
    Vec<Vec<usize>> => Form::InputLists,
    crate::model::Priors => Form::Priors,
    crate::basis::frequencies::Scheme => choice::<Self>(),
    crate::columns::Missing => choice::<Self>(),
    crate::diagnose::Combine => choice::<Self>(),
    crate::experts::Partition => choice::<Self>(),
    crate::fit::BasisChoice => choice::<Self>(),
    crate::fit::DensityChoice => choice::<Self>(),
    crate::fit::GateChoice => choice::<Self>(),
    crate::gp::Mean => Form::Mean,
    crate::gp::Objective => choice::<Self>(),
    crate::infer::Metric => choice::<Self>(),
    crate::infer::Sampler => choice::<Self>(),
    crate::infer::Start => choice::<Self>(),
    crate::kernel::Kernel => choice::<Self>(),
    crate::model::Method => choice::<Self>(),
    crate::scale::Scaling => choice::<Self>(),
}

impl<T: Typed> Typed for Option<T> {
    fn form() -> Form {
        T::form()
    }

    fn number(&self) -> Option<(f64, String)> {
        self.as_ref().and_then(Typed::number)
    }
}

fn choice<T: DeserializeOwned>() -> Form {
    let names = T::deserialize(Ask).err().map_or(&[][..], |Answer(names)| names);
    Form::Choice(names)
}

/// Asks an enum for the names of its variants, which is what its derived reader begins with.
struct Ask;

#[derive(Debug)]
struct Answer(&'static [&'static str]);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl std::error::Error for Answer {}

impl de::Error for Answer {
    fn custom<T: fmt::Display>(_: T) -> Answer {
        Answer(&[])
    }
}

impl<'de> Deserializer<'de> for Ask {
    type Error = Answer;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Answer> {
        Err(Answer(&[]))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Answer> {
        Err(Answer(variants))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
