/** Host columns filled from agent results. */
export interface InventoryFields {
  uuid: string;
  hostname: string;
  display_name: string;
  computer_name: string;
  platform: string;
  platform_like: string;
  code_name: string;
  build: string;
  os_version: string;
  qengine_version: string;
  /** Nanoseconds. Above 2^53 after 104 days, but exact as a double, since it is whole seconds × 10^9. */
  uptime: number;
  last_restarted_at: string | null;
  memory: number;
  cpu_type: string;
  cpu_subtype: string;
  cpu_brand: string;
  cpu_physical_cores: number;
  cpu_logical_cores: number;
  hardware_vendor: string;
  hardware_model: string;
  hardware_version: string;
  hardware_serial: string;
  public_ip: string;
  primary_ip: string;
  primary_mac: string;
  distributed_interval: number;
  config_tls_refresh: number;
  logger_tls_period: number;
  gigs_disk_space_available: number;
  gigs_total_disk_space: number;
  percent_disk_space_available: number;
}

export interface HostContext {
  /** The stored values of the host, usually its row. */
  readonly stored: Partial<Readonly<InventoryFields>>;
  /** Epoch milliseconds; becomes `detail_updated_at`. */
  readonly now: number;
  /** The client address, determined by the trusted-proxy rules. */
  readonly publicIp: string;
}

type NamedFields = Pick<InventoryFields, "computer_name" | "hostname" | "hardware_model" | "hardware_serial">;

export function displayName(host: Partial<Readonly<NamedFields>>): string {
  if (host.computer_name) return host.computer_name;
  if (host.hostname) return host.hostname;
  return host.hardware_model && host.hardware_serial ? `${host.hardware_model} (${host.hardware_serial})` : "";
}
