// The SCEP proxy, through which hosts get certificates of authorities that they cannot reach (RFC 8894).
import { z } from "zod";
import { Content, MiB, raw } from "../bodies.ts";
import { protocolEndpoint } from "../endpoint.ts";

const paths = ["/mdm/scep/proxy/:identifier"] as const;
const params = z.object({ identifier: z.string() });
const reply = { produces: "application/x-pki-message", response: Content } as const;

export const scepProxyApi = {
  get: protocolEndpoint({
    method: "GET",
    paths,
    summary: "Pass a request without a body on to the certificate authority.",
    params,
    query: z.object({ operation: z.string().default(""), message: z.string().optional() }),
    ...reply,
  }),
  post: protocolEndpoint({
    method: "POST",
    paths,
    summary: "Pass a message on to the certificate authority.",
    params,
    query: z.object({ operation: z.string().default("") }),
    body: raw({ limit: 2 * MiB }),
    ...reply,
  }),
};
