// The profiles that agents find on Macs.

import type { InventorySource, SourceWriter } from "../../../hosts/hosts/inventory/source.ts";
import { NOTHING_TO_WRITE } from "../../../hosts/hosts/inventory/source.ts";
import { tableExists } from "../../../platform/agent-protocol/detail-query.ts";
import { type AgentRow, text } from "../../../platform/agent-protocol/rows.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { InstalledProfile } from "../../profiles/host-rows.ts";
import { reportedEvents, writeReported } from "./reported.ts";

const DATE = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|[+-]\d\d:?\d\d)?$/;

/** Agents report dates such as `2026-03-01 12:00:00 +0000`. Null: not a date. */
function installedAt(text: string): string | null {
  const [, day, time, zone = "Z"] = DATE.exec(text.trim()) ?? [];
  const at = Date.parse(`${day}T${time}${zone.replace(/^([+-]\d\d)(\d\d)$/, "$1:$2")}`);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

const installedOf = (rows: readonly AgentRow[]): InstalledProfile[] =>
  rows.flatMap((row) => {
    const identifier = text(row, "identifier").trim();
    return identifier === "" ? [] : [{ identifier, installed_at: installedAt(text(row, "install_date")) }];
  });

function startWriter({ store, clock }: Services): SourceWriter<readonly InstalledProfile[]> {
  return {
    async plan(reported, now) {
      const installed = new Map(reported.map(({ hostId, value }) => [hostId, value]));
      const expected = await reportedEvents(store, installed, now);
      if (expected.length === 0) return NOTHING_TO_WRITE;
      const changing = new Map(expected.map(({ row: { host_id } }) => [host_id, installed.get(host_id) ?? []]));
      return {
        // The rows may have changed since they were read.
        write: async (tx) => writeReported({ store: tx, clock }, changing, now),
      };
    },
  };
}

export const profileInventory: InventorySource<readonly InstalledProfile[]> = {
  queries: [
    {
      name: "macos_profiles",
      platforms: ["darwin"],
      discovery: tableExists("macos_profiles"),
      sql: "SELECT identifier, install_date FROM macos_profiles;",
    },
    {
      name: "macos_user_profiles",
      platforms: ["darwin"],
      discovery: tableExists("macos_user_profiles"),
      sql: "SELECT identifier, install_date FROM macos_user_profiles WHERE username IN (SELECT user FROM logged_in_users WHERE type = 'user');",
    },
  ],
  read({ rows }) {
    const system = rows("macos_profiles");
    return system === null ? null : [...installedOf(system), ...installedOf(rows("macos_user_profiles") ?? [])];
  },
  start: startWriter,
};
