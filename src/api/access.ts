// The role table: which role may do what. Letters: A admin, M maintainer, O observer, P observer_plus, G gitops, T
// technician, L plan.
// The first column lists sufficient global roles, the second sufficient roles on the object's team ("" = no team role
// suffices).

export const roles = ["admin", "maintainer", "observer", "observer_plus", "gitops", "technician", "plan"] as const;
export type Role = (typeof roles)[number];

/** Roles of programs only. */
export const apiOnlyRoles: readonly Role[] = ["gitops", "plan"];

/** Roles of the premium tier. All team roles are premium too. */
export const premiumRoles: readonly Role[] = ["observer_plus", "gitops", "technician"];

const letters: Record<string, Role> = {
  A: "admin",
  M: "maintainer",
  O: "observer",
  P: "observer_plus",
  G: "gitops",
  T: "technician",
  L: "plan",
};

const rule = (global: string, team: string) => ({
  global: [...global].map((letter) => letters[letter]!),
  team: [...team].map((letter) => letters[letter]!),
});

export const actions = {
  "activities:list": rule("AMTOP", ""),
  "hosts:list": rule("AMTOP", "AMTOP"),
  "hosts:read": rule("AMTOP", "AMTOP"),
  "hosts:identify": rule("AMTOPG", "AMTOPG"),
  "hosts:refetch": rule("AMTOP", "AMTOP"),
  "hosts:delete": rule("AM", "AM"),
  "hosts:transfer": rule("AMTG", "AMTG"),
  "hosts:label": rule("AMTG", "AMTG"),
  "hosts:device_mapping": rule("AM", "AM"),
  /** The user of the identity provider. */
  "hosts:idp_user": rule("AM", ""),
  "scim:read": rule("AM", ""),
  "scim:write": rule("AM", ""),
  /** Credentials for the organization's directory: as certificate authorities. */
  "directory:read": rule("AG", ""),
  "directory:write": rule("AG", ""),
  /** The connection with the directory. */
  "conditional_access:write": rule("A", ""),
  "hosts:write_vitals": rule("AMG", "AMG"),
  "hosts:lock": rule("AM", "AM"),
  /** In addition, the approver needs the right to do the approved action. */
  "approvals:approve": rule("AM", "AM"),
  "hosts:read_disk_key": rule("AMTOP", "AMTOP"),
  /** Passwords that give rights on a host, and former disk keys: for those who may act on the host anyway. */
  "hosts:read_passwords": rule("AMT", "AMT"),
  "hosts:read_activities": rule("AMTOP", "AMTOP"),
  "hosts:cancel_activity": rule("AM", "AM"),
  "mdm:unenroll": rule("AM", "AM"),
  "mdm:read": rule("AMTOP", "AMTOP"),
  "mdm:trust": rule("A", ""),
  "abm:read": rule("A", ""),
  "abm:write": rule("A", ""),
  "vpp:read": rule("A", ""),
  "vpp:write": rule("A", ""),
  "hosts:release": rule("A", ""),
  "setup:read": rule("AMG", "AMG"),
  "setup:write": rule("AMG", "AMG"),
  "commands:run": rule("AMG", "AMG"),
  "commands:read": rule("AMTOP", "AMTOP"),
  "eula:write": rule("AG", ""),
  "profiles:read": rule("AMTG", "AMTG"),
  "profiles:write": rule("AMG", "AMG"),
  "profiles:resend": rule("AMTG", "AMTG"),
  /** Whoever may do anything that takes a file. */
  "files:upload": rule("AMG", "AMG"),
  /** Uploads of other users. */
  "files:manage": rule("A", ""),
  "scripts:read": rule("AMTOP", "AMTOP"),
  "scripts:write": rule("AMG", "AMG"),
  "scripts:run": rule("AMT", "AMT"),
  "scripts:schedule": rule("AM", "AM"),
  "packages:read": rule("AMTG", "AMTG"),
  "packages:write": rule("AMG", "AMG"),
  "categories:write": rule("AM", "AM"),
  "software:rename": rule("A", ""),
  "software:install": rule("AMT", "AMT"),
  "labels:list": rule("AMTOPG", "AMTOPG"),
  "labels:write": rule("AMTG", "AMTG"),
  /** Includes labels that other users created. */
  "labels:write_any": rule("AMTG", "AM"),
  "policies:list": rule("AMTOPG", "AMTOPG"),
  "policies:write": rule("AMG", "AMG"),
  "policies:automations": rule("AG", "AG"),
  "queries:list": rule("AMTOPG", "AMTOPG"),
  "queries:write": rule("AMG", "AMG"),
  "queries:run": rule("AMTOP", "AMTOP"),
  "queries:run_new": rule("AMTP", "AMTP"),
  "packs:write": rule("AMG", ""),
  "targets:search": rule("AMTOP", "AMTOP"),
  "carves:start": rule("AM", "AM"),
  "carves:read": rule("A", ""),
  "software:list": rule("AMTOP", "AMTOP"),
  "catalogue:read": rule("AMTOPG", "AMTOPG"),
  /** Saved views of lists that others see: those of everyone globally, and those of a team. */
  "views:share": rule("AM", "AM"),
  "users:list": rule("A", "A"),
  "users:write": rule("A", "A"),
  "sessions:any": rule("A", ""),
  "teams:list": rule("AMTOPG", "AMTOPG"),
  "teams:create": rule("AG", ""),
  "teams:edit": rule("AG", "AG"),
  "teams:delete": rule("AG", ""),
  "enroll_secrets:read": rule("AM", "AM"),
  "enroll_secrets:write": rule("AMG", "AM"),
  "invites:write": rule("A", ""),
  "activities:verify": rule("A", ""),
  "webhooks:write": rule("AG", ""),
  "jobs:trigger": rule("A", ""),
  "variables:read": rule("AMTOPG", "AMTOPG"),
  "variables:write": rule("AMG", ""),
  "ca:read": rule("AG", ""),
  "ca:write": rule("AG", ""),
  "ca:request_certificate": rule("AM", ""),
  "certificates:read": rule("AMG", "AMG"),
  "certificates:write": rule("AMG", "AMG"),
  "config:read": rule("AMTOPG", "AMTOPG"),
  "config:read_secrets": rule("AG", ""),
  "config:write": rule("AG", ""),
  "configuration:apply": rule("AG", "AG"),
  /** Reads what an apply may write, without files and secrets, and tries applies out. */
  "configuration:plan": rule("AGL", "AGL"),
} satisfies Record<string, ReturnType<typeof rule>>;

