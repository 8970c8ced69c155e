// What the managed Play store says of apps.
import type { Context } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { androidClient } from "../management/client.ts";
import { AndroidError, orUpstreamError } from "../management/problem.ts";
import { requireEnterprise } from "./enterprise.ts";

/** 422 if the organization cannot get the app. Not in a transaction. */
export async function playApp(
  ctx: Context,
  packageName: string,
): Promise<{ name: string; icon_url: string | null; version: string }> {
  const enterprise = await requireEnterprise(ctx);
  const app = await orUpstreamError(() =>
    androidClient(ctx)
      .application(`${enterprise.name}/applications/${packageName}`)
      .catch((error: unknown) => {
        const isUnknown = error instanceof AndroidError && (error.problem === "gone" || error.problem === "refused");
        throw isUnknown ? invalid("app_store_id", `the managed Play store has no app ${packageName}`) : error;
      }),
  );
  const version = app.appVersions.find(({ production }) => production)?.versionString ?? "";
  return { name: app.title || packageName, icon_url: app.iconUrl || null, version };
}
