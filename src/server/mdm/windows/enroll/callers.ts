// Who enrolls a device: the security token proves it.
import type { SecurityToken } from "../../../../soap/envelope.ts";
import { tokenTypes } from "../../../../soap/names.ts";
import { bytesOfBase64 } from "../../../../text/base64.ts";
import type { Context } from "../../../core/context.ts";
import { ApiError } from "../../../core/errors.ts";
import { managedAgents } from "../../../managed-agent/agents.ts";
import { EnrollRefusal } from "./refusal.ts";

export interface EnrollCaller {
  /** The host of an agent; null: whichever host the device is. */
  readonly hostId: number | null;
  /** The team of a host that is not known yet. */
  readonly teamId: number | null;
  readonly kind: "manual" | "automatic";
}

/** Throws `EnrollRefusal` for a token that is not accepted. */
export async function callerOf(ctx: Context, token: SecurityToken | null): Promise<EnrollCaller> {
  if (token?.valueType === tokenTypes.user) return agentCaller(ctx, textOf(token));
  throw new EnrollRefusal("InvalidSecurity", "the message has no security token of a known type");
}

function textOf({ text }: SecurityToken): string {
  const bytes = bytesOfBase64(text);
  if (bytes === null || bytes.length === 0) throw new EnrollRefusal("InvalidSecurity", "the token is not base64");
  return bytes.toString();
}

async function agentCaller(ctx: Context, key: string): Promise<EnrollCaller> {
  const { hostId, teamId, platform } = await agentOf(ctx, key);
  if (platform !== "windows") throw new EnrollRefusal("Authorization", "the agent's host does not run Windows");
  if ((await ctx.store.hostMdm.get(hostId))?.is_server)
    throw new EnrollRefusal("Authorization", "Windows servers do not enroll in device management");
  return { hostId, teamId, kind: "manual" };
}

async function agentOf(ctx: Context, key: string) {
  try {
    return await ctx.running.of(managedAgents).find(key, ctx);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    throw new EnrollRefusal("InvalidSecurity", "the token is not known");
  }
}