export type Action = keyof typeof actions;

/** Action names that follow the rule of another action: a user who may lock a host may also do these. */
export const sameAs = {
  "hosts:unlock": "hosts:lock",
  "hosts:wipe": "hosts:lock",
  "hosts:clear_passcode": "hosts:lock",
} as const satisfies Record<string, Action>;

export interface Roles {
  readonly global_role: Role | null;
  readonly teams: readonly { readonly id: number; readonly role: Role }[];
}

/** Whether the roles allow the action on objects of that team. Null means objects without a team, or of all teams. */
export function allows(held: Roles, action: Action, teamId: number | null): boolean {
  const { global, team } = actions[action];
  if (held.global_role !== null) return global.includes(held.global_role);
  return teamId !== null && held.teams.some(({ id, role }) => id === teamId && team.includes(role));
}

/** The teams on which the roles allow the action; "all" (including no team) if the global role suffices. */
export function teamsFor(held: Roles, action: Action): "all" | number[] {
  const { global, team } = actions[action];
  if (held.global_role !== null) return global.includes(held.global_role) ? "all" : [];
  return held.teams.filter(({ role }) => team.includes(role)).map(({ id }) => id);
}

/** Whether all of the roles are for reading only: then the user may not even change its own account. */
export function isReadOnly({ global_role, teams }: Roles): boolean {
  const all = global_role === null ? teams.map(({ role }) => role) : [global_role];
  return all.length > 0 && all.every((role) => role === "plan");
}

/** Whether the roles allow the action on any object at all. */
export const allowsSomewhere = (held: Roles, action: Action): boolean => {
  const teams = teamsFor(held, action);
  return teams === "all" || teams.length > 0;
};
