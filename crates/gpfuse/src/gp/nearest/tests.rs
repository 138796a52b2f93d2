//! GPs on the nearest rows beside exact GPs on the same rows.

use rand::RngExt;
use rand_distr::StandardNormal;

use super::*;
use crate::gp::Gp;
use crate::random::{Purpose, stream};

const INPUTS: usize = 3;
const FEWEST: usize = *NEIGHBOURS.start();
const HYPER: fn() -> Hyper =
    || Hyper { mean: 0.4, var: 1.3, ell: vec![0.7, 1.9, 0.9], noise: 1e-3 };

/// Random rows, the first one twice, of a smooth function without noise.
fn table(rows: usize) -> Arc<Table> {
    let mut rng = stream(7, Purpose::Simulate, rows as u64);
    let mut x: Vec<f64> = (0..rows * INPUTS).map(|_| rng.sample(StandardNormal)).collect();
    x.copy_within(..INPUTS, INPUTS);
    let y = x.chunks(INPUTS).map(|x| x[0].sin() + x[1] * x[2]).collect();
    Table::new(x, INPUTS, y).unwrap()
}

/// The rows of a table by their scaled distance from a point, without some.
fn sorted(table: &Table, x: &[f64], ell: &[f64], without: &[usize]) -> Vec<usize> {
    let distance = |row: usize| -> f64 {
        table.row(row).iter().zip(x).zip(ell).map(|((a, b), ell)| ((a - b) / ell).powi(2)).sum()
    };
    let mut rows: Vec<usize> = (0..table.y.len()).filter(|row| !without.contains(row)).collect();
    rows.sort_by(|a, b| distance(*a).total_cmp(&distance(*b)).then(a.cmp(b)));
    rows
}

/// What an exact GP on some rows says about a point.
fn exact(kernel: Kernel, table: &Table, rows: &[usize], x: &[f64]) -> (f64, f64) {
    let own: Vec<f64> = rows.iter().flat_map(|row| table.row(*row)).copied().collect();
    let y: Vec<f64> = rows.iter().map(|row| table.y[*row]).collect();
    let gp = Gp::condition(kernel, HYPER(), &own, INPUTS, &y).unwrap();
    let said = gp.predict(x, true).unwrap();
    (said.mean[0], said.sd[0])
}

#[test]
fn a_row_is_predicted_by_the_exact_gp_on_its_nearest_rows_with_any_number_of_threads() {
    // More rows than neighbours, and fewer.
    for rows in [FEWEST + 200, 50] {
        let (table, queries) = (table(rows), table(21));
        for kernel in Kernel::ALL {
            let gp = Nearest::new(kernel, HYPER(), table.clone()).unwrap();
            let said = gp.predict(&queries.x, true, 1).unwrap();
            assert_eq!(said, gp.predict(&queries.x, true, 3).unwrap());
            let function = gp.predict(&queries.x, false, 2).unwrap();
            for (q, x) in queries.x.chunks(INPUTS).enumerate() {
                let mut near = sorted(&table, x, &HYPER().ell, &[]);
                near.truncate(FEWEST);
                let (mean, sd) = exact(kernel, &table, &near, x);
                let what = format!("{kernel}, {rows} rows, query {q}");
                assert!((said.mean[q] - mean).abs() < 1e-10, "{what}");
                assert!((said.sd[q] / sd - 1.0).abs() < 1e-10, "{what}");
                let noise = said.sd[q].powi(2) - function.sd[q].powi(2);
                assert!((noise - HYPER().noise).abs() < 1e-12, "{what}");
            }
        }
    }
}

/// Several blocks of rows: with many equal distances, all rows the same, rows far out, and inputs that matter little.
#[test]
fn the_nearest_rows_are_those_of_a_sorted_table() {
    const ROWS: usize = 2300;
    let mut rng = stream(9, Purpose::Simulate, 0);
    let mut tables: Vec<Vec<f64>> = vec![table(ROWS).x.clone(), vec![0.25; ROWS * INPUTS]];
    tables.push((0..ROWS * INPUTS).map(|_| f64::from(rng.random_range(0..4_u8))).collect());
    let mut far = table(ROWS).x.clone();
    far.iter_mut().step_by(401).for_each(|x| *x *= 1e7);
    tables.push(far);
    for (which, x) in tables.into_iter().enumerate() {
        let table = Table::new(x, INPUTS, vec![0.0; ROWS]).unwrap();
        for ell in [HYPER().ell, vec![0.01, 50.0, 1e6]] {
            let index = Index::new(&table.x, &ell);
            let queries: Vec<f64> = table.x.iter().step_by(13).take(40 * INPUTS).copied().collect();
            let count = |q: usize| [1, 128, 700, ROWS + 5][q % 4];
            let found = index.nearest(&table.x, &queries, count, 2).unwrap();
            for (q, (query, found)) in queries.chunks(INPUTS).zip(&found).enumerate() {
                let mut want = sorted(&table, query, &ell, &[]);
                want.truncate(count(q));
                let found: Vec<usize> = found.iter().map(|(_, row)| *row as usize).collect();
                assert_eq!(found, want, "table {which}, query {q}");
            }
        }
    }
}

