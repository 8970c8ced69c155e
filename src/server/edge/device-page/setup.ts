// The setup of a host on its own page.
import type { SetupItem } from "../../../api/delivery/setup-results.ts";
import { polledSetup } from "../../delivery/setup-experience/view.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { ownIcon } from "./installs.ts";

/** Icons have an address that the host's token opens. */
export async function setupForOwner(ctx: Context, host: HostRow, token: string) {
  const { software, ...script } = await polledSetup(ctx, host.id);
  const onWire = ({ icon_url, ...item }: SetupItem): SetupItem => ({
    ...item,
    icon_url: ownIcon({ id: item.software_title_id ?? 0, icon_url }, token),
  });
  return { ...script, software: software.map(onWire) };
}
