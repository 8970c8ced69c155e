import { idOf, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly hostNames: typeof hostNames;
  }
}

/** What hosts are to be called by the template of their team, and whether they are. */
export const hostNames = table("host_names", {
  id: idOf("hosts"),
  status: text<"pending" | "verifying" | "verified" | "failed">().index(),
  detail: text().default(""),
  /** Null: the host lacks a value that the template names. Secrets may be in it. */
  name: text().nullable().secret(),
  /** Digest of the template and the values of which the name was made. */
  digest: text(),
  /** The command that is to be sent, or that the device has not answered yet; null: nothing is left to do. */
  step: text<"set" | "verify">().nullable().index(),
  /** Null: the command was not sent yet. */
  command_uuid: text().nullable(),
  /** When the status was determined: what the host has reported before says nothing about it. */
  changed_at: time(),
});
