"""Cross-validation: errors over folds, the same bits anywhere, failures in the table."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

import gpfuse as gf
from gpfuse.cross_validations import CrossValidations
from gpfuse.folds import CrossValidation, Fold
from gpfuse.scores import Score, Scores

DATA = gf.simulate(60, random_state=1)
SMALL: dict[str, Any] = {"chains": 2, "warmup": 40, "draws": 40}


def fold(
    value: float,
    mcse: float | None = None,
    train: int = 20,
    test: int = 10,
    se: float | None = None,
    losses: Any = None,
    converged: bool | None = True,
) -> Fold:
    score = Score(value, mcse, se)
    own = np.zeros(test) if losses is None else losses
    return Fold(Scores(score, score, score, score, {}, own), converged, 1.0, train, test)


def failed(words: str = "ValueError: no") -> Fold:
    return Fold(None, None, 0.5, 20, 10, words)


def losses(found: CrossValidation) -> bytes:
    return b"".join(one.scores.losses.tobytes() for one in found.done if one.scores is not None)


class Crash(gf.GP):
    """Takes its process with it."""

    def fit(self, X: Any, y: Any) -> Any:
        os._exit(1)


class Spy(gf.GP):
    """Notes what it is given."""

    seen: ClassVar[list[tuple[Any, Any]]] = []

    def fit(self, X: Any, y: Any) -> Any:
        self.seen.append((self.threads, self.random_state))
        return super().fit(X, y)


class Asking(gf.GP):
    """Asks experts while it is fitted."""

    experts: ClassVar[list[Any]] = []

    def fit(self, X: Any, y: Any) -> Any:
        answers = [expert.submit(X) for expert in self.experts]
        assert all(len(answer.result()[0]) == len(X) for answer in answers)
        return super().fit(X, y)


class CtrlC(gf.GP):
    """Somebody stops the program while it is fitted."""

    begun: ClassVar[list[int]] = []

    def fit(self, X: Any, y: Any) -> Any:
        self.begun.append(len(self.begun))
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.5)
        return super().fit(X, y)


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


# ---- errors over folds


def test_the_error_accounts_for_overlap() -> None:
    """Nadeau and Bengio: 1, 2, 4 have a variance of 7/3; a third is the share of test rows."""
    found = CrossValidation([fold(1), fold(2), fold(4)]).nlpd
    assert found.value == pytest.approx(7 / 3)
    assert found.se == pytest.approx(math.sqrt(7 / 3 * (1 / 3 + 1 / 2)))
    # Without overlap, as with ever fewer test rows, it is the usual one.
    usual = CrossValidation([fold(v, train=10**9, test=1) for v in (1, 2, 4)]).nlpd
    assert usual.se == pytest.approx(math.sqrt(7 / 3 / 3))
    noisy = CrossValidation([fold(1, mcse=3.0), fold(2, mcse=4.0)]).nlpd
    assert noisy.mcse == pytest.approx(2.5)
    single = CrossValidation([fold(1)]).nlpd
    assert (single.value, single.mcse, single.se) == (1.0, None, None)
    assert str(usual) == "2.333 +- 0.88 (in all)"


def test_folds_that_agree_by_chance_do_not_make_a_small_error() -> None:
    """The error is not below that of the rows and the draws: here 3 and 4 over two folds."""
    for errors, expected in [((3.0, 4.0), 2.5), ((3.0, None), 1.5), ((None, 4.0), 2.0)]:
        se, mcse = errors
        folds = [fold(v, mcse=mcse, se=se) for v in (1.0, 1.0)]
        assert CrossValidation(folds).nlpd.se == pytest.approx(math.sqrt(2) * expected)
    wide = CrossValidation([fold(v, mcse=0.1, se=0.1) for v in (0.0, 9.0)]).nlpd
    assert wide.se == pytest.approx(math.sqrt(81 / 2 * (1 / 2 + 1 / 2)))
    assert CrossValidation([fold(1.0, mcse=4.0, se=3.0)]).nlpd.se == pytest.approx(5.0)


def test_rows_and_draws_are_in_the_error_of_a_difference() -> None:
    """The folds agree on the difference of 1; the rows of each scatter, and so do the draws."""
    rng = np.random.default_rng(0)
    hard, apart = 100 * rng.normal(size=(3, 10)), rng.normal(size=10)
    apart += 1 - apart.mean()
    draws = 0.2
    found = CrossValidations(
        {
            "a": CrossValidation([fold(h.mean(), mcse=draws, losses=h) for h in hard]),
            "b": CrossValidation([fold(h.mean() + 1, mcse=draws, losses=h + apart) for h in hard]),
        }
    )
    one = found.difference("b", "a")
    rows = apart.std(ddof=1) / math.sqrt(10) / math.sqrt(3)
    noise = draws * math.sqrt(2 / 3)
    assert one.value == pytest.approx(1.0)
    assert one.mcse == pytest.approx(noise)
    assert one.se == pytest.approx(math.hypot(rows, noise))
    # Single rows are kept for the NLPD only; of the other scores the draws are in the error.
    assert found.difference("b", "a", "crps").se == pytest.approx(noise)
    itself = found.difference("a", "a")
    assert (itself.value, itself.se, itself.mcse) == (0.0, 0.0, None)
    frame = found.to_pandas()
    assert frame["difference_mcse"].loc[found.ranked[1]] == pytest.approx(noise)


def test_too_few_draws_to_tell_is_not_no_error() -> None:
    """A model without chains has no Monte Carlo error; chains may be too short to have one."""
    exact = CrossValidation([fold(v, converged=None) for v in (1.0, 2.0)])
    known = CrossValidation([fold(v, mcse=0.3) for v in (1.0, 2.0)])
    short = CrossValidation([fold(1.0, mcse=0.3), fold(2.0)])
    assert exact.nlpd.mcse is None
    assert short.nlpd.mcse is None
    found = CrossValidations({"exact": exact, "known": known, "short": short})
    assert found.difference("known", "exact").mcse == pytest.approx(0.3 / math.sqrt(2))
    assert found.difference("short", "exact").mcse is None
    assert found.difference("known", "short").mcse is None


def test_hard_folds_are_not_in_the_error_of_a_difference() -> None:
    rng = np.random.default_rng(0)
    a, b, hard = rng.normal(size=5), 3 + rng.normal(size=5), 100 * rng.normal(size=5)

    def apart(shift: Any) -> Score:
        results = {
            name: CrossValidation([fold(v) for v in values + shift])
            for name, values in {"a": a, "b": b}.items()
        }
        assert CrossValidations(results).best == "a"
        return CrossValidations(results).difference("b")

    plain, shifted = apart(0.0), apart(hard)
    assert shifted.value == pytest.approx(plain.value)
    assert shifted.se == pytest.approx(plain.se)
    assert plain.value == pytest.approx(np.mean(b - a))


def test_failures_rank_last_and_leave_their_folds_out() -> None:
    found = CrossValidations(
        {
            "none": CrossValidation([failed(), failed(), failed()]),
            "some": CrossValidation([failed(), fold(0), fold(0.5)]),
            "whole": CrossValidation([fold(100), fold(1), fold(2)]),
        }
    )
    assert found.ranked == ["whole", "some", "none"]
    assert found.difference("some").value == pytest.approx(-1.25)
    assert math.isnan(found.difference("none").value)
    table = str(found).splitlines()
    assert [line.split()[0] for line in table[1:]] == found.ranked
    assert table[2].endswith("1 of 3 failed: ValueError: no")
    frame = found.to_pandas()
    assert list(frame.index) == found.ranked
    assert list(frame["failed"]) == [0, 1, 3]


# ---- runs


def test_it_is_what_one_would_do_by_hand() -> None:
    gp = gf.GP(random_state=2)
    found = gf.cross_validate(gp, DATA.X, DATA.y, cv=3, random_state=7)
    splits = KFold(3, shuffle=True, random_state=7).split(DATA.X)
    for one, (train, test) in zip(found.folds, splits, strict=True):
        expected = gf.GP(random_state=2).fit(DATA.X[train], DATA.y[train])
        assert one.scores is not None
        own = expected.evaluate(DATA.X[test], DATA.y[test])
        np.testing.assert_array_equal(one.scores.losses, own.losses)
        assert (one.train, one.test, one.converged) == (len(train), len(test), None)
    assert not hasattr(gp, "gp_")


@pytest.mark.parametrize("where", ["threads", "processes"])
def test_the_executor_does_not_matter(where: str, processes: Executor) -> None:
    """Seeds of estimators that have none come from `random_state` and the fold."""
    estimators = {"gp": gf.GP(), "het": gf.HetGP(**SMALL), "bad": gf.GP(kernel="none")}
    here = gf.cross_validate_all(estimators, DATA.X, DATA.y, cv=2)
    with ThreadPoolExecutor(2) as threads:
        executor = threads if where == "threads" else processes
        there = gf.cross_validate_all(estimators, DATA.X, DATA.y, cv=2, executor=executor)
    for name in estimators:
        assert losses(there.results[name]) == losses(here.results[name])
    assert len(losses(here.results["het"])) == 8 * len(DATA.y)
    other = gf.cross_validate_all(estimators, DATA.X, DATA.y, cv=2, random_state=1)
    assert losses(other.results["het"]) != losses(here.results["het"])
    for found in (here, there):
        assert found.ranked[-1] == "bad"
        assert "2 of 2 failed: ValueError: setting `kernel`" in str(found)


def test_chains_that_disagree_are_in_the_table_and_not_in_warnings() -> None:
    """Ten draws are never enough for the diagnostics, whatever the seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", gf.ConvergenceWarning)
        found = gf.cross_validate_all(
            [gf.HetGP(chains=2, warmup=20, draws=10)], DATA.X, DATA.y, cv=2
        )
    assert str(found).endswith("2 of 2 did not converge")
    assert list(found.to_pandas()["not_converged"]) == [2]
    with pytest.warns(gf.ConvergenceWarning):
        gf.HetGP(chains=2, warmup=20, draws=10, random_state=0).fit(DATA.X, DATA.y)


