// The sign-up by which an organization joins: the admin opens the vendor's page, which sends the browser back here with
// a token; with that, the organization is created at the vendor.
import { androidServiceApi } from "../../../../api/devices/android.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { hours, isoAt } from "../../../platform/core/clock.ts";
import { type Context, type Services, within } from "../../../platform/core/context.ts";
import { ApiError, conflict, invalid, notThere } from "../../../platform/core/errors.ts";
import { serverUrl } from "../../../platform/core/http/links.ts";
import { tokenHash } from "../../../platform/core/random.ts";
import { viewerOf } from "../../../platform/core/security/viewer.ts";
import { and, eq, gt } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { isForDevices } from "../../../settings/app-config/sections/rules.ts";
import { setReturned } from "../../../settings/app-config/service.ts";
import { androidClient } from "../management/client.ts";
import { orUpstreamError } from "../management/problem.ts";
import { basePolicy } from "../policies/base.ts";
import { DEFAULT_POLICY, enterpriseRow } from "./enterprise.ts";
import type { androidSignUps } from "./tables.ts";

/** For as long as the vendor's page works. */
const SIGN_UP_LASTS = hours(1);
const TOKEN_BYTES = 32;

/** Messages are sent for these events. */
const NOTIFICATIONS = ["ENROLLMENT", "STATUS_REPORT", "COMMAND"];

export async function startSignUp(ctx: Context): Promise<string> {
  const { store, clock, random, user } = ctx;
  const client = androidClient(ctx);
  if ((await enterpriseRow(store)) !== null) throw conflict("device management of Android is turned on already");
  const base = await serverUrl(ctx);
  if (!URL.canParse(base) || !isForDevices(new URL(base)))
    throw invalid("server_url", "must be set and start with https://: the vendor's page returns to this server");
  const token = random.token(TOKEN_BYTES);
  const path = androidServiceApi.connect.path.replace(":token", token);
  const { name, url } = await orUpstreamError(() => client.signUp(`${base}${path}`));
  await store.androidSignUps.insert({ created_at: clock.iso(), user_id: user.id, token_hash: tokenHash(token), name });
  return url;
}

/** The newest sign-up of a user that may still end. */
export const signUpOf = ({ store, clock }: Pick<Services, "clock"> & Pick<Context, "store">, userId: number) =>
  store.androidSignUps.first({
    where: and(eq("user_id", userId), gt("created_at", isoAt(clock.now() - SIGN_UP_LASTS))),
    order: [{ column: "id", direction: "desc" }],
  });

/** The vendor's page has sent the browser back. Throws an error if the token is not that of an open sign-up. */
export async function finishSignUp(ctx: Context, token: string, enterpriseToken: string): Promise<void> {
  const { store, clock } = ctx;
  const isOpen = and(
    eq("token_hash", tokenHash(token)),
    eq("state", "open"),
    gt("created_at", isoAt(clock.now() - SIGN_UP_LASTS)),
  );
  const row = await store.androidSignUps.first({ where: isOpen });
  if (!row || enterpriseToken === "") throw notThere("the sign-up has ended, or was not started here: start it again");
  // The update decides: the vendor's token works once.
  if ((await store.androidSignUps.update({ where: isOpen, set: { state: "ending" } })) === 0)
    throw notThere("the sign-up has ended already");
  try {
    await orUpstreamError(() => create(ctx, row, enterpriseToken));
  } catch (error) {
    const failure = error instanceof ApiError ? error.message : "the organization could not be created";
    await store.androidSignUps.update({ where: eq("id", row.id), set: { state: "failed", failure } });
    throw error;
  }
}

async function create(ctx: Context, signUp: RowOf<typeof androidSignUps>, enterpriseToken: string): Promise<void> {
  const client = androidClient(ctx);
  const { android_pubsub_topic: pubsubTopic } = ctx.settings;
  const name = await client.createEnterprise(signUp.name, enterpriseToken, {
    enabledNotificationTypes: NOTIFICATIONS,
    ...(pubsubTopic === undefined ? {} : { pubsubTopic }),
  });
  await client.setPolicy(`${name}/policies/${DEFAULT_POLICY}`, basePolicy);
  const user = await ctx.store.users.get(signUp.user_id);
  await ctx.store.tx(
    async (tx) => {
      const inside = within({ ...ctx, ...(user && { user: await viewerOf(tx, user, null) }) }, tx);
      if ((await enterpriseRow(tx)) !== null) throw conflict("device management of Android is turned on already");
      await tx.androidEnterprises.insert({ created_at: ctx.clock.iso(), name });
      await tx.androidSignUps.update({ where: eq("id", signUp.id), set: { state: "done" } });
      await setReturned(inside, { mdm: { android_enabled_and_configured: true } });
      await recordActivity(inside, "enabled_android_mdm", {});
    },
    { lock: "config" },
  );
}
