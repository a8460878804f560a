"""scikit-learn's own checks of estimators, on rows of numbers that become graphs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

import mlgkernel
from mlgkernel import Graph, GraphHopper, Kernel, MLGClassifier, MLGEmbedding, MLGRegressor


class Tables:
    """Makes an estimator of graphs one of tables, which scikit-learn's checks have.

    A row becomes a path with a vertex for each number. The number is its attribute, rounded its label, and
    an edge is labelled by whether numbers rise. With `points` a row becomes one vertex, whose attributes are
    all of its numbers.
    """

    points = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string, tags.no_validation = True, False, False
        return tags

    def _graphs(self, X, reset=False):
        X = validate_data(self, X, dtype=np.float64, reset=reset)
        if self.points:
            return [Graph.from_arrays([], 1, attributes=x[None]) for x in X]
        n = X.shape[1]
        path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
        return [
            Graph.from_arrays(path, n, np.rint(x).astype(int), x[:, None], edge_labels=np.diff(x) > 0)
            for x in X
        ]

    def fit(self, X, y=None, **more):
        super().fit(self._graphs(X, reset=True), y, **more)
        self.n_features_in_ = np.asarray(X).shape[1]  # fitting forgets what was known before
        return self


class Predicting(Tables):
    points = True

    def fit(self, X, y=None, sample_weight=None):  # the checks look for the name
        return super().fit(X, y, sample_weight=sample_weight)

    def predict(self, X):
        return super().predict(self._graphs(X))


def _probable(e):
    return MLGClassifier._has_probability(e)


class Classifier(Predicting, MLGClassifier):
    def decision_function(self, X):
        return super().decision_function(self._graphs(X))

    @available_if(_probable)
    def predict_proba(self, X):
        return MLGClassifier.predict_proba.__get__(self)(self._graphs(X))

    @available_if(_probable)
    def predict_log_proba(self, X):
        return np.log(self.predict_proba(X))


class Regressor(Predicting, MLGRegressor):
    pass


class Transforming(Tables):
    def fit_transform(self, X, y=None):
        out = super().fit_transform(self._graphs(X, reset=True), y)
        self.n_features_in_ = np.asarray(X).shape[1]
        return out

    def transform(self, X):
        return super().transform(self._graphs(X))


class Embedding(Transforming, MLGEmbedding):
    points = True

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


class Sizes(Kernel):
    """A kernel in Python."""

    def pairwise_operation(self, x, y):
        return float(np.exp(-abs(x.attributes - y.attributes).sum()))


KERNELS = [
    Sizes,
    *(
        k
        for k in vars(mlgkernel).values()
        if isinstance(k, type) and issubclass(k, (Kernel, mlgkernel.GraphKernel)) and k is not Kernel
    ),
]
# Classes with names of their own can be pickled.
for _cls in KERNELS:
    globals()[f"Tabular{_cls.__name__}"] = type(
        f"Tabular{_cls.__name__}", (Transforming, _cls), {"__module__": __name__, "__init__": _cls.__init__}
    )
TABULAR = [globals()[f"Tabular{cls.__name__}"] for cls in KERNELS]

RBF = GraphHopper(kernel_type=("gaussian", 0.1))  # of one vertex with attributes: the Gaussian kernel
ESTIMATORS = [
    Classifier(RBF),
    Classifier(RBF, C=1, tol=1e-12),
    Regressor(RBF),
    Regressor(RBF, ridge=0.1),
    Regressor(RBF, C=1, tol=1e-12),
    Embedding(kernel=RBF),
]

# Checks that fail for a reason.
DIAGONAL = "as with GraKeL, diagonal() after transform tells of the graphs of both"
PAIRS = "predict takes the class that wins against all others, decision_function has means over the others"
COPIES = (
    "one of two equal graphs is left out while the other stays; a graph of weight 2 is left out as a whole"
)
EXPECTED = {
    Kernel: {"check_dict_unchanged": DIAGONAL},
    Sizes: {"check_dont_overwrite_parameters": "GraKeL's kernels in Python find graphs in their X"},
    mlgkernel.GraphKernel: {"check_dict_unchanged": DIAGONAL},
    MLGRegressor: {"check_fit2d_1sample": "the message counts graphs, not samples"},
}


def _leaves_out(e):
    """Report whether graphs are left out in turn, for a ridge or for probabilities."""
    return isinstance(e, Predicting) and not e.C and not (isinstance(e, MLGRegressor) and e.ridge)


def checked(estimator):
    """Run all checks and return the names of those that passed."""
    expected = {"check_classifiers_train": PAIRS} if getattr(estimator, "C", None) else {}
    if _leaves_out(estimator):
        expected["check_sample_weight_equivalence_on_dense_data"] = COPIES
    for cls, failing in EXPECTED.items():
        if isinstance(estimator, cls):
            expected.update(failing)
    results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {"check_array_api_input"}
    return {r["check_name"] for r in results if r["status"] == "passed"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_estimators(estimator):
    passed = checked(estimator)
    assert len(passed) > 35 and "check_methods_subset_invariance" in passed
    if isinstance(estimator, Predicting):
        weights = "check_sample_weight_equivalence_on_dense_data"  # 2 is the graph twice, and 0 leaves it out
        assert {"check_sample_weights_shape", "check_sample_weights_list"} <= passed
        assert (weights in passed) != _leaves_out(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", TABULAR)
def test_kernels(cls):
    passed = checked(cls())
    assert len(passed) > 35 and "check_transformer_general" in passed
