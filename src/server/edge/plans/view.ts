import type { EffectHosts, Plan, PlanEffect, PlanItem, PlannedChange, PlanState } from "../../../api/edge/plans.ts";
import type { Context } from "../../platform/core/context.ts";
import { may } from "../../platform/core/security/access.ts";
import type { StoredChange, StoredEffect, StoredHosts } from "./stored.ts";
import type { PlanRow } from "./tables.ts";

export const stateOf = ({ clock }: Pick<Context, "clock">, { state, expires_at }: PlanRow): PlanState =>
  state === "pending" && Date.parse(expires_at) <= clock.now() ? "expired" : state;

export const planItem = (ctx: Pick<Context, "clock">, row: PlanRow): PlanItem => ({
  id: row.id,
  name: row.name,
  state: stateOf(ctx, row),
  created_at: row.created_at,
  created_by: { id: row.author_id, name: row.author_name, email: row.author_email },
  expires_at: row.expires_at,
  applied_at: row.applied_at,
  applied_by: row.applied_at === null ? null : { id: row.applier_id, name: row.applier_name, email: row.applier_email },
  digest: row.digest,
  summary: { create: row.creates, update: row.updates, delete: row.deletes },
});

export const planOnWire = (
  ctx: Pick<Context, "clock" | "user">,
  row: PlanRow,
  changes: readonly StoredChange[],
  mayApply: boolean,
): Plan => ({
  ...planItem(ctx, row),
  changes: changes.map((change) => changeOnWire(ctx, change)),
  may_apply: mayApply && stateOf(ctx, row) === "pending",
});

const changeOnWire = (ctx: Pick<Context, "user">, { effect, ...change }: StoredChange): PlannedChange => ({
  ...change,
  effect: effect && effectOnWire(ctx, effect),
});

function effectOnWire(ctx: Pick<Context, "user">, effect: StoredEffect): PlanEffect {
  const shown = (hosts: StoredHosts) => hostsOnWire(ctx, hosts);
  return {
    get: shown(effect.get),
    lose: shown(effect.lose),
    change: shown(effect.change),
    cannot: effect.cannot.map(({ reason, ...hosts }) => ({ reason, ...shown(hosts) })),
    not_computed: [...effect.not_computed],
  };
}

/** Readers get the count of all hosts, and the names of those that they may list. */
const hostsOnWire = ({ user }: Pick<Context, "user">, { count, hosts }: StoredHosts): EffectHosts => ({
  count,
  hosts: hosts.flatMap(({ id, display_name, team_id }) =>
    may(user, "hosts:list", team_id) ? { id, display_name } : [],
  ),
});
