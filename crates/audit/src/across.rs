//! Rules that look at rows beside each other, at tables, and at sentences beside figures. Each is a function of
//! arithmetic or of words about method; none knows a report.

mod copied;
mod dates;
mod equations;
mod hardware;
mod in_flight;
mod labels;
mod lengths;
mod levels;
mod missing;
mod open_load;
mod recomputed;
mod say;
mod scaling;
mod size;
mod view;
mod volumes;
mod windows;

use super::{Grade, Premise, Rule};

/// A row of the table below.
macro_rules! rule {
    ($grade:ident, $code:literal, $look:path, $title:literal) => {
        Rule {
            code: $code,
            grade: Grade::$grade,
            premise: Premise::Figures,
            title: $title,
            check: |documents, findings| {
                $look(documents, &mut say::Out { rule: $code, grade: Grade::$grade, findings });
            },
        }
    };
}

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule!(Impossible, "figures_differ_from_samples", recomputed::figures_differ,
        "figures of a table or summary = those computed from the file of samples with its labels"),
    rule!(Impossible, "equation_wrong", equations::wrong,
        "a op b = c, computed again with the range of every number"),
    rule!(Impossible, "hardware_differs_from_type", hardware::differs_from_type,
        "vCPU and memory = what the provider sells as that instance type"),
    rule!(Implausible, "label_contradicts_row", labels::label_contradicts_row,
        "a labeled number above an output = the number in the output"),
    rule!(Implausible, "more_in_flight_than_stated", in_flight::more_than_stated,
        "N = X R of a row, or summed over rows of one run, <= the users stated around the table"),
    rule!(Implausible, "machines_differ", windows::machines_differ,
        "machines of a place in a sentence = machines in the caption of its table"),
    rule!(Implausible, "same_number_live", levels::same_number_live,
        "connections - connect errors = one constant at several levels"),
    rule!(Implausible, "answers_differ", size::answers_differ,
        "bytes / requests within 10% (and 250 B) over runs that are compared"),
    rule!(Implausible, "noise_between_equal_runs", levels::noise,
        "rates of one configuration within 8%"),
    rule!(Implausible, "worse_at_less_load", levels::worse_at_less_load,
        "tail at a level < 2 x the tail at every higher level"),
    rule!(Implausible, "threads_are_no_users", labels::threads_are_no_users,
        "users = connections, if threads of the load generator are called users"),
    rule!(Implausible, "arrivals_are_not_concurrency", open_load::arrivals_called_concurrent,
        "N = users / time x mean, against users called concurrent"),
    rule!(Implausible, "path_not_server_measured", levels::path_measured,
        "time constant over levels, and a third of it or less seen elsewhere"),
    rule!(Implausible, "bytes_equal_rates_differ", size::bytes_are_equal,
        "rates differ by the ratio of response sizes, bytes per second do not"),
    rule!(Implausible, "flat_from_the_start", levels::flat_from_the_start,
        "X constant and R proportional to users from the lowest level on"),
    rule!(Implausible, "visitors_to_concurrency", volumes::visitors,
        "N = visitors / days / hours x length of a visit"),
    rule!(Implausible, "median_falls_mean_rises", levels::median_against_mean,
        "median and mean move the same way with the load"),
    rule!(Implausible, "tests_not_shown", labels::tests_counted,
        "tests claimed = rows shown"),
    rule!(Implausible, "slip_of_digits", labels::slip_of_digits,
        "one quantity has one value: same length, one or two digits apart"),
    rule!(Implausible, "one_user_compared", levels::one_user_compared,
        "at one user X = 1 / R: the path, not the server"),
    rule!(Implausible, "thread_time_missing", in_flight::time_missing,
        "sum of X R over the rows of one run >= 0.93 x users"),
    rule!(Implausible, "in_flight_outlier", scaling::in_flight_outlier,
        "N = X R changes with the servers as in the other rows, within x 1.5"),
    rule!(Implausible, "gains_more_than_servers", scaling::gains_too_much,
        "X2 / X1 <= 1.05 x servers2 / servers1"),
    rule!(Implausible, "gains_nothing_from_servers", scaling::gains_nothing,
        "(X2 / X1 - 1) / (servers2 / servers1 - 1) >= 10%"),
    rule!(Implausible, "samples_do_not_divide", windows::not_divisible,
        "equal samples = users x loops, loops whole"),
    rule!(Implausible, "rates_not_additive", windows::rates_not_additive,
        "rates are added over one window: (n1 + n2) / max(window)"),
    rule!(Implausible, "window_is_not_the_duration", windows::not_the_duration,
        "samples / rate = stated duration, within 5%"),
    rule!(Implausible, "percentiles_at_whole_seconds", windows::whole_seconds,
        "tails of half the rows or more in k s + 20..250 ms, k = 1, 2, 3, 7, at means that differ"),
    rule!(Implausible, "cycle_above_percentile", in_flight::cycle_above_percentile,
        "users / rate <= p90..p98 where no mean is given"),
    rule!(Implausible, "duration_differs_from_dates", dates::duration_differs,
        "last - first timestamp = stated duration, within 2%"),
    rule!(Implausible, "rows_of_unequal_length", lengths::unequal_length,
        "samples / rate of rows with one stated duration within x 1.5"),
    rule!(Implausible, "rates_of_own_windows", windows::own_windows,
        "equal samples, equal rates"),
    rule!(Implausible, "sequence_called_mix", windows::sequence_not_mix,
        "a random mix has no exact whole ratios"),
    rule!(Implausible, "closed_loops_compared", windows::closed_loops_compared,
        "equal users are unequal load: N = X R"),
    rule!(Implausible, "table_differs_from_output", copied::table_differs,
        "a row with two or more figures of an output has all of its figures"),
    rule!(Implausible, "copied_row", labels::copied_row,
        "two configurations differ in some digit"),
    rule!(Implausible, "figure_pasted", labels::pasted_figure,
        "a time and a rate differ in some digit"),
    rule!(Implausible, "clients_at_a_fixed_rate", open_load::clients_at_a_fixed_rate,
        "arrivals = rate, for any number of clients"),
    rule!(Implausible, "absolute_shortfall", open_load::absolute_shortfall,
        "offered - achieved is judged relative to offered"),
    rule!(Implausible, "latency_set_by_length", open_load::latency_set_by_length,
        "mean wait past the limit = (1 - capacity / rate) x length / 2"),
    rule!(Implausible, "step_is_the_resolution", open_load::step_is_the_resolution,
        "a limit is known to the size of the steps"),
    rule!(Implausible, "first_byte_follows_a_clock", volumes::first_byte_follows_a_clock,
        "longest time to first byte = a stated interval"),
    rule!(Implausible, "division_cut_off", equations::division_cut_off,
        "a / b = c without a remainder"),
    rule!(Implausible, "volumes_differ", volumes::volumes_differ,
        "one expected volume, within 10%"),
    rule!(Implausible, "one_machine", missing::one_machine,
        "client and server on separate machines"),
    rule!(Missing, "load_only_implied", in_flight::load_is_implied,
        "users in addition to rate and mean; otherwise N = X R implies them"),
    rule!(Missing, "percentiles_of_parts", windows::percentiles_of_parts,
        "percentiles of the whole in addition to those of its parts"),
    rule!(Missing, "column_left_out", missing::column_left_out,
        "the columns that the other tables have"),
    rule!(Missing, "errors_without_kind", missing::kind_of_errors,
        "failures by kind"),
    rule!(Missing, "one_of_several_shown", volumes::one_of_several_shown,
        "results of all load generators"),
    rule!(Missing, "only_pictures", missing::only_pictures,
        "numbers in addition to images"),
    rule!(Missing, "reuse_of_connections", missing::reuse_of_connections,
        "keep-alive on or off"),
    rule!(Missing, "no_repeats", missing::repeats,
        "repeats of each configuration"),
    rule!(Missing, "no_warm_up", missing::warm_up,
        "whether there was a warm-up"),
    rule!(Missing, "latency_without_percentile", missing::any_percentile,
        "a percentile, if the text is about latency"),
];
