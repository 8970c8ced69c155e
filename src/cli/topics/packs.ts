import * as Flags from "@oclif/core/flags";
import { Pack } from "../../api/checks/packs.ts";
import { listOf } from "../flags.ts";
import type { View } from "../output/output.ts";

export const packView: View = {
  schema: () => Pack,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "platform" },
    { key: "disabled" },
    { key: "query_count", header: "queries" },
    { key: "total_hosts_count", header: "hosts" },
    { key: "description" },
  ],
};

const many = (summary: string, helpValue: string) => Flags.string({ summary, helpValue, multiple: true });

export const packFlags = {
  name: Flags.string({ summary: "Name." }),
  description: Flags.string({ summary: "Purpose of the pack." }),
  platform: Flags.string({ summary: "Only on these platforms: darwin, linux, windows." }),
  disabled: Flags.boolean({ summary: "Do not send the pack to hosts.", allowNo: true }),
  host: many(
    "Hosts that get the pack, by id, hostname, uuid or serial number; replaces the current ones.",
    "HOST,HOST",
  ),
  label: many("Labels whose hosts get the pack; replaces the current ones.", "LABEL,LABEL"),
  team: many("Teams whose hosts get the pack (premium); replaces the current ones.", "TEAM,TEAM"),
};

interface Finder {
  host(text: string): Promise<{ id: number }>;
  label(text: string): Promise<{ id: number }>;
  team(text: string): Promise<{ id: number }>;
}

/** Body fields from the flags; an empty value is an empty list. */
export async function packFields(
  flags: Readonly<Record<string, unknown>> & {
    host?: string[] | undefined;
    label?: string[] | undefined;
    team?: string[] | undefined;
  },
  find: Finder,
): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const name of ["name", "description", "platform", "disabled"])
    if (flags[name] !== undefined) body[name] = flags[name];
  for (const kind of ["host", "label", "team"] as const) {
    const names = flags[kind];
    if (names === undefined) continue;
    const ids = [];
    for (const text of listOf(names)) ids.push((await find[kind](text)).id);
    body[`${kind}_ids`] = ids;
  }
  return body;
}
