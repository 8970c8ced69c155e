import * as Flags from "@oclif/core/flags";
import { LabelItem } from "../../api/hosts/labels.ts";
import { plural } from "../../text/plural.ts";
import { usage } from "../errors.ts";
import { listOf } from "../flags.ts";
import type { View } from "../output/output.ts";

export const labelView: View = {
  schema: () => LabelItem,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "label_type", header: "type" },
    { key: "label_membership_type", header: "members" },
    { key: "platform" },
    { key: "count", header: "hosts" },
    { key: "description" },
  ],
};

export const memberFlags = {
  hosts: Flags.string({
    summary: "Hosts in the label, by name, serial number, uuid or id.",
    helpValue: "HOST,HOST",
    multiple: true,
  }),
  "host-ids": Flags.string({ summary: "Hosts in the label, by id.", helpValue: "ID,ID", multiple: true }),
};

export const criteriaFlags = {
  where: Flags.string({ summary: "Hosts that this expression selects.", helpValue: "EXPRESSION" }),
  vital: Flags.string({ summary: "Hosts for which this vital has the value --value, e.g. end_user_idp_group." }),
  "vital-id": Flags.integer({ summary: "Custom host vital, for --vital custom_host_vital.", dependsOn: ["vital"] }),
  value: Flags.string({ summary: "Value of --vital.", dependsOn: ["vital"] }),
};

interface CriteriaInput {
  readonly where?: string | undefined;
  readonly vital?: string | undefined;
  readonly "vital-id"?: number | undefined;
  readonly value?: string | undefined;
}

/** The body field from the criteria flags; empty without any of them. */
export function criteriaOf(flags: CriteriaInput): Record<string, unknown> {
  const criteria = {
    ...(flags.vital === undefined ? {} : { vital: flags.vital, value: flags.value }),
    ...(flags["vital-id"] === undefined ? {} : { custom_host_vital_id: flags["vital-id"] }),
    ...(flags.where === undefined ? {} : { where: flags.where }),
  };
  return Object.keys(criteria).length === 0 ? {} : { criteria };
}

/** Body fields from the member flags; an empty value is an empty list. Fails for hosts that `find` does not find. */
export async function memberFields(
  flags: { hosts?: string[] | undefined; "host-ids"?: string[] | undefined },
  find: (text: string) => Promise<{ id: number }>,
): Promise<Record<string, unknown>> {
  if (flags.hosts !== undefined && flags["host-ids"] !== undefined)
    throw usage("--hosts and --host-ids cannot be used together");
  if (flags.hosts !== undefined) {
    const host_ids: number[] = [];
    for (const name of listOf(flags.hosts)) host_ids.push((await find(name)).id);
    return { host_ids };
  }
  // A value that is not a number is passed on, so that the server reports the error.
  return flags["host-ids"] === undefined
    ? {}
    : { host_ids: listOf(flags["host-ids"]).map((id) => (/^\d{1,15}$/.test(id) ? Number(id) : id)) };
}

const knownOf = (count: number): string =>
  count === 0
    ? "none of them is known"
    : `${plural(count, "of them is known and was", "of them are known and were")} added to the label`;

/** Warns about unknown hosts, because the server ignores names that match no host. */
export function warnUnknown(body: Record<string, unknown>, count: number, warn: (text: string) => void): void {
  const named = body.hosts ?? body.host_ids;
  if (!Array.isArray(named)) return;
  const names = new Set(named).size;
  if (count < names) warn(`${plural(names, "host was", "hosts were")} given; ${knownOf(count)}`);
}
