"""Three regressions of ozone sampled by NumPyro, as the files that `stack_arviz.py` stacks.

Each has the groups posterior, log_likelihood and observed_data, as ArviZ writes them.
"""

from pathlib import Path

import arviz as az
import jax
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
from stack_arviz import MODELS, basis, train

DATA = Path(__file__).parent / "data"
numpyro.set_host_device_count(2)


def model(columns, y, tails):
    beta = numpyro.sample("beta", dist.Normal(0, 2).expand([columns.shape[1]]).to_event(1))
    sd = numpyro.sample("sd", dist.HalfNormal(1))
    mean = columns @ beta
    noise = dist.StudentT(tails, mean, sd) if tails else dist.Normal(mean, sd)
    numpyro.sample("log_ozone", noise, obs=y)


for name, (formula, tails) in MODELS.items():
    mcmc = MCMC(NUTS(model), num_warmup=500, num_samples=150, num_chains=2, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(0), basis(train, formula), train["log_ozone"].to_numpy(), tails)
    tree = az.from_numpyro(mcmc, log_likelihood=True)
    groups = ["posterior", "log_likelihood", "observed_data"]
    for group in groups:
        tree[group] = tree[group].astype("float32")
    tree.to_netcdf(DATA / f"ozone-{name}.nc", groups=groups)
