// The entries of the navigation, in its order.
import type { Action } from "../../api/access.ts";
import { maySomewhere, session } from "../session.ts";

export interface Entry {
  readonly name: string;
  readonly href: string;
  /** The letter that opens it after `g`. */
  readonly letter: string;
  /** Null: everybody may open it. */
  readonly action: Action | null;
  /** Only for users with a global role. */
  readonly isGlobal?: boolean;
}

const entries: readonly Entry[] = [
  { name: "Dashboard", href: "/", letter: "d", action: null },
  { name: "Hosts", href: "/hosts", letter: "h", action: "hosts:list" },
  { name: "Software", href: "/software", letter: "s", action: "software:list" },
  { name: "Policies", href: "/policies", letter: "p", action: "policies:list" },
  { name: "Queries", href: "/queries", letter: "q", action: "queries:list" },
  { name: "Controls", href: "/controls", letter: "c", action: "variables:read" },
  { name: "Activity", href: "/activity", letter: "a", action: "activities:list", isGlobal: true },
  { name: "Changes", href: "/changes", letter: "x", action: "hosts:list" },
  { name: "Settings", href: "/settings", letter: "t", action: "config:read" },
];

/** The entries that the user may open. */
export const ownEntries = (): readonly Entry[] =>
  entries.filter(
    ({ action, isGlobal = false }) =>
      (action === null || maySomewhere(action)) && (!isGlobal || session.data.user.global_role !== null),
  );
