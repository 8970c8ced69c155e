// How far the certificates of a host are, as reported by the part that sends its agent the list of its templates.
import { hours, isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, isNull, lt, lte, not, oneOf } from "../../platform/store/query.ts";

type Deps = Pick<Services, "clock"> & { readonly store: ServerTx };

/** An agent that has not asked for a template by then has missed it. */
const GIVEN_UP_AFTER = hours(12);

/** The list of these templates was sent to the host's agent. */
export async function templatesSent(
  { store, clock }: Deps,
  hostId: number,
  templateIds: readonly number[],
): Promise<void> {
  if (templateIds.length === 0) return;
  const updated_at = clock.iso();
  const ofTemplates = and(eq("host_id", hostId), oneOf("template_id", templateIds));
  await store.hostCertificates.update({
    where: and(ofTemplates, eq("status", "pending")),
    set: { status: "delivering", detail: null, updated_at },
  });
  await store.hostCertificates.upsert(
    templateIds.map((template_id) => ({
      host_id: hostId,
      template_id,
      status: "delivering",
      detail: null,
      updated_at,
    })),
    { on: ["host_id", "template_id"], set: [], returning: [] },
  );
}

/** Makes templates that agents have not asked for pending again. Returns the hosts. */
export async function templatesMissed({ store, clock }: Deps): Promise<number[]> {
  const where = and(eq("status", "delivering"), lt("updated_at", isoAt(clock.now() - GIVEN_UP_AFTER)));
  const rows = await store.hostCertificates.pick(["id", "host_id"], { where });
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  await store.hostCertificates.update({
    where: and(oneOf("id", ids), where),
    set: { status: "pending", detail: null, updated_at: clock.iso() },
  });
  return [...new Set(rows.map(({ host_id }) => host_id))];
}

/** Certificates that end soon are to be replaced: their templates are sent again. Returns the hosts. */
export async function templatesEnding({ store, clock }: Deps): Promise<number[]> {
  const now = clock.iso();
  const where = and(oneOf("status", ["verified", "failed"]), lte("renew_at", now));
  const rows = await store.hostCertificates.pick(["id", "host_id"], { where });
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  await store.hostCertificates.update({
    where: and(oneOf("id", ids), where),
    set: { status: "pending", detail: null, renew_at: null, renewal_at: now, updated_at: now },
  });
  return [...new Set(rows.map(({ host_id }) => host_id))];
}

/** By template: when the host's agent was last asked to replace its certificate. */
export async function renewalsOf(store: ServerTx, hostId: number): Promise<ReadonlyMap<number, string>> {
  const where = and(eq("host_id", hostId), not(isNull("renewal_at")));
  const rows = await store.hostCertificates.pick(["template_id", "renewal_at"], { where });
  return new Map(rows.map(({ template_id, renewal_at }) => [template_id, renewal_at!]));
}
