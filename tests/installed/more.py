"""Functions of 30 other packages, as ``choosing`` found them: which, form of arguments, how many, which of them move.

The packages come with the extra ``installed``; where one is missing, or a version without the function, it is absent.
"""

from __future__ import annotations

from tests.installed.entry import Entry
from tests.installed.forms import arguments

CHOSEN = """
arch.utility.array cutoff_to_index | numbers | 3 | 2
arch.utility.array ensure1d | numbers | 2 | 0
arch.utility.array ensure2d | vectors | 2 | 0
arch.utility.array to_array_1d | vectors | 1 | 0
astropy.stats.funcs binned_binom_proportion | numbers | 2 | 0
astropy.stats.funcs median_absolute_deviation | vectors | 1 | 0
astropy.stats.circstats circmean | vectors | 1 | 0
astropy.stats.circstats rayleightest | vectors | 1 | 0
astropy.coordinates.matrix_utilities rotation_matrix | numbers | 1 | 0
chemicals.vapor_pressure Ambrose_Walton | numbers | 4 | 0,1,2,3
chemicals.vapor_pressure dTRC_Antoine_extended_dT | numbers | 9 | 0,3,4,5
chemicals.viscosity Saybolt_universal_eq | numbers | 1 | 0
chemicals.heat_capacity Perry_151 | numbers | 5 | 0,1,2,3,4
chemicals.virial BVirial_Pitzer_Curl_vec | vectors | 4 | 0,1,2,3
colour.models.cie_lab Lab_to_XYZ | triples | 1 | 0
colour.models.rgb.transfer_functions.srgb eotf_inverse_sRGB | numbers | 1 | 0
colour.models.cie_xyy xy_to_XYZ | triples | 1 | 0
colour.difference.delta_e delta_E_CIE1994 | triples | 2 | 0,1
colour.algebra.common eigen_decomposition | squares | 1 | 0
control.ctrlutil db2mag | numbers | 1 | 0
control.ctrlutil mag2db | numbers | 1 | 0
control.ctrlutil unwrap | vector, numbers | 2 | 0,1
control.mateqn care | numbers | 3 | 0,1,2
control.mateqn dlyap | numbers | 2 | 0,1
deap.benchmarks ackley | vectors | 1 | 0
deap.benchmarks griewank | vectors | 1 | 0
deap.benchmarks poloni | vectors | 1 | 0
deap.benchmarks schaffer | vectors | 1 | 0
deap.benchmarks zdt1 | vectors | 1 | 0
dynesty.utils apply_reflect | vectors | 1 | 0
dynesty.utils get_neff_from_logwt | vectors | 1 | 0
dynesty.utils progress_integration | numbers | 7 | 0,1,2,3,4,5,6
dynesty.utils quantile | numbers | 2 | 0
dynesty.bounding logvol_prefactor | numbers | 2 | 0,1
empyrical.stats alpha | vectors | 3 | 1
empyrical.stats annualization_factor | numbers | 2 | 1
empyrical.stats capture | vectors | 2 | 0,1
empyrical.stats drawdown_series | squares | 1 | 0
empyrical.stats omega_ratio | vector, numbers | 3 | 0,1,2
filterpy.stats.stats add | numbers | 4 | 0,1,2,3
filterpy.stats.stats gaussian | numbers | 3 | 0,1,2
filterpy.stats.stats mahalanobis | numbers | 3 | 0,1,2
filterpy.stats.stats mul_pdf | numbers | 4 | 0,1,2,3
filterpy.stats.stats multivariate_multiply | squares | 4 | 0,1,2,3
fluids.friction Alshul_1952 | numbers | 2 | 0,1
fluids.friction one_phase_dP_gravitational | numbers | 4 | 0,1,2,3
fluids.core Hagen | numbers | 2 | 0,1
fluids.fittings K_lift_check_valve_Crane | numbers | 2 | 0,1
fluids.two_phase Yu_France | numbers | 9 | 0,1,2,3,4,5,6,8
gstools.tools.special confidence_scaling | numbers | 1 | 0
gstools.tools.special inc_gamma_low | numbers | 2 | 0,1
gstools.tools.geometric ang2dir | numbers | 1 | 0
gstools.tools.geometric great_circle_to_chordal | numbers | 2 | 0,1
gstools.transform.array array_discrete | vectors | 2 | 1
hmmlearn.utils fill_covars | numbers | 1 | 0
hmmlearn.stats log_multivariate_normal_density | rows | 3 | 0,1,2
hmmlearn._utils logdet | squares | 1 | 0
ht.conv_internal Morimoto_Hotta | numbers | 4 | 0,1,2,3
ht.conv_internal turbulent_ESDU | numbers | 2 | 0,1
ht.conv_internal turbulent_Webb | numbers | 3 | 0,1,2
ht.conv_external Nu_horizontal_plate_laminar_Churchill_Ozoe | numbers | 2 | 0,1
ht.hx P_NTU_Pp | numbers | 2 | 0,1
librosa.core.convert A4_to_tuning | numbers | 1 | 0
librosa.core.convert hz_to_midi | numbers | 1 | 0
librosa.core.convert octs_to_hz | numbers | 1 | 0
librosa.util.utils cyclic_gradient | vectors | 1 | 0
librosa.core.spectrum db_to_amplitude | numbers | 1 | 0
lmfit.lineshapes bose | numbers | 4 | 0,1
lmfit.lineshapes exponential | numbers | 1 | 0
lmfit.lineshapes logistic | numbers | 4 | 0,1,2,3
lmfit.lineshapes pearson4 | numbers | 6 | 0,1,2,3,4,5
lmfit.lineshapes skewed_gaussian | numbers | 5 | 0,1,2,3,4
metpy.interpolate.tools average_spacing | rows | 1 | 0
metpy.interpolate.tools barnes_weights | numbers | 3 | 0,1,2
metpy.interpolate.tools calc_kappa | numbers | 2 | 0,1
metpy.interpolate.tools cressman_weights | numbers | 2 | 0,1
numpy_financial._financial fv | numbers | 4 | 0,1,2,3
numpy_financial._financial ipmt | numbers | 4 | 0,1,2,3
numpy_financial._financial nper | numbers | 3 | 0,1,2
numpy_financial._financial npv | vectors | 2 | 0,1
numpy_financial._financial pmt | numbers | 3 | 0,1,2
pandas.core.nanops nancov | vectors | 2 | 0,1
pandas.core.nanops nanmedian | vectors | 1 | 0
pandas.core.nanops nansem | vectors | 1 | 0
pandas.core.nanops nanvar | vectors | 1 | 0
pandas.core.algorithms take | numbers | 2 | 0
pvlib.irradiance aoi | numbers | 4 | 0,1,2,3
pvlib.irradiance get_sky_diffuse | numbers | 7 | 0,6
pvlib.atmosphere angstrom_aod_at_lambda | numbers | 4 | 0,1,2,3
pvlib.iam interp | triples | 3 | 0,1
pvlib.temperature sapm_cell_from_module | numbers | 4 | 0,1,2,3
pymap3d.ecef ecef2enu | numbers | 6 | 0,1,2,3,5
pymap3d.enu aer2enu | numbers | 3 | 0,1,2
pymap3d.aer ecef2aer | numbers | 6 | 0,2,3,5
pymap3d.latitude geoc2geod | numbers | 2 | 0,1
pymap3d.latitude geodetic2parametric | numbers | 1 | 0
SALib.test_functions.Ishigami evaluate | rows, numbers | 3 | 0,1,2
SALib.test_functions.Sobol_G sensitivity_index | vectors | 1 | 0
SALib.test_functions.Sobol_G total_sensitivity_index | vectors | 1 | 0
SALib.test_functions.lake_problem lake_problem | numbers | 5 | 0,1,2,3,4
SALib.test_functions.oakley2004 evaluate | squares | 3 | 0,1,2
skfuzzy.membership.generatemf dsigmf | numbers | 5 | 0,1,2,3,4
skfuzzy.membership.generatemf psigmf | numbers | 5 | 0,1,2,3,4
skfuzzy.fuzzymath.fuzzy_ops cartprod | numbers | 2 | 0
skfuzzy.fuzzymath.fuzzy_ops fuzzy_similarity | numbers | 2 | 1
skfuzzy.fuzzymath.fuzzy_ops modus_ponens | vectors | 3 | 0,1
skimage.metrics.simple_metrics mean_squared_error | vectors | 2 | 0,1
skimage.color.colorconv lab2rgb | triples | 1 | 0
skimage.color.colorconv rgb2lab | triples | 1 | 0
skimage.color.colorconv rgb2yuv | triples | 1 | 0
skimage.color.colorconv ydbdr2rgb | triples | 1 | 0
seaborn.utils ci | numbers | 1 | 0
seaborn.utils ci_to_errsize | vectors | 2 | 0,1
seaborn.utils remove_na | vectors | 1 | 0
sgp4.functions jday | numbers | 6 | 0,2,3,4,5
sgp4.ext dot | vectors | 2 | 0,1
sgp4.ext jday | numbers | 6 | 0,2,3
sgp4.ext mag | vectors | 1 | 0
sgp4.ext newtonnu | numbers | 2 | 0,1
skyfield.functions R1 | numbers | 1 | 0
skyfield.functions from_polar | numbers | 3 | 0,1,2
skyfield.functions rot_x | numbers | 1 | 0
skyfield.relativity light_time_difference | vectors | 2 | 1
skyfield.earthlib terra | numbers | 4 | 0,1,2,3
spectrum.window window_kaiser | numbers | 2 | 1
spectrum.tools db2pow | numbers | 1 | 0
spectrum.tools onesided_2_twosided | vectors | 1 | 0
spectrum.tools twosided_2_onesided | vectors | 1 | 0
spectrum.linear_prediction lar2rc | numbers | 1 | 0
statsmodels.tools.eval_measures aic | numbers | 3 | 0,2
statsmodels.tools.eval_measures meanabs | vectors | 2 | 0,1
statsmodels.tools.eval_measures vare | vectors | 2 | 0,1
statsmodels.stats.moment_helpers mc2cum | vectors | 1 | 0
statsmodels.stats.moment_helpers se_cov | vectors | 1 | 0
transforms3d.quaternions axangle2quat | vector, numbers | 2 | 1
transforms3d.quaternions qlog | quadruples | 1 | 0
transforms3d.euler euler2axangle | numbers | 3 | 0,1,2
transforms3d.axangles mat2axangle | squares | 2 | 0
transforms3d.shears sadn2aff | numbers | 3 | 0
trimesh.transformations arcball_constrain_to_axis | vectors | 2 | 1
trimesh.transformations quaternion_conjugate | vectors | 1 | 0
trimesh.transformations scale_matrix | numbers | 1 | 0
trimesh.geometry plane_transform | triples | 2 | 0
trimesh.util euclidean | numbers | 2 | 0,1
"""


def _entry(row: str) -> Entry:
    named, form, count, moved = (part.strip() for part in row.split("|"))
    module, path = named.split()
    return Entry(module, path, arguments(form, int(count)), tuple(map(int, moved.split(","))))


ENTRIES = [_entry(row) for row in CHOSEN.strip().splitlines()]
