// The commands by which a device gets its name, and is asked for it.
import { dictIn, dictsIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { requestRefetch } from "../../../hosts/hosts/write.ts";
import type { Ending, Operation } from "../../../hosts/operations/kind.ts";
import { dropOperations } from "../../../hosts/operations/queue.ts";
import { channels } from "../../../platform/core/channels.ts";
import { parts } from "../../../platform/core/concurrency/parts.ts";
import type { Context } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, isNull, not, oneOf, type Predicate } from "../../../platform/store/query.ts";
import { removeCommand } from "../../commands/rows.ts";
import { changeName, dropNames, type NameRow, nameCommandsQueued } from "../../host-names/rows.ts";
import type { AppleDeviceListener } from "../channel/listeners.ts";
import { type AppleAnswer, answerOf, appleCommandKind } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";

/** The row whose command this is. */
async function rowOf(store: ServerTx, { host_id, uuid }: Operation): Promise<NameRow | null> {
  const row = await store.hostNames.get(host_id);
  return row?.command_uuid === uuid ? row : null;
}

const ended = { step: null, command_uuid: null } as const;

/** The name may contain a secret: it is put into the command when the device gets it. */
export const setDeviceName = appleCommandKind({
  name: "apple_set_device_name",
  title: "name of the device",
  async secrets({ store }, operation) {
    const row = await rowOf(store, operation);
    if (row?.name == null) throw new Error("the name of the device was changed while the command was sent");
    return { Settings: [{ Item: "DeviceName", DeviceName: row.name }] };
  },
  async ended(inside, operation, ending) {
    const { store, clock } = inside;
    const row = await rowOf(store, operation);
    if (row === null) return;
    const changed_at = clock.iso();
    const answer = ending.state === "answered" ? await answerOf(inside, operation) : null;
    const reason = answer === null ? failureOf(ending) : refusalIn(answer);
    if (reason === null)
      await changeName(store, row.id, {
        status: "verifying",
        detail: "",
        step: "verify",
        command_uuid: null,
        changed_at,
      });
    else await changeName(store, row.id, { ...ended, status: "failed", detail: reason, changed_at });
  },
});

/** A device acknowledges the command, and says of each setting whether it was done. Null: it was. */
function refusalIn(answer: PlistDict): string | null {
  const refused = dictsIn(answer, "Settings").find(
    (item) => (stringIn(item, "Status") ?? "Acknowledged") !== "Acknowledged",
  );
  if (refused === undefined) return null;
  const errors = dictsIn(refused, "ErrorChain").flatMap(
    (error) => stringIn(error, "USEnglishDescription") ?? stringIn(error, "LocalizedDescription") ?? [],
  );
  return errors.join("; ").slice(0, 1_000) || `The device answered ${stringIn(refused, "Status")}.`;
}

export const readDeviceName = appleCommandKind({
  name: "apple_read_device_name",
  title: "check of the name of the device",
  async ended(inside, operation, ending) {
    const { store, clock } = inside;
    const row = await rowOf(store, operation);
    if (row === null) return;
    const answer = ending.state === "answered" ? await answerOf(inside, operation) : null;
    const reported = answer && stringIn(dictIn(answer, "QueryResponses") ?? {}, "DeviceName");
    const isRight = reported !== null && isSameName(reported, row.name);
    const detail = answer === null ? failureOf(ending) : otherName(reported ?? "");
    await changeName(store, row.id, {
      ...ended,
      ...(isRight ? { status: "verified", detail: "" } : { status: "failed", detail }),
      changed_at: clock.iso(),
    });
    // The host is listed under its new name as soon as it reports again.
    if (isRight) await requestRefetch(store, row.id);
  },
});

export const isSameName = (reported: string, name: string | null): boolean =>
  name !== null && reported.normalize("NFC").trim() === name.normalize("NFC");

export const otherName = (reported: string): string =>
  `The device reports another name: ${JSON.stringify(reported.slice(0, 255))}.`;

const failureOf = ({ result }: Ending<AppleAnswer>): string =>
  result === null ? "The command was cancelled." : result.detail || `The device answered ${result.status}.`;

/** Rows with a step whose command was not sent yet. */
export const isToSend: Predicate = and(not(isNull("step")), isNull("command_uuid"));

const commands = {
  set: { kind: setDeviceName, command: { RequestType: "Settings", Settings: [{ Item: "DeviceName" }] } },
  verify: { kind: readDeviceName, command: { RequestType: "DeviceInformation", Queries: ["DeviceName"] } },
} as const;

/** Queues the commands that these hosts still have to get, in the caller's transaction. */
export async function sendSteps(inside: Context, hostIds: readonly number[]): Promise<void> {
  const { store } = inside;
  for await (const batch of parts(hostIds)) {
    const rows = await store.hostNames.pick(["id", "step"], { where: and(oneOf("id", batch), isToSend) });
    for (const step of ["set", "verify"] as const) {
      const atStep = rows.filter((row) => row.step === step);
      if (atStep.length === 0) continue;
      const { kind, command } = commands[step];
      const uuids = await sendAppleCommands(
        inside,
        kind,
        atStep.map(({ id }) => ({ hostId: id, command })),
      );
      await nameCommandsQueued(
        store,
        atStep.map(({ id }, i) => ({ id, command_uuid: uuids[i]! })),
      );
    }
  }
}

/** What these hosts were asked is over: their template has changed, or is gone. */
export async function dropNameCommands(inside: Context, rows: readonly Pick<NameRow, "id" | "command_uuid">[]) {
  const uuids = rows.flatMap(({ command_uuid }) => command_uuid ?? []);
  if (uuids.length === 0) return;
  const waiting = await inside.store.operations.pick(["id"], {
    where: and(oneOf("uuid", uuids), oneOf("state", ["queued", "sent"])),
  });
  await dropOperations(
    inside,
    rows.map(({ id }) => id),
    { uuids },
  );
  for (const { id } of waiting) await removeCommand(inside, id);
}

export const deviceNameListener: AppleDeviceListener = {
  enrolled: ({ store }) => store.notify(channels.hostNames, ""),
  async answered(inside, { host_id: hostId }, kind) {
    if (kind === setDeviceName.name || kind === readDeviceName.name) await sendSteps(inside, [hostId]);
  },
  // A device that enrolls again gets its name again.
  reset: async ({ store }, { host_id }) => void (await dropNames(store, [host_id])),
};