def test_a_broken_pool_is_a_failure_in_the_table() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        swept = gf.cross_validate_all({"crash": Crash()}, DATA.X, DATA.y, cv=2, executor=pool)
    found = swept.results["crash"]
    assert [one.error is not None and "Broken" in one.error for one in found.folds] == [True, True]
    assert math.isnan(found.nlpd.value)
    assert "failed: BrokenProcessPool" in str(found)


class Refusing(Executor):
    """An executor that jobs do not reach."""

    def submit(self, *args: Any, **options: Any) -> Any:
        try:
            raise TypeError("an expert does not pickle")
        except TypeError as error:
            raise RuntimeError("sending failed") from error


def test_a_job_that_does_not_travel_is_a_failure_with_its_cause() -> None:
    swept = gf.cross_validate_all({"gp": gf.GP()}, DATA.X, DATA.y, cv=2, executor=Refusing())
    words = "TypeError: an expert does not pickle"
    assert [one.error for one in swept.results["gp"].folds] == [words] * 2
    with pytest.raises(ValueError, match=f"all 2 folds failed: {words}"):
        gf.cross_validate(gf.GP(), DATA.X, DATA.y, cv=2, executor=Refusing())


def test_jobs_on_executors_have_one_thread_unless_told() -> None:
    def seen(estimator: Any, executor: Executor | None) -> list[Any]:
        Spy.seen.clear()
        gf.cross_validate(estimator, DATA.X, DATA.y, cv=2, executor=executor, random_state=5)
        return sorted(Spy.seen, key=str)

    with ThreadPoolExecutor(1) as pool:
        assert seen(Spy(), pool) == [(1, 5), (1, 6)]
        assert seen(Spy(threads=2, random_state=9), pool) == [(2, 9), (2, 9)]
    assert seen(Spy(), None) == [(None, 5), (None, 6)]


