// Who enrolls a device: the security token proves it.
import type { SecurityToken } from "../../../../soap/envelope.ts";
import { tokenTypes } from "../../../../soap/names.ts";
import { bytesOfBase64 } from "../../../../text/base64.ts";
import type { AgentHost } from "../../../certificates/host-authentication/agent-hosts.ts";
import { managedAgents } from "../../../certificates/host-authentication/agents.ts";
import { minutes } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { ApiError } from "../../../platform/core/errors.ts";
import { countCall } from "../../../platform/rate-limits/attempts.ts";
import { eq } from "../../../platform/store/query.ts";
import { subjectOf } from "../sign-in/token.ts";
import type { UsedToken } from "../sign-in/used.ts";
import { defaultTeam, directoryUser } from "./directory.ts";
import { EnrollRefusal } from "./refusal.ts";

export interface EnrollCaller {
  /** The host of an agent; null: whichever host the device is. */
  readonly hostId: number | null;
  /** The team of a host that is not known yet. */
  readonly teamId: number | null;
  readonly kind: "manual" | "automatic";
  /** Who has signed in; null: nobody, an agent enrolls its host. */
  readonly email: string | null;
  /** A token that enrolls one device; null: the key of an agent that does not sign its requests. */
  readonly token: UsedToken | null;
}

const REFUSED = { scope: "tokens of Windows devices", most: 600, ofAll: 20_000, span: minutes(1) };

/** Throws `EnrollRefusal` for a token that is not accepted. */
export async function callerOf(ctx: Context, token: SecurityToken | null): Promise<EnrollCaller> {
  try {
    if (token?.valueType === tokenTypes.user) {
      const text = tokenText(token);
      return isSigned(text) ? await tokenCaller(ctx, text) : await agentCaller(ctx, text);
    }
    if (token?.valueType === tokenTypes.directory) return await directoryCaller(ctx, tokenText(token));
  } catch (error) {
    if (error instanceof EnrollRefusal) await countCall(ctx, REFUSED, ctx.address);
    throw error;
  }
  throw new EnrollRefusal("InvalidSecurity", "the message has no security token of a known type");
}

/** Keys of agents have no dots. */
const isSigned = (text: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);

async function tokenCaller(ctx: Context, text: string): Promise<EnrollCaller> {
  const session = await subjectOf(ctx, text);
  if (session === null)
    throw new EnrollRefusal("InvalidSecurity", "the token is not known, or has expired: sign in again");
  const { subject, expires } = session;
  const token = { text, expires };
  if ("email" in subject) return { hostId: null, teamId: null, kind: "manual", email: subject.email, token };
  const [host] = await ctx.store.hosts.pick(["id", "team_id", "platform"], { where: eq("id", subject.host_id) });
  if (!host) throw new EnrollRefusal("InvalidSecurity", "the host of the token was deleted");
  return hostCaller(ctx, { hostId: host.id, teamId: host.team_id, platform: host.platform }, token);
}

async function directoryCaller(ctx: Context, text: string): Promise<EnrollCaller> {
  const { email, expires } = await directoryUser(ctx, text);
  return { hostId: null, teamId: await defaultTeam(ctx), kind: "automatic", email, token: { text, expires } };
}

function tokenText({ text }: SecurityToken): string {
  const bytes = bytesOfBase64(text);
  if (bytes === null || bytes.length === 0) throw new EnrollRefusal("InvalidSecurity", "the token is not base64");
  return bytes.toString();
}

/** With the agent's key. An agent that signs its requests gets a token instead, because these messages cannot be signed. */
const agentCaller = async (ctx: Context, key: string): Promise<EnrollCaller> =>
  hostCaller(ctx, await agentOf(ctx, key), null);

async function hostCaller(
  ctx: Context,
  { hostId, teamId, platform }: Pick<AgentHost, "hostId" | "teamId" | "platform">,
  token: UsedToken | null,
): Promise<EnrollCaller> {
  if (platform !== "windows") throw new EnrollRefusal("Authorization", "the agent's host does not run Windows");
  if ((await ctx.store.hostMdm.get(hostId))?.is_server)
    throw new EnrollRefusal("Authorization", "Windows servers do not enroll in device management");
  return { hostId, teamId, kind: "manual", email: null, token };
}

async function agentOf(ctx: Context, key: string) {
  try {
    return await ctx.running.of(managedAgents).find(key, ctx);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    throw new EnrollRefusal("InvalidSecurity", "the token is not known");
  }
}
