import type { SqlRow } from "../sql/execute.ts";
import type { Family } from "./platforms.ts";
import type { MachineView } from "./view.ts";

export type TableSpec = {
  families: readonly Family[];
  columns: readonly string[];
  rows(view: MachineView): readonly SqlRow[];
  /** Rows belong to users, and a query needs a join with `users`. */
  perUser?: boolean;
  /** Before this agent version the table had no `uid` and returned the rows of all users. */
  perUserSince?: string;
  /** A table of the managed agent's extension. */
  managed?: boolean;
  /** The first agent version with this table. */
  since?: string;
};

export const ALL: readonly Family[] = ["darwin", "linux", "windows"];
export const UNIX: readonly Family[] = ["darwin", "linux"];
export const DARWIN: readonly Family[] = ["darwin"];
export const LINUX: readonly Family[] = ["linux"];
export const WINDOWS: readonly Family[] = ["windows"];

export const columns = (text: string): string[] => text.trim().split(/\s+/);
