/** The flag file for an unmodified osqueryd that enrolls in this server. */
export function osqueryFlags(options: { serverUrl: string; serverCerts?: string; secretPath?: string }): string[] {
  const { host, hostname, port, protocol } = new URL(options.serverUrl);
  const at = port === "" ? `${hostname}:${protocol === "http:" ? 80 : 443}` : host;
  const path = (name: string) => `/api/v1/qengine/${name}`;
  return [
    `--tls_hostname=${at}`,
    ...(options.serverCerts === undefined ? [] : [`--tls_server_certs=${options.serverCerts}`]),
    `--enroll_secret_path=${options.secretPath ?? "/etc/osquery/enroll_secret"}`,
    "--host_identifier=uuid",
    `--enroll_tls_endpoint=${path("enroll")}`,
    "--config_plugin=tls",
    `--config_tls_endpoint=${path("config")}`,
    "--config_refresh=60",
    "--config_accelerated_refresh=60",
    "--disable_distributed=false",
    "--distributed_plugin=tls",
    "--distributed_interval=10",
    `--distributed_tls_read_endpoint=${path("distributed/read")}`,
    `--distributed_tls_write_endpoint=${path("distributed/write")}`,
    "--logger_plugin=tls",
    `--logger_tls_endpoint=${path("log")}`,
    "--logger_tls_period=10",
    "--logger_tls_compress=true",
    "--logger_min_status=1",
    "--pack_delimiter=/",
    "--tls_accept_gzip=true",
  ];
}
