// The SCEP server from which devices get their identities (RFC 8894).
import { z } from "zod";
import { Content, raw } from "../bodies.ts";
import { protocolEndpoint } from "../endpoint.ts";

// Some clients add the second name to every address.
const paths = ["/mdm/vendora/scep", "/mdm/vendora/scep/pkiclient.exe"] as const;
const operation = z.string().default("");
const reply = { purpose: "enrollment", produces: "application/x-pki-message", response: Content } as const;

/** Messages are a few kilobytes. */
const MESSAGE_MAX = 128 * 1024;

export const deviceCaApi = {
  get: protocolEndpoint({
    method: "GET",
    paths,
    summary: "Ask the device CA for its capabilities or its certificate, or send a message in the query.",
    query: z.object({ operation, message: z.string().optional() }),
    ...reply,
  }),
  post: protocolEndpoint({
    method: "POST",
    paths,
    summary: "Send a message to the device CA.",
    query: z.object({ operation }),
    body: raw({ limit: MESSAGE_MAX }),
    ...reply,
  }),
};
