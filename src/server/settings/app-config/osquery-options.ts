// The agent's own options, by type. `settable`: the agent accepts them from the configuration. `commandLine`: only from
// its command line or flag file, as osquery's reference of command line flags says.

export type OptionType = "boolean" | "integer" | "string";

const typed = (type: OptionType, names: string): [string, OptionType][] =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => [name, type]);

export const settable: ReadonlyMap<string, OptionType> = new Map([
  ...typed(
    "boolean",
    `audit_allow_accept_socket_events audit_allow_apparmor_events audit_allow_config audit_allow_fim_events
    audit_allow_fork_process_events audit_allow_kill_process_events audit_allow_null_accept_socket_events
    audit_allow_process_events audit_allow_seccomp_events audit_allow_selinux_events audit_allow_sockets audit_allow_unix
    audit_allow_user_events audit_force_reconfigure audit_force_unconfigure audit_persist audit_debug
    aws_debug aws_disable_imdsv1_fallback aws_enable_proxy aws_enforce_fips aws_firehose_disable_log_status
    aws_kinesis_disable_log_status aws_kinesis_random_partition_key
    decorations_top_level disable_audit disable_caching disable_database disable_decorators disable_distributed
    disable_endpointsecurity disable_endpointsecurity_fim disable_events disable_hash_cache disable_logging
    distributed_loginfo enable_bpf_events enable_dns_lookup_events enable_file_events enable_foreign enable_keyboard_events enable_mouse_events
    enable_ntfs_event_publisher enable_numeric_monitoring enable_powershell_events_subscriber enable_process_etw_events
    enable_syslog enable_usb_device_events enable_windows_events_publisher enable_windows_events_subscriber enable_yara_string
    es_fim_enable_open_events events_enforce_denylist events_optimize events_streaming_log_results
    ignore_registry_exceptions keychain_access_cache log_numerics_as_numbers logger_event_type logger_numerics logger_rotate
    logger_snapshot_event_type logger_syslog_prepend_cee logger_tls_compress ntfs_event_publisher_debug nulls_in_logs
    schedule_lognames table_exceptions ignore_table_exceptions tls_disable_status_log use_time_decorations utc verbose
    yara_malloc_trim yara_sigurl_authenticate`,
  ),
  ...typed(
    "integer",
    `audit_backlog_limit audit_backlog_wait_time aws_firehose_period aws_imdsv2_request_attempts aws_imdsv2_request_interval
    aws_kinesis_period aws_proxy_port aws_sts_timeout bpf_buffer_storage_size bpf_perf_event_array_exp buffered_log_max
    config_refresh config_tls_refresh distributed_denylist_duration distributed_interval distributed_tls_max_attempts
    etw_kernel_trace_buffer_size etw_kernel_trace_flush_timer etw_kernel_trace_maximum_buffers
    etw_kernel_trace_minimum_buffers etw_userspace_trace_buffer_size etw_userspace_trace_flush_timer
    etw_userspace_trace_maximum_buffers etw_userspace_trace_minimum_buffers events_expiry events_max hash_cache_max
    hash_delay keychain_access_interval logger_kafka_acks_timeout logger_min_status logger_min_stderr
    logger_rotate_max_files logger_rotate_size logger_syslog_facility logger_tls_backoff_max logger_tls_max_linesize
    logger_tls_max_lines logger_tls_period numeric_monitoring_pre_aggregation_time pack_refresh_interval read_max
    schedule_default_interval schedule_epoch schedule_max_drift schedule_reload schedule_splay_percent schedule_timeout
    syslog_events_expiry syslog_events_max syslog_rate_limit table_delay thrift_string_size_limit thrift_timeout
    users_service_delay users_service_interval groups_service_delay groups_service_interval value_max yara_delay`,
  ),
  ...typed(
    "string",
    `augeas_lenses aws_access_key_id aws_firehose_endpoint aws_firehose_region aws_firehose_stream aws_kinesis_endpoint
    aws_kinesis_region aws_kinesis_stream aws_profile_name aws_proxy_host aws_proxy_password aws_proxy_scheme
    aws_proxy_username aws_region aws_secret_access_key aws_session_token aws_sts_arn_role aws_sts_region
    aws_sts_session_name distributed_plugin distributed_tls_read_endpoint distributed_tls_write_endpoint docker_socket
    es_fim_mute_path_literal es_fim_mute_path_prefix experiment_list extensions_default_index host_identifier
    logger_kafka_acks logger_kafka_brokers logger_kafka_compression logger_kafka_topic logger_path logger_tls_endpoint
    lxd_socket nullvalue numeric_monitoring_filesystem_path numeric_monitoring_plugins pack_delimiter specified_identifier
    syslog_pipe_path windows_event_channels`,
  ),
]);

export const commandLine: ReadonlyMap<string, OptionType> = new Map([
  ...typed(
    "boolean",
    `allow_unsafe carver_compression carver_disable_function config_check config_dump config_enable_backup daemonize
    database_dump disable_carver disable_enrollment disable_extensions disable_reenrollment disable_watchdog
    enable_extensions_watchdog enroll_always ephemeral force install logger_secondary_status_only logger_stderr
    logtostderr tls_accept_gzip tls_dump tls_session_reuse uninstall`,
  ),
  ...typed(
    "integer",
    `alarm_timeout carver_block_size carver_expiry config_accelerated_refresh config_tls_max_attempts extensions_interval
    extensions_timeout logger_mode stderrthreshold tls_enroll_max_attempts tls_enroll_max_interval tls_session_timeout
    watchdog_delay watchdog_forced_shutdown_delay watchdog_latency_limit watchdog_level watchdog_memory_limit
    watchdog_utilization_limit worker_threads`,
  ),
  ...typed(
    "string",
    `carver_continue_endpoint carver_start_endpoint config_backup config_path config_plugin config_tls_endpoint
    database_path disable_tables enable_tables enroll_secret_env enroll_secret_path enroll_tls_endpoint
    extensions_autoload extensions_require extensions_socket flagfile logger_plugin pidfile proxy_hostname
    tls_client_cert tls_client_key tls_hostname tls_server_certs`,
  ),
]);

/** Top-level keys of the configuration that agents receive. */
export const configKeys: ReadonlyMap<string, "object" | "array"> = new Map([
  ["options", "object"],
  ["schedule", "object"],
  ["packs", "object"],
  ["decorators", "object"],
  ["file_paths", "object"],
  ["file_accesses", "array"],
  ["exclude_paths", "object"],
  ["yara", "object"],
  ["views", "object"],
  ["auto_table_construction", "object"],
  ["prometheus_targets", "object"],
  ["events", "object"],
  ["feature_vectors", "object"],
]);
