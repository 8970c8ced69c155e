// The administrator account that this server creates on Macs while they are set up, and changes of its password.
import type { PlistDict } from "../../../../plist/value.ts";
import { dictIn, dictsIn, stringIn } from "../../../../plist/value.ts";
import type { Ending, Inside, Operation } from "../../../hosts/operations/kind.ts";
import { requesterOf } from "../../../hosts/operations/requester.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import type { Context } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { type AccountRow, changeAccount, dropAccount, putAccount } from "../../host-passwords/rows.ts";
import type { AppleDeviceListener } from "../channel/listeners.ts";
import { type AppleAnswer, answerOf, appleCommandKind } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { hashForMacos, newPassword } from "./password.ts";

const ACCOUNT = { shortName: "svcadmin", fullName: "svc Administrator", hidden: true } as const;
const idle = { step: null, command_uuid: null, next: null } as const;

/** The row whose command this is. */
async function rowOf(store: ServerTx, { host_id, uuid }: Operation): Promise<AccountRow | null> {
  const row = await store.managedAccounts.get(host_id);
  return row?.command_uuid === uuid ? row : null;
}

/** Part of the command that creates accounts; the hash of the password is added when the device gets it. */
export const accountInCommand: PlistDict = { AutoSetupAdminAccounts: [ACCOUNT] };

/** The command with this uuid creates the account. In the transaction that queues it. */
export async function expectAccount({ store, random }: Context, id: number, command_uuid: string): Promise<void> {
  const creation = { status: "pending", detail: "", next: newPassword(random), step: "create", command_uuid } as const;
  const row = {
    id,
    name: ACCOUNT.shortName,
    ...creation,
    password: null,
    updated_at: null,
    account_guid: null,
    requested_by: null,
  };
  await putAccount(store, row);
}

/** The members of the command that creates the account; none if it creates no account of this server. */
export async function accountSecrets(store: ServerTx, operation: Operation): Promise<PlistDict> {
  const row = await rowOf(store, operation);
  if (row?.next == null) return {};
  return { AutoSetupAdminAccounts: [{ ...ACCOUNT, passwordHash: await hashForMacos(row.next) }] };
}

/** The command that creates the account has ended. */
export async function accountCreated(inside: Inside, operation: Operation, ending: Ending<AppleAnswer>): Promise<void> {
  const row = await rowOf(inside.store, operation);
  if (row === null) return;
  if (ending.state !== "answered")
    return void (await changeAccount(inside.store, row.id, { ...idle, status: "failed", detail: failureOf(ending) }));
  await taken(inside, row);
  await record(inside, row.id, { type: "created_managed_local_account" });
}

const taken = async (inside: Inside, { id, next }: AccountRow): Promise<void> =>
  void (await changeAccount(inside.store, id, {
    ...idle,
    status: "verified",
    detail: "",
    password: next,
    updated_at: inside.clock.iso(),
  }));

/** The id of the account is asked for first: the system gives it out only some time after the setup. */
export const findAccount = appleCommandKind({
  name: "apple_find_account",
  title: "id of the managed account",
  async ended(inside, operation, ending) {
    const row = await rowOf(inside.store, operation);
    if (row === null) return;
    const answer = ending.state === "answered" ? await answerOf(inside, operation) : null;
    const accounts = answer && dictsIn(dictIn(answer, "QueryResponses") ?? {}, "AutoSetupAdminAccounts");
    const account = accounts?.find((candidate) => stringIn(candidate, "shortName") === row.name);
    const account_guid = account === undefined ? null : stringIn(account, "GUID");
    if (account_guid !== null)
      return void (await changeAccount(inside.store, row.id, {
        step: "set",
        command_uuid: null,
        account_guid,
        requested_by: operation.user_id,
      }));
    const reason = answer === null ? failureOf(ending) : `The Mac has no account ${row.name} that this server created.`;
    await changeFailed(inside, operation, row, reason);
  },
});

export const setAccountPassword = appleCommandKind({
  name: "apple_set_account_password",
  title: "password of the managed account",
  async secrets({ store }, operation) {
    const row = await rowOf(store, operation);
    if (row?.next == null) throw new Error("the account was changed while the command was sent");
    return { passwordHash: await hashForMacos(row.next) };
  },
  async ended(inside, operation, ending) {
    const row = await rowOf(inside.store, operation);
    if (row === null) return;
    if (ending.state !== "answered") return changeFailed(inside, operation, row, failureOf(ending));
    await taken(inside, row);
    await record(await requesterOf(inside, operation), row.id, { type: "rotated_managed_local_account_password" });
  },
});

/** The account keeps the password that it has. */
async function changeFailed(inside: Inside, operation: Operation, { id }: AccountRow, detail: string): Promise<void> {
  await changeAccount(inside.store, id, { ...idle, status: "failed", detail });
  const requester = await requesterOf(inside, operation);
  await record(requester, id, { type: "failed_to_rotate_managed_local_account_password", detail });
}

const failureOf = ({ result }: Ending<AppleAnswer>): string =>
  result === null ? "The command was cancelled." : result.detail || `The device answered ${result.status}.`;

type RecordedActivity =
  | { readonly type: "created_managed_local_account" | "rotated_managed_local_account_password" }
  | { readonly type: "failed_to_rotate_managed_local_account_password"; readonly detail: string };

async function record(inside: Inside, id: number, { type, ...more }: RecordedActivity): Promise<void> {
  const host = await inside.store.hosts.get(id);
  await recordActivity(
    inside,
    type,
    { host_id: id, host_display_name: host?.display_name ?? "", ...more },
    { hostId: id },
  );
}

/** A user asks for another password. In the caller's transaction, under the lock of the host's operations. */
export async function changeAccountPassword(inside: Context, id: number): Promise<void> {
  const command = { RequestType: "DeviceInformation", Queries: ["AutoSetupAdminAccounts"] };
  const [command_uuid] = await sendAppleCommands(inside, findAccount, [{ hostId: id, command }]);
  const next = newPassword(inside.random);
  await changeAccount(inside.store, id, {
    status: "pending",
    detail: "",
    next,
    step: "find",
    command_uuid: command_uuid!,
  });
}

/** The id of the account is known: its password is sent. */
async function sendPassword(inside: Context, id: number): Promise<void> {
  const row = await inside.store.managedAccounts.get(id);
  if (row?.step !== "set" || row.command_uuid !== null || row.account_guid === null) return;
  const command = { RequestType: "SetAutoAdminPassword", GUID: row.account_guid };
  const requester = await requesterOf(inside, { user_id: row.requested_by });
  const [command_uuid] = await sendAppleCommands(requester, setAccountPassword, [{ hostId: id, command }]);
  await changeAccount(inside.store, id, { command_uuid: command_uuid! });
}

export const managedAccountListener: AppleDeviceListener = {
  async answered(inside, { host_id: hostId }, kind) {
    if (kind === findAccount.name) await sendPassword(inside, hostId);
  },
  // The account stays on the Mac, with the password that it had: only what the Mac was asked is over.
  async reset(inside, { host_id }) {
    const row = await inside.store.managedAccounts.get(host_id);
    if (row?.password === null) await dropAccount(inside.store, host_id);
    else if (row?.step != null) await changeAccount(inside.store, host_id, { ...idle, status: "verified", detail: "" });
  },
};
