//! Keys whose effect is tested elsewhere, with the test that fails when it is gone.

const KEYS: &str = "crates/front/tests/keys.rs";
const SIGNED: &str = "crates/script/tests/auth.rs";
const LOGINS: &str = "crates/script/tests/program/logins.rs";
const MARKUP: &str = "crates/script/tests/answer_markup.rs";
const SCHEMAS: &str = "crates/script/tests/answer_schema.rs";
const AUTH: &str = "crates/front/tests/auth.rs";
const ANSWERS: &str = "crates/front/tests/answers.rs";
const DELIVERY: &str = "tests/truth/delivery.rs";
const SUBSCRIPTIONS: &str = "tests/truth/websocket/graphql.rs";
const GRPC: &str = "tests/truth/grpc.rs";
const GRPC_STREAMS: &str = "tests/truth/grpc_streams.rs";
const GRPC_WEB: &str = "tests/truth/grpc_web.rs";
const GRPC_SERVER: &str = "tests/truth/grpc_server.rs";
const WATCH: &str = "crates/front/tests/monitor.rs";
const PARTS: &str = "crates/front/tests/parts.rs";
const FLOODS: &str = "crates/engine/tests/floods.rs";
const ORIGINS: &str = "tests/cli/origins.rs";
const ROUTES: &str = "tests/truth/routes.rs";
const CLAIMED: &str = "nginx_reads_the_header_of_the_proxy_protocol_with_the_real_and_with_claimed_addresses";
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
    ("request.expect_continue", DELIVERY, "a_request_of_a_file_waits_by_itself"),
    ("request.chunked", DELIVERY, "a_chunked_body_arrives_in_its_chunks"),
    ("request.throttle", DELIVERY, "a_throttled_body_arrives_at_its_rate"),
    ("throttle.head", DELIVERY, "a_throttled_head_arrives_at_its_rate"),
    ("throttle.body", DELIVERY, "a_throttled_body_arrives_at_its_rate"),
    ("throttle.response", DELIVERY, "a_response_is_read_at_its_rate"),
    ("connection.pipeline", "tests/truth/pipeline.rs", "a_file_pipelines_its_requests"),
    ("connection.proxy", ROUTES, "rendered_requests_redirects_and_bodies_go_through_an_http_proxy"),
    ("connection.unix_socket", ROUTES, "a_relative_unix_socket_starts_at_the_folder_of_the_experiment"),
    ("connection.proxy_protocol", ROUTES, CLAIMED),
    ("proxy_protocol.version", ROUTES, CLAIMED),
    ("proxy_protocol.source_addresses", ROUTES, CLAIMED),
    ("connection.interface", ROUTES, "connections_are_bound_to_the_interface"),
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
    ("connection.dns", "tests/scenarios/names.rs", "a_name_server_is_asked_for_each_connection_and_timed"),
    ("address.address", "tests/scenarios/models.rs", "addresses_with_weights_get_their_share_of_connections"),
    ("address.weight", "tests/scenarios/models.rs", "addresses_with_weights_get_their_share_of_connections"),
    ("tls.ciphers", "tests/scenarios/tls.rs", "only_the_named_cipher_suites_are_offered_in_their_order"),
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
    (
        "monitor.on",
        "tests/cli/agents/monitors.rs",
        "monitors_run_on_the_coordinator_or_on_the_agents_that_they_name",
    ),
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
    ("auth.aws_sigv4", SIGNED, "signatures_are_those_of_the_published_examples_and_of_botocore"),
    ("auth.digest", LOGINS, "a_challenge_is_an_exchange_of_its_own_and_is_asked_for_once"),
    ("auth.jwt", SIGNED, "signatures_of_own_keys_are_accepted_by_their_public_halves"),
    ("auth.oauth2", LOGINS, "a_token_is_requested_in_setup_and_again_before_it_expires"),
    ("aws_sigv4.access_key", SIGNED, "signatures_are_those_of_the_published_examples_and_of_botocore"),
    ("aws_sigv4.region", SIGNED, "signatures_are_those_of_the_published_examples_and_of_botocore"),
    ("aws_sigv4.secret_key", SIGNED, "signatures_are_those_of_the_published_examples_and_of_botocore"),
    ("aws_sigv4.service", SIGNED, "signatures_are_those_of_the_published_examples_and_of_botocore"),
    ("aws_sigv4.session_token", SIGNED, "signatures_are_those_of_the_published_examples_and_of_botocore"),
    ("boundary.left", MARKUP, "a_boundary_takes_the_text_between_two_others"),
    ("boundary.right", MARKUP, "a_boundary_takes_the_text_between_two_others"),
    ("boundary_check.left", MARKUP, "a_boundary_takes_the_text_between_two_others"),
    ("boundary_check.right", MARKUP, "a_boundary_takes_the_text_between_two_others"),
    ("boundary_check.value", MARKUP, "a_boundary_takes_the_text_between_two_others"),
    ("check.boundary", MARKUP, "a_boundary_takes_the_text_between_two_others"),
    ("check.css", MARKUP, "css_selects_in_html_what_cssselect_selects"),
    ("check.header_snapshot", SCHEMAS, "a_header_snapshot_compares_all_values_of_each_header"),
    ("check.jmespath", MARKUP, "jmespath_gives_what_the_library_for_python_gives"),
    ("check.jwt", SIGNED, "tokens_of_another_library_are_accepted_until_they_expire"),
    ("check.openapi", SCHEMAS, "an_openapi_description_decides_by_the_status"),
    ("check.schema", SCHEMAS, "a_schema_accepts_what_fits_and_names_the_place_of_what_does_not"),
    ("check.xpath", MARKUP, "xpath_selects_in_html_what_lxml_selects"),
    ("experiment.grpc", GRPC, "every_call_is_counted_by_both_sides"),
    ("extraction.attribute", MARKUP, "css_selects_in_html_what_cssselect_selects"),
    ("extraction.boundary", MARKUP, "a_boundary_takes_the_text_between_two_others"),
    ("extraction.css", MARKUP, "css_selects_in_html_what_cssselect_selects"),
    ("extraction.jmespath", MARKUP, "jmespath_gives_what_the_library_for_python_gives"),
    ("extraction.xpath", MARKUP, "xpath_selects_in_html_what_lxml_selects"),
    ("graphql.errors", LOGINS, "errors_in_a_graphql_response_have_their_own_name"),
    ("connect.graphql", SUBSCRIPTIONS, "the_server_completes_after_its_last_result"),
    ("graphql.init", SUBSCRIPTIONS, "the_first_message_has_its_payload_and_the_operation_its_variables"),
    ("graphql.operation", AUTH, "a_graphql_request_sends_its_query_or_its_hash"),
    ("graphql.persisted", LOGINS, "an_unknown_hash_is_sent_once_more_with_its_query"),
    ("graphql.query", AUTH, "a_graphql_request_sends_its_query_or_its_hash"),
    ("graphql.query_file", AUTH, "a_graphql_request_sends_its_query_or_its_hash"),
    ("graphql.transport", AUTH, "what_cannot_work_is_rejected_with_a_fix"),
    ("graphql.variables", AUTH, "a_graphql_request_sends_its_query_or_its_hash"),
    ("grpc.protos", GRPC, "every_call_is_counted_by_both_sides"),
    ("grpc.reflection", GRPC_SERVER, "schemas_come_from_the_server_by_either_version_of_reflection"),
    ("grpc.protocol", GRPC_WEB, "every_call_is_counted_by_both_sides"),
    ("reflection.metadata", GRPC_SERVER, "reflection_is_asked_with_the_metadata_of_the_file"),
    ("grpc.health", GRPC_SERVER, "a_load_begins_when_the_server_is_healthy"),
    ("grpc_call.messages", GRPC_STREAMS, "a_list_of_messages_is_sent_and_its_one_response_is_checked"),
    ("grpc_call.rounds", GRPC_STREAMS, "a_list_of_messages_is_sent_and_its_one_response_is_checked"),
    ("grpc_call.interval", GRPC_STREAMS, "an_interval_spreads_the_messages_over_time"),
    ("message.message", GRPC_STREAMS, "each_message_of_a_dialog_has_its_response_and_its_round_trip"),
    ("stream.correlation", GRPC_STREAMS, "responses_are_matched_with_messages_by_their_ids"),
    ("grpc_call.check", GRPC, "metadata_and_trailers_are_checked_and_extracted"),
    ("grpc_call.compression", GRPC, "messages_are_compressed_both_ways"),
    ("grpc_call.deadline", GRPC, "the_server_knows_the_deadline_and_the_client_keeps_it"),
    ("grpc_call.extract", GRPC, "metadata_and_trailers_are_checked_and_extracted"),
    ("grpc_call.grpc", GRPC, "every_call_is_counted_by_both_sides"),
    ("grpc_call.message", GRPC, "every_kind_of_field_arrives_and_returns"),
    ("grpc_call.metadata", GRPC, "metadata_and_trailers_are_checked_and_extracted"),
    ("grpc_call.stream", GRPC, "messages_of_a_stream_are_counted_and_their_gaps_are_measured"),
    ("grpc_check.json", GRPC, "metadata_and_trailers_are_checked_and_extracted"),
    ("grpc_check.message", GRPC, "a_status_is_a_failure_unless_the_call_expects_it"),
    ("grpc_check.metadata", GRPC, "metadata_and_trailers_are_checked_and_extracted"),
    ("grpc_check.status", GRPC, "a_status_is_a_failure_unless_the_call_expects_it"),
    ("header_snapshot.file", ANSWERS, "a_header_snapshot_keeps_the_selected_headers"),
    ("header_snapshot.headers", ANSWERS, "a_header_snapshot_keeps_the_selected_headers"),
    ("jwt.algorithm", SIGNED, "signatures_of_own_keys_are_accepted_by_their_public_halves"),
    ("jwt.claims", SIGNED, "signatures_of_own_keys_are_accepted_by_their_public_halves"),
    ("jwt.key", SIGNED, "signatures_of_own_keys_are_accepted_by_their_public_halves"),
    ("jwt.key_file", SIGNED, "signatures_of_own_keys_are_accepted_by_their_public_halves"),
    ("jwt.key_id", SIGNED, "signatures_of_own_keys_are_accepted_by_their_public_halves"),
    ("jwt.valid_for", SIGNED, "signatures_of_own_keys_are_accepted_by_their_public_halves"),
    ("jwt_check.algorithm", SIGNED, "tokens_of_another_library_are_accepted_until_they_expire"),
    ("jwt_check.claims", SIGNED, "tokens_of_another_library_are_accepted_until_they_expire"),
    ("jwt_check.key", SIGNED, "tokens_of_another_library_are_accepted_until_they_expire"),
    ("jwt_check.key_file", SIGNED, "tokens_of_another_library_are_accepted_until_they_expire"),
    ("jwt_check.token", SIGNED, "tokens_of_another_library_are_accepted_until_they_expire"),
    ("oauth2.audience", AUTH, "a_token_is_requested_once_in_setup_for_all_requests"),
    ("oauth2.client_auth", AUTH, "a_token_is_requested_once_in_setup_for_all_requests"),
    ("oauth2.client_id", AUTH, "a_token_is_requested_once_in_setup_for_all_requests"),
    ("oauth2.client_secret", AUTH, "a_token_is_requested_once_in_setup_for_all_requests"),
    ("oauth2.grant", AUTH, "the_password_grant_names_its_user_and_may_use_a_refresh_token"),
    ("oauth2.password", AUTH, "the_password_grant_names_its_user_and_may_use_a_refresh_token"),
    ("oauth2.refresh_before", LOGINS, "a_token_is_requested_in_setup_and_again_before_it_expires"),
    ("oauth2.scope", AUTH, "a_token_is_requested_once_in_setup_for_all_requests"),
    ("oauth2.token_url", AUTH, "a_token_is_requested_once_in_setup_for_all_requests"),
    ("oauth2.username", AUTH, "the_password_grant_names_its_user_and_may_use_a_refresh_token"),
    ("openapi.file", ANSWERS, "an_openapi_document_is_resolved_by_path_method_and_status"),
    ("openapi.method", ANSWERS, "an_openapi_document_is_resolved_by_path_method_and_status"),
    ("openapi.path", ANSWERS, "an_openapi_document_is_resolved_by_path_method_and_status"),
    ("request.graphql", AUTH, "a_graphql_request_sends_its_query_or_its_hash"),
    // These do for a call what they do for a request, by the same code.
    ("grpc.descriptor_sets", KEYS, "every_key_of_the_table_is_accepted_by_the_reader_and_by_the_schema"),
    ("grpc.import_paths", KEYS, "every_key_of_the_table_is_accepted_by_the_reader_and_by_the_schema"),
    ("grpc_call.auth", KEYS, "every_key_of_the_table_is_accepted_by_the_reader_and_by_the_schema"),
    ("grpc_call.name", KEYS, "every_key_of_the_table_is_accepted_by_the_reader_and_by_the_schema"),
    ("grpc_call.on_failure", KEYS, "every_key_of_the_table_is_accepted_by_the_reader_and_by_the_schema"),
    ("grpc_call.origin", KEYS, "every_key_of_the_table_is_accepted_by_the_reader_and_by_the_schema"),
    ("grpc_call.tags", KEYS, "every_key_of_the_table_is_accepted_by_the_reader_and_by_the_schema"),
    ("grpc_call.think", KEYS, "every_key_of_the_table_is_accepted_by_the_reader_and_by_the_schema"),
    ("grpc_check.max_duration", KEYS, "every_key_of_the_table_is_accepted_by_the_reader_and_by_the_schema"),
    ("grpc_check.name", KEYS, "every_key_of_the_table_is_accepted_by_the_reader_and_by_the_schema"),
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
