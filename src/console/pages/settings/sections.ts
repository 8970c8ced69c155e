// The sections of the settings, in the order of their navigation.
import type { Action } from "../../../api/access.ts";
import { may, maySomewhere } from "../../session.ts";

interface Section {
  readonly id: string;
  readonly name: string;
  /** What a user needs to open it. Null: everybody may. */
  readonly action: Action | null;
  /** Whether the action has to be allowed globally. */
  readonly isGlobal?: boolean;
}

export const sections = [
  { id: "users", name: "Users", action: "users:list" },
  { id: "roles", name: "Roles", action: null },
  { id: "teams", name: "Teams", action: "teams:list" },
  { id: "enroll-secrets", name: "Enroll secrets", action: "enroll_secrets:read", isGlobal: true },
  { id: "tokens", name: "Tokens", action: null },
] as const satisfies readonly Section[];

export type SectionId = (typeof sections)[number]["id"];

export const mayOpen = ({ action, isGlobal = false }: Section): boolean =>
  action === null || (isGlobal ? may(action, null) : maySomewhere(action));

/** The sections that the user may open. */
export const ownSections = (): readonly (typeof sections)[number][] => sections.filter(mayOpen);

/** What the page of one object of a section gets. */
export interface ItemProps {
  readonly id: number;
}
