// The schema of the first release: the tables of one wing of src/server after the other, so that tables come before
// those that refer to them.
import { accounts } from "./0001-initial/accounts.ts";
import { automations } from "./0001-initial/automations.ts";
import { certificates } from "./0001-initial/certificates.ts";
import { checks } from "./0001-initial/checks.ts";
import { delivery } from "./0001-initial/delivery.ts";
import { devices } from "./0001-initial/devices.ts";
import { edge } from "./0001-initial/edge.ts";
import { hosts } from "./0001-initial/hosts.ts";
import { inventory } from "./0001-initial/inventory.ts";
import { platform } from "./0001-initial/platform.ts";
import { references } from "./0001-initial/references.ts";
import { settings } from "./0001-initial/settings.ts";
import { software } from "./0001-initial/software.ts";
import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 1,
  name: "initial",
  transactional: true,
  statements: [
    platform,
    accounts,
    settings,
    hosts,
    checks,
    certificates,
    software,
    devices,
    automations,
    inventory,
    delivery,
    edge,
    references,
  ],
};
