// Apps of the managed Play store. Devices get them with their policies, so nothing is installed by commands, and no
// licenses are needed.
import { playApp } from "../../devices/android/enterprise/applications.ts";
import type { Context } from "../../platform/core/context.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq } from "../../platform/store/query.ts";
import { withTitle } from "../../software/software/host-conditions.ts";
import type { ListingRow, StoreAppRow } from "./tables.ts";

/** The store is asked each time. Not in a transaction. */
export async function androidListing(ctx: Context, packageName: string): Promise<ListingRow> {
  const app = await playApp(ctx, packageName);
  const [row] = await ctx.store.storeListings.upsert(
    [{ ...app, adam_id: packageName, platform: "android", bundle_identifier: packageName, read_at: ctx.clock.iso() }],
    { on: ["adam_id", "platform"] },
  );
  return row!;
}

/** The hosts of the team that report the app. */
export const hostsWithApp = (
  store: Pick<ServerTx, "hosts">,
  { team_id, title_id }: Pick<StoreAppRow, "team_id" | "title_id">,
): Promise<number> => store.hosts.count(and(inTeam(team_id ?? 0), eq("platform", "android"), withTitle(title_id)));
