// What `host_details` stores of a host, as its agent reports it.
import type { ServerTx } from "../../platform/core/tables.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import type { hostDetails } from "./tables.ts";

export type HostDetailsRow = InsertOf<typeof hostDetails> & { id: number };

export async function writeDetails(tx: ServerTx, rows: readonly HostDetailsRow[]): Promise<void> {
  if (rows.length > 0) await tx.hostDetails.upsert(rows, { on: ["id"], returning: [] });
}

export interface CertificateName {
  readonly country: string;
  readonly organization: string;
  readonly organizational_unit: string;
  readonly common_name: string;
}

export interface CertificateInventory {
  readonly sha1: string;
  readonly scope: "system" | "user";
  /** Owner of a certificate of scope `user`. */
  readonly username: string;
  readonly not_valid_before: string | null;
  readonly not_valid_after: string | null;
  readonly certificate_authority: boolean;
  readonly common_name: string;
  readonly key_algorithm: string;
  readonly key_strength: number;
  readonly key_usage: string;
  /** Hexadecimal; serial numbers have up to 20 bytes. */
  readonly serial: string;
  readonly signing_algorithm: string;
  readonly subject: CertificateName;
  readonly issuer: CertificateName;
}

/** Execution statistics of a scheduled query on a host, by the field names of the API. The caller adds the ids. */
export interface QueryStats {
  readonly scheduled_query_name: string;
  readonly query_name: string;
  readonly pack_name: string;
  readonly average_memory: number;
  readonly denylisted: boolean;
  readonly executions: number;
  readonly interval: number;
  readonly last_executed: string | null;
  readonly output_size: number;
  readonly system_time: number;
  readonly user_time: number;
  /** Milliseconds. */
  readonly wall_time: number;
}

export interface PackStats {
  readonly pack_name: string;
  readonly type: string;
  readonly query_stats: readonly QueryStats[];
}
