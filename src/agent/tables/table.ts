// How a table of the agent is declared. Names, columns and values are those of osquery.
import type { Hardware } from "../machine/hardware.ts";
import type { OperatingSystem } from "../machine/os.ts";

export type Cell = string | number | bigint | null;
export type TableRow = Readonly<Record<string, Cell | undefined>>;
type ColumnType = "TEXT" | "INTEGER" | "BIGINT" | "DOUBLE";

/** What tables know besides the machine itself. */
export interface TableContext {
  readonly hardware: Hardware;
  readonly os: OperatingSystem;
  readonly instanceId: string;
  readonly agentVersion: string;
  readonly runsScripts: boolean;
  /** Unix time in seconds. */
  readonly startedAt: number;
  /** Values of osquery's flags. */
  readonly flags: Readonly<Record<string, string>>;
  readonly tables: readonly Table[];
  /** Compared with columns of the query: `{ path: [{ pattern: "/etc/%", isLike: true }] }`. */
  readonly constraints: Readonly<Record<string, readonly Constraint[]>>;
}

export interface Constraint {
  readonly value: string;
  readonly isLike: boolean;
}

export interface Table {
  readonly name: string;
  readonly platforms: readonly NodeJS.Platform[];
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** Rows are found by what the query compares these columns with, and read again for each query. */
  readonly findsBy?: readonly string[];
  /** Missing keys are NULL. */
  rows(context: TableContext): Promise<readonly TableRow[]> | readonly TableRow[];
}

const typed =
  (type: ColumnType) =>
  (names: string): Record<string, ColumnType> =>
    Object.fromEntries(names.split(" ").map((name) => [name, type]));

export const text = typed("TEXT");
export const integer = typed("INTEGER");
export const bigint = typed("BIGINT");
export const double = typed("DOUBLE");

export const ALL: readonly NodeJS.Platform[] = ["linux", "darwin", "win32"];
export const LINUX: readonly NodeJS.Platform[] = ["linux"];
export const UNIX: readonly NodeJS.Platform[] = ["linux", "darwin"];
export const MAC: readonly NodeJS.Platform[] = ["darwin"];
export const WINDOWS: readonly NodeJS.Platform[] = ["win32"];
