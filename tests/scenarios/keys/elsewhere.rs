//! Keys whose effect is tested elsewhere, with the test that fails when it is gone.

const WATCH: &str = "crates/front/tests/monitor.rs";
const PARTS: &str = "crates/front/tests/parts.rs";
const FLOODS: &str = "crates/engine/tests/floods.rs";
const ORIGINS: &str = "tests/cli/origins.rs";
const STUDY: &str = "crates/front/tests/study.rs";

/// Key, file, function.
pub const TESTED: &[(&str, &str, &str)] = &[
    ("experiment.seed", "tests/scenarios/keys/elsewhere.rs", "a_seed_repeats_all_that_is_random"),
    ("experiment.origins", ORIGINS, "each_origin_of_a_file_is_loaded_and_has_its_row"),
    ("request.origin", ORIGINS, "each_origin_of_a_file_is_loaded_and_has_its_row"),
    (
        "limits.open_series",
        "crates/engine/tests/opened.rs",
        "what_finds_no_series_is_counted_without_its_labels_and_told",
    ),
    ("threshold.threshold", "tests/scenarios/judged.rs", "a_scope_judges_its_requests_alone"),
    ("threshold.over", "tests/scenarios/judged.rs", "a_window_finds_what_the_whole_run_hides"),
    ("threshold.abort_after", "tests/scenarios/judged.rs", "abort_after_ends_the_run_early"),
    ("tls.ca", "tests/scenarios/peers.rs", "https_is_spoken_by_version_name_and_trust"),
    ("tls.versions", "tests/scenarios/peers.rs", "https_is_spoken_by_version_name_and_trust"),
    ("tls.server_name", "tests/scenarios/peers.rs", "https_is_spoken_by_version_name_and_trust"),
    ("tls.insecure", "tests/scenarios/peers.rs", "a_server_that_is_not_trusted_gets_no_request"),
    ("tls.certificate", "tests/scenarios/peers.rs", "a_client_shows_its_certificate"),
    ("tls.key", "tests/scenarios/peers.rs", "a_client_shows_its_certificate"),
    (
        "tls.session_resumption",
        "tests/scenarios/peers.rs",
        "sessions_are_resumed_only_where_that_is_asked_for",
    ),
    (
        "experiment.read_bodies",
        "crates/engine/tests/worker_faults.rs",
        "a_large_body_is_thrown_away_unseen_and_counted_whole",
    ),
    ("limits.chunk_line_bytes", "crates/wire/tests/limits.rs", "a_chunk_line_may_be_as_long_as_its_limit"),
    ("limits.connect_timeout_ns", "tests/truth/faults/network.rs", "syns_that_vanish_are_a_connect_timeout"),
    ("limits.head_timeout_ns", FLOODS, "a_head_and_a_chunk_line_must_end_in_time"),
    ("limits.chunk_line_timeout_ns", FLOODS, "a_head_and_a_chunk_line_must_end_in_time"),
    ("limits.event_timeout_ns", FLOODS, "an_event_must_end_in_time_and_events_that_end_may_come_for_ever"),
    (
        "limits.message_bytes",
        "tests/truth/websocket/refused.rs",
        "a_message_above_the_limit_is_refused_by_its_length",
    ),
    (
        "limits.close_timeout_ns",
        "tests/truth/websocket/closing.rs",
        "a_close_frame_without_an_answer_ends_the_socket_in_time",
    ),
    ("limits.read_buffer_bytes", "crates/engine/tests/cache.rs", "a_smaller_read_buffer_takes_more_reads"),
    (
        "limits.kept_total_bytes",
        "crates/engine/tests/own_limits.rs",
        "all_kept_bodies_together_are_bounded_and_what_does_not_fit_is_nobodys_failure_but_ours",
    ),
    (
        "limits.reconnect_pause_ns",
        "crates/engine/tests/worker_faults.rs",
        "a_refused_user_pauses_and_doubles_the_pause_up_to_a_second",
    ),
    (
        // The key is a name, not prose.
        concat!("limits.", stringify!(descriptors)),
        "tests/truth/faults/client.rs",
        "a_plan_may_allow_fewer_open_files_than_the_machine",
    ),
    (
        "limits.spin_ns",
        "crates/engine/tests/worker_open.rs",
        "spinning_towards_the_instant_uses_the_clock_and_is_counted_as_spinning",
    ),
    ("connection.streams", "crates/front/tests/script.rs", "users_that_share_http2_connections_are_read"),
    ("connection.window", "crates/front/tests/script.rs", "users_that_share_http2_connections_are_read"),
    ("connection.addresses", "tests/scenarios/models.rs", "all_addresses_of_a_name_are_loaded"),
    ("experiment.variants", STUDY, "a_variant_is_merged_over_the_file"),
    ("experiment.expect", STUDY, "settings_of_the_whole_experiment_are_parsed"),
    ("experiment.repeat", STUDY, "settings_of_the_whole_experiment_are_parsed"),
    ("experiment.cooldown", STUDY, "settings_of_the_whole_experiment_are_parsed"),
    ("experiment.min_duration", STUDY, "settings_of_the_whole_experiment_are_parsed"),
    ("experiment.trim_to_steady_state", STUDY, "settings_of_the_whole_experiment_are_parsed"),
    ("experiment.stop_on_miss", STUDY, "settings_of_the_whole_experiment_are_parsed"),
    ("experiment.find", STUDY, "a_search_sets_the_kind_of_load"),
    ("find.vary", STUDY, "a_search_sets_the_kind_of_load"),
    ("find.from", STUDY, "a_search_sets_the_kind_of_load"),
    ("find.to", STUDY, "a_search_sets_the_kind_of_load"),
    ("find.step", STUDY, "a_search_sets_the_kind_of_load"),
    ("find.stop_when", STUDY, "a_search_sets_the_kind_of_load"),
    ("find.step_duration", STUDY, "a_search_sets_the_kind_of_load"),
    ("find.precision", STUDY, "a_search_sets_the_kind_of_load"),
    ("find.max_time", STUDY, "a_search_sets_the_kind_of_load"),
    ("find.confirm", STUDY, "a_search_sets_the_kind_of_load"),
    ("load.step", STUDY, "a_staircase_in_the_load_is_a_search_from_that_level"),
    ("load.step_duration", STUDY, "a_staircase_in_the_load_is_a_search_from_that_level"),
    ("load.stop_when", STUDY, "a_staircase_in_the_load_is_a_search_from_that_level"),
    ("experiment.monitors", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor.name", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor.host", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor.process", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor.cgroup", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor.postgres", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor.redis", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor.nginx", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor.node", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor.go", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor.prometheus", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor.command", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor_process.port", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor_process.name", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor_process.pid", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor_cgroup.pid", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor_nginx.status", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor_nginx.access_log", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor_prometheus.scrape", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor_prometheus.metrics", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor_prometheus.server", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor_prometheus.query", WATCH, "every_kind_of_monitor_is_read"),
    ("monitor_cgroup.path", WATCH, "every_way_to_name_a_process_or_a_group_is_read"),
    ("monitor_cgroup.name", WATCH, "every_way_to_name_a_process_or_a_group_is_read"),
    ("monitor_cgroup.port", WATCH, "every_way_to_name_a_process_or_a_group_is_read"),
    ("experiment.question", PARTS, "each_part_is_the_file_with_its_own_keys_over_it"),
    ("experiment.parts", PARTS, "each_part_is_the_file_with_its_own_keys_over_it"),
    ("experiment.time_scale", PARTS, "a_scale_shortens_a_part_and_leaves_the_other"),
    (
        "experiment.generators",
        "tests/questions/parts.rs",
        "generators_share_each_run_and_are_counted_together",
    ),
    ("experiment.environment", WATCH, "the_environment_keeps_the_order_of_the_file"),
];

use crate::bench::{steps, trial};

#[test]
fn a_seed_repeats_all_that_is_random() {
    let sent = |seed: &str| {
        let list = "- get: \"/x/${random_int(1, 1000000000)}/${random_string(9)}\"\n- \
            think: { exponential: 2ms }";
        let seen = trial(format!("load: {{ users: 1, iterations: 5 }}\n{}", steps(list)))
            .args(&["--seed", seed])
            .run();
        seen.expect_run(0);
        seen.lines()
    };
    let (once, again, other) = (sent("7"), sent("7"), sent("8"));
    assert_eq!(once, again);
    assert_ne!(once, other);
    let mut distinct = once.clone();
    distinct.dedup();
    assert_eq!(distinct.len(), 5, "{once:?}");
}
