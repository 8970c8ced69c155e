import * as Flags from "@oclif/core/flags";
import { LabelItem } from "../api/labels.ts";
import { listOf } from "./flags.ts";
import type { View } from "./output.ts";

export const labelView: View = {
  schema: LabelItem,
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
    summary: "Hosts in the label, by serial number, uuid or hostname.",
    helpValue: "HOST,HOST",
    multiple: true,
  }),
  "host-ids": Flags.string({ summary: "Hosts in the label, by id.", helpValue: "ID,ID", multiple: true }),
};

/** The fields of a body that the flags of members give; an empty value is an empty list. */
export function memberFields(flags: {
  hosts?: string[] | undefined;
  "host-ids"?: string[] | undefined;
}): Record<string, unknown> {
  return {
    ...(flags.hosts === undefined ? {} : { hosts: listOf(flags.hosts) }),
    // What is no number stays as it is: the server says what is wrong with it.
    ...(flags["host-ids"] === undefined
      ? {}
      : { host_ids: listOf(flags["host-ids"]).map((id) => (/^\d{1,15}$/.test(id) ? Number(id) : id)) }),
  };
}

/** The server passes over what names no host. */
export function tellUnknown(given: Record<string, unknown>, count: number, warn: (text: string) => void): void {
  const named = given.hosts ?? given.host_ids;
  if (!Array.isArray(named)) return;
  const names = new Set(named).size;
  if (count < names) warn(`${names} hosts were named, ${count} of them are known and in the label`);
}
