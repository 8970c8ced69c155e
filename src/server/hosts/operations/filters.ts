import { type OperationFilters, operationStates } from "../../../api/hosts/operations.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { inTeam, visible } from "../../platform/core/security/access.ts";
import { and, eq, everything, exists, gte, oneOf, type Predicate } from "../../platform/store/query.ts";
import { taskHosts } from "../../platform/tasks/tables.ts";
import { matching } from "../hosts/status.ts";
import { hosts } from "../hosts/tables.ts";
import { operationKinds } from "./kind.ts";

/** The operations that match, on hosts whose activities the caller may read. */
export function operationsWhere(ctx: Context, filters: OperationFilters): Predicate {
  const { host_id, requested_by, task_id, since } = filters;
  const onHosts = and(
    visible(ctx, "hosts:read_activities"),
    inTeam(filters.team_id),
    filters.query ? matching(filters.query) : everything,
  );
  return and(
    namesWhere("state", filters.state, operationStates),
    namesWhere("kind", filters.kind, kindNames(ctx)),
    host_id === undefined ? everything : eq("host_id", host_id),
    requested_by === undefined ? everything : eq("user_id", requested_by),
    task_id === undefined ? everything : exists(taskHosts, "reference", eq("task_id", task_id), "uuid"),
    since === undefined ? everything : gte("created_at", new Date(since).toISOString()),
    onHosts.op === "all" ? everything : exists(hosts, "id", onHosts, "host_id"),
  );
}

const kindNames = ({ extensions }: Context): string[] => extensions.of(operationKinds).map(({ name }) => name);

/** Selects rows by names separated by commas. 400 for a name that does not exist. */
function namesWhere(column: "state" | "kind", text: string | undefined, names: readonly string[]): Predicate {
  if (text === undefined) return everything;
  const selected = text.split(",").map((name) => name.trim());
  const unknown = selected.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw badRequest(`Invalid ${column}: ${unknown}: use ${[...names].sort().join(", ")}`, column);
  return oneOf(column, [...new Set(selected)]);
}
