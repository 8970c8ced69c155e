// The password without which a Mac with Apple silicon does not start in recovery mode: set, verified, changed and
// removed by commands, one step at a time.
import { booleanIn } from "../../../../plist/value.ts";
import type { Ending, Inside, Operation } from "../../../hosts/operations/kind.ts";
import { requesterOf } from "../../../hosts/operations/requester.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { channels } from "../../../platform/core/channels.ts";
import { parts } from "../../../platform/core/concurrency/parts.ts";
import type { Context } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, isNull, not, oneOf, type Predicate } from "../../../platform/store/query.ts";
import { changeLock, dropLock, type LockRow, lockCommandsQueued, toSet } from "../../host-passwords/rows.ts";
import type { AppleDeviceListener } from "../channel/listeners.ts";
import { type AppleAnswer, answerOf, appleCommandKind } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { newPassword } from "./password.ts";

/** The row whose command this is. */
async function rowOf(store: ServerTx, { host_id, uuid }: Operation): Promise<LockRow | null> {
  const row = await store.recoveryLocks.get(host_id);
  return row?.command_uuid === uuid ? row : null;
}

/** Sent and answered under the lock of the host's operations. */
export const setRecoveryLock = appleCommandKind({
  name: "apple_set_recovery_lock",
  title: "recovery lock password",
  async secrets({ store }, operation) {
    const row = await rowOf(store, operation);
    if (row === null) throw new Error("the recovery lock was changed while the command was sent");
    const { password, next } = row;
    return { NewPassword: next ?? "", ...(password === null ? {} : { CurrentPassword: password }) };
  },
  async ended(inside, operation, ending) {
    const row = await rowOf(inside.store, operation);
    if (row === null) return;
    if (ending.state === "answered") return taken(inside, operation, row);
    // An answer may have been lost, after which the device gets the command again: it has the new password by then.
    const isLost = row.next !== null;
    await changeLock(inside.store, row.id, {
      detail: failureOf(ending),
      command_uuid: null,
      ...(isLost ? { step: "verify" } : { step: null, status: "failed" }),
    });
  },
});

/** The device has the new password. */
async function taken(inside: Inside, operation: Operation, { id, password, next }: LockRow): Promise<void> {
  if (next === null) return void (await dropLock(inside.store, id));
  const verification = { step: "verify", command_uuid: null } as const;
  await changeLock(inside.store, id, {
    ...verification,
    status: "verifying",
    detail: "",
    password: next,
    updated_at: null,
    next: null,
  });
  await recordPassword(await requesterOf(inside, operation), id, password !== null);
}

export const verifyRecoveryLock = appleCommandKind({
  name: "apple_verify_recovery_lock",
  title: "check of the recovery lock password",
  async secrets({ store }, operation) {
    const row = await rowOf(store, operation);
    if (row === null) throw new Error("the recovery lock was changed while the command was sent");
    return { Password: row.next ?? row.password ?? "" };
  },
  async ended(inside, operation, ending) {
    const row = await rowOf(inside.store, operation);
    if (row === null) return;
    const { id, password, next, detail } = row;
    const answer = ending.state === "answered" ? await answerOf(inside, operation) : null;
    const isRight = answer !== null && booleanIn(answer, "PasswordVerified") === true;
    const ended = { step: null, command_uuid: null, next: null } as const;
    if (isRight) {
      const confirmed = { status: "verified", detail: "", password: next ?? password } as const;
      await changeLock(inside.store, id, { ...ended, ...confirmed, updated_at: inside.clock.iso() });
      if (next !== null) await recordPassword(inside, id, password !== null);
      return;
    }
    const reason = answer === null ? failureOf(ending) : "The device does not have the password that it was sent.";
    await changeLock(inside.store, id, { ...ended, status: "failed", detail: detail || reason });
  },
});

const failureOf = ({ result }: Ending<AppleAnswer>): string =>
  result === null ? "The command was cancelled." : result.detail || `The device answered ${result.status}.`;

async function recordPassword(inside: Inside, id: number, isChange: boolean): Promise<void> {
  const host = await inside.store.hosts.get(id);
  const type = isChange ? "rotated_host_recovery_lock_password" : "set_host_recovery_lock_password";
  await recordActivity(inside, type, { host_id: id, host_display_name: host?.display_name ?? "" }, { hostId: id });
}

/** Rows with a step whose command was not sent yet. */
export const isToSend: Predicate = and(not(isNull("step")), isNull("command_uuid"));

/** Queues the commands that these hosts still have to get, in the caller's transaction. */
export async function sendSteps(inside: Context, hostIds: readonly number[]): Promise<void> {
  const { store, random } = inside;
  for await (const batch of parts(hostIds)) {
    const rows = await store.recoveryLocks.list({ where: and(oneOf("id", batch), isToSend) });
    for (const step of ["set", "verify"] as const) {
      const atStep = rows.filter((row) => row.step === step);
      if (atStep.length === 0) continue;
      const kind = step === "set" ? setRecoveryLock : verifyRecoveryLock;
      const RequestType = step === "set" ? "SetRecoveryLock" : "VerifyRecoveryLock";
      const uuids = await sendAppleCommands(
        inside,
        kind,
        atStep.map(({ id }) => ({ hostId: id, command: { RequestType } })),
      );
      await lockCommandsQueued(
        store,
        atStep.map(({ id, removing, next }, i) => {
          const password = step === "set" && !removing ? { next: next ?? newPassword(random) } : {};
          return { id, command_uuid: uuids[i]!, ...password };
        }),
      );
    }
  }
}

export const recoveryLockListener: AppleDeviceListener = {
  enrolled: ({ store }) => store.notify(channels.recoveryLocks, ""),
  async answered(inside, { host_id: hostId }, kind) {
    if (kind === setRecoveryLock.name || kind === verifyRecoveryLock.name) await sendSteps(inside, [hostId]);
  },
  async reset(inside, { host_id, state }) {
    // The system removes the password together with the enrollment. Only a device that enrolls again may still have it.
    if (state === "removed") await dropLock(inside.store, host_id);
    else await changeLock(inside.store, host_id, { ...toSet, updated_at: null });
  },
};
