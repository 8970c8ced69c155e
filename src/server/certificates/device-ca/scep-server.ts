// The SCEP server for devices (RFC 8894; docs/protocols/certificates.md). Refusals are replies with HTTP status 200.
import { randomBytes } from "node:crypto";
import type { Content } from "../../../api/bodies.ts";
import { deviceCaApi } from "../../../api/certificates/device-ca.ts";
import { BadAlgorithm, type Cipher, openEnvelope } from "../../../pki/enveloped-data.ts";
import { readRequest } from "../../../pki/request.ts";
import {
  type Answer,
  type Failure,
  makeFailure,
  makeSuccess,
  messageTypes,
  type ReceivedRequest,
  readScepRequest,
} from "../../../pki/scep.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, limitExceeded } from "../../platform/core/errors.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { measured, proved } from "../../platform/core/http/strangers.ts";
import { part } from "../../platform/core/running.ts";
import { FailureLimit } from "../../platform/rate-limits/failures.ts";
import { type DeviceCa, deviceCa } from "./ca.ts";
import { byChallenge, certify, IssueRefused, type Issuing, type OpenedRequest } from "./issue.ts";

const CAPABILITIES = ["Renewal", "SHA-1", "SHA-256", "AES", "DES3", "SCEPStandard", "POSTPKIOperation"];
/** Every refusal is sent this long after its request, so that the time does not reveal where it failed. */
const REFUSAL_AFTER = 300;
const FAILURES_A_MINUTE = 100;

interface ScepQuestion {
  readonly operation: string;
  /** Base64 from the query of a GET, or the bytes of a POST. */
  readonly message: string | Uint8Array;
}

const failureLimit = part(
  "failures of SCEP",
  (services) => new FailureLimit(services, { scope: "device certificates", most: FAILURES_A_MINUTE }),
);

export async function answerScep(
  ctx: Context,
  { operation, message }: ScepQuestion,
  issuing: Issuing,
): Promise<Content> {
  switch (operation) {
    case "GetCACaps":
      return { type: "text/plain", content: `${CAPABILITIES.join("\n")}\n` };
    case "GetCACert":
      return { type: "application/x-x509-ca-cert", content: new Uint8Array((await deviceCa(ctx)).certificate.der) };
    case "PKIOperation":
      return { content: new Uint8Array(await operate(ctx, bytesOf(message), issuing)) };
    default:
      throw badRequest("operation is GetCACaps, GetCACert or PKIOperation", "operation");
  }
}

async function operate(ctx: Context, message: Buffer, issuing: Issuing): Promise<Buffer> {
  const started = ctx.clock.now();
  const ca = await deviceCa(ctx);
  const request = measured(ctx, () => read(ca, message));
  try {
    if ("failure" in request) throw new IssueRefused(request.detail);
    const certificate = await certify(ctx, ca, request, issuing);
    proved(ctx);
    return makeSuccess(answerTo(ca, request.received), certificate, request.received.signer, request.cipher);
  } catch (error) {
    if (!(error instanceof IssueRefused)) throw error;
    ctx.log.info({ address: ctx.address, reason: error.message }, "a device certificate was refused");
    const wait = ctx.running.of(failureLimit).fail(ctx);
    if (wait > 0) throw limitExceeded(wait);
    await ctx.clock.sleep(Math.max(0, started + REFUSAL_AFTER - ctx.clock.now()));
    const failure = "failure" in request ? request.failure : "badRequest";
    return measured(ctx, () => makeFailure(answerTo(ca, request.received), failure));
  }
}

/** `Buffer.from` ignores what is not base64; then the message cannot be read, which is a refusal like others. */
function bytesOf(message: string | Uint8Array): Buffer {
  // Some clients do not escape the plus signs of base64.
  return typeof message === "string" ? Buffer.from(message.replaceAll(" ", "+"), "base64") : Buffer.from(message);
}

interface Unreadable {
  readonly failure: Failure;
  readonly detail: string;
  readonly received: ReceivedRequest | null;
}

function read(ca: DeviceCa, bytes: Buffer): (OpenedRequest & { readonly cipher: Cipher }) | Unreadable {
  let received: ReceivedRequest | null = null;
  try {
    received = readScepRequest(bytes);
    if (received.type === messageTypes.certPoll) throw new IssueRefused("no request is ever pending here");
    const { content: der, cipher } = openEnvelope(received.envelope, ca.certificate, ca.key);
    return { received, cipher, der, request: readRequest(der) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : "";
    // The algorithm is visible to everyone, so this reveals nothing.
    return { failure: error instanceof BadAlgorithm ? "badAlg" : "badRequest", detail, received };
  }
}

const answerTo = ({ certificate, key }: DeviceCa, received: ReceivedRequest | null): Answer => ({
  transaction: received?.transaction ?? null,
  nonce: randomBytes(16),
  signer: { certificate: certificate.der, key, digest: received?.digest ?? "sha256" },
});

export const deviceCaRoutes: readonly Route[] = [
  route(deviceCaApi.get, ({ query: { operation, message = "" } }, ctx) =>
    answerScep(ctx, { operation, message }, byChallenge),
  ),
  route(deviceCaApi.post, ({ query, body }, ctx) => answerScep(ctx, { ...query, message: body.bytes }, byChallenge)),
];
