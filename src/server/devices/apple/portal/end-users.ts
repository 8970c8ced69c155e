// Whether users of devices have to sign in with the identity provider before their device enrolls automatically.
import type { Context } from "../../../platform/core/context.ts";
import { mdmOfTeam } from "../../../settings/teams/mdm.ts";

export async function endUsersSignIn(ctx: Pick<Context, "store" | "config">, teamId: number | null): Promise<boolean> {
  const { mdm } = await ctx.config.current();
  const { metadata, metadata_url: url } = mdm.end_user_authentication;
  if (metadata === "" && url === "") return false;
  return (await mdmOfTeam(ctx, teamId)).macos_setup.enable_end_user_authentication;
}
