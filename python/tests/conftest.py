"""What the tests share: one device, and random numbers that a failure can repeat."""

import os

import numpy as np
import pytest

import wavefit


def pytest_report_header(config):
    return [f"wavefit {wavefit.__version__} in {os.path.dirname(wavefit.__file__)}",
            f"numpy {np.__version__}, on {wavefit.default_device().info!r}"]


@pytest.fixture(scope="session")
def device():
    return wavefit.default_device()


@pytest.fixture
def rng(request):
    """The same numbers in every run of a test, others in each test."""
    return np.random.default_rng(sum(map(ord, request.node.nodeid)))
