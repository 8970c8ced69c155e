// What a plan says about its changes and their hosts.
import type { CannotReason, PlannedChange } from "../../../api/edge/plans.ts";

type Key = Pick<PlannedChange, "kind" | "owner" | "name" | "title">;

/** `policy "Up" of team Sales`. */
export function titleOf({ kind, owner, name, title }: Key): string {
  const noun = kind.replaceAll("_", " ");
  const whose = owner === null ? "" : owner === "No team" ? " of hosts without a team" : ` of team ${owner}`;
  return `${noun}${name === kind ? "" : ` "${title ?? name}"`}${whose}`;
}

export const verbs = { create: "Create", update: "Change", delete: "Delete" } as const;

export const reasons = {
  wrong_platform: "they have another platform",
  not_managed: "their devices are not managed",
  label_excluded: "a label excludes them",
} as const satisfies Record<CannotReason, string>;

/** A value in one line, or a text as it is. */
export const shown = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

export const isEmpty = (value: unknown): boolean =>
  value === null || value === false || value === "" || (Array.isArray(value) && value.length === 0);
