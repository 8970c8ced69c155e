import { type AgentRow, text, type Warn } from "../../platform/agent-protocol/rows.ts";

export interface MunkiIssue {
  readonly name: string;
  readonly type: "error" | "warning";
}
export interface MunkiInventory {
  readonly version: string;
  readonly issues: readonly MunkiIssue[];
}

function issues(list: string, type: MunkiIssue["type"]): MunkiIssue[] {
  const names = new Set(list.split(";").map((name) => name.trim().slice(0, 255)));
  names.delete("");
  return [...names].map((name) => ({ name, type }));
}

/** `removed`: the host no longer has Munki. */
export function munkiInventory(rows: readonly AgentRow[], warn: Warn): MunkiInventory | "removed" {
  const row = rows[0];
  if (row === undefined) return "removed";
  if (rows.length > 1) warn("munki", `expected one row, got ${rows.length}`);
  return {
    version: text(row, "version"),
    issues: [...issues(text(row, "errors", 65_536), "error"), ...issues(text(row, "warnings", 65_536), "warning")],
  };
}
