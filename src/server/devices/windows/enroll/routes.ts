import type { Content } from "../../../../api/bodies.ts";
import { windowsEnrollApi } from "../../../../api/devices/windows.ts";
import { type AuthPolicy, readDiscover, writeDiscovered, writePolicies } from "../../../../soap/discovery.ts";
import {
  BadSoap,
  type Envelope,
  readEnvelope,
  type WrittenEnvelope,
  writeEnvelope,
} from "../../../../soap/envelope.ts";
import { writeFault } from "../../../../soap/fault.ts";
import { actions } from "../../../../soap/names.ts";
import { writeTimestamp, writeTokenReply } from "../../../../soap/token.ts";
import { isoAt, minutes } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { type Reply, type Route, route } from "../../../platform/core/http/route.ts";
import { measured } from "../../../platform/core/http/strangers.ts";
import { windowsUrl } from "../channel/devices.ts";
import { SIGN_IN_PAGE } from "../sign-in/sign-in.ts";
import { callerOf } from "./callers.ts";
import { enroll } from "./enroll.ts";
import { EnrollRefusal } from "./refusal.ts";

type Answer = Omit<WrittenEnvelope, "relatesTo">;

/**
 * Answers a message of the enrollment protocol. Refusals are faults with status 200, because devices do not read those
 * with another one. Bytes that are no message do not come from devices.
 */
async function answer(
  { ctx, reply }: { readonly ctx: Context; readonly reply: Reply },
  bytes: Uint8Array,
  work: (envelope: Envelope) => Promise<Answer>,
): Promise<Content> {
  let relatesTo = "";
  try {
    const { mdm } = await ctx.config.current();
    // While management is off, nothing is parsed.
    if (!mdm.windows_enabled_and_configured) {
      if (!isEnvelope(bytes)) throw new BadSoap("the message does not begin with an Envelope");
      throw new EnrollRefusal("EnrollmentServer", "device management of Windows devices is turned off");
    }
    const envelope = measured(ctx, () => readEnvelope(bytes));
    relatesTo = envelope.messageId;
    return { content: writeEnvelope({ ...(await work(envelope)), relatesTo }) };
  } catch (error) {
    if (error instanceof BadSoap) {
      reply.status = 400;
      return { content: writeFault("MessageFormat", error.message, relatesTo) };
    }
    if (!(error instanceof EnrollRefusal)) throw error;
    ctx.log.warn({ address: ctx.address, reason: error.message }, "a Windows device was not enrolled");
    return { content: writeFault(error.code, error.message, relatesTo) };
  }
}

/** Whether the bytes look like a message at their beginning. */
const isEnvelope = (bytes: Uint8Array): boolean =>
  /<(?:\w+:)?Envelope[\s>]/.test(Buffer.from(bytes.subarray(0, 512)).toString("latin1"));

const ENROLLMENT_VERSION = "4.0";
const POLICY = { minimalKeyLength: 2048, validity: 31_536_000, renewal: 15_552_000 } as const;

/** How devices authenticate, in the order that the server prefers. */
const byUsers: readonly AuthPolicy[] = ["Federated", "OnPremise"];
const byAgents: readonly AuthPolicy[] = ["OnPremise", "Federated"];

async function discover(ctx: Context, { content }: Envelope, preferred: readonly AuthPolicy[]): Promise<Answer> {
  const { version, authPolicies } = readDiscover(content);
  if (!/^[4-7]\.\d$/.test(version))
    throw new EnrollRefusal("MessageFormat", "the version of the request is not one from 4.0 to 7.0");
  const url = async (path: string) => {
    const url = await windowsUrl(ctx, path);
    if (url === null) throw new EnrollRefusal("EnrollmentServer", "the server's address is not set");
    return url;
  };
  const authPolicy = preferred.find((candidate) => authPolicies.includes(candidate)) ?? preferred[0]!;
  return {
    action: actions.discovered,
    body: writeDiscovered({
      authPolicy,
      version: ENROLLMENT_VERSION,
      policyUrl: await url(windowsEnrollApi.policy.path),
      enrollmentUrl: await url(windowsEnrollApi.enroll.path),
      authenticationUrl: authPolicy === "Federated" ? await url(SIGN_IN_PAGE) : null,
    }),
  };
}

async function policy(ctx: Context, { content, token }: Envelope): Promise<Answer> {
  if (content.name !== "GetPolicies") throw new BadSoap("the message is no GetPolicies");
  await callerOf(ctx, token);
  const { org_info } = await ctx.config.current();
  return { action: actions.policies, body: writePolicies(POLICY, org_info.org_name || "svc") };
}

const TIMES = minutes(5);

async function issue(ctx: Context, envelope: Envelope): Promise<Answer> {
  const document = await enroll(ctx, envelope);
  const now = ctx.clock.now();
  return {
    action: actions.token,
    header: writeTimestamp(isoAt(now - TIMES), isoAt(now + TIMES)),
    body: writeTokenReply(document),
  };
}

export const windowsEnrollRoutes: readonly Route[] = [
  route(windowsEnrollApi.probe, async () => ({ content: "" })),
  route(windowsEnrollApi.discover, ({ body }, ctx, reply) =>
    answer({ ctx, reply }, body.bytes, (envelope) => discover(ctx, envelope, byUsers)),
  ),
  route(windowsEnrollApi.discoverForAgent, ({ body }, ctx, reply) =>
    answer({ ctx, reply }, body.bytes, (envelope) => discover(ctx, envelope, byAgents)),
  ),
  route(windowsEnrollApi.policy, ({ body }, ctx, reply) =>
    answer({ ctx, reply }, body.bytes, (envelope) => policy(ctx, envelope)),
  ),
  route(windowsEnrollApi.enroll, ({ body }, ctx, reply) =>
    answer({ ctx, reply }, body.bytes, (envelope) => issue(ctx, envelope)),
  ),
];
