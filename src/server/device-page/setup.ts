// The setup of a host on its own page.
import type { SetupItem } from "../../api/setup-results.ts";
import type { Context } from "../core/context.ts";
import type { HostRow } from "../hosts/access.ts";
import { polledSetup } from "../setup-experience/view.ts";
import { ownIcon } from "./installs.ts";

/** Icons have an address that the host's token opens. */
export async function setupForOwner(ctx: Context, host: HostRow, token: string) {
  const { software, ...script } = await polledSetup(ctx, host.id);
  const shown = ({ icon_url, ...item }: SetupItem): SetupItem => ({
    ...item,
    icon_url: ownIcon({ id: item.software_title_id ?? 0, icon_url }, token),
  });
  return { ...script, software: software.map(shown) };
}
