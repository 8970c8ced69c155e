import { bool, idOf, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly recoveryLocks: typeof recoveryLocks;
    readonly managedAccounts: typeof managedAccounts;
  }
}

/** What Macs need to start in recovery mode. */
export const recoveryLocks = table("recovery_locks", {
  id: idOf("hosts"),
  status: text<"pending" | "verifying" | "verified" | "failed">().index(),
  detail: text().default(""),
  /** The one that the Mac has. */
  password: text().nullable().secret(),
  /** When the Mac confirmed that it has this password; null: it has not. */
  updated_at: time().nullable(),
  /** What the Mac is asked to have instead. */
  next: text().nullable().secret(),
  /** Whether the Mac is to have no password any more. */
  removing: bool().default(false),
  /** The command that is to be sent, or that the Mac has not answered yet; null: nothing is left to do. */
  step: text<"set" | "verify">().nullable().index(),
  /** Null: the command was not sent yet. */
  command_uuid: text().nullable(),
});

/** The administrator account that this server has created on a Mac. */
export const managedAccounts = table("managed_accounts", {
  id: idOf("hosts"),
  name: text(),
  status: text<"pending" | "verified" | "failed">(),
  detail: text().default(""),
  /** The one that the account has; null: there is no account yet. */
  password: text().nullable().secret(),
  updated_at: time().nullable(),
  /** What the Mac is asked to have instead. */
  next: text().nullable().secret(),
  /**
   * The command that is to be sent or answered; null: none. `find`: the Mac is asked for the id of the account, which a
   * change of its password needs.
   */
  step: text<"create" | "find" | "set">().nullable(),
  /** The id of the account, once it is known. */
  account_guid: text().nullable(),
  /** Who has asked for another password. */
  requested_by: ref("users").nullable(),
  command_uuid: text().nullable(),
});
