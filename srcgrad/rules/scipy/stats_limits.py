"""What scipy.stats has without a derivative here: tests, estimators, draws, frozen distributions, and other families.

Names that an older or newer SciPy does not have are passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import stats

from srcgrad.rules.table import constant, refused, rules


def named(names: str) -> list[Callable[..., Any]]:
    """The functions of these names that this SciPy has."""
    return [getattr(stats, name) for name in names.split() if hasattr(stats, name)]


_WRITE = "write it with NumPy and scipy.special"

constant(*named("test"))
refused(
    "E0502", "a statistical test compares, ranks or simulates",
    *named(
        """alexandergovern anderson anderson_ksamp ansari barnard_exact bartlett boschloo_exact brunnermunzel bws_test
        chi2_contingency chisquare combine_pvalues cramervonmises cramervonmises_2samp dunnett epps_singleton_2samp
        f_oneway false_discovery_control fisher_exact fligner friedmanchisquare goodness_of_fit jarque_bera kruskal
        ks_1samp ks_2samp kstest kurtosistest levene logrank mannwhitneyu median_test monte_carlo_test mood
        multiscale_graphcorr normaltest page_trend_test permutation_test poisson_means_test power power_divergence
        quantile_test ranksums shapiro skewtest tukey_hsd ttest_1samp ttest_ind ttest_ind_from_stats ttest_rel wilcoxon
        binomtest"""
    ),
    hint="compute its statistic with NumPy, and a p-value with a distribution function",
)
refused(
    "E0502", "it ranks, sorts into bins or counts",
    *named(
        """binned_statistic binned_statistic_2d binned_statistic_dd chatterjeexi cumfreq ecdf find_repeats kendalltau
        mode percentileofscore rankdata relfreq scoreatpercentile siegelslopes somersd spearmanr spearmanrho theilslopes
        tiecorrect weightedtau quantile trim1 trim_mean trimboth sigmaclip median_abs_deviation iqr obrientransform"""
    ),
    hint="sort with np.sort, or take quantiles with np.quantile and np.median",
)
refused(
    "E0503", "summary statistics have no rules of their own",
    *named(
        """bayes_mvs circmean circstd circvar describe differential_entropy directional_stats energy_distance entropy
        expectile gmean gstd gzscore hmean kstat kstatvar kurtosis lmoment linregress moment mvsdist order_statistic
        pearsonr pmean pointbiserialr sem skew tmax tmean tmin tsem tstd tvar variation wasserstein_distance
        wasserstein_distance_nd zmap zscore abs exp log"""
    ),
    hint=_WRITE + ": sums, means and powers have rules",
)
refused(
    "E0503", "it searches or simulates",
    *named(
        """bootstrap sobol_indices fit boxcox boxcox_llf boxcox_normmax boxcox_normplot yeojohnson yeojohnson_llf
        yeojohnson_normmax yeojohnson_normplot ppcc_max ppcc_plot probplot gaussian_kde"""
    ),
    hint=_WRITE + "; scipy.special.boxcox is ruled",
)
refused(
    "E0505", "it makes an object",
    *named(
        """Binomial BootstrapMethod CensoredData Covariance Logistic Mixture MonteCarloMethod Normal PermutationMethod
        Uniform make_distribution rv_continuous rv_discrete rv_histogram truncate"""
    ),
    hint="call the method of the distribution itself with its parameters: stats.norm.logpdf(x, loc, scale)",
)

# --- distributions ---------------------------------------------------------------------------------------------------
#: The methods that draw, estimate or tell what does not vary smoothly; the others are distributions' functions.
_DRAWS = ("rvs",)
_ESTIMATES = ("fit", "fit_loc_scale", "nnlf", "expect", "generic_moment", "vecentropy")
_SUMMARIES = ("entropy", "interval", "mean", "median", "moment", "stats", "std", "support", "var", "cov", "mode")
_RULED = (
    "norm, t, cauchy, laplace, logistic, expon, gamma, chi2, weibull_min, pareto, lognorm, uniform, beta, poisson, "
    "binom, bernoulli, geom, nbinom, dirichlet, multivariate_normal"
)


def distributions() -> list[Any]:
    """The distributions of scipy.stats: objects with methods, which make frozen ones when they are called."""
    return [
        value
        for name, value in vars(stats).items()
        if not name.startswith("_") and not isinstance(value, type) and hasattr(value, "rvs") and callable(value)
    ]


def refuse_methods(distribution: Any, ruled: set[Callable[..., Any]]) -> None:
    """Say of each method of a distribution that has no rule why it is refused."""
    refused(
        "E0505", "a frozen distribution is an object",
        distribution,
        hint="call the method of the distribution itself with its parameters: stats.norm.logpdf(x, loc, scale)",
    )
    for name in dir(distribution):
        method = None if name.startswith("_") else getattr(distribution, name, None)
        if not callable(method) or method in ruled:
            continue
        if name in _DRAWS:
            refused(
                "E0503", "draws of scipy.stats have no rules",
                method,
                hint="draw with numpy.random, whose draws of shifted and stretched distributions have",
            )
        elif name in _ESTIMATES:
            refused("E0503", "it searches or integrates", method, hint=_WRITE)
        elif name in _SUMMARIES:
            refused("E0503", "summaries of distributions have no rules", method, hint="write its formula with NumPy")
        elif name == "freeze":
            refused("E0505", "a frozen distribution is an object", method, hint="call the methods with the parameters")
        else:
            refused(
                "E0503", "this function of this distribution has no rule", method, hint=f"{_WRITE}; ruled are {_RULED}"
            )


_ruled = {function for rule in rules() for function in rule.functions}
for distribution_ in distributions():
    refuse_methods(distribution_, _ruled)