#[test]
fn a_row_left_out_is_predicted_without_its_twins() {
    let table = table(FEWEST + 60);
    let mut twins: Vec<usize> = (0..table.y.len()).collect();
    twins[1] = 0;
    let gp = Nearest::new(Kernel::Matern52, HYPER(), table.clone()).unwrap();
    let rows = [0, 1, 2, 150];
    let said = gp.left_out(&rows, &twins, 2).unwrap();
    for (row, (mean, sd)) in rows.into_iter().zip(said) {
        let without = if row < 2 { vec![0, 1] } else { vec![row] };
        let mut near = sorted(&table, table.row(row), &HYPER().ell, &without);
        near.truncate(FEWEST);
        let want = exact(Kernel::Matern52, &table, &near, table.row(row));
        assert!((mean - want.0).abs() < 1e-10 && (sd / want.1 - 1.0).abs() < 1e-10, "row {row}");
    }
    assert!(gp.left_out(&[rows.len() * 1000], &twins, 1).is_err());
    assert!(gp.left_out(&rows, &twins[1..], 1).is_err());
}

/// Uneven parts, one of few rows, with as many neighbours as rows and with fewer, with copies or none.
#[test]
fn parts_of_a_table_give_what_the_whole_does() {
    let table = table(700);
    let (sizes, rows) = ([3, 300, 397], vec![0, 1, 2, 303, 699]);
    let mut first = 0;
    let parts = sizes.map(|size| {
        let range = first..first + size;
        first += size;
        let (x, y) = table.rows(&range.clone().collect::<Vec<usize>>());
        (range.start as u32, size, Part::new(Table::new(x, INPUTS, y).unwrap()))
    });
    let (kernel, hyper, (x, y)) = (Kernel::Matern32, HYPER(), table.rows(&rows));
    for (copies, most) in [(true, 128), (false, 128), (true, 900)] {
        let twins: Vec<usize> =
            (0..700).map(|row| if copies && row == 1 { 0 } else { row }).collect();
        let counts: Vec<usize> =
            rows.iter().map(|r| most + if copies && *r < 2 { 2 } else { 1 }).collect();
        let mut merged = Merged::new(counts.clone());
        for (first, size, part) in &parts {
            let found = part.nearest(kernel, &hyper.ell, &x, &counts, 2).unwrap();
            merged.add(found.concat().into_iter(), *size, *first).unwrap();
        }
        let numbers: Vec<usize> = merged.rows().into_iter().map(|row| row as usize).collect();
        let (own_x, own_y) = table.rows(&numbers);
        let small = Table::new(own_x, INPUTS, own_y).unwrap();
        let gp = Nearest::new(kernel, hyper.clone(), table.clone()).unwrap();
        let want = gp.with_neighbours(most).unwrap().left_out(&rows, &twins, 1).unwrap();
        for known in [true, false] {
            let numbers = known.then(|| rows.iter().map(|row| *row as u32).collect());
            let own = Some(Own { numbers, y: y.clone(), copies });
            let around = merged.gathered(small.clone(), x.clone(), own, most).unwrap();
            assert_eq!(around.predict((kernel, &hyper), most, true, 2).unwrap(), want);
        }
        assert!(merged.add(Vec::new().into_iter(), 1, 0).is_err());
    }
    let zero = vec![0.0; INPUTS + 1];
    let means = |around: Option<&[f64]>| {
        parts.iter().fold(zero.clone(), |sums, (.., part)| part.means(&sums, 700, around))
    };
    let mean = means(None);
    let units = Scaler::fit(Scaling::Standard, table.x(), INPUTS, table.y()).unwrap();
    assert_eq!(Scaler::standard(&mean, &means(Some(&mean))).unwrap(), units);
}

/// Targets without noise, under a noise of 1e-8 of the variance: predictions stay near the function, and
/// their errors near what they say.
#[test]
fn nearly_noiseless_targets_are_stable() {
    let (table, queries) = (table(1500), table(200));
    let hyper = Hyper { mean: 0.0, var: 4.0, ell: vec![2.0; INPUTS], noise: 4e-8 };
    for kernel in Kernel::ALL {
        let gp = Nearest::new(kernel, hyper.clone(), table.clone()).unwrap();
        let said = gp.predict(&queries.x, true, 2).unwrap();
        let z = (0..200).map(|q| (queries.y[q] - said.mean[q]) / said.sd[q]);
        let square = z.map(|z| z * z).sum::<f64>() / 200.0;
        assert!(square < 4.0, "{kernel}: {square}");
        assert!(said.sd.iter().all(|sd| *sd >= 2e-4), "{kernel}");
    }
}

#[test]
fn the_ascent_finds_noise_and_inputs_that_matter_in_any_units_with_any_number_of_threads() {
    const ROWS: usize = 600;
    let mut rng = stream(8, Purpose::Simulate, 0);
    let x: Vec<f64> = (0..2 * ROWS).map(|_| rng.random::<f64>() * 6.0).collect();
    let wave = |x: &[f64]| (2.0 * x[0]).sin();
    let noise = |z: f64| 0.1 * z;
    let y: Vec<f64> = x.chunks(2).map(|x| wave(x) + noise(rng.sample(StandardNormal))).collect();
    let twins: Vec<usize> = (0..ROWS).collect();
    // Powers of two change nothing but exponents.
    let fit = |threads, unit: f64| {
        let settings = Settings { kernel: Kernel::Rbf, threads, ..Settings::default() };
        let scaled = |v: &[f64]| v.iter().map(|v| v * unit).collect();
        Nearest::fit(Table::new(scaled(&x), 2, scaled(&y)).unwrap(), &twins, &settings).unwrap()
    };
    let (one, two) = (fit(1, 1.0), fit(2, 1024.0));
    let (Hyper { ell, noise, .. }, other) = (one.hyper(), two.hyper());
    assert_eq!(other.ell, ell.iter().map(|ell| 1024.0 * ell).collect::<Vec<f64>>());
    // The seed is fixed. Over seeds the noise's sd has a standard error of 3 %.
    assert!((noise.sqrt() / 0.1 - 1.0).abs() < 0.15 && ell[1] > 5.0 * ell[0], "{noise} {ell:?}");
}
