// Tokens of the organization's cloud directory: a device that joins it, or that its user adds to it, enrolls with one.
import { z } from "zod";
import type { Context } from "../../../platform/core/context.ts";
import { serverUrl } from "../../../platform/core/http/links.ts";
import { nameKey } from "../../../platform/core/name-key.ts";
import { KeysUnavailable, publishedKeys, readSigned } from "../../../platform/core/outbound/published-keys.ts";
import { eq } from "../../../platform/store/query.ts";
import { EnrollRefusal } from "./refusal.ts";

const keys = publishedKeys("keys of the cloud directory");

const Claims = z.object({
  exp: z.number(),
  tid: z.string().min(1).max(255),
  upn: z.string().min(1).max(255),
  scp: z.string(),
});

/** What a token of the directory is for. */
const SCOPE = "mdm_delegation";

interface DirectoryUser {
  readonly email: string;
  /** End of the token; seconds since 1970. */
  readonly expires: number;
}

/** Who has enrolled. Throws `EnrollRefusal` for tokens of other directories, for others, and for something else. */
export async function directoryUser(ctx: Context, token: string): Promise<DirectoryUser> {
  const { windows_directory_tenant_ids: tenants, windows_directory_client_ids: clients } = (await ctx.config.current())
    .mdm;
  if (tenants.length === 0)
    throw new EnrollRefusal(
      "Authorization",
      "this server accepts no directory: mdm.windows_directory_tenant_ids is empty",
    );
  const ids = tenants.map((tenant) => tenant.toLowerCase());
  const base = ctx.settings.directory_issuer;
  const server = await serverUrl(ctx);
  const payload = await readSigned(ctx, keys, token, {
    url: ctx.settings.directory_jwks_url,
    // The directory writes a slash at the end.
    issuer: ids.flatMap((id) => [`${base}${id}`, `${base}${id}/`]),
    audience: [...(server === "" ? [] : [server, `${server}/`]), ...clients],
    requiredClaims: ["nbf"],
  }).catch((error: unknown) => {
    if (error instanceof KeysUnavailable)
      throw new EnrollRefusal("EnrollmentServer", "the keys of the directory cannot be read now");
    throw error;
  });
  const claims = Claims.safeParse(payload);
  if (payload === null || !claims.success)
    throw new EnrollRefusal("InvalidSecurity", "the token is not one of the directory for this server, or has expired");
  const { tid, upn, scp, exp } = claims.data;
  const issuer = String(payload.iss).replace(/\/$/, "");
  if (issuer !== `${base}${tid.toLowerCase()}`)
    throw new EnrollRefusal("InvalidSecurity", "the token's issuer and tenant differ");
  if (!scp.split(" ").includes(SCOPE))
    throw new EnrollRefusal("Authorization", "the token is not for device management");
  return { email: upn.toLowerCase(), expires: exp };
}

/** The team of hosts that enroll with a directory; null: none. */
export async function defaultTeam(ctx: Context): Promise<number | null> {
  const { default_team: name } = (await ctx.config.current()).mdm.windows_automatic_enrollment;
  if (name === "") return null;
  const team = await ctx.store.teams.first({ where: eq("name_key", nameKey(name)) });
  if (team === null) ctx.log.warn({ team: name }, "the team of mdm.windows_automatic_enrollment does not exist");
  return team?.id ?? null;
}
