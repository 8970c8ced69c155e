// What pushing needs to know of enrollments.

import type { ServerTx } from "../../../core/tables.ts";
import { openOperations } from "../../../operations/queue.ts";
import { and, eq, not, oneOf } from "../../../store/query.ts";
import { APPLE_LANE } from "../commands/kind.ts";
import type { PushDevices } from "../push/devices.ts";

/** Only devices have commands: the channels of users are not asked to connect. */
const isReachable = and(eq("state", "enabled"), eq("is_user", false));

export const enrolledDevices: Omit<PushDevices, "certificate"> = {
  async targets(store, enrollmentIds) {
    const rows = await store.appleEnrollments.list({ where: and(oneOf("id", enrollmentIds), isReachable) });
    return rows.flatMap(({ id, token, push_magic: magic, token_at, topic }) =>
      token === null || magic === null || token_at === null
        ? []
        : [{ enrollment_id: id, token, topic, magic, token_at }],
    );
  },
  async waiting(store, enrollmentIds) {
    const rows = await store.appleEnrollments.pick(["id", "host_id"], { where: oneOf("id", enrollmentIds) });
    const hostIds = rows.map(({ host_id }) => host_id);
    const busy = new Set((await openOperations(store, hostIds, APPLE_LANE)).map(({ host_id }) => host_id));
    return new Set(rows.flatMap(({ id, host_id }) => (busy.has(host_id) ? [id] : [])));
  },
  async ofHosts(store, hostIds) {
    const where = and(oneOf("host_id", hostIds), isReachable);
    return (await store.appleEnrollments.pick(["id"], { where })).map(({ id }) => id);
  },
};

/** Devices that were enrolled with another push certificate: a new topic cannot reach them. */
export const countOtherTopics = (store: ServerTx, topic: string): Promise<number> =>
  store.appleEnrollments.count(and(isReachable, not(eq("topic", topic))));
