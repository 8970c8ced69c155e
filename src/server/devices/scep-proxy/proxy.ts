// The SCEP proxy for agents and devices, so that they need not reach the authority themselves
// (docs/protocols/certificates.md, SCEP proxy). Messages are passed on unchanged. A request needs a challenge that this
// server issued to the host's agent, or the address that a profile has given the device; each is valid for one
// PKIOperation.
import type { Content } from "../../../api/bodies.ts";
import { scepProxyApi } from "../../../api/certificates/scep-proxy.ts";
import { askCa, CaError } from "../../certificates/ca/upstream.ts";
import { type OpenChallenge, openTemplateChallenge } from "../../certificates/certificates/challenges.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError, badRequest, limitExceeded, upstreamFailed } from "../../platform/core/errors.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { part } from "../../platform/core/running.ts";
import { FailureLimit } from "../../platform/rate-limits/failures.ts";
import { openProfileChallenge } from "../profiles/challenges.ts";

const TIMEOUT = 30_000;
const FAILURES_A_MINUTE = 100;

/**
 * `host_uuid,gTEMPLATE,ca_name,challenge`, or the uuid of a profile in the place of the template: the destination, and
 * what uses up the challenge. Every mismatch is the same 400.
 */
async function findChallenge(ctx: Context, identifier: string): Promise<OpenChallenge> {
  const refused = () => badRequest("unknown or used enrolment");
  const [host_uuid = "", profile = "", ca_name = "", challenge = "", ...more] = identifier.split(",");
  if (more.length > 0 || host_uuid === "" || challenge === "") throw refused();
  const template_id = Number(/^g([1-9]\d{0,14})$/.exec(profile)?.[1] ?? 0);
  const open =
    template_id === 0
      ? await openProfileChallenge(ctx, { host_uuid, profile_uuid: profile, ca_name, secret: challenge })
      : await openTemplateChallenge(ctx, { host_uuid, template_id, ca_name, challenge });
  if (open === null) throw refused();
  return open;
}

const types: Readonly<Record<string, readonly string[]>> = {
  GetCACaps: ["text/plain"],
  GetCACert: ["application/x-x509-ca-cert", "application/x-x509-ca-ra-cert"],
  PKIOperation: ["application/x-pki-message"],
};

interface ProxyRequest {
  readonly identifier: string;
  readonly operation: string;
  /** Base64 from the query of a GET, or the bytes of a POST. */
  readonly message: string | Uint8Array<ArrayBuffer> | null;
}

async function pass(services: Context, { identifier, operation, message }: ProxyRequest): Promise<Content> {
  const methods = types[operation];
  if (!methods) throw badRequest("operation is GetCACaps, GetCACert or PKIOperation", "operation");
  const { url, use } = await findChallenge(services, identifier);
  const isMessage = operation === "PKIOperation";
  if (isMessage && (message === null || message.length === 0)) throw badRequest("the message is missing", "message");
  // If two messages have the same challenge, only one is passed on.
  if (isMessage && !(await use())) throw badRequest("unknown or used enrolment");
  const to = new URL(url);
  to.searchParams.set("operation", operation);
  if (typeof message === "string") to.searchParams.set("message", message);
  const reply = await askCa(services, to.href, {
    timeout: TIMEOUT,
    ...(message instanceof Uint8Array
      ? { method: "POST", body: Buffer.from(message), headers: { "content-type": "application/x-pki-message" } }
      : {}),
  }).catch((error: unknown) => {
    if (error instanceof CaError) throw upstreamFailed("the certificate authority did not answer");
    throw error;
  });
  if (reply.status !== 200) throw upstreamFailed(`the certificate authority answered with status ${reply.status}`);
  const type = reply.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  // The content type is always one of the expected ones, so that the reply is never rendered as a page of this
  // server.
  return { content: new Uint8Array(reply.body), type: methods.includes(type) ? type : methods[0]! };
}

const failures = part(
  "failures of the certificate proxy",
  (services) => new FailureLimit(services, { scope: "certificate proxy", most: FAILURES_A_MINUTE }),
);

async function answer(ctx: Context, request: ProxyRequest): Promise<Content> {
  try {
    return await pass(ctx, request);
  } catch (error) {
    const wait = error instanceof ApiError && error.status === 400 ? ctx.running.of(failures).fail(ctx) : 0;
    throw wait > 0 ? limitExceeded(wait) : error;
  }
}

export const scepProxyRoutes: readonly Route[] = [
  route(scepProxyApi.get, ({ params, query }, ctx) =>
    // Some clients do not escape the plus signs of base64.
    answer(ctx, { ...params, ...query, message: query.message?.replaceAll(" ", "+") ?? null }),
  ),
  route(scepProxyApi.post, ({ params, query, body }, ctx) => answer(ctx, { ...params, ...query, message: body.bytes })),
];
