"""The tool on arrays and matrices of NumPy's and SciPy's, compared with what these compute.

usage: test_data.py WAVEFIT [SEED]

Problems are drawn. Every comparison is also made with a fault planted in the result, which must
show. Numbers come from NumPy and SciPy alone; the bounds are those of sums in the type.
"""
import os
import re
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import scipy.io
import scipy.ndimage
import scipy.sparse as sparse
import scipy.sparse.linalg

TOOL = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 20261122
draw = np.random.default_rng(SEED)
passed = failed = 0
out = ""


def report(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print("FAILED:", what)


def run(*args, code=0, says=""):
    """Runs the tool; its exit code, and what the one line of its error (of 0: its output) says."""
    global out
    done = subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True)
    out = done.stdout
    lines = [line for line in done.stderr.splitlines() if line.startswith("wavefit:")]
    text = done.stdout if code == 0 else "\n".join(lines)
    ok = done.returncode == code and (code == 0 or len(lines) == 1) and re.search(says, text)
    report(ok, f"wavefit {' '.join(map(str, args))}: exit {done.returncode}: {done.stderr.strip()}")
    return done.returncode == code


def is_close(result, wanted, magnitude, unit):
    """Whether the shape is that, and no element is off by more than `unit` of its magnitude."""
    return (result.shape == wanted.shape
            and bool(np.all(np.abs(result - wanted) <= unit * magnitude + np.finfo("f4").tiny)))


def compare(path, wanted, magnitude, terms, what):
    """The file's array with what it must be; then with one element of it wrong."""
    result = np.load(path)
    wanted, magnitude = np.asarray(wanted), np.asarray(magnitude)
    unit = np.finfo(result.dtype).eps * (terms + 6)
    report(is_close(result.astype("f8"), wanted, magnitude, unit), f"{what} (seed {SEED})")
    if result.size:
        at = draw.integers(result.size)
        wrong = result.astype("f8")
        wrong.flat[at] += 4 * unit * np.broadcast_to(magnitude, wanted.shape).flat[at] + 1e-30
        report(not is_close(wrong, wanted, magnitude, unit), f"{what}: a planted fault shows")
    report(not is_close(result.reshape(result.shape + (1,)), wanted, magnitude, unit),
           f"{what}: another shape shows")


# ------------------------------------------------------------------------------------- matmul

def save_as(kind, name, array):
    """The same numbers in files that differ: by the order of dimensions and of bytes, members of
    archives."""
    if kind == "npz":
        np.savez(name + ".npz", other=np.zeros(3), array=array)
        return name + ".npz:array"
    if kind == "packed":
        np.savez_compressed(name + ".npz", array)  # the only one: it need not be named
        return name + ".npz"
    if kind == "fortran":
        array = np.asfortranarray(array)
    if kind == "big":
        array = array.astype(array.dtype.newbyteorder(">"))
    np.save(name + ".npy", array)
    return name + ".npy"


def test_products():
    kinds = ["npy", "fortran", "big", "npz", "packed"]
    m, n, k = draw.integers(1, 40, 3)
    shapes = [((m, k), (k, n)), ((k,), (k, n)), ((m, k), (k,)), ((k,), (k,)),
              ((3, m, k), (3, k, n)), ((3, m, k), (k, n)), ((m, k), (2, k, n)), ((2, m, k), (k,)),
              ((0, k), (k, n)), ((m, 0), (0, n)), ((0,), (0,)), ((0, m, k), (0, k, n))]
    for i, (left, right) in enumerate(shapes):
        a, b = draw.standard_normal(left), draw.standard_normal(right)
        type_ = ["f32", "f64"][i % 2]
        cast = {"f32": "f4", "f64": "f8"}[type_]
        a, b = a.astype(cast), b.astype(cast)
        if run("matmul", save_as(kinds[i % 5], "a", a), save_as(kinds[(i + 1) % 5], "b", b),
               "--type", type_, "-o", "c.npy"):
            a, b = a.astype("f8"), b.astype("f8")
            compare("c.npy", a @ b, np.abs(a) @ np.abs(b), k, f"{left} @ {right}")
    a, b, c = draw.random((m, 0)), draw.random((0, n)), draw.random((m, n))
    np.save("a.npy", a), np.save("b.npy", b), np.save("c0.npy", c)
    run("matmul", "a.npy", "b.npy", "--beta", "-3", "-c", "c0.npy", "--type", "f64", "-o", "c.npy")
    compare("c.npy", -3 * c, 3 * c, 1, "k = 0 leaves beta C")


