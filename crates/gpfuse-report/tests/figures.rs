//! Laws of the figures: what is drawn is what was given, nothing leaves the page, and no text of a
//! user becomes markup.

#![allow(clippy::unwrap_used)]

use gpfuse_report::figure::*;

const HOSTILE: &str = "<script>alert(1)</script>&\"'$x$\u{1}";

/// Values that break careless axes.
const EXTREMES: [&[f64]; 9] = [
    &[1.0, 1.0, 1.0, 1.0, 1.0],
    &[0.0, 0.0, 0.0],
    &[1e-12, 2e-12, 3e-12, 5e-12],
    &[1e12, 2e12, 3e12, 1e12],
    &[1e12, 1e12 + 1.0, 1e12 + 2.0],
    &[-1e300, 0.0, 1e300],
    &[7.0],
    &[0.9, 0.91, 0.92, 0.93, 0.94, 1e9],
    &[],
];

fn band(values: &[f64]) -> Band {
    let (centre, low, high) = (values.to_vec(), values.to_vec(), values.to_vec());
    Band { name: HOSTILE.into(), centre, low, high }
}

fn box_plot(values: &[f64]) -> BoxPlot {
    let group = |x: f64| Group { x, values: values.to_vec() };
    let series = |ours: bool| Series {
        name: HOSTILE.into(),
        ours,
        groups: vec![group(2.0), group(3.0), group(5.0)],
    };
    let labels = Labels::new(HOSTILE, HOSTILE, HOSTILE);
    BoxPlot { labels, series: vec![series(false), series(true)], line: Some(series(false)) }
}

/// A contestant for each value, and one that failed.
fn contestants(values: &[f64]) -> Vec<Row> {
    let row = |v: &f64| {
        let bars = Some([Bar { centre: *v, half: 0.1 }, Bar { centre: *v, half: 0.0 }]);
        Row { label: HOSTILE.into(), kind: Kind::Ours, bars }
    };
    let failed = Row { label: HOSTILE.into(), kind: Kind::Single, bars: None };
    values.iter().map(row).chain([failed]).collect()
}

/// Every figure of some values.
fn all(values: &[f64]) -> Vec<Scene> {
    let labels = Labels::new(HOSTILE, HOSTILE, HOSTILE);
    let mut x = values.to_vec();
    x.sort_by(f64::total_cmp);
    let bands = vec![band(values), band(values)];
    let data: Vec<(f64, f64)> = x.iter().copied().zip(values.iter().copied()).collect();
    let panels = Experts {
        labels: labels.clone(),
        x: x.clone(),
        means: bands.clone(),
        weights: bands.clone(),
        weight_label: HOSTILE.into(),
        note: HOSTILE.into(),
    };
    let drawn = Drawn { mean: values.to_vec(), weight: values.iter().map(|v| v.abs()).collect() };
    let density = values.iter().flat_map(|_| values.iter().map(|v| v.abs())).collect();
    let heat = Heat { x: x.clone(), y: x.clone(), values: density };
    let quantities =
        vec![Quantity { name: HOSTILE.into(), chains: vec![values.to_vec(), values.to_vec()] }];
    let run = Chains { title: HOSTILE.into(), quantities };
    let panel = Effect {
        input: HOSTILE.into(),
        x: x.clone(),
        bands: vec![band(values)],
        rug: values.to_vec(),
    };
    let several = Effect { bands: bands.clone(), ..panel.clone() };
    // Many rows of few values: groups by level need many.
    let rows: Vec<f64> = values.iter().copied().cycle().take(90.min(90 * values.len())).collect();
    let outcomes = Outcomes {
        of: HOSTILE.into(),
        target: HOSTILE.into(),
        observed: rows.clone(),
        mean: rows.iter().map(|v| 0.5 * v).collect(),
        pit: rows.iter().map(|v| v.clamp(0.0, 1.0)).collect(),
    };
    let pair = Pairs {
        labels: labels.clone(),
        shade: HOSTILE.into(),
        panels: vec![(HOSTILE.into(), heat.clone()); 4],
        data: data.clone(),
        note: HOSTILE.into(),
    };
    vec![
        boxes(&box_plot(values)),
        experts(&panels),
        weights(&panels, HOSTILE),
        draws(&Draws {
            labels: labels.clone(),
            x: x.clone(),
            experts: vec![(HOSTILE.into(), vec![drawn])],
            data: data.clone(),
            note: HOSTILE.into(),
        }),
        predictive(&Predictive {
            labels,
            data,
            x,
            methods: bands,
            level: 0.9,
            density: Some(heat),
        }),
        calibration(&Calibration { title: HOSTILE.into(), pit: values.to_vec() }),
        trace(&run),
        rank(&run),
        effects(&Effects {
            title: HOSTILE.into(),
            y: HOSTILE.into(),
            note: HOSTILE.into(),
            shares: false,
            panels: vec![panel.clone(), panel.clone(), panel.clone(), panel],
        }),
        forest(HOSTILE, [HOSTILE, HOSTILE], HOSTILE, HOSTILE, &contestants(values)),
        ranks(&Ranks {
            title: HOSTILE.into(),
            points: values.to_vec(),
            bands: vec![(values.to_vec(), values.to_vec()); 2],
            panels: vec![
                RankPanel { name: HOSTILE.into(), shares: values.to_vec(), inside: true },
                RankPanel { name: HOSTILE.into(), shares: values.to_vec(), inside: false },
            ],
            note: HOSTILE.into(),
        }),
        effects(&Effects {
            title: HOSTILE.into(),
            y: HOSTILE.into(),
            note: HOSTILE.into(),
            shares: true,
            panels: vec![several],
        }),
        pairs(&pair),
        observed(&outcomes),
    ]
    .into_iter()
    .chain(levels(&outcomes))
    .collect()
}

