// The account that the user of a Mac creates in the setup assistant.
import type { PlistDict } from "../../../../plist/value.ts";
import type { Context } from "../../../core/context.ts";
import { and, eq } from "../../../store/query.ts";
import { endUserFacts } from "../channel/end-user.ts";
import type { Enrollment } from "../channel/listeners.ts";
import { appleCommandKind } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { setupSettings } from "./settings.ts";
import type { SetupStep } from "./steps.ts";

/** Before the command that ends the wait, if there is no time left for an answer. */
export const accountCommand = appleCommandKind({
  name: "apple_account",
  title: "account of the user",
  priority: 0,
  ended: async () => {},
});

export const accountStep: SetupStep = {
  name: "account",
  async begin(inside, device) {
    const host = await inside.store.hosts.get(device.host_id);
    const account = host?.platform === "darwin" ? await accountOf(inside, device, host.team_id) : null;
    if (account === null) return;
    const command = { RequestType: "AccountConfiguration", ...account };
    await sendAppleCommands(inside, accountCommand, [{ hostId: device.host_id, command }]);
  },
  async isDone({ store }, { host_id }) {
    const isOpen = and(
      eq("host_id", host_id),
      eq("request_type", "AccountConfiguration"),
      eq("command_status", "pending"),
    );
    return (await store.mdmCommands.first({ where: isOpen })) === null;
  },
};

/** Null: nobody has signed in, so the user chooses the names. */
async function accountOf(inside: Context, device: Enrollment, teamId: number | null): Promise<PlistDict | null> {
  const identity = device.identity_id === null ? null : await inside.store.deviceIdentities.get(device.identity_id);
  const [email, fullName] = [endUserFacts.email, endUserFacts.name].map((key) => identity?.facts[key]);
  const name = typeof email === "string" ? accountName(email) : "";
  if (name === "") return null;
  const { lock_end_user_info: isLocked } = await setupSettings(inside, teamId);
  return {
    PrimaryAccountUserName: name,
    PrimaryAccountFullName: typeof fullName === "string" && fullName !== "" ? fullName : name,
    LockPrimaryAccountInfo: isLocked,
  };
}

/** The part of the address before the @, with the characters that macOS accepts. */
const accountName = (email: string): string =>
  email
    .split("@")[0]!
    .toLowerCase()
    .replace(/[^a-z0-9._-]/g, "")
    .replace(/^[._-]+/, "");