def test_integers():
    m, n, k = draw.integers(1, 40, 3)
    for name in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", ">i4", ">u2"]:
        low = -100 if np.dtype(name).kind == "i" else 0
        a = draw.integers(low, 2 if name == "?" else 101, (m, k)).astype(name)
        b = draw.integers(-100, 101, (k, n))
        np.save("a.npy", a), np.save("b.npy", b.astype("i1"))
        run("matmul", "a.npy", "b.npy", "--type", "i8", "-o", "c.npy", "--quiet")
        report(np.array_equal(np.load("c.npy"), a.astype("i8") @ b), f"{name} @ i1 as i8")
    np.save("a.npy", a.astype("f4") + 0.5)
    run("matmul", "a.npy", "b.npy", "--type", "i8", "-o", "c.npy", code=1,
        says="values are not whole numbers from -128 to 127")
    np.save("a.npy", np.full((m, k), 128, "i2"))
    run("matmul", "a.npy", "b.npy", "--type", "i8", code=1, says=f"a.npy: {m * k} values")
    np.save("c0.npy", np.full((m, n), 2.0 ** 31))
    np.save("a.npy", np.zeros((m, k), "i1"))
    run("matmul", "a.npy", "b.npy", "--type", "i8", "--beta", 1, "-c", "c0.npy", code=1,
        says="no whole number of 32 bits")


def test_refusals():
    """Valid files of other kinds are refused by what they are."""
    np.save("b.npy", np.zeros((2, 2)))
    for array, says in [(np.zeros(2, [("x", "f4"), ("y", "i2")]), r"structured .*'x'.*'y'.*\]; "),
                        (np.zeros((2, 2), "c8"), "complex numbers"),
                        (np.zeros((2, 2), "longdouble"), "floats of that size"),
                        (np.full((2, 2), "word"), "text"), (np.full((2, 2), b"word"), "text"),
                        (np.zeros((2, 2), "M8[s]"), "dates"),
                        (np.full((2, 2), None), "Python objects"),
                        (np.zeros((2, 2, 1, 1, 1)), "more than 4 dimensions"),
                        (np.zeros((2, 2, 1, 1)), "4 dimensions; a matrix has two"),
                        (np.float64(3), "0 dimensions")]:
        np.save("odd.npy", array, allow_pickle=True)
        run("matmul", "odd.npy", "b.npy", code=1, says="odd.npy: .*" + says)
        report("malformed" not in out, "a valid file is not malformed")
    np.savez("two.npz", first=np.zeros((2, 2)), second=np.zeros((2, 2)))
    run("matmul", "two.npz", "b.npy", code=1, says="two.npz:NAME; there are: first, second")
    run("matmul", "two.npz:third", "b.npy", code=1, says="no array 'third'; there are: first, sec")
    run("matmul", "b.npy:x", "b.npy", code=1, says="b.npy:x: No such file")
    with zipfile.ZipFile("far.npz", "w", zipfile.ZIP_BZIP2) as file:
        file.write("b.npy", "b.npy")
    run("matmul", "far.npz", "b.npy", code=1, says="packed in another way; stored and deflated")
    whole = open("two.npz", "rb").read()
    spoilt = bytearray(whole)
    spoilt[whole.index(b"NUMPY") + 130] ^= 1  # in the data of the first
    open("spoilt.npz", "wb").write(spoilt)
    run("matmul", "spoilt.npz:first", "b.npy", code=1, says="checksum is wrong")
    run("matmul", "spoilt.npz:second", "b.npy", "-o", "c.npy")
    open("short.npz", "wb").write(whole[:-30])
    run("matmul", "short.npz:first", "b.npy", code=1, says="no directory at its end")


