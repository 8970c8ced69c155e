import { systemTables } from "./system.ts";
import type { Table } from "./table.ts";

const everything: readonly Table[] = [...systemTables];

/** The tables of this platform, by name. */
export const tablesFor = (platform: NodeJS.Platform): ReadonlyMap<string, Table> =>
  new Map(everything.filter(({ platforms }) => platforms.includes(platform)).map((one) => [one.name, one]));
