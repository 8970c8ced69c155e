import type { HostUser } from "../../../../api/hosts/host.ts";
import { toInt } from "../../../platform/agent-protocol/numbers.ts";
import { type AgentRow, text, type Warn } from "../../../platform/agent-protocol/rows.ts";
import { limit } from "../../../platform/core/limits.ts";
import type { InventorySource } from "./source.ts";

export const usersLimit = limit({
  what: "user accounts of a host",
  max: 1_000,
  unit: "entries",
  per: "host",
  beyond: "Those with higher uids are ignored.",
});

const NO_LOGIN = ["/false", "/nologin", "/shutdown", "/halt"] as const;

function isPerson(row: AgentRow): boolean {
  const username = text(row, "username");
  if (username === "" || username.startsWith("_") || username.endsWith("$")) return false;
  if (text(row, "type").toLowerCase() === "special") return false;
  const shell = text(row, "shell").toLowerCase();
  if (NO_LOGIN.some((end) => shell.endsWith(end))) return false;
  return !(username === "sync" && shell.endsWith("/bin/sync"));
}

/** User accounts without system accounts, ordered by uid; null (keep the stored list) if there are none. */
export function hostUsers(rows: readonly AgentRow[], warn: Warn): HostUser[] | null {
  const users = new Map<string, HostUser>();
  for (const row of rows) {
    if (!isPerson(row)) continue;
    // Without a uid it would be taken for root.
    const uid = text(row, "uid").trim() === "" ? null : toInt(row.uid);
    if (uid === null) {
      warn("users", "a uid is missing or not a number");
      continue;
    }
    const username = text(row, "username");
    const key = `${uid} ${username}`;
    // The join repeats a user if two groups share a gid; the first row is used.
    if (users.has(key)) continue;
    users.set(key, {
      uid,
      username,
      type: text(row, "type"),
      groupname: text(row, "groupname"),
      shell: text(row, "shell"),
    });
  }
  if (users.size === 0) return null;
  const sorted = [...users.values()].sort((a, b) => a.uid - b.uid || (a.username < b.username ? -1 : 1));
  if (sorted.length > usersLimit.max) warn("users", `there are more than ${usersLimit.max} accounts`);
  return sorted.slice(0, usersLimit.max);
}

export const userInventory: InventorySource<HostUser[]> = {
  queries: [
    {
      name: "users",
      platforms: ["darwin", "linux", "windows"],
      feature: "enable_host_users",
      sql: "SELECT u.uid, u.username, u.type, u.shell, u.directory, g.groupname FROM users AS u LEFT JOIN (SELECT gid, groupname FROM groups) AS g ON g.gid = u.gid;",
    },
  ],
  read({ rows, warn }) {
    const userRows = rows("users");
    return userRows && hostUsers(userRows, warn);
  },
  details: (users) => ({ users }),
};
