// The packages that hosts install during their setup.
import type { SetupPlatform } from "../../../api/setup-platforms.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq } from "../../platform/store/query.ts";
import { chosenAt } from "../software/setup-order.ts";
import type { Installer } from "./hosts.ts";
import { isScript } from "./scripts.ts";

/** Apps for iPhones and iPads come from the store. Shell and Python scripts run wherever there is a shell. */
export const isForSetupOf = ({ kind, platform }: Pick<Installer, "kind" | "platform">, of: SetupPlatform): boolean =>
  platform !== "ios" && (platform === of || (isScript(kind) && kind !== "ps1" && of === "darwin"));

/** The packages of a team that hosts of this platform could install during their setup. */
export async function packagesForSetup(
  store: Pick<ServerTx, "softwareInstallers">,
  teamId: number | null,
  platform: SetupPlatform,
): Promise<Installer[]> {
  const rows = await store.softwareInstallers.list({
    where: inTeam(teamId ?? 0),
    order: [{ column: "id", direction: "asc" }],
  });
  return rows.filter((row) => isForSetupOf(row, platform));
}

/** Null: hosts of the platform no longer install it during their setup. Runs in the caller's transaction. */
export async function choosePackage(
  store: Pick<ServerTx, "softwareInstallers">,
  installer: Installer,
  at: { readonly platform: SetupPlatform; readonly position: number | null },
): Promise<void> {
  const set = chosenAt(installer, installer.platform, at);
  await store.softwareInstallers.update({ where: eq("id", installer.id), set });
}
