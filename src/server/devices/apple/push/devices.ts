// What pushing has to know of enrollments and of the push certificate.

import { openOperations } from "../../../hosts/operations/queue.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";
import { APPLE_LANE } from "../lane.ts";
import type { ClientCertificate } from "./connect.ts";

export interface PushCertificate extends ClientCertificate {
  /** Identifies the certificate: another one has another fingerprint. */
  readonly fingerprint: string;
}

/** How a device can be reached. */
export interface PushTarget {
  readonly enrollment_id: number;
  /** Hexadecimal. */
  readonly token: string;
  readonly topic: string;
  readonly magic: string;
  /** When the device sent the token. */
  readonly token_at: string;
}

/** Only devices have commands: the channels of users are not asked to connect. */
export const isReachable = and(eq("state", "enabled"), eq("is_user", false));

/** Null: device management of Apple devices is turned off. */
export async function pushCertificate(store: ServerTx): Promise<PushCertificate | null> {
  const row = await store.applePushCertificates.first({});
  return row && { certificate: row.certificate, key: row.key, fingerprint: row.fingerprint };
}

/** The enrollments among these that are enabled and have a token. */
export async function pushTargets(store: ServerTx, enrollmentIds: readonly number[]): Promise<PushTarget[]> {
  const rows = await store.appleEnrollments.list({ where: and(oneOf("id", enrollmentIds), isReachable) });
  return rows.flatMap(({ id, token, push_magic: magic, token_at, topic }) =>
    token === null || magic === null || token_at === null ? [] : [{ enrollment_id: id, token, topic, magic, token_at }],
  );
}

/** The enrollments among these for which a command is waiting. */
export async function waitingEnrollments(
  store: ServerTx,
  enrollmentIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await store.appleEnrollments.pick(["id", "host_id"], { where: oneOf("id", enrollmentIds) });
  const hostIds = rows.map(({ host_id }) => host_id);
  const busy = new Set((await openOperations(store, hostIds, APPLE_LANE)).map(({ host_id }) => host_id));
  return new Set(rows.flatMap(({ id, host_id }) => (busy.has(host_id) ? [id] : [])));
}

/** The enabled enrollments of the hosts. */
export async function enrollmentsOfHosts(store: ServerTx, hostIds: readonly number[]): Promise<number[]> {
  const where = and(oneOf("host_id", hostIds), isReachable);
  return (await store.appleEnrollments.pick(["id"], { where })).map(({ id }) => id);
}
