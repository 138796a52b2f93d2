"""The problems: few rows and weak data, so that chains cross between labels freely."""

X8 = [-0.95, -0.7, -0.4, -0.15, 0.2, 0.45, 0.75, 1.0]
X12 = [-1.0, -0.85, -0.65, -0.5, -0.3, -0.1, 0.1, 0.25, 0.5, 0.6, 0.8, 1.0]
Y12 = [0.62, 1.21, 0.34, 0.71, 0.18, -0.44, 0.05, -0.92, -0.31, -1.05, -0.2, -0.77]

# What two experts say: the first is good on the left, the second on the right.
GIVEN = {
    "mean": [
        [0.7, 0.9, 0.6, 0.5, 0.3, 0.2, 0.3, 0.4, 0.5, 0.4, 0.6, 0.5],
        [-0.3, 0.1, -0.4, 0.2, 0.4, -0.2, -0.1, -0.6, -0.5, -0.8, -0.4, -0.6],
    ],
    "sd": [
        [0.5, 0.5, 0.4, 0.5, 0.6, 0.7, 0.7, 0.8, 0.8, 0.9, 0.9, 1.0],
        [0.9, 0.9, 0.8, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.4, 0.5, 0.5],
    ],
}

# Inputs without data where the fused density is looked at, targets whose log density is taken
# there, and what the experts say.
PLACES = {"x": [-0.75, 0.05, 1.2], "y": [0.5, 0.3, -0.9]}
GIVEN_AT_PLACES = {
    "mean": [[0.8, 0.25, 0.5], [-0.1, -0.15, -0.7]],
    "sd": [[0.5, 0.7, 1.1], [0.9, 0.6, 0.5]],
}


def basis(size):
    return {"kernel": "rbf", "centre": 0.0, "half_width": 2.0, "size": size}


def given(method):
    places = PLACES | {"given": GIVEN_AT_PLACES}
    return {
        "method": method,
        "basis": basis(5),
        "x": X12,
        "y": Y12,
        "given": GIVEN,
        "places": places,
    }


def joint(method, size, y):
    return {"method": method, "basis": basis(size), "x": X8, "y": y, "places": PLACES}


# More noise than a few smooth functions can follow. Where they follow the targets, precisions have
# no bound but the prior, and a step that is right elsewhere diverges there.
NOISY = [1.1, -0.4, 0.9, -0.6, 0.5, -1.1, 0.4, -0.9]

# For a mixture noise makes it worse: an expert may follow some targets and leave the rest to the
# other. These can be followed by one.
SMOOTH = [0.4, 0.7, -0.1, 0.3, -0.5, 0.2, -0.8, -0.3]

PROBLEMS = {
    "bhs": given("bhs"),
    "pbhs": given("pbhs"),
    "mogpe": joint("mogpe", 3, SMOOTH),
    "pogpe": joint("pogpe", 3, NOISY),
    "het": joint("het", 5, NOISY),
}
