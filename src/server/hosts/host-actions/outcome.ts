// What the end of a lock, unlock or wipe means for the state of the host, whichever way it was delivered.
import { recordActivity } from "../../platform/activities/record.ts";
import { service } from "../../platform/core/context.ts";
import { eq } from "../../platform/store/query.ts";
import type { Inside, Operation } from "../operations/kind.ts";
import type { HostAction } from "./deliverer.ts";

export type ActionOutcome =
  | { readonly state: "done" }
  /** Done, and the host's user undoes it as usual, so that nothing of it lasts. */
  | { readonly state: "passed" }
  | { readonly state: "cancelled" }
  /** `unanswered`: the host has not answered in time. An answer that arrives later still counts. */
  | { readonly state: "unanswered" | "failed"; readonly failure: string };

/** The host has done this without having been asked by an action. One that is pending stays pending. */
export async function actionDone(
  { store }: Pick<Inside, "store">,
  id: number,
  action: HostAction,
  pin: string | null,
): Promise<void> {
  const before = await store.hostActions.get(id);
  const state = { locked: action === "lock", wiped: action === "wipe", pin: pin ?? before?.pin ?? null };
  await store.hostActions.upsert([{ id, ...state, failure: "" }], {
    on: ["id"],
    set: ["locked", "wiped", "pin", "failure"],
  });
}

/** Changes the state of the host, in the transaction in which the operation ends. */
export async function actionEnded(
  inside: Inside,
  action: HostAction,
  { host_id, uuid }: Pick<Operation, "host_id" | "uuid">,
  outcome: ActionOutcome,
): Promise<void> {
  const { store } = inside;
  const row = await store.hostActions.get(host_id);
  if (row?.reference !== uuid) return;
  const set = (values: Parameters<typeof store.hostActions.update>[0]["set"]) =>
    store.hostActions.update({ where: eq("id", host_id), set: { pending: "", ...values } });
  // Only a device that was locked or wiped with a PIN asks for it.
  const pin = row.locked ? row.pin : null;
  if (outcome.state === "done" || outcome.state === "passed") {
    const lasts = outcome.state === "done";
    const [locked, wiped] = lasts ? [action === "lock", action === "wipe"] : [row.locked, row.wiped];
    await set({ reference: "", failure: "", locked, wiped, pin: locked || wiped ? row.pin : null });
    return;
  }
  if (outcome.state === "cancelled") {
    await set({ reference: "", pin });
    return;
  }
  const { state, failure } = outcome;
  await set(state === "unanswered" ? { failure } : { reference: "", failure, pin });
  if (action !== "wipe") return;
  const host = await store.hosts.get(host_id);
  await recordActivity(
    { ...inside, user: service },
    "failed_wipe",
    { host_id, host_display_name: host?.display_name ?? "", host_platform: host?.platform ?? "" },
    { hostId: host_id },
  );
}
