// The store apps that hosts install during their setup.
import type { SetupPlatform } from "../../../api/setup-platforms.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq } from "../../platform/store/query.ts";
import { chosenAt } from "../../software/software/setup-order.ts";
import type { StoreAppRow, StorePlatform } from "./tables.ts";

const platforms: readonly StorePlatform[] = ["darwin", "ios", "ipados"];

/** The apps that a team offers to its hosts of this platform. */
export async function appsForSetup(
  store: Pick<ServerTx, "storeApps">,
  teamId: number | null,
  platform: SetupPlatform,
): Promise<StoreAppRow[]> {
  const storePlatform = platforms.find((candidate) => candidate === platform);
  if (storePlatform === undefined) return [];
  return store.storeApps.list({
    where: and(inTeam(teamId ?? 0), eq("platform", storePlatform)),
    order: [{ column: "id", direction: "asc" }],
  });
}

/** Null: hosts no longer install it during their setup. Runs in the caller's transaction. */
export async function chooseApp(
  store: Pick<ServerTx, "storeApps">,
  app: StoreAppRow,
  at: { readonly platform: SetupPlatform; readonly position: number | null },
): Promise<void> {
  await store.storeApps.update({ where: eq("id", app.id), set: chosenAt(app, app.platform, at) });
}
