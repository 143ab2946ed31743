"""scipy_sparse.py: scipy's own tests of sparse matrices (of its CSR class) on wavefit's. Prints
what becomes of each; main() returns it as a dictionary. Works with the tests of scipy 1.10."""

import collections
import sys
import warnings

import numpy as np
import scipy
import scipy.sparse as sp
import scipy.sparse.tests.test_base as theirs

import wavefit


class Absent(Exception):
    """The test asks for what wavefit's matrices do not have."""


class Matrix:
    """A matrix of wavefit's under the names that scipy's tests use. Products are wavefit's, copies
    back to the host scipy's; whatever else they ask for is absent."""

    __array_priority__ = 20.0
    products = 0

    def __init__(self, host, of=None, transposed=False):
        if host.dtype.kind not in "biuf":
            raise Absent(f"matrices of {host.dtype.name}")
        self.host, self.of = host, of or wavefit.csr(host)
        self.shape, self.ndim, self.dtype = host.shape, 2, self.of.dtype

    def product(self, x, left=False):
        if sp.issparse(x) or isinstance(x, Matrix):
            raise Absent("products of two sparse matrices")
        if np.isscalar(x) or getattr(x, "ndim", 1) == 0:
            return Matrix((self.host * x).tocsr())
        if np.asarray(x).dtype.kind not in "biuf":
            raise Absent(f"x of {np.asarray(x).dtype.name}")
        Matrix.products += 1
        made = np.asarray(x) @ self.of if left else self.of @ np.asarray(x)
        return np.asmatrix(made) if isinstance(x, np.matrix) else made

    def __matmul__(self, x):
        return self.product(x)

    def __rmatmul__(self, x):
        return self.product(x, left=True)

    __mul__ = dot = __matmul__
    __rmul__ = __rmatmul__

    def transpose(self):
        return Matrix(self.host.T.tocsr(), self.of.T)

    @property
    def T(self):
        return self.transpose()

    @property
    def A(self):
        return self.host.toarray()

    def toarray(self):
        return self.host.toarray()

    def todense(self):
        return self.host.todense()

    def __array_ufunc__(self, ufunc, method, *inputs, **_):
        if ufunc in (np.matmul, np.multiply) and method == "__call__" and inputs[1] is self:
            return self.product(inputs[0], left=True)
        raise Absent("arithmetic")

    def __getattr__(self, name):
        if name.startswith("__"):  # what NumPy looks for
            raise AttributeError(name)
        raise Absent("other methods of scipy's matrices")


def absent(what):
    def refuse(self, *_):
        raise Absent(what)
    return refuse


for group, members in {"indexing": "getitem setitem iter len",
                       "arithmetic": "add radd sub rsub iadd isub imul itruediv truediv rtruediv "
                                     "pow neg abs round",
                       "comparisons": "eq ne lt le gt ge bool"}.items():
    for member in members.split():
        setattr(Matrix, f"__{member}__", absent(group))


class Ours(theirs.TestCSR):
    spmatrix = spcreator = staticmethod(lambda *a, **k: Matrix(sp.csr_matrix(*a, **k)))
    math_dtypes = [np.float64]


def outcome(name):
    """"passed", "wrong: …", "no product", or what the test asks for that is not there."""
    case, before = Ours(), Matrix.products
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for way in ("setup_method", "setUp"):
                getattr(case, way, lambda: None)()
            getattr(case, name)()
    except Absent as what:
        return str(what)
    except BaseException as error:  # whatever goes wrong behind a product is wavefit's
        if Matrix.products > before:
            return f"wrong: {type(error).__name__}: {' '.join(str(error).split())[:80]}"
        return "other methods of scipy's matrices"
    return "passed" if Matrix.products > before else "no product"


def names():
    """The tests that need no values of pytest's parameters."""
    return [name for name in sorted(dir(Ours)) if name.startswith("test_") and
            not getattr(getattr(Ours, name), "pytestmark", None)]


def main():
    print(f"scipy {scipy.__version__}, wavefit {wavefit.__version__} on "
          f"{wavefit.default_device().info.name}")
    told = {name: outcome(name) for name in names()}
    others = collections.defaultdict(list)
    for name, text in told.items():
        if text == "passed" or text.startswith("wrong"):
            print(f"{name:28} {text}")
        else:
            others[text].append(name)
    for text, tests in sorted(others.items(), key=lambda item: -len(item[1])):
        print(f"does not apply, {text}: {len(tests)}: {' '.join(tests)}")
    return told


if __name__ == "__main__":
    sys.exit(min(sum(text.startswith("wrong") for text in main().values()), 125))