# ------------------------------------------------------------------------ sparse matrices, cg

def test_what_scipy_writes():
    """All fields and symmetries of mmwrite, coordinate and array; what it writes is what we read,
    and the other way round."""
    n = int(draw.integers(5, 30))
    general = sparse.random(n, n + 3, 0.2, random_state=draw.integers(1 << 30))
    square = sparse.random(n, n, 0.2, random_state=draw.integers(1 << 30))
    whole = sparse.coo_matrix(np.round(20 * general.toarray() - 5 * (general.toarray() > 0)))
    cases = [(general, None), (sparse.coo_matrix(general, dtype="f4"), None),
             (whole.astype("i4"), None), (abs(whole).astype("u8"), None),
             (square + square.T, "symmetric"), (square - square.T, "skew-symmetric"),
             (square.toarray(), None), (square.toarray() + square.toarray().T, "symmetric"),
             (square.toarray() - square.toarray().T, "skew-symmetric"),
             (sparse.coo_matrix((n, n)), None), (general.T.tocsr(), None)]
    for i, (matrix, symmetry) in enumerate(cases):
        written = sparse.csr_matrix(matrix).astype("f8")
        scipy.io.mmwrite("m.mtx", matrix, comment=" of ours\n more of it", symmetry=symmetry,
                         precision=17)
        field = open("m.mtx").readline().split()[2:]
        run("spmv", "m.mtx", "-o", "copy.mtx")
        same = scipy.io.mmread("copy.mtx")
        report(same.shape == written.shape and (sparse.csr_matrix(same) != written).nnz == 0,
               f"{field} is read and written as it is")
        same.data[:1] *= 1 + 2 ** -50
        report(same.nnz == 0 or (sparse.csr_matrix(same) != written).nnz == 1, "a planted fault")
    scipy.io.mmwrite("m.mtx", general, field="pattern")
    run("spmv", "m.mtx", "-o", "copy.mtx")
    report(np.array_equal(scipy.io.mmread("copy.mtx").toarray(), general.toarray() != 0), "pattern")
    for symmetry in ["general", "hermitian"]:
        scipy.io.mmwrite("m.mtx", 1j * square - 1j * square.T, symmetry=symmetry)
        run("spmv", "m.mtx", code=1, says="m.mtx:1: complex matrices are not supported; .*real")
    scipy.io.mmwrite("m.mtx", square)
    text = open("m.mtx").read().splitlines()
    at = next(i for i, line in enumerate(text) if line[0] != "%") + 1
    text[at] = "0 1 1"
    open("zero.mtx", "w").write("\n".join(text) + "\n")
    run("spmv", "zero.mtx", code=1, says=f"zero.mtx:{at + 1}: row index '0' is not between 1")


