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
  input: FirstAdmin,
): Promise<{ user: UserRow; token: string }> {
  const ctx: Context = { ...services, user: service, address: "", requestId: "setup" };
  const name = input.name.trim();
  if (name === "") throw invalid("name", "must not be empty");
  const email = cleanEmail(input.email);
  checkPassword("password", input.password);
  if (input.server_url && !isServerUrl(input.server_url)) throw invalid("server_url", NO_SERVER_URL);
  if (await hasUsers(services)) throw alreadySetUp();
  const passwordHash = await hashPassword(input.password);
  return services.store.tx((store) => createIn(within(ctx, store), { ...input, name, email }, passwordHash), {
    lock: "users",
  });
}

async function createIn(ctx: Context, input: FirstAdmin, passwordHash: string) {
  if (await hasUsers(ctx)) throw alreadySetUp();
  const user = await addUser(
    ctx,
    { name: input.name, email: input.email, password_hash: passwordHash },
    { global: "admin", teams: new Map() },
  );
  const { org_name, org_logo_url, server_url } = input;
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
