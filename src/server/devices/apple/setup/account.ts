// The account that the user of a Mac creates in the setup assistant, and the one that this server manages.
import type { SetupSwitches } from "../../../../api/settings/app-config.ts";
import type { PlistDict } from "../../../../plist/value.ts";
import type { Context } from "../../../platform/core/context.ts";
import { and, eq } from "../../../platform/store/query.ts";
import { endUserFacts } from "../channel/end-user.ts";
import type { Enrollment } from "../channel/listeners.ts";
import { appleCommandKind } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { accountCreated, accountInCommand, accountSecrets, expectAccount } from "../passwords/managed-account.ts";
import { setupSettings } from "./settings.ts";
import type { SetupStep } from "./steps.ts";

/** Before the command that ends the wait, if there is no time left for an answer. */
export const accountCommand = appleCommandKind({
  name: "apple_account",
  title: "account of the user",
  priority: 0,
  secrets: ({ store }, operation) => accountSecrets(store, operation),
  ended: accountCreated,
});

export const accountStep: SetupStep = {
  name: "account",
  async begin(inside, device) {
    const host = await inside.store.hosts.get(device.host_id);
    if (host?.platform !== "darwin") return;
    const settings = await setupSettings(inside, host.team_id);
    const isManaged = settings.enable_managed_local_account;
    const accounts = { ...(isManaged ? accountInCommand : {}), ...(await userAccount(inside, device, settings)) };
    if (Object.keys(accounts).length === 0) return;
    const command = { RequestType: "AccountConfiguration", ...accounts };
    const [uuid] = await sendAppleCommands(inside, accountCommand, [{ hostId: host.id, command }]);
    if (isManaged) await expectAccount(inside, host.id, uuid!);
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

/** Without names if nobody has signed in: the user chooses them. */
async function userAccount(inside: Context, device: Enrollment, settings: SetupSwitches): Promise<PlistDict> {
  const { lock_end_user_info: isLocked, end_user_local_account_type: type } = settings;
  if (type === "none") return { SkipPrimarySetupAccountCreation: true };
  const rights: PlistDict = type === "standard" ? { SetPrimarySetupAccountAsRegularUser: true } : {};
  const identity = device.identity_id === null ? null : await inside.store.deviceIdentities.get(device.identity_id);
  const [email, fullName] = [endUserFacts.email, endUserFacts.name].map((key) => identity?.facts[key]);
  const name = typeof email === "string" ? accountName(email) : "";
  if (name === "") return rights;
  return {
    ...rights,
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
