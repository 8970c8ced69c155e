// The warning after the server's URL was changed while Apple devices are enrolled.
import { AppleStatus } from "../../../api/devices/apple-trust.ts";
import type { ApiClient } from "../../../client/client.ts";

export const SET_IT_BACK = "Set the URL back, or have the devices enroll again: see docs/operations.md.";

export const enrolledElsewhere = (count: number): string =>
  `${count === 1 ? "1 Apple device is" : `${count} Apple devices are`} enrolled with another URL of this server, and ` +
  `${count === 1 ? "does" : "do"} not connect to this one`;

/** A warning about the server as it is now; null if there is nothing to warn of, or if the user may not see it. */
export async function warningAfterChange(client: ApiClient): Promise<string | null> {
  const { status, text } = await client.raw("GET", "/api/v1/svc/mdm/vendora/status");
  const shown = AppleStatus.pick({ devices_to_enroll_again: true }).safeParse(status === 200 ? JSON.parse(text) : null);
  const count = shown.data?.devices_to_enroll_again ?? 0;
  return count === 0 ? null : `${enrolledElsewhere(count)}. ${SET_IT_BACK}`;
}
