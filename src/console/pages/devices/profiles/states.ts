import type { ProfileStatus } from "../../../../api/devices/profiles.ts";
import type { Tone } from "../../../parts/badge.tsx";

/** The states of a profile on a host, the most urgent first. */
export const profileStates = ["failed", "pending", "verifying", "verified"] as const satisfies readonly ProfileStatus[];

export const profileTones: Readonly<Record<ProfileStatus, Tone>> = {
  failed: "bad",
  pending: "note",
  verifying: "quiet",
  verified: "good",
};
