// The rule for known hosts that enroll again. It decides whether the enroll secret may take over the host, for every
// kind of agent and device, and however the host was matched (identifier, hardware UUID). See README.md.

import type { Settings } from "../../platform/core/settings/settings.ts";

interface Reenrollment {
  /** The current team of the host; null: none. */
  readonly hostTeam: number | null;
  /** The team of the enroll secret; null: a global secret. */
  readonly secretTeam: number | null;
  /**
   * Whether a hardware key or client certificate has proved the identity of the machine. Identifiers, UUIDs and serial
   * numbers prove nothing: others may know them, and every host of a team has the team's secret.
   */
  readonly isProved: boolean;
  /** The setting for global secrets used by a host of a team. */
  readonly globalSecret: Settings["global_reenroll"];
}

/** `stays`: the host enrolls again in its team. `moves`: it is transferred to the secret's team (move.ts). */
type TeamVerdict = "stays" | "moves" | "refused";

/**
 * A secret of the host's own team is accepted. For a global secret the setting decides. A secret of another team is
 * accepted only with a proved identity; otherwise an administrator has to transfer or delete the host first. The same
 * applies to hosts without a team, which only global roles may see.
 */
export function judgeReenrollment({ hostTeam, secretTeam, isProved, globalSecret }: Reenrollment): TeamVerdict {
  if (hostTeam === secretTeam) return "stays";
  if (secretTeam === null && globalSecret !== "refuse") return globalSecret === "move" ? "moves" : "stays";
  return isProved ? "moves" : "refused";
}
