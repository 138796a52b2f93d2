//! probe
#![allow(clippy::unwrap_used)]
mod common;
use common::case::{Case, Recipe};
use gpfuse::infer::Draws;
use gpfuse::model::{Method, Given};
use gpfuse::predict::Predictor;
use gpfuse::metrics::evaluate;
use gpfuse::scale::Affine;
#[test]
fn given_missing() {
    let case = Case::new(Recipe::small(Method::Pbhs, 3));
    let draws = Draws::single(&case.q);
    let p = Predictor::new(case.model.clone(), &draws, Affine::IDENTITY);
    let s = evaluate(&p, &draws, &case.data.rows, None, &case.textbook.y, 1);
    println!("PROBE none: {:?}", s.map(|s| s.nlpd.value));
    let s = evaluate(&p, &draws, &case.data.rows, case.given().as_ref(), &case.textbook.y, 1);
    println!("PROBE given: {:?}", s.map(|s| s.nlpd.value));
    let (m, sd) = case.textbook.given.clone().unwrap();
    let g = Given::new(&m[..2], &sd[..2]).unwrap();
    let s = evaluate(&p, &draws, &case.data.rows, Some(&g), &case.textbook.y, 1);
    println!("PROBE two of three experts: {:?}", s.map(|s| s.nlpd.value));
    let cut = |v: &[Vec<f64>]| v.iter().map(|v| v[..2].to_vec()).collect::<Vec<_>>();
    let g = Given::new(&cut(&m), &cut(&sd)).unwrap();
    let s = evaluate(&p, &draws, &case.data.rows, Some(&g), &case.textbook.y, 1);
    println!("PROBE two of five rows: {:?}", s.map(|s| s.nlpd.value));
    let g = Given::new(&m, &sd[..2]);
    println!("PROBE unequal: {:?}", g.is_ok());
}
