// The protocols by which Windows devices enroll and are managed (docs/protocols/windows.md; MS-MDE2, MS-MDM).
import { Content, MiB, raw } from "../bodies.ts";
import { protocolEndpoint } from "../endpoint.ts";

const soap = { produces: "application/soap+xml; charset=utf-8", response: Content } as const;
/** Bytes that are no message get a fault with another status. */
const call = { ...soap, otherStatus: [400] };
/** The message of a device that enrolls: a request for a certificate, and the token of a directory. */
const enrollMessage = raw({ limit: 64 * 1024 });
/** A message of a session. */
const message = raw({ limit: 2 * MiB });

/** Devices of users know the first path, agents get the second one. */
const USER_DISCOVERY = "/EnrollmentServer/Discovery.svc";
export const AGENT_DISCOVERY = "/api/mdm/windows/discovery";

export const windowsEnrollApi = {
  probe: protocolEndpoint({
    method: "GET",
    paths: [USER_DISCOVERY, AGENT_DISCOVERY],
    summary: "Find out that this is the server by which Windows devices enroll.",
    purpose: "enrollment",
    ...soap,
  }),
  discover: protocolEndpoint({
    method: "POST",
    paths: [USER_DISCOVERY],
    summary: "Get where and how the user of a Windows device enrolls it.",
    purpose: "enrollment",
    body: enrollMessage,
    ...call,
  }),
  discoverForAgent: protocolEndpoint({
    method: "POST",
    paths: [AGENT_DISCOVERY],
    summary: "Get where and how the agent of a Windows device enrolls it.",
    purpose: "enrollment",
    body: enrollMessage,
    ...call,
  }),
  policy: protocolEndpoint({
    method: "POST",
    paths: ["/api/mdm/windows/policy"],
    summary: "Get the rules for certificates of Windows devices.",
    purpose: "enrollment",
    body: enrollMessage,
    ...call,
  }),
  enroll: protocolEndpoint({
    method: "POST",
    paths: ["/api/mdm/windows/enroll"],
    summary: "Enroll a Windows device, or renew its certificate.",
    purpose: "enrollment",
    body: enrollMessage,
    ...call,
  }),
};

export const windowsChannelApi = {
  manage: protocolEndpoint({
    method: "POST",
    paths: ["/api/mdm/windows/management"],
    summary: "Exchange messages of a management session.",
    body: message,
    produces: "application/vnd.syncml.dm+xml",
    response: Content,
  }),
};
