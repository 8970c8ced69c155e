import { id, idOf, json, ref, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly appleSetups: typeof appleSetups;
    readonly bootstrapPackages: typeof bootstrapPackages;
    readonly eulas: typeof eulas;
  }
}

/** Devices that wait in their setup assistant until this server releases them. */
export const appleSetups = table("apple_setups", {
  id: idOf("hosts"),
  started_at: time(),
  /** When the device is no longer kept waiting. */
  due_at: time(),
  /** Names of the steps that have ended. */
  done: json<readonly string[]>(),
  /** Name of the step that has begun last. */
  begun: text().nullable(),
  /** When the device was sent the command that ends its wait. */
  released_at: time().nullable().index(),
});

/** What Macs of a team install first. */
export const bootstrapPackages = table("bootstrap_packages", {
  id: id(),
  created_at: time(),
  /** The team's id as text, or "none": hosts without a team. */
  team_key: text().unique(),
  team_id: ref("teams").nullable().onDelete("cascade"),
  name: text(),
  /** Secret with which anybody can download the package. */
  token: text().unique(),
  file_id: ref("files").onDelete("restrict"),
});

/** The license agreement. There is at most one row. */
export const eulas = table("eulas", {
  id: id(),
  /** Always "eula", so that two servers cannot both add one. */
  slot: text().unique(),
  created_at: time(),
  name: text(),
  token: text().unique(),
  file_id: ref("files").onDelete("restrict"),
});
