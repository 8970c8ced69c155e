// The connection with the directory: its administrator gives consent to the app whose credentials this server has.

import { DirectoryClient } from "../../hosts/directory/client.ts";
import { type CredentialsRow, credentialsRow } from "../../hosts/directory/credentials.ts";
import { DirectoryError } from "../../hosts/directory/problems.ts";
import { channels } from "../../platform/core/channels.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest, hasChanged, invalid, upstreamFailed } from "../../platform/core/errors.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import { isNull, not } from "../../platform/store/query.ts";
import { changeSettings, readConfig, setReturned } from "../../settings/app-config/service.ts";
import { endPause } from "./compliance/pauses.ts";

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The URL at which the administrator gives consent. The settings change by the rules of PATCH /config. */
export async function beginConnection(ctx: Context, input: string): Promise<{ directory_authentication_url: string }> {
  const tenant = input.trim().toLowerCase();
  if (!GUID.test(tenant)) throw invalid("directory_tenant_id", "must be a GUID, as the directory shows it");
  const { client_id } = await credentialsFor(ctx, tenant);
  await changeSettings(ctx, { conditional_access: { directory_tenant_id: tenant } });
  const login = ctx.settings.directory_login_url.replace(/\/+$/, "");
  const query = new URLSearchParams({ client_id, redirect_uri: await linkTo(ctx, "/") });
  return { directory_authentication_url: `${login}/${tenant}/adminconsent?${query}` };
}

async function credentialsFor({ store }: Context, tenant: string): Promise<CredentialsRow> {
  const row = await credentialsRow(store);
  if (row?.tenant_id === tenant) return row;
  throw invalid(
    "directory_tenant_id",
    "the server has no credentials of an app in this directory: set them first with PUT /directory_graph_credentials",
  );
}

export async function confirmConnection(ctx: Context): Promise<{ configuration_completed: boolean }> {
  const { directory_tenant_id: tenant } = (await readConfig(ctx.store)).conditional_access;
  if (tenant === "")
    throw badRequest("no connection with a directory was begun: use POST /conditional-access/directory");
  if (!(await isGranted(ctx, await credentialsFor(ctx, tenant.toLowerCase()))))
    return { configuration_completed: false };
  await ctx.store.tx(
    async (store) => {
      const { conditional_access: now } = await readConfig(store);
      if (now.directory_tenant_id !== tenant)
        throw hasChanged("the connection was changed by somebody else; try again");
      await setReturned(within(ctx, store), { conditional_access: { directory_connection_configured: true } });
      await endPause(store);
      await store.directoryDevices.update({ where: not(isNull("host_id")), set: { due_at: ctx.clock.iso() } });
      await store.notify(channels.directoryDevices, "");
    },
    { lock: "config" },
  );
  return { configuration_completed: true };
}

/** Without consent, the directory gives the app no access token. */
async function isGranted(ctx: Context, credentials: CredentialsRow): Promise<boolean> {
  try {
    await new DirectoryClient(ctx, credentials).check();
    return true;
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error;
    if (error.problem === "credentials") return false;
    throw upstreamFailed(error.message);
  }
}

export async function removeConnection(ctx: Context): Promise<Record<string, never>> {
  await changeSettings(ctx, { conditional_access: { directory_tenant_id: "" } });
  return {};
}