def test_experts_in_lists_are_seeded_as_well() -> None:
    """Copies only: what is frozen, and the caller's own, stay as they are.

    In each of the two folds a GP is fitted once, and the nested rule six times: it has folds.
    """
    frozen = Spy(starts=1).fit(DATA.X, DATA.y)
    inner = gf.Baseline(estimators=[Spy(starts=1)])
    model = gf.Baseline(estimators=[("a", Spy(starts=1)), inner, FrozenEstimator(frozen)])
    with ThreadPoolExecutor(1) as pool:
        for threads, where in [(1, pool), (None, None)]:
            Spy.seen.clear()
            found = gf.cross_validate(model, DATA.X, DATA.y, cv=2, executor=where, random_state=5)
            assert not found.notes
            assert sorted(Spy.seen, key=str) == [(threads, 5)] * 7 + [(threads, 6)] * 7
    assert model.estimators[0][1].random_state is None
    assert inner.estimators[0].random_state is None
    assert frozen.random_state is None


def test_jobs_do_not_wait_for_their_own_pool() -> None:
    """Experts on the same pool answer inside its jobs, where no thread is free for them."""
    found = []

    def run() -> None:
        with ThreadPoolExecutor(1) as pool:
            Asking.experts[:] = gf.fit_experts([(DATA.X, DATA.y)], executor=pool)
            found.append(gf.cross_validate(Asking(), DATA.X, DATA.y, cv=2, executor=pool))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert [one.error for one in found[0].folds] == [None, None]


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("pool", [True, False])
def test_ctrl_c_cancels_what_has_not_begun(pool: bool) -> None:
    """The main thread has half a second, while a job sleeps, to cancel the rest."""
    CtrlC.begun.clear()
    with ThreadPoolExecutor(1) as threads, pytest.raises(KeyboardInterrupt):
        executor = threads if pool else None
        gf.cross_validate(CtrlC(), DATA.X, DATA.y, cv=6, executor=executor)
    assert len(CtrlC.begun) in (1, 2)


