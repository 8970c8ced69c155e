import type { CollectedName, StoredValue } from "../../../api/hosts/host-fields.ts";

/** Host columns filled from agent results. */
export type InventoryFields = { [K in CollectedName]: StoredValue<K> };

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