def test_sparse_products():
    for i, shape in enumerate([(9, 14), (14, 9), (0, 5), (5, 0), (0, 0)]):
        a = sparse.random(*shape, 0.3, random_state=draw.integers(1 << 30)) if all(shape) else \
            sparse.coo_matrix(shape)
        scipy.io.mmwrite("m.mtx", a, precision=17)
        for way, option in [(a.tocsr(), []), (a.T.tocsr(), ["--transpose"])]:
            rows, columns = way.shape
            for inner, outer in [((columns,), (rows,)), ((columns, 1), (rows, 1)),
                                 ((columns, 3), (rows, 3))][:3 if i == 0 else 1]:
                x, y = draw.standard_normal(inner), draw.standard_normal(outer)
                np.save("x.npy", x), np.save("y0.npy", np.asfortranarray(y))
                run("spmv", "m.mtx", "--x", "x.npy", "--y", "y0.npy", "--beta", 0.5, "--alpha", -2,
                    "--type", "f64", "-o", "y.npy", *option)
                compare("y.npy", -2 * (way @ x) + 0.5 * y,
                        2 * (abs(way) @ np.abs(x)) + np.abs(y), shape[1] + 5,
                        f"{shape} {option} on x {inner}")
    np.save("x.npy", np.zeros((5, 40)))
    scipy.io.mmwrite("m.mtx", sparse.identity(5))
    run("spmv", "m.mtx", "--x", "x.npy", code=1, says="x.npy has 40 columns; at most 32 vectors")
    run("spmv", "m.mtx", "--y", "x.npy", code=2, says="--y goes with --beta")


def test_solves():
    n = int(draw.integers(20, 60))
    a = sparse.random(n, n, 0.1, random_state=draw.integers(1 << 30))
    a = (a @ a.T + 2 * sparse.identity(n)).tocsr()
    scipy.io.mmwrite("m.mtx", a, symmetry="symmetric", precision=17)
    b = draw.standard_normal(n)
    for name, shape in [("-b", (n,)), ("--b", (n, 1)), ("-b", (1, n))]:
        np.save("b.npy", b.reshape(shape))
        run("cg", "m.mtx", name, "b.npy", "--type", "f64", "--tolerance", "1e-11", "-o", "x.npy")
        x = np.load("x.npy")
        report(x.shape == shape, f"b {shape} gives x of that shape")
        wanted = scipy.sparse.linalg.spsolve(a.tocsc(), b)
        limit = 1e-9 * np.linalg.norm(wanted)
        report(np.linalg.norm(x.ravel() - wanted) <= limit, "cg solves as spsolve does")
        report(np.linalg.norm(x.ravel() * (1 + 1e-6) - wanted) > limit, "a planted fault shows")
    # Collections have right-hand sides as Matrix Market arrays.
    b[0] = 0
    scipy.io.mmwrite("b.mtx", b.reshape(n, 1), precision=17)
    run("cg", "m.mtx", "-b", "b.mtx", "--type", "f64", "--tolerance", "1e-11", "-o", "x.npy")
    x, wanted = np.load("x.npy"), scipy.sparse.linalg.spsolve(a.tocsc(), b)
    report(x.shape == (n, 1) and np.allclose(x.ravel(), wanted, rtol=1e-9), "b of a .mtx file")
    report(not np.allclose(x.ravel() * (1 + 1e-6), wanted, rtol=1e-9), "a planted fault shows")
    np.save("b.npy", b)
    run("cg", "m.mtx", "-b", "b.npy", "--type", "f64", "--tolerance", "1e-11",
        "--max-iterations", 4, "-o", "short.npy", code=1, says="not met within the iterations")
    report("short.npy: x after 4 iterations, short of the tolerance" in out, "and it is said")
    steps = []
    try:
        scipy.sparse.linalg.cg(a, b, maxiter=4, callback=lambda x: steps.append(x.copy()))
    except TypeError:
        pass
    report(np.allclose(np.load("short.npy"), steps[3], rtol=1e-9), "it is the fourth x of scipy's")
    report(not np.allclose(np.load("short.npy"), steps[2], rtol=1e-3), "and not its third")
    scipy.io.mmwrite("m.mtx", sparse.coo_matrix((0, 0)))
    run("cg", "m.mtx", "-o", "x.npy")
    report(np.load("x.npy").shape == (0,), "a system without rows has an x without elements")


# -------------------------------------------------------------------------------------- grids

