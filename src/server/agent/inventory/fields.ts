import type { OwnMdm } from "./mdm.ts";

/** The columns of a host that its agent fills in. */
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
  agent_version: string | null;
  svc_desktop_version: string | null;
  scripts_enabled: boolean | null;
  /** Nanoseconds: beyond 2^53 after 104 days, yet exact as a double (whole seconds × 10^9). */
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
  disk_encryption_enabled: boolean | null;
}

export interface HostContext {
  /** What is known of the host: its row will do. */
  readonly known: Partial<Readonly<InventoryFields>>;
  /** Epoch milliseconds: what `detail_updated_at` is set to. */
  readonly now: number;
  /** The client's address by the trusted-proxy rule. */
  readonly publicIp: string;
  readonly ownMdm?: OwnMdm;
}

type NamedFields = Pick<InventoryFields, "computer_name" | "hostname" | "hardware_model" | "hardware_serial">;

export function displayName(host: Partial<Readonly<NamedFields>>): string {
  if (host.computer_name) return host.computer_name;
  if (host.hostname) return host.hostname;
  return host.hardware_model && host.hardware_serial ? `${host.hardware_model} (${host.hardware_serial})` : "";
}
