import { accountTables } from "./accounts.ts";
import { appTables } from "./apps.ts";
import { authorizedKeyTables } from "./authorized-keys.ts";
import { certificateTables } from "./certificates.ts";
import { diskTables } from "./disks.ts";
import { extensionTables } from "./extensions.ts";
import { fileTables } from "./files.ts";
import { networkTables } from "./network.ts";
import { packageTables } from "./packages.ts";
import { processTables } from "./processes.ts";
import { serviceTables } from "./services.ts";
import { settingsTables } from "./settings-files.ts";
import { systemTables } from "./system.ts";
import type { Table } from "./table.ts";
import { windowsTables } from "./windows.ts";

const everything: readonly Table[] = [
  ...systemTables,
  ...accountTables,
  ...appTables,
  ...authorizedKeyTables,
  ...certificateTables,
  ...diskTables,
  ...extensionTables,
  ...fileTables,
  ...networkTables,
  ...packageTables,
  ...processTables,
  ...serviceTables,
  ...settingsTables,
  ...windowsTables,
];

/** The tables of this platform, by name. */
export const tablesFor = (platform: NodeJS.Platform): ReadonlyMap<string, Table> =>
  new Map(everything.filter(({ platforms }) => platforms.includes(platform)).map((table) => [table.name, table]));
