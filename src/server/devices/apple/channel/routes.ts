import type { Content } from "../../../../api/bodies.ts";
import { appleChannelApi } from "../../../../api/devices/apple-channel.ts";
import { readPlistDict } from "../../../../plist/read.ts";
import { BadPlist, type PlistDict, stringIn } from "../../../../plist/value.ts";
import {
  type Identity,
  identityOfSignature,
  signerOfDetached,
  verifyIdentity,
} from "../../../certificates/device-ca/identities.ts";
import type { Context } from "../../../platform/core/context.ts";
import { ApiError, badRequest } from "../../../platform/core/errors.ts";
import { bodyRoom } from "../../../platform/core/http/body-room.ts";
import { type Reply, type Route, route } from "../../../platform/core/http/route.ts";
import { proved } from "../../../platform/core/http/strangers.ts";
import { deviceSeen } from "../../reports/seen.ts";
import { checkIn, enrollmentOf, plist, pollingOf } from "./check-in.ts";
import { exchange, noteTooLarge } from "./commands.ts";
import { noteReturn } from "./devices.ts";
import { enrollmentIdOf, NotAllowed, userIdOf } from "./wire.ts";

const CHECK_IN = "application/x-apple-aspen-mdm-checkin";
/** A shorter list than a command's answer may be, but an identity has to be verified first in any case. */
const MESSAGE_MAX = { bytes: 10 * 1024 * 1024 };

const channel = route(
  appleChannelApi.put,
  async ({ body }, ctx, reply) => {
    const bytes = Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.bytes.byteLength);
    try {
      const identity = await identityIn(ctx, bytes);
      proved(ctx);
      ctx.running.of(bodyRoom).meet(ctx.address);
      const message = readPlistDict(bytes, MESSAGE_MAX);
      const isCheckIn = body.type.startsWith(CHECK_IN);
      if (isCheckIn && stringIn(message, "MessageType") === "UserAuthenticate")
        return await declineUser(ctx, { message, identity, reply });
      return isCheckIn ? await checkIn(ctx, message, identity) : await answer(ctx, { message, identity, reply, bytes });
    } catch (error) {
      if (error instanceof BadPlist) throw badRequest(error.message);
      if (!(error instanceof NotAllowed)) throw error;
      ctx.metrics.appleRefused.inc();
      ctx.log.warn({ address: ctx.address, reason: error.message }, "a message of an Apple device was refused");
      reply.status = 403;
      return plist("");
    }
  },
  { isNamedBy: async (ctx) => (await unverifiedIdentity(ctx)) !== null },
);

export const appleChannelRoutes: readonly Route[] = [
  {
    ...channel,
    async run(raw, ctx, reply) {
      try {
        return await channel.run(raw, ctx, reply);
      } catch (error) {
        if (error instanceof ApiError && error.status === TOO_LARGE) await noteOfSender(ctx);
        throw error;
      }
    },
  },
];

const TOO_LARGE = 413;

/** What was not read could not be verified: it only counts if the device asks again before it has answered. */
async function noteOfSender(ctx: Context): Promise<void> {
  const identity = await unverifiedIdentity(ctx);
  if (identity) await noteTooLarge(ctx, identity);
}

/** The identity whose certificate comes with the message. Nothing is verified for that. */
async function unverifiedIdentity(ctx: Context): Promise<Identity | null> {
  const header = ctx.headers?.get("mdm-signature") ?? null;
  const certificate =
    header === null ? (ctx.clientCertificate?.() ?? null) : signerOfDetached(Buffer.from(header, "base64"));
  return certificate && verifyIdentity(ctx, certificate);
}

interface ReceivedMessage {
  readonly message: PlistDict;
  readonly identity: Identity;
  readonly reply: Reply;
}

/** Users of Macs who sign in with accounts of a directory get no channel: 410 says so. */
async function declineUser(ctx: Context, { message, identity, reply }: ReceivedMessage): Promise<Content> {
  await enrollmentOf(ctx, message, identity);
  reply.status = 410;
  return plist("");
}

/** Verified before anything is parsed: strangers cost one lookup. */
async function identityIn(ctx: Context, body: Buffer): Promise<Identity> {
  const header = ctx.headers?.get("mdm-signature") ?? null;
  if (header === null) return identityOfConnection(ctx);
  const identity = await identityOfSignature(ctx, Buffer.from(header, "base64"), body);
  if (!identity) throw new NotAllowed("the signature is not correct, or its certificate is not accepted");
  return identity;
}

/** A device that does not sign its messages may have shown its certificate when it connected. */
async function identityOfConnection(ctx: Context): Promise<Identity> {
  const certificate = ctx.clientCertificate?.() ?? null;
  if (certificate === null) throw new NotAllowed("the message has no identity");
  const identity = await verifyIdentity(ctx, certificate);
  if (!identity) throw new NotAllowed("the certificate of the connection is not accepted");
  return identity;
}

async function answer(
  ctx: Context,
  { message, identity, reply, bytes }: ReceivedMessage & { bytes: Buffer },
): Promise<Content> {
  const enrollment = await pollingOf(ctx, message, identity);
  if (enrollment.state === "removed") return unrecognized(reply);
  if (enrollment.state !== "enabled") throw new NotAllowed(`${enrollmentIdOf(message)} has not sent its token yet`);
  ctx.running.of(deviceSeen).mark(enrollment.host_id, ctx.clock.now());
  // Users have no commands of their own.
  if (userIdOf(message) !== null) return plist("");
  if (stringIn(message, "Status") === "Idle") await noteReturn(ctx, enrollment);
  // When a device has returned, features may have asked it for something.
  const open = enrollment.returns_after === null ? enrollment.open : null;
  return plist((await exchange(ctx, enrollment, { message, body: bytes, open })) ?? "");
}

/** The device removes its enrollment when it gets this: only for those that were ended on purpose. */
function unrecognized(reply: Reply): Content {
  reply.status = 403;
  return { type: "application/json", content: JSON.stringify({ code: "com.apple.unrecognized.device" }) };
}