def convolve(grid, weights, border, steps):
    """`steps` of the stencil by SciPy."""
    radius = weights.shape[0] // 2
    modes = {"neumann": "reflect", "periodic": "wrap", "dirichlet": "constant"}
    for _ in range(steps):
        after = scipy.ndimage.correlate(grid, weights, mode=modes[border])
        if border == "dirichlet":
            inner = tuple(slice(radius, -radius) for _ in grid.shape)
            kept = grid.copy()
            kept[inner] = after[inner]
            after = kept
        grid = after
    return grid


def test_stencils():
    for dimensions, box, border in [(3, True, "periodic"), (3, False, "dirichlet"),
                                    (2, True, "neumann"), (2, False, "periodic")]:
        shape = tuple(draw.integers(6, 14, dimensions))
        grid = draw.standard_normal(shape)
        weights = draw.standard_normal((3,) * dimensions)
        # The order of wf_stencil_params: of a box, z, y and x from their ends; of a star, the
        # centre, then x, y and z, first down and then up.
        taps = weights.ravel()
        if not box:
            star = np.zeros_like(weights)
            centre = (1,) * dimensions
            places = [centre]
            for axis in reversed(range(dimensions)):
                for step in (0, 2):
                    places.append(centre[:axis] + (step,) + centre[axis + 1:])
            for place in places:
                star[place] = weights[place]
            weights, taps = star, np.array([star[place] for place in places])
        np.save("u.npy", np.asfortranarray(grid))
        # Of the boxes one is given as it lies, in Fortran's order.
        np.save("k.npy", np.asfortranarray(weights) if box and dimensions == 3 else taps)
        given = ["--in", "u.npy"] if box else ["u.npy"]
        run("stencil", *given, "--coefficients", "k.npy", "--shape", "box" if box else "star",
            "--border", border, "--steps", 2, "--type", "f64", "-o", "v.npy")
        compare("v.npy", convolve(grid, weights, border, 2),
                convolve(np.abs(grid), np.abs(weights), border, 2), 2 * taps.size,
                f"{'box' if box else 'star'} {shape} {border}")
    np.save("k.npy", weights)
    run("stencil", "u.npy", "--coefficients", "k.npy", code=1, says="go with --shape box")
    np.save("k.npy", weights[:, :2])
    run("stencil", "u.npy", "--coefficients", "k.npy", "--shape", "box", code=1,
        says="a vector of 9 elements is needed, not 3 x 2")
    np.save("u.npy", grid.reshape((1,) * 2 + grid.shape))
    run("stencil", "u.npy", code=1, says="two or three dimensions, not 1 x 1 x")
    np.save("u.npy", draw.random((6, 7, 8)))
    run("stencil", "u.npy", "--grid", "6x7x8", code=1, says="6 x 7 x 8 cells, the last index along")
    run("stencil", "--grid", "9x8x7", "-o", "v.npy")
    report(np.load("v.npy").shape == (7, 8, 9), "a grid without a file has its own dimensions")


def relax(p, a, b, c, bnd, wrk1, iterations, omega=np.float32(0.8)):
    """Himeno's relaxation, by the formula of the official Fortran program, whose i is contiguous;
    arrays are [k][j][i]."""
    def inner(x):
        return x[1:-1, 1:-1, 1:-1]

    for _ in range(iterations):
        def at(i, j, k):
            cut = [slice(1 + d, n - 1 + d) for d, n in zip((k, j, i), p.shape)]
            return p[tuple(cut)]

        s0 = (inner(a[0]) * at(1, 0, 0) + inner(a[1]) * at(0, 1, 0) + inner(a[2]) * at(0, 0, 1)
              + inner(b[0]) * (at(1, 1, 0) - at(1, -1, 0) - at(-1, 1, 0) + at(-1, -1, 0))
              + inner(b[1]) * (at(0, 1, 1) - at(0, -1, 1) - at(0, 1, -1) + at(0, -1, -1))
              + inner(b[2]) * (at(1, 0, 1) - at(-1, 0, 1) - at(1, 0, -1) + at(-1, 0, -1))
              + inner(c[0]) * at(-1, 0, 0) + inner(c[1]) * at(0, -1, 0)
              + inner(c[2]) * at(0, 0, -1) + inner(wrk1))
        ss = (s0 * inner(a[3]) - inner(p)) * inner(bnd)
        gosa = (ss * ss).sum()
        after = p.copy()
        after[1:-1, 1:-1, 1:-1] += float(omega) * ss
        p = after
    return p, gosa


