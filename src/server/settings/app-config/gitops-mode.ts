// Refuses changes of what configuration files determine, while GitOps mode is on.

import { DRY_RUN } from "../../../api/dry-run.ts";
import type { AnyEndpoint } from "../../../api/endpoint.ts";
import { appConfigApi } from "../../../api/settings/app-config.ts";
import {
  GITOPS_OVERRIDE,
  IN_PLANS,
  isExcepted,
  kindInFiles,
  NO_REASON,
  reasonInHeader,
} from "../../../api/settings/gitops-mode.ts";
import { GITOPS_MODE_IS_ON } from "../../../text/gitops-mode.ts";
import { isRecord } from "../../../text/record.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { ApiError, badRequest } from "../../platform/core/errors.ts";
import type { Route } from "../../platform/core/http/route.ts";
import { isPartOf } from "./change.ts";
import { getConfig } from "./service.ts";

/** The route, with a check if files determine what it changes. What a plan changes is known only to its own service. */
export function guardedByGitopsMode(route: Route): Route {
  const { endpoint, run } = route;
  const kind = kindInFiles(endpoint);
  if (kind === undefined || kind === IN_PLANS) return route;
  const needsBody = endpoint === appConfigApi.modify;
  return {
    endpoint,
    async run(raw, ctx, reply) {
      let reason: string | null = null;
      // The body is read once the caller is known to be allowed the change.
      const body: typeof raw.body = async (checkTexts, admission) => {
        if (!needsBody) reason = await overrideReason(ctx, [kind]);
        const value = await raw.body(checkTexts, admission);
        if (needsBody && (await changesConfig(ctx, value, "overwrite" in raw.query)))
          reason = await overrideReason(ctx, [kind]);
        return value;
      };
      const value = await run({ ...raw, body }, ctx, reply);
      if (reason !== null && reply.headers[DRY_RUN] === undefined)
        await ctx.store.tx(async (store) => recordOverride(within(ctx, store), endpoint, reason!));
      return value;
    },
  };
}

/** Whoever may turn the mode on can turn it off. What is sent back as it was returned changes nothing. */
async function changesConfig(ctx: Context, body: unknown, resetsOthers: boolean): Promise<boolean> {
  if (!isRecord(body) || resetsOthers) return true;
  const { gitops: _, ...others } = body;
  return Object.keys(others).length > 0 && !isPartOf(others, await getConfig(ctx));
}

/**
 * The reason for which a change of these kinds overrides GitOps mode; null if it needs none. 403 without a reason.
 */
export async function overrideReason(ctx: Context, kinds: readonly string[]): Promise<string | null> {
  if (!isPerson(ctx)) return null;
  const { gitops } = await ctx.config.current();
  if (!gitops.gitops_mode_enabled) return null;
  const inFiles = kinds.filter((kind) => !isExcepted(kind, gitops.exceptions));
  if (inFiles.length === 0) return null;
  const sent = ctx.headers?.get(GITOPS_OVERRIDE)?.trim() ?? "";
  if (sent === "") throw refused(inFiles, gitops.repository_url);
  const reason = reasonInHeader(sent);
  if (reason === null) throw badRequest(NO_REASON, GITOPS_OVERRIDE);
  return reason;
}

/** Everybody who has another role than gitops somewhere. */
function isPerson({ user, host }: Context): boolean {
  if (user.kind !== "user" || host !== undefined) return false;
  const roles = user.global_role === null ? user.teams.map(({ role }) => role) : [user.global_role];
  return roles.some((role) => role !== "gitops");
}

const refused = (kinds: readonly string[], repository: string) =>
  new ApiError(403, GITOPS_MODE_IS_ON, [
    {
      name: "base",
      reason: `the configuration files determine ${kinds.join(", ")}, so a change here would be overwritten. Change the files in ${repository}, or send the header ${GITOPS_OVERRIDE} with the reason; it is recorded`,
    },
  ]);

/** Call this in a transaction. */
export const recordOverride = (ctx: Context, { method, path }: AnyEndpoint, reason: string): Promise<number> =>
  recordActivity(ctx, "overrode_gitops_mode", { method, path, reason });
