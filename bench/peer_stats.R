# SPDX-License-Identifier: MIT
# peer_stats.R DIR: the rows of `stats measure DIR` by R: urca's test and the choice among four orders by arima.
# A line a row: its name, the peer, median microseconds of processor time of a warm call, and the answers, by tabs.
folder <- commandArgs(trailingOnly = TRUE)[1]
read <- function(name) lapply(strsplit(readLines(file.path(folder, name)), " "), as.numeric)

row <- function(name, peer, all, call, numbers_of, seconds = 0.3) {
    call(all[[1]]) # warm
    took <- c()
    start <- proc.time()[["elapsed"]]
    while (length(took) == 0 || proc.time()[["elapsed"]] - start < seconds) {
        began <- sum(proc.time()[1:2])
        got <- lapply(all, call)
        took <- c(took, (sum(proc.time()[1:2]) - began) * 1e6 / length(all))
    }
    cat(name, peer, sprintf("%.5f", sort(took)[length(took) %/% 2 + 1]), sprintf("%.17g", unlist(lapply(got, numbers_of))), sep = "\t")
    cat("\n")
}

if (requireNamespace("urca", quietly = TRUE)) {
    # as many lags as Schwert's rule allows; urca's own rows differ from ours, so only at a fixed number would the statistic be the same
    for (n in c(50, 250, 1000, 10000)) {
        lags <- ceiling(12 * (n / 100)^0.25)
        row(paste0("adf-", n), "urca", read(paste0("ar-", n)), function(x) urca::ur.df(x, type = "drift", lags = lags, selectlags = "AIC"), function(a) NULL)
    }
} else message("skipped: urca (not installed: r-cran-urca)")

orders <- list(c(1, 1, 1), c(1, 0, 0), c(0, 1, 1), c(2, 1, 2))
fit <- function(x) lapply(orders, function(order) tryCatch(arima(x, order = order, method = "ML"), error = function(e) NULL))
likelihood <- function(got) if (is.null(got)) -1e300 else got$loglik
row("arima", "R", read("ar-50"), function(x) suppressWarnings(fit(x)), function(all) sapply(all, likelihood))
