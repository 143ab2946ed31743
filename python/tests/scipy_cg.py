"""scipy_cg.py: scipy's own tests of cg, run on wavefit.cg: its cases of solvers (those for
positive definite matrices) and its checks. Prints a line for each; the exit status is the number of
failures. Works with the tests that scipy 1.10 and 1.15 install."""

import inspect
import sys
import warnings

import numpy as np
import scipy
import scipy.sparse.linalg._isolve.tests.test_iterative as theirs

import wavefit


def cg(A, b, x0=None, *, tol=None, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
    """scipy's parameters of before 1.12 and after."""
    return wavefit.cg(A, b, x0, rtol=rtol if tol is None else tol, atol=atol or 0.0,
                      maxiter=maxiter, M=M, callback=callback)


def cases():
    """scipy's cases for cg."""
    params = theirs.IterativeParams()
    # A case is skipped for a solver that cannot do it; since 1.12 the lists name the solver.
    return [case for case in params.cases
            if theirs.cg not in case.skip and "cg" not in
            [getattr(solver, "__name__", solver) for solver in case.skip]]


def checks():
    """scipy's checks as functions of a case, with scipy's tolerances."""
    def convergence(case):
        tol = 1e-8 if case.A.dtype.char in "dD" else 1e-2
        x, info = cg(case.A, case.b, 0 * case.b, tol=tol)
        np.testing.assert_equal(info, 0)
        assert np.linalg.norm(case.A.dot(x) - case.b) < tol * np.linalg.norm(case.b)

    def maxiter(case):
        seen = []
        _, info = cg(case.A, case.b, 0 * case.b, tol=1e-12, maxiter=1, callback=seen.append)
        assert len(seen) == 1 and info == 1

    if hasattr(theirs, "check_convergence"):
        return {"check_convergence": lambda case: theirs.check_convergence(cg, case),
                "check_maxiter": lambda case: theirs.check_maxiter(cg, case),
                "check_precond_dummy": lambda case: theirs.check_precond_dummy(cg, case),
                "check_precond_inverse": lambda case: theirs.check_precond_inverse(cg, case)}
    return {"test_convergence": convergence, "test_maxiter": maxiter}


def whole():
    """scipy's tests of one solver that bring problems of their own."""
    found = {}
    for name in ("test_atol", "test_zero_rhs", "test_x0_working", "test_x0_equals_Mb"):
        test = getattr(theirs, name, None)
        if test is not None and list(inspect.signature(test).parameters) == ["solver"]:
            found[name] = lambda test=test: test(cg)
    if hasattr(theirs, "_check_reentrancy"):
        found["test_reentrancy"] = lambda: theirs._check_reentrancy(cg, True)
    return found


def outcome(check, *case):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(*case)
    except BaseException as error:  # scipy's checks raise whatever goes wrong
        return f"{type(error).__name__}: {' '.join(str(error).split())[:70]}"
    return "passed"


def main():
    failures = passed = 0
    print(f"scipy {scipy.__version__}, wavefit {wavefit.__version__} on "
          f"{wavefit.default_device().info.name}")
    for name, check in checks().items():
        for case in cases():
            if np.iscomplexobj(case.A.toarray() if hasattr(case.A, "toarray") else case.A):
                print(f"{name:22} {case.name:18} {case.A.dtype.char}  does not apply: complex")
                continue
            told = outcome(check, case)
            passed += told == "passed"
            failures += told != "passed"
            print(f"{name:22} {case.name:18} {case.A.dtype.char}  {told}")
    if hasattr(theirs, "params"):  # for tests that go through all cases by themselves
        theirs.params.cases = [case for case in cases() if case.A.dtype.kind == "f"]
    for name, test in whole().items():
        told = outcome(test)
        passed += told == "passed"
        failures += told != "passed"
        print(f"{name:44} {told}")
    print(f"{passed} passed, {failures} failed")
    return failures


if __name__ == "__main__":
    sys.exit(min(main(), 125))
