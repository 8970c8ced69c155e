// How a feature declares what agents are asked about a host.
import type { PlatformFamily } from "../core/platforms.ts";

type Platform = "darwin" | "linux" | "windows";

export interface DetailFeatures {
  readonly enable_host_users: boolean;
  readonly enable_software_inventory: boolean;
}

export interface DetailQuery {
  readonly name: string;
  readonly sql: string;
  /** The query runs only if this one returns a row. */
  readonly discovery?: string;
  readonly platforms: "all" | readonly Platform[];
  /** The setting of the organization or team that turns it off. */
  readonly feature?: keyof DetailFeatures;
  /** Asked only this often (ms), with the first details after that; otherwise with all details. */
  readonly interval?: number;
  /** The rows are many and rarely change: they stay text until a source reads them. */
  readonly isLarge?: true;
  /** The API's `source` of the software that this query returns. */
  readonly source?: string;
  /** Set if the discovery query reads a table that may be missing, which would fail the whole distributed read. */
  readonly needs?: { readonly platform: Platform; readonly agent: readonly [number, number] };
  /** SQL for agents below version `before`. */
  readonly older?: { readonly before: readonly [number, number]; readonly sql: string };
  /** The text differs from host to host: `InventorySource.textFor` returns it, and `sql` is empty. */
  readonly perHost?: true;
  /** Requested, too, while the MDM state of a host is about to change. */
  readonly critical?: true;
}

// Discovery queries use the agent's registry only: on an unknown table the agent drops all queries of the read.
export const tableExists = (name: string): string =>
  `SELECT 1 FROM osquery_registry WHERE registry = 'table' AND active = 1 AND name = '${name}';`;

/** Whether results of this query apply to a host of this family. For an unknown family all do. */
export const appliesTo = ({ platforms }: DetailQuery, family: PlatformFamily): boolean =>
  platforms === "all" || family === "unknown" || platforms.some((platform) => platform === family);
