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
  { id: "organization", name: "Organization", action: "config:read" },
  { id: "sign-in", name: "Sign-in", action: "config:read_secrets", isGlobal: true },
  { id: "users", name: "Users", action: "users:list" },
  { id: "roles", name: "Roles", action: null },
  { id: "teams", name: "Teams", action: "teams:list" },
  { id: "enroll-secrets", name: "Enroll secrets", action: "enroll_secrets:read", isGlobal: true },
  { id: "tokens", name: "Tokens", action: null },
  { id: "agents", name: "Agents", action: "config:read" },
  { id: "device-management", name: "Device management", action: "config:read" },
  { id: "mail", name: "Mail", action: "config:read_secrets", isGlobal: true },
  { id: "integrations", name: "Integrations", action: "config:read" },
  { id: "authorities", name: "Certificate authorities", action: "ca:read", isGlobal: true },
  { id: "host-expiry", name: "Host expiry", action: "config:read" },
  { id: "activity-expiry", name: "Activity expiry", action: "config:read" },
  { id: "gitops-mode", name: "GitOps mode", action: "config:read" },
  { id: "webhooks", name: "Webhooks", action: "config:read" },
  { id: "carves", name: "Carves", action: "carves:read", isGlobal: true },
  { id: "jobs", name: "Jobs", action: "jobs:trigger", isGlobal: true },
  { id: "license", name: "License and health", action: "config:read" },
] as const satisfies readonly Section[];

export type SectionId = (typeof sections)[number]["id"];

export const nameOfSection = (id: SectionId): string => sections.find((section) => section.id === id)!.name;

export const mayOpen = ({ action, isGlobal = false }: Section): boolean =>
  action === null || (isGlobal ? may(action, null) : maySomewhere(action));

/** The sections that the user may open. */
export const ownSections = (): readonly (typeof sections)[number][] => sections.filter(mayOpen);

/** What the page of one object of a section gets. */
export interface ItemProps {
  readonly id: number;
}
