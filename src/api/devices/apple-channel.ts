// The protocol by which Apple devices check in and get their commands (docs/protocols/apple.md, Check-in and Commands).
import { Content, MiB, raw } from "../bodies.ts";
import { protocolEndpoint } from "../endpoint.ts";

/** Lists of installed applications and profiles are long. */
const ANSWER_MAX = 10 * MiB;

export const appleChannelApi = {
  put: protocolEndpoint({
    method: "PUT",
    paths: ["/mdm/vendora/mdm"],
    summary: "Check in, or answer a command and get the next one.",
    body: raw({ limit: ANSWER_MAX }),
    produces: "application/xml",
    response: Content,
  }),
};
