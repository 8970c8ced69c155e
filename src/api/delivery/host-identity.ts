// The SCEP server from which managed agents get the certificates with which they sign their requests (RFC 8894).

import { z } from "zod";
import { Content, raw } from "../bodies.ts";
import { endpoint, OF_AGENTS } from "../endpoint.ts";

const operation = z.string().default("");
const scep = {
  path: "/agent/host_identity/scep",
  access: "none",
  dryRun: OF_AGENTS,
  produces: "application/x-pki-message",
  response: Content,
} as const;

/** Messages are a few kilobytes. */
const MESSAGE_MAX = 128 * 1024;

export const hostIdentityApi = {
  get: endpoint({
    ...scep,
    method: "GET",
    summary: "Get the capabilities or the certificate of the authority, or send a message in the query.",
    purpose: "enrollment",
    query: z.object({ operation, message: z.string().optional() }),
  }),
  post: endpoint({
    ...scep,
    method: "POST",
    summary: "Send a request for a host identity. The challenge is an enroll secret.",
    purpose: "enrollment",
    query: z.object({ operation }),
    body: raw({ limit: MESSAGE_MAX }),
  }),
};
