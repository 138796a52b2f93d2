# Three Bayesian regressions of ozone in New York, left out row by row by loo, as a table for `gpfuse stack`:
#
#     Rscript stack_r.R airquality.csv
#     gpfuse stack airquality.csv --target Ozone --out m.nc
#
# Their posteriors are known in closed form, so that no sampler is needed. From rstan, brms or rstanarm take
# the same: `loo(fit)$pointwise[, "elpd_loo"]`.

library(loo)

out <- commandArgs(trailingOnly = TRUE)[1]
d <- na.omit(airquality)[c("Solar.R", "Wind", "Temp", "Ozone")]
draws <- 2000
set.seed(0)

# Log likelihoods (draws, rows) of log Ozone ~ N(F b, s^2), b ~ N(0, 100 s^2), log s flat; the last term makes of
# them densities of Ozone itself.
log_likelihood <- function(formula) {
  basis <- model.matrix(formula, data.frame(scale(d[c("Solar.R", "Wind", "Temp")])))
  y <- log(d$Ozone)
  precision <- crossprod(basis) + 0.01 * diag(ncol(basis))
  mean <- solve(precision, crossprod(basis, y))
  rest <- sum(y^2) - sum(mean * (precision %*% mean))
  s <- sqrt(rest / 2 / rgamma(draws, nrow(d) / 2))
  b <- drop(mean) + backsolve(chol(precision), matrix(rnorm(ncol(basis) * draws), ncol(basis))) %*% diag(s)
  t(dnorm(y, basis %*% b, rep(s, each = nrow(d)), log = TRUE) - y)
}

models <- list(
  heat = ~ Temp + I(Temp^2),
  wind = ~ Wind + I(Wind^2),
  sun.wind = ~ Solar.R * Wind
)
found <- lapply(models, function(formula) loo(log_likelihood(formula), r_eff = rep(1, nrow(d))))
print(loo_compare(found))
lpd <- sapply(found, function(one) one$pointwise[, "elpd_loo"])
colnames(lpd) <- paste0("lpd_", colnames(lpd))

# Where k is above 0.7 loo is not to be trusted: such rows stay out.
good <- apply(sapply(found, pareto_k_values) <= 0.7, 1, all)
cat(sum(!good), "rows with k above 0.7 stay out\n")
write.csv(cbind(d, lpd)[good, ], out, row.names = FALSE)