/// The numbers of some attributes of a drawing.
fn numbers(svg: &str, names: &[&str]) -> Vec<f64> {
    let one = |name: &&str| {
        let start = format!(" {name}=\"");
        let attributes = svg.split(start.as_str()).skip(1);
        let texts = attributes.map(|rest| rest.split('"').next().unwrap());
        // The paper is as large as the page, in per cent.
        texts.filter(|t| !t.ends_with('%')).map(|t| t.parse().unwrap()).collect::<Vec<f64>>()
    };
    names.iter().flat_map(one).collect()
}

/// The coordinates of all paths, as pairs.
fn paths(svg: &str) -> Vec<f64> {
    let commands = svg.split(" d=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    commands
        .flat_map(|d| d.split(|c: char| c.is_alphabetic() || c == ' ' || c == ','))
        .filter(|n| !n.is_empty())
        .map(|n| n.parse().unwrap())
        .collect()
}

#[test]
fn nothing_leaves_the_page() {
    for values in EXTREMES {
        for scene in all(values) {
            let text = svg(&scene);
            assert!(!text.contains("NaN") && !text.contains("inf"), "{values:?}: {text}");
            let across = numbers(&text, &["x", "x1", "x2", "cx"]);
            let down = numbers(&text, &["y", "y1", "y2", "cy"]);
            assert!(across.iter().all(|v| (-1.0..=scene.width + 1.0).contains(v)), "{values:?}");
            assert!(down.iter().all(|v| (-1.0..=scene.height + 1.0).contains(v)), "{values:?}");
            let longest = scene.width.max(scene.height) + 1.0;
            assert!(paths(&text).iter().all(|v| v.is_finite() && v.abs() <= longest));
        }
    }
}

#[test]
fn no_text_becomes_markup() {
    for scene in all(&[1.0, 2.0, 3.0, 4.0]) {
        let text = svg(&scene);
        assert!(!text.contains("<script") && !text.contains('\u{1}'), "{text}");
        assert!(text.contains("&lt;script&gt;"), "{text}");
        // A dollar is a dollar, not a formula.
        assert!(!text.contains("\\$"), "{text}");
    }
}

fn count(scene: &Scene, class: &str) -> usize {
    svg(scene).matches(&format!("class=\"mark {class}\"")).count()
}

#[test]
fn each_mark_is_there_once() {
    let plot = box_plot(&[1.0, 2.0, 3.0, 4.0]);
    let scene = boxes(&plot);
    assert_eq!([count(&scene, "box"), count(&scene, "line"), count(&scene, "band")], [6, 1, 1]);
    let few = boxes(&box_plot(&[1.0, 2.0]));
    assert_eq!([count(&few, "box"), count(&few, "dot")], [0, 12]);
    let scenes = all(&[0.1, 0.2, 0.3, 0.4]);
    let lines: Vec<usize> = scenes.iter().map(|s| count(s, "line")).collect();
    assert_eq!(lines, [1, 4, 2, 1, 2, 1, 2, 0, 4, 0, 2, 2, 0, 1, 4]);
    let bands: Vec<usize> = scenes.iter().map(|s| count(s, "band")).collect();
    assert_eq!(bands, [1, 4, 2, 0, 2, 2, 0, 0, 4, 0, 4, 2, 0, 1, 4]);
    let bars: Vec<usize> = scenes.iter().map(|s| count(s, "bar")).collect();
    assert_eq!(bars, [0, 0, 0, 0, 0, 4, 0, 40, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((count(&scenes[12], "heat"), count(&scenes[13], "dot")), (4, 2));
    assert_eq!(count(&scenes[9], "dot"), 8);
}

/// Quartiles by the definition: the p-quantile of n values in order lies p (n - 1) steps above the
/// first.
#[test]
fn boxes_say_their_quartiles() {
    let values = [5.0, 1.0, 4.0, 2.0, 3.5, 0.5];
    let text = svg(&boxes(&box_plot(&values)));
    // In order 0.5, 1, 2, 3.5, 4, 5: places 1.25, 2.5 and 3.75.
    let expected = "median 2.750, quartiles 1.250 to 3.875, values 0.5000, 1.000, 2.000, 3.500";
    assert_eq!(text.matches(expected).count(), 6, "{text}");
}

/// A value that is far worse is cut and said, and the other boxes stay where they can be read.
#[test]
fn a_bad_value_is_pointed_at() {
    let mut plot = box_plot(&[0.90, 0.92, 0.94, 0.96, 0.98]);
    let heights = |plot: &BoxPlot| numbers(&svg(&boxes(plot)), &["height"]);
    let largest = |v: &[f64]| v.iter().copied().filter(|h| *h < 300.0).fold(0.0, f64::max);
    let before = largest(&heights(&plot));
    plot.series[0].groups[0].values.push(1e6);
    let text = svg(&boxes(&plot));
    assert!(text.contains(">1.000e6<"), "{text}");
    assert!(largest(&heights(&plot)) > 0.2 * before);
}