def test_ways_to_give_folds() -> None:
    mask = np.arange(60) < 40
    for cv, sizes in [
        (4, [15] * 4),
        (ShuffleSplit(2, test_size=6, random_state=0), [6, 6]),
        ([(mask, ~mask), (np.arange(50), [50, 51])], [20, 2]),
        (GroupKFold(2).split(DATA.X, DATA.y, np.arange(60) % 2), [30, 30]),
    ]:
        found = gf.cross_validate(gf.GP(), DATA.X, DATA.y, cv=cv)
        assert [one.test for one in found.folds] == sizes
        assert not found.notes


def test_data_frames_keep_their_names() -> None:
    frame = pd.DataFrame(DATA.X, columns=["depth"], index=range(100, 160))
    target = pd.Series(DATA.y, index=frame.index)
    plain = gf.cross_validate(gf.GP(), DATA.X, DATA.y, cv=2)
    assert losses(gf.cross_validate(gf.GP(), frame, target, cv=2)) == losses(plain)
    own = plain.to_pandas()
    assert list(own["nlpd"]) == [one.scores.nlpd.value for one in plain.folds if one.scores]


def test_names_of_a_list() -> None:
    found = gf.cross_validate_all(
        [gf.GP(), gf.GP(), gf.GP(kernel="matern32")], DATA.X, DATA.y, cv=2
    )
    assert set(found.results) == {"GP()", "GP() #2", "GP(kernel='matern32')"}


def test_wrong_calls() -> None:
    with pytest.raises(TypeError, match="estimator line: LinearRegression has no method `evaluate"):
        gf.cross_validate_all({"line": LinearRegression()}, DATA.X, DATA.y)
    with pytest.raises(ValueError, match="estimators: there are none"):
        gf.cross_validate_all({}, DATA.X, DATA.y)
    with pytest.raises(ValueError, match="cv: there are no folds"):
        gf.cross_validate(gf.GP(), DATA.X, DATA.y, cv=[])
    with pytest.raises(ValueError, match="cv: fold 1 has 0 rows to fit"):
        gf.cross_validate(gf.GP(), DATA.X, DATA.y, cv=[([0, 1], [2]), ([], [3])])


def test_a_bar_where_it_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    gf.cross_validate(gf.GP(), DATA.X, DATA.y, cv=2, progress=True)
    assert "folds" in capsys.readouterr().err
    gf.cross_validate(gf.GP(), DATA.X, DATA.y, cv=2)
    assert "folds" not in capsys.readouterr().err


def test_n_jobs_is_kept_on_an_executor() -> None:
    """`n_jobs` is a number of threads: no other one is filled in beside it."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 1))
    y = np.sin(5 * X[:, 0]) + 0.1 * rng.normal(size=40)
    model = gf.HetGP(size=5, chains=2, warmup=20, draws=20, n_jobs=1, random_state=0)
    with ThreadPoolExecutor(2) as executor:
        found = gf.cross_validate(model, X, y, cv=2, executor=executor)
    assert all(fold.error is None for fold in found.folds)
