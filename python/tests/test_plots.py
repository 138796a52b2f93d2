"""Pictures hold what the estimators say, and fail in words."""

import sys
import warnings

import numpy as np
import pytest

import gpfuse as gf

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (50, 2))
    return X, np.sin(X[:, 0]) + 0.2 * rng.normal(size=50)


@pytest.fixture(scope="module")
def fitted(rows) -> gf.PoGPE:
    short = {"chains": 2, "warmup": 40, "draws": 30, "size": 5, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.ConvergenceWarning)
        return gf.PoGPE(experts=2, progress=False, **short).fit(*rows)


def _lines(ax) -> dict[str, np.ndarray]:
    """The named lines, as (x, y)."""
    return {line.get_label(): np.array(line.get_data()) for line in ax.get_lines()}


@pytest.mark.parametrize("along", [0, "x1", None])
def test_weights_along_an_input_are_averages_over_the_others(fitted, rows, along) -> None:
    X, _ = rows
    ax = gf.plot_weights(fitted, X, along=along, level=0.8)
    ranked = gf.weight_effects(fitted, X, level=0.8)
    assert np.all(np.diff(ranked.moves) <= 0)
    name = {0: "x0", None: ranked.inputs[0]}.get(along, along)
    assert ax.get_xlabel() == name
    found = fitted.weight_effects(X, 0.8, inputs=[name])
    assert found.inputs == [name] and found.experts == ["1", "2"]
    places, mean = found.places[0], found.mean[0]
    assert np.all(np.diff(places) > 0) and np.allclose(mean.sum(axis=1), 1.0)
    assert np.all(found.low[0] <= mean + 1e-12)
    assert places[0] == X[:, int(name[1])].min() and places[-1] == X[:, int(name[1])].max()
    lines = _lines(ax)
    for k in range(2):
        assert np.array_equal(lines[f"expert {k + 1}"], [places, mean[:, k]])


def test_weight_effects_are_a_table_and_words(fitted, rows) -> None:
    found = fitted.weight_effects(rows[0])
    assert found.to_pandas().index.tolist() == found.inputs
    assert found.words in repr(found) and "moves a share by" in repr(found)
    assert found.average.shape == (2, 3) and np.isclose(found.average[:, 0].sum(), 1.0)
    with pytest.raises(ValueError, match="no input is called 'x9': use one of"):
        fitted.weight_effects(rows[0], inputs=["x9"])
    with pytest.raises(ValueError, match="input 7 is out of range: use 0 to 1"):
        gf.plot_weights(fitted, rows[0], along=7)
    with pytest.raises(ValueError, match="give one of the two"):
        gf.plot_weights(fitted, rows[0], along=0, feature=0)


@pytest.mark.parametrize("feature", [0, 1])
def test_weights_are_drawn_in_the_order_of_the_input(fitted, rows, feature: int) -> None:
    X, _ = rows
    lines = _lines(gf.plot_weights(fitted, X, feature=feature, level=0.8))
    order = np.argsort(X[:, feature])
    found = fitted.weights(X, level=0.8)
    for k in range(2):
        x, mean = lines[f"expert {k + 1}"]
        assert np.array_equal(x, X[order, feature])
        assert np.array_equal(mean, found.mean[order, k])


def test_bands_of_weights_hold_the_interval(fitted, rows) -> None:
    X, _ = rows
    ax = gf.plot_weights(fitted, X, feature=0, level=0.5)
    found = fitted.weights(X, level=0.5)
    assert len(ax.collections) == 2
    for k, band in enumerate(ax.collections):
        heights = band.get_paths()[0].vertices[:, 1]
        assert np.isclose(heights.min(), found.low[:, k].min())
        assert np.isclose(heights.max(), found.high[:, k].max())
    assert "50 %" in ax.get_ylabel()
    assert ax.get_ylim()[0] == 0.0


def test_each_of_many_experts_has_its_own_look() -> None:
    class Many:
        def weights(self, X, level):
            w = np.full((len(X), 20), 0.05)
            names = [f"m{k}" for k in range(20)]
            return gf.Weights(names, w, w, w, w, w, level=level)

    ax = gf.plot_weights(Many(), np.arange(3.0)[:, None], feature=0)
    looks = {
        (line.get_color(), str(line._unscaled_dash_pattern))
        for line in ax.get_lines()
        if line.get_label().startswith("m")
    }
    assert len(looks) == 20


def test_predictions_are_drawn_in_the_order_of_the_input(fitted, rows) -> None:
    X, y = rows
    ax = gf.plot_prediction(fitted, X, y, levels=(0.5, 0.8, 0.95))
    order = np.argsort(X[:, 0])
    dist = fitted.predict_dist(X)
    lines = _lines(ax)
    assert np.array_equal(lines["median"], [X[order, 0], dist.quantile(0.5)[order]])
    assert np.array_equal(lines["mean"], [X[order, 0], dist.mean[order]])
    *bands, points = ax.collections
    assert np.array_equal(points.get_offsets(), np.c_[X[order, 0], y[order]])
    assert [band.get_label() for band in bands] == [f"{p} % interval" for p in (95, 80, 50)]
    for band, level in zip(bands, (0.95, 0.8, 0.5), strict=True):
        heights = band.get_paths()[0].vertices[:, 1]
        low, high = dist.interval(level)
        assert np.isclose(heights.min(), low.min())
        assert np.isclose(heights.max(), high.max())


def test_axes_names_and_what_experts_say_are_passed_on(rows) -> None:
    """The given axes are used, and named columns give their names."""
    pandas = pytest.importorskip("pandas")
    X, y = rows
    table = pandas.DataFrame(X, columns=["depth", "heat"])
    gp = gf.GP(starts=1, random_state=0).fit(table, y)
    _, ax = pyplot.subplots()
    assert gf.plot_prediction(gp, table, feature="heat", ax=ax) is ax
    assert ax.get_xlabel() == "heat"
    asked = {}

    class Given:
        def predict_dist(self, X, **said):
            asked.update(said)
            return gp.predict_dist(X)

    gf.plot_prediction(Given(), table, ax=ax, mean=1, std=2)
    assert asked == {"mean": 1, "std": 2}


def test_what_is_wrong_is_named(fitted, rows, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows
    with pytest.raises(ValueError, match="feature: 2 is out of range: use 0 to 1"):
        gf.plot_weights(fitted, X, feature=2)
    with pytest.raises(ValueError, match=r"no input is called 'heat': use one of \['x0', 'x1'\]"):
        gf.plot_weights(fitted, X, feature="heat")
    with pytest.raises(ValueError, match="levels: 90 is out of range"):
        gf.plot_prediction(fitted, X, levels=(90,))
    with pytest.raises(ValueError, match="y: 49 outcomes for 50 rows"):
        gf.plot_prediction(fitted, X, y[1:])
    with pytest.raises(ValueError, match="X: expected 2 dimensions"):
        gf.plot_prediction(fitted, y)
    with pytest.raises(TypeError, match="GP has no weights"):
        gf.plot_weights(gf.GP(), X)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install gpfuse\[plot\]"):
        gf.plot_weights(fitted, X)
