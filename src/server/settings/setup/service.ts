import { isServerUrl, NO_SERVER_URL } from "../../../text/urls.ts";
import { createSession } from "../../accounts/sessions/service.ts";
import { addUser } from "../../accounts/users/add.ts";
import { cleanEmail } from "../../accounts/users/rules.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, service, within } from "../../platform/core/context.ts";
import { conflict, invalid } from "../../platform/core/errors.ts";
import { checkPassword, hashPassword } from "../../platform/core/security/passwords.ts";
import { type UserRow, viewerOf } from "../../platform/core/security/viewer.ts";
import { setConfig } from "../app-config/service.ts";

interface FirstAdmin {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly org_name?: string | undefined;
  readonly org_logo_url?: string | undefined;
  readonly server_url?: string | undefined;
}

export const hasUsers = async ({ store }: Pick<Context, "store">): Promise<boolean> => (await store.users.count()) > 0;

/**
 * Creates the first user, a global admin, with a session. 409 if a user exists. Of several concurrent calls, on any
 * number of servers, only one succeeds.
 */
export async function createFirstAdmin(
  services: Omit<Context, "user" | "address" | "requestId">,
  given: FirstAdmin,
): Promise<{ user: UserRow; token: string }> {
  const ctx: Context = { ...services, user: service, address: "", requestId: "setup" };
  const name = given.name.trim();
  if (name === "") throw invalid("name", "must not be empty");
  const email = cleanEmail(given.email);
  checkPassword("password", given.password);
  if (given.server_url && !isServerUrl(given.server_url)) throw invalid("server_url", NO_SERVER_URL);
  if (await hasUsers(services)) throw alreadySetUp();
  const passwordHash = await hashPassword(given.password);
  return services.store.tx((store) => createIn(within(ctx, store), { ...given, name, email }, passwordHash), {
    lock: "users",
  });
}

async function createIn(ctx: Context, given: FirstAdmin, passwordHash: string) {
  if (await hasUsers(ctx)) throw alreadySetUp();
  const user = await addUser(
    ctx,
    { name: given.name, email: given.email, password_hash: passwordHash },
    { global: "admin", teams: new Map() },
  );
  const { org_name, org_logo_url, server_url } = given;
  await setConfig(ctx, {
    org_info: {
      ...(org_name === undefined ? {} : { org_name }),
      ...(org_logo_url === undefined ? {} : { org_logo_url }),
    },
    server_settings: server_url === undefined ? {} : { server_url },
  });
  await recordActivity({ ...ctx, user: await viewerOf(ctx.store, user, null) }, "created_user", {
    user_id: user.id,
    user_name: user.name,
    user_email: user.email,
  });
  return { user, token: await createSession(ctx, user.id) };
}

const alreadySetUp = () => conflict("set-up is done: a user exists");