def test_himeno():
    nk, nj, ni = shape = tuple(int(n) for n in draw.integers(5, 12, 3))
    fields = {name: draw.uniform(-0.3, 0.3, lead + shape).astype("f4")
              for name, lead in [("p", ()), ("a", (4,)), ("b", (3,)), ("c", (3,)), ("bnd", ()),
                                 ("wrk1", ())]}
    np.savez("fields.npz", **fields)
    options = [word for name in fields for word in (f"--{name}", f"fields.npz:{name}")]
    run("himeno", *options, "--iterations", 5, "-o", "p.npy", says=f"himeno {ni}x{nj}x{nk} f32")
    wide = {name: field.astype("f8") for name, field in fields.items()}
    wanted, gosa = relax(*(wide[name] for name in ["p", "a", "b", "c", "bnd", "wrk1"]), 5)
    compare("p.npy", wanted, np.abs(wanted).max(), 5 * 30, "himeno from fields")
    printed = float(re.search(r"gosa +([0-9.E+-]+)", out).group(1))
    report(abs(printed - gosa) < 1e-4 * gosa, "its gosa")
    np.save("p0.npy", fields["p"])
    run("himeno", "--p", "p0.npy", "--iterations", 2, "-o", "p.npy")
    ones = np.ones(shape)
    own = [wide["p"], np.stack([ones] * 3 + [ones / 6]), np.zeros((3,) + shape),
           np.ones((3,) + shape), ones, 0 * ones]
    compare("p.npy", relax(*own, 2)[0], np.abs(wanted).max() + 1, 2 * 30, "himeno from p alone")
    run("himeno", "--p", "p0.npy", code=2, says="--iterations N")
    run("himeno", "--a", "p0.npy", "--iterations", 1, code=1, says="4 x NK x NJ x NI values are ne")
    run("himeno", "--size", "9x9x9", "--p", "p0.npy", "--iterations", 1, code=1,
        says="9 x 9 x 9 values are needed, not")


def test_laplace():
    shape = tuple(draw.integers(5, 15, 2))
    border = draw.standard_normal(shape)
    np.savez_compressed("edge.npz", other=border + 1, edge=border.astype(">f8"))
    run("laplace", "--border", "edge.npz:edge", "--type", "f64", "--tolerance", "1e-12",
        "-o", "u.npy", "--time", "--repeat", 2, says="solves .* median of 2 ")
    cells = shape[0] * shape[1]
    inside = np.zeros(shape, bool)
    inside[1:-1, 1:-1] = True
    inside = inside.ravel()
    near = sparse.diags([1, 1, 1, 1], [-shape[1], -1, 1, shape[1]], (cells, cells)).tocsr()
    rows = sparse.diags(inside.astype(float)) @ (sparse.identity(cells) - near / 4)
    system = rows + sparse.diags((~inside).astype(float))
    right = np.where(inside, 0, border.ravel())
    wanted = scipy.sparse.linalg.spsolve(system.tocsc(), right).reshape(shape)
    u = np.load("u.npy")
    report(np.abs(u - wanted).max() < 1e-9, "laplace as spsolve does")
    report(np.abs(np.where(u == u.max(), u + 1e-8, u) - wanted).max() > 1e-9, "a planted fault")
    run("laplace", "--grid", "9x9", "--repeat", 2, code=2, says="--repeat goes with --time")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in [value for name, value in list(globals().items()) if name.startswith("test_")]:
        test()
    os.chdir("/")
print(f"{passed} passed, {failed} failed (seed {SEED})")
sys.exit(failed != 0)
